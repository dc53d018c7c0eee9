//! The daemons of the earlier system on the same root. Each holds an advisory lock on its own pidfile for as long as it
//! lives, so a file that a crash left is told from a living one.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Where they keep their pidfiles, under the state root.
const PIDFILES: [&str; 3] = ["gh-webhook.pid", "poll.pid", "local/service.pid"];

/// The pidfile of one that runs on `root`.
pub fn running(root: &Path) -> Option<PathBuf> {
    PIDFILES.iter().map(|name| root.join(name)).find(|path| is_locked(path))
}

fn is_locked(path: &Path) -> bool {
    let Ok(file) = OpenOptions::new().read(true).open(path) else { return false };
    // Taken for a moment only when nobody has it; closing the file gives it back.
    flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k61_a_locked_pidfile_is_a_living_daemon_and_a_leftover_is_none() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(running(root.path()), None);
        let path = root.path().join("gh-webhook.pid");
        std::fs::write(&path, "1").unwrap();
        assert_eq!(running(root.path()), None);
        let held = std::fs::File::open(&path).unwrap();
        flock(&held, FlockOperation::LockExclusive).unwrap();
        assert_eq!(running(root.path()), Some(path));
        drop(held);
        assert_eq!(running(root.path()), None);
    }
}
