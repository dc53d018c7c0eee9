//! The decision trail on its way from the store to the log: in order, each entry once, whatever crashes.
//!
//! While the log cannot be written, entries stay in the store, and `events` shows them from there. They are bounded: of
//! what waits for days the oldest is given up, and the trail says how much.

use serde_json::Value;

use super::App;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::ports::{EventLog, LogError};
use crate::domain::time::Time;
use crate::store::{StoreError, View as _};

/// Entries taken to the file at once.
const BATCH: usize = 2048;
/// How far back the last written entry is looked for at the start.
const TAIL_BYTES: u64 = 1 << 20;

/// Entries that wait for the log at most, some tens of MiB.
pub const WAITING: u64 = 200_000;
/// Entries kept in the store when no log is written.
pub const WITHOUT_LOG: u64 = 10_000;

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
    /// The entry to be written next; `None` before the log could be asked what it holds.
    next: Option<u64>,
}

impl Drain {
    /// Goes on behind the last entry that reached the log: a crash between the file and the store repeats nothing.
    pub fn new(log: Box<dyn EventLog>, pid: u32) -> Self {
        Self { log, pid, next: None }
    }

    fn next(&mut self, store: &str) -> Result<u64, LogError> {
        if let Some(next) = self.next {
            return Ok(next);
        }
        let last = self.log.last_lines(TAIL_BYTES)?.iter().rev().find_map(|line| seq_of(line, store));
        Ok(*self.next.insert(last.map_or(0, |last| last + 1)))
    }

    /// Writes what waits, and entries of this process that no decision made. True when more waits.
    pub fn run(&mut self, app: &App, own: &[(Time, LogEntry)]) -> Result<bool, DrainError> {
        let store = app.store().id().0;
        let from = self.next(&store)?;
        let waiting = app.store().read(|tx| tx.journal(from, BATCH))?;
        let mut lines: Vec<String> =
            waiting.iter().map(|(seq, at, entry)| line(*at, entry, self.pid, Some((*seq, &store)))).collect();
        lines.extend(own.iter().map(|(at, entry)| line(*at, entry, self.pid, None)));
        self.log.append(&lines)?;
        if let Some((last, _, _)) = waiting.last() {
            self.next = Some(last + 1);
            let done = *last;
            app.store().write(move |tx| tx.trim_journal(done))?;
        }
        Ok(waiting.len() == BATCH)
    }
}

impl App {
    /// Gives up the oldest entries of the trail beyond `keep`, and says so in the trail. The number given up.
    ///
    /// # Errors
    /// The store did not answer.
    pub fn bound_journal(&self, keep: u64, why: Option<&str>) -> Result<u64, StoreError> {
        let Some((first, last)) = self.store().read(|tx| tx.journal_bounds())? else { return Ok(0) };
        let given_up = (last + 1 - first).saturating_sub(keep);
        if given_up == 0 {
            return Ok(0);
        }
        let (now, to) = (self.now(), first + given_up - 1);
        let entry =
            why.map(|why| LogEntry::warn(EventName::ServerTrouble).with("reason", why).with("dropped", given_up));
        self.store().write(move |tx| {
            tx.trim_journal(to)?;
            entry.as_ref().map_or(Ok(()), |entry| tx.append_journal(entry, now).map(drop))
        })?;
        Ok(given_up)
    }
}

/// One line of the log: `ts`, `source`, `event`, `level`, `pid`, the trail's own number, then the entry's fields.
pub fn line(at: Time, entry: &LogEntry, pid: u32, seq: Option<(u64, &str)>) -> String {
    let mut object = serde_json::Map::new();
    object.insert("ts".into(), at.to_millis_string().into());
    object.insert("source".into(), "the-loop".into());
    object.insert("event".into(), entry.event.as_str().into());
    object.insert("level".into(), serde_json::to_value(entry.level).unwrap_or_default());
    object.insert("pid".into(), pid.into());
    if let Some((seq, store)) = seq {
        object.insert("seq".into(), seq.into());
        object.insert("store".into(), store.into());
    }
    let fields = entry.fields.iter().filter(|(_, value)| !value.is_null());
    object.extend(fields.map(|(key, value)| (key.clone(), value.clone())));
    Value::Object(object).to_string()
}

/// The number a line has in the trail of `store`.
fn seq_of(line: &str, store: &str) -> Option<u64> {
    let value: Value = serde_json::from_str(line).ok()?;
    (value.get("store")?.as_str()? == store).then_some(())?;
    value.get("seq")?.as_u64()
}
