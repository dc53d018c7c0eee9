//! The one concrete store; the only place that names redb.
//!
//! One file, one process that writes it, any number that read beside it. Everything goes through closures over a
//! transaction: [`Store::read`] and [`Store::write`] for whoever waits, [`Store::submit`] for whoever does not. Writes
//! that wait at the same time share one durable commit (`commit.rs`). The store decides nothing.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use redb::{ReadOnlyDatabase, ReadableDatabase, StorageBackend};

use crate::domain::ids::StoreId;
use crate::domain::ports::Ids;

mod beside;
mod check;
mod commit;
mod engine;
mod error;
mod keys;
mod migrate;
mod moves;
mod open;
mod overlay;
mod packs;
mod patient;
mod polled;
mod prune;
mod raw;
mod repair;
mod rows;
mod tables;
pub mod testing;
mod view;
mod write;

pub use check::{Inconsistency, check};
pub use commit::{Done, Job, Work};
pub use error::StoreError;
pub use keys::Span;
pub use polled::{PolledView, Waiter};
pub use raw::{Flow, Raw, ReadTx, WriteTx};
pub use repair::{Repaired, repair};
pub use tables::TableId;
pub use view::{Mark, Settled, Stamp, Telling, Undecidable, View};

use commit::Queue;
use engine::Engine;
use raw::guarded;

/// The owner's handle. Clones share one open file; the last one closes it.
#[derive(Clone)]
pub struct Store {
    owner: Arc<Owner>,
}

struct Owner {
    engine: Arc<Engine>,
    mode: Mode,
}

enum Mode {
    /// Writes are grouped by a thread of the store's own.
    Grouped { queue: Arc<Queue>, thread: Mutex<Option<JoinHandle<()>>> },
    /// Writes run on the caller's thread, one at a time.
    Inline(Mutex<()>),
}

impl Store {
    /// Opens the store at `path` for writing, makes it where there is none (directories 0700, file 0600), migrates an
    /// older one after keeping a copy.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when another process owns it for two seconds on; what cannot be used is refused and left
    /// byte for byte as it was.
    pub fn open(path: &Path, ids: &dyn Ids) -> Result<Self, StoreError> {
        Self::owned(path, open::open(path, ids, migrate::STEPS)?)
    }

