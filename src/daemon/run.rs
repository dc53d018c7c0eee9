//! The daemon's life: what is started in which order, and ended in which order, each step with a deadline.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::answering::{Answering, Life};
use super::compose::{ComposeError, Setting, open_store};
use super::control::{self, PlaceError};
use super::door::WebhookDoor;
use super::journal::Told;
use super::loops::Loops;
use super::receiver::{self, HookPath, Limits, PathError};
use crate::adapters::config_files::webhook_secret;
use crate::adapters::owner_file::{self, Owner, OwnerFileError};
use crate::adapters::supervisor;
use crate::app::App;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::signature::{Gate, GateError};
use crate::store::{Store, StoreError};

/// Why the daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The parts do not fit together.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// Somebody else owns the store.
    #[error("already running: the store is owned by {}", describe(owner.as_deref()))]
    Owned {
        /// Who, when it says so.
        owner: Option<Box<Owner>>,
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
    /// The control socket cannot be made.
    #[error("could not make the control socket: {0}")]
    Control(#[from] PlaceError),
    /// The store was taken away from the daemon while it ran.
    #[error("the daemon has ended, its store is gone: {0}")]
    Gone(String),
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

/// How the owner runs.
pub enum Mode<'m> {
    /// With its listeners, until it is told to end.
    Daemon,
    /// Without listeners, until the work of one command is done: asked now and then, of the store.
    Until(&'m (dyn Fn(&App) -> bool + Sync)),
}

impl Mode<'_> {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Until(_) => "command",
        }
    }
}

/// Who and where the owner is, once everything serves.
#[derive(Debug, Clone)]
pub struct Ready {
    /// Where the receiver listens.
    pub receiver: Option<SocketAddr>,
}

/// What a daemon would refuse to start with, as far as it can be told before it owns anything.
///
/// # Errors
/// As [`run`].
pub fn check(setting: &Setting) -> Result<(), StartError> {
    gate(setting)?;
    HookPath::parse(&setting.config.webhooks.gh_webhook.path)?;
    setting.settings()?;
    Ok(())
}

