//! What waits, runs or was given up, and a person's word about one of it: shown, tried again, forgotten.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::ingest::Arrival;
use super::order::Answered;
use super::portable::PortableError;
use super::request::{DispatchDetail, DispatchEntry, Dispatched, Response, Trouble};
use super::{App, perform};
use crate::domain::decide::{DeliveryState, Urgency};
use crate::domain::effect::{DeadLetter, DeadReason, Effect, EffectBody, EndpointRef};
use crate::domain::entry::EntryId;
use crate::domain::event::body::{self, MediaType};
use crate::domain::event::webhook;
use crate::domain::lane::{self, Standing, Unfit};
use crate::domain::log::{EventName, LogEntry};
use crate::domain::policy::Policy;
use crate::domain::reference::RefKey;
use crate::domain::signature::TrustedBody;
use crate::domain::time::Time;
use crate::store::{StoreError, Undecidable, View, WriteTx};

#[cfg(test)]
mod tests;

/// Why a person's drop is in the log.
const BY_HAND: &str = "by-hand";

/// One entry as the store has it.
enum Found {
    Running(Effect),
    Waiting(Effect),
    Dead(u64, Box<DeadLetter>),
    Event(Undecidable),
}

/// What a transaction about one effect came to.
type Decided = Result<(Dispatched, RefKey), Trouble>;

/// All entries: running, waiting, dead, undecidable, each in the order of their numbers.
pub(super) fn list(tx: &impl View) -> Result<Response, StoreError> {
    let entries = found(tx)?.iter().map(|found| entry(tx, found)).collect::<Result<_, _>>()?;
    Ok(Response::Dispatch(entries))
}

/// One entry with everything known.
pub(super) fn show(tx: &impl View, id: &EntryId) -> Result<Response, StoreError> {
    let Some(found) = find(tx, id)? else { return Ok(Response::Effect(None)) };
    let entry = entry(tx, &found)?;
    let payload = match &found {
        Found::Event(event) => tx.undecidable_body(&event.delivery)?,
        _ => None,
    };
    let message = match found.effect().map(|effect| &effect.body) {
        Some(EffectBody::Deliver { message, .. }) => Some(message.as_ref().clone()),
        _ => None,
    };
    let advice = advice(tx, &found)?;
    let payload = payload.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Response::Effect(Some(Box::new(DispatchDetail { entry, message, payload, advice }))))
}

impl App {
    /// Puts an entry back where it is tried again.
    ///
    /// # Errors
    /// There is none of this name, its lane would only drop it again, or the store did not answer.
    pub(super) fn retry(&self, id: &EntryId) -> Result<Answered, Trouble> {
        if let EntryId::Event(_) = id {
            return self.retry_event(id);
        }
        let (settings, now, wanted) = (self.settings(), self.now(), id.clone());
        let decided = self.parts.store.write(move |tx| retry_effect(tx, &wanted, &settings.policy, now))?;
        let (dispatched, lane) = decided?;
        Ok(Answered { response: Response::Dispatched(dispatched), lanes: vec![lane], items: Vec::new() })
    }

    /// What became of an entry that was put back.
    pub(super) fn restate(&self, dispatched: &mut Dispatched) -> Result<(), StoreError> {
        if let ("retry", Ok(id)) = (dispatched.verb.as_str(), EntryId::parse(&dispatched.id)) {
            let found = self.parts.store.read(|tx| find(tx, &id))?;
            dispatched.state = found.map_or("done", |found| found.state()).to_owned();
        }
        Ok(())
    }

    /// Forgets an entry.
    ///
    /// # Errors
    /// As [`App::retry`]; what is being done, and what a session depends on, is not forgotten alone.
    pub(super) fn drop_entry(&self, id: &EntryId) -> Result<Dispatched, Trouble> {
        let (now, id) = (self.now(), id.clone());
        self.parts.store.write(move |tx| drop_entry(tx, &id, now))?
    }

