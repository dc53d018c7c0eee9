//! Why a file is not read as a record: refused, never guessed at, never overwritten.

use crate::domain::reference::WorkItemRef;

/// A file that is not a record, with the place of the fault when it has one. The caller names the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub kind: RefusalKind,
    /// The line, beginning at 1.
    pub line: Option<usize>,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefusalKind {
    /// Nothing but white space in it.
    #[error("the file is empty")]
    Empty,
    /// Right length, no content: what a power loss leaves.
    #[error("the file holds only NUL bytes")]
    Nul,
    /// More than [`super::MAX_BYTES`], or what may be read of its kind.
    #[error("the file is larger than 4 MiB")]
    TooLarge,
    /// Not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// Git's markers stand in it.
    #[error("unresolved merge conflict")]
    MergeConflict,
    /// Not one unambiguous JSON value.
    #[error("{0}")]
    Json(String),
    /// JSON, but no object.
    #[error("not a JSON object")]
    NotAnObject,
    /// No reference, or none that can be read.
    #[error("no valid `ref`: {0}")]
    NoReference(String),
    /// The reference inside is not the one this file is for.
    #[error("`ref` is `{found}`, but this file is for `{expected}`")]
    RefMismatch {
        /// What stands in the file.
        found: Box<WorkItemRef>,
        /// What its name, or its other `ref`, says.
        expected: String,
    },
    /// A known key holds something else than it can hold.
    #[error("`{at}` is not {wanted}")]
    Shape {
        /// The key, with the section in front.
        at: String,
        /// What it has to be.
        wanted: &'static str,
    },
    /// A symbolic link; never followed.
    #[error("a symbolic link, which is never followed")]
    Symlink,
    /// A folder, pipe or device.
    #[error("not a regular file")]
    NotAFile,
}

impl Refusal {
    /// A refusal without a place.
    pub const fn new(kind: RefusalKind) -> Self {
        Self { kind, line: None }
    }

    /// A refusal with its line.
    pub const fn at(kind: RefusalKind, line: usize) -> Self {
        Self { kind, line: Some(line) }
    }

    /// Whether a writer that is not done yet would look like this; such a file is read again later while it is young.
    pub const fn may_be_half_written(&self) -> bool {
        matches!(
            self.kind,
            RefusalKind::Empty
                | RefusalKind::Nul
                | RefusalKind::NotUtf8
                | RefusalKind::Json(_)
                | RefusalKind::NotAnObject
                | RefusalKind::MergeConflict
        )
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.kind),
            None => write!(f, "{}", self.kind),
        }
    }
}

impl std::error::Error for Refusal {}
