//! Keeps the store from growing with history: old identities, deliveries and settled effects go, a little at a time.

use std::time::Duration;

use super::wake::Bell;
use crate::app::App;

/// Time between two looks.
const PAUSE: Duration = Duration::from_secs(20);

/// Prunes until the bell is closed. A failing store is tried again at the next look.
pub fn run(app: &App, bell: &Bell) {
    while bell.sleep(PAUSE) {
        let _ = app.prune();
    }
}
