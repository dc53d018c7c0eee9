//! What people see on their ticket: reactions and a few words of ours (events rules, section 12). Pure.
//!
//! A [`Tell`] is decided together with what it tells about and stored with it; it is told later, by `app/telling.rs`.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::event::Identity;
use super::event::marker::MARKER;
use super::ids::StoreId;
use super::policy::Reaction;
use super::reference::{WorkItemRef, hex};
use super::secrets::{Leaks, Scanned, redact};

mod asked;
mod body;
#[cfg(test)]
mod tests;
mod words;

pub use asked::{Untold, found, heard, heard_comment, heard_page, look_up, posted, put};
pub use body::{BodyProblem, CommentBody, MAX_CHARACTERS};
pub use words::{Lost, announcement, echo, refusal, two_words};

/// One thing to tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tell {
    /// The ticket: the issue or pull request it belongs on, under the name it had when this was decided.
    pub about: WorkItemRef,
    /// What.
    pub what: What,
}

/// What is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A reaction. GitHub holds one of each from one user, so telling it twice is telling it once.
    Reaction {
        /// On what.
        on: Spot,
        /// Which.
        content: Reaction,
    },
    /// A comment of ours.
    Words {
        /// Why we speak.
        kind: Kind,
        /// What brought it about, spelled the same whenever it is decided: it makes the marker.
        cause: String,
        /// What it says, without markers.
        text: String,
    },
}

/// Where a reaction goes. Reviews take none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spot {
    /// A comment on an issue or in a pull request's conversation, by GitHub's number of it.
    Comment(u64),
    /// A comment on a line of a diff, likewise.
    ReviewComment(u64),
}

/// Why we speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A session began.
    Announcement,
    /// A control word was not obeyed.
    Refusal,
    /// Something was given up.
    GivenUp,
    /// A control word was said on this machine's command line.
    Echo,
}

impl Kind {
    /// The word in the marker and in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Announcement => "announcement",
            Self::Refusal => "refusal",
            Self::GivenUp => "given-up",
            Self::Echo => "echo",
        }
    }
}

impl Spot {
    /// Where a reaction to what spoke goes; nothing for reviews and checks.
    pub fn of(identity: &Identity) -> Option<Self> {
        match identity.kind_and_number()? {
            ("comment", id) => Some(Self::Comment(id)),
            ("review_comment", id) => Some(Self::ReviewComment(id)),
            _ => None,
        }
    }
}

impl Tell {
    /// A reaction to what spoke on `about`; `None` where none is wanted or none can be.
    pub fn reaction(about: &WorkItemRef, identity: &Identity, content: Option<Reaction>) -> Option<Self> {
        let what = What::Reaction { on: Spot::of(identity)?, content: content? };
        Some(Self { about: about.clone(), what })
    }

    /// A comment on `about`.
    pub fn words(about: &WorkItemRef, kind: Kind, cause: impl Into<String>, text: impl Into<String>) -> Self {
        Self { about: about.clone(), what: What::Words { kind, cause: cause.into(), text: text.into() } }
    }

    /// The word for lists and logs.
    pub const fn word(&self) -> &'static str {
        match &self.what {
            What::Reaction { .. } => "reaction",
            What::Words { kind, .. } => kind.as_str(),
        }
    }

    /// The hidden line by which this very comment is found again; reactions need none.
    pub fn marker(&self, store: &StoreId) -> Option<String> {
        let What::Words { kind, cause, .. } = &self.what else { return None };
        let mut digest = Sha256::new();
        for part in [store.0.as_str(), kind.as_str(), cause] {
            digest.update(part);
            digest.update([0]);
        }
        Some(format!("<!-- the-loop:told:{}:{} -->", kind.as_str(), hex(&digest.finalize()[..12])))
    }
}

/// A comment as it is posted: what looks like a secret withheld, then the mark of our own words and its own marker.
///
/// # Errors
/// The scan for secrets could not run: then nothing may be posted.
pub fn comment(text: &str, marker: &str) -> Result<String, Leaks> {
    let safe = match Scanned::text(text.to_owned()) {
        Ok(clean) => clean.into_inner(),
        Err(Leaks::Found(_)) => redact(text).into_owned(),
        Err(error @ Leaks::DidNotRun) => return Err(error),
    };
    Ok(format!("{safe}\n\n{MARKER}\n{marker}"))
}
