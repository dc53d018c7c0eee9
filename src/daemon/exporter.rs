//! The loop that brings the portable files up to date: commands and endings at once, the rest in the quiet after it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::journal::{Sink, Told};
use super::wake::{Bell, Wake};
use crate::app::App;
use crate::app::export::{BATCH, ExportRun};
use crate::app::portable::{Adoption, PortableError};
use crate::domain::decide::Urgency;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::reference::RefKey;

/// Files written at once while there is no quiet: each has a sync of its own, which costs as much as several deliveries.
const SHARE: usize = 64;

/// How long the loop waits for what.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// After each run, so that a burst is one run and not thousands.
    pub pause: Duration,
    /// Without news before the less urgent marks are served.
    pub quiet: Duration,
    /// At most, when there is no quiet.
    pub busy: Duration,
    /// Before a held file is tried again, and before a folder that refused.
    pub retry: Duration,
    /// Between two looks at the whole folder for what other machines changed.
    pub look: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            pause: Duration::from_millis(50),
            quiet: Duration::from_secs(1),
            busy: Duration::from_secs(5),
            retry: Duration::from_secs(30),
            look: Duration::from_secs(30),
        }
    }
}

/// The exporter of the running daemon.
pub struct Exporter {
    app: App,
    wake: Wake,
    sink: Sink,
    pace: Pace,
    /// Files that are held, until when.
    held: BTreeMap<RefKey, Instant>,
    /// The folder refused; nothing is tried before.
    refused: Option<Instant>,
    told: Told,
}

impl Exporter {
    /// An exporter that tells `wake` what the files brought, and `sink` when the folder refuses.
    pub fn new(app: App, wake: Wake, sink: Sink, pace: Pace) -> Self {
        Self { app, wake, sink, pace, held: BTreeMap::new(), refused: None, told: Told::default() }
    }

    /// What troubles it, for whoever asks.
    pub fn told(&self) -> Told {
        self.told.clone()
    }

    /// Runs until the bell is closed, then serves every mark that is left, at most for `limit`.
    pub fn run(mut self, bell: &Bell, limit: Duration) {
        self.begin();
        // Marks of an earlier life wait for no bell.
        let mut news = Some((Instant::now(), Instant::now()));
        let mut looked = Instant::now();
        loop {
            let wait = self.wait(news, looked);
            let slept = Instant::now();
            if !bell.sleep(wait) {
                break;
            }
            let now = Instant::now();
            if now - slept < wait {
                news = Some((news.map_or(now, |(first, _)| first), now));
                self.serve(Urgency::Now, bell);
            }
            let due = news.is_some_and(|news| self.cycle_at(news) <= now);
            let retry = self.retry_at().is_some_and(|at| at <= now);
            let quiet = news.is_none_or(|(_, last)| last + self.pace.quiet <= now);
            if retry || (due && quiet) {
                self.serve(Urgency::Cycle, bell);
                news = None;
            } else if due {
                // No quiet in sight: a share of them, since every file's own sync makes the store's commits wait.
                self.serve_batch(Urgency::Cycle, SHARE);
                news = news.map(|(_, last)| (now, last));
            }
            if now - looked >= self.pace.look {
                self.look();
                looked = Instant::now();
            }
            if !bell.is_closed() {
                std::thread::sleep(self.pace.pause);
            }
        }
        self.finish(Instant::now() + limit);
    }

    /// What a crash left, and what other machines changed while nobody listened.
    fn begin(&mut self) {
        let joined = self.app.join_leftovers();
        self.note_run(joined);
        self.look();
    }

    fn look(&mut self) {
        // What the files say wins over the earlier system's old tree.
        for adopted in [App::adopt_folder, App::adopt_earlier_tree].map(|adopt| adopt(&self.app)) {
            match adopted {
                Ok(adoption) => self.adopted(adoption),
                Err(error) => self.told.tell(&self.sink, Some(trouble(&error))),
            }
        }
    }

    fn finish(&mut self, deadline: Instant) {
        self.held.clear();
        self.refused = None;
        while Instant::now() < deadline && self.serve_batch(Urgency::Cycle, BATCH) {}
    }

    /// Serves what is marked, unless everything ends: then [`Self::finish`] has a limit, and marks outlive it.
    fn serve(&mut self, at_least: Urgency, bell: &Bell) {
        while !bell.is_closed() && self.serve_batch(at_least, BATCH) {}
    }

    /// Serves `most` marks; whether more wait.
    fn serve_batch(&mut self, at_least: Urgency, most: usize) -> bool {
        let now = Instant::now();
        if self.refused.is_some_and(|until| until > now) {
            return false;
        }
        self.held.retain(|_, until| *until > now);
        let run = self.app.export_share(at_least, &self.held.keys().cloned().collect(), most);
        self.note_run(run)
    }

    fn note_run(&mut self, run: Result<ExportRun, PortableError>) -> bool {
        let until = Instant::now() + self.pace.retry;
        match run {
            Ok(run) => {
                self.refused = None;
                self.told.tell(&self.sink, None);
                self.held.extend(run.held.into_iter().map(|key| (key, until)));
                self.adopted(run.adoption);
                run.more
            }
            Err(error) => {
                self.refused = Some(until);
                self.told.tell(&self.sink, Some(trouble(&error)));
                false
            }
        }
    }

    fn adopted(&self, adoption: Adoption) {
        if !adoption.changed.is_empty() {
            self.wake.taken(adoption.lanes, adoption.marked);
        }
    }

    fn cycle_at(&self, (first, last): (Instant, Instant)) -> Instant {
        (first + self.pace.busy).min(last + self.pace.quiet)
    }

    fn retry_at(&self) -> Option<Instant> {
        self.held.values().chain(&self.refused).min().copied()
    }

    fn wait(&self, news: Option<(Instant, Instant)>, looked: Instant) -> Duration {
        let times = [news.map(|news| self.cycle_at(news)), self.retry_at(), Some(looked + self.pace.look)];
        let next = times.into_iter().flatten().min();
        next.map_or(self.pace.look, |next| next.saturating_duration_since(Instant::now()))
    }
}

/// The line of the log about a folder or a store that refuses.
pub(super) fn trouble(error: &PortableError) -> LogEntry {
    LogEntry::warn(EventName::ExportHeld).with("reason", error.to_string())
}
