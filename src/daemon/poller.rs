//! The loops that ask GitHub: what is new, what a webhook could not hand over, and facts that events wait for.

use std::time::{Duration, Instant};

use super::journal::{Sink, Told};
use super::wake::{Bell, Wake};
use crate::app::App;
use crate::app::polling::Polled;
use crate::domain::log::{EventName, LogEntry};

/// How often the poller looks whether a cycle is due: a new interval holds within this time.
const LOOK: Duration = Duration::from_secs(2);
/// When the first sweep begins: the receiver is there by then.
const SWEEP_FIRST: Duration = Duration::from_secs(2);
/// Time between two sweeps.
const SWEEP: Duration = Duration::from_secs(600);
/// How often what waits is looked at without news.
const IDLE: Duration = Duration::from_secs(30);
/// Time between two looks at what waits.
const PAUSE: Duration = Duration::from_millis(100);

/// Polls all sources with every interval until the bell is closed.
pub fn poll(app: &App, wake: &Wake, bell: &Bell, sink: &Sink, told: &Told) {
    let mut last: Option<Instant> = None;
    while bell.sleep(if last.is_none() { Duration::ZERO } else { LOOK }) {
        let polling = &app.settings().polling;
        let interval = Duration::from_secs(u64::from(polling.interval_seconds));
        if !polling.enabled {
            told.tell(sink, None);
        } else if last.is_none_or(|last| last.elapsed() >= interval) {
            last = Some(Instant::now());
            cycle(app, wake, sink, told);
        }
        last.get_or_insert_with(Instant::now);
    }
}

fn cycle(app: &App, wake: &Wake, sink: &Sink, told: &Told) {
    match app.poll_all() {
        Err(error) => {
            wake.doubt();
            told.tell(sink, Some(LogEntry::warn(EventName::ServerTrouble).with("reason", error.to_string())));
        }
        Ok(polled) => {
            let Polled { repositories, lanes, marked, waits } = polled;
            wake.taken(lanes, marked);
            if waits {
                wake.waits();
            }
            let troubled: Vec<String> = repositories.iter().filter_map(|row| row.trouble_text()).collect();
            let entry = LogEntry::warn(EventName::ServerTrouble).with("reason", troubled.join("; "));
            told.tell(sink, (!troubled.is_empty()).then_some(entry));
        }
    }
}

/// Asks for deliveries that GitHub could not hand over: at the start, and again now and then.
pub fn sweep(app: &App, wake: &Wake, bell: &Bell, sink: &Sink, told: &Told) {
    let mut wait = SWEEP_FIRST;
    while bell.sleep(wait) {
        wait = SWEEP;
        let trouble = match app.sweep() {
            Ok(trouble) => trouble,
            Err(error) => {
                wake.doubt();
                Some(error.to_string())
            }
        };
        let entry = trouble.map(|what| LogEntry::warn(EventName::ServerTrouble).with("reason", what));
        told.tell(sink, entry);
        // What was asked for again is in the trail.
        wake.taken(Vec::new(), false);
    }
}

/// Asks for what events wait for until the bell is closed.
pub fn ask(app: &App, wake: &Wake, bell: &Bell, sink: &Sink, told: &Told) {
    // Facts of an earlier life wait for no bell.
    let mut wait = Duration::ZERO;
    while bell.sleep(wait) {
        wait = IDLE;
        app.look_for_tokens();
        match app.look_at_waiting() {
            Err(error) => {
                wake.doubt();
                told.tell(sink, Some(LogEntry::warn(EventName::ServerTrouble).with("reason", error.to_string())));
            }
            Ok(looked) => {
                told.tell(sink, None);
                for taken in looked.taken {
                    wake.taken(taken.lanes, taken.marked);
                }
                let until = looked.next.map(|at| (at.as_millis() - app.now().as_millis()).max(0).unsigned_abs());
                wait = until.map_or(IDLE, Duration::from_millis).min(IDLE);
                if looked.moved {
                    wait = Duration::ZERO;
                }
            }
        }
        if !bell.is_closed() && wait > Duration::ZERO {
            std::thread::sleep(PAUSE.min(wait));
        }
    }
}
