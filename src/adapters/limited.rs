//! A program in a process group of its own, waited for until it ends, meets a limit, or nobody wants it any more. What it
//! started and left running goes with it: it would go on in a folder that is judged or gone.

use std::fs::File;
use std::io;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::processes;
use crate::domain::ports::Limits;

/// How often it is looked whether it has printed too much.
const LOOK: Duration = Duration::from_millis(50);

/// Why it is not waited for any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// It ended.
    ByItself,
    /// It did not end in time.
    Late,
    /// It printed too much, whether it ended by itself or not.
    TooMuch,
    /// We were told to end.
    Unwanted,
}

/// Waits for `child`, which leads a process group and prints into `output`, and ends the group.
pub(super) fn run_out(
    child: &mut Child,
    output: &File,
    limits: Limits,
    is_over: &AtomicBool,
) -> io::Result<(ExitStatus, Stopped)> {
    let stopped = wait(child, output, limits, is_over);
    processes::kill_group(child.id());
    let status = child.wait()?;
    match stopped? {
        // It may have printed all of it since it was last looked at.
        Stopped::ByItself if output.metadata()?.len() > limits.output => Ok((status, Stopped::TooMuch)),
        stopped => Ok((status, stopped)),
    }
}

/// Waits without asking how it ended, so that its id stays its own until its group was ended.
fn wait(child: &Child, output: &File, limits: Limits, is_over: &AtomicBool) -> io::Result<Stopped> {
    let begun = Instant::now();
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
    let (ended, end) = mpsc::channel();
    std::thread::Builder::new().name("waits".into()).spawn(move || {
        let waited = loop {
            match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Err(rustix::io::Errno::INTR) => {}
                waited => break waited.map(drop),
            }
        };
        // Nobody listens any more when a limit was met.
        let _ = ended.send(waited);
    })?;
    loop {
        match end.recv_timeout(LOOK) {
            Ok(waited) => return waited.map(|()| Stopped::ByItself).map_err(Into::into),
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("nobody waits for the program")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if is_over.load(Ordering::Relaxed) {
            return Ok(Stopped::Unwanted);
        }
        if output.metadata()?.len() > limits.output {
            return Ok(Stopped::TooMuch);
        }
        if begun.elapsed() > limits.time {
            return Ok(Stopped::Late);
        }
    }
}
