//! How far a repository was polled, and what is asked of it next (events rules, section 2). Pure.
//!
//! Everything here is in GitHub's time: a cursor comes from what was seen, never from a clock of ours.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::github::Pause;
use super::reference::RepoRef;
use super::time::Time;

mod cursor;
mod follow;
mod heads;
mod words;

pub use cursor::{Cursor, OVERLAP_SECONDS};
pub use follow::{Followed, MOST_BY_NUMBER, follow, polled_at, taken_over, wanted};
pub use heads::{Watched, due};
pub use words::newest_word;

/// What the pages of one list said last: by the address of the page.
pub type Validators = super::github::Validators;

/// How far one repository was polled.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Progress {
    /// What GitHub calls it.
    pub repository: Option<Repository>,
    /// The first cursor: since then it is polled, in GitHub's time. What was created before is seen, not new.
    pub first: Option<Time>,
    /// Issues and pull requests that changed.
    pub items: ListProgress,
    /// Comments in their conversations.
    pub comments: ListProgress,
    /// Comments on lines of diffs.
    pub review_comments: ListProgress,
    /// Heads of open pull requests we own, by number.
    pub heads: BTreeMap<u64, Watched>,
    /// The pull request whose settled head was looked at last.
    pub turn: u64,
    /// Items whose threads are still to be looked through for the newest word from before the first cycle.
    pub words: BTreeSet<u64>,
    /// Items that could not be read, with the tries so far: they are asked for again by number.
    pub again: BTreeMap<u64, u32>,
    /// Items that were asked for by number because no list showed them, with the time of the command that armed them.
    pub asked: BTreeMap<u64, Time>,
    /// Items whose threads were read whole when they were taken over, with the beginning of their life then.
    pub taken_over: BTreeMap<u64, Time>,
    /// What keeps it from being asked, and what went wrong last.
    pub pause: Pause,
    /// When the last cycle ended, by our clock.
    pub cycled_at: Option<Time>,
    /// GitHub's clock at the beginning of the last cycle that was answered whole.
    pub polled_at: Option<Time>,
    /// How far our clock is ahead of GitHub's, seconds, at the last cycle.
    pub offset: Option<i64>,
    /// Requests of the last cycle.
    pub requests: u32,
    /// How many of them were answered with 304.
    pub unchanged: u32,
}

/// What is polled, and what of it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The repository.
    pub repository: RepoRef,
    /// The label that makes an item watched.
    pub label: String,
    /// Whether issues are.
    pub issues: bool,
    /// Whether pull requests are.
    pub pull_requests: bool,
}

/// Asking GitHub at intervals.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Polling {
    /// Whether the daemon does.
    pub enabled: bool,
    /// Seconds between two cycles.
    pub interval_seconds: u32,
    /// Repositories, each once.
    pub sources: Vec<Source>,
}

/// After how many intervals without a cycle polling is taken not to get on.
const SILENT_INTERVALS: i64 = 5;

impl Polling {
    /// Whether the last cycle was so long ago that a daemon that polls does not get on.
    pub fn is_silent(&self, cycled_at: Time, now: Time) -> bool {
        cycled_at.plus_seconds(SILENT_INTERVALS * i64::from(self.interval_seconds).max(60)) < now
    }
}

/// A repository as GitHub names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    /// GitHub's id, which survives renames.
    pub id: u64,
    /// `owner/name`, in GitHub's spelling.
    pub full_name: String,
}

/// How far one list was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListProgress {
    /// Where it goes on.
    pub cursor: Cursor,
    /// Of its pages, as they were asked for last.
    pub validators: Validators,
}
