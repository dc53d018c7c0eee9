//! Watching one process: until it ends, its time is over or its session ends; then the note says how.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::note::{Ended, Note, Notes};
use super::{Running, Watched, output};
use crate::adapters::processes;
use crate::domain::ports::RunnerError;

const LOOK: Duration = Duration::from_millis(50);
/// How long a killed process may take to be gone.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// The raw status of a process that SIGKILL ended.
const KILLED: i32 = 9;

/// A started process with everything its end is noted in.
pub(super) struct Watch {
    pub child: Child,
    pub note: Note,
    pub key: String,
    pub stop: Arc<AtomicBool>,
    pub limit: Duration,
    pub notes: Notes,
    pub running: Running,
}

impl Watch {
    /// Watches on a thread of its own.
    pub(super) fn begin(self) -> std::io::Result<()> {
        std::thread::Builder::new().name("process".into()).spawn(move || self.watch()).map(drop)
    }

    fn watch(mut self) {
        let ended = self.wait();
        self.note.ended = Some(ended);
        // A session that ended took its note along.
        if self.notes.is_of(&self.key, &self.note.batch) {
            // Without it the start stands as one whose end nobody saw, which is the safe side.
            let _ = self.notes.write(&self.key, &self.note);
        }
        self.running.lock().remove(&self.key);
    }

    fn wait(&mut self) -> Ended {
        let end = Instant::now() + self.limit;
        loop {
            if let Some(status) = self.status() {
                return seen(status);
            }
            let why = match (self.stop.load(Ordering::SeqCst), Instant::now() >= end) {
                (true, _) => Ended::Stopped,
                (false, true) => Ended::OverTime,
                (false, false) => {
                    output::bound(&self.note.output);
                    std::thread::sleep(LOOK);
                    continue;
                }
            };
            self.end_group();
            return why;
        }
    }

    /// Its status, when it ended. One that cannot be asked for is gone.
    fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap_or(Some(ExitStatus::from_raw(KILLED)))
    }

    /// SIGTERM to the group, the grace, SIGKILL to what is left of it.
    fn end_group(&mut self) {
        let leader = self.child.id();
        processes::terminate_group(leader);
        if !self.gone_within(Duration::from_millis(self.note.grace_ms)) {
            processes::kill_group(leader);
            self.gone_within(AFTER_KILL);
        }
    }

    fn gone_within(&mut self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        loop {
            // Asked for its status, so that the leader does not stay in its group as a zombie.
            let over = self.status().is_some() && !processes::group_exists(self.child.id());
            if over || Instant::now() >= end {
                return over;
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// How a process ended that nobody here told to.
fn seen(status: ExitStatus) -> Ended {
    match status.code() {
        Some(code) => Ended::Exited(code),
        None => Ended::Signalled(status.signal().unwrap_or_default()),
    }
}

/// Tells the thread that watches a process to end it, and waits until it did.
pub(super) fn stop(running: &Running, key: &str, watched: &Watched, grace: Duration) -> Result<(), RunnerError> {
    watched.stop.store(true, Ordering::SeqCst);
    let end = Instant::now() + grace + 2 * AFTER_KILL;
    while running.get(key).is_some_and(|now| now.batch == watched.batch) {
        if Instant::now() >= end {
            return Err(RunnerError::Unreachable("a process did not end although it was killed".into()));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}
