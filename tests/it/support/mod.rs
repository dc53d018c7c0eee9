//! What tests of the outside world share.

pub mod tmux;

use std::time::{Duration, Instant};

/// Waits until `condition` holds; panics with `what` when it does not within `limit`.
pub fn wait_for(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + limit;
    while !condition() {
        assert!(Instant::now() < end, "waited {limit:?} for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
