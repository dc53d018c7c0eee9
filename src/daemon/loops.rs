//! The threads that run beside the listeners: started in one order, ended in the other, each end with a deadline.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::answering::Life;
use super::compose::Setting;
use super::dispatcher::Dispatcher;
use super::exporter::{Exporter, Pace};
use super::ground::Ground;
use super::journal::{self, Sink, Told};
use super::poller;
use super::reload::Reload;
use super::run::StartError;
use super::telling::Telling;
use super::upkeep;
use super::vitals::Vitals;
use super::wake::{Bell, Wake};
use crate::adapters::event_log::EventLogFile;
use crate::app::App;
use crate::app::journal::Drain;
use crate::domain::log::{EventName, LogEntry};

/// How long the last portable files may take at shutdown.
const FILES_END: Duration = Duration::from_secs(10);
/// How long running effects may take to end at shutdown.
const EFFECTS_END: Duration = Duration::from_secs(10);
/// How long what is being told may take to end at shutdown.
const TELLING_END: Duration = Duration::from_secs(5);
/// A loop that is away from its bell for longer than this does not get on.
const AWAY: Duration = Duration::from_secs(90);
/// The same for one that asks GitHub, whose answers have deadlines of their own.
const AWAY_ASKING: Duration = Duration::from_secs(900);

/// The threads that run beside the listeners.
pub(super) struct Loops {
    dispatcher: Dispatcher,
    telling: Telling,
    exporter: (Bell, JoinHandle<()>),
    upkeep: (Bell, JoinHandle<()>),
    reload: (Bell, JoinHandle<()>),
    /// What asks GitHub.
    asking: [(Bell, JoinHandle<()>); 3],
    journal: Option<(Bell, JoinHandle<()>)>,
    /// Wakes them.
    pub(super) wake: Wake,
    /// Takes entries for the log.
    pub(super) sink: Sink,
    /// Watches them.
    pub(super) vitals: Vitals,
    /// Reads the configuration again.
    pub(super) reloads: Arc<Reload>,
}

impl Loops {
    /// Starts everything and looks at what an earlier run left: claims to recover, effects to do, files to write.
    pub(super) fn start(setting: &Setting, app: &App, life: &Arc<Life>) -> Result<Self, StartError> {
        let routing = &setting.config.routing;
        let (export_bell, journal_bell, upkeep_bell) = (Bell::default(), Bell::default(), Bell::default());
        let dispatcher = Dispatcher::start(
            app.clone(),
            routing.max_concurrent_dispatches as usize,
            routing.max_concurrent_spawns as usize,
        )?;
        let (poll_bell, asking_bell) = (Bell::default(), Bell::default());
        let wake = Wake::new(dispatcher.notifier(), export_bell.clone(), journal_bell.clone(), asking_bell.clone());
        let vitals = Vitals::new(app.clone(), wake.clone());
        let sink = Sink::new(app.clone(), journal_bell.clone());
        let journal = match setting.config.event_log.enabled {
            true => Some(journal_loop(setting, app, &sink, &journal_bell, &vitals)?),
            false => None,
        };
        let exporter = Exporter::new(app.clone(), wake.clone(), sink.clone(), Pace::default());
        vitals.watch("exporter", &export_bell, AWAY, &exporter.told());
        let bell = export_bell.clone();
        let exporter = spawn("exporter", move || exporter.run(&bell, FILES_END))?;
        let told = Told::default();
        vitals.watch("upkeep", &upkeep_bell, AWAY, &told);
        let mut ground = Ground::new(app.clone(), Arc::clone(life), sink.clone(), told);
        let upkeep = spawn("upkeep", {
            let (app, wake, bell) = (app.clone(), wake.clone(), upkeep_bell.clone());
            let has_log = setting.config.event_log.enabled;
            move || upkeep::run(&app, &wake, &bell, &mut ground, has_log)
        })?;
        let reloads = Reload::new(setting.clone(), app.clone(), sink.clone());
        let (bell, told) = reloads.watched();
        vitals.watch("configuration", bell, AWAY, told);
        let reload_bell = bell.clone();
        let reload = spawn("reload", {
            let reloads = Arc::clone(&reloads);
            move || reloads.run()
        })?;
        let telling = Telling::start(app, &sink, &vitals)?;
        let asks = Asks { app, wake: &wake, sink: &sink, vitals: &vitals };
        let poller = asks.start("poller", poll_bell, poller::poll)?;
        let asking = asks.start("asking", asking_bell, poller::ask)?;
        let sweep = asks.start("sweep", Bell::default(), poller::sweep)?;
        wake.taken(app.waiting_lanes()?, true);
        let [exporter, upkeep, reload] = [(export_bell, exporter), (upkeep_bell, upkeep), (reload_bell, reload)];
        let asking_all = [poller, asking, sweep];
        Ok(Self {
            dispatcher,
            telling,
            exporter,
            upkeep,
            reload,
            asking: asking_all,
            journal,
            wake,
            sink,
            vitals,
            reloads,
        })
    }

    /// Ends effects first, then what follows from them, and the trail last.
    pub(super) fn stop(self) {
        // What is being asked of GitHub is not waited for: nothing of it is stored before it is all there.
        for (bell, _) in &self.asking {
            bell.close();
        }
        let settled = self.dispatcher.stop(EFFECTS_END);
        // What is not told by then waits for the next start.
        self.telling.stop(TELLING_END);
        for (bell, thread) in [self.reload, self.exporter, self.upkeep] {
            bell.close();
            // A panicked loop has nothing left to end.
            let _ = thread.join();
        }
        self.sink.put(LogEntry::info(EventName::ServerStopped).with("settled", settled));
        if let Some((bell, thread)) = self.journal {
            bell.close();
            let _ = thread.join();
        }
    }
}

/// What the loops that ask GitHub have in common.
struct Asks<'a> {
    app: &'a App,
    wake: &'a Wake,
    sink: &'a Sink,
    vitals: &'a Vitals,
}

impl Asks<'_> {
    fn start(
        &self,
        name: &'static str,
        bell: Bell,
        run: fn(&App, &Wake, &Bell, &Sink, &Told),
    ) -> Result<(Bell, JoinHandle<()>), StartError> {
        let told = Told::default();
        self.vitals.watch(name, &bell, AWAY_ASKING, &told);
        let (app, wake, sink, own) = (self.app.clone(), self.wake.clone(), self.sink.clone(), bell.clone());
        let thread = spawn(name, move || run(&app, &wake, &own, &sink, &told))?;
        Ok((bell, thread))
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}

fn journal_loop(
    setting: &Setting,
    app: &App,
    sink: &Sink,
    bell: &Bell,
    vitals: &Vitals,
) -> Result<(Bell, JoinHandle<()>), StartError> {
    let log = &setting.config.event_log;
    let file = EventLogFile::new(setting.config.event_log_file(&setting.home), log.max_bytes, log.keep);
    let drain = Drain::new(Box::new(file), std::process::id());
    let told = Told::default();
    vitals.watch("event log", bell, AWAY, &told);
    let (app, sink, bell_of_loop) = (app.clone(), sink.clone(), bell.clone());
    let thread = spawn("journal", move || journal::run(&app, drain, &sink, &bell_of_loop, &told))?;
    Ok((bell.clone(), thread))
}
