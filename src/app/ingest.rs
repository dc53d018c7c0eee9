//! Taking an event in: one transaction from the delivery id to the stored effects.

use std::sync::Arc;

use super::App;
use super::deciding::{self, Deciding};
use crate::domain::decide::{DeliveryState, Heard, Verdict};
use crate::domain::event::body::CheckedJson;
use crate::domain::event::listed::Listed;
use crate::domain::event::{Event, webhook};
use crate::domain::ids::DeliveryId;
use crate::domain::reference::RefKey;
use crate::store::{Job, StoreError};

/// An event with the text it was made from, which is kept only when a bug keeps it from being decided.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// The event.
    pub event: Event,
    /// The JSON it was made from.
    pub body: bytes::Bytes,
    /// How it came to be heard.
    pub heard: Heard,
}

impl Arrival {
    /// What GitHub sent.
    pub const fn delivered(event: Event, body: bytes::Bytes) -> Self {
        Self { event, body, heard: Heard::Delivered }
    }

    /// What a poll listed.
    pub fn listed(listed: &Listed, delivery: DeliveryId, heard: Heard) -> Self {
        let json = CheckedJson::of(&listed.payload);
        let event = webhook::normalise_listed(listed.name, delivery, &json);
        Self { event, body: bytes::Bytes::copy_from_slice(json.as_str().as_bytes()), heard }
    }
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
    /// Whether it waits, undecided, for a fact that GitHub is to be asked for.
    pub waits: bool,
    /// Whether people are told something.
    pub tells: bool,
}

impl Taken {
    /// Nothing came of it yet.
    pub(super) const fn nothing() -> Self {
        Self { verdict: Verdict::Accepted, lanes: Vec::new(), marked: false, waits: false, tells: false }
    }
}

impl App {
    /// Decides `arrival` durably and waits for the commit.
    pub fn ingest(&self, arrival: &Arrival) -> Result<Taken, StoreError> {
        let deciding = self.deciding(Arc::new(arrival.clone()));
        let taken = self.parts.store.write(move |tx| deciding.run(tx));
        match taken {
            Err(StoreError::Bug(text)) => self.keep_undecided(arrival, &text),
            taken => taken.inspect(|taken| self.ring_for(taken)),
        }
    }

    /// Decides `arrival` with the next group of writes; `done` is called after their commit.
    pub fn submit(&self, arrival: Arrival, done: impl FnOnce(Result<Taken, StoreError>) + Send + 'static) {
        let arrival = Arc::new(arrival);
        let deciding = self.deciding(Arc::clone(&arrival));
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
                        std::thread::spawn(move || done(app.keep_undecided(&arrival, &text)));
                    }
                    (Err(error), _) => done(Err(error)),
                }
            }),
        });
    }

    /// Decides an event that a bug kept from being decided; it is no longer kept once it is.
    pub(super) fn decide_kept(&self, arrival: Arrival) -> Result<Taken, StoreError> {
        let deciding = self.deciding(Arc::new(arrival));
        self.parts.store.write(move |tx| {
            tx.remove_undecidable(&deciding.arrival.event.delivery)?;
            deciding.run(tx)
        })
    }

    pub(super) fn ring_for(&self, taken: &Taken) {
        if taken.tells {
            self.desk.ring();
        }
    }

    /// The decision about `arrival`, ready to run in a transaction.
    pub(super) fn deciding(&self, arrival: Arc<Arrival>) -> Deciding {
        let host = arrival.event.repository.as_ref().map(|repository| repository.reference.host());
        Deciding {
            settings: self.settings(),
            store: self.parts.store.id(),
            now: self.now(),
            can_ask: host.is_some_and(|host| self.parts.github.may_ask(host)),
            desk: Arc::clone(&self.desk),
            received: deciding::received(&arrival.event),
            arrival,
        }
    }

    /// What cannot be decided because of a bug is kept whole, for `dispatch retry`.
    pub(super) fn keep_undecided(&self, arrival: &Arrival, error: &str) -> Result<Taken, StoreError> {
        let (arrival, error, now) = (arrival.clone(), error.to_owned(), self.now());
        self.parts.store.write(move |tx| {
            let Arrival { event, body, .. } = &arrival;
            tx.put_undecidable(&event.delivery, &event.name, body, &error, now)?;
            tx.put_delivery(&event.delivery, DeliveryState::Undecidable, now)?;
            Ok(Taken::nothing())
        })
    }
}
