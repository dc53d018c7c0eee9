//! The pools that perform: quick work and slow work apart, so that clones and spawns never hold up a delivery.
//!
//! A lane is advanced by one worker at a time. Workers sleep until a lane has news or its retry is due; idle lanes cost
//! nothing.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::app::App;
use crate::app::perform::Progress;
use crate::domain::reference::RefKey;
use crate::domain::time::Time;
use crate::store::StoreError;

/// Pieces of work a lane may do before others get a turn.
const ROUNDS: usize = 16;
/// Pause of a lane after the store refused it.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// Which work a worker takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pool {
    Quick,
    Slow,
}

/// Lanes to look at, each at most once.
#[derive(Default)]
struct Queue {
    order: VecDeque<(Instant, RefKey)>,
    members: HashSet<RefKey>,
}

#[derive(Default)]
struct Lanes {
    quick: Queue,
    slow: Queue,
    running: HashMap<RefKey, Instant>,
    /// Got news while it was being advanced.
    news: HashSet<RefKey>,
    due: BTreeSet<(Instant, RefKey)>,
    stopping: bool,
}

struct Shared {
    lanes: Mutex<Lanes>,
    /// Idle workers of the quick pool wait here; one of them keeps an eye on what is due.
    quick: Condvar,
    /// Idle workers of the slow pool wait here.
    slow: Condvar,
    app: App,
}

/// The running pools.
pub struct Dispatcher {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

/// Tells the pools that lanes have news; cheap to clone.
#[derive(Clone)]
pub struct Notifier(Arc<Shared>);

impl Dispatcher {
    /// Starts `quick` and `slow` workers.
    pub fn start(app: App, quick: usize, slow: usize) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { lanes: Mutex::default(), quick: Condvar::new(), slow: Condvar::new(), app });
        let pools = std::iter::repeat_n(Pool::Quick, quick).chain(std::iter::repeat_n(Pool::Slow, slow));
        let workers = pools
            .map(|pool| {
                let shared = Arc::clone(&shared);
                let name = if pool == Pool::Quick { "quick" } else { "slow" };
                std::thread::Builder::new().name(name.into()).spawn(move || shared.work(pool))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { shared, workers })
    }

    /// A handle for whoever stores effects.
    pub fn notifier(&self) -> Notifier {
        Notifier(Arc::clone(&self.shared))
    }

    /// Takes no new work, waits until what is being done is settled or `limit` is over; true when all ended. What did
    /// not end stays claimed and is recovered at the next start.
    pub fn stop(self, limit: Duration) -> bool {
        self.shared.lock().stopping = true;
        self.shared.quick.notify_all();
        self.shared.slow.notify_all();
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline && self.workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let ended = self.workers.iter().all(JoinHandle::is_finished);
        if ended {
            self.workers.into_iter().for_each(|worker| drop(worker.join()));
        }
        ended
    }
}

impl Notifier {
    /// These lanes have something to look at.
    pub fn notify(&self, lanes: impl IntoIterator<Item = RefKey>) {
        let mut state = self.0.lock();
        let queued = lanes.into_iter().filter_map(|lane| state.enqueue(lane, Pool::Quick)).count();
        drop(state);
        // A worker per lane, and none for what is being looked at anyway: waking all of them costs more than the look.
        (0..queued).for_each(|_| self.0.quick.notify_one());
    }
}

impl Notifier {
    /// How long the longest look at a lane has gone on, and how long a lane has waited for a worker.
    pub fn longest(&self) -> (Duration, Duration) {
        let lanes = self.0.lock();
        let running = lanes.running.values().min().map(Instant::elapsed).unwrap_or_default();
        let first =
            [&lanes.quick, &lanes.slow].into_iter().filter_map(|queue| queue.order.front()).map(|(at, _)| at).min();
        (running, first.map(Instant::elapsed).unwrap_or_default())
    }
}

impl Queue {
    /// Adds a lane; false when it waits already.
    fn push(&mut self, lane: RefKey) -> bool {
        let is_new = self.members.insert(lane.clone());
        if is_new {
            self.order.push_back((Instant::now(), lane));
        }
        is_new
    }

