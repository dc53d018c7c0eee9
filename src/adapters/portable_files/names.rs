//! What is in the folder, read once for many items.

use std::collections::BTreeMap;

use rustix::fs::Dir;

use crate::domain::portable::files::FileError;

use super::folder::PortableFolder;

/// The earlier system's derived list: not a record, never touched.
const INDEX: &str = "index.json";

/// The names in a folder at one moment.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Records by their lower-cased name: one item has one name, however it is spelled.
    records: BTreeMap<String, Vec<String>>,
    temporaries: Vec<String>,
    /// When the folder last changed before this was read, nanoseconds since the epoch.
    pub(super) changed_ns: i64,
}

impl Names {
    /// The file names of all records, in byte order of their lower-cased form. Only `*.json` is a record; `index.json`,
    /// editors' copies, hidden files and temporaries are not.
    pub fn records(&self) -> impl Iterator<Item = &str> {
        self.records.values().flatten().map(String::as_str)
    }

    /// The temporaries that a crash of an exporter may have left: `<record>.<n>.tmp`.
    pub fn temporaries(&self) -> impl Iterator<Item = &str> {
        self.temporaries.iter().map(String::as_str)
    }

    /// Every spelling of a record's name that is there.
    pub(super) fn spellings(&self, name: &str) -> &[String] {
        self.records.get(&name.to_ascii_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// The temporaries of a record's name.
    pub(super) fn temporaries_of(&self, name: &str) -> impl Iterator<Item = &String> {
        let start = format!("{}.", name.to_ascii_lowercase());
        self.temporaries.iter().filter(move |temporary| temporary.to_ascii_lowercase().starts_with(&start))
    }

    /// Follows what the batch itself did, so that the folder is not read again for every item.
    pub(super) fn follow(&mut self, written: Option<&str>, removed: &[String]) {
        let gone = |name: &String| removed.contains(name);
        self.temporaries.retain(|name| !gone(name));
        if let Some(name) = written
            && !self.spellings(name).iter().any(|known| known == name)
        {
            self.add(name);
        }
    }

    fn add(&mut self, name: &str) {
        let lower = name.to_ascii_lowercase();
        if name.starts_with('.') || lower == INDEX {
        } else if lower.ends_with(".json") {
            self.records.entry(lower).or_default().push(name.to_owned());
        } else if lower.ends_with(".tmp") && lower.contains(".json.") {
            self.temporaries.push(name.to_owned());
        }
    }
}

impl PortableFolder {
    /// Reads the folder's names.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(&self) -> Result<Names, FileError> {
        let fail = |error: rustix::io::Errno| self.fail("", "list the folder", error);
        let mut names = Names { changed_ns: self.changed_ns()?, ..Names::default() };
        for entry in Dir::read_from(&self.dir).map_err(fail)? {
            // What is not UTF-8 is no name of ours.
            if let Ok(name) = entry.map_err(fail)?.file_name().to_str() {
                names.add(name);
            }
        }
        names.records.values_mut().for_each(|spellings| spellings.sort());
        names.temporaries.sort();
        Ok(names)
    }
}
