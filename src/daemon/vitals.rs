//! Whether the daemon's parts get on, and not merely live: what `status` prints and the control socket answers.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::control::wire::Hello;
use super::journal::Told;
use super::wake::{Bell, Wake};
use crate::app::App;
use crate::domain::time::Time;

/// How the daemon gets on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Who answers.
    pub daemon: Hello,
    /// Since when it runs, UTC.
    pub since: String,
    /// Where its receiver listens.
    pub receiver: Option<String>,
    /// When the last signed delivery came, UTC; since the start.
    pub last_webhook: Option<String>,
    /// The configuration it reads, when there is a file.
    pub configuration: Option<String>,
    /// Keys that were changed and are taken at the next start only.
    pub needs_restart: Vec<String>,
    /// Its parts, each with what keeps it from getting on.
    pub parts: Vec<Part>,
}

/// One part of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Why it does not get on; `None` when it does.
    pub trouble: Option<String>,
}

impl Progress {
    /// Whether every part gets on.
    pub fn is_well(&self) -> bool {
        self.parts.iter().all(|part| part.trouble.is_none())
    }
}

/// A loop beside a bell: it must come back to the bell within a limit.
struct Loop {
    name: &'static str,
    bell: Bell,
    limit: Duration,
    told: Told,
}

/// What is watched. Clones share it.
#[derive(Clone)]
pub struct Vitals(Arc<Watched>);

struct Watched {
    app: App,
    wake: Wake,
    since: Time,
    last_webhook: AtomicI64,
    loops: Mutex<Vec<Loop>>,
}

impl Vitals {
    /// Watches the pools and the store from now on.
    pub fn new(app: App, wake: Wake) -> Self {
        let since = app.now();
        Self(Arc::new(Watched { app, wake, since, last_webhook: AtomicI64::new(0), loops: Mutex::default() }))
    }

    /// Watches a loop: it comes back to `bell` within `limit`, and `told` holds what troubles it.
    pub fn watch(&self, name: &'static str, bell: &Bell, limit: Duration, told: &Told) {
        let entry = Loop { name, bell: bell.clone(), limit, told: told.clone() };
        self.0.loops.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    /// A signed delivery came.
    pub fn delivered(&self) {
        self.0.last_webhook.store(self.0.app.now().as_millis(), Ordering::Relaxed);
    }

    /// Since when it runs, UTC.
    pub fn since(&self) -> String {
        self.0.since.to_string()
    }

    /// When the last signed delivery came, UTC.
    pub fn last_webhook(&self) -> Option<String> {
        let millis = self.0.last_webhook.load(Ordering::Relaxed);
        (millis != 0).then(|| Time::from_millis(millis).to_string())
    }

    /// Every part and what keeps it from getting on.
    pub fn parts(&self) -> Vec<Part> {
        let takes_writes = self.0.app.store().is_writable() && !self.0.wake.is_failing();
        let failing = || (!takes_writes).then(|| "it does not take writes; it is tried again".to_owned());
        // What became of its file is told by the part that watches it too, but not before that has looked.
        let store = self.0.app.store().in_place().map_or_else(|gone| Some(gone.to_string()), |()| failing());
        let mut parts = vec![part("store", store), part("dispatcher", self.dispatcher())];
        let loops = self.0.loops.lock().unwrap_or_else(PoisonError::into_inner);
        parts.extend(loops.iter().map(|entry| part(entry.name, entry.trouble())));
        parts
    }

    /// Work that is looked at may take as long as an effect may; more than that is no progress.
    fn dispatcher(&self) -> Option<String> {
        let allowed = u64::from(self.0.app.settings().policy.dispatch_timeout_seconds) + 60;
        let (running, queued) = self.0.wake.lanes().longest();
        if running.as_secs() > allowed {
            return Some(format!("one effect has been under way for {} s", running.as_secs()));
        }
        (queued.as_secs() > allowed).then(|| format!("a work item has waited {} s for a worker", queued.as_secs()))
    }
}

impl Loop {
    fn trouble(&self) -> Option<String> {
        let silent = self.bell.silence();
        if silent > self.limit {
            return Some(format!("it has not looked for {} s", silent.as_secs()));
        }
        let entry = self.told.last()?;
        let reason = entry.fields.get("reason").and_then(serde_json::Value::as_str);
        Some(reason.map_or_else(|| entry.event.as_str().to_owned(), str::to_owned))
    }
}

fn part(name: &str, trouble: Option<String>) -> Part {
    Part { name: name.to_owned(), trouble }
}
