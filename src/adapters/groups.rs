//! Ending a group of processes that are no children of ours.

use std::time::{Duration, Instant};

use super::processes;
use crate::domain::ports::RunnerError;
use crate::domain::session::Liveness;

const LOOK: Duration = Duration::from_millis(20);
/// How long a killed process may take to be gone.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// SIGTERM to the group, the grace, SIGKILL to what is left of it.
pub(super) fn end(leader: u32, grace: Duration) -> Result<(), RunnerError> {
    let Some(start) = processes::start_time(leader) else { return end_unwatched(leader, grace) };
    processes::terminate_group(leader);
    if wait_until(grace, || !processes::group_exists(leader)) {
        return Ok(());
    }
    processes::kill_group(leader);
    match wait_until(AFTER_KILL, || processes::is_alive(leader, start) == Liveness::Dead) {
        true => Ok(()),
        false => Err(RunnerError::Unreachable(format!("process {leader} did not end although it was killed"))),
    }
}

/// The same where start times cannot be read, or for a leader that ended just now and left its group behind.
fn end_unwatched(leader: u32, grace: Duration) -> Result<(), RunnerError> {
    processes::terminate_group(leader);
    if !wait_until(grace, || !processes::group_exists(leader)) {
        processes::kill_group(leader);
    }
    Ok(())
}

fn wait_until(limit: Duration, done: impl Fn() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if done() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(LOOK);
    }
}
