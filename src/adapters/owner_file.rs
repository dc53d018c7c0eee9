//! `local/owner.json` and the pidfile: who owns the store. For people and for messages; the lock is the store's own.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
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
    /// Device and inode of the store's file: a copy of the folder has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<[u64; 2]>,
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
            store: None,
        }
    }

    /// The same as the owner of the store in the file `store`.
    #[must_use]
    pub fn of(self, store: &Path) -> Self {
        Self { store: identity(store), ..self }
    }

    /// Whether it does not own the store in the file `store` but one that this was copied from.
    fn owns_another(&self, store: &Path) -> bool {
        self.store.is_some_and(|own| identity(store).is_some_and(|found| found != own))
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
    // A pipe of that name would keep its reader waiting.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The living process that says at `path` that it owns the store in the file `store`.
pub fn living(path: &Path, store: &Path) -> Option<Owner> {
    read(path).filter(|owner| owner.liveness() == Liveness::Live && !owner.owns_another(store))
}

fn identity(file: &Path) -> Option<[u64; 2]> {
    fs::metadata(file).ok().map(|found| [found.dev(), found.ino()])
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

/// Empties a file in which this process says that it owns the store, at its end. It is never unlinked, and one that
/// names somebody else is his: where the folder was replaced under its owner, that is the owner of the new one.
pub fn empty(path: &Path) {
    let names_us = |text: &[u8]| first_number(text) == Some(std::process::id());
    if fs::read(path).is_ok_and(|text| names_us(&text)) {
        clear(path);
    }
}

/// Empties such a file whoever it names: one that was left behind.
pub fn clear(path: &Path) {
    // Nobody is left to hear that it could not be emptied, and nothing depends on it.
    let _ = fs::OpenOptions::new().write(true).truncate(true).open(path);
}

/// The pid in either of the two files: it is the first number of both.
fn first_number(text: &[u8]) -> Option<u32> {
    let digits = text.iter().skip_while(|byte| !byte.is_ascii_digit()).take_while(|byte| byte.is_ascii_digit());
    String::from_utf8(digits.copied().collect()).ok()?.parse().ok()
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
        clear(&path);
        assert_eq!(read_pid(&path), PidFile::Empty);
    }

    #[test]
    fn k61_a_file_that_names_somebody_else_is_not_emptied() {
        let dir = tempfile::tempdir().unwrap();
        let (path, pid_file) = (dir.path().join("owner.json"), dir.path().join("the-loop.pid"));
        let this = Owner::this("daemon");
        for (owner, left) in [(Owner { pid: this.pid + 1, ..this.clone() }, true), (this, false)] {
            write(&path, &owner).unwrap();
            write_pid(&pid_file, &owner).unwrap();
            for file in [&path, &pid_file] {
                empty(file);
                assert_eq!(fs::metadata(file).unwrap().len() > 0, left, "{file:?} of {owner:?}");
            }
        }
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
