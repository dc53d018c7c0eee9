//! Taking an event in: one transaction from the delivery id to the stored effects.

use std::sync::Arc;

use super::telling::Desk;
use super::{App, Settings, lanes, view};
use crate::domain::decide::{self, Decision, DeliveryState, Outcome, Verdict};
use crate::domain::event::Event;
use crate::domain::ids::StoreId;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::names::Names;
use crate::domain::reference::RefKey;
use crate::domain::time::Time;
use crate::store::{Job, StoreError, WriteTx};

/// An event with the text it was made from, which is kept only when a bug keeps it from being decided.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// The event.
    pub event: Event,
    /// The JSON it was made from.
    pub body: bytes::Bytes,
}

/// What became of an arrival, and the lanes that have work now.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// The decision's end.
    pub verdict: Verdict,
    /// Lanes to look at.
    pub lanes: Vec<RefKey>,
    /// Whether a portable file has to follow.
    pub marked: bool,
    /// Whether people are told something.
    pub tells: bool,
}

impl App {
    /// Decides `arrival` durably and waits for the commit.
    pub fn ingest(&self, arrival: &Arrival) -> Result<Taken, StoreError> {
        let deciding = self.deciding(Arc::new(arrival.event.clone()));
        let taken = self.parts.store.write(move |tx| deciding.run(tx));
        match taken {
            Err(StoreError::Bug(text)) => self.keep_undecided(arrival, &text),
            taken => taken.inspect(|taken| self.ring_for(taken)),
        }
    }

    /// Decides `arrival` with the next group of writes; `done` is called after their commit.
    pub fn submit(&self, arrival: Arrival, done: impl FnOnce(Result<Taken, StoreError>) + Send + 'static) {
        let Arrival { event, body } = arrival;
        let event = Arc::new(event);
        let deciding = self.deciding(Arc::clone(&event));
        let result = Arc::new(std::sync::Mutex::new(None));
        let slot = Arc::clone(&result);
        let app = self.clone();
        self.parts.store.submit(Job {
            run: Box::new(move |tx| {
                let taken = deciding.run(tx)?;
                *slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(taken);
                Ok(())
            }),
            done: Box::new(move |committed| {
                let taken = result.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
                match (committed, taken) {
                    (Ok(()), Some(taken)) => {
                        app.ring_for(&taken);
                        done(Ok(taken));
                    }
                    (Ok(()), None) => done(Err(StoreError::Bug("a decision left no answer".into()))),
                    // The thread that commits cannot wait for a commit of its own.
                    (Err(StoreError::Bug(text)), _) => {
                        let arrival = Arrival { event: Arc::unwrap_or_clone(event), body };
                        std::thread::spawn(move || done(app.keep_undecided(&arrival, &text)));
                    }
                    (Err(error), _) => done(Err(error)),
                }
            }),
        });
    }

    /// Decides an event that a bug kept from being decided; it is no longer kept once it is.
    pub(super) fn decide_kept(&self, event: Event) -> Result<Taken, StoreError> {
        let deciding = self.deciding(Arc::new(event));
        self.parts.store.write(move |tx| {
            tx.remove_undecidable(&deciding.event.delivery)?;
            deciding.run(tx)
        })
    }

    fn ring_for(&self, taken: &Taken) {
        if taken.tells {
            self.desk.ring();
        }
    }

    fn deciding(&self, event: Arc<Event>) -> Deciding {
        let desk = Arc::clone(&self.desk);
        Deciding { event, settings: self.settings(), store: self.parts.store.id(), now: self.now(), desk }
    }

    /// What cannot be decided because of a bug is kept whole, for `dispatch retry`.
    fn keep_undecided(&self, arrival: &Arrival, error: &str) -> Result<Taken, StoreError> {
        let (arrival, error, now) = (arrival.clone(), error.to_owned(), self.now());
        self.parts.store.write(move |tx| {
            let Arrival { event, body } = &arrival;
            tx.put_undecidable(&event.delivery, &event.name, body, &error, now)?;
            tx.put_delivery(&event.delivery, DeliveryState::Undecidable, now)?;
            let verdict = Verdict::Accepted;
            Ok(Taken { verdict, lanes: Vec::new(), marked: false, tells: false })
        })
    }
}

