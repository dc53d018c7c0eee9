//! One decision: everything it reads and everything it changes, in one transaction.

use std::sync::Arc;

use super::ingest::{Arrival, Taken};
use super::telling::Desk;
use super::{Settings, lanes, view};
use crate::domain::decide::{
    self, Decision, DeliveryState, DropReason, Learnt, MissingFact, Outcome, Told, Verdict, View, Waiting,
};
use crate::domain::event::Event;
use crate::domain::ids::StoreId;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::names::Names;
use crate::domain::reference::RefKey;
use crate::domain::time::Time;
use crate::store::{PolledView as _, StoreError, View as _, Waiter, WriteTx};

/// One decision, ready to run in a transaction; it can be run again when its group is.
pub(super) struct Deciding {
    pub(super) arrival: Arc<Arrival>,
    /// The line of the trail that says it came; made where only its sender waits.
    pub(super) received: LogEntry,
    pub(super) settings: Arc<Settings>,
    pub(super) store: StoreId,
    pub(super) now: Time,
    /// Whether there is somebody to ask for what is missing.
    pub(super) can_ask: bool,
    pub(super) desk: Arc<Desk>,
}

/// What a decision came to.
enum Step {
    Taken(Taken),
    Missing(MissingFact),
}

impl Deciding {
    /// Decides an event that arrives, or lets it wait where only GitHub knows.
    pub(super) fn run(&self, tx: &mut WriteTx<'_>) -> Result<Taken, StoreError> {
        let event = &self.arrival.event;
        let before = if self.arrival.heard.is_delivered() { tx.delivery(&event.delivery)? } else { None };
        if self.arrival.heard.is_delivered() {
            match before {
                Some(_) => tx.append_journal(&self.received.clone().with("seenBefore", true), self.now)?,
                None => tx.append_journal(&self.received, self.now)?,
            };
        }
        if before != Some(DeliveryState::Decided) && self.stands_behind(tx)? {
            return self.wait(tx, None);
        }
        let mut names = view::names(tx, event)?;
        let renamed = self.rename_nobody_told(tx, names.as_ref())?;
        if renamed.is_some() {
            names = view::names(tx, event)?;
        }
        let mut taken = match self.decide(tx, names, before, &[])? {
            Step::Taken(taken) => taken,
            Step::Missing(fact) => self.wait(tx, Some(fact))?,
        };
        if let Some(renamed) = renamed {
            taken.lanes.extend(renamed.lanes);
            taken.marked |= renamed.marked;
        }
        Ok(taken)
    }

    /// Decides an event that waited, with what was learnt; it goes on waiting when it misses something else.
    pub(super) fn run_waiting(&self, tx: &mut WriteTx<'_>, waiter: &Waiter) -> Result<Taken, StoreError> {
        let Waiter { item, number, waiting } = waiter;
        let names = view::names(tx, &self.arrival.event)?;
        match self.decide(tx, names, None, &waiting.learnt)? {
            Step::Taken(taken) => {
                tx.remove_waiting(item, *number)?;
                Ok(taken)
            }
            Step::Missing(fact) => {
                tx.put_waiting(item, *number, &waiting.clone().missing(fact))?;
                Ok(Taken { waits: true, ..Taken::nothing() })
            }
        }
    }

    fn decide(
        &self,
        tx: &mut WriteTx<'_>,
        names: Option<Names>,
        before: Option<DeliveryState>,
        learnt: &[Learnt],
    ) -> Result<Step, StoreError> {
        let event = view::present(tx, &self.arrival.event, names.as_ref())?;
        let mut view = self.view(tx, &event, names, Told::of(learnt))?;
        view.delivery = before;
        let mut outcome = match self.outcome(&event, &mut view, self.can_ask) {
            Ok(outcome) => outcome,
            Err(fact) => return Ok(Step::Missing(fact)),
        };
        self.desk.keep_tellable(&mut outcome.tells, self.now);
        let verdict = match before {
            Some(DeliveryState::Decided) => again(outcome.verdict),
            _ => outcome.verdict,
        };
        self.remember_delivery(tx, verdict)?;
        let (marked, held) = (marks(&outcome), lanes::still_held(&view, &outcome));
        let tells = !outcome.tells.is_empty();
        let mut lanes = tx.apply_outcome(outcome, self.now)?;
        lanes.retain(|lane| !held.contains(lane));
        Ok(Step::Taken(Taken { verdict, lanes, marked, waits: false, tells }))
    }

