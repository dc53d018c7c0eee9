//! A tmux server of a test's own: its own socket in its own directory, ended when the test ends.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use the_loop::adapters::processes;
use the_loop::adapters::tmux::{Tmux, TmuxConfig};
use the_loop::domain::ids::{BatchId, StoreId};
use the_loop::domain::ports::{DeliverRequest, Delivered, PasteStyle, Remembered, Runner, SpawnRequest};
use the_loop::domain::reference::WorkItemRef;
use the_loop::domain::session::{Life, PaneKey};

use super::wait_for;

/// How long a test waits for what must happen.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// A private server; nothing runs until the first spawn.
pub struct Server {
    pub dir: tempfile::TempDir,
    pub socket: String,
}

impl Server {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let socket = format!("loop-test-{}-{count}", std::process::id());
        Self { dir: tempfile::tempdir().unwrap(), socket }
    }

    /// The test's own environment with this server's directory for sockets.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let tmpdir = ("TMUX_TMPDIR".into(), self.dir.path().into());
        std::env::vars_os().filter(|(name, _)| name != "TMUX_TMPDIR").chain([tmpdir]).collect()
    }

    /// Settings with a short watch over new harnesses.
    pub fn config(&self) -> TmuxConfig {
        let mut config = TmuxConfig::new(&self.socket, &self.dir.path().join("local"), self.environment());
        config.spawn_watch = Duration::from_millis(50);
        config
    }

    pub fn runner(&self) -> Tmux {
        Tmux::new(self.config()).unwrap()
    }

    /// A plain tmux client of this server, as a person would use it; its output and errors.
    pub fn raw(&self, args: &[&str]) -> (bool, String) {
        let mut command = Command::new("tmux");
        command.env("TMUX_TMPDIR", self.dir.path()).env_remove("TMUX").args(["-u", "-L", &self.socket]).args(args);
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).trim_end().to_owned())
    }

    /// Processes of servers on this socket.
    pub fn pids(&self) -> Vec<u32> {
        let lines = processes::own_command_lines().unwrap();
        let named = lines.into_iter().filter(|(_, words)| words.contains(&self.socket)).map(|(pid, _)| pid);
        named.filter(|pid| processes::short_name(*pid).as_deref() == Some("tmux: server")).collect()
    }

    pub fn socket_file(&self) -> PathBuf {
        let user = rustix::process::geteuid().as_raw();
        self.dir.path().join(format!("tmux-{user}")).join(&self.socket)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A request for issue `number` of `octo/hello`.
    pub fn request(&self, number: u64, argv: &[&str]) -> SpawnRequest {
        self.request_for(&format!("github:octo/hello#{number}"), &format!("loop-{number}"), argv)
    }

    pub fn request_for(&self, reference: &str, session: &str, argv: &[&str]) -> SpawnRequest {
        let reference = WorkItemRef::parse(reference).unwrap();
        let fallback = format!("{session}-{}", reference.key().short_hash());
        SpawnRequest {
            key: PaneKey::new(&StoreId("store1".into()), &reference, &reference),
            store: "store1".into(),
            reference,
            session_name: session.into(),
            fallback_name: fallback,
            cwd: self.dir.path().to_owned(),
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            env: vec![],
        }
    }

    /// Starts a harness for issue `number` that runs `script` (its file to write is `$0`) and says READY.
    pub fn start(&self, runner: &Tmux, number: u64, script: &str) -> Agent {
        let out = self.path(&format!("out-{number}"));
        let request = self.request(number, &["sh", "-c", script, out.to_str().unwrap()]);
        let life = runner.spawn(&request).unwrap();
        wait_for("the harness to be ready", PATIENCE, || self.screen(&life).contains("READY"));
        Agent { key: request.key, life, out }
    }

    /// Everything a pane shows and showed.
    pub fn screen(&self, life: &Life) -> String {
        self.raw(&["capture-pane", "-p", "-S", "-", "-t", &life.pane]).1
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for pid in self.pids() {
            signal(pid, rustix::process::Signal::CONT);
            signal(pid, rustix::process::Signal::TERM);
        }
    }
}

pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, signal);
}

/// Takes bracketed pastes and keeps every byte.
pub const BRACKETED: &str = r#"stty raw -echo; printf '\033[?2004hREADY'; exec cat > "$0""#;
/// Keeps every byte; tmux sends it no brackets.
pub const PLAIN: &str = r#"stty raw -echo; printf READY; exec cat > "$0""#;

/// A harness under test.
pub struct Agent {
    pub key: PaneKey,
    pub life: Life,
    pub out: PathBuf,
}

impl Agent {
    pub fn delivery(&self, batch: &str, text: &str) -> DeliverRequest {
        DeliverRequest {
            key: self.key.clone(),
            life: self.life.clone(),
            batch: BatchId::from_hex(batch),
            text: text.to_owned(),
            style: PasteStyle { submit_delay_ms: 0, dialogs: vec![], input_marks: vec![] },
            program: None,
        }
    }

    pub fn recall(&self, runner: &Tmux, batch: &str) -> Remembered {
        let request = self.delivery(batch, "");
        runner.recall(&request.key, &request.life, &request.batch, &request.style).unwrap()
    }

    pub fn received(&self) -> Vec<u8> {
        read(&self.out)
    }

    /// Waits until the harness has these bytes, all told.
    pub fn wait_received(&self, expected: &[u8]) {
        let mut last = Vec::new();
        let end = std::time::Instant::now() + PATIENCE;
        while last.len() < expected.len() && std::time::Instant::now() < end {
            std::thread::sleep(Duration::from_millis(3));
            last = self.received();
        }
        let short = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned();
        assert!(last == expected, "{:?} ({}) is not {:?}", short(&last), last.len(), short(expected));
    }

    /// Delivers and waits for the answer that everything went well.
    pub fn deliver(&self, runner: &Tmux, batch: &str, text: &str) {
        assert_eq!(runner.deliver(&self.delivery(batch, text)), Delivered::Submitted, "{batch}");
    }
}

/// A text as a bracketed paste with its Enter.
pub fn bracketed(text: &str) -> Vec<u8> {
    format!("\u{1b}[200~{text}\u{1b}[201~\r").into_bytes()
}

pub fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_default()
}
