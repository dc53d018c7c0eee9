//! Brings a configuration of an earlier version to the current one, as text: comments and the order of keys stay, and
//! nothing that an operator wrote disappears; a key that means nothing any more becomes a comment.
//!
//! What the text must mean afterwards is worked out on its values first ([`values`]); the edited text is read again and
//! compared with that, so a text written in a way the editor does not understand is refused and never spoilt.

mod edit;
mod lines;
mod steps;
mod values;

use super::problem::{Place, Problem, ProblemKind};
use super::tree::{self, Data, Entry, Node, shown};
use super::version::{self, CURRENT, Version};
use edit::Editor;
use steps::{Promotion, Step};

pub use steps::replacement;

/// A text brought to the current version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The text now.
    pub text: String,
    /// What was moved, added or taken out, one sentence each; empty when the text was current.
    pub moves: Vec<String>,
    /// What its owner should look at.
    pub notes: Vec<String>,
    /// The version it said it was.
    pub from: Option<Version>,
}

/// Brings `text` to the current version. Done twice it changes nothing the second time.
///
/// # Errors
///
/// What keeps it from being migrated, each with its place: no YAML, keys that stand twice, a version that is none or a
/// newer one, or a layout that only a person can change.
pub fn migrate(text: &str) -> Result<Migrated, Vec<Problem>> {
    let mut problems = Vec::new();
    let root = tree::parse(text, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let Some(root) = root.filter(|root| root.data != Data::Null) else {
        return Ok(Migrated { text: text.to_owned(), moves: Vec::new(), notes: Vec::new(), from: None });
    };
    let mut work = Work::new(text, root).map_err(|problem| vec![problem])?;
    work.all().map_err(|problem| vec![problem])?;
    work.finish().map_err(|problem| vec![problem])
}

/// A migration on its way: the text, and what it must mean.
struct Work {
    editor: Editor,
    wanted: Data,
    from: Option<Version>,
    moves: Vec<String>,
    notes: Vec<String>,
}

impl Work {
    fn new(text: &str, root: Node) -> Result<Self, Problem> {
        let from = match find(&root, &["version"]) {
            Some(entry) => Some(version::declared(&entry.value, "version")?),
            None => None,
        };
        let editor = Editor::new(text, root.clone())?;
        Ok(Self { editor, wanted: root.data, from, moves: Vec::new(), notes: Vec::new() })
    }

    fn all(&mut self) -> Result<(), Problem> {
        for step in steps::steps() {
            self.removals(step)?;
            for promotion in &step.promote {
                self.promotion(promotion)?;
            }
            if self.from.is_none_or(|from| from < step.to) {
                self.defaults(step)?;
            }
        }
        if self.from != Some(CURRENT) {
            let before = self.from.map_or("not written".to_owned(), |version| version.to_string());
            self.editor.set_version(&CURRENT.to_string())?;
            values::set(&mut self.wanted, &["version"], Data::Text(CURRENT.to_string()));
            self.moves.push(format!("`version`: {before} → {CURRENT}"));
        }
        Ok(())
    }

    fn removals(&mut self, step: &Step) -> Result<(), Problem> {
        for gone in &step.remove {
            let path: Vec<&str> = gone.key.split('.').collect();
            let Some(value) = values::remove(&mut self.wanted, &path) else { continue };
            self.editor.comment_out(&path)?;
            self.moves.push(format!(
                "`{}` ({}) is a comment now: it was replaced by {}",
                gone.key,
                said(&value),
                gone.instead
            ));
        }
        Ok(())
    }

    fn promotion(&mut self, promotion: &Promotion) -> Result<(), Problem> {
        let path: Vec<&str> = promotion.from.key.split('.').collect();
        let to = promotion.to.as_str();
        let Some(old) = values::get(&self.wanted, &path).cloned() else { return Ok(()) };
        let place = self.editor.place(&path);
        let children = match old {
            Data::Map(children) => children,
            Data::Null => Vec::new(),
            other => return Err(not_a_section(place, &promotion.from.key, &other)),
        };
        match values::get(&self.wanted, &[to]) {
            None | Some(Data::Null) => self.editor.move_section(&path, to)?,
            Some(Data::Map(kept)) if kept.is_empty() => self.editor.move_section(&path, to)?,
            Some(Data::Map(_)) => self.merge(&path, to, &children)?,
            Some(other) => return Err(not_a_section(self.editor.place(&[to]), to, other)),
        }
        values::promote(&mut self.wanted, &path, to);
        self.moves.push(format!("`{}` → `{to}`: it is {} now", promotion.from.key, promotion.from.instead));
        Ok(())
    }

    /// Of two sections the one at the top wins, key by key; what it does not say is taken over.
    fn merge(&mut self, path: &[&str], to: &str, children: &[Entry]) -> Result<(), Problem> {
        let mut taken = Vec::new();
        for child in children {
            match values::get(&self.wanted, &[to, &child.key]) {
                None => taken.push(child.key.as_str()),
                Some(kept) if !values::same(kept, &child.value.data) => self.notes.push(format!(
                    "`{to}.{}` was written twice: the top-level value ({}) holds, the other ({}) is a comment now",
                    shown(&child.key),
                    said(kept),
                    said(&child.value.data)
                )),
                Some(_) => {}
            }
        }
        self.editor.merge_section(path, to, &taken)
    }

    fn defaults(&mut self, step: &Step) -> Result<(), Problem> {
        for default in &step.defaults {
            let path: Vec<&str> = default.key.split('.').collect();
            let [section, key] = path[..] else { continue };
            if values::get(&self.wanted, &path).is_some() {
                continue;
            }
            if let Some(other @ (Data::Text(_) | Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::List(_))) =
                values::get(&self.wanted, &[section])
            {
                return Err(not_a_section(self.editor.place(&[section]), section, other));
            }
            self.editor.add(section, key, &default.value)?;
            values::set(&mut self.wanted, &path, Data::Text(default.value.clone()));
            self.moves.push(format!("`{}: {}` was added: {}", default.key, default.value, default.why));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Migrated, Problem> {
        let text = self.editor.text();
        let means_it = tree::parse(&text, &mut Vec::new()).is_some_and(|root| values::same(&root.data, &self.wanted));
        if !means_it {
            return Err(by_hand(Place::START, ""));
        }
        self.notes.extend(self.editor.rewritten().iter().map(|key| {
            format!("`{key}` was written in braces and is written as lines now; look through its comments")
        }));
        Ok(Migrated { text, moves: self.moves, notes: self.notes, from: self.from })
    }
}

/// The entry at the end of a path of keys.
fn find<'n>(node: &'n Node, path: &[&str]) -> Option<&'n Entry> {
    let (first, rest) = path.split_first()?;
    let Data::Map(entries) = &node.data else { return None };
    let entry = entries.iter().find(|entry| entry.key == *first)?;
    if rest.is_empty() { Some(entry) } else { find(&entry.value, rest) }
}

/// A value for a sentence.
fn said(data: &Data) -> String {
    format!("`{}`", shown(&values::flow(data)))
}

fn not_a_section(place: Place, key: &str, found: &Data) -> Problem {
    let message = format!("expected a section with keys, found {}", found.found());
    Problem::new(place, key, ProblemKind::Type, message)
}

/// The problem of a layout that the editor does not understand.
fn by_hand(place: Place, key: &str) -> Problem {
    let message = "this is written in a way that the migration cannot change without spoiling it";
    Problem::new(place, key, ProblemKind::Syntax, message)
        .hint("write its keys as lines, one below the other, without anchors, and try again")
}

#[cfg(test)]
mod tests;
