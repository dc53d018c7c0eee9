//! A run and its states.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Number;

use super::identity::Identity;
use crate::domain::profile::Profile;
use crate::domain::time::Time;

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Being worked on.
    Active,
    /// Put aside on purpose; an early stop is this and never completion.
    Paused,
    /// Interrupted; the stage it was in has to be looked at.
    RecoveryRequired,
    /// Something has to happen first.
    Blocked,
    /// Done, by evidence. Terminal.
    Completed,
    /// Given up. Terminal.
    Cancelled,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Active, Self::Paused, Self::RecoveryRequired, Self::Blocked, Self::Completed, Self::Cancelled];

    /// The word in the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Paused => "PAUSED",
            Self::RecoveryRequired => "RECOVERY_REQUIRED",
            Self::Blocked => "BLOCKED",
            Self::Completed => "COMPLETED",
            Self::Cancelled => "CANCELLED",
        }
    }

    /// The status of a word.
    pub fn by_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }

    /// Whether nothing follows.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The fourteen transitions; everything else is an error.
pub const fn transitions(from: Status) -> &'static [Status] {
    use Status::{Active, Blocked, Cancelled, Completed, Paused, RecoveryRequired};
    match from {
        Active => &[Paused, RecoveryRequired, Blocked, Completed, Cancelled],
        Paused => &[Active, RecoveryRequired, Blocked, Cancelled],
        RecoveryRequired => &[Active, Blocked, Cancelled],
        Blocked => &[Active, Cancelled],
        Completed | Cancelled => &[],
    }
}

/// Whether a run may go from one status to another.
pub fn is_transition(from: Status, to: Status) -> bool {
    transitions(from).contains(&to)
}

/// Whether the record can be believed, a dimension of its own. `CORRUPT` is derived when a file is read and never
/// stored, so it is no value here: what is corrupt is no [`Run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Integrity {
    /// As far as anybody can tell.
    Valid,
    /// The recorded head is no ancestor of today's, or a temporary of a newer generation lies beside the file. It stays
    /// until the gates of `run resume` clear it, and nothing is completed meanwhile.
    SuspectedStale,
}

impl Integrity {
    /// The word in the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Valid => "VALID",
            Self::SuspectedStale => "SUSPECTED_STALE",
        }
    }

    /// The integrity of a word.
    pub fn by_word(word: &str) -> Option<Self> {
        [Self::Valid, Self::SuspectedStale].into_iter().find(|integrity| integrity.word() == word)
    }
}

/// One of the nine stages, 0 to 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Stage(u8);

impl Stage {
    /// The last stage.
    pub const LAST: u8 = 8;

    /// The stage of a number.
    pub const fn new(number: u64) -> Option<Self> {
        match number {
            0..=8 => Some(Self(number as u8)),
            _ => None,
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.0, Self::LAST)
    }
}

/// The id of a task: `task-` and 16 hex digits, derived from its objective and the time it was made.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(String);

