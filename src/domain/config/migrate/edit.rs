//! The changes on the text. Each is made on lines, after which the text is read again, so that places always hold.

use super::super::problem::{Place, Problem};
use super::super::tree::{self, Data, Entry, Node};
use super::lines::{self, Lines};
use super::{by_hand, find, values};

/// A text being edited.
pub struct Editor {
    lines: Lines,
    root: Node,
    rewritten: Vec<String>,
}

impl Editor {
    /// An editor of `text`, which was read as `root`.
    pub fn new(text: &str, root: Node) -> Result<Self, Problem> {
        let lines = Lines::new(text);
        match (&root.data, lines.char_at(root.place.line, root.place.column)) {
            (Data::Map(_), Some(first)) if first != '{' => Ok(Self { lines, root, rewritten: Vec::new() }),
            _ => Err(by_hand(root.place, "")),
        }
    }

    /// The text as it is now.
    pub fn text(&self) -> String {
        self.lines.text()
    }

    /// The top-level keys that had to be written anew.
    pub fn rewritten(&self) -> &[String] {
        &self.rewritten
    }

    /// Where a key stands.
    pub fn place(&self, path: &[&str]) -> Place {
        find(&self.root, path).map_or(Place::START, |entry| entry.place)
    }

    /// Makes a key a comment, together with the sections that hold nothing else.
    pub fn comment_out(&mut self, path: &[&str]) -> Result<(), Problem> {
        self.as_lines(path)?;
        let entry = topmost_alone(&self.root, path).ok_or_else(|| by_hand(Place::START, &path.join(".")))?;
        let range = self.lines.of(entry).ok_or_else(|| stuck(entry))?;
        self.lines.comment(range);
        self.read_again()
    }

    /// Moves a section to the top level, behind the section it stood in.
    pub fn move_section(&mut self, path: &[&str], to: &str) -> Result<(), Problem> {
        if find(&self.root, &[to]).is_some() {
            self.comment_out(&[to])?;
        }
        self.as_lines(path)?;
        let whole = |editor: &Self, path: &[&str]| {
            let entry = find(&editor.root, path).ok_or_else(|| by_hand(Place::START, &path.join(".")))?;
            let range = editor.lines.with_comments(entry).ok_or_else(|| stuck(entry))?;
            Ok::<_, Problem>((range, entry.place.column - 1))
        };
        if self.is_empty_section(path) {
            return self.comment_out(path);
        }
        let (outer, _) = whole(self, &path[..1])?;
        let (range, depth) = whole(self, path)?;
        let behind = outer.end - range.len();
        let section = lines::shifted(self.lines.cut(range), depth, 0);
        let section = section.into_iter().map(|line| renamed(line, path, to)).collect();
        self.lines.insert(behind, section);
        self.read_again()?;
        self.drop_husk(path)
    }

    /// Takes the keys `taken` of the section at `path` over into the top-level section `to`; the rest becomes a comment.
    pub fn merge_section(&mut self, path: &[&str], to: &str, taken: &[&str]) -> Result<(), Problem> {
        self.as_lines(&[path, &[""]].concat())?;
        for key in taken {
            let from = [path, &[key]].concat();
            let entry = find(&self.root, &from).ok_or_else(|| by_hand(Place::START, &from.join(".")))?;
            let range = self.lines.with_comments(entry).ok_or_else(|| stuck(entry))?;
            let depth = entry.place.column - 1;
            let cut = self.lines.cut(range);
            self.read_again()?;
            self.append(to, |below| lines::shifted(cut, depth, below))?;
        }
        match find(&self.root, path) {
            Some(Entry { value: Node { data: Data::Null, .. }, .. }) => self.drop_husk(path),
            _ => self.comment_out(path),
        }
    }

    /// Adds a key to a top-level section, which is made when it is not there.
    pub fn add(&mut self, section: &str, key: &str, value: &str) -> Result<(), Problem> {
        if find(&self.root, &[section]).is_some() && self.is_empty_section(&[section]) {
            self.comment_out(&[section])?;
        }
        if find(&self.root, &[section]).is_none() {
            let lines = vec![format!("{section}:"), format!("  {key}: {value}")];
            self.lines.insert(self.lines.lines.len(), lines);
            return self.read_again();
        }
        self.append(section, |below| vec![format!("{}{key}: {value}", " ".repeat(below))])
    }

