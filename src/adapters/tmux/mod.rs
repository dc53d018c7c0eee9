//! tmux as the host of harnesses (events rules, section 9); written against tmux 3.3a.
//!
//! Every call names its server, addresses panes by id and never by a name, and is one tmux invocation. What did not
//! answer is not dead: only a server that is surely not there counts as gone.

mod deliver;
mod end;
mod living;
mod panes;
mod recall;
mod server;
mod spawn;
mod take_over;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::environment;
use crate::domain::ids::BatchId;
use crate::domain::ports::{
    DeliverRequest, Delivered, Pane, PasteStyle, Remembered, Runner, RunnerError, SpawnRequest, TakeOver,
};
use crate::domain::session::{Life, PaneKey};

pub use living::KnownServer;

/// How tmux is to be used.
#[derive(Debug, Clone)]
pub struct TmuxConfig {
    /// The tmux program, a name to be found in the `PATH` of `environment` or a path.
    pub program: PathBuf,
    /// Socket name (`-L`); empty is the user's own server, whose options and environment are left alone.
    pub socket: String,
    /// Directory for our options file, `tmux.conf`; made when missing. Not used for the user's own server.
    pub options_dir: PathBuf,
    /// The daemon's own environment, of which sessions see a safe base set and `pass`.
    pub environment: Vec<(OsString, OsString)>,
    /// Names of further variables that sessions may see.
    pub pass: Vec<String>,
    /// How long one call may take before its answer is "unreachable" or "unknown".
    pub time_limit: Duration,
    /// A harness that ends within this time did not start.
    pub spawn_watch: Duration,
    /// Servers that recorded lives name; one of them that still lives is never replaced by a second.
    pub known_servers: Vec<KnownServer>,
}

impl TmuxConfig {
    /// The usual settings: `tmux` from `PATH`, ten seconds per call, two seconds of watching a new harness.
    pub fn new(socket: &str, options_dir: &Path, environment: Vec<(OsString, OsString)>) -> Self {
        Self {
            program: PathBuf::from("tmux"),
            socket: socket.to_owned(),
            options_dir: options_dir.to_owned(),
            environment,
            pass: Vec::new(),
            time_limit: Duration::from_secs(10),
            spawn_watch: Duration::from_secs(2),
            known_servers: Vec::new(),
        }
    }
}

/// Why tmux cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum TmuxSetupError {
    /// The socket's name would be taken for a path or an option.
    #[error("`{0}` is not a tmux socket name: letters, digits, `.`, `_` and `-`, beginning with a letter or digit")]
    SocketName(String),
    /// A name in the list of variables to pass is no variable's name.
    #[error("`{0}` is not the name of an environment variable")]
    VariableName(String),
    /// The options file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Options {
        /// The file or its directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Hosts harnesses in tmux.
#[derive(Debug)]
pub struct Tmux {
    program: PathBuf,
    socket: String,
    options_file: PathBuf,
    environment: Vec<(OsString, OsString)>,
    pass: Vec<String>,
    time_limit: Duration,
    spawn_watch: Duration,
    known: Mutex<BTreeSet<KnownServer>>,
}

impl Tmux {
    /// Checks the settings and writes the options file; starts nothing.
    pub fn new(config: TmuxConfig) -> Result<Self, TmuxSetupError> {
        if !config.socket.is_empty() && !server::is_socket_name(&config.socket) {
            return Err(TmuxSetupError::SocketName(config.socket));
        }
        if let Some(bad) = config.pass.iter().find(|name| !environment::is_variable_name(name)) {
            return Err(TmuxSetupError::VariableName(bad.clone()));
        }
        let options_file = match config.socket.is_empty() {
            true => PathBuf::new(),
            false => server::write_options(&config.options_dir)?,
        };
        Ok(Self {
            environment: environment::for_sessions(&config.environment, &config.pass),
            program: config.program,
            socket: config.socket,
            options_file,
            pass: config.pass,
            time_limit: config.time_limit,
            spawn_watch: config.spawn_watch,
            known: Mutex::new(config.known_servers.into_iter().collect()),
        })
    }

    /// Adds the server of a recorded life to those that are never replaced while they live.
    pub fn remember_server(&self, life: &Life) {
        let server = KnownServer { socket: life.socket.clone(), pid: life.server_pid, started: life.server_started };
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(server);
    }

    fn known_servers(&self) -> Vec<KnownServer> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl Runner for Tmux {
    fn spawn(&self, request: &SpawnRequest) -> Result<Life, RunnerError> {
        self.spawn_harness(request)
    }

    fn settle_screen(&self, life: &Life, limit_ms: u64) {
        self.wait_for_quiet(life, Duration::from_millis(limit_ms));
    }

    fn deliver(&self, request: &DeliverRequest) -> Delivered {
        self.deliver_text(request)
    }

    fn recall(
        &self,
        key: &PaneKey,
        life: &Life,
        batch: &BatchId,
        style: &PasteStyle,
    ) -> Result<Remembered, RunnerError> {
        self.recall_batch(key, life, batch, style)
    }

    fn submit(&self, request: &DeliverRequest) -> Delivered {
        self.submit_pasted(request)
    }

    fn take_over(&self, request: &TakeOver) -> Result<Option<Life>, RunnerError> {
        self.mark_earlier(request)
    }

    fn panes(&self) -> Result<Vec<Pane>, RunnerError> {
        self.marked_panes()
    }

    fn end(&self, key: &PaneKey, life: &Life, grace_ms: u64, keep_pane: bool) -> Result<(), RunnerError> {
        self.end_harness(key, life, Duration::from_millis(grace_ms), keep_pane)
    }
}
