//! The decision trail on its way from the store to the log: in order, each entry once, whatever crashes.
//!
//! While the log cannot be written, entries stay in the store, and `events` shows them from there. They are bounded: of
//! what waits for days the oldest is given up, and the trail says how much.

use serde::Serialize;
use serde_json::Value;

use super::App;
use crate::domain::log::{EventName, Level, LogEntry, WrittenEntry};
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

    /// Writes what waits, and entries of this process that no decision made, which are taken from `own` once they are
    /// written: also while the store does not answer, because that is what they tell. True when more waits.
    pub fn run(&mut self, app: &App, own: &mut Vec<(Time, LogEntry)>) -> Result<bool, DrainError> {
        let store = app.store().id().0;
        let from = self.next(&store)?;
        let read = app.store().read(|tx| tx.journal_written(from, BATCH));
        let waiting = read.as_deref().unwrap_or_default();
        let mut lines: Vec<String> =
            waiting.iter().map(|(seq, at, entry)| line(*at, entry, self.pid, Some((*seq, &store)))).collect();
        lines.extend(own.iter().map(|(at, entry)| line(*at, &WrittenEntry::of(entry), self.pid, None)));
        self.log.append(&lines)?;
        own.clear();
        let waiting = read?;
        if let Some((last, _, _)) = waiting.last() {
            self.next = Some(last + 1);
            let done = *last;
            app.store().write(move |tx| tx.trim_journal(done))?;
        }
        Ok(waiting.len() >= BATCH)
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
pub fn line(at: Time, entry: &WrittenEntry, pid: u32, seq: Option<(u64, &str)>) -> String {
    let head = Head {
        ts: at.to_millis_string(),
        source: "the-loop",
        event: entry.event.as_str(),
        level: entry.level,
        pid,
        seq: seq.map(|(seq, _)| seq),
        store: seq.map(|(_, store)| store),
    };
    // Texts and numbers are nothing that JSON cannot hold.
    let mut line = serde_json::to_string(&head).unwrap_or_default();
    // There are three lines for a delivery, so the fields are passed on as they stand.
    if let Some(fields) = entry.fields.get().strip_prefix('{').filter(|fields| *fields != "}") {
        line.truncate(line.len().saturating_sub(1));
        line.push(',');
        line.push_str(fields);
    }
    line
}

/// The fields that every line begins with.
#[derive(Serialize)]
struct Head<'a> {
    ts: String,
    source: &'static str,
    event: &'a str,
    level: Level,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<&'a str>,
}

/// The number a line has in the trail of `store`.
fn seq_of(line: &str, store: &str) -> Option<u64> {
    let value: Value = serde_json::from_str(line).ok()?;
    (value.get("store")?.as_str()? == store).then_some(())?;
    value.get("seq")?.as_u64()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex};

    use super::super::moving::world;
    use super::*;

    /// A log that can be made to refuse.
    #[derive(Clone, Default)]
    struct Log {
        lines: Arc<Mutex<Vec<String>>>,
        refuses: Arc<AtomicBool>,
    }

    impl EventLog for Log {
        fn append(&mut self, lines: &[String]) -> Result<(), LogError> {
            if self.refuses.load(Ordering::SeqCst) {
                return Err(LogError {
                    what: "write",
                    path: "/x".into(),
                    source: std::io::ErrorKind::StorageFull.into(),
                });
            }
            self.lines.lock().unwrap().extend_from_slice(lines);
            Ok(())
        }

        fn last_lines(&mut self, _: u64) -> Result<Vec<String>, LogError> {
            self.append(&[])?;
            Ok(self.lines.lock().unwrap().clone())
        }
    }

    fn decide(app: &App, times: usize) {
        for _ in 0..times {
            app.store()
                .write(|tx| tx.append_journal(&LogEntry::info(EventName::PollCycle), Time::from_millis(1)))
                .unwrap();
        }
    }

    fn numbers(app: &App) -> Vec<u64> {
        app.store().read(|tx| tx.journal(0, usize::MAX)).unwrap().into_iter().map(|(number, ..)| number).collect()
    }

    #[test]
    fn a_line_begins_alike_and_goes_on_with_the_fields_as_they_stand() {
        let bare = LogEntry::info(EventName::PollCycle).with("nothing", Value::Null);
        let full =
            LogEntry::warn(EventName::ServerTrouble).with("reason", "a \"b\"").with("dropped", 3).with("c", true);
        let head = r#"{"ts":"1970-01-01T00:00:00.001Z","source":"the-loop","event":""#;
        let of = |entry: &LogEntry, seq| line(Time::from_millis(1), &WrittenEntry::of(entry), 7, seq);
        assert_eq!(of(&bare, None), format!(r#"{head}poll.cycle","level":"info","pid":7}}"#));
        let tail = r#""seq":9,"store":"s","reason":"a \"b\"","dropped":3,"c":true}"#;
        assert_eq!(of(&full, Some((9, "s"))), format!(r#"{head}server.trouble","level":"warn","pid":7,{tail}"#));
    }

    #[test]
    fn k65_what_waits_for_a_log_that_refuses_is_bounded_and_what_was_given_up_is_told() {
        let (app, _) = world();
        decide(&app, 20);
        assert_eq!(app.bound_journal(20, Some("why")).unwrap(), 0);
        assert_eq!(numbers(&app).len(), 20);
        assert_eq!(app.bound_journal(15, Some("why")).unwrap(), 5);
        assert_eq!(numbers(&app), (6..=21).collect::<Vec<_>>());
        let told = app.store().read(|tx| tx.journal(21, 1)).unwrap().remove(0).2;
        assert_eq!((told.event, &told.fields["dropped"]), (EventName::ServerTrouble, &5.into()));
        // Where no log is written on purpose, nobody is told.
        assert_eq!(app.bound_journal(10, None).unwrap(), 6);
        assert_eq!(numbers(&app), (12..=21).collect::<Vec<_>>());
    }

    #[test]
    fn k65_a_refusing_log_keeps_the_trail_in_the_store_and_gets_it_in_order_later() {
        let (app, _) = world();
        let log = Log::default();
        log.refuses.store(true, Ordering::SeqCst);
        let mut drain = Drain::new(Box::new(log.clone()), 7);
        decide(&app, 3);
        for _ in 0..3 {
            assert!(drain.run(&app, &mut Vec::new()).is_err());
        }
        assert_eq!(numbers(&app), [1, 2, 3]);
        log.refuses.store(false, Ordering::SeqCst);
        assert!(!drain.run(&app, &mut Vec::new()).unwrap());
        assert!(numbers(&app).is_empty());
        let store = app.store().id().0;
        let written = || log.lines.lock().unwrap().iter().filter_map(|line| seq_of(line, &store)).collect::<Vec<_>>();
        assert_eq!(written(), [1, 2, 3]);
        // Another life goes on behind what it finds.
        decide(&app, 1);
        Drain::new(Box::new(log.clone()), 8).run(&app, &mut Vec::new()).unwrap();
        assert_eq!(written(), [1, 2, 3, 4]);
    }
}
