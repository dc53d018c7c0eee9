//! What is in the folder, read once for many items.

use rustix::fs::Dir;

use crate::domain::portable::files::FileError;

use super::folder::PortableFolder;

/// The earlier system's derived list: not a record, never touched.
const INDEX: &str = "index.json";

/// The names in a folder at one moment.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Records in the order of their lower-cased names: one item has one name, however it is spelled.
    records: Vec<Name>,
    temporaries: Vec<String>,
    /// When the folder last changed before this was read, nanoseconds since the epoch.
    pub(super) changed_ns: i64,
}

/// A record's name.
#[derive(Debug, Clone)]
struct Name {
    spelled: String,
    /// Only where it is another.
    lower: Option<String>,
}

impl Name {
    fn new(name: &str) -> Self {
        let lower = name.bytes().any(|byte| byte.is_ascii_uppercase()).then(|| name.to_ascii_lowercase());
        Self { spelled: name.to_owned(), lower }
    }

    fn lower(&self) -> &str {
        self.lower.as_deref().unwrap_or(&self.spelled)
    }

    fn order(&self) -> (&str, &str) {
        (self.lower(), &self.spelled)
    }
}

impl Names {
    /// The file names of all records, in byte order of their lower-cased form. Only `*.json` is a record; `index.json`,
    /// editors' copies, hidden files and temporaries are not.
    pub fn records(&self) -> impl Iterator<Item = &str> {
        self.records.iter().map(|name| name.spelled.as_str())
    }

    /// The temporaries that a crash of an exporter may have left: `<record>.<n>.tmp`.
    pub fn temporaries(&self) -> impl Iterator<Item = &str> {
        self.temporaries.iter().map(String::as_str)
    }

    /// Every spelling of a record's name that is there.
    pub(super) fn spellings(&self, name: &str) -> impl Iterator<Item = &str> {
        let lower = name.to_ascii_lowercase();
        let first = self.records.partition_point(|known| known.lower() < lower.as_str());
        let same = self.records[first..].iter().take_while(move |known| known.lower() == lower);
        same.map(|known| known.spelled.as_str())
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
            && !self.spellings(name).any(|known| known == name)
        {
            self.add(name, true);
        }
    }

    /// Adds a name, in its place or, while the folder is read, at the end.
    fn add(&mut self, name: &str, in_place: bool) {
        let lower = name.to_ascii_lowercase();
        if name.starts_with('.') || lower == INDEX {
        } else if lower.ends_with(".json") {
            let name = Name::new(name);
            let place = match in_place {
                true => self.records.partition_point(|known| known.order() < name.order()),
                false => self.records.len(),
            };
            self.records.insert(place, name);
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
                names.add(name, false);
            }
        }
        names.records.sort_unstable_by(|one, other| one.order().cmp(&other.order()));
        names.temporaries.sort();
        Ok(names)
    }
}
