//! `local/owner.json` and the pidfile: who owns the store. For people and for messages; the lock is the store's own.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::processes;
use crate::domain::session::Liveness;

/// The process that owns the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// Its process id.
    pub pid: u32,
    /// When that process started, in clock ticks since boot: a recycled pid has another.
    pub started: u64,
    /// `daemon` or `command`.
    pub kind: String,
    /// Version of the program.
    pub version: String,
    /// Where its receiver listens, once it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<String>,
    /// Its control socket, when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
}

/// An owner file that could not be written, and why.
#[derive(Debug, thiserror::Error)]
#[error("could not write {}: {source}", path.display())]
pub struct OwnerFileError {
    path: PathBuf,
    source: std::io::Error,
}

impl Owner {
    /// This process.
    pub fn this(kind: &str) -> Self {
        let pid = std::process::id();
        Self {
            pid,
            started: processes::start_time(pid).unwrap_or(0),
            kind: kind.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            receiver: None,
            socket: None,
        }
    }

    /// Whether that very process still runs.
    pub fn liveness(&self) -> Liveness {
        processes::is_alive(self.pid, self.started)
    }

    /// Whether it certainly still runs.
    pub fn is_alive(&self) -> bool {
        self.liveness() == Liveness::Live
    }

    /// Whether it was stopped by a signal, and answers nobody until it goes on.
    pub fn is_stopped(&self) -> bool {
        self.liveness() == Liveness::Live && processes::is_stopped(self.pid)
    }

    /// Asks that very process to end; false when it is gone.
    pub fn terminate(&self) -> bool {
        self.liveness() == Liveness::Live && processes::terminate(self.pid)
    }
}

/// Who owned the store last; `None` when nobody says so in a form we read.
pub fn read(path: &Path) -> Option<Owner> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The living process that says it owns the store.
pub fn living(path: &Path) -> Option<Owner> {
    read(path).filter(|owner| owner.liveness() == Liveness::Live)
}

/// Says who owns the store.
pub fn write(path: &Path, owner: &Owner) -> Result<(), OwnerFileError> {
    let text = serde_json::to_string(owner).map_err(std::io::Error::other);
    text.and_then(|text| overwrite(path, &text)).map_err(|source| OwnerFileError { path: path.into(), source })
}

/// What a pidfile says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PidFile {
    /// There is none, or it is empty: no daemon says that it runs.
    Empty,
    /// It names a process, which runs.
    Living(u32),
    /// It names a process that is gone, or nothing that could be one.
    Stale,
}

/// Reads a pidfile. Only `doctor` does; the lock is the store's.
pub fn read_pid(path: &Path) -> PidFile {
    let Ok(text) = fs::read_to_string(path) else { return PidFile::Empty };
    if text.is_empty() {
        return PidFile::Empty;
    }
    let mut lines = text.lines();
    let pid = lines.next().and_then(|line| line.parse::<u32>().ok());
    let started = lines.find_map(|line| line.strip_prefix("started ")?.parse::<u64>().ok());
    match pid.zip(started) {
        Some((pid, started)) if processes::is_alive(pid, started) != Liveness::Dead => PidFile::Living(pid),
        _ => PidFile::Stale,
    }
}

/// Writes the pidfile: process id, version and start time, a line each.
pub fn write_pid(path: &Path, owner: &Owner) -> Result<(), OwnerFileError> {
    let Owner { pid, version, started, .. } = owner;
    replace(path, &format!("{pid}\nversion {version}\nstarted {started}\n"))
        .map_err(|source| OwnerFileError { path: path.into(), source })
}

/// Empties a file that says who owns the store; it is never unlinked, so nobody else's is.
pub fn empty(path: &Path) {
    // At the end nobody is left to hear that it could not be emptied, and nothing depends on it.
    let _ = fs::OpenOptions::new().write(true).truncate(true).open(path);
}

/// Length of a file that is overwritten in one piece; longer texts are as long as they are.
const PADDED: usize = 1023;

/// Overwrites in one write, blanks after the text: whoever reads meanwhile never finds it empty.
fn overwrite(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.create(true).truncate(false).write(true).mode(0o600).open(path)?;
    let line = format!("{text:<PADDED$}\n");
    file.write_all(line.as_bytes())?;
    file.set_len(line.len() as u64)
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.create(true).truncate(true).write(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_is_this_process_and_a_recycled_pid_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("owner.json");
        let owner = Owner::this("daemon");
        write(&path, &owner).unwrap();
        assert_eq!(read(&path), Some(owner.clone()));
        assert_eq!(owner.liveness(), Liveness::Live);
        let recycled = Owner { started: owner.started + 1, ..owner };
        assert_eq!(recycled.liveness(), Liveness::Dead);
        empty(&path);
        assert_eq!(read(&path), None);
        assert!(path.exists());
    }

    #[test]
    fn l01_l03_a_pidfile_names_a_living_process_or_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("the-loop.pid");
        assert_eq!(read_pid(&path), PidFile::Empty);
        let owner = Owner::this("daemon");
        write_pid(&path, &owner).unwrap();
        assert_eq!(read_pid(&path), PidFile::Living(owner.pid));
        write_pid(&path, &Owner { started: owner.started + 1, ..owner }).unwrap();
        assert_eq!(read_pid(&path), PidFile::Stale);
        for text in ["0", "-1", "+5", "1\n2", "\0\0\0", "99999999999", " 12 ", "1"] {
            fs::write(&path, text).unwrap();
            assert_eq!(read_pid(&path), PidFile::Stale, "{text:?}");
        }
        empty(&path);
        assert_eq!(read_pid(&path), PidFile::Empty);
    }

    #[test]
    fn l03_a_file_that_names_no_process_names_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("owner.json");
        for text in ["", "0", "-1", "+5", "1\n2", "\0\0\0", "{\"pid\":-1}", "{}"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(read(&path), None, "{text:?}");
        }
    }
}
