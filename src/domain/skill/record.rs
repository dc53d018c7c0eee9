//! The record beside the files: what this program wrote, what was there before, and which folders it made.

use serde::{Deserialize, Serialize};

use super::Content;

/// The record's name in the agent's folder.
pub const NAME: &str = "the-loop.skill.json";
/// Version of the record.
const SCHEMA: u64 = 1;

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the agent's folder.
    pub path: String,
    /// Every content this program gave it, the latest last; never empty.
    pub written: Vec<Content>,
    /// Where that which was there before is kept.
    pub backup: Option<String>,
}

/// Everything that was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// The files.
    pub entries: Vec<Entry>,
    /// Folders that were made, each before those in it; the empty path is the agent's folder.
    pub folders: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    schema_version: u64,
    files: Vec<Line>,
    folders: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    path: String,
    written: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<String>,
}

impl Record {
    /// The entry of a path.
    pub fn of(&self, path: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.path == path)
    }

    /// Reads a record.
    ///
    /// # Errors
    /// Why it is none, or leads out of the agent's folder.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let document: Document = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if document.schema_version != SCHEMA {
            return Err(format!("it is of schema {}, which this version does not know", document.schema_version));
        }
        let entry = |line: Line| {
            let written: Option<Vec<Content>> = line.written.iter().map(|text| Content::parse(text)).collect();
            let written = written.filter(|written| !written.is_empty());
            let inside = stays_inside(&line.path) && line.backup.as_deref().is_none_or(stays_inside);
            match written.filter(|_| inside) {
                Some(written) => Ok(Entry { path: line.path, written, backup: line.backup }),
                None => Err(format!("`{}` is no file of ours", line.path)),
            }
        };
        if let Some(folder) = document.folders.iter().find(|folder| !folder.is_empty() && !stays_inside(folder)) {
            return Err(format!("`{folder}` is no folder of ours"));
        }
        let entries = document.files.into_iter().map(entry).collect::<Result<_, _>>()?;
        Ok(Self { entries, folders: document.folders })
    }

    /// The record as it is written: JSON, two spaces, a final newline.
    pub fn render(&self) -> String {
        let line = |entry: &Entry| Line {
            path: entry.path.clone(),
            written: entry.written.iter().map(|content| content.as_str().to_owned()).collect(),
            backup: entry.backup.clone(),
        };
        let files = self.entries.iter().map(line).collect();
        let document = Document { schema_version: SCHEMA, files, folders: self.folders.clone() };
        // Texts and numbers can always be written.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}

/// Whether a path names something below the folder it is relative to.
fn stays_inside(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let entry = |backup: Option<&str>| Entry {
            path: "commands/loop.md".into(),
            written: vec![Content::of(b"one"), Content::of(b"two")],
            backup: backup.map(str::to_owned),
        };
        for backup in [None, Some("commands/loop.md.before-the-loop")] {
            let record = Record { entries: vec![entry(backup)], folders: vec![String::new(), "commands".into()] };
            assert_eq!(Record::parse(record.render().as_bytes()), Ok(record));
        }
    }

    #[test]
    fn a_record_that_is_none_or_leads_elsewhere_is_refused() {
        let content = Content::of(b"x");
        let file = |path: &str, written: &str| {
            format!(r#"{{"schemaVersion":1,"files":[{{"path":"{path}","written":[{written}]}}],"folders":[]}}"#)
        };
        let good = format!("\"{}\"", content.as_str());
        assert!(Record::parse(file("commands/loop.md", &good).as_bytes()).is_ok());
        for text in [
            file("../x", &good),
            file("/etc/x", &good),
            file("commands//x", &good),
            file("commands/x", ""),
            file("commands/x", "\"12\""),
            r#"{"schemaVersion":2,"files":[],"folders":[]}"#.to_owned(),
            r#"{"schemaVersion":1,"files":[],"folders":["../.."]}"#.to_owned(),
            "{".to_owned(),
        ] {
            assert!(Record::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
