//! YAML 1.2 text as a tree in which every key and value knows its place; the only reader of YAML in the product.
//!
//! Built from the parser's events rather than by its loader, because the loader stops at the first key that stands
//! twice, and the configuration check reports everything at once.

use std::collections::BTreeMap;

use saphyr::Scalar;
use saphyr_parser::{Event, Marker, Parser, ScanError};

use super::problem::{Place, Problem, ProblemKind};

/// Deepest nesting read; the deepest key of the configuration stands at 6.
const MAX_DEPTH: usize = 32;
/// Most values read, copies by aliases included: aliases of aliases grow without bound.
const MAX_NODES: usize = 20_000;

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// The value.
    pub data: Data,
}

/// A value by the core schema of YAML 1.2: `no`, `off` and `yes` are texts.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Nothing written, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number, as written.
    Float(String),
    /// Text.
    Text(String),
    /// `[…]`, or lines that begin with `-`.
    List(Vec<Node>),
    /// Keys, in the order of the text; each once.
    Map(Vec<Entry>),
}

/// One key of a section.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key as written.
    pub key: String,
    /// Where the key begins.
    pub place: Place,
    /// Its value.
    pub value: Node,
}

impl Data {
    /// What it is, for "expected …, found …".
    pub fn found(&self) -> String {
        match self {
            Self::Null => "nothing".into(),
            Self::Bool(value) => format!("the boolean `{value}`"),
            Self::Int(value) => format!("the number `{value}`"),
            Self::Float(text) => format!("the number `{text}`"),
            Self::Text(text) => format!("the text `{}`", shown(text)),
            Self::List(_) => "a list".into(),
            Self::Map(_) => "a section with keys".into(),
        }
    }
}

/// A value short enough for a message, on one line.
pub fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(60).is_some() {
        out.push('…');
    }
    out
}

/// Reads one document. `None` when there is nothing but white space and comments. A byte-order mark is passed over.
/// Keys that stand twice are reported and the first one kept, so that the rest can still be judged.
pub fn parse(text: &str, problems: &mut Vec<Problem>) -> Option<Node> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = Builder { problems, stack: Vec::new(), anchors: BTreeMap::new(), root: None, nodes: 0 };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let step = event.map_err(|error| scan_problem(&error)).and_then(|(event, span)| {
            let place = place_of(&span.start);
            builder.event(event, place)
        });
        if let Err(problem) = step {
            builder.problems.push(problem);
            return None;
        }
    }
    builder.root
}

fn place_of(mark: &Marker) -> Place {
    Place { line: mark.line().max(1), column: mark.col() + 1 }
}

fn scan_problem(error: &ScanError) -> Problem {
    syntax(place_of(error.marker()), format!("this is not YAML: {}", error.info()))
}

fn syntax(place: Place, message: impl Into<String>) -> Problem {
    Problem::new(place, "", ProblemKind::Syntax, message)
}

struct Builder<'p> {
    problems: &'p mut Vec<Problem>,
    stack: Vec<Frame>,
    anchors: BTreeMap<usize, Node>,
    root: Option<Node>,
    nodes: usize,
}

/// A list or section whose end has not come yet.
struct Frame {
    place: Place,
    anchor: usize,
    open: Open,
}

