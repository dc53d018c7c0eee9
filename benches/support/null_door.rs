//! How fast the receiver is by itself: a door that accepts everything at once.

use the_loop::daemon::receiver::{Answer, Door, Inbound};

use crate::listener;
use crate::report::{Row, figure};

struct NullDoor;

impl Door for NullDoor {
    fn deliver(&self, _: Inbound, done: Box<dyn FnOnce(Answer) + Send>) {
        done(Answer::Accepted);
    }

    fn ready(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The receiver by itself under 64 connections.
pub fn rows(count: u64) -> anyhow::Result<Vec<Row>> {
    let report = listener::measure(NullDoor, 64, count)?;
    Ok(vec![Row::note("receiver alone, nothing checked, decided or stored", figure(&report))])
}
