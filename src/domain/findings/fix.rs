//! What `doctor --fix` may do: safe, scoped to one thing, and nothing that ends a session.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::domain::git::Change;
use crate::domain::reference::WorkItemRef;

/// One thing that `doctor --fix` does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Fix {
    /// Take the rights of other users away.
    Close {
        /// A file or folder of ours.
        path: PathBuf,
    },
    /// Empty a file that names a process that is gone.
    Empty {
        /// The owner file or the pidfile.
        path: PathBuf,
    },
    /// Check every page of a copy of the store and, when it is whole then, put it in the store's place. What was there
    /// is kept beside it.
    RepairStore {
        /// The store.
        path: PathBuf,
    },
    /// Move a portable file that cannot be read out of the folder, and write its item's file again from the store.
    SetAside {
        /// Its name.
        name: String,
    },
    /// Join what a crash left of an item's file, by an export of that item.
    Join {
        /// The item.
        item: Reference,
    },
    /// Record that the pane of a session is gone, so that its next event starts it again.
    MarkGone {
        /// The item whose record it is.
        item: Reference,
    },
    /// Bring one file, or one key, of the git repository into order, as `init` would.
    Git {
        /// What would change.
        change: Change,
    },
}

/// A reference that is ordered and printed as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Reference(String);

impl Reference {
    /// The text, a reference again; `None` never happens for one that was made of a reference.
    pub fn item(&self) -> Option<WorkItemRef> {
        WorkItemRef::parse(&self.0).ok()
    }
}

impl From<&WorkItemRef> for Reference {
    fn from(item: &WorkItemRef) -> Self {
        Self(item.to_string())
    }
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Close { path } => write!(f, "take other users' rights to `{}` away", path.display()),
            Self::Empty { path } => write!(f, "empty `{}`, which names a process that is gone", path.display()),
            Self::RepairStore { path } => {
                write!(f, "repair a copy of `{}`; what is there now is kept beside it", path.display())
            }
            Self::SetAside { name } => {
                write!(f, "move the portable file {name} to `set-aside/` in the local folder and export its item again")
            }
            Self::Join { item } => write!(f, "export {}, which joins what a crash left of its file", item.0),
            Self::MarkGone { item } => write!(f, "record that the pane of {} is gone", item.0),
            Self::Git { change } => write!(f, "{change}"),
        }
    }
}
