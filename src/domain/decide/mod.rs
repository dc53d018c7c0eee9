//! `decide`: what an event changes, what it makes us do, and why it was dropped. Pure.

use serde::{Deserialize, Serialize};

use super::effect::NewEffect;
use super::event::{Content, Event, Identity};
use super::item::Item;
use super::log::LogEntry;
use super::names::Names;
use super::policy::Policy;
use super::reference::{RefKey, WorkItemRef};
use super::session::Session;
use super::telling::Tell;
use super::time::Time;

mod by_hand;
#[cfg(test)]
mod commands;
mod control;
mod draft;
mod ending;
mod facts;
#[cfg(test)]
mod fixtures;
mod guards;
mod learnt;
#[cfg(test)]
mod linkage;
mod messages;
mod moves;
#[cfg(test)]
mod moving;
mod operator;
#[cfg(test)]
mod properties;
mod records;
mod resolve;
#[cfg(test)]
mod rules;
mod speech;
mod telling;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod told;
mod view;
mod waiting;

pub use by_hand::{Act, ByHand, Registration, can_be_reset, decide_by_hand};
pub use learnt::{Heard, Learnt, Told};
pub use moves::{forwarded, implied_rename, under_present_name};
pub use operator::{OperatorCommand, decide_command};
pub use resolve::{By, Named, branch_items, named, named_pull_requests, subject};
pub use speech::checked_head;
pub use view::{DeliveryState, Known, View};
pub use waiting::{Waiting, overtakes};

/// Decides one event: what it changes, what it makes us do, why it was dropped.
///
/// The guards run in the order of the events rules, section 5. `now` is only used for what carries no time of its own.
pub fn decide(event: &Event, view: &View, policy: &Policy, now: Time) -> Decision {
    let mut draft = draft::Draft::new(event, view, policy, now);
    let verdict = guards::pass(&draft).map_or_else(|verdict| verdict, |()| act(&mut draft));
    match draft.missing.take() {
        Some(fact) => Decision::Needs(fact),
        None => Decision::Decided(draft.finish(verdict)),
    }
}

fn act(draft: &mut draft::Draft<'_>) -> Verdict {
    let event = draft.event;
    draft.forget_other_repositories();
    match &event.content {
        Content::Speech(speech) => speech::act(draft, speech),
        Content::Fact(fact) => facts::act(draft, fact),
        Content::Ignored(_) => Verdict::Dropped(DropReason::IgnoredAction),
    }
}

/// What came of one event.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Decided, with everything to store.
    Decided(Outcome),
    /// A fact is missing that only GitHub has; decided again with what was learnt in [`View::told`].
    Needs(MissingFact),
}

/// A fact `decide` cannot know from the store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingFact {
    /// The issues a pull request closes, by GitHub's own linkage.
    Linkage(WorkItemRef),
    /// Whether an issue that only a branch name hints at exists.
    IssueExists(WorkItemRef),
    /// What a login, in lower case, may do in the event's repository.
    Permission(String),
}

/// Everything one event changes; stored in one transaction, changes in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether it was taken, dropped or refused.
    pub verdict: Verdict,
    /// Rows to put.
    pub changes: Vec<Change>,
    /// Effects to store, in order.
    pub effects: Vec<NewEffect>,
    /// The decision trail.
    pub log: Vec<LogEntry>,
    /// What people are told about it.
    pub tells: Vec<Tell>,
}

/// The end of the guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It acted, or was recorded.
    Accepted,
    /// Nothing to us, now and later.
    Dropped(DropReason),
    /// Dropped by policy: only the same delivery id, or a person, decides it again.
    Refused(DropReason),
}