    /// Decides an event that a bug kept from being decided. When it does so again, the event stays kept.
    fn retry_event(&self, id: &EntryId) -> Result<Answered, Trouble> {
        let kept = self.parts.store.read(|tx| {
            let Some(Found::Event(event)) = find(tx, id)? else { return Ok(None) };
            let body = tx.undecidable_body(&event.delivery)?;
            Ok(body.map(|body| (event, body)))
        })?;
        let (kept, payload) = kept.ok_or_else(|| nothing(id))?;
        let trusted = TrustedBody::kept(Bytes::from(payload));
        let json = body::read(MediaType::Json, &trusted)
            .map_err(|error| Trouble::refused(format!("the payload of `{id}` cannot be read: {error}")))?;
        let event = webhook::normalise_listed(&kept.name, kept.delivery, &json);
        // As at the door: a folder that cannot be read keeps nothing from being decided.
        let adopted = match self.adopt_for(&event) {
            Ok(adoption) => adoption.lanes,
            Err(PortableError::Files(_)) => Vec::new(),
            Err(PortableError::Store(error)) => return Err(error.into()),
        };
        let body = Bytes::copy_from_slice(json.as_str().as_bytes());
        let taken = self.decide_kept(Arrival::delivered(event, body))?;
        if taken.marked {
            self.export_marked(Urgency::Now, &BTreeSet::new())?;
        }
        let dispatched = Dispatched {
            id: id.to_string(),
            verb: "retry".into(),
            work_item: None,
            acted: true,
            may_repeat: false,
            state: "done".into(),
        };
        let lanes = adopted.into_iter().chain(taken.lanes).collect();
        Ok(Answered { response: Response::Dispatched(dispatched), lanes, items: Vec::new() })
    }
}

fn retry_effect(tx: &mut WriteTx<'_>, id: &EntryId, policy: &Policy, now: Time) -> Result<Decided, StoreError> {
    let found = match find(tx, id)? {
        Some(found) => found,
        None => return Ok(Err(nothing(id))),
    };
    let mut may_repeat = false;
    let (effect, acted) = match found {
        Found::Dead(number, letter) => {
            let Some(item) = tx.item(&letter.effect.lane)? else { return Ok(Err(unfit(id, Unfit::NoSession))) };
            let again = match lane::again(&letter, &item, policy) {
                Ok(again) => again,
                Err(reason) => return Ok(Err(unfit(id, reason))),
            };
            may_repeat = letter.reason == DeadReason::Unknown;
            tx.remove_dead(number)?;
            tx.put_effect(&again.effect)?;
            if let Some(item) = &again.item {
                tx.put_item(item)?;
            }
            (again.effect, true)
        }
        Found::Waiting(effect) if effect.not_before.is_some() => {
            let effect = Effect { not_before: None, trouble: None, ..effect };
            tx.put_effect(&effect)?;
            (effect, true)
        }
        Found::Waiting(effect) => (effect, false),
        Found::Running(_) => return Ok(Err(running(id))),
        Found::Event(_) => return Ok(Err(nothing(id))),
    };
    if acted {
        let entry = logged(tx, &effect, LogEntry::info(EventName::DispatchQueued))?;
        tx.append_journal(&entry.with("entry", id.to_string()).with("retried", true), now)?;
    }
    Ok(Ok((dispatched(tx, id, "retry", &effect, acted, may_repeat)?, effect.lane)))
}

