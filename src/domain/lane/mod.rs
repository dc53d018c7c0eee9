//! Lanes: what is done next for a work item, and what follows from how it went (events rules, section 8). Pure.

use super::effect::{Effect, EndpointRef, NewEffect, Place};
use super::item::Item;
use super::message::Message;
use super::reference::{RefKey, WorkItemRef};
use super::session::{EndReason, Life, Session};
use super::time::Time;

mod advice;
mod by_hand;
#[cfg(test)]
mod fixtures;
mod next;
mod notice;
#[cfg(test)]
mod outcomes;
mod retry;
mod settle;
mod telling;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod told;

pub use advice::{Standing, advice, session_of};
pub use by_hand::{Again, Unfit, again, may_drop};
pub use next::{is_decided_by, is_held, next};
pub use retry::after_failure;
pub use settle::{give_up, settle};

/// Most deliveries handed over as one message.
pub const MAX_BATCH: usize = 64;
/// Most text handed over as one message, unless one message alone is larger.
pub const MAX_BATCH_BYTES: usize = 256 * 1024;
/// Why a lane waits in which every conversation that something waits for is held by its breaker.
pub const HELD_BY_BREAKER: &str = "breaker";
/// Failed spawns after which a pull request's events go to the record's conversation.
pub const ENDPOINT_SPAWN_TRIES: u32 = 2;

/// The rows a lane's next step depends on.
#[derive(Debug, Clone)]
pub struct LaneView {
    /// The record's item.
    pub item: Item,
    /// Conversations of its pull requests.
    pub endpoints: Vec<Session>,
    /// The first effects of the lane, in order.
    pub effects: Vec<Effect>,
}

/// What a lane does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Nothing waits.
    Idle,
    /// Something waits, and not yet: until a time, or until somebody releases it.
    Wait {
        /// When to look again by itself.
        until: Option<Time>,
        /// Why, for `status`.
        why: &'static str,
    },
    /// Effects that no longer apply.
    Drop {
        /// Which.
        places: Vec<Place>,
        /// Why.
        reason: &'static str,
    },
    /// A delivery that can never be made: its session could not be started.
    Bury {
        /// Which.
        place: Place,
        /// For people.
        detail: String,
    },
    /// The endpoint of the first delivery has to run first.
    Prepare {
        /// Which conversation.
        endpoint: EndpointRef,
    },
    /// Nothing waits, and rows of conversations that a reset ended can go.
    Forget {
        /// Whether the record's own is one of them.
        record: bool,
        /// Those of its pull requests.
        pull_requests: Vec<RefKey>,
    },
    /// Something to claim and do.
    Do(Work),
}

/// One thing to do outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// Start a harness.
    Spawn {
        /// The effect.
        place: Place,
        /// Which conversation.
        endpoint: EndpointRef,
        /// The session as it was when claimed.
        session: Box<Session>,
        /// Whether to resume its conversation.
        resume: bool,
    },
    /// Hand over one or more messages as one text.
    Deliver {
        /// The effects, in order.
        members: Vec<Place>,
        /// Where they go, fallback applied.
        endpoint: EndpointRef,
        /// The session they go to.
        session: Box<Session>,
        /// Its life.
        life: Life,
        /// The messages, in order.
        messages: Vec<Message>,
        /// How many of them waited through a hold; many arrive as a digest.
        held: usize,
    },
    /// End a harness.
    End {
        /// The effect.
        place: Place,
        /// Which conversation.
        endpoint: EndpointRef,
        /// Its session.
        session: Box<Session>,
        /// The life to end.
        life: Life,
        /// Why.
        reason: EndReason,
        /// Whether the pane stays; without a word the setting decides.
        keep_pane: Option<bool>,
    },
    /// Remove the item's checkout, when that loses nothing.
    Tidy {
        /// The effect.
        place: Place,
        /// The record's session, which ended.
        session: Box<Session>,
    },
    /// Put the item's run aside.
    PauseRun {
        /// The effect.
        place: Place,
        /// The record's session, which is held or over.
        session: Box<Session>,
    },
}

impl Work {
    /// The effects this work settles.
    pub fn members(&self) -> Vec<Place> {
        match self {
            Self::Spawn { place, .. }
            | Self::End { place, .. }
            | Self::Tidy { place, .. }
            | Self::PauseRun { place, .. } => vec![*place],
            Self::Deliver { members, .. } => members.clone(),
        }
    }

    /// The conversation it acts on.
    pub const fn endpoint(&self) -> &EndpointRef {
        match self {
            Self::Spawn { endpoint, .. } | Self::Deliver { endpoint, .. } | Self::End { endpoint, .. } => endpoint,
            Self::Tidy { .. } | Self::PauseRun { .. } => &EndpointRef::Item,
        }
    }

    /// The session it acts on, as it was when claimed.
    pub const fn session(&self) -> &Session {
        match self {
            Self::Spawn { session, .. }
            | Self::Deliver { session, .. }
            | Self::End { session, .. }
            | Self::Tidy { session, .. }
            | Self::PauseRun { session, .. } => session,
        }
    }

