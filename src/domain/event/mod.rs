//! Events as the product decides on them: one normalised shape, whichever way they came.
//!
//! `webhook` parses GitHub's payloads into an [`Event`]; later the poller makes the same shape from REST answers.
//! Every row of the table in the events specification, section 3, is one variant of [`Content`].

use serde::{Deserialize, Serialize};

use super::ids::{DeliveryId, Login};
use super::reference::{RepoRef, WorkItemRef};
use super::time::Time;

pub mod body;
pub mod linkage;
pub mod listed;
pub mod marker;
mod prose;
pub mod webhook;
pub mod words;

/// One thing that happened on GitHub.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// GitHub's event name, `issue_comment`.
    pub name: String,
    /// GitHub's action, when it has one.
    pub action: Option<String>,
    /// The delivery that brought it.
    pub delivery: DeliveryId,
    /// Where it happened; absent for app- and organisation-level events.
    pub repository: Option<Repository>,
    /// Who caused it; `None` is nobody (missing, null, `ghost`).
    pub sender: Option<Login>,
    /// What it is.
    pub content: Content,
}

/// A repository with GitHub's own id, which survives renames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// Name as spelled in the payload.
    pub reference: RepoRef,
    /// GitHub's numeric id; 0 when the payload has none.
    pub id: u64,
}

/// What an event means to us.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text for the agent, with one identity whichever way it came.
    Speech(Box<Speech>),
    /// Changes state only; never typed at an agent.
    Fact(Box<Fact>),
    /// Nothing to us, with the reason for the log.
    Ignored(Ignored),
}

/// Why an event of a known kind is nothing to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// `ping`: noted in the log only.
    Ping,
    /// An event name we have no row for.
    UnknownEvent,
    /// An action the row does not list, `edited` comments among them.
    UnlistedAction,
    /// A check that passed, was skipped or is still running.
    NotAFailure,
    /// A review without words and without a verdict, or one not submitted yet.
    EmptyReview,
    /// The payload misses what the row needs (a number, a repository).
    Incomplete,
}

/// Something said: a comment, a review, or a failed check.
#[derive(Debug, Clone, PartialEq)]
pub struct Speech {
    /// Consumed by the first arrival of this, from whichever ingress.
    pub identity: Identity,
    /// GraphQL node id, the form `seenComments` uses; absent for checks.
    pub node_id: Option<String>,
    /// Who wrote the text; `None` is nobody. Checks have no author.
    pub author: Option<Login>,
    /// The text, LF line ends; empty when GitHub has null.
    pub text: String,
    /// When it was said; absent in cut-down payloads.
    pub created_at: Option<Time>,
    /// Where people can answer it.
    pub link: Option<String>,
    /// What kind of speech, with what only that kind has.
    pub form: Form,
    /// The issue or pull request it is about; checks may name several, in [`Form::Check`], and have none here.
    pub subject: Option<Subject>,
}

/// The identity of something that speaks: host, repository id, kind and numeric id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Identity(String);

impl Identity {
    /// `<host>/<repository id>/<kind>/<id>`, lower case.
    pub fn new(host: &str, repository: u64, kind: &str, id: &str) -> Self {
        Self(format!("{host}/{repository}/{kind}/{id}").to_ascii_lowercase())
    }

    /// The identity as the key text of the store.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its kind and GitHub's number of it; checks are numbered only where GitHub does.
    pub fn kind_and_number(&self) -> Option<(&str, u64)> {
        let kind = self.0.split('/').nth(2)?;
        let number = self.0.rsplit('/').next()?.parse().ok()?;
        Some((kind, number))
    }
}

/// The kinds of speech.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A comment on an issue or in a pull request's conversation.
    Comment,
    /// A comment on a line of a diff.
    ReviewComment {
        /// File, as in the repository.
        path: String,
        /// Line in the new file, when GitHub still knows it.
        line: Option<u64>,
        /// The diff around it.
        hunk: String,
    },
    /// A submitted review.
    Review {
        /// `approved`, `changes_requested`, `commented`.
        state: String,
    },
    /// A check, commit status or workflow run that ended badly.
    Check(Check),
}