fn drop_entry(tx: &mut WriteTx<'_>, id: &EntryId, now: Time) -> Result<Result<Dispatched, Trouble>, StoreError> {
    let entry = LogEntry::info(EventName::DispatchDropped).with("entry", id.to_string()).with("reason", BY_HAND);
    let effect = match find(tx, id)? {
        None => return Ok(Err(nothing(id))),
        Some(Found::Running(_)) => return Ok(Err(running(id))),
        Some(Found::Event(event)) => {
            tx.remove_undecidable(&event.delivery)?;
            // Sent once more, it is decided once more: nothing of it was ever done.
            tx.put_delivery(&event.delivery, DeliveryState::Refused, now)?;
            tx.append_journal(&entry.with("delivery", event.delivery.as_str()), now)?;
            let (id, verb, state) = (id.to_string(), "drop".into(), "dropped".into());
            return Ok(Ok(Dispatched { id, verb, work_item: None, acted: true, may_repeat: false, state }));
        }
        Some(Found::Dead(number, letter)) => {
            tx.remove_dead(number)?;
            letter.effect
        }
        Some(Found::Waiting(effect)) => {
            if let Err(reason) = lane::may_drop(&effect) {
                return Ok(Err(unfit(id, reason)));
            }
            perform::over(tx, &effect.lane.clone(), &effect, BY_HAND, now)?;
            effect
        }
    };
    let entry = logged(tx, &effect, entry)?;
    tx.append_journal(&entry, now)?;
    let dispatched = dispatched(tx, id, "drop", &effect, true, false)?;
    Ok(Ok(Dispatched { state: "dropped".into(), ..dispatched }))
}

fn dispatched(
    tx: &impl View,
    id: &EntryId,
    verb: &str,
    effect: &Effect,
    acted: bool,
    may_repeat: bool,
) -> Result<Dispatched, StoreError> {
    let work_item = Some(spelled(tx, &effect.lane)?);
    let (id, verb) = (id.to_string(), verb.to_owned());
    Ok(Dispatched { id, verb, work_item, acted, may_repeat, state: "waiting".into() })
}

/// The entry of the trail about one effect.
fn logged(tx: &impl View, effect: &Effect, entry: LogEntry) -> Result<LogEntry, StoreError> {
    let entry = entry.with("workItem", spelled(tx, &effect.lane)?).with("verb", effect.body.verb());
    Ok(entry.with_some("delivery", delivery_of(effect)))
}

fn nothing(id: &EntryId) -> Trouble {
    Trouble::refused(format!("there is no entry `{id}`"))
        .hint("it may be done by now; `the-loop dispatch list` shows those there are")
}

fn running(id: &EntryId) -> Trouble {
    Trouble::refused(format!("`{id}` is being done right now")).hint("ask again when it is settled")
}

fn unfit(id: &EntryId, reason: Unfit) -> Trouble {
    let trouble = Trouble::refused(format!("`{id}`: {reason}"));
    match reason {
        Unfit::NoSession => trouble.hint("start its item first, then try again"),
        Unfit::NotWanted | Unfit::NothingToEnd => trouble.hint("it can be dropped: it is needed no more"),
        Unfit::SessionDepends => trouble.hint("steer the session itself; `the-loop sessions show` tells its state"),
    }
}

fn found(tx: &impl View) -> Result<Vec<Found>, StoreError> {
    let mut all = Vec::new();
    for (lane, _) in tx.lanes()? {
        let claim = tx.claim(&lane)?;
        let is_claimed = |effect: &Effect| claim.as_ref().is_some_and(|claim| claim.members.contains(&effect.place));
        all.extend(tx.lane(&lane, usize::MAX)?.into_iter().map(|effect| match is_claimed(&effect) {
            true => Found::Running(effect),
            false => Found::Waiting(effect),
        }));
    }
    all.extend(tx.dead_letters()?.into_iter().map(|(number, letter)| Found::Dead(number, Box::new(letter))));
    all.extend(tx.undecidables()?.into_iter().map(Found::Event));
    all.sort_by_key(|found| (found.rank(), found.id()));
    Ok(all)
}

fn find(tx: &impl View, id: &EntryId) -> Result<Option<Found>, StoreError> {
    Ok(found(tx)?.into_iter().find(|found| found.id() == *id))
}

impl Found {
    fn effect(&self) -> Option<&Effect> {
        match self {
            Self::Running(effect) | Self::Waiting(effect) => Some(effect),
            Self::Dead(_, letter) => Some(&letter.effect),
            Self::Event(_) => None,
        }
    }