    fn view(&self, tx: &mut WriteTx<'_>, event: &Event, names: Option<Names>, told: Told) -> Result<View, StoreError> {
        let mut view = view::of_event(tx, &self.store, event, names, &self.settings.policy, told)?;
        view.heard = self.arrival.heard;
        Ok(view)
    }

    /// The decision; where a fact is missing and nobody can be asked, it is made without.
    fn outcome(&self, event: &Event, view: &mut View, can_ask: bool) -> Result<Outcome, MissingFact> {
        loop {
            match decide::decide(event, view, &self.settings.policy, self.now) {
                Decision::Decided(outcome) => return Ok(outcome),
                Decision::Needs(fact) if can_ask => return Err(fact),
                Decision::Needs(fact) => view.told.add(Learnt::Nothing(fact)),
            }
        }
    }

    /// A repository whose id comes under a new name was renamed, although nobody said so: its items follow first.
    fn rename_nobody_told(&self, tx: &mut WriteTx<'_>, names: Option<&Names>) -> Result<Option<Taken>, StoreError> {
        let Some(rename) = decide::implied_rename(&self.arrival.event, names) else { return Ok(None) };
        let mut view = self.view(tx, &rename, names.cloned(), Told::default())?;
        let Ok(outcome) = self.outcome(&rename, &mut view, false) else { return Ok(None) };
        let (verdict, marked) = (outcome.verdict, marks(&outcome));
        let taken = Taken { verdict, lanes: tx.apply_outcome(outcome, self.now)?, marked, ..Taken::nothing() };
        Ok(Some(taken))
    }

    /// Whether others of its reference wait, and it is none that overtakes them.
    fn stands_behind(&self, tx: &WriteTx<'_>) -> Result<bool, StoreError> {
        match self.queue() {
            // Mostly nobody waits at all, which is seen faster than what a text says.
            Some(queue) if tx.has_waiting(&queue)? => {
                Ok(!decide::overtakes(&self.arrival.event, &self.settings.policy))
            }
            _ => Ok(false),
        }
    }

    /// The queue it would wait in: that of the reference its own payload names.
    fn queue(&self) -> Option<RefKey> {
        decide::subject(&self.arrival.event).map(|subject| subject.reference.key())
    }

    /// Accepted and kept, to be decided when what it misses is known and it is its turn.
    fn wait(&self, tx: &mut WriteTx<'_>, missing: Option<MissingFact>) -> Result<Taken, StoreError> {
        let Arrival { event, body, heard } = self.arrival.as_ref();
        let queue = self.queue().ok_or_else(|| StoreError::Bug("an event about no item misses a fact".into()))?;
        let body = std::str::from_utf8(body).map_err(|error| StoreError::Bug(error.to_string()))?;
        let waiting = Waiting {
            name: event.name.clone(),
            delivery: event.delivery.clone(),
            body: body.to_owned(),
            heard: *heard,
            missing,
            learnt: Vec::new(),
            tries: 0,
            asked_at: None,
            not_before: None,
            at: self.now,
        };
        tx.push_waiting(&queue, &waiting)?;
        self.remember_delivery(tx, Verdict::Accepted)?;
        Ok(Taken { waits: true, ..Taken::nothing() })
    }

    fn remember_delivery(&self, tx: &mut WriteTx<'_>, verdict: Verdict) -> Result<(), StoreError> {
        let state = match verdict {
            _ if !self.arrival.heard.is_delivered() => return Ok(()),
            Verdict::Dropped(DropReason::DuplicateDelivery) => return Ok(()),
            Verdict::Refused(_) => DeliveryState::Refused,
            Verdict::Accepted | Verdict::Dropped(_) => DeliveryState::Decided,
        };
        tx.put_delivery(&self.arrival.event.delivery, state, self.now)
    }
}

/// What a sender hears of a delivery that was decided before. The guards that come before the one for its id name the
/// reason in the trail; it is a duplicate all the same.
fn again(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Dropped(_) => Verdict::Dropped(DropReason::DuplicateDelivery),
        other => other,
    }
}

/// Whether a portable file has to follow.
fn marks(outcome: &Outcome) -> bool {
    outcome.changes.iter().any(|change| matches!(change, decide::Change::Mark { .. }))
}

/// The line of the trail about an event that came.
pub(super) fn received(event: &Event) -> LogEntry {
    LogEntry::info(EventName::WebhookReceived)
        .with("delivery", event.delivery.as_str())
        .with("name", event.name.as_str())
        .with_some("action", event.action.as_deref())
}