    /// The same with one try: [`StoreError::Busy`] at once while another process owns the store.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn try_open(path: &Path, ids: &dyn Ids) -> Result<Self, StoreError> {
        Self::owned(path, open::open_once(path, ids, migrate::STEPS)?)
    }

    /// Whether some process owns the store at `path` right now. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the file cannot be looked at: then nobody knows.
    pub fn is_owned(path: &Path) -> Result<bool, StoreError> {
        open::is_owned(path)
    }

    /// Whether the store at `path` can be opened for writing and every page of it is whole. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while somebody has it open; otherwise what its next owner would meet.
    pub fn rehearse(path: &Path) -> Result<(), StoreError> {
        open::rehearse(path)
    }

    fn owned(path: &Path, (database, id): open::Opened) -> Result<Self, StoreError> {
        let engine = Arc::new(Engine::new(database, id, path.to_owned(), true));
        let queue = Arc::new(Queue::default());
        let thread = {
            let (queue, engine) = (Arc::clone(&queue), Arc::clone(&engine));
            std::thread::Builder::new()
                .name("store-commit".to_owned())
                .spawn(move || commit::commit_forever(&queue, &engine))
                .map_err(|error| StoreError::io(path, error))?
        };
        let mode = Mode::Grouped { queue, thread: Mutex::new(Some(thread)) };
        Ok(Self { owner: Arc::new(Owner { engine, mode }) })
    }

    /// Opens a store in a storage backend, for tests and simulation: writes run on the caller's thread, and after a
    /// storage error the handle stays lost.
    ///
    /// # Errors
    /// What the backend answers, and what [`Store::open`] refuses.
    pub fn open_inline(backend: impl StorageBackend, ids: &dyn Ids) -> Result<Self, StoreError> {
        let (database, id) = open::open_backend(backend, ids)?;
        let engine = Arc::new(Engine::new(database, id, PathBuf::from(open::IN_MEMORY), false));
        Ok(Self { owner: Arc::new(Owner { engine, mode: Mode::Inline(Mutex::new(())) }) })
    }

    /// Checks every page of the file at `path` and repairs what can be repaired; true when nothing was wrong. For
    /// `doctor --fix` only: nobody may have the store open.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it cannot be repaired.
    pub fn check_pages(path: &Path) -> Result<bool, StoreError> {
        open::check_pages(path)
    }

    /// The store's id, made with the file.
    pub fn id(&self) -> StoreId {
        self.owner.engine.id.clone()
    }

    /// Reads one snapshot.
    ///
    /// # Errors
    /// What `read` answers; [`StoreError::Io`] while the file is lost.
    pub fn read<T>(&self, read: impl FnOnce(&ReadTx<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let result = self.owner.engine.read(read);
        if let (Err(StoreError::Io { .. }), Mode::Grouped { queue, .. }) = (&result, &self.owner.mode) {
            queue.wake();
        }
        result
    }

    /// Writes, and returns only after a durable commit. `work` may run more than once; only what its last run wrote is
    /// kept. It must not wait for anything outside, and must not be called from a job or its `done`.
    ///
    /// # Errors
    /// What `work` answers, then nothing of it was written; [`StoreError::Bug`] when it panicked, likewise;
    /// [`StoreError::Io`] when the disk failed, then either all of it was written or nothing.
    pub fn write<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut WriteTx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = mpsc::channel();
        let value = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&value);
        let run = Box::new(move |tx: &mut WriteTx<'_>| {
            let made = work(tx)?;
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
            Ok(())
        });
        let done = Box::new(move |result| {
            // Nobody hangs up before the answer.
            let _ = answer.send(result);
        });
        self.owner.hand_over(Job { run, done }, true);
        answered.recv().unwrap_or(Err(StoreError::Closed))?;
        let made = value.lock().unwrap_or_else(PoisonError::into_inner).take();
        made.ok_or_else(|| StoreError::Bug("a write without an answer".to_owned()))
    }

    /// Hands over a job; its `done` is called after the commit that holds it, or at once with
    /// [`StoreError::Overloaded`] when too much waits.
    pub fn submit(&self, job: Job) {
        self.owner.hand_over(job, false);
    }

    /// How many jobs wait for a commit.
    pub fn queue_len(&self) -> usize {
        match &self.owner.mode {
            Mode::Grouped { queue, .. } => queue.len(),
            Mode::Inline(_) => 0,
        }
    }

    /// Whether the store can be written, as far as was last seen.
    pub fn is_writable(&self) -> bool {
        self.owner.engine.is_open()
    }

    /// Whether the file that is open still lies at its path. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Io`] with the path: it was removed or replaced.
    pub fn in_place(&self) -> Result<(), StoreError> {
        self.owner.engine.in_place()
    }

    /// Does what still waits, then closes the file for all clones.
    ///
    /// # Errors
    /// What closing the file says; everything that was answered is durable all the same.
    pub fn close(self) -> Result<(), StoreError> {
        self.owner.finish();
        self.owner.engine.close()
    }
}

impl Owner {
    fn hand_over(&self, job: Job, waits: bool) {
        match &self.mode {
            Mode::Grouped { queue, .. } if waits => queue.submit_waiting(job),
            Mode::Grouped { queue, .. } => queue.submit(job),
            Mode::Inline(writer) => {
                let writing = writer.lock().unwrap_or_else(PoisonError::into_inner);
                commit::run_all(&self.engine, vec![job], &|| {});
                drop(writing);
            }
        }
    }

    /// Lets the thread do what waits and end.
    fn finish(&self) {
        let Mode::Grouped { queue, thread } = &self.mode else { return };
        queue.close();
        let thread = thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The last handle can die in a `done` on that very thread, which then ends by itself.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // Every job is run under `catch_unwind`; there is no panic to pass on.
            let _ = thread.join();
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A handle for looking, beside whoever owns the store. Reads see the owner's latest commit.
pub struct Reader {
    database: ReadOnlyDatabase,
    path: PathBuf,
    id: StoreId,
}

impl Reader {
    /// Opens the store at `path` for reading. One whose owner was killed is repaired first, when nobody owns it.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when there is none; [`StoreError::Older`] when it waits for its migration; otherwise
    /// like [`Store::open`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let database = open::open_reader(path, migrate::STEPS)?;
        let id = open::label(path, &database)?.id;
        Ok(Self { database, path: path.to_owned(), id })
    }

    /// The store's id.
    pub fn id(&self) -> StoreId {
        self.id.clone()
    }

    /// Reads one snapshot. Copy out and return: a snapshot that is held keeps old pages in the file.
    ///
    /// # Errors
    /// What `read` answers, and what the file says.
    pub fn read<T>(&self, read: impl FnOnce(&ReadTx<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let begun = guarded(&self.path, || self.database.begin_read())?;
        let transaction = begun.map_err(|error| StoreError::transaction(&self.path, error))?;
        read(&ReadTx::new(&self.path, &transaction))
    }
}

#[cfg(test)]
mod tests;
