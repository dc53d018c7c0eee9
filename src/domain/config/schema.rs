//! The configuration as data: every section is a table of keys, and one walk over the tables checks a text, fills the
//! typed sections, shows the effective values and writes the documentation.
//!
//! A [`Key`] points at the field it fills, so that table, type and default cannot drift apart: the default is the
//! field's own, and a key without a field does not compile.

use serde_json::{Map, Value as Json};

use super::problem::{Note, Place, Problem, ProblemKind, nearest};
use super::tree::{Data, Entry, Node, shown};
use super::version;

/// What a value must satisfy beyond its type. On a list it holds for each element, on a map for each value.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// Nothing.
    Any,
    /// A whole number between both, ends included.
    Range(u64, u64),
    /// A text that passes a test.
    Text(&'static TextRule),
    /// One of these texts.
    OneOf(&'static [&'static str]),
}

/// A test of a text with the sentence that explains it.
#[derive(Debug)]
pub struct TextRule {
    /// Completes "must …".
    pub must: &'static str,
    /// The test.
    pub holds: fn(&str) -> bool,
}

/// One key of a section `S`.
pub struct Key<S: 'static> {
    /// The key as written.
    pub name: &'static str,
    /// What it means, one line.
    pub about: &'static str,
    /// What its values must satisfy.
    pub rule: Rule,
    /// What the keys of a map must satisfy.
    pub names: Option<&'static TextRule>,
    /// Whether a running daemon takes a change only at its next start.
    pub restart: bool,
    /// Whether an entry without it says nothing.
    pub required: bool,
    /// The field it fills.
    pub field: fn(&mut S) -> &mut dyn Field,
}

impl<S> Key<S> {
    /// A key without rules.
    pub const fn new(name: &'static str, about: &'static str, field: fn(&mut S) -> &mut dyn Field) -> Self {
        Self { name, about, rule: Rule::Any, names: None, restart: false, required: false, field }
    }

    /// The same key, whose values are limited.
    #[must_use]
    pub const fn rule(mut self, rule: Rule) -> Self {
        self.rule = rule;
        self
    }

    /// The same key, whose own keys are limited.
    #[must_use]
    pub const fn names(mut self, names: &'static TextRule) -> Self {
        self.names = Some(names);
        self
    }

    /// The same key, which a running daemon takes at its next start.
    #[must_use]
    pub const fn restart(mut self) -> Self {
        self.restart = true;
        self
    }

    /// The same key, which must be there.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

/// A section: a struct whose fields are filled by a table of keys.
pub trait Section: Default + Clone + 'static {
    /// Its keys, in the order of the documentation.
    const KEYS: &'static [Key<Self>];
}

/// The form of a value, for the documentation and for editors.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Number,
    /// Text.
    Text,
    /// Text that names something: a repository, a login.
    Name(&'static str),
    /// One of these words.
    Word(Vec<&'static str>),
    /// A list.
    List(Box<Shape>),
    /// Any names, each with a value.
    Names(Box<Shape>),
    /// Named keys.
    Section(Vec<KeyDoc>),
}

/// A key as the documentation shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyDoc {
    /// The key as written.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Its form.
    pub shape: Shape,
    /// Its default.
    pub default: Json,
    /// What its values must satisfy, completing "must …"; empty when anything goes.
    pub must: String,
    /// Least and most of a number.
    pub range: Option<(u64, u64)>,
    /// Whether a change needs a restart.
    pub restart: bool,
    /// Whether an entry without it says nothing.
    pub required: bool,
}

/// A type that a key can have.
pub trait Value: Sized {
    /// Reads a node; on a problem it is reported and there is no value.
    fn read(node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<Self>;
    /// The value as JSON.
    fn show(&self) -> Json;
    /// Its form.
    fn shape() -> Shape;
}

/// A field that a key fills; what [`Value`] is when the type is not named.
pub trait Field {
    /// Reads a node into the field; keeps what it held when there is a problem.
    fn fill(&mut self, node: &Node, at: &At<'_>, reader: &mut Reader);
    /// The value as JSON.
    fn json(&self) -> Json;
    /// Its form.
    fn form(&self) -> Shape;
}

impl<V: Value> Field for V {
    fn fill(&mut self, node: &Node, at: &At<'_>, reader: &mut Reader) {
        if let Some(value) = V::read(node, at, reader) {
            *self = value;
        }
    }

    fn json(&self) -> Json {
        self.show()
    }

