//! One lock per repository: a `flock` that git holds with us, so that what a killed daemon began is waited for, not
//! trampled on.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::domain::workspace::WorkspaceError;

/// How long a lock is waited for. Whoever needs longer gives his turn to others and comes back.
const PATIENCE: Duration = Duration::from_millis(250);
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(10);

/// A lock that is held while this lives, and while git runs that was started with it.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Locks a repository by the directory of git's own that its working trees share. Nothing is written.
    pub fn of_repository(common: &Path) -> Result<Self, WorkspaceError> {
        Self::take(File::open(common), common)
    }

    /// Locks what does not exist yet by a file beside it.
    pub fn of_file(path: &Path) -> Result<Self, WorkspaceError> {
        Self::take(OpenOptions::new().create(true).append(true).mode(0o600).open(path), path)
    }

    fn take(file: io::Result<File>, path: &Path) -> Result<Self, WorkspaceError> {
        let failed = |error: io::Error| WorkspaceError::Failed(format!("could not lock `{}`: {error}", path.display()));
        let file = file.map_err(failed)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(WorkspaceError::Busy(format!(
                        "another working directory is being made from `{}`",
                        path.display()
                    )));
                }
            }
        }
    }

    /// The locked file.
    pub const fn file(&self) -> &File {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k44_one_at_a_time_and_nobody_waits_for_long() {
        let dir = tempfile::tempdir().unwrap();
        let held = Lock::of_repository(dir.path()).unwrap();
        assert!(matches!(Lock::of_repository(dir.path()), Err(WorkspaceError::Busy(_))));
        let other = Lock::of_file(&dir.path().join("other.lock")).unwrap();
        drop(held);
        assert!(Lock::of_repository(dir.path()).is_ok());
        drop(other);
    }
}
