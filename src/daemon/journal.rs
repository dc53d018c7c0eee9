//! The loop that carries the decision trail to the event log, and entries that no decision made.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::wake::Bell;
use crate::app::App;
use crate::app::journal::Drain;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::time::Time;

/// Entries of this process that wait at most; refused requests are anybody's to make, so the rest is dropped.
const WAITING: usize = 4096;
/// Time between two writes, so that a burst is a few synced writes and not thousands: each of them makes the store's
/// own commits wait for the disk.
const PAUSE: Duration = Duration::from_millis(200);
/// How long nothing is written when nothing rings.
const IDLE: Duration = Duration::from_secs(30);

/// Takes entries that no decision made.
#[derive(Clone)]
pub struct Sink {
    app: App,
    waiting: Arc<Mutex<VecDeque<(Time, LogEntry)>>>,
    bell: Bell,
}

impl Sink {
    /// A sink whose entries the loop at `bell` writes.
    pub fn new(app: App, bell: Bell) -> Self {
        Self { app, waiting: Arc::default(), bell }
    }

    /// Adds an entry, dated now.
    pub fn put(&self, entry: LogEntry) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < WAITING {
            waiting.push_back((self.app.now(), entry));
        }
        drop(waiting);
        self.bell.ring();
    }

    fn take(&self) -> Vec<(Time, LogEntry)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }

    /// Takes back what could not be written, in front of what came since; beyond the bound the newest go.
    fn put_back(&self, entries: Vec<(Time, LogEntry)>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in entries.into_iter().rev() {
            waiting.push_front(entry);
        }
        waiting.truncate(WAITING);
    }
}

/// The last trouble that was put into the log, so that one that lasts is one line.
#[derive(Clone, Default)]
pub struct Told(Arc<Mutex<Option<LogEntry>>>);

impl Told {
    /// What troubles its loop right now.
    pub fn last(&self) -> Option<LogEntry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps `entry` without putting it anywhere: the log itself is in trouble.
    fn keep(&self, entry: Option<LogEntry>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = entry;
    }

    /// Puts `entry` unless it was the last; `None` when all is well again.
    pub fn tell(&self, sink: &Sink, entry: Option<LogEntry>) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *told != entry {
            told.clone_from(&entry);
            entry.into_iter().for_each(|entry| sink.put(entry));
        }
    }
}

/// Writes until the bell is closed, then what is left. `told` holds why the log cannot be written, while it cannot.
pub fn run(app: &App, mut drain: Drain, sink: &Sink, bell: &Bell, told: &Told) {
    while bell.sleep(IDLE) {
        write(app, &mut drain, sink, told);
        if !bell.is_closed() {
            std::thread::sleep(PAUSE);
        }
    }
    write(app, &mut drain, sink, told);
}

/// What cannot be written stays where it is and is tried again with the next ring.
fn write(app: &App, drain: &mut Drain, sink: &Sink, told: &Told) {
    let mut own = sink.take();
    loop {
        match drain.run(app, &mut own) {
            Ok(true) => {}
            Ok(false) => return told.keep(None),
            Err(error) => {
                sink.put_back(own);
                let entry = LogEntry::warn(EventName::ServerTrouble).with("reason", error.to_string());
                return told.keep(Some(entry));
            }
        }
    }
}
