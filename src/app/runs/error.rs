//! Why something about runs was not done, and what to do then.

use std::path::PathBuf;

use crate::domain::run::{Corrupt, FilesError, ProjectError, Refusal, Report, Status, TaskId};
use crate::domain::secrets::Leaks;
use crate::domain::verdict::{EntryError, Judgement};

/// Why; nothing was written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// There is no live run.
    #[error("there is no live run here")]
    NoRun,
    /// There is one already.
    #[error("the run `{task}` is live ({status})")]
    Alive {
        /// Its task.
        task: TaskId,
        /// Its status.
        status: Status,
    },
    /// A file cannot be read; it was left as it is.
    #[error("`{path}` cannot be trusted (CORRUPT): {why}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Why.
        why: Corrupt,
    },
    /// A file belongs to another run or project; it was left as it is.
    #[error("`{path}` belongs to another {whose}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// `run` or `project`.
        whose: &'static str,
    },
    /// A rule said no.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// It would have written a secret.
    #[error("{0}")]
    Secret(#[from] Leaks),
    /// The report was not approved.
    #[error("the run was not resumed: nobody approved the report")]
    NotApproved(Box<Report>),
    /// What was approved is not what is found now.
    #[error("`{0}` does not approve the report of this moment")]
    OtherReport(String),
    /// The evaluator does not say PASS.
    #[error("the run is not complete: the verdict is {}", .0.verdict)]
    NotShown(Judgement),
    /// An entry was not taken.
    #[error("{0}")]
    Entry(#[from] EntryError),
    /// Temporaries were left that nobody may remove unseen.
    #[error("{0}")]
    LeftBehind(String),
    /// A file could not be read or written, or somebody else wrote.
    #[error("{0}")]
    Files(#[from] FilesError),
    /// The project could not be asked.
    #[error("{0}")]
    Project(#[from] ProjectError),
}

impl RunError {
    /// Whether it is BLOCKED: what is there cannot be trusted, and only a person can say what is right.
    pub const fn is_blocked(&self) -> bool {
        matches!(
            self,
            Self::Corrupt { .. } | Self::Foreign { .. } | Self::Refused(Refusal::Identity(_)) | Self::Project(_)
        )
    }

    /// What to do.
    pub fn hint(&self) -> String {
        match self {
            Self::NoRun => "`the-loop run start --objective TEXT` begins one".into(),
            Self::Alive { .. } => "`the-loop run status` shows it; it is resumed, completed or cancelled first".into(),
            Self::Corrupt { .. } => {
                "it was left byte for byte; look at it, and put a good copy in its place or move it away".into()
            }
            Self::Foreign { .. } => "it was left byte for byte; move it to where it belongs".into(),
            Self::Refused(refusal) => refused(refusal).into(),
            Self::Secret(_) => "write it without the secret; runs are kept in plain files".into(),
            Self::NotApproved(report) => {
                format!("read it, then say yes at a terminal, or repeat with `--approve {}`", report.digest)
            }
            Self::OtherReport(_) => "something changed since; `the-loop run resume` prints the report of now".into(),
            Self::NotShown(judgement) => judgement.reasons.join("; "),
            Self::Entry(_) => "`the-loop verify evaluate` shows what is declared and what is open".into(),
            Self::LeftBehind(_) => "look at them; what holds nothing of worth can be moved away by hand".into(),
            Self::Files(FilesError::Stale(_)) => "nothing was written; look at `the-loop run status` and repeat".into(),
            Self::Files(FilesError::TooLarge(_)) => "say it in fewer words; what is long belongs into a file".into(),
            Self::Files(FilesError::Io { .. }) => "see to it that this user may write there, and repeat".into(),
            Self::Project(error) => error.hint.clone(),
        }
    }
}

const fn refused(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Transition { .. } => "`the-loop run status` shows the state",
        Refusal::Identity(_) => "the file was left byte for byte; use it in the project it belongs to",
        Refusal::OtherItem { .. } => "it is that work item's session that goes on with it, or a person",
        Refusal::OtherEndpoint { .. } => "another endpoint of the item may read and checkpoint meanwhile",
        Refusal::Stale => "`the-loop run resume` lays before you what changed, and clears it once you approve",
        Refusal::Empty(_) => "say something that helps whoever reads it later",
    }
}
