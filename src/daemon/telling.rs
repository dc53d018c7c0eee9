//! The pool that tells people on GitHub: outside the lanes, so that a slow GitHub holds up no agent.
//!
//! Its workers sleep beside bells that a commit with something to tell rings. What they cannot tell stays in the store.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::journal::{Sink, Told as Trouble};
use super::vitals::Vitals;
use super::wake::Bell;
use crate::app::App;
use crate::app::telling::Told;
use crate::domain::log::{EventName, LogEntry};

/// Its workers, by the names under which `status` shows what troubles them.
const WORKERS: [&str; 2] = ["telling", "telling, second"];
/// Longest sleep: whatever was missed is found then.
const IDLE: Duration = Duration::from_secs(30);
/// After the store refused, and after something was dropped: where nobody can be asked, what comes is dropped in bulk.
const PAUSE: Duration = Duration::from_secs(1);
/// One thing is looked up and posted in this time, or its worker does not get on.
const AWAY: Duration = Duration::from_secs(180);

/// The running pool.
pub(super) struct Telling {
    workers: Vec<(Bell, JoinHandle<()>)>,
}

impl Telling {
    /// Starts the workers; what an earlier run left is told first.
    pub(super) fn start(app: &App, sink: &Sink, vitals: &Vitals) -> std::io::Result<Self> {
        let bells = WORKERS.map(|_| Bell::default());
        // What one of them met, the other may mend.
        let trouble = Trouble::default();
        let (quiet, mut workers) = (Trouble::default(), Vec::new());
        for (name, bell) in WORKERS.into_iter().zip(&bells) {
            vitals.watch(name, bell, AWAY, if workers.is_empty() { &trouble } else { &quiet });
            let trouble = trouble.clone();
            let (app, sink, beside) = (app.clone(), sink.clone(), bell.clone());
            bell.ring();
            let thread = std::thread::Builder::new().name("telling".to_owned());
            workers.push((bell.clone(), thread.spawn(move || work(&app, &sink, &beside, &trouble))?));
        }
        app.when_something_is_to_be_told(move || bells.iter().for_each(Bell::ring));
        Ok(Self { workers })
    }

    /// Takes nothing new, and waits until what is being told is settled or `limit` is over; true when all ended. What did
    /// not end is looked up at the next start.
    pub(super) fn stop(self, limit: Duration) -> bool {
        self.workers.iter().for_each(|(bell, _)| bell.close());
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline && self.workers.iter().any(|(_, worker)| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let ended = self.workers.iter().all(|(_, worker)| worker.is_finished());
        if ended {
            // A panicked worker has nothing left to end.
            self.workers.into_iter().for_each(|(_, worker)| drop(worker.join()));
        }
        ended
    }
}

fn work(app: &App, sink: &Sink, bell: &Bell, trouble: &Trouble) {
    let mut wait = IDLE;
    while bell.sleep(wait) {
        let entry = |why: String| LogEntry::warn(EventName::ServerTrouble).with("reason", why);
        wait = match app.tell_next() {
            Ok(Told::Something) => {
                trouble.tell(sink, None);
                Duration::ZERO
            }
            Ok(Told::Failed(why)) => {
                trouble.tell(sink, Some(entry(why)));
                Duration::ZERO
            }
            Ok(Told::Dropped) => {
                trouble.tell(sink, None);
                PAUSE
            }
            Ok(Told::Nothing(until)) => until.map_or(IDLE, |until| pause(app, until)),
            // The store says itself that it is in trouble.
            Err(_) => PAUSE,
        };
    }
}

fn pause(app: &App, until: crate::domain::time::Time) -> Duration {
    let millis = (until.as_millis() - app.now().as_millis()).max(1);
    Duration::from_millis(millis.unsigned_abs()).min(IDLE)
}