/// Why an event did nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// Its event name is switched off.
    DisabledEvent,
    /// No row of the table lists it.
    IgnoredAction,
    /// Its repository is not served.
    OtherRepository,
    /// The delivery was decided before.
    DuplicateDelivery,
    /// The same happening came under another delivery id.
    SameEvent,
    /// Our own words.
    SelfAuthored,
    /// The sender is not admitted, or is not the author of the text.
    UnauthorizedActor,
    /// Older than the item's baseline or the retention of identities.
    NotNew,
    /// It names no work item.
    NoWorkItem,
    /// The spawn policy says no.
    SpawnPolicy,
    /// Nobody said start.
    AwaitingStart,
    /// The item is closed.
    ItemClosed,
    /// A control word not later than what is recorded.
    OlderCommand,
    /// Two different control words.
    AmbiguousCommand,
    /// The word does not apply now (resume without a paused session).
    NotApplicable,
    /// A fact older than the one recorded.
    OlderFact,
    /// A fact that changes nothing here.
    NothingToDo,
    /// A comment or review was taken back: noted.
    Withdrawn,
    /// The item has no session on this machine.
    NoRecord,
    /// The item has a session that lives, with another conversation.
    OtherSession,
    /// An item is never its own pull request.
    OwnPullRequest,
    /// GitHub says that it is an issue.
    NotAPullRequest,
}

impl DropReason {
    /// The reason as it stands in the log and in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DisabledEvent => "disabled-event",
            Self::IgnoredAction => "ignored-action",
            Self::OtherRepository => "other-repository",
            Self::DuplicateDelivery => "duplicate-delivery",
            Self::SameEvent => "same-event",
            Self::SelfAuthored => "self-authored",
            Self::UnauthorizedActor => "unauthorized-actor",
            Self::NotNew => "not-new",
            Self::NoWorkItem => "no-work-item",
            Self::SpawnPolicy => "spawn-policy",
            Self::AwaitingStart => "awaiting-start",
            Self::ItemClosed => "item-closed",
            Self::OlderCommand => "older-command",
            Self::AmbiguousCommand => "ambiguous-command",
            Self::NotApplicable => "not-applicable",
            Self::OlderFact => "older-fact",
            Self::NothingToDo => "nothing-to-do",
            Self::Withdrawn => "withdrawn",
            Self::NoRecord => "no-record",
            Self::OtherSession => "other-session",
            Self::OwnPullRequest => "own-pull-request",
            Self::NotAPullRequest => "not-a-pull-request",
        }
    }
}

/// One row to put.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The item as it is now.
    Item(Box<Item>),
    /// An endpoint of `owner`; the session's reference is the pull request. Written with the reverse table.
    Endpoint {
        /// The record that owns it.
        owner: RefKey,
        /// The endpoint.
        session: Box<Session>,
    },
    /// A comment is known to the item: it joins `seenComments`.
    Seen {
        /// The item.
        item: RefKey,
        /// GraphQL node id.
        node_id: String,
    },
    /// The identity of what spoke.
    Identity {
        /// Which.
        identity: Identity,
        /// Its new state.
        state: IdentityState,
    },
    /// The item's portable file has to follow.
    Mark {
        /// The item.
        item: RefKey,
        /// Now, or with the next cycle.
        urgency: Urgency,
    },
    /// Everything kept under one reference goes under another, item rows and marks aside.
    Move {
        /// The reference it leaves.
        from: RefKey,
        /// The reference it goes by from now on.
        to: WorkItemRef,
    },
    /// The names of a repository with items here.
    Names {
        /// GitHub's id.
        repository: u64,
        /// Its names now.
        names: Names,
    },
    /// The pull request that a head commit belongs to, for checks that only name the commit.
    Head {
        /// Lower-case hex commit.
        sha: String,
        /// The pull request.
        pull_request: WorkItemRef,
    },
}

/// What became of something that speaks. Unused is the absence of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityState {
    /// Not seen.
    Unused,
    /// It spoke.
    Spoken,
    /// Dropped by policy; only the same delivery id decides it again.
    Refused,
}

/// When an export mark is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// With the next cycle: `poll` only.
    Cycle,
    /// At once: `control` or `ended` changed.
    Now,
}