    /// How many of its messages waited through a hold.
    pub const fn held(&self) -> usize {
        match self {
            Self::Deliver { held, .. } => *held,
            Self::Spawn { .. } | Self::End { .. } | Self::Tidy { .. } | Self::PauseRun { .. } => 0,
        }
    }

    /// Whether it belongs in the pool of slow work, which a command that owns the store for a moment leaves to a daemon:
    /// starting something that has to be watched, making or removing a checkout.
    pub fn is_slow(&self) -> bool {
        match self {
            Self::Spawn { .. } | Self::Tidy { .. } => true,
            Self::Deliver { life, .. } => life.is_without_terminal(),
            Self::End { .. } | Self::PauseRun { .. } => false,
        }
    }

    /// The same work on a conversation that goes by `endpoint` now.
    #[must_use]
    pub fn at(mut self, now: EndpointRef) -> Self {
        match &mut self {
            Self::Spawn { endpoint, .. } | Self::Deliver { endpoint, .. } | Self::End { endpoint, .. } => {
                *endpoint = now;
            }
            Self::Tidy { .. } | Self::PauseRun { .. } => {}
        }
        self
    }

    /// The life it acts on.
    pub const fn life(&self) -> Option<&Life> {
        match self {
            Self::Spawn { .. } | Self::Tidy { .. } | Self::PauseRun { .. } => None,
            Self::Deliver { life, .. } | Self::End { life, .. } => Some(life),
        }
    }
}

/// How a piece of work went.
#[derive(Debug, Clone, PartialEq)]
pub enum Done {
    /// The harness runs.
    Spawned {
        /// Its life.
        life: Life,
        /// Its conversation, when known.
        conversation: Option<super::ids::ConversationId>,
        /// Where it works.
        cwd: std::path::PathBuf,
    },
    /// It did not start.
    SpawnFailed {
        /// Its last screen, or the reason.
        detail: String,
        /// Trying again cannot help: a setting is missing.
        permanent: bool,
    },
    /// Pasted and submitted.
    Submitted,
    /// The harness's own transcript shows it.
    Confirmed,
    /// The transcript of this conversation shows it, which was not known to be the session's.
    Learnt(super::ids::ConversationId),
    /// A process of its own took it and runs: the claim stays.
    Running,
    /// That process ended well.
    Finished {
        /// The conversation it named.
        conversation: Option<super::ids::ConversationId>,
    },
    /// That process ended badly.
    Failed(String),
    /// Pasted, and the submit still to come: the claim stays.
    PastedOnly,
    /// Nobody can say yet: the claim stays and the pane is asked again.
    Unsure(String),
    /// Nobody will ever be able to say.
    Unknown(String),
    /// Nothing was handed over; the harness or its pane is gone.
    HarnessGone {
        /// The conversation it named when it ended.
        named: Option<super::ids::ConversationId>,
    },
    /// Nothing was handed over; a dialog waits for a person, one has half typed a line, or input is off.
    Busy(String),
    /// Nothing was done; what hosts the harness does not answer.
    Unreachable(String),
    /// The harness is gone.
    Ended,
    /// What became of the checkout.
    Tidied(super::workspace::Tidied),
    /// What became of the run: `paused`, `no-run`, or `left-alone` with why.
    RunPaused {
        /// The word for the trail.
        how: &'static str,
        /// Why it was left alone.
        why: Option<String>,
    },
}

/// What follows from how it went; stored in one transaction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settlement {
    /// The item's row, when it changed.
    pub item: Option<Box<Item>>,
    /// An endpoint's row, when it changed.
    pub endpoint: Option<Box<Session>>,
    /// Effects that are over, with the word for how.
    pub over: Vec<(Place, &'static str)>,
    /// Effects to try again, changed.
    pub again: Vec<Effect>,
    /// Effects given up.
    pub dead: Vec<(Effect, super::effect::DeadReason, String)>,
    /// What people are told about it.
    pub tells: Vec<super::telling::Tell>,
    /// New effects of this lane.
    pub new: Vec<NewEffect>,
    /// The claim stays: what was begun is looked at again.
    pub keep_claim: bool,
    /// When to look at the lane again by itself.
    pub until: Option<Time>,
    /// The trail.
    pub log: Vec<super::log::LogEntry>,
}

impl LaneView {
    /// The session of one of the record's conversations.
    pub fn session(&self, endpoint: &EndpointRef) -> Option<&Session> {
        match endpoint {
            EndpointRef::Item => self.item.session.as_ref(),
            EndpointRef::PullRequest(reference) => self.endpoint(reference),
        }
    }

    fn endpoint(&self, reference: &WorkItemRef) -> Option<&Session> {
        let key = reference.key();
        self.endpoints.iter().find(|endpoint| endpoint.reference.key() == key)
    }
}