/// A failed check and what ties it to work items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Name of the check, status context or workflow.
    pub name: String,
    /// `failure`, `timed_out`, `action_required`, `error`.
    pub conclusion: String,
    /// The commit it ran on, lower-case hex.
    pub head_sha: String,
    /// Pull-request numbers of this repository that the payload names.
    pub pull_requests: Vec<u64>,
    /// Head branch, only when the head repository is this one.
    pub own_branch: Option<String>,
    /// Whether it is a `workflow_run`, which is silent when a check of the same head spoke.
    pub is_workflow_run: bool,
}

/// The issue or pull request an event is about, as the payload shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Reference in the payload's spelling.
    pub reference: WorkItemRef,
    /// Issue or pull request; never taken from the event's name alone.
    pub kind: SubjectKind,
    /// GitHub's numeric id of the issue or pull request object; 0 when absent.
    pub id: u64,
    /// Title.
    pub title: String,
    /// Description, LF line ends; empty when null.
    pub body: String,
    /// Who opened it; `None` is nobody.
    pub author: Option<Login>,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// Open or closed, when the payload says.
    pub open: Option<bool>,
    /// When GitHub last changed it.
    pub updated_at: Option<Time>,
    /// When it was opened.
    pub created_at: Option<Time>,
    /// When it was closed, for closed ones.
    pub closed_at: Option<Time>,
    /// Page for people.
    pub link: Option<String>,
    /// Present when the payload carries the pull request's own object; comments in its conversation do not.
    pub head: Option<Head>,
}

/// The two kinds of work item GitHub has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// An issue.
    Issue,
    /// A pull request.
    PullRequest,
}

/// The head of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Branch name.
    pub branch: String,
    /// Commit, lower-case hex.
    pub sha: String,
    /// Whether the branch lies in the base repository itself (a deleted fork does not).
    pub in_base_repository: bool,
}

/// Something that changes state only.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// About one issue or pull request.
    Item {
        /// Which.
        subject: Subject,
        /// What changed.
        change: ItemFact,
    },
    /// A comment or review was taken back: noted, never executed.
    Withdrawn {
        /// On what.
        subject: Subject,
    },
    /// About the repository.
    Repository(RepositoryFact),
}

/// What changed about an issue or pull request.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemFact {
    /// Opened; after a transfer it names where it came from.
    Opened {
        /// The old reference and its issue id, when it was transferred here.
        transferred_from: Option<(WorkItemRef, u64)>,
    },
    /// A label was added; the name is absent when GitHub leaves it out.
    Labeled(Option<String>),
    /// A label was removed, or deleted from the repository (then without its name).
    Unlabeled(Option<String>),
    /// Closed.
    Closed {
        /// Whether a pull request was merged.
        merged: bool,
    },
    /// Reopened.
    Reopened,
    /// Listed by a poll, in whatever state it is.
    Shown {
        /// Whether a closed pull request was merged.
        merged: bool,
    },
    /// A pull request's text or base changed: its linkage may have.
    Edited,
    /// A draft became ready.
    ReadyForReview,
    /// Moved to another repository under a new number and id.
    Transferred {
        /// New reference and issue id, when the payload carries them.
        to: Option<(WorkItemRef, u64)>,
    },
    /// Deleted.
    Deleted,
}

/// What happened to a repository.
#[derive(Debug, Clone, PartialEq)]
pub enum RepositoryFact {
    /// Renamed; the event's repository is the new name.
    Renamed {
        /// The old name.
        from: RepoRef,
    },
    /// Moved to another owner; the event's repository is the new name.
    Transferred {
        /// The old name.
        from: RepoRef,
    },
    /// Gone.
    Deleted,
}
