//! One operator's machine: a home, a repository, a configuration, a private tmux server, an agent that keeps every
//! line it hears, and the daemon. Everything is ended with the world.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use serde_json::Value as Json;
use the_loop::domain::time::Time;

use super::daemon::Daemon;
use crate::support::tmux::Server;
use crate::support::wait_for;

/// How long anything may take that must happen.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// What the agent does: it says who and with which environment it runs, then appends every line it hears.
const AGENT: &str = "#!/bin/sh
stty -echo
name=@/heard/$(printf %s \"$THE_LOOP_ENDPOINT\" | tr / _)
env > \"$name.env\"
echo $$ >> \"$name.pids\"
while IFS= read -r line; do printf '%s\\n' \"$line\" >> \"$name\"; done
";

pub struct World {
    pub server: Server,
    pub daemon: Mutex<Daemon>,
    /// The webhook's secret, made for this world.
    pub secret: String,
    /// Latest time of anything said on the hub, milliseconds.
    last: AtomicI64,
    /// Last id given to anything on the hub.
    last_id: AtomicI64,
}

/// What a run of the binary came to.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// The document on standard output.
    pub fn json(&self) -> Json {
        let document: Json = serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"));
        assert_eq!(document["schema"], 1, "{self:?}");
        document
    }
}

impl World {
    /// A machine where nothing runs yet; `routing` holds more lines of that block.
    pub fn asleep(routing: &str) -> Self {
        let server = Server::new();
        let world = Self {
            daemon: Mutex::new(Daemon::default()),
            secret: format!("{}-{}", "a secret of this world only", server.socket),
            last: AtomicI64::new(0),
            last_id: AtomicI64::new(9000),
            server,
        };
        for directory in ["repo/.git", "repo/.the-loop", "user", "heard"] {
            fs::create_dir_all(world.path(directory)).unwrap();
        }
        world.write_listening_agent();
        world.configure(routing);
        world
    }

    /// A machine with a running daemon.
    pub fn new(routing: &str) -> Self {
        let world = Self::asleep(routing);
        world.start();
        world
    }

