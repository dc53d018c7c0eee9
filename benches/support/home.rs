//! A temporary home on disk, its records, and the real daemon over it.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use the_loop::adapters::system::RandomIds;
use the_loop::domain::event::SubjectKind;
use the_loop::domain::ids::StoreId;
use the_loop::domain::item::{Facts, Item};
use the_loop::domain::layout::StateLayout;
use the_loop::domain::reference::{RepoRef, WorkItemRef};
use the_loop::domain::session::{Life, PaneKey, Session, SessionState};
use the_loop::domain::time::Time;
use the_loop::store::{Store, View as _};

use crate::load::Series;

/// The program under measurement.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_the-loop");
/// The repository of all records.
pub const REPOSITORY: &str = "octo/hello";
/// The number of the first record.
pub const FIRST: u64 = 100_000_000;
const SECRET: &str = "a secret of the bench, 32 bytes.";
/// Records of one transaction while preparing.
const CHUNK: u64 = 5_000;
/// How long a daemon may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Now, as GitHub writes times.
pub fn now() -> String {
    time().to_string()
}

/// Now.
pub fn time() -> Time {
    Time::from_millis(jiff::Timestamp::now().as_millisecond())
}

/// 14 KB comments of an authorised person over `issues` issues.
pub fn comments(issues: u64) -> Series<'static> {
    Series {
        secret: SECRET.as_bytes(),
        path: "/gh-webhook",
        repo: REPOSITORY,
        login: "mona",
        at: now().leak(),
        body_bytes: 14_000,
        first_number: FIRST,
        issues,
        text: None,
        first_comment: 1_000_000_000,
    }
}

/// The reference of the record number `at`, from 0.
pub fn reference(at: u64) -> anyhow::Result<WorkItemRef> {
    Ok(RepoRef::parse(REPOSITORY)?.item(FIRST + at)?)
}

/// A directory with a configuration; removed in the end.
pub struct Home {
    dir: tempfile::TempDir,
    /// Sockets have short paths.
    sockets: tempfile::TempDir,
    path: Option<PathBuf>,
}

/// A running daemon; ended when dropped.
pub struct Daemon {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Home {
    /// A home on the disk that the build is on, with the breaker off and `more` lines under `routing`.
    pub fn new(more: &str) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let sockets = tempfile::tempdir()?;
        let mut config = format!(
            "version: \"0.4.0\"\nrepositories: [{REPOSITORY}]\nwebhooks:\n  ghWebhook: {{port: 0}}\nrouting:\n  \
             authorizedUsers: [mona]\n  workspace: {{strategy: shared}}\n  breaker: {{deliveries: 0}}\n  \
             tmux: {{socket: bench}}\n"
        );
        for line in more.lines() {
            writeln!(config, "  {line}")?;
        }
        std::fs::create_dir(dir.path().join(".the-loop"))?;
        std::fs::write(dir.path().join(".the-loop/cli-config.yaml"), config)?;
        Ok(Self { dir, sockets, path: None })
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Puts a directory in front of `PATH` of everything that is started from here on.
    pub fn prepend_path(&mut self, dir: &Path) {
        self.path = Some(dir.to_owned());
    }

    /// Where the state lies.
    pub fn layout(&self) -> StateLayout {
        StateLayout::new(self.dir().join(".the-loop"))
    }

    /// The store, made if need be; nobody else may have it open.
    pub fn store(&self) -> anyhow::Result<Store> {
        Ok(Store::open(&self.layout().store_file(), &RandomIds)?)
    }

    /// Prepares `records` paused sessions, so that events are stored for them and nothing is performed.
    pub fn fill(&self, records: u64) -> anyhow::Result<()> {
        let store = self.store()?;
        for begin in (0..records).step_by(CHUNK as usize) {
            let items: Vec<Item> = (begin..records.min(begin + CHUNK))
                .map(|at| Ok(paused(&store.id(), reference(at)?)))
                .collect::<anyhow::Result<_>>()?;
            store.write(move |tx| items.iter().try_for_each(|item| tx.put_item(item)))?;
        }
        Ok(store.close()?)
    }

    /// Effects that wait for somebody to perform them.
    pub fn waiting(&self) -> anyhow::Result<usize> {
        let store = self.store()?;
        let waiting = store.read(|tx| Ok(tx.lanes()?.iter().map(|(_, count)| count).sum()))?;
        store.close()?;
        Ok(waiting)
    }

    /// A command in this home.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.dir())
            .env_remove("THE_LOOP_CLI_CONFIG")
            .env_remove("TMUX")
            .env("TMUX_TMPDIR", self.sockets.path())
            .env("THE_LOOP_GH_WEBHOOK_SECRET", SECRET)
            .stdin(Stdio::null());
        if let Some(first) = &self.path {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let parts = std::iter::once(first.clone()).chain(std::env::split_paths(&path));
            command.env("PATH", std::env::join_paths(parts).unwrap_or_default());
        }
        command
    }

    /// Starts the daemon and waits until it serves.
    pub fn start(&self) -> anyhow::Result<Daemon> {
        let mut child = self
            .command(PROGRAM, &["start", "--foreground"])
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(self.dir().join("daemon.log"))?)
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output of the daemon")?).read_line(&mut line)?;
        let url = line.trim().rsplit_once("http://").map(|(_, url)| url.split('/').next().unwrap_or_default());
        match url.and_then(|address| address.parse().ok()) {
            Some(address) => Ok(Daemon { child, address }),
            None => {
                child.kill()?;
                child.wait()?;
                bail!("the daemon said `{line}` and {:?}", std::fs::read_to_string(self.dir().join("daemon.log")))
            }
        }
    }

    /// Ends the tmux server of this home.
    pub fn end_tmux(&self) {
        // Where none runs there is none to end.
        let _ = self.command("tmux", &["-L", "bench", "kill-server"]).stderr(Stdio::null()).status();
    }
}

impl Daemon {
    /// Resident memory in MiB: now, and the most it ever was.
    pub fn resident(&self) -> anyhow::Result<(f64, f64)> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok()).map(|kib| kib / 1024.0)
        };
        field("VmRSS:").zip(field("VmHWM:")).context("no memory in the status of the process")
    }

    /// Processor time used so far by the daemon and by the client, which is this process.
    pub fn processor(&self) -> anyhow::Result<(Duration, Duration)> {
        Ok((processor(&self.child.id().to_string())?, processor("self")?))
    }

    /// Asks it to end and waits.
    pub fn stop(mut self) -> anyhow::Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(pid.context("no pid")?, rustix::process::Signal::TERM)?;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "the daemon ended with {status}");
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        bail!("the daemon did not end within {PATIENCE:?}")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Both fail when it has ended, as it should have.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// User and system time of a process; the kernel counts in hundredths of a second.
fn processor(pid: &str) -> anyhow::Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').skip(11).take(2)).into_iter().flatten();
    Ok(Duration::from_millis(10 * fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>()))
}

fn paused(store: &StoreId, reference: WorkItemRef) -> Item {
    let key = PaneKey::new(store, &reference, &reference);
    let life = Life {
        socket: "bench".into(),
        server_pid: 1,
        server_started: 1,
        session: reference.slug().as_str().to_owned(),
        pane: "%1".into(),
        pane_pid: 1,
    };
    let mut session = Session::recorded(reference.clone(), key, "claude".into(), time());
    session.state = SessionState::Paused(Some(life));
    session.generation = 1;
    session.cwd = Some("/srv/mona/hello".into());
    let facts = Facts { kind: Some(SubjectKind::Issue), open: Some(true), ..Facts::default() };
    Item { session: Some(session), facts, ..Item::new(reference) }
}