enum Open {
    List(Vec<Node>),
    /// `lines` has the line of every key, so that a long section is read in linear time.
    Map {
        entries: Vec<Entry>,
        lines: BTreeMap<String, usize>,
        key: Option<(String, Place)>,
    },
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, place: Place) -> Result<(), Problem> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(syntax(place, "a second document begins here; the configuration is one document"))
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1, place)?;
                let raw = text.to_string();
                match Scalar::parse_from_cow_and_metadata(text, style, tag.as_ref()) {
                    Some(scalar) => self.scalar(data_of(scalar, &raw), raw, anchor, place),
                    None => Err(syntax(place, format!("`{}` is not what its tag says", shown(&raw)))),
                }
            }
            Event::SequenceStart(anchor, _) => self.open(Open::List(Vec::new()), anchor, place),
            Event::MappingStart(anchor, _) => {
                self.open(Open::Map { entries: Vec::new(), lines: BTreeMap::new(), key: None }, anchor, place)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(node) => {
                    self.count(size(&node), place)?;
                    self.put(Node { place, ..node })
                }
                None => Err(syntax(place, "this alias stands inside the value it names")),
            },
            _ => Ok(()),
        }
    }

    /// A scalar is a key when its section waits for one.
    fn scalar(&mut self, data: Data, raw: String, anchor: usize, place: Place) -> Result<(), Problem> {
        if let Some(Frame { open: Open::Map { key: key @ None, .. }, .. }) = self.stack.last_mut() {
            *key = Some((raw, place));
            return Ok(());
        }
        let node = Node { place, data };
        self.remember(anchor, &node);
        self.put(node)
    }

    fn count(&mut self, more: usize, place: Place) -> Result<(), Problem> {
        self.nodes += more;
        if self.nodes > MAX_NODES {
            return Err(syntax(place, format!("more than {MAX_NODES} values")));
        }
        Ok(())
    }

    fn open(&mut self, open: Open, anchor: usize, place: Place) -> Result<(), Problem> {
        self.count(1, place)?;
        if self.stack.len() >= MAX_DEPTH {
            return Err(syntax(place, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        if matches!(self.stack.last(), Some(Frame { open: Open::Map { key: None, .. }, .. })) {
            return Err(syntax(place, "a key is a plain word, not a list or a section"));
        }
        self.stack.push(Frame { place, anchor, open });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Problem> {
        let Some(Frame { place, anchor, open }) = self.stack.pop() else { return Ok(()) };
        let data = match open {
            Open::List(items) => Data::List(items),
            Open::Map { entries, .. } => Data::Map(entries),
        };
        let node = Node { place, data };
        self.remember(anchor, &node);
        self.put(node)
    }

    fn remember(&mut self, anchor: usize, node: &Node) {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
    }

    fn put(&mut self, node: Node) -> Result<(), Problem> {
        let path = self.path();
        match self.stack.last_mut().map(|frame| &mut frame.open) {
            None => self.root = Some(node),
            Some(Open::List(items)) => items.push(node),
            Some(Open::Map { entries, lines, key }) => {
                // A key always comes before its value; without one this is an alias used as a key.
                let (key, place) =
                    key.take().ok_or_else(|| syntax(node.place, "a key is a plain word, not an alias"))?;
                match lines.get(&key) {
                    Some(first) => self.problems.push(Problem::new(
                        place,
                        path,
                        ProblemKind::Duplicate,
                        format!("this key already stands at line {first}"),
                    )),
                    None => {
                        lines.insert(key.clone(), place.line);
                        entries.push(Entry { key, place, value: node });
                    }
                }
            }
        }
        Ok(())
    }

    /// The keys on the way to what is being read.
    fn path(&self) -> String {
        let keys = self.stack.iter().filter_map(|frame| match &frame.open {
            Open::Map { key: Some((key, _)), .. } => Some(shown(key)),
            _ => None,
        });
        keys.collect::<Vec<_>>().join(".")
    }
}

/// Values in a subtree: what an alias adds at once.
fn size(node: &Node) -> usize {
    match &node.data {
        Data::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Data::Map(entries) => 1 + entries.iter().map(|entry| size(&entry.value)).sum::<usize>(),
        _ => 1,
    }
}

fn data_of(scalar: Scalar<'_>, raw: &str) -> Data {
    match scalar {
        Scalar::Null => Data::Null,
        Scalar::Boolean(value) => Data::Bool(value),
        Scalar::Integer(value) => Data::Int(value),
        Scalar::FloatingPoint(_) => Data::Float(raw.to_owned()),
        Scalar::String(text) => Data::Text(text.into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let mut problems = Vec::new();
        parse(text, &mut problems);
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_key_that_stands_twice_is_reported_with_its_path() {
        let text = "a: 1\nb:\n  c: 1\n  c: 2\na: 3\n";
        assert_eq!(
            problems(text),
            [
                "line 4, column 3: `b.c`: this key already stands at line 3",
                "line 5, column 1: `a`: this key already stands at line 1"
            ]
        );
    }

    #[test]
    fn what_is_not_one_document_of_yaml_has_a_place() {
        for (text, line) in [
            ("a: 1\n---\nb: 2\n", 2),
            ("a:\n\tb: 1\n", 2),
            ("a: [1, 2\n", 2),
            ("a: 'x\n", 1),
            ("? [x]\n: 1\n", 1),
            ("a: &x [*x]\n", 1),
            ("a: !!int x\n", 1),
            ("a: *nobody\n", 1),
        ] {
            let mut found = Vec::new();
            parse(text, &mut found);
            assert_eq!(found.len(), 1, "{text:?}: {found:?}");
            assert_eq!((found[0].kind, found[0].place.line), (ProblemKind::Syntax, line), "{text:?}: {found:?}");
        }
    }

    #[test]
    fn hostile_texts_end_soon() {
        for deep in ["[".repeat(40), "- ".repeat(100_000), "? ".repeat(100_000)] {
            let said = problems(&deep);
            assert!(said[0].contains("nested deeper") || said[0].contains("a plain word"), "{said:?}");
        }
        assert_eq!(problems(&"[".repeat(100_000)).len(), 1);
        let many: String = (0..30_000).map(|n| format!("k{n}: 1\n")).collect();
        assert!(problems(&many)[0].contains("more than"));
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for n in 1..12 {
            let alias = format!("*a{}", n - 1);
            bomb.push_str(&format!("a{n}: &a{n} [{}]\n", vec![alias; 9].join(", ")));
        }
        assert!(problems(&bomb)[0].contains("more than"));
    }

    #[test]
    fn f07_a_byte_order_mark_is_passed_over_and_a_text_without_values_is_none() {
        let mut problems = Vec::new();
        let node = parse("\u{feff}version: 1\n", &mut problems).unwrap();
        assert!(matches!(&node.data, Data::Map(entries) if entries[0].key == "version"));
        for blank in ["", "\n \n", "# only a comment\n", "\u{feff}"] {
            assert_eq!(parse(blank, &mut problems), None, "{blank:?}");
        }
        assert!(problems.is_empty());
    }
}
