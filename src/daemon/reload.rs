//! The configuration of the running daemon: read again when its file changes or on SIGHUP. A file that cannot be used
//! changes nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::compose::Setting;
use super::journal::{Sink, Told};
use super::wake::Bell;
use crate::adapters::config_files::{self, FileMark};
use crate::adapters::supervisor;
use crate::app::App;
use crate::app::request::{Trouble, TroubleKind};
use crate::domain::config::{Config, needs_restart};
use crate::domain::log::{EventName, LogEntry};

/// Time between two looks at the file.
const PAUSE: Duration = Duration::from_secs(1);

/// Keeps the daemon's policy in step with its file.
pub struct Reload {
    /// What the daemon was started with: addresses, paths and secrets stay so.
    started: Setting,
    app: App,
    sink: Sink,
    told: Told,
    asked: AtomicBool,
    bell: Bell,
    state: Mutex<State>,
}

struct State {
    config: Config,
    mark: Option<FileMark>,
}

impl Reload {
    /// Begins with what `started` says.
    pub fn new(started: Setting, app: App, sink: Sink) -> Arc<Self> {
        let mark = started.file.as_deref().and_then(config_files::mark);
        let state = Mutex::new(State { config: started.config.clone(), mark });
        let (told, bell) = (Told::default(), Bell::default());
        Arc::new(Self { started, app, sink, told, asked: AtomicBool::new(false), bell, state })
    }

    /// What troubles it, and the bell it sleeps beside.
    pub fn watched(&self) -> (&Bell, &Told) {
        (&self.bell, &self.told)
    }

    /// Reads the file at the next moment, changed or not.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.bell.ring();
    }

    /// Works until the bell is closed.
    pub fn run(&self) {
        while self.bell.sleep(PAUSE) {
            let asked = self.asked.swap(false, Ordering::SeqCst);
            if asked || self.has_changed() {
                // The log and `status` say what came of it.
                let _ = self.read();
            }
        }
    }

    /// Keys that were changed since the start and hold at the next one only.
    pub fn needs_restart(&self) -> Vec<String> {
        needs_restart(&self.started.config, &self.lock().config)
    }

    /// Reads the file again and puts it in force.
    ///
    /// # Errors
    /// There is no file, or it cannot be used; then what was in force stays.
    pub fn read(&self) -> Result<Vec<String>, Trouble> {
        supervisor::reloading();
        let read = self.replace();
        supervisor::ready();
        let failed = |trouble: &Trouble| {
            LogEntry::warn(EventName::ServerReloadFailed)
                .with("reason", trouble.message.lines().collect::<Vec<_>>().join(" "))
        };
        self.told.tell(&self.sink, read.as_ref().err().map(failed));
        if let Ok(keys) = &read {
            let entry = LogEntry::info(EventName::ServerReloaded);
            let keys = (!keys.is_empty()).then(|| keys.clone());
            self.sink.put(entry.with_some("needsRestart", keys));
        }
        read
    }

    fn replace(&self) -> Result<Vec<String>, Trouble> {
        let refused = |text: String| {
            Trouble::new(TroubleKind::Refused, text).hint("the configuration before it stays in force; mend the file")
        };
        let Some(file) = &self.started.file else {
            return Err(Trouble::refused("there is no configuration file: the daemon was started without one"));
        };
        let mut state = self.lock();
        state.mark = config_files::mark(file);
        let reading = config_files::reread(file).map_err(|error| refused(error.with_problems()))?;
        let setting = Setting { config: reading.config, ..self.started.clone() };
        let settings = setting.settings().map_err(|error| refused(error.to_string()))?;
        self.app.replace_settings(settings);
        state.config = setting.config;
        Ok(needs_restart(&self.started.config, &state.config))
    }

    fn has_changed(&self) -> bool {
        let Some(file) = &self.started.file else { return false };
        let mark = config_files::mark(file);
        // One that is away for a moment is being replaced.
        mark.is_some() && mark != self.lock().mark
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
