//! How the state root lies in a git repository: what has to be ignored, how portable files are merged and stored, and
//! what is to be changed so that it is so. Git itself is asked through `ports::Git`.

pub mod attributes;
pub mod driver;
pub mod ignore;
mod lines;
mod plan;
mod spot;

use serde::Serialize;
use std::path::PathBuf;

pub use driver::{DRIVER_KEY, NAME, NAME_KEY};
pub use plan::{Change, Plan, Target, plan};
pub use spot::{Spot, within};

/// A file of lines as it lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileText {
    /// Nothing does.
    Missing,
    /// Its text.
    Text(String),
    /// Something that is not read; the text completes "…: ".
    Unusable(&'static str),
}

/// The pattern that decides about a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// The file it stands in, as git names it.
    pub source: String,
    /// Its line, from 1.
    pub line: usize,
    /// The pattern.
    pub pattern: String,
}

/// What git says of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The path, relative to the top of the working tree.
    pub path: String,
    /// What decides about it; nothing when no pattern matches.
    pub rule: Option<Rule>,
}

/// Why git could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// The program cannot be run.
    #[error("could not run `git`: {0}")]
    NoProgram(String),
    /// There is no repository there.
    #[error("`{0}` is in no git repository")]
    NoRepository(PathBuf),
    /// A repository without files.
    #[error("`{0}` is a bare git repository, which has no files")]
    Bare(PathBuf),
    /// It said no, or nothing in time.
    #[error("`git {command}`: {said}")]
    Failed {
        /// What was asked.
        command: String,
        /// The first line of what it said.
        said: String,
    },
    /// A file of the working tree could not be read or written.
    #[error("`{path}`: {said}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        said: String,
    },
}

/// Everything a repository says about the state root in it. Paths are relative to the top of the working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What must never be committed.
    pub local: Vec<Judged>,
    /// A record.
    pub record: Judged,
    /// A temporary of the exporter.
    pub temporary: Judged,
    /// What of this machine's own is in the index.
    pub tracked: Vec<String>,
    /// Records that are in the index.
    pub records: Vec<String>,
    /// The attribute `merge` of a record.
    pub merge: String,
    /// The attribute `text` of a record.
    pub text: String,
    /// `core.autocrlf`, when it is set.
    pub autocrlf: Option<String>,
    /// The command of our merge driver.
    pub driver: Option<String>,
    /// Whether its program is found.
    pub driver_runs: bool,
    /// The name of our merge driver.
    pub driver_name: Option<String>,
    /// The `.gitignore` that speaks of the root.
    pub gitignore: FileText,
    /// The `.gitattributes` beside it.
    pub gitattributes: FileText,
}

impl Judged {
    /// Whether git ignores it.
    pub fn is_ignored(&self) -> bool {
        self.rule.as_ref().is_some_and(|rule| !rule.pattern.starts_with('!'))
    }
}
