//! The files that teach an agent to use runs: which there are for which agent, where they go, and what has to be done so
//! that they lie there, or are gone again, without touching what somebody else wrote (`runs` rules, section 6).

mod page;
mod plan;
mod record;

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

pub use page::{File, MISSING, files};
pub use plan::{Found, Kept, Plan, Step, install, uninstall};
pub use record::{Entry, NAME, Record};

use super::reference::hex;

/// An agent that can be taught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex. It knows no commands of a project, so that each command is a skill of its own.
    Codex,
    /// opencode.
    Opencode,
}

impl Agent {
    /// Every agent.
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Opencode];

    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
        }
    }

    /// Its folder in a project, relative to the root.
    pub const fn project_folder(self) -> &'static str {
        match self {
            Self::Claude => ".claude",
            Self::Codex => ".agents",
            Self::Opencode => ".opencode",
        }
    }

    /// Its folder for one user, whose home this is. `place` is where the agent's own variable says that its files lie
    /// ([`Agent::variable`]).
    pub fn user_folder(self, home: &Path, place: Option<PathBuf>) -> PathBuf {
        match self {
            Self::Claude => place.unwrap_or_else(|| home.join(".claude")),
            Self::Codex => home.join(".agents"),
            Self::Opencode => place.unwrap_or_else(|| home.join(".config")).join("opencode"),
        }
    }

    /// The variable that moves its folder for one user.
    pub const fn variable(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("CLAUDE_CONFIG_DIR"),
            Self::Codex => None,
            Self::Opencode => Some("XDG_CONFIG_HOME"),
        }
    }
}

/// For whom the files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Whoever works in this project.
    Project,
    /// This user, in every project.
    User,
}

impl Scope {
    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// What tells one content of a file from another: SHA-256, 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Content(String);

impl Content {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }

    /// As it is written down.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads it by its form.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        is_hex.then(|| Self(text.to_owned()))
    }
}

/// Why nothing, or not everything, was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    /// The record of what was written cannot be read; it was left as it is.
    #[error("`{path}` cannot be read: {why}")]
    Record {
        /// The record.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Somebody wrote between the look and the write.
    #[error("`{0}` was changed meanwhile")]
    Changed(PathBuf),
    /// The system said no.
    #[error("`{path}`: {said}")]
    Io {
        /// On which file.
        path: PathBuf,
        /// What it said.
        said: String,
    },
}

/// One agent's folder. Paths are relative to it, with `/` between their parts.
pub trait SkillFiles {
    /// The folder itself.
    fn folder(&self) -> &Path;
    /// What lies at a path.
    ///
    /// # Errors
    /// The system said no.
    fn look(&self, path: &str) -> Result<Found, SkillError>;
    /// Which of these folders are not there; the empty path is the folder itself.
    fn absent(&self, folders: &[String]) -> Vec<String>;
    /// The record of what was written here; an empty one where there is none.
    ///
    /// # Errors
    /// It cannot be read.
    fn record(&self) -> Result<Record, SkillError>;
    /// Writes the record, or takes it away when it has nothing to say any more.
    ///
    /// # Errors
    /// The system said no.
    fn write_record(&self, record: &Record) -> Result<(), SkillError>;
    /// Does one step; each is done whole or not at all.
    ///
    /// # Errors
    /// The system said no, or somebody wrote since the look.
    fn step(&self, step: &Step) -> Result<(), SkillError>;
    /// Takes a folder away that holds nothing; one that holds something stays.
    fn take_empty(&self, folder: &str);
}
