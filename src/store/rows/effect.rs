//! Effects, claims and dead letters as stored. Lane and place of an effect stand in its key.

use serde::{Deserialize, Serialize};

use crate::domain::effect::{Claim, DeadLetter, DeadReason, Effect, EffectBody, EndpointRef, Place};
use crate::domain::ids::{BatchId, InstanceId};
use crate::domain::reference::RefKey;
use crate::domain::session::Life;
use crate::domain::time::Time;

/// A waiting effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct EffectRow {
    body: EffectBody,
    #[serde(default, skip_serializing_if = "is_zero")]
    attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_before: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
    created_at: Time,
}

/// A claim; its lane is its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct ClaimRow {
    members: Vec<Place>,
    endpoint: EndpointRef,
    batch: BatchId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    life: Option<Life>,
    #[serde(default)]
    held: usize,
    instance: InstanceId,
    at: Time,
}

/// A dead letter, with the effect and where it stood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct DeadLetterRow {
    lane: RefKey,
    place: Place,
    effect: EffectRow,
    reason: DeadReason,
    detail: String,
    at: Time,
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

impl EffectRow {
    /// A new effect's row.
    pub fn new(body: EffectBody, created_at: Time) -> Self {
        Self { body, attempts: 0, not_before: None, trouble: None, created_at }
    }

    /// Takes the text of a message out, when it has at least `long` bytes.
    pub fn take_text(&mut self, long: usize) -> Option<String> {
        match &mut self.body {
            EffectBody::Deliver { message, .. } if message.text.len() >= long => {
                Some(std::mem::take(&mut message.text))
            }
            _ => None,
        }
    }

    /// Puts it back.
    pub fn put_text(&mut self, text: String) {
        if let EffectBody::Deliver { message, .. } = &mut self.body {
            message.text = text;
        }
    }

    /// The effect at its place.
    pub fn into_effect(self, lane: RefKey, place: Place) -> Effect {
        let Self { body, attempts, not_before, trouble, created_at } = self;
        Effect { lane, place, body, attempts, not_before, trouble, created_at }
    }
}

impl From<&Effect> for EffectRow {
    fn from(effect: &Effect) -> Self {
        Self {
            body: effect.body.clone(),
            attempts: effect.attempts,
            not_before: effect.not_before,
            trouble: effect.trouble.clone(),
            created_at: effect.created_at,
        }
    }
}

impl From<&Claim> for ClaimRow {
    fn from(claim: &Claim) -> Self {
        Self {
            members: claim.members.clone(),
            endpoint: claim.endpoint.clone(),
            batch: claim.batch.clone(),
            life: claim.life.clone(),
            held: claim.held,
            instance: claim.instance.clone(),
            at: claim.at,
        }
    }
}

impl ClaimRow {
    /// The claim of its lane.
    pub fn into_claim(self, lane: RefKey) -> Claim {
        let Self { members, endpoint, batch, life, held, instance, at } = self;
        Claim { lane, members, endpoint, batch, life, held, instance, at }
    }
}

impl From<&DeadLetter> for DeadLetterRow {
    fn from(letter: &DeadLetter) -> Self {
        Self {
            lane: letter.effect.lane.clone(),
            place: letter.effect.place,
            effect: (&letter.effect).into(),
            reason: letter.reason,
            detail: letter.detail.clone(),
            at: letter.at,
        }
    }
}

impl From<DeadLetterRow> for DeadLetter {
    fn from(row: DeadLetterRow) -> Self {
        Self { effect: row.effect.into_effect(row.lane, row.place), reason: row.reason, detail: row.detail, at: row.at }
    }
}