    fn pop(&mut self) -> Option<RefKey> {
        let (_, lane) = self.order.pop_front()?;
        self.members.remove(&lane);
        Some(lane)
    }
}

impl Lanes {
    /// Adds a lane to a pool's queue, and says which pool has something new. News always goes to the quick pool first:
    /// an end must not wait behind the clones of others.
    fn enqueue(&mut self, lane: RefKey, pool: Pool) -> Option<Pool> {
        let is_new = match pool {
            _ if self.running.contains_key(&lane) => {
                self.news.insert(lane);
                false
            }
            Pool::Quick => self.quick.push(lane),
            Pool::Slow => self.slow.push(lane),
        };
        is_new.then_some(pool)
    }

    /// What follows from a look at a lane; the pool that has something new by it.
    fn put_back(&mut self, lane: RefKey, progress: Result<Progress, StoreError>, now: Time) -> Option<Pool> {
        self.running.remove(&lane);
        let news = self.news.remove(&lane);
        let wait = match progress {
            Ok(Progress::NeedsSlow) => return self.enqueue(lane, Pool::Slow),
            Ok(Progress::More) => return self.enqueue(lane, Pool::Quick),
            Ok(Progress::Idle | Progress::Waiting(_)) if news => return self.enqueue(lane, Pool::Quick),
            Ok(Progress::Idle | Progress::Waiting(None)) => return None,
            Ok(Progress::Waiting(Some(until))) => {
                let millis = (until.as_millis() - now.as_millis()).clamp(1, 3_600_000);
                Duration::from_millis(millis.unsigned_abs())
            }
            Err(_) => STORE_PAUSE,
        };
        self.due.insert((Instant::now() + wait, lane));
        Some(Pool::Quick)
    }

    /// Moves what is due into the queue; the time of the next one.
    fn wake_due(&mut self, now: Instant) -> Option<Duration> {
        while let Some((at, lane)) = self.due.pop_first() {
            if at > now {
                let wait = at - now;
                self.due.insert((at, lane));
                return Some(wait);
            }
            self.enqueue(lane, Pool::Quick);
        }
        None
    }

    fn take(&mut self, pool: Pool) -> Option<RefKey> {
        loop {
            let lane = match pool {
                Pool::Quick => self.quick.pop(),
                Pool::Slow => self.slow.pop(),
            }?;
            if self.running.contains_key(&lane) {
                // The other pool has it right now and looks again afterwards.
                self.news.insert(lane);
                continue;
            }
            self.running.insert(lane.clone(), Instant::now());
            return Some(lane);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the idle workers of a pool wait.
    const fn waiting(&self, pool: Pool) -> &Condvar {
        match pool {
            Pool::Quick => &self.quick,
            Pool::Slow => &self.slow,
        }
    }

    fn work(&self, pool: Pool) {
        while let Some(lane) = self.next(pool) {
            let progress = self.app.advance(&lane, pool == Pool::Slow, ROUNDS);
            let now = self.app.now();
            match self.lock().put_back(lane, progress, now) {
                // This worker looks next, and wakes another when it goes away with more waiting.
                Some(other) if other != pool => self.waiting(other).notify_one(),
                _ => {}
            }
        }
    }

    /// The next lane of the pool; `None` when the pools stop.
    fn next(&self, pool: Pool) -> Option<RefKey> {
        let mut lanes = self.lock();
        loop {
            if lanes.stopping {
                return None;
            }
            // What is due is the quick pool's to watch.
            let wait = if pool == Pool::Quick { lanes.wake_due(Instant::now()) } else { None };
            let lane = lanes.take(pool);
            if pool == Pool::Quick && lane.is_some() && (wait.is_some() || !lanes.quick.order.is_empty()) {
                self.quick.notify_one();
            }
            if lane.is_some() {
                return lane;
            }
            let idle = self.waiting(pool);
            lanes = match wait {
                Some(wait) => idle.wait_timeout(lanes, wait).unwrap_or_else(PoisonError::into_inner).0,
                None => idle.wait(lanes).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}
