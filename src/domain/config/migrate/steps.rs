//! The steps between versions of the configuration, as data: one file each under `migrations/config/`, with examples
//! that a test runs.

use std::sync::LazyLock;

use super::super::tree::{self, Data, Node};
use super::super::version::Version;
use super::find;

/// One step.
#[derive(Debug)]
pub struct Step {
    /// The version it leads to.
    pub to: Version,
    /// Keys that mean nothing any more.
    pub remove: Vec<Gone>,
    /// Sections that moved to the top level.
    pub promote: Vec<Promotion>,
    /// Values that held without being written, and would not hold any more.
    pub defaults: Vec<Unwritten>,
    /// Texts before and after, for the test.
    #[cfg(test)]
    pub examples: Vec<[String; 3]>,
}

/// A key that was removed.
#[derive(Debug)]
pub struct Gone {
    /// Path of the key.
    pub key: String,
    /// What replaces it.
    pub instead: String,
}

/// A section that moved.
#[derive(Debug)]
pub struct Promotion {
    /// Its path before.
    pub from: Gone,
    /// The top-level key it became.
    pub to: String,
}

/// A default of before, written down where nothing is said.
#[derive(Debug)]
pub struct Unwritten {
    /// Path of the key: a section and a key in it.
    pub key: String,
    /// Its value, a plain word.
    pub value: String,
    /// Why it is written down.
    pub why: String,
}

const FILES: &[&str] = &[
    include_str!("../../../../migrations/config/0001-0.2.0.yaml"),
    include_str!("../../../../migrations/config/0002-0.3.0.yaml"),
    include_str!("../../../../migrations/config/0003-0.4.0.yaml"),
];

static STEPS: LazyLock<Vec<Step>> = LazyLock::new(|| FILES.iter().filter_map(|text| read(text)).collect());

/// All steps, the earliest first.
pub fn steps() -> &'static [Step] {
    &STEPS
}

/// What replaces a key that was removed or moved; `None` for any other.
pub fn replacement(path: &str) -> Option<&'static str> {
    let gone = steps().iter().flat_map(|step| step.remove.iter().chain(step.promote.iter().map(|moved| &moved.from)));
    gone.into_iter().find(|gone| gone.key == path).map(|gone| gone.instead.as_str())
}

/// A step from its file; `None` when the file is not one, which the tests do not let pass.
fn read(text: &str) -> Option<Step> {
    let node = tree::parse(text, &mut Vec::new())?;
    let gone = |entry: &Node| Some(Gone { key: text_at(entry, "key")?, instead: text_at(entry, "instead")? });
    let promotion = |entry: &Node| Some(Promotion { from: gone(entry)?, to: text_at(entry, "to")? });
    let default = |entry: &Node| {
        let [key, value, why] = ["key", "value", "why"].map(|name| text_at(entry, name));
        Some(Unwritten { key: key?, value: value?, why: why? })
    };
    Some(Step {
        to: Version::parse(&text_at(&node, "to")?)?,
        remove: list(&node, "remove", gone)?,
        promote: list(&node, "promote", promotion)?,
        defaults: list(&node, "defaults", default)?,
        #[cfg(test)]
        examples: list(&node, "examples", |entry| {
            let [name, before, after] = ["name", "before", "after"].map(|name| text_at(entry, name));
            Some([name?, before?, after?])
        })?,
    })
}

fn text_at(node: &Node, key: &str) -> Option<String> {
    match &find(node, &[key])?.value.data {
        Data::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn list<T>(node: &Node, key: &str, read: impl Fn(&Node) -> Option<T>) -> Option<Vec<T>> {
    match find(node, &[key]).map(|entry| &entry.value.data) {
        None => Some(Vec::new()),
        Some(Data::List(items)) => items.iter().map(read).collect(),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_step_and_each_leads_further() {
        assert_eq!(steps().len(), FILES.len());
        assert!(steps().is_sorted_by_key(|step| step.to));
        assert_eq!(steps().last().map(|step| step.to), Some(super::super::super::CURRENT));
    }

    #[test]
    fn every_step_has_an_example() {
        assert!(steps().iter().all(|step| !step.examples.is_empty()));
    }
}
