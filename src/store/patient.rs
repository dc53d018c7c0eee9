//! The file with locks that are waited for, but not for ever.
//!
//! redb's own backend waits in the kernel until it has a lock. Between processes these are held for moments (a header
//! that is read or written), but a process that is suspended in such a moment holds its lock until it goes on, and
//! everybody else would wait with it (fault K73).

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::time::{Duration, Instant};

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

/// How long a lock is waited for. A header is written and synced under one, which a slow disk makes long.
const PATIENCE: Duration = Duration::from_secs(5);
/// Tries before a waiting process sleeps between them.
const EAGER: u32 = 64;
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(1);

/// A file whose locks are waited for [`PATIENCE`] at most.
#[derive(Debug)]
pub(super) struct PatientBackend(FileBackend);

impl PatientBackend {
    /// Opens the file at `path`, for writing too when `write` says so. It must exist.
    pub fn open(path: &Path, write: bool) -> Result<Self, DatabaseError> {
        let file: File = OpenOptions::new().read(true).write(write).open(path)?;
        FileBackend::new(file).map(Self)
    }
}

/// Tries until it has the lock.
fn patiently(mut attempt: impl FnMut() -> Result<bool, BackendError>) -> Result<(), BackendError> {
    let begun = Instant::now();
    for tries in 0.. {
        if attempt()? {
            return Ok(());
        }
        if tries < EAGER {
            std::thread::yield_now();
        } else if begun.elapsed() < PATIENCE {
            std::thread::sleep(PAUSE);
        } else {
            break;
        }
    }
    Err(BackendError::Io(io::Error::new(io::ErrorKind::TimedOut, "another process holds a lock on the store")))
}

impl StorageBackend for PatientBackend {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        patiently(|| self.0.try_lock_range(start, end))
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        patiently(|| self.0.try_lock_shared_range(start, end))
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::CountingIds;
    use crate::store::{Reader, Store, StoreError};

    /// redb's header, what a commit holds for a moment.
    const HEADER: (Bound<u64>, Bound<u64>) = (Bound::Included(0), Bound::Included(319));

    #[test]
    fn k73_a_lock_that_a_suspended_process_holds_is_not_waited_for_without_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.redb");
        let store = Store::open(&path, &CountingIds::default()).unwrap();
        store.write(|tx| tx.put_meta("a", "b")).unwrap();
        let reader = Reader::open(&path).unwrap();
        let suspended = PatientBackend::open(&path, true).unwrap();
        assert!(suspended.try_lock_range(HEADER.0, HEADER.1).unwrap());
        let begun = Instant::now();
        assert!(matches!(Reader::open(&path), Err(StoreError::Busy)));
        assert!(matches!(reader.read(|_| Ok(())), Err(StoreError::Busy)));
        assert!(store.write(|tx| tx.put_meta("a", "c")).is_err(), "the commit ends too, and is told as failed");
        assert!(begun.elapsed() < PATIENCE * 6, "{:?}", begun.elapsed());
        suspended.unlock_range(HEADER.0, HEADER.1).unwrap();
        let deadline = Instant::now() + PATIENCE * 2;
        while store.write(|tx| tx.put_meta("a", "d")).is_err() {
            assert!(Instant::now() < deadline, "service does not resume");
            std::thread::yield_now();
        }
        assert!(Reader::open(&path).unwrap().read(|_| Ok(())).is_ok());
    }
}
