//! What the commit of a decision wakes: lanes to perform, portable files to follow, the trail to be written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::dispatcher::Notifier;
use crate::domain::reference::RefKey;

/// Wakes everything; cheap to clone.
#[derive(Clone)]
pub struct Wake {
    lanes: Notifier,
    exporter: Bell,
    journal: Bell,
    asking: Bell,
    /// A commit failed, and what it held may be stored or not.
    in_doubt: Arc<AtomicBool>,
    /// The last commit anybody waited for failed.
    failing: Arc<AtomicBool>,
}

impl Wake {
    /// All that can be woken.
    pub fn new(lanes: Notifier, exporter: Bell, journal: Bell, asking: Bell) -> Self {
        Self { lanes, exporter, journal, asking, in_doubt: Arc::default(), failing: Arc::default() }
    }

    /// A commit failed: everything that waits is looked at once the store takes writes again.
    pub fn doubt(&self) {
        self.in_doubt.store(true, Ordering::SeqCst);
        self.failing.store(true, Ordering::SeqCst);
    }

    /// A commit went well.
    pub fn well(&self) {
        if self.is_failing() {
            self.failing.store(false, Ordering::SeqCst);
        }
    }

    /// Whether the last commit anybody waited for failed.
    pub fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    /// The pools.
    pub fn lanes(&self) -> &Notifier {
        &self.lanes
    }

    /// Whether a commit failed since the last call.
    pub fn take_doubt(&self) -> bool {
        self.in_doubt.swap(false, Ordering::SeqCst)
    }

    /// An event waits for a fact that GitHub is to be asked for.
    pub fn waits(&self) {
        self.asking.ring();
    }

    /// A decision was committed.
    pub fn taken(&self, lanes: Vec<RefKey>, marked: bool) {
        if !lanes.is_empty() {
            self.lanes.notify(lanes);
        }
        if marked {
            self.exporter.ring();
        }
        self.journal.ring();
    }
}

/// A bell that a loop sleeps beside: rung before the sleep counts too.
#[derive(Clone, Default)]
pub struct Bell(Arc<(Mutex<Rung>, Condvar)>);

#[derive(Default)]
struct Rung {
    rung: bool,
    closed: bool,
    /// Since when its loop has been away from it; `None` while it sleeps here, or has not begun.
    away: Option<Instant>,
}

impl Bell {
    /// Wakes the sleeper. One that was rung for and has not looked yet is not woken again: in a burst that would be a
    /// system call per delivery.
    pub fn ring(&self) {
        let rung = std::mem::replace(&mut self.0.0.lock().unwrap_or_else(PoisonError::into_inner).rung, true);
        if !rung {
            self.0.1.notify_all();
        }
    }

    /// Wakes the sleeper for the last time.
    pub fn close(&self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.0.1.notify_all();
    }

    /// Sleeps until rung or `limit` is over; false when it was closed.
    pub fn sleep(&self, limit: Duration) -> bool {
        let mut guard = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        guard.away = None;
        let idle = |state: &mut Rung| !state.rung && !state.closed;
        let (mut guard, _) = self.0.1.wait_timeout_while(guard, limit, idle).unwrap_or_else(PoisonError::into_inner);
        guard.rung = false;
        guard.away = Some(Instant::now());
        !guard.closed
    }

    /// How long its loop has been busy without coming back.
    pub fn silence(&self) -> Duration {
        let away = self.0.0.lock().unwrap_or_else(PoisonError::into_inner).away;
        away.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).closed
    }
}
