//! The portable record: what is true of a work item on any machine (`state` rules, sections 3 to 5).
//!
//! `parse` reads a file's text at the door, `render` writes it back byte for byte the same on every machine, and
//! `join` makes one record of two copies. The exporter, adoption and the git merge driver call the same join.

pub mod bridge;
pub mod compare;
pub mod date;
pub mod files;
pub mod intake;
pub mod join;
mod keys;
mod ledger;
pub mod merge;
pub mod parse;
mod place;
pub mod record;
pub mod refusal;
pub mod render;
mod shape;
mod spelling;
pub mod stamp;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod properties;
#[cfg(test)]
pub(crate) mod samples;

pub use bridge::{Adopted, ControlChange, Report, adopt, ahead};
pub use compare::{Volatile, same_meaning, says_all};
pub use intake::{Hold, Intake, take_in};
pub use join::{Beaten, Conflict, Joined, join};
pub use parse::{MAX_BYTES, parse, parse_for};
pub use record::{Poll, Record, Section};
pub use refusal::{Refusal, RefusalKind};
pub use render::render;
pub use stamp::{FolderId, Stamp};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::time::Time;

/// The four control words, and whatever another version wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// Arm.
    Start,
    /// Disarm and end.
    Stop,
    /// Disarm and hold.
    Pause,
    /// Arm again.
    Resume,
    /// A command of another version: kept, never arms.
    #[serde(untagged)]
    Other(String),
}

/// Where a command was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// On the ticket.
    Comment,
    /// On a command line.
    Cli,
    /// Somewhere another version knows.
    #[serde(untagged)]
    Other(String),
}

/// A `requestedAt`: a time, or what stood there instead, kept as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestedAt {
    /// A time, whole seconds.
    At(Time),
    /// Not a time: ranks below all and never arms. Holds the JSON value's text; absent fields hold `None`.
    Unreadable(Option<String>),
}

/// The last control command of an item. Joined as one value; the newest wins whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// What was commanded.
    pub command: Command,
    /// Where.
    pub source: Source,
    /// By whom: a login, or the user name of a command line.
    pub actor: String,
    /// When, `created_at` of the comment.
    pub requested_at: RequestedAt,
    /// Free text, usually the comment's link.
    pub note: Option<String>,
    /// Keys of other versions, kept.
    pub extra: Map<String, Value>,
}

/// The dated fact that an item is over: what was armed before it is not armed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// When, whole seconds.
    pub at: Time,
    /// `closed`, `merged`, `transferred`, `renamed`, `reset`, `cleared`, or another version's word.
    pub reason: String,
}

impl Command {
    /// Whether this word arms an item.
    pub const fn arms(&self) -> bool {
        matches!(self, Self::Start | Self::Resume)
    }

    /// The word as it stands in files.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Other(word) => word,
        }
    }

    /// Rank at equal times: `stop` > unknown > `pause` > `resume` > `start`.
    pub const fn rank(&self) -> u8 {
        match self {
            Self::Start => 0,
            Self::Resume => 1,
            Self::Pause => 2,
            Self::Other(_) => 3,
            Self::Stop => 4,
        }
    }
}

impl Control {
    /// When it was requested, if that can be read.
    pub const fn at(&self) -> Option<Time> {
        match &self.requested_at {
            RequestedAt::At(at) => Some(*at),
            RequestedAt::Unreadable(_) => None,
        }
    }

    /// Whether it arms an item that ended at `ended`: the word arms, and is later than the ending.
    pub fn arms_after(&self, ended: Option<&Ended>) -> bool {
        self.command.arms() && self.at().is_some_and(|at| ended.is_none_or(|ended| at > ended.at))
    }
}