    fn id(&self) -> EntryId {
        match self {
            Self::Running(effect) | Self::Waiting(effect) => EntryId::Effect(effect.place.seq),
            Self::Dead(_, letter) => EntryId::Effect(letter.effect.place.seq),
            Self::Event(event) => EntryId::of_delivery(&event.delivery),
        }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Running(_) => 0,
            Self::Waiting(_) => 1,
            Self::Dead(..) => 2,
            Self::Event(_) => 3,
        }
    }

    const fn state(&self) -> &'static str {
        match self {
            Self::Running(_) => "running",
            Self::Waiting(_) => "waiting",
            Self::Dead(..) => "dead",
            Self::Event(_) => "undecidable",
        }
    }
}

/// What a person can do about an entry.
fn advice(tx: &impl View, found: &Found) -> Result<Vec<String>, StoreError> {
    let (mut item, mut endpoints, mut first) = (None, Vec::new(), false);
    if let Found::Waiting(effect) = found {
        item = tx.item(&effect.lane)?;
        endpoints = tx.endpoints(&effect.lane)?;
        first = tx.lane(&effect.lane, 1)?.first().is_some_and(|before| before.place == effect.place);
    }
    let standing = match found {
        Found::Running(_) => Standing::Running,
        Found::Waiting(effect) => {
            let session = item.as_ref().and_then(|item| lane::session_of(effect, item, &endpoints));
            Standing::Waiting { item: item.as_ref(), session, first }
        }
        Found::Dead(_, letter) => Standing::Dead(letter.reason),
        Found::Event(_) => Standing::Undecidable,
    };
    Ok(lane::advice(standing, found.effect()).into_iter().map(str::to_owned).collect())
}

fn entry(tx: &impl View, found: &Found) -> Result<DispatchEntry, StoreError> {
    let (id, state) = (found.id().to_string(), found.state().to_owned());
    let Some(effect) = found.effect() else { return Ok(of_event(found, id, state)) };
    let endpoint = match effect.body.endpoint() {
        EndpointRef::Item => None,
        EndpointRef::PullRequest(reference) => Some(reference.to_string()),
    };
    let letter = match found {
        Found::Dead(_, letter) => Some(letter),
        _ => None,
    };
    Ok(DispatchEntry {
        id,
        state,
        work_item: Some(spelled(tx, &effect.lane)?),
        endpoint,
        what: effect.body.verb().to_owned(),
        attempts: effect.attempts,
        since: effect.created_at.to_string(),
        not_before: effect.not_before.filter(|_| letter.is_none()).map(|at| at.to_string()),
        reason: letter.map(|letter| reason_word(letter.reason).to_owned()),
        detail: letter.map(|letter| letter.detail.clone()).or_else(|| effect.trouble.clone()),
        given_up_at: letter.map(|letter| letter.at.to_string()),
        delivery: delivery_of(effect),
    })
}

fn of_event(found: &Found, id: String, state: String) -> DispatchEntry {
    let event = match found {
        Found::Event(event) => Some(event),
        _ => None,
    };
    DispatchEntry {
        id,
        state,
        work_item: None,
        endpoint: None,
        what: event.map(|event| event.name.clone()).unwrap_or_default(),
        attempts: 0,
        since: event.map(|event| event.at.to_string()).unwrap_or_default(),
        not_before: None,
        reason: None,
        detail: event.map(|event| event.error.clone()),
        given_up_at: None,
        delivery: event.map(|event| event.delivery.as_str().to_owned()),
    }
}

fn delivery_of(effect: &Effect) -> Option<String> {
    match &effect.body {
        EffectBody::Deliver { message, .. } => Some(message.delivery.as_str().to_owned()),
        EffectBody::Spawn { .. } | EffectBody::End { .. } | EffectBody::Tidy { .. } | EffectBody::PauseRun => None,
    }
}

const fn reason_word(reason: DeadReason) -> &'static str {
    match reason {
        DeadReason::RetriesExhausted => "retries-exhausted",
        DeadReason::Unknown => "unknown",
    }
}

/// The lane's item as GitHub spells it.
fn spelled(tx: &impl View, lane: &RefKey) -> Result<String, StoreError> {
    Ok(tx.item(lane)?.map_or_else(|| lane.as_str().to_owned(), |item| item.reference.to_string()))
}
