//! Group commit: what waits is written together, and nobody's failure undoes a neighbour.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redb::{CommitError, WriteTransaction};

use super::engine::Engine;
use super::error::{StoreError, panic_text};
use super::raw::{WriteTx, guarded};

/// The work of a job. It may run more than once; only what its last run wrote is kept.
pub type Work = Box<dyn FnMut(&mut WriteTx<'_>) -> Result<(), StoreError> + Send>;
/// Called once, after the commit that holds the work, or with the reason why there was none.
pub type Done = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Something to write.
pub struct Job {
    /// What it writes.
    pub run: Work,
    /// Who is told. Called on the committing thread: it must be quick and must not write to the store itself.
    pub done: Done,
}

/// Most jobs of one commit.
const MAX_GROUP: usize = 512;
/// Most jobs that wait.
const MAX_WAITING: usize = 4096;
/// How long a group waits until half of those in flight wait. A commit costs two syncs and the pages above what it wrote,
/// so few large ones are cheap; with all of them in one, nobody would have anything to do while it is written.
const GATHERING: Duration = Duration::from_micros(1500);

/// The jobs that wait for the committing thread.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<Waiting>,
    /// Jobs of the group being written that are not answered yet.
    unanswered: AtomicUsize,
    /// Something came, or something else is to be done.
    came: Condvar,
    /// There is room again.
    room: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// Most that were in flight at once, waiting or not answered yet, since the last group was taken.
    peak: usize,
    /// How many the thread waits for right now; 0 when for none in particular.
    wanted: usize,
    closed: bool,
    woken: bool,
    /// Work that is done and answered. What it took along is let go by whoever comes with something new, since all others
    /// wait for the committing thread; by that thread when nobody comes.
    spent: Vec<Work>,
}

impl Queue {
    /// Adds a job; one that finds no room or no store is told so at once.
    pub fn submit(&self, job: Job) {
        let mut state = self.state();
        let refused = if state.closed {
            StoreError::Closed
        } else if state.jobs.len() >= MAX_WAITING {
            StoreError::Overloaded
        } else {
            state.jobs.push_back(job);
            let is_awaited = state.jobs.len() == 1 || state.jobs.len() == state.wanted;
            state.peak = state.peak.max(state.jobs.len() + self.unanswered.load(Ordering::Relaxed));
            let spent = std::mem::take(&mut state.spent);
            drop(state);
            // The thread sleeps beside an empty queue, or until a group is whole.
            if is_awaited {
                self.came.notify_one();
            }
            drop(spent);
            return;
        };
        drop(state);
        finish(job.done, Err(refused));
    }