    /// Writes the version, on its own line or as the first key.
    pub fn set_version(&mut self, version: &str) -> Result<(), Problem> {
        let text = format!("version: \"{version}\"");
        match find(&self.root, &["version"]) {
            Some(entry) => {
                let at = self.lines.of(entry).filter(|range| range.len() == 1).ok_or_else(|| stuck(entry))?.start;
                let line = &mut self.lines.lines[at];
                let comment = lines::comment_at(line).map_or(String::new(), |from| {
                    let value = line[..from].trim_end().len();
                    line[value..].to_owned()
                });
                *line = text + &comment;
            }
            None => {
                let Data::Map(entries) = &self.root.data else { return Err(by_hand(self.root.place, "")) };
                let first = entries.first().ok_or_else(|| by_hand(self.root.place, ""))?;
                let at = self.lines.with_comments(first).ok_or_else(|| stuck(first))?.start;
                self.lines.insert(at, vec![text]);
            }
        }
        self.read_again()
    }

    /// Adds lines below the last key of a top-level section; they are told how deep its keys stand.
    fn append(&mut self, section: &str, lines: impl FnOnce(usize) -> Vec<String>) -> Result<(), Problem> {
        self.as_lines(&[section, ""])?;
        let entry = find(&self.root, &[section]).ok_or_else(|| by_hand(Place::START, section))?;
        let Data::Map(children) = &entry.value.data else { return Err(stuck(entry)) };
        let last = children.last().ok_or_else(|| stuck(entry))?;
        let end = self.lines.of(last).ok_or_else(|| stuck(last))?.end;
        let lines = lines(last.place.column - 1);
        self.lines.insert(end, lines);
        self.read_again()
    }

    fn is_empty_section(&self, path: &[&str]) -> bool {
        match find(&self.root, path).map(|entry| &entry.value.data) {
            Some(Data::Map(children)) => children.is_empty(),
            Some(Data::Null) => true,
            _ => false,
        }
    }

    /// Takes out what is left of the sections that held a section which was moved: their bare keys, or, where comments
    /// stand among them, these as they are.
    fn drop_husk(&mut self, path: &[&str]) -> Result<(), Problem> {
        let mut husk = None;
        for length in (1..=path.len()).rev() {
            match find(&self.root, &path[..length]) {
                Some(entry) if entry.value.data == Data::Null || husk.is_some() && only_child(entry) => {
                    husk = Some(length);
                }
                Some(_) => break,
                None => {}
            }
        }
        let Some(entry) = husk.and_then(|length| find(&self.root, &path[..length])) else { return Ok(()) };
        let range = self.lines.of(entry).ok_or_else(|| stuck(entry))?;
        match self.lines.lines[range.clone()].iter().all(|line| line.trim_end().ends_with(':')) {
            true => drop(self.lines.cut(range)),
            false => self.lines.comment(range),
        }
        self.read_again()
    }

    /// Writes the top-level section of a path as lines when one of the sections above its last key stands in braces.
    fn as_lines(&mut self, path: &[&str]) -> Result<(), Problem> {
        let in_braces = (1..path.len()).filter_map(|length| find(&self.root, &path[..length])).any(|entry| {
            let Node { place, data } = &entry.value;
            matches!(data, Data::Map(_)) && self.lines.char_at(place.line, place.column) == Some('{')
        });
        let Some(entry) = find(&self.root, &path[..1]).filter(|_| in_braces) else { return Ok(()) };
        let range = self.lines.of(entry).ok_or_else(|| stuck(entry))?;
        let old = self.lines.cut(range.clone());
        let mut new = lines::comments(&old);
        new.extend(values::block(std::slice::from_ref(entry), 0));
        self.lines.insert(range.start, new);
        self.rewritten.push(entry.key.clone());
        self.read_again()
    }

    fn read_again(&mut self) -> Result<(), Problem> {
        let mut problems = Vec::new();
        match tree::parse(&self.lines.text(), &mut problems) {
            Some(root) if problems.is_empty() => self.root = root,
            // Nothing is left but comments.
            None if problems.is_empty() => self.root.data = Data::Map(Vec::new()),
            _ => return Err(by_hand(Place::START, "")),
        }
        Ok(())
    }
}

/// The topmost section of a path that holds nothing but what leads to its end.
fn topmost_alone<'n>(root: &'n Node, path: &[&str]) -> Option<&'n Entry> {
    let mut topmost = find(root, path)?;
    for length in (1..path.len()).rev() {
        let outer = find(root, &path[..length])?;
        if !only_child(outer) {
            break;
        }
        topmost = outer;
    }
    Some(topmost)
}

fn only_child(entry: &Entry) -> bool {
    matches!(&entry.value.data, Data::Map(children) if children.len() == 1)
}

/// The line of the section's own key, under its new name.
fn renamed(line: String, path: &[&str], to: &str) -> String {
    let Some(old) = path.last().filter(|old| **old != to) else { return line };
    line.strip_prefix(&format!("{old}:")).map_or(line.clone(), |rest| format!("{to}:{rest}"))
}

fn stuck(entry: &Entry) -> Problem {
    by_hand(entry.place, &entry.key)
}