    fn form(&self) -> Shape {
        V::shape()
    }
}

/// Where the walk stands: the path of the key, and its rules.
#[derive(Debug, Clone)]
pub struct At<'r> {
    /// Path of the key.
    pub path: String,
    /// What its values must satisfy.
    pub rule: &'r Rule,
    /// What the keys of a map must satisfy.
    pub names: Option<&'static TextRule>,
}

impl At<'_> {
    /// The top of the text.
    pub const fn top() -> At<'static> {
        At { path: String::new(), rule: &Rule::Any, names: None }
    }

    /// An element of a list or map at this key, under the same rule.
    pub fn element(&self, name: &str) -> At<'_> {
        At { path: format!("{}{name}", self.path), rule: self.rule, names: None }
    }

    fn child(&self, name: &str) -> String {
        if self.path.is_empty() { shown(name) } else { format!("{}.{}", self.path, shown(name)) }
    }
}

/// What a walk over a text collects.
#[derive(Debug, Default)]
pub struct Reader {
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What to know.
    pub notes: Vec<Note>,
    /// The keys that the text sets, in its order.
    pub set: Vec<(String, Place)>,
}

impl Reader {
    /// Reports a value of the wrong type.
    pub fn expected(&mut self, what: &str, node: &Node, at: &At<'_>) {
        let message = match node.data {
            // A key whose value is missing is what a half-saved file looks like, not a wish for the default.
            Data::Null => format!("has no value: write {what}, or remove the key to use the default"),
            _ => format!("expected {what}, found {}", node.data.found()),
        };
        self.problems.push(Problem::new(node.place, at.path.clone(), ProblemKind::Type, message));
    }

    /// Reports a value that is not allowed.
    pub fn refuse(&mut self, node: &Node, at: &At<'_>, message: impl Into<String>) {
        self.problems.push(Problem::new(node.place, at.path.clone(), ProblemKind::Value, message));
    }

    /// Where a key is set; the top of the text when it is not.
    pub fn place(&self, key: &str) -> Place {
        self.set.iter().find(|(path, _)| path == key).map_or(Place::START, |(_, place)| *place)
    }
}

impl<S: Section> Value for S {
    fn read(node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<Self> {
        let mut section = S::default();
        let Data::Map(entries) = &node.data else {
            reader.expected("a section with keys", node, at);
            return None;
        };
        for entry in entries {
            let path = at.child(&entry.key);
            match S::KEYS.iter().find(|key| key.name == entry.key) {
                Some(key) => {
                    reader.set.push((path.clone(), entry.place));
                    let below = At { path, rule: &key.rule, names: key.names };
                    (key.field)(&mut section).fill(&entry.value, &below, reader);
                }
                None => unknown::<S>(entry, path, reader),
            }
        }
        for key in S::KEYS.iter().filter(|key| key.required) {
            if !entries.iter().any(|entry| entry.key == key.name) {
                reader.refuse(node, at, format!("`{}` is missing: {}", key.name, key.about));
            }
        }
        Some(section)
    }

    fn show(&self) -> Json {
        let mut copy = self.clone();
        let keys = S::KEYS.iter().map(|key| (key.name.to_owned(), (key.field)(&mut copy).json()));
        Json::Object(keys.collect::<Map<_, _>>())
    }

    fn shape() -> Shape {
        let mut section = S::default();
        let docs = S::KEYS.iter().map(|key| {
            let field = (key.field)(&mut section);
            KeyDoc {
                name: key.name,
                about: key.about,
                shape: field.form(),
                default: field.json(),
                must: key.rule.to_string(),
                range: match key.rule {
                    Rule::Range(least, most) => Some((least, most)),
                    _ => None,
                },
                restart: key.restart,
                required: key.required,
            }
        });
        Shape::Section(docs.collect())
    }
}

fn unknown<S: Section>(entry: &Entry, path: String, reader: &mut Reader) {
    if let Some(problem) = version::removed(&path, entry.place) {
        return reader.problems.push(problem);
    }
    if let Some(note) = version::ignored(&path, entry.place) {
        return reader.notes.push(note);
    }
    let problem = Problem::new(entry.place, path, ProblemKind::Unknown, "there is no such key");
    let near = nearest(&entry.key, S::KEYS.iter().map(|key| key.name));
    reader.problems.push(match near {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None if entry.key == "<<" => problem.hint("merge keys are not part of YAML 1.2; write the keys out"),
        None => problem,
    });
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => Ok(()),
            Self::Range(least, most) => write!(f, "be {least} to {most}"),
            Self::Text(rule) => f.write_str(rule.must),
            Self::OneOf(words) => write!(f, "be {}", words_listed(words)),
        }
    }
}

/// `` `a`, `b` or `c` ``; an empty word is called empty.
pub fn words_listed(words: &[&str]) -> String {
    let quoted: Vec<String> =
        words.iter().map(|word| if word.is_empty() { "empty".into() } else { format!("`{word}`") }).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
