//! The daemon's life: what is started in which order, and ended in which order, each step with a deadline.

use std::net::{IpAddr, SocketAddr};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::compose::{ComposeError, Setting, open_store};
use super::dispatcher::Dispatcher;
use super::door::WebhookDoor;
use super::exporter::{Exporter, Pace};
use super::journal::{self, Sink};
use super::receiver::{self, HookPath, Limits, PathError};
use super::upkeep;
use super::wake::{Bell, Wake};
use crate::adapters::config_files::webhook_secret;
use crate::adapters::event_log::EventLogFile;
use crate::adapters::owner_file::{self, Owner, OwnerFileError};
use crate::app::App;
use crate::app::journal::Drain;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::ports::LogError;
use crate::domain::signature::{Gate, GateError};
use crate::store::{Store, StoreError};

/// How long the last portable files may take at shutdown.
const FILES_END: Duration = Duration::from_secs(10);
/// How long running effects may take to end at shutdown.
const EFFECTS_END: Duration = Duration::from_secs(10);

/// Why the daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The parts do not fit together.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// Somebody else owns the store.
    #[error("already running: the store is owned by {}", describe(owner.as_ref()))]
    Owned {
        /// Who, when it says so.
        owner: Option<Owner>,
    },
    /// No secret, or an address where there must be one.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The configured host is no address.
    #[error("`webhooks.ghWebhook.host`: `{0}` is no address to listen on")]
    Host(String),
    /// The configured path cannot be the hook's.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The address cannot be had.
    #[error("could not listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The event log cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A file that says who runs cannot be written.
    #[error(transparent)]
    OwnerFile(#[from] OwnerFileError),
    /// The system gives no threads or signals.
    #[error("could not start: {0}")]
    System(#[from] std::io::Error),
}

fn describe(owner: Option<&Owner>) -> String {
    match owner {
        Some(owner) => format!("the {} with pid {} (version {})", owner.kind, owner.pid, owner.version),
        None => "a process that did not say who it is".into(),
    }
}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Self::Compose(error.into())
    }
}

