//! The decision trail on its way from the store to the log: in order, each entry once, whatever crashes.

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;

use super::App;
use crate::domain::log::LogEntry;
use crate::domain::ports::{EventLog, LogError};
use crate::domain::time::Time;
use crate::store::{StoreError, View as _};

/// Entries taken to the file at once.
const BATCH: usize = 2048;
/// How far back the last written entry is looked for at the start.
const TAIL_BYTES: u64 = 1 << 20;

/// Why the trail could not be written on.
#[derive(Debug, thiserror::Error)]
pub enum DrainError {
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log could not be written.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// Carries the trail to the log.
pub struct Drain {
    log: Box<dyn EventLog>,
    pid: u32,
    /// The entry to be written next.
    next: u64,
}

impl Drain {
    /// Goes on behind the last entry that reached the log: a crash between the file and the store repeats nothing.
    pub fn new(mut log: Box<dyn EventLog>, store: &str, pid: u32) -> Result<Self, LogError> {
        let last = log.last_lines(TAIL_BYTES)?.iter().rev().find_map(|line| seq_of(line, store));
        Ok(Self { log, pid, next: last.map_or(0, |last| last + 1) })
    }

    /// Writes what waits, and entries of this process that no decision made. True when more waits.
    pub fn run(&mut self, app: &App, own: &[(Time, LogEntry)]) -> Result<bool, DrainError> {
        let from = self.next;
        let store = app.store().id().0;
        let waiting = app.store().read(|tx| tx.journal(from, BATCH))?;
        let mut lines: Vec<String> =
            waiting.iter().map(|(seq, at, entry)| line(*at, entry, self.pid, Some((*seq, &store)))).collect();
        lines.extend(own.iter().map(|(at, entry)| line(*at, entry, self.pid, None)));
        self.log.append(&lines)?;
        if let Some((last, _, _)) = waiting.last() {
            self.next = last + 1;
            let done = *last;
            app.store().write(move |tx| tx.trim_journal(done))?;
        }
        Ok(waiting.len() >= BATCH)
    }
}

/// One line of the log: `ts`, `source`, `event`, `level`, `pid`, the trail's own number, then the entry's fields.
pub fn line(at: Time, entry: &LogEntry, pid: u32, seq: Option<(u64, &str)>) -> String {
    // Keys are texts and so are the fields' values, or numbers: nothing that JSON cannot hold.
    serde_json::to_string(&Line { at, entry, pid, seq }).unwrap_or_default()
}

/// A line that is written as it is made: there are three of them for a delivery.
struct Line<'a> {
    at: Time,
    entry: &'a LogEntry,
    pid: u32,
    seq: Option<(u64, &'a str)>,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { at, entry, pid, seq } = self;
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("ts", &at.to_millis_string())?;
        line.serialize_entry("source", "the-loop")?;
        line.serialize_entry("event", entry.event.as_str())?;
        line.serialize_entry("level", &entry.level)?;
        line.serialize_entry("pid", pid)?;
        if let Some((seq, store)) = seq {
            line.serialize_entry("seq", seq)?;
            line.serialize_entry("store", store)?;
        }
        for (key, value) in entry.fields.iter().filter(|(_, value)| !value.is_null()) {
            line.serialize_entry(key, value)?;
        }
        line.end()
    }
}

/// The number a line has in the trail of `store`.
fn seq_of(line: &str, store: &str) -> Option<u64> {
    let value: Value = serde_json::from_str(line).ok()?;
    (value.get("store")?.as_str()? == store).then_some(())?;
    value.get("seq")?.as_u64()
}
