//! The folder itself: opened once, known by its identity, locked for writing.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, Stat, flock, openat, statat};
use rustix::io::Errno;

use crate::domain::portable::FolderId;
use crate::domain::portable::files::FileError;

/// How long to wait before the lock is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// An open portable folder. Moving or replacing the folder does not change which one this is.
#[derive(Debug)]
pub struct PortableFolder {
    path: PathBuf,
    pub(super) dir: File,
    id: FolderId,
}

/// The one writer of a folder, as long as this lives; the system frees it when the process dies.
#[derive(Debug)]
pub(super) struct FolderLock {
    _held: File,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl PortableFolder {
    /// Opens the folder at `path`; `None` when there is none, which is no fact about any item.
    ///
    /// # Errors
    /// It is a symbolic link or no folder, or cannot be opened.
    pub fn open(path: &Path) -> Result<Option<Self>, FileError> {
        let fail = |source| FileError { path: path.to_owned(), doing: "open the portable folder", source };
        let dir = match openat(CWD, path, FOLDER, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(fail(io::Error::other("a symbolic link or no folder; links are never followed")));
            }
            Err(error) => return Err(fail(error.into())),
        };
        let found = dir.metadata().map_err(fail)?;
        let id = FolderId { device: found.dev(), inode: found.ino() };
        Ok(Some(Self { path: path.to_owned(), dir, id }))
    }

    /// Opens the folder, making it (mode 0700) when there is none.
    ///
    /// # Errors
    /// As [`PortableFolder::open`], and when it cannot be made.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        if let Some(folder) = Self::open(path)? {
            return Ok(folder);
        }
        let fail = |source| FileError { path: path.to_owned(), doing: "make the portable folder", source };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(fail)?;
        Self::open(path)?.ok_or_else(|| fail(io::Error::from(io::ErrorKind::NotFound)))
    }

    /// Which folder this is; stamps are kept per identity.
    pub const fn id(&self) -> FolderId {
        self.id
    }

    /// The path it was opened at, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the folder's lock, waiting at most `limit`.
    pub(super) fn lock(&self, limit: Duration) -> Result<FolderLock, FileError> {
        let fail = |source| FileError { path: self.path.clone(), doing: "lock the portable folder", source };
        // A descriptor of its own: the lock belongs to it and goes with it.
        let held = openat(&self.dir, ".", FOLDER, Mode::empty()).map_err(|error| fail(error.into()))?;
        let deadline = Instant::now() + limit;
        loop {
            match flock(&held, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(FolderLock { _held: File::from(held) }),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => std::thread::sleep(LOCK_PAUSE),
                Err(error) => return Err(fail(error.into())),
            }
        }
    }

    /// Opens a file of the folder without following a link.
    pub(super) fn open_file(&self, name: &str, flags: OFlags, mode: u32) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.dir, OsStr::new(name), flags, Mode::from_raw_mode(mode))
    }

    /// What stands under a name, the link itself when it is one; `None` when nothing does.
    pub(super) fn stat(&self, name: &str) -> Result<Option<Stat>, FileError> {
        match statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.fail(name, "look at it", error)),
        }
    }

    /// When the folder itself last changed, nanoseconds since the epoch.
    pub(super) fn changed_ns(&self) -> Result<i64, FileError> {
        self.dir.metadata().map(|found| nanos(found.mtime(), found.mtime_nsec())).map_err(|source| FileError {
            path: self.path.clone(),
            doing: "look at it",
            source,
        })
    }

    /// Makes what was done in the folder last over a power loss.
    pub(super) fn sync(&self) -> Result<(), FileError> {
        let path = self.path.clone();
        self.dir.sync_all().map_err(|source| FileError { path, doing: "fsync the folder", source })
    }

    pub(super) fn fail(&self, name: &str, doing: &'static str, source: impl Into<io::Error>) -> FileError {
        FileError { path: self.path.join(name), doing, source: source.into() }
    }
}

/// Seconds and nanoseconds as one number.
pub(super) const fn nanos(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}
