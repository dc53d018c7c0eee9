//! The open database of an owner, and getting it back after the disk failed.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redb::{Database, ReadTransaction, ReadableDatabase, WriteTransaction};

use super::error::StoreError;
use super::migrate::STEPS;
use super::open;
use super::raw::{ReadTx, guarded};
use crate::domain::ids::StoreId;

/// First and longest wait between two tries to open the file again.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// One database, which can be lost and opened again.
pub(super) struct Engine {
    pub path: PathBuf,
    pub id: StoreId,
    /// Whether the file can be opened again by its path.
    reopens: bool,
    slot: Mutex<Slot>,
}

struct Slot {
    state: State,
    /// The file that was opened: device and inode. `None` where there is no file.
    file: Option<(u64, u64)>,
    /// Counts the databases, so that a late error of an old one does not close the new one.
    generation: u64,
}

enum State {
    Open(Database),
    Lost { error: StoreError, retry_at: Instant, wait: Duration },
    Closed,
}

impl Engine {
    pub fn new(database: Database, id: StoreId, path: PathBuf, reopens: bool) -> Self {
        let file = reopens.then(|| identity(&path)).flatten();
        Self { path, id, reopens, slot: Mutex::new(Slot { state: State::Open(database), file, generation: 0 }) }
    }

    /// Whether what is written still lies at the store's path. `git clean -x` takes an ignored file away beneath its
    /// writer, whose commits then succeed into a file that nobody finds again.
    pub fn in_place(&self) -> Result<(), StoreError> {
        let file = self.slot().file;
        if file.is_none() || identity(&self.path) == file {
            return Ok(());
        }
        let gone = std::io::Error::other("the store's file was removed or replaced while it was in use");
        Err(StoreError::io(&self.path, gone))
    }

    /// Whether it can be written, as far as was last seen.
    pub fn is_open(&self) -> bool {
        matches!(self.slot().state, State::Open(_))
    }

    /// Reads one snapshot. The database itself is held only while the snapshot is taken.
    pub fn read<T>(&self, read: impl FnOnce(&ReadTx<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let (transaction, generation) = self.begin_read()?;
        let result = read(&ReadTx::new(&self.path, &transaction));
        if let Err(error @ StoreError::Io { .. }) = &result {
            self.lose(generation, error);
        }
        result
    }

    fn begin_read(&self) -> Result<(ReadTransaction, u64), StoreError> {
        self.begin(|database| {
            guarded(&self.path, || database.begin_read())?.map_err(|e| StoreError::transaction(&self.path, e))
        })
    }

    /// Begins a write transaction; the caller sees to it that there is one at a time.
    pub fn begin_write(&self) -> Result<(WriteTransaction, u64), StoreError> {
        let mut begun = self.begin(|database| {
            guarded(&self.path, || database.begin_write())?.map_err(|e| StoreError::transaction(&self.path, e))
        })?;
        // A shared file always commits in two phases; storage of a test does as the file does.
        begun.0.set_two_phase_commit(true);
        Ok(begun)
    }

    fn begin<T>(&self, begin: impl FnOnce(&Database) -> Result<T, StoreError>) -> Result<(T, u64), StoreError> {
        let slot = self.slot();
        let generation = slot.generation;
        let begun = match &slot.state {
            State::Open(database) => begin(database),
            State::Lost { error, .. } => return Err(error.again()),
            State::Closed => return Err(StoreError::Closed),
        };
        drop(slot);
        if let Err(error @ StoreError::Io { .. }) = &begun {
            self.lose(generation, error);
        }
        Ok((begun?, generation))
    }

    /// Drops the database of `generation` after `error`; it is opened again by [`Engine::recover`].
    pub fn lose(&self, generation: u64, error: &StoreError) {
        let mut slot = self.slot();
        if slot.generation != generation || !matches!(slot.state, State::Open(_)) {
            return;
        }
        let lost = State::Lost { error: error.again(), retry_at: Instant::now(), wait: BACKOFF.0 };
        let old = std::mem::replace(&mut slot.state, lost);
        drop(slot);
        self.release(old);
    }

    /// How long until the next try to open the file again; `None` while nothing is to be tried.
    pub fn retry_in(&self) -> Option<Duration> {
        match &self.slot().state {
            State::Lost { retry_at, .. } if self.reopens => Some(retry_at.saturating_duration_since(Instant::now())),
            _ => None,
        }
    }

    /// Opens a lost file again when it is time to. Each failure doubles the wait, up to a second.
    pub fn recover(&self) {
        if self.retry_in() != Some(Duration::ZERO) {
            return;
        }
        let reopened = self.refuse_foreign().and_then(|()| {
            let (database, id) = open::open_existing(&self.path, STEPS, false)?;
            if id == self.id { Ok(database) } else { Err(self.foreign()) }
        });
        let mut slot = self.slot();
        let State::Lost { error, retry_at, wait } = &mut slot.state else { return };
        match reopened {
            Ok(database) => {
                slot.file = identity(&self.path);
                slot.state = State::Open(database);
                slot.generation += 1;
            }
            Err(why) => {
                *error = StoreError::io(&self.path, std::io::Error::other(why.to_string()));
                *retry_at = Instant::now() + *wait;
                *wait = (*wait * 2).min(BACKOFF.1);
            }
        }
    }

    /// Another store in the file's place is not opened for writing: its owner would be kept from it meanwhile.
    fn refuse_foreign(&self) -> Result<(), StoreError> {
        let file = self.slot().file;
        if identity(&self.path) == file {
            return Ok(());
        }
        match open::id_at(&self.path)? {
            Some(id) if id != self.id => Err(self.foreign()),
            Some(_) | None => Ok(()),
        }
    }

    fn foreign(&self) -> StoreError {
        StoreError::Foreign(self.path.display().to_string())
    }

    /// Closes for good.
    pub fn close(&self) -> Result<(), StoreError> {
        let old = std::mem::replace(&mut self.slot().state, State::Closed);
        match old {
            State::Open(database) => open::catching(&self.path, || database.close()),
            _ => Ok(()),
        }
    }

    /// Dropping a database can meet the same failing disk again, or panic on it.
    fn release(&self, old: State) {
        let _ = guarded(&self.path, || drop(old));
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Device and inode of the file at `path`.
fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}
