//! What GitHub said when a decision missed a fact (events rules, section 4), and how an event came to be read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::MissingFact;
use crate::domain::github::Permission;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::time::Time;

/// What came of asking for one fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learnt {
    /// The issues that GitHub links a pull request to.
    Linkage(WorkItemRef, Vec<WorkItemRef>),
    /// Whether an issue exists.
    Exists(WorkItemRef, bool),
    /// What a login, in lower case, may do in the event's repository.
    Permission(String, Permission),
    /// Nobody could be asked, or nobody answered: it is decided without.
    Nothing(MissingFact),
}

/// All that was learnt for one decision.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Told {
    linkage: BTreeMap<RefKey, Vec<WorkItemRef>>,
    exists: BTreeMap<RefKey, bool>,
    permissions: BTreeMap<String, Permission>,
    nothing: Vec<MissingFact>,
}

impl Told {
    /// Everything in `learnt`; what was learnt later counts.
    pub fn of(learnt: &[Learnt]) -> Self {
        let mut told = Self::default();
        learnt.iter().for_each(|learnt| told.add(learnt.clone()));
        told
    }

    /// Adds one answer.
    pub fn add(&mut self, learnt: Learnt) {
        match learnt {
            Learnt::Linkage(pull_request, issues) => {
                self.linkage.insert(pull_request.key(), issues);
            }
            Learnt::Exists(issue, exists) => {
                self.exists.insert(issue.key(), exists);
            }
            Learnt::Permission(login, permission) => {
                self.permissions.insert(login.to_ascii_lowercase(), permission);
            }
            Learnt::Nothing(fact) => self.nothing.push(fact),
        }
    }

    /// Whether `fact` need not be asked for: it is known, or was asked for in vain.
    pub fn settles(&self, fact: &MissingFact) -> bool {
        let known = match fact {
            MissingFact::Linkage(pull_request) => self.linkage.contains_key(&pull_request.key()),
            MissingFact::IssueExists(issue) => self.exists.contains_key(&issue.key()),
            MissingFact::Permission(login) => self.permissions.contains_key(&login.to_ascii_lowercase()),
        };
        known || self.nothing.contains(fact)
    }

    /// The issues of the pull request's own repository that GitHub links it to. Other repositories are not ours.
    pub fn linked(&self, pull_request: &WorkItemRef) -> impl Iterator<Item = &WorkItemRef> {
        let linked = self.linkage.get(&pull_request.key()).into_iter().flatten();
        linked.filter(|issue| issue.repo().is_same(pull_request.repo()) && issue.key() != pull_request.key())
    }

    /// Whether GitHub says that `issue` exists.
    pub fn exists(&self, issue: &WorkItemRef) -> bool {
        self.exists.get(&issue.key()).copied().unwrap_or(false)
    }

    /// What `login` may do, as far as it was asked.
    pub fn permission(&self, login: &str) -> Option<Permission> {
        self.permissions.get(&login.to_ascii_lowercase()).copied()
    }
}

/// How an event came to be read, as far as it decides what is new (events rules, sections 2 and 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Heard {
    /// GitHub sent it.
    #[default]
    Delivered,
    /// A poll listed it, in a repository that is polled since then.
    Listed {
        /// The repository's first cursor, in GitHub's time: what is older is seen, not new.
        since: Time,
    },
    /// A thread was read whole, because another machine followed the item until now: whatever is in no `seenComments` and
    /// not older than the item's baseline is new, however old it is.
    TakenOver,
    /// The newest control word from before the repository was polled: it may act, and nothing else of its time is new.
    LastWord,
}

impl Heard {
    /// Whether what was said `at` is new by this way of heard; the item's baseline is another question.
    pub fn takes(self, at: Option<Time>) -> bool {
        match self {
            Self::Listed { since } => at.is_none_or(|at| at >= since),
            Self::Delivered | Self::TakenOver | Self::LastWord => true,
        }
    }

    /// Whether what is older than the identities that are kept is not new.
    pub const fn forgets(self) -> bool {
        matches!(self, Self::Delivered | Self::Listed { .. })
    }

    /// Whether GitHub sent it under a delivery id of its own.
    pub const fn is_delivered(self) -> bool {
        matches!(self, Self::Delivered)
    }
}
