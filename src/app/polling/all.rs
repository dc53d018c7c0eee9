//! One cycle of every repository: side by side, a few at a time, none held up by another.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Cycle;
use crate::app::App;
use crate::app::request::PolledRow;
use crate::domain::polling::Source;
use crate::domain::reference::RefKey;
use crate::store::StoreError;

/// Most repositories that are asked at the same time.
const AT_ONCE: usize = 4;
/// Most looks at what waits for a fact after a cycle.
const LOOKS: usize = 50;

/// What a cycle of all repositories came to.
#[derive(Debug, Default)]
pub struct Polled {
    /// Each of them.
    pub repositories: Vec<PolledRow>,
    /// Lanes that have something to look at.
    pub lanes: Vec<RefKey>,
    /// Whether a portable file has to follow.
    pub marked: bool,
    /// Whether an event waits for a fact.
    pub waits: bool,
}

impl App {
    /// Polls every source once. Waits for a cycle that runs already.
    ///
    /// # Errors
    /// The store did not answer for one of them; the others were polled.
    pub fn poll_all(&self) -> Result<Polled, StoreError> {
        self.poll_each(false)
    }

    fn poll_each(&self, by_hand: bool) -> Result<Polled, StoreError> {
        let _one = self.cycle.lock().unwrap_or_else(PoisonError::into_inner);
        let sources = &self.settings().polling.sources;
        let next = AtomicUsize::new(0);
        let cycles = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(sources.len()) {
                scope.spawn(|| {
                    while let Some(source) = sources.get(next.fetch_add(1, Ordering::SeqCst)) {
                        let cycle = self.poll(source, by_hand);
                        cycles.lock().unwrap_or_else(PoisonError::into_inner).push((source, cycle));
                    }
                });
            }
        });
        let mut polled = Polled::default();
        let mut cycles = cycles.into_inner().unwrap_or_else(PoisonError::into_inner);
        cycles.sort_by_key(|(source, _)| source.repository.key());
        for (source, cycle) in cycles {
            polled.add(source, cycle?);
        }
        Ok(polled)
    }

    /// Polls every source once, and asks at once for what events wait for: a cycle that a person asked for, which only a
    /// limit puts off.
    ///
    /// # Errors
    /// As [`App::poll_all`].
    pub fn poll_now(&self) -> Result<Polled, StoreError> {
        let mut polled = self.poll_each(true)?;
        for _ in 0..LOOKS {
            let looked = self.look_at_waiting()?;
            for taken in looked.taken {
                polled.lanes.extend(taken.lanes);
                polled.marked |= taken.marked;
            }
            if !looked.moved {
                break;
            }
        }
        Ok(polled)
    }
}

impl Polled {
    fn add(&mut self, source: &Source, cycle: Cycle) {
        let Cycle { requests, unchanged, events, lanes, marked, waits, paused, trouble, hint } = cycle;
        self.lanes.extend(lanes);
        self.marked |= marked;
        self.waits |= waits;
        self.repositories.push(PolledRow {
            repository: source.repository.to_string(),
            requests,
            unchanged,
            events,
            paused_until: paused.map(|until| until.to_string()),
            trouble,
            hint,
        });
    }
}
