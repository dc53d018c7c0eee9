//! Exit codes, and the one table from the kind of an error to its code.

use std::io::Write as _;
use std::panic::{UnwindSafe, catch_unwind};

use serde_json::{Value as Json, json};

use crate::adapters::config_files::ConfigFileError;
use crate::domain::config::{Problem, ProblemKind};

use super::output::Output;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It did what it says.
    Done,
    /// It was refused, or found problems.
    Refused,
    /// It was written wrongly.
    Usage,
    /// The owner of the store does not answer or is of another version.
    NoAnswer,
    /// The store is busy, damaged or of another version.
    Store,
    /// Of runs and their evidence: what is there cannot be trusted.
    Blocked,
    /// Of runs: there is none; of a verdict: somebody has to look.
    NoRun,
    /// Of profiles: there is none of that name.
    NoProfile,
    /// Of runs, evidence and profiles: it was written wrongly.
    WrongUsage,
    /// A bug in this program.
    Bug,
}

impl Exit {
    /// The number the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Refused => 1,
            Self::Usage | Self::Blocked => 2,
            Self::NoAnswer | Self::NoRun => 3,
            Self::Store | Self::NoProfile => 4,
            Self::WrongUsage => 64,
            Self::Bug => 70,
        }
    }
}

/// What kind of error; its word is stable and stands in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Something said no, or is not as it must be.
    Refused,
    /// The configuration cannot be used.
    Configuration,
    /// The outside world (a file, GitHub, tmux, git) did not do its part.
    Outside,
    /// The command was written wrongly.
    Usage,
    /// The owner of the store does not answer.
    NoAnswer,
    /// The owner of the store is of another version.
    OtherVersion,
    /// The store is in use.
    StoreBusy,
    /// The store cannot be read.
    StoreDamaged,
    /// The store was taken away from the daemon that owned it.
    StoreGone,
    /// The store was written by another version.
    StoreVersion,
    /// What is there cannot be trusted.
    Blocked,
    /// There is no live run.
    NoRun,
    /// There is no profile of that name.
    NoProfile,
    /// A command whose codes are its own was written wrongly.
    WrongUsage,
    /// A bug in this program.
    Bug,
}

/// Kind, word in JSON, exit code.
const TABLE: &[(Kind, &str, Exit)] = &[
    (Kind::Refused, "refused", Exit::Refused),
    (Kind::Configuration, "configuration", Exit::Refused),
    (Kind::Outside, "outside", Exit::Refused),
    (Kind::Usage, "usage", Exit::Usage),
    (Kind::NoAnswer, "no-answer", Exit::NoAnswer),
    (Kind::OtherVersion, "other-version", Exit::NoAnswer),
    (Kind::StoreBusy, "store-busy", Exit::Store),
    (Kind::StoreDamaged, "store-damaged", Exit::Store),
    (Kind::StoreGone, "store-gone", Exit::Store),
    (Kind::StoreVersion, "store-version", Exit::Store),
    (Kind::Blocked, "blocked", Exit::Blocked),
    (Kind::NoRun, "no-run", Exit::NoRun),
    (Kind::NoProfile, "no-profile", Exit::NoProfile),
    (Kind::WrongUsage, "wrong-usage", Exit::WrongUsage),
    (Kind::Bug, "bug", Exit::Bug),
];

impl Kind {
    fn row(self) -> (&'static str, Exit) {
        let row = TABLE.iter().find(|(kind, ..)| *kind == self);
        row.map_or(("bug", Exit::Bug), |(_, word, exit)| (*word, *exit))
    }

    /// The kind that goes by `word`.
    pub fn by_word(word: &str) -> Option<Self> {
        TABLE.iter().find(|(_, known, _)| *known == word).map(|(kind, ..)| *kind)
    }

    /// The word in JSON.
    pub fn word(self) -> &'static str {
        self.row().0
    }

    /// The exit code.
    pub fn exit(self) -> Exit {
        self.row().1
    }
}

/// Why a command did not do what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// What kind.
    pub kind: Kind,
    /// What failed and on what; literals in backticks; more lines may follow.
    pub message: String,
    /// What to do; never a ready-made destructive command.
    pub hint: Option<String>,
    /// More for JSON: members beside `kind`, `message` and `hint`.
    pub details: Vec<(&'static str, Json)>,
}

impl Failure {
    /// A failure without a hint.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, details: Vec::new() }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with one more member in JSON.
    #[must_use]
    pub fn detail(mut self, name: &'static str, value: Json) -> Self {
        self.details.push((name, value));
        self
    }
}

impl From<ConfigFileError> for Failure {
    fn from(error: ConfigFileError) -> Self {
        let first = error.to_string();
        match error {
            ConfigFileError::Invalid { problems, .. } => {
                let lines: String = problems.iter().map(|problem| format!("\n  {problem}")).collect();
                let other_version =
                    problems.iter().any(|p| matches!(p.kind, ProblemKind::Version | ProblemKind::Removed));
                let failure = Self::new(Kind::Configuration, format!("{first}{lines}"))
                    .detail("problems", Json::Array(problems.iter().map(problem_json).collect()));
                if other_version { failure } else { failure.hint("`the-loop config check` reads it again") }
            }
            ConfigFileError::Missing { .. } => {
                Self::new(Kind::Configuration, first).hint("write the file, or correct what names it")
            }
            ConfigFileError::Io { .. } | ConfigFileError::NotText { .. } => Self::new(Kind::Configuration, first),
        }
    }
}

/// A problem of the configuration as JSON.
pub fn problem_json(problem: &Problem) -> Json {
    json!({
        "line": problem.place.line,
        "column": problem.place.column,
        "key": problem.key,
        "kind": problem.kind.as_str(),
        "message": problem.message,
        "hint": problem.hint,
    })
}

/// Makes a panic say, in one sentence, that it is a bug.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given");
        let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        // Nobody is left to hear that this could not be written.
        let _ = writeln!(
            std::io::stderr().lock(),
            "error: this is a bug in the-loop: {text}{place}\nhint: please report it with what you typed"
        );
    }));
}

/// Runs the program; a panic becomes [`Exit::Bug`], and with `json` the document that says so.
pub fn guarded(json: bool, body: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    catch_unwind(body).unwrap_or_else(|_| {
        if json {
            let bug = Failure::new(Kind::Bug, "this is a bug in the-loop").hint("please report it with what you typed");
            Output::bare(true).failure(&bug);
        }
        Exit::Bug
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_row_and_the_stated_code() {
        for (n, (kind, word, exit)) in TABLE.iter().enumerate() {
            assert_eq!((kind.word(), kind.exit()), (*word, *exit));
            assert!(!TABLE[..n].iter().any(|(other, name, _)| other == kind || name == word), "{word} stands twice");
        }
        let own = [Exit::Blocked, Exit::NoRun, Exit::NoProfile, Exit::WrongUsage].map(Exit::code);
        assert_eq!(own, [2, 3, 4, 64]);
        let codes = [Exit::Done, Exit::Refused, Exit::Usage, Exit::NoAnswer, Exit::Store, Exit::Bug].map(Exit::code);
        assert_eq!(codes, [0, 1, 2, 3, 4, 70]);
    }

    #[test]
    fn a_panic_is_a_bug() {
        assert_eq!(guarded(false, || panic!("planted")), Exit::Bug);
        assert_eq!(guarded(false, || Exit::Refused), Exit::Refused);
    }
}
