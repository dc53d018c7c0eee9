//! The note of a start: written before it, completed when the process has a number and when it ended.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::output;
use crate::domain::ports::{Delivered, Program};

/// One start, as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// The delivery.
    pub batch: String,
    /// The program, for people.
    pub program: String,
    /// What it prints goes here.
    pub output: PathBuf,
    /// When its time is over, seconds since the epoch.
    pub until: u64,
    /// Wait between SIGTERM and SIGKILL then, milliseconds.
    pub grace_ms: u64,
    /// The process, once it was started.
    pub process: Option<Process>,
    /// How it ended, once it was seen.
    pub ended: Option<Ended>,
}

/// A process by number and start, in clock ticks since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Process {
    pub pid: u32,
    pub started: u64,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ended {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, not ours.
    Signalled(i32),
    /// By us: its time was over.
    OverTime,
    /// By us: its session ended.
    Stopped,
}

impl Note {
    /// The note of a process that starts now.
    pub(super) fn new(batch: &str, output: &Path, program: &Program) -> Self {
        Self {
            batch: batch.to_owned(),
            program: program.argv.first().cloned().unwrap_or_default(),
            output: output.to_owned(),
            until: (since_epoch() + Duration::from_millis(program.limit_ms)).as_secs(),
            grace_ms: program.grace_ms,
            process: None,
            ended: None,
        }
    }

    /// Whether its time is over.
    pub(super) fn is_late(&self) -> bool {
        since_epoch().as_secs() > self.until
    }
}

impl Ended {
    /// What that means for the delivery. What the program printed stays in its file: it may be anything.
    pub(super) fn told(self, note: &Note) -> Delivered {
        let (program, output) = (&note.program, note.output.display());
        match self {
            Self::Exited(0) => Delivered::Finished(output::beginning(&note.output)),
            Self::Exited(status) => {
                Delivered::Failed(format!("`{program}` ended with status {status}; what it printed is in {output}"))
            }
            Self::Signalled(signal) => {
                Delivered::Failed(format!("`{program}` ended by signal {signal}; what it printed is in {output}"))
            }
            Self::OverTime => Delivered::Lost(format!(
                "`{program}` was ended: it ran longer than `routing.dispatchTimeoutSeconds`; what it printed is in {output}"
            )),
            Self::Stopped => Delivered::Failed("its session ended while it ran".into()),
        }
    }
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The folder of notes, one per conversation.
#[derive(Debug, Clone)]
pub(super) struct Notes(PathBuf);

impl Notes {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self(dir)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.0.join(format!("{key}.json"))
    }

    pub(super) fn read(&self, key: &str) -> io::Result<Option<Note>> {
        match fs::read(self.path(key)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes it whole and durably, in place of the one before.
    pub(super) fn write(&self, key: &str, note: &Note) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let mut new = tempfile::Builder::new().prefix(&format!(".{key}.")).tempfile_in(&self.0)?;
        new.write_all(&serde_json::to_vec(note)?)?;
        new.as_file().sync_data()?;
        new.persist(self.path(key)).map_err(|error| error.error)?;
        File::open(&self.0)?.sync_all()
    }

    /// Whether the note of `key` is still this delivery's.
    pub(super) fn is_of(&self, key: &str, batch: &str) -> bool {
        matches!(self.read(key), Ok(Some(note)) if note.batch == batch)
    }

    /// Forgets a start; one that is gone is no error, and one that stays is overwritten by the next.
    pub(super) fn remove(&self, key: &str) {
        let _ = fs::remove_file(self.path(key));
    }
}