/// One decision, ready to run in a transaction; it can be run again when its group is.
struct Deciding {
    event: Arc<Event>,
    settings: Arc<Settings>,
    store: StoreId,
    now: Time,
    desk: Arc<Desk>,
}

impl Deciding {
    fn run(&self, tx: &mut WriteTx<'_>) -> Result<Taken, StoreError> {
        let mut names = view::names(tx, &self.event)?;
        let renamed = self.rename_nobody_told(tx, names.as_ref())?;
        if renamed.is_some() {
            names = view::names(tx, &self.event)?;
        }
        let event = view::present(tx, &self.event, names.as_ref())?;
        let mut view = view::of_event(tx, &self.store, &event, names, &self.settings.policy)?;
        let (arrived_before, decided_before) = (view.delivery.is_some(), view.delivery == Some(DeliveryState::Decided));
        let mut outcome = decide_without_asking(&event, &mut view, &self.settings, self.now);
        self.desk.keep_tellable(&mut outcome.tells, self.now);
        tx.append_journal(&received(&self.event, arrived_before), self.now)?;
        let verdict = if decided_before { again(outcome.verdict) } else { outcome.verdict };
        self.remember_delivery(tx, verdict)?;
        let (marked, held) = (marks(&outcome), lanes::still_held(&view, &outcome));
        let tells = !outcome.tells.is_empty();
        let mut taken = Taken { verdict, lanes: tx.apply_outcome(outcome, self.now)?, marked, tells };
        taken.lanes.retain(|lane| !held.contains(lane));
        if let Some(renamed) = renamed {
            taken.lanes.extend(renamed.lanes);
            taken.marked |= renamed.marked;
        }
        Ok(taken)
    }

    /// A repository whose id comes under a new name was renamed, although nobody said so: its items follow first.
    fn rename_nobody_told(&self, tx: &mut WriteTx<'_>, names: Option<&Names>) -> Result<Option<Taken>, StoreError> {
        let Some(rename) = decide::implied_rename(&self.event, names) else { return Ok(None) };
        let mut view = view::of_event(tx, &self.store, &rename, names.cloned(), &self.settings.policy)?;
        view.delivery = None;
        let outcome = decide_without_asking(&rename, &mut view, &self.settings, self.now);
        let (verdict, marked) = (outcome.verdict, marks(&outcome));
        Ok(Some(Taken { verdict, lanes: tx.apply_outcome(outcome, self.now)?, marked, tells: false }))
    }

    fn remember_delivery(&self, tx: &mut WriteTx<'_>, verdict: Verdict) -> Result<(), StoreError> {
        let state = match verdict {
            Verdict::Dropped(decide::DropReason::DuplicateDelivery) => return Ok(()),
            Verdict::Refused(_) => DeliveryState::Refused,
            Verdict::Accepted | Verdict::Dropped(_) => DeliveryState::Decided,
        };
        tx.put_delivery(&self.event.delivery, state, self.now)
    }
}

/// What a sender hears of a delivery that was decided before. The guards that come before the one for its id name the
/// reason in the trail; it is a duplicate all the same.
fn again(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Dropped(_) => Verdict::Dropped(decide::DropReason::DuplicateDelivery),
        other => other,
    }
}

/// Whether a portable file has to follow.
fn marks(outcome: &Outcome) -> bool {
    outcome.changes.iter().any(|change| matches!(change, decide::Change::Mark { .. }))
}

/// Without a client for GitHub there is nobody to ask: what is missing is decided without.
fn decide_without_asking(event: &Event, view: &mut decide::View, settings: &Settings, now: Time) -> Outcome {
    loop {
        match decide::decide(event, view, &settings.policy, now) {
            Decision::Decided(outcome) => return outcome,
            Decision::Needs(fact) => view.without.push(fact),
        }
    }
}

fn received(event: &Event, before: bool) -> LogEntry {
    let entry = LogEntry::info(EventName::WebhookReceived)
        .with("delivery", event.delivery.as_str())
        .with("name", event.name.as_str())
        .with_some("action", event.action.as_deref());
    if before { entry.with("seenBefore", true) } else { entry }
}
