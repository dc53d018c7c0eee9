//! Keeps the store from growing with history, and looks again at everything after the store had failed.

use std::time::Duration;

use super::ground::Ground;
use super::wake::{Bell, Wake};
use crate::app::{App, journal};

/// Time between two looks.
const PAUSE: Duration = Duration::from_secs(5);
/// Looks between two prunings.
const PRUNE_EVERY: u32 = 4;

/// Works until the bell is closed. A failing store is tried again at the next look. `has_log` tells whether the trail
/// is carried to a log.
pub fn run(app: &App, wake: &Wake, bell: &Bell, ground: &mut Ground, has_log: bool) {
    let (kept, why) = match has_log {
        true => {
            (journal::WAITING, Some("the event log has not been writable for long: its oldest entries were given up"))
        }
        false => (journal::WITHOUT_LOG, None),
    };
    let mut looks: u32 = 0;
    while bell.sleep(PAUSE) {
        if !ground.look() {
            continue;
        }
        if wake.is_failing() && app.try_commit() {
            wake.well();
        }
        if app.store().is_writable() && wake.take_doubt() {
            look_at_all(app, wake);
        }
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(PRUNE_EVERY) {
            // Nothing depends on when it is forgotten.
            let _ = app.prune();
            let _ = app.bound_journal(kept, why);
        }
    }
}

/// A commit that failed may have reached the disk all the same, and nobody was woken for what it stored.
fn look_at_all(app: &App, wake: &Wake) {
    match app.waiting_lanes() {
        Ok(lanes) => wake.taken(lanes, true),
        Err(_) => wake.doubt(),
    }
}
