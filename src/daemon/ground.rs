//! What the daemon stands on: the store's file. One that was removed or replaced beneath it is waited for, because a
//! move may be undone; then the daemon ends with a word. One that lived on would refuse everything for ever.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::answering::Life;
use super::journal::{Sink, Told};
use crate::app::App;
use crate::domain::log::{EventName, LogEntry};

/// How long the file may take to come back.
const PATIENCE: Duration = Duration::from_secs(10);

/// Watches the store's file.
pub struct Ground {
    app: App,
    life: Arc<Life>,
    sink: Sink,
    told: Told,
    /// Since when the file has not been seen in its place.
    gone: Option<Instant>,
}

impl Ground {
    /// Watches the file of the app's store; what troubles it is kept in `told`.
    pub fn new(app: App, life: Arc<Life>, sink: Sink, told: Told) -> Self {
        Self { app, life, sink, told, gone: None }
    }

    /// Looks; the daemon's end begins once the file has been away for too long. True while it is in its place.
    pub fn look(&mut self) -> bool {
        let Err(error) = self.app.store().in_place() else {
            self.gone = None;
            self.told.tell(&self.sink, None);
            return true;
        };
        let since = *self.gone.get_or_insert_with(Instant::now);
        self.told.tell(&self.sink, Some(LogEntry::warn(EventName::ServerTrouble).with("reason", advice(&error))));
        if since.elapsed() >= PATIENCE {
            self.life.loses_its_store(error.to_string());
        }
        false
    }
}

/// What is wrong with the file, and what can be done while the daemon still waits for it.
fn advice(error: &dyn std::fmt::Display) -> String {
    let patience = PATIENCE.as_secs();
    format!("{error}; nothing is taken in until it is put back, and after {patience} s without it the daemon ends")
}