/// Runs until SIGTERM, SIGINT or a word over the control socket; `ready` is called once everything serves.
///
/// # Errors
/// Why it did not start, or did not end well.
pub fn run(setting: &Setting, mode: &Mode<'_>, ready: impl FnOnce(&Ready)) -> Result<(), StartError> {
    let store = match open_store(&setting.layout) {
        Err(StoreError::Busy) => {
            let owner = owner_file::living(&setting.layout.owner_file(), &setting.layout.store_file());
            return Err(StartError::Owned { owner: owner.map(Box::new) });
        }
        opened => opened?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(serve(setting, &store, mode, ready));
    // What the listener still does for requests that were cut may not hold up the end.
    runtime.shutdown_timeout(Duration::from_secs(1));
    if matches!(mode, Mode::Daemon) {
        owner_file::empty(&setting.layout.pid_file());
    }
    owner_file::empty(&setting.layout.owner_file());
    let closed = store.close();
    result?;
    Ok(closed?)
}

async fn serve(
    setting: &Setting,
    store: &Store,
    mode: &Mode<'_>,
    ready: impl FnOnce(&Ready),
) -> Result<(), StartError> {
    let mut signals = Signals::listen()?;
    let place = setting.control_place(store);
    let owner =
        Owner { socket: Some(place.path().to_owned()), ..Owner::this(mode.kind()).of(&setting.layout.store_file()) };
    owner_file::write(&setting.layout.owner_file(), &owner)?;
    let daemon = matches!(mode, Mode::Daemon);
    let gate = if daemon { gate(setting)? } else { None };
    let listener = if daemon { listener(setting).await? } else { None };
    let address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let path = HookPath::parse(&setting.config.webhooks.gh_webhook.path)?;
    let app = setting.app(store.clone())?;
    // What can refuse the start comes before the loops: no effect begins in a daemon that does not start.
    let bound = control::bind(&place)?;
    let life = Arc::new(Life::default());
    let loops = Loops::start(setting, &app, &life)?;
    let owner = Owner { receiver: address.map(|address| address.to_string()), ..owner };
    owner_file::write(&setting.layout.owner_file(), &owner)?;
    if daemon {
        owner_file::write_pid(&setting.layout.pid_file(), &owner)?;
    }
    loops.sink.put(LogEntry::info(EventName::ServerStarted).with("version", env!("CARGO_PKG_VERSION")));
    let (stop, stopped) = watch::channel(false);
    let (stop_control, control_stopped) = watch::channel(false);
    let answering = Arc::new(answering(setting, mode, &app, &loops, address, &life));
    let control = tokio::spawn(control::serve(bound, answering, control_stopped));
    let receiver = match (listener, gate) {
        (Some(listener), Some(gate)) => {
            let unsigned = gate.is_unsigned();
            let door =
                WebhookDoor::new(app.clone(), gate, loops.wake.clone(), loops.sink.clone(), loops.vitals.clone());
            let settings = receiver::Settings { path, loopback_host_only: unsigned, limits: Limits::default() };
            Some(tokio::spawn(receiver::serve(listener, door, settings, stopped)))
        }
        _ => None,
    };
    life.serves();
    supervisor::ready();
    ready(&Ready { receiver: address });
    wait_for_the_end(&mut signals, &life, &loops, mode, &app).await;
    life.ends();
    supervisor::stopping();
    // A second signal exits now: what was committed is kept, what was claimed is recovered.
    tokio::spawn(async move {
        while signals.next().await != Word::End {}
        std::process::exit(130);
    });
    let _ = stop.send(true);
    if let Some(receiver) = receiver {
        // Its own deadline bounds this.
        let _ = receiver.await;
    }
    let ended = tokio::task::spawn_blocking(move || loops.stop()).await;
    // Commands hear that it ends until nothing else is left to end.
    let _ = stop_control.send(true);
    let _ = control.await;
    ended.map_err(|error| StartError::System(error.into()))?;
    life.lost().map_or(Ok(()), |why| Err(StartError::Gone(why.to_owned())))
}

fn answering(
    setting: &Setting,
    mode: &Mode<'_>,
    app: &App,
    loops: &Loops,
    address: Option<SocketAddr>,
    life: &Arc<Life>,
) -> Answering {
    let path = &setting.config.webhooks.gh_webhook.path;
    Answering {
        app: app.clone(),
        wake: loops.wake.clone(),
        vitals: loops.vitals.clone(),
        reload: Arc::clone(&loops.reloads),
        receiver: address.map(|address| format!("http://{address}{path}")),
        configuration: setting.file.as_ref().map(|file| file.display().to_string()),
        kind: mode.kind(),
        life: Arc::clone(life),
        sink: loops.sink.clone(),
        unreached: Told::default(),
    }
}

/// Time between two questions whether a command's work is done.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// Serves until a signal, a word over the socket or the end of the work; SIGHUP reads the configuration again.
async fn wait_for_the_end(signals: &mut Signals, life: &Life, loops: &Loops, mode: &Mode<'_>, app: &App) {
    let mut clock = tokio::time::interval(ASK_AGAIN);
    loop {
        tokio::select! {
            word = signals.next() => match word {
                Word::End => return,
                Word::Reload => loops.reloads.ask(),
            },
            () = life.told_to_end() => return,
            _ = clock.tick(), if matches!(mode, Mode::Until(_)) => {
                if let Mode::Until(done) = mode && tokio::task::block_in_place(|| done(app)) {
                    return;
                }
            }
        }
    }
}

/// What a signal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    End,
    Reload,
}

/// SIGTERM and SIGINT, which end, and SIGHUP, which does not.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Word {
        tokio::select! {
            _ = self.terminate.recv() => Word::End,
            _ = self.interrupt.recv() => Word::End,
            _ = self.hang_up.recv() => Word::Reload,
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