    /// The machine that tests share which neither stop its daemon nor need settings of their own.
    pub fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<World>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let world = Arc::new(Self::new(""));
            *shared = Arc::downgrade(&world);
            world
        })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.server.path(name)
    }

    /// The agent that hears everything.
    pub fn write_listening_agent(&self) {
        self.write_agent(&AGENT.replace('@', self.path("").to_str().unwrap().trim_end_matches('/')));
    }

    /// Another program in the agent's place.
    pub fn write_agent(&self, script: &str) {
        let path = self.path("agent");
        // Written aside and renamed: a file that is open for writing cannot be run.
        let new = self.path("agent.new");
        fs::write(&new, script).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(new, path).unwrap();
    }

    /// Writes the configuration.
    pub fn configure(&self, routing: &str) {
        let users = if routing.contains("authorizedUsers") { "" } else { "  authorizedUsers: [mona]\n" };
        let default = if routing.contains("defaultHarness") { "" } else { "  defaultHarness: agent\n" };
        let workspace = if routing.contains("workspace:") { "" } else { "  workspace: {strategy: shared}\n" };
        let spawns = if routing.contains("maxConcurrentSpawns") { "" } else { "  maxConcurrentSpawns: 8\n" };
        let (agent, socket) = (self.path("agent"), &self.server.socket);
        let text = format!(
            "version: \"0.4.0\"\nwebhooks:\n  ghWebhook: {{port: 0}}\nrouting:\n{users}{default}  \
             harnesses:\n    agent: {{binary: {}, submitDelayMs: 50}}\n  tmux: {{socket: {socket}}}\n{workspace}{spawns}{routing}",
            agent.display()
        );
        fs::write(self.path("repo/.the-loop/cli-config.yaml"), text).unwrap();
    }

    /// The binary in the repository, with this operator's environment and nothing else.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_the-loop"));
        command.args(line.split_whitespace()).current_dir(self.path("repo")).env_clear();
        command.env("HOME", self.path("user")).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("USER", "operator").env("TMUX_TMPDIR", self.path(""));
        command.env("THE_LOOP_GH_WEBHOOK_SECRET", &self.secret);
        command
    }

    pub fn run(&self, line: &str) -> Ran {
        self.command(line).output().map(Ran::of).unwrap()
    }

    /// Runs what must succeed.
    pub fn done(&self, line: &str) -> Ran {
        let ran = self.run(line);
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        ran
    }

    /// A later time than anything before it, as the hub writes it.
    pub fn tick(&self) -> String {
        self.later(1)
    }

    /// The hub's next time, at least `seconds` after the last and never before now.
    pub fn later(&self, seconds: i64) -> String {
        let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
        let next = |last: i64| (last + seconds * 1000).max(now);
        let last = self.last.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(next(last))).unwrap();
        Time::from_millis(next(last)).to_string()
    }

    /// A number nothing else on the hub has.
    pub fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::SeqCst).unsigned_abs() + 1
    }

    /// Lines of the event log with this name.
    pub fn events(&self, name: &str) -> Vec<Json> {
        let document = self.done(&format!("events --json --limit 100000 --type {name}")).json();
        document["events"].as_array().unwrap().clone()
    }

    /// Waits until an event with this name and these fields is in the trail.
    pub fn wait_event(&self, name: &str, fields: &[(&str, &str)]) {
        let has = |event: &Json| fields.iter().all(|(key, value)| event[key] == *value);
        wait_for(&format!("{name} {fields:?}"), PATIENCE, || self.events(name).iter().any(has));
    }

    /// Rows of `sessions list`.
    pub fn sessions(&self) -> Vec<Json> {
        self.done("sessions list --json").json()["sessions"].as_array().unwrap().clone()
    }

    /// The state of an item's or pull request's session; empty when there is none.
    pub fn state(&self, reference: &str) -> String {
        let rows = self.sessions();
        let row = rows.iter().find(|row| row["workItem"] == reference);
        row.map_or(String::new(), |row| row["status"].as_str().unwrap().to_owned())
    }

    pub fn wait_state(&self, reference: &str, state: &str) {
        wait_for(&format!("{reference} to be {state}"), PATIENCE, || self.state(reference) == state);
    }

    fn heard_file(&self, endpoint: &str, suffix: &str) -> String {
        let path = self.path("heard").join(format!("{}{suffix}", endpoint.replace('/', "_")));
        fs::read_to_string(path).unwrap_or_default()
    }

    /// Every line the agent of this endpoint ever heard.
    pub fn heard(&self, endpoint: &str) -> String {
        self.heard_file(endpoint, "")
    }

    /// The environment its agent runs in.
    pub fn agent_environment(&self, endpoint: &str) -> String {
        self.heard_file(endpoint, ".env")
    }

    /// Processes of all agents this endpoint ever had.
    pub fn agents(&self, endpoint: &str) -> Vec<u32> {
        self.heard_file(endpoint, ".pids").lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Those of them that live.
    pub fn living_agents(&self, endpoint: &str) -> Vec<u32> {
        let lives = |pid: &u32| the_loop::adapters::processes::start_time(*pid).is_some();
        self.agents(endpoint).into_iter().filter(lives).collect()
    }

    /// Waits until an endpoint's agent has heard this line.
    pub fn wait_heard(&self, endpoint: &str, line: &str) {
        wait_for(&format!("{endpoint} to hear {line}"), PATIENCE, || count(&self.heard(endpoint), line) > 0);
    }

    /// How often an endpoint's agent heard this very line.
    pub fn times(&self, endpoint: &str, line: &str) -> usize {
        count(&self.heard(endpoint), line)
    }
}

fn count(text: &str, line: &str) -> usize {
    text.lines().filter(|heard| *heard == line).count()
}

impl Drop for World {
    fn drop(&mut self) {
        self.daemon.get_mut().unwrap_or_else(PoisonError::into_inner).kill();
    }
}
