//! Keeps the store from growing with history, and looks again at everything after the store had failed.

use std::time::Duration;

use super::wake::{Bell, Wake};
use crate::app::App;

/// Time between two looks.
const PAUSE: Duration = Duration::from_secs(5);
/// Looks between two prunings.
const PRUNE_EVERY: u32 = 4;

/// Works until the bell is closed. A failing store is tried again at the next look.
pub fn run(app: &App, wake: &Wake, bell: &Bell) {
    let mut looks: u32 = 0;
    while bell.sleep(PAUSE) {
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
