//! Effects: things to do outside the database, stored before they are done, one lane per work item.

use serde::{Deserialize, Serialize};

use super::event::Identity;
use super::ids::{BatchId, InstanceId};
use super::message::Message;
use super::reference::{RefKey, WorkItemRef};
use super::session::{EndReason, Life};
use super::time::Time;

/// Where an effect stands in its lane: the class first, then the sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Overtaking classes come first.
    pub class: Class,
    /// Order within the class; given by the store, ever increasing.
    pub seq: u64,
}

/// The order of effects within a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Ends overtake everything that waits.
    Overtaking,
    /// Put in front of what waits for it: a respawn before the delivery that found the harness dead.
    Preparing,
    /// Everything else, in the order of arrival.
    Ordinary,
}

/// An effect as it waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Its lane: the key of the record it belongs to.
    pub lane: RefKey,
    /// Its place there.
    pub place: Place,
    /// What to do.
    pub body: EffectBody,
    /// Tries so far that failed.
    pub attempts: u32,
    /// Not to be tried before this.
    pub not_before: Option<Time>,
    /// What keeps it waiting: what went wrong with the last try, or what it waits for; for people.
    pub trouble: Option<String>,
    /// When it was decided.
    pub created_at: Time,
}

/// An effect as `decide` asks for it; the store gives it its sequence number.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEffect {
    /// Lane: the key of the record.
    pub lane: RefKey,
    /// Class in the lane.
    pub class: Class,
    /// What to do.
    pub body: EffectBody,
}

/// What there is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectBody {
    /// Start (or restart) the harness of an endpoint.
    Spawn {
        /// Which conversation.
        endpoint: EndpointRef,
        /// The session's generation when this was decided; another one by now means it no longer applies.
        generation: u64,
        /// Resume the recorded conversation when the harness can.
        resume: bool,
        /// The comment that asked for nothing but this start, and is told what became of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked_by: Option<Identity>,
    },
    /// Hand one message to an endpoint.
    Deliver {
        /// Which conversation it was decided for; performing may fall back to the record's.
        endpoint: EndpointRef,
        /// What spoke; absent for a first prompt made from the item itself.
        identity: Option<Identity>,
        /// The message.
        message: Box<Message>,
        /// The record's generation when this was decided: what was said to a session that ended is not typed at the
        /// next one.
        generation: u64,
    },
    /// End the harness of an endpoint.
    End {
        /// Which conversation.
        endpoint: EndpointRef,
        /// The life to end; absent when a spawn was in flight, which ends itself by its generation.
        life: Option<Life>,
        /// Why.
        reason: EndReason,
        /// Whether the pane stays, when the person who ended it said so; else the setting decides.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep_pane: Option<bool>,
    },
    /// Remove the item's checkout, when everything in it is committed and pushed.
    Tidy {
        /// The record's generation when its item ended; with another one it works there again.
        generation: u64,
    },
    /// Put the item's run aside, in the directory its session works in: somebody paused or stopped the item.
    PauseRun,
}

impl EffectBody {
    /// The endpoint it acts on.
    pub fn endpoint(&self) -> &EndpointRef {
        match self {
            Self::Spawn { endpoint, .. } | Self::Deliver { endpoint, .. } | Self::End { endpoint, .. } => endpoint,
            Self::Tidy { .. } | Self::PauseRun => &EndpointRef::Item,
        }
    }

    /// What spoke and waits for this, with the ticket it was said on where that is another than the lane's.
    pub fn asked_by(&self) -> Option<(&Identity, Option<&WorkItemRef>)> {
        match self {
            Self::Spawn { asked_by, .. } => asked_by.as_ref().map(|identity| (identity, None)),
            Self::Deliver { identity, message, .. } => identity.as_ref().map(|said| (said, Some(&message.about))),
            Self::End { .. } | Self::Tidy { .. } | Self::PauseRun => None,
        }
    }

    /// The word for lists and logs.
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Spawn { .. } => "spawn",
            Self::Deliver { .. } => "deliver",
            Self::End { .. } => "end",
            Self::Tidy { .. } => "tidy",
            Self::PauseRun => "pause-run",
        }
    }
}

/// An endpoint of the lane's record.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointRef {
    /// The work item's own conversation.
    Item,
    /// The conversation of one of its pull requests.
    PullRequest(WorkItemRef),
}

/// The one claim a lane can have: what is being done there right now, by whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The lane.
    pub lane: RefKey,
    /// The effects done together; deliveries to one endpoint, or a single other effect.
    pub members: Vec<Place>,
    /// The conversation acted on; for deliveries the one they fell back to.
    pub endpoint: EndpointRef,
    /// Name of the delivery in the terminal.
    pub batch: BatchId,
    /// The life acted on, when there is one.
    pub life: Option<Life>,
    /// How many members waited through a hold; recovery makes the same text again.
    pub held: usize,
    /// Who does it.
    pub instance: InstanceId,
    /// Since when.
    pub at: Time,
}

/// An effect that was given up, kept until a person decides.
#[derive(Debug, Clone, PartialEq)]
pub struct DeadLetter {
    /// The effect, with its last place.
    pub effect: Effect,
    /// Why.
    pub reason: DeadReason,
    /// What was found, for people.
    pub detail: String,
    /// When it was given up.
    pub at: Time,
}

/// The kinds of giving up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadReason {
    /// Every try failed.
    RetriesExhausted,
    /// Nobody can know whether it was done; never repeated without a person.
    Unknown,
}