    /// Adds a job of somebody who waits for it anyway, when there is room.
    pub fn submit_waiting(&self, job: Job) {
        let mut state = self.state();
        while state.jobs.len() >= MAX_WAITING && !state.closed {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        self.submit(job);
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.state().jobs.len()
    }

    /// Makes the thread look at the engine.
    pub fn wake(&self) {
        self.state().woken = true;
        self.came.notify_one();
    }

    /// Takes no more jobs; those that wait are still done.
    pub fn close(&self) {
        self.state().closed = true;
        self.came.notify_all();
        self.room.notify_all();
    }

    /// The next group, empty when only the engine wants to be looked at; `None` when it is closed and drained.
    fn take(&self, within: Option<Duration>) -> Option<Vec<Job>> {
        let mut state = self.state();
        if state.jobs.is_empty() && !state.spent.is_empty() {
            let spent = std::mem::take(&mut state.spent);
            drop(state);
            drop(spent);
            state = self.state();
        }
        if state.jobs.is_empty() && !state.closed && !state.woken {
            state = match within {
                Some(within) => self.came.wait_timeout(state, within).unwrap_or_else(PoisonError::into_inner).0,
                None => self.came.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        state = self.gather(state);
        state.woken = false;
        let count = state.jobs.len().min(MAX_GROUP);
        if count == 0 && state.closed {
            return None;
        }
        let group: Vec<Job> = state.jobs.drain(..count).collect();
        state.peak = 0;
        self.unanswered.store(group.len(), Ordering::Relaxed);
        drop(state);
        self.room.notify_all();
        Some(group)
    }

    /// Waits a moment until half of all that were in flight wait. One caller alone never does.
    fn gather<'q>(&'q self, mut state: MutexGuard<'q, Waiting>) -> MutexGuard<'q, Waiting> {
        let until = Instant::now() + GATHERING;
        state.wanted = state.peak.div_ceil(2).min(MAX_GROUP);
        while state.jobs.len() < state.wanted && !state.closed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.came.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.wanted = 0;
        state
    }

    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The committing thread: runs until the queue is closed and drained.
pub(super) fn commit_forever(queue: &Queue, engine: &Engine) {
    while let Some(group) = queue.take(engine.retry_in()) {
        engine.recover();
        let spent = run_all(engine, group, &|| {
            queue.unanswered.fetch_sub(1, Ordering::Relaxed);
        });
        let before = std::mem::replace(&mut queue.state().spent, spent);
        drop(before);
    }
}

/// How one try of a group ended.
enum Attempt {
    /// Durable; one answer per job.
    Committed(Vec<Result<(), StoreError>>),
    /// Undone: the job at this place failed after it had written.
    Culprit(usize, StoreError),
    /// Undone, and nobody knows by whom: the transaction would not commit.
    Poisoned(StoreError),
    /// The disk failed; the outcome is old or new.
    Failed(StoreError),
}

/// Writes `jobs` in their order and tells each how it went.
///
/// When one fails after it wrote, its transaction is undone; those before it are committed without it, it runs alone,
/// and those after it go on as a group. `answering` is called before each answer. Answers the work, which is done.
pub(super) fn run_all(engine: &Engine, jobs: Vec<Job>, answering: &dyn Fn()) -> Vec<Work> {
    let mut spent = Vec::with_capacity(jobs.len());
    let mut tell = |job: Job, result| {
        answering();
        finish(job.done, result);
        spent.push(job.run);
    };
    let mut pending = VecDeque::from(jobs);
    let mut limit = pending.len();
    while !pending.is_empty() {
        match attempt(engine, &mut pending.make_contiguous()[..limit]) {
            Attempt::Committed(results) => {
                for (job, result) in pending.drain(..limit).zip(results) {
                    tell(job, result);
                }
                limit = pending.len();
            }
            Attempt::Culprit(_, error) | Attempt::Poisoned(error) if limit == 1 => {
                if let Some(job) = pending.pop_front() {
                    tell(job, Err(error));
                }
                limit = pending.len();
            }
            Attempt::Culprit(place, _) => limit = place.max(1),
            Attempt::Poisoned(_) => limit = (limit / 2).max(1),
            Attempt::Failed(error) => {
                for job in pending.drain(..) {
                    tell(job, Err(error.again()));
                }
            }
        }
    }
    spent
}

fn attempt(engine: &Engine, jobs: &mut [Job]) -> Attempt {
    let (transaction, generation) = match engine.begin_write() {
        Ok(begun) => begun,
        Err(error) => return Attempt::Failed(error),
    };
    let attempt = attempt_in(engine, transaction, jobs);
    if let Attempt::Failed(error) = &attempt {
        engine.lose(generation, error);
    }
    attempt
}

fn attempt_in(engine: &Engine, transaction: WriteTransaction, jobs: &mut [Job]) -> Attempt {
    let mut tx = WriteTx::new(&engine.path, &transaction);
    let run = run_group(&mut tx, jobs);
    let wrote = tx.writes() > 0;
    drop(tx);
    match run {
        Ok(results) if wrote => commit(engine, transaction, results),
        Ok(results) => undo(engine, transaction).map_or_else(Attempt::Failed, |()| Attempt::Committed(results)),
        Err(Attempt::Failed(error)) => {
            // The disk that failed can fail again while undoing; the file is opened anew in any case.
            let _ = guarded(&engine.path, || transaction.abort());
            Attempt::Failed(as_io(engine, error))
        }
        Err(stopped) => undo(engine, transaction).map_or_else(Attempt::Failed, |()| stopped),
    }
}

/// Runs the jobs of a group in one transaction, up to the first that spoils it.
fn run_group(tx: &mut WriteTx<'_>, jobs: &mut [Job]) -> Result<Vec<Result<(), StoreError>>, Attempt> {
    let mut results = Vec::with_capacity(jobs.len());
    for (place, job) in jobs.iter_mut().enumerate() {
        let before = tx.writes();
        match run_one(&mut job.run, tx) {
            Err(error) if tx.storage_failed() => return Err(Attempt::Failed(error)),
            Ok(()) if tx.storage_failed() => {
                return Err(Attempt::Failed(StoreError::Bug("a failure of the disk was passed over".to_owned())));
            }
            Err(error) if tx.writes() > before => return Err(Attempt::Culprit(place, error)),
            other => results.push(other),
        }
    }
    match tx.settle() {
        Ok(()) => Ok(results),
        Err(error) if tx.storage_failed() => Err(Attempt::Failed(error)),
        Err(error) => Err(Attempt::Poisoned(error)),
    }
}

fn commit(engine: &Engine, transaction: WriteTransaction, results: Vec<Result<(), StoreError>>) -> Attempt {
    // Looked at before as well, so that what is refused is not found done when the file comes back.
    if let Err(gone) = engine.in_place() {
        let _ = guarded(&engine.path, || transaction.abort());
        return Attempt::Failed(gone);
    }
    match guarded(&engine.path, || transaction.commit()) {
        // Nothing is answered as durable that the next start would not find.
        Ok(Ok(())) => engine.in_place().map_or_else(Attempt::Failed, |()| Attempt::Committed(results)),
        Ok(Err(CommitError::TransactionPoisoned)) => {
            Attempt::Poisoned(StoreError::Bug("an operation failed part way and the failure was passed over".into()))
        }
        Ok(Err(CommitError::Storage(error))) => {
            Attempt::Failed(as_io(engine, StoreError::storage(&engine.path, error)))
        }
        Ok(Err(error)) => Attempt::Failed(as_io(engine, StoreError::Bug(error.to_string()))),
        Err(panicked) => Attempt::Failed(as_io(engine, panicked)),
    }
}

fn undo(engine: &Engine, transaction: WriteTransaction) -> Result<(), StoreError> {
    let undone = guarded(&engine.path, || transaction.abort())
        .and_then(|undone| undone.map_err(|error| StoreError::storage(&engine.path, error)));
    undone.map_err(|error| as_io(engine, error))
}

/// After a failed commit or undo the database takes no writes until it is opened again, whatever the reason was.
fn as_io(engine: &Engine, error: StoreError) -> StoreError {
    match error {
        StoreError::Io { .. } => error,
        other => StoreError::io(&engine.path, std::io::Error::other(other.to_string())),
    }
}

fn run_one(run: &mut Work, tx: &mut WriteTx<'_>) -> Result<(), StoreError> {
    catch_unwind(AssertUnwindSafe(|| run(tx))).unwrap_or_else(|panic| Err(StoreError::Bug(panic_text(&*panic))))
}

/// A listener that panics has lost its answer; the thread has others to tell.
fn finish(done: Done, result: Result<(), StoreError>) {
    let _ = catch_unwind(AssertUnwindSafe(|| done(result)));
}