/// Runs until SIGTERM or SIGINT; `ready` is told the receiver's address once everything serves.
pub fn run(setting: &Setting, ready: impl FnOnce(Option<SocketAddr>)) -> Result<(), StartError> {
    let store = match open_store(&setting.layout) {
        Err(StoreError::Busy) => {
            return Err(StartError::Owned { owner: owner_file::read(&setting.layout.owner_file()) });
        }
        opened => opened?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(serve(setting, &store, ready));
    // What the listener still does for requests that were cut may not hold up the end.
    runtime.shutdown_timeout(Duration::from_secs(1));
    owner_file::empty(&setting.layout.pid_file());
    owner_file::empty(&setting.layout.owner_file());
    let closed = store.close();
    result?;
    Ok(closed?)
}

async fn serve(setting: &Setting, store: &Store, ready: impl FnOnce(Option<SocketAddr>)) -> Result<(), StartError> {
    let mut signals = Signals::listen()?;
    let gate = gate(setting)?;
    let listener = listener(setting).await?;
    let address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let app = setting.app(store.clone())?;
    let loops = Loops::start(setting, &app)?;
    let owner = Owner { receiver: address.map(|address| address.to_string()), ..Owner::this("daemon") };
    owner_file::write(&setting.layout.owner_file(), &owner)?;
    owner_file::write_pid(&setting.layout.pid_file(), owner.pid)?;
    loops.sink.put(LogEntry::info(EventName::ServerStarted).with("version", env!("CARGO_PKG_VERSION")));
    let (stop, stopped) = watch::channel(false);
    let receiver = match (listener, gate) {
        (Some(listener), Some(gate)) => {
            let unsigned = gate.is_unsigned();
            let door = WebhookDoor::new(app, gate, loops.wake.clone(), loops.sink.clone());
            let path = HookPath::parse(&setting.config.webhooks.gh_webhook.path)?;
            let settings = receiver::Settings { path, loopback_host_only: unsigned, limits: Limits::default() };
            Some(tokio::spawn(receiver::serve(listener, door, settings, stopped)))
        }
        _ => None,
    };
    ready(address);
    signals.first().await;
    // A second signal exits now: what was committed is kept, what was claimed is recovered.
    tokio::spawn(async move {
        signals.first().await;
        std::process::exit(130);
    });
    let _ = stop.send(true);
    if let Some(receiver) = receiver {
        // Its own deadline bounds this.
        let _ = receiver.await;
    }
    tokio::task::spawn_blocking(move || loops.stop()).await.map_err(|error| StartError::System(error.into()))
}

/// SIGTERM and SIGINT.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn first(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The secret's gate; `None` when no receiver is wanted.
fn gate(setting: &Setting) -> Result<Option<Gate>, StartError> {
    let hook = &setting.config.webhooks.gh_webhook;
    if !hook.enabled {
        return Ok(None);
    }
    let host = address(&hook.host)?;
    let variable = |name: &str| setting.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let secret = webhook_secret(&setting.config, &setting.home, variable).map_err(ComposeError::from)?;
    let secrets = secret.map(|secret| secret.as_bytes().to_vec()).into_iter().collect();
    Ok(Some(Gate::new(secrets, hook.allow_unsigned, host)?))
}

fn address(host: &str) -> Result<IpAddr, StartError> {
    match host {
        "localhost" => Ok(IpAddr::from([127, 0, 0, 1])),
        host => host.trim_matches(['[', ']']).parse().map_err(|_| StartError::Host(host.to_owned())),
    }
}

async fn listener(setting: &Setting) -> Result<Option<TcpListener>, StartError> {
    let hook = &setting.config.webhooks.gh_webhook;
    if !hook.enabled {
        return Ok(None);
    }
    let address = SocketAddr::new(address(&hook.host)?, hook.port);
    TcpListener::bind(address).await.map(Some).map_err(|source| StartError::Listen { address, source })
}

/// The threads that run beside the listener.
struct Loops {
    dispatcher: Dispatcher,
    exporter: (Bell, JoinHandle<()>),
    upkeep: (Bell, JoinHandle<()>),
    journal: Option<(Bell, JoinHandle<()>)>,
    wake: Wake,
    sink: Sink,
}

impl Loops {
    fn start(setting: &Setting, app: &App) -> Result<Self, StartError> {
        let routing = &setting.config.routing;
        let (export_bell, journal_bell, upkeep_bell) = (Bell::default(), Bell::default(), Bell::default());
        let dispatcher = Dispatcher::start(
            app.clone(),
            routing.max_concurrent_dispatches as usize,
            routing.max_concurrent_spawns as usize,
        )?;
        let wake = Wake::new(dispatcher.notifier(), export_bell.clone(), journal_bell.clone());
        let sink = Sink::new(app.clone(), journal_bell.clone());
        let journal = match setting.config.event_log.enabled {
            true => Some(journal_loop(setting, app, &sink, &journal_bell)?),
            false => None,
        };
        let exporter = Exporter::new(app.clone(), wake.clone(), sink.clone(), Pace::default());
        let bell = export_bell.clone();
        let exporter = spawn("exporter", move || exporter.run(&bell, FILES_END))?;
        let wake_of_upkeep = wake.clone();
        let upkeep = spawn("upkeep", {
            let (app, bell) = (app.clone(), upkeep_bell.clone());
            move || upkeep::run(&app, &wake_of_upkeep, &bell)
        })?;
        // What an earlier run left: claims to recover, effects to do, files to write, a trail to carry on.
        wake.taken(app.waiting_lanes()?, true);
        Ok(Self { dispatcher, exporter: (export_bell, exporter), upkeep: (upkeep_bell, upkeep), journal, wake, sink })
    }

    /// Ends effects first, then what follows from them, and the trail last.
    fn stop(self) {
        let settled = self.dispatcher.stop(EFFECTS_END);
        for (bell, thread) in [self.exporter, self.upkeep] {
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

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}

fn journal_loop(setting: &Setting, app: &App, sink: &Sink, bell: &Bell) -> Result<(Bell, JoinHandle<()>), StartError> {
    let log = &setting.config.event_log;
    let file = EventLogFile::new(setting.config.event_log_file(&setting.home), log.max_bytes, log.keep);
    let drain = Drain::new(Box::new(file), &app.store().id().0, std::process::id())?;
    let (app, sink, bell_of_loop) = (app.clone(), sink.clone(), bell.clone());
    let thread = spawn("journal", move || journal::run(&app, drain, &sink, &bell_of_loop))?;
    Ok((bell.clone(), thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_addresses_or_localhost() {
        assert_eq!(address("localhost").unwrap(), IpAddr::from([127, 0, 0, 1]));
        assert_eq!(address("[::1]").unwrap(), "::1".parse::<IpAddr>().unwrap());
        assert!(matches!(address("example.org"), Err(StartError::Host(_))));
    }
}
