//! The daemon of a world as a process: started, killed, stopped.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::PoisonError;

use rustix::process::Signal;

use super::world::{PATIENCE, World};
use crate::support::tmux::signal;
use crate::support::wait_for;

/// The running daemon, when there is one.
#[derive(Default)]
pub struct Daemon {
    child: Option<Child>,
    address: Option<SocketAddr>,
}

impl Daemon {
    /// SIGKILL, and its end.
    pub fn kill(&mut self) {
        self.address = None;
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl World {
    /// Starts the daemon and waits until it says that it is ready.
    pub fn start(&self) {
        self.start_with(&[]);
    }

    /// The same with more in the daemon's environment.
    pub fn start_with(&self, environment: &[(&str, &str)]) {
        let log = self.path("daemon.log");
        let file = File::create(&log).unwrap();
        let mut command = self.command("start --foreground");
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file).envs(environment.iter().copied());
        let mut child = command.spawn().unwrap();
        let said = || fs::read_to_string(&log).unwrap();
        let mut address = None;
        wait_for("the daemon to be ready", PATIENCE, || {
            address = said().lines().find_map(|line| line.strip_prefix("ready: ")).and_then(receiver);
            assert!(child.try_wait().unwrap().is_none(), "the daemon ended: {}", said());
            address.is_some()
        });
        *self.daemon() = Daemon { child: Some(child), address };
    }

    fn daemon(&self) -> std::sync::MutexGuard<'_, Daemon> {
        self.daemon.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the receiver listens, while the daemon runs.
    pub fn address(&self) -> Option<SocketAddr> {
        self.daemon().address
    }

    pub fn pid(&self) -> u32 {
        self.daemon().child.as_ref().expect("a running daemon").id()
    }

    /// SIGKILL, as a crash or a power cut ends it.
    pub fn kill_9(&self) {
        self.daemon().kill();
    }

    /// SIGTERM; waits for the end and tests what has to hold afterwards: exit code 0, the port free, nobody named as
    /// owner any more.
    pub fn stop(&self) {
        let (mut child, address) = {
            let mut daemon = self.daemon();
            (daemon.child.take().expect("a running daemon"), daemon.address.take().expect("an address"))
        };
        signal(child.id(), Signal::TERM);
        let mut status: Option<ExitStatus> = None;
        wait_for("the daemon to end after SIGTERM", PATIENCE, || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        let said = fs::read_to_string(self.path("daemon.log")).unwrap();
        assert_eq!(status.unwrap().code(), Some(0), "{said}");
        drop(TcpListener::bind(address).expect("the port is free again"));
        for file in ["local/owner.json", "the-loop.pid"] {
            assert_eq!(fs::read(self.state_file(file)).unwrap(), b"", "{file} is emptied, not unlinked");
        }
    }

    /// A file of the state root.
    fn state_file(&self, name: &str) -> PathBuf {
        self.path("repo/.the-loop").join(name)
    }
}

/// The address in what follows `ready: `.
fn receiver(said: &str) -> Option<SocketAddr> {
    said.split_once("http://")?.1.split('/').next()?.parse().ok()
}