impl TaskId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads an id by its form; whether it is the right one is for whoever knows the task.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("task-")?;
        let is_hex = digits.len() == 16 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        is_hex.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a profile: lower-case letters, digits and `-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileName(String);

impl ProfileName {
    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        let is_name = !text.is_empty()
            && text.len() <= 64
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        is_name.then(|| Self(text.to_owned()))
    }

    /// The name of a profile that ships with the program.
    pub fn of(profile: &Profile) -> Self {
        Self(profile.name.to_owned())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A setting of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// Text.
    Text(String),
    /// A number, every digit kept.
    Number(Number),
    /// Yes or no.
    Flag(bool),
}

impl Setting {
    /// The value as it is typed: a whole number, `true`, `false`, else a text.
    pub fn typed(text: &str) -> Self {
        match (text, text.parse::<i64>()) {
            ("true", _) => Self::Flag(true),
            ("false", _) => Self::Flag(false),
            (_, Ok(number)) if number.to_string() == text => Self::Number(number.into()),
            _ => Self::Text(text.to_owned()),
        }
    }
}

/// Something that has to happen first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocker {
    /// What.
    pub reason: String,
    /// Since when.
    pub since: Time,
}

/// Why a run has to be recovered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    /// What happened.
    pub reason: String,
    /// The stage that was interrupted.
    pub interrupted_stage: Stage,
    /// When it was noticed.
    pub detected_at: Time,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Derived from objective and time of making; see [`super::task_id`].
    pub task_id: TaskId,
    /// What it is for.
    pub objective: String,
    /// When it was made.
    pub created_at: Time,
    /// When it was written last.
    pub updated_at: Time,
    /// Where it stands.
    pub status: Status,
    /// Whether it can be believed.
    pub integrity: Integrity,
    /// The stage it is in.
    pub stage: Stage,
    /// Free text about the stage.
    pub stage_note: Option<String>,
    /// One more with each write. It finds a writer that read an older state; it is no lock.
    pub generation: u64,
    /// Which project, branch and commit.
    pub identity: Identity,
    /// The work item it belongs to.
    pub work_item: Option<String>,
    /// The endpoint that began it.
    pub endpoint: Option<String>,
    /// The endpoint that wrote last; `person` for somebody without one.
    pub last_endpoint: Option<String>,
    /// The profile it runs under.
    pub profile: Option<ProfileName>,
    /// Scalar settings.
    pub settings: BTreeMap<String, Setting>,
    /// What is open.
    pub blockers: Vec<Blocker>,
    /// Why it ended; stays in the archive.
    pub stop_reason: Option<String>,
    /// Why it has to be recovered.
    pub recovery: Option<Recovery>,
    /// Who made it, as it says itself.
    pub created_by: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_fourteen_transitions_and_terminal_states_have_none() {
        let pairs = Status::ALL.into_iter().flat_map(|from| Status::ALL.map(|to| (from, to)));
        let allowed: Vec<String> =
            pairs.filter(|(from, to)| is_transition(*from, *to)).map(|(from, to)| format!("{from} {to}")).collect();
        assert_eq!(
            allowed,
            [
                "ACTIVE PAUSED",
                "ACTIVE RECOVERY_REQUIRED",
                "ACTIVE BLOCKED",
                "ACTIVE COMPLETED",
                "ACTIVE CANCELLED",
                "PAUSED ACTIVE",
                "PAUSED RECOVERY_REQUIRED",
                "PAUSED BLOCKED",
                "PAUSED CANCELLED",
                "RECOVERY_REQUIRED ACTIVE",
                "RECOVERY_REQUIRED BLOCKED",
                "RECOVERY_REQUIRED CANCELLED",
                "BLOCKED ACTIVE",
                "BLOCKED CANCELLED",
            ]
        );
        for status in Status::ALL {
            assert_eq!(status.is_terminal(), transitions(status).is_empty(), "{status}");
        }
    }

    #[test]
    fn words_are_read_as_they_are_written_and_no_other() {
        for status in Status::ALL {
            assert_eq!(Status::by_word(status.word()), Some(status));
        }
        assert_eq!(Status::by_word("active"), None);
        assert_eq!(Integrity::by_word("CORRUPT"), None, "it is derived and never stored");
        assert_eq!((Stage::new(8).map(Stage::number), Stage::new(9)), (Some(8), None));
    }

    #[test]
    fn a_setting_is_read_as_it_is_typed() {
        for (text, want) in [
            ("true", Setting::Flag(true)),
            ("false", Setting::Flag(false)),
            ("12", Setting::Number(12.into())),
            ("012", Setting::Text("012".into())),
            ("1.5", Setting::Text("1.5".into())),
            ("", Setting::Text(String::new())),
        ] {
            assert_eq!(Setting::typed(text), want, "{text}");
        }
    }

    #[test]
    fn ids_and_names_are_read_by_their_form() {
        for (text, is_id) in [
            ("task-0123456789abcdef", true),
            ("task-0123456789abcdeg", false),
            ("task-0123456789ABCDEF", false),
            ("task-0123456789abcde", false),
            ("task-0123456789abcdef0", false),
            ("0123456789abcdef", false),
        ] {
            assert_eq!(TaskId::parse(text).map(|id| id.to_string()), is_id.then(|| text.to_owned()), "{text}");
        }
        let (longest, longer) = ("n".repeat(64), "n".repeat(65));
        for (text, is_name) in [
            ("careful", true),
            ("my-2nd", true),
            (&longest, true),
            (&longer, false),
            ("", false),
            ("Careful", false),
            ("a b", false),
            ("a_b", false),
        ] {
            let name = ProfileName::parse(text);
            assert_eq!(name.as_ref().map(ProfileName::as_str), is_name.then_some(text), "{text}");
        }
    }
}
