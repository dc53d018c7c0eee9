//! What the earlier system left under the state root: read forward, never moved, never written (`state` rules, section 6).
//!
//! Where a section is absent here, the old tree says what it was; a section that is present, `null` included, wins. Every
//! old file that was judged is remembered by its path and digest for as long as the store lives, so nothing that was
//! ended here comes back from it. The whole shim is this folder, `adapters/earlier_files.rs`, `adapters/tmux/take_over.rs`,
//! `app/earlier.rs` and `cli/doctor/earlier.rs`: once no old tree is left, they go in one commit.

mod plan;
mod read;
mod session;

#[cfg(test)]
mod tests;

pub use plan::{Known, Plan, Said, ended_since, plan};
pub use read::{Kind, MAX_LIST_BYTES, is_record_name, read};
pub use session::{EarlierSession, Status, tmux_name};

use super::portable::Record;
use super::reference::WorkItemRef;

/// One thing that the old tree says about one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The item, as the file itself names it.
    pub item: WorkItemRef,
    /// Where it stands, relative to the state root; an entry of a list has `#<ref>` behind.
    pub path: String,
    /// SHA-256 of its text, lower-case hex.
    pub digest: String,
    /// What it says.
    pub what: What,
}

/// What a file, or an entry of a list, holds.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// The last command; a record with nothing but `control`.
    Control(Box<Record>),
    /// What polling knew; a record with nothing but `poll`.
    Poll(Box<Record>),
    /// A session with the pull requests that deliver the item.
    Session(Box<EarlierSession>),
}

/// A file or entry that is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Where it stands, as in [`Found`].
    pub path: String,
    /// Why.
    pub reason: String,
}

/// Everything in the old tree, in the order in which one thing is preferred to another.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    /// What can be read.
    pub found: Vec<Found>,
    /// What cannot.
    pub refused: Vec<Refused>,
}
