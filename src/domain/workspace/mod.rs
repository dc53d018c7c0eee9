//! Where the agent of a work item works: names of its directory and its branch, which remote of a repository is its own,
//! what keeps a checkout from being removed. Pure.

mod keep;
mod names;
mod remotes;

pub use keep::{Keep, hidden, judge_status, under_way};
pub use names::{Choice, Place, Rival, branch, choose, names};
pub use remotes::{address, default_branch, remote_of, scrub};

use std::path::PathBuf;

use super::reference::WorkItemRef;

/// Why a directory could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkspaceError {
    /// There is none for this item as things are configured; trying again cannot help. The text names what would.
    #[error("no-workspace: {0}")]
    None(String),
    /// It went wrong this time.
    #[error("{0}")]
    Failed(String),
    /// Somebody else is at the same repository right now.
    #[error("{0}")]
    Busy(String),
}

/// What became of a checkout whose item ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tidied {
    /// There was none.
    Nothing,
    /// It is gone; its branch is where it was.
    Removed(PathBuf),
    /// It stays.
    Kept {
        /// The directory.
        path: PathBuf,
        /// Why.
        why: Keep,
    },
}

/// A directory among those of work items, as it lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Where.
    pub path: PathBuf,
    /// What it is.
    pub state: CheckoutState,
}

/// How far a [`Checkout`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckoutState {
    /// Complete, and this item's.
    Ready(WorkItemRef),
    /// Begun and not finished, or being made right now.
    HalfMade,
    /// Not made by us, or its repository is gone.
    Strange,
}
