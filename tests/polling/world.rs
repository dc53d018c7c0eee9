//! A GitHub and a machine that polls it: the whole product in process, over a store in memory and a folder of its own.

use std::fs;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use tempfile::TempDir;
use the_loop::adapters::portable_files::PortableDir;
use the_loop::adapters::system::RandomIds;
use the_loop::app::ingest::{Arrival, Taken};
use the_loop::app::polling::Polled;
use the_loop::app::request::{PollState, PolledRow, Response, Status};
use the_loop::app::{App, Parts, Settings, look, settings::Workspace};
use the_loop::domain::decide::Urgency;
use the_loop::domain::event::body::{MediaType, read};
use the_loop::domain::event::webhook::normalise;
use the_loop::domain::harness::Harness;
use the_loop::domain::ids::{DeliveryId, InstanceId, Login};
use the_loop::domain::item::Item;
use the_loop::domain::log::{EventName, LogEntry};
use the_loop::domain::policy::Policy;
use the_loop::domain::polling::{Polling, Progress, Source};
use the_loop::domain::ports::{Clock, Runner};
use the_loop::domain::reference::{RefKey, RepoRef, WorkItemRef};
use the_loop::domain::signature::TrustedBody;
use the_loop::domain::time::Time;
use the_loop::store::testing::CrashBackend;
use the_loop::store::{PolledView as _, Store, View as _};

use crate::fake_github::{Delivery, FakeGitHub, port::Hosts};
use crate::terminal::Terminal;

/// The usual repository.
pub const REPO: &str = "octo/hello";
/// The label that makes an item watched.
pub const LABEL: &str = "the-loop: auto-execute";
/// Our token.
pub const TOKEN: &str = "t0ken";

/// A clock turned by hand.
pub struct Hand(AtomicI64);

impl Hand {
    /// Turns it on by `seconds`.
    pub fn turn(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now(&self) -> Time {
        Time::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// A machine, and the GitHub it asks.
pub struct Machine {
    fake: Arc<Mutex<FakeGitHub>>,
    pub app: App,
    pub terminal: Arc<Terminal>,
    pub clock: Arc<Hand>,
    backend: CrashBackend,
    hosts: Hosts,
    root: Arc<TempDir>,
}

/// A github.com whose clock stands at about now, and a day later, so that every file of a test is old.
pub fn fake() -> FakeGitHub {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    fake_at(i64::try_from(now).unwrap() + 86_400)
}

/// A github.com with the usual repository, whose clock stands at `now`.
pub fn fake_at(now: i64) -> FakeGitHub {
    let mut fake = FakeGitHub::new(now);
    fake.add_token(TOKEN, "the-loop-bot", Some("repo"));
    add_repository(&mut fake, REPO, 101);
    fake
}

/// A repository of which the token may see everything.
pub fn add_repository(fake: &mut FakeGitHub, name: &str, id: u64) {
    fake.add_repository(name, id);
    fake.allow(name, "the-loop-bot", "admin");
}

/// A source as most configurations have it.
pub fn source(repository: &str) -> Source {
    let repository = RepoRef::parse(repository).unwrap();
    Source { repository, label: LABEL.into(), issues: true, pull_requests: true }
}

fn settings(sources: Vec<Source>) -> Settings {
    Settings {
        policy: Policy {
            authorized_users: Login::parse("mona").into_iter().collect(),
            harness: "agent".into(),
            // Mona talks much, and nobody answers.
            breaker_deliveries: 0,
            ..Policy::default()
        },
        harnesses: [("agent".to_owned(), Harness::command("agent", "agent", Vec::new(), Vec::new()))].into(),
        harness_args: Default::default(),
        workspace: Workspace::Shared("/".into()),
        trust: the_loop::domain::trust::Trust::Off,
        session_env: Vec::new(),
        kill_grace_ms: 0,
        keep_session_on_close: true,
        resume_on_respawn: true,
        templates: Default::default(),
        polling: Polling { enabled: true, interval_seconds: 60, sources },
        sweep: Some("/gh-webhook".into()),
    }
}

impl Machine {
    /// A machine that polls one repository, which has nothing in it.
    pub fn new() -> Self {
        Self::over(fake())
    }

    /// The same at this GitHub.
    pub fn over(fake: FakeGitHub) -> Self {
        let fake = Arc::new(Mutex::new(fake));
        let hosts = Hosts::default().with("github.com", &fake, Some(TOKEN));
        Self::of(fake, hosts, settings(vec![source(REPO)]), CrashBackend::new(Vec::new()))
    }

    /// A machine that polls these repositories at these hosts.
    pub fn at(fake: &Arc<Mutex<FakeGitHub>>, hosts: Hosts, sources: Vec<Source>) -> Self {
        Self::of(Arc::clone(fake), hosts, settings(sources), CrashBackend::new(Vec::new()))
    }

    /// Another machine beside this one: it asks the same GitHub, and knows nothing.
    pub fn another(&self) -> Self {
        let settings = self.app.settings().as_ref().clone();
        Self::of(Arc::clone(&self.fake), self.hosts.clone(), settings, CrashBackend::new(Vec::new()))
    }

    fn of(fake: Arc<Mutex<FakeGitHub>>, hosts: Hosts, settings: Settings, backend: CrashBackend) -> Self {
        let now = fake.lock().unwrap().now();
        let (clock, terminal) = (Arc::new(Hand(AtomicI64::new(now * 1000))), Arc::new(Terminal::default()));
        let root = Arc::new(tempfile::tempdir().unwrap());
        fs::create_dir(root.path().join("portable")).unwrap();
        let app = app(&backend, &hosts, &terminal, &clock, root.path(), settings);
        Self { fake, app, terminal, clock, backend, hosts, root }
    }

    /// This machine again, for what happens in the middle of something else.
    pub fn beside(&self) -> Self {
        Self {
            fake: Arc::clone(&self.fake),
            app: self.app.clone(),
            terminal: Arc::clone(&self.terminal),
            clock: Arc::clone(&self.clock),
            backend: self.backend.clone(),
            hosts: self.hosts.clone(),
            root: Arc::clone(&self.root),
        }
    }

    /// The same machine after its program was killed and started again.
    pub fn restarted(self) -> Self {
        let backend = CrashBackend::new(self.backend.image());
        let settings = self.app.settings().as_ref().clone();
        let Self { fake, terminal, clock, hosts, root, .. } = self;
        let app = app(&backend, &hosts, &terminal, &clock, root.path(), settings);
        Self { fake, app, terminal, clock, backend, hosts, root }
    }

    /// After so many further changes the machine's storage is off.
    pub fn dies_after(&self, changes: u64) {
        self.backend.halt_at(changes);
    }

    /// What people and machines do at GitHub.
    pub fn github(&self) -> MutexGuard<'_, FakeGitHub> {
        self.fake.lock().unwrap()
    }

    /// The configuration changes.
    pub fn configure(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.app.settings().as_ref().clone();
        change(&mut settings);
        self.app.replace_settings(settings);
    }

    /// Both clocks go on.
    pub fn later(&self, seconds: i64) {
        self.github().advance(seconds);
        self.clock.turn(seconds);
    }

    /// One cycle, then everything that follows of it.
    pub fn cycle(&self) -> Polled {
        let polled = self.app.poll_all().unwrap();
        self.settle();
        polled
    }

    /// A second passes, and one cycle; the row of the only repository.
    pub fn next(&self) -> PolledRow {
        self.later(1);
        self.cycle().repositories.remove(0)
    }

    /// One cycle and what follows, of a machine whose storage may give up in the middle; whether it did not.
    pub fn survives_a_cycle(&self) -> bool {
        let polled = self.app.poll_all();
        let lanes = self.app.store().read(|tx| tx.lanes());
        let advance = |lane: &RefKey| self.app.advance(lane, true, 1000).is_ok();
        polled.is_ok() && lanes.is_ok_and(|lanes| lanes.iter().all(|(lane, _)| advance(lane)))
    }

    /// So many cycles, a second apart.
    pub fn cycles(&self, count: usize) {
        (0..count).for_each(|_| drop(self.next()));
    }

    /// Facts that can be had are asked for, and every lane is worked off as far as it goes now.
    pub fn settle(&self) {
        for _ in 0..100 {
            let looked = self.app.look_at_waiting().unwrap();
            let lanes = self.app.store().read(|tx| tx.lanes()).unwrap();
            for (lane, _) in &lanes {
                self.app.advance(lane, true, 1000).unwrap();
            }
            let left = self.app.store().read(|tx| tx.lanes()).unwrap();
            if !looked.moved && left == lanes {
                return;
            }
        }
        panic!("it does not settle");
    }

    /// What waits to be delivered by webhook is, and everything that follows happens.
    pub fn deliver_webhooks(&self) {
        let deliveries = self.github().take_deliveries();
        for delivery in &deliveries {
            self.hears(delivery);
        }
        self.settle();
    }

    /// Webhooks that wait are lost.
    pub fn lose_webhooks(&self) -> Vec<Delivery> {
        let deliveries = self.github().take_deliveries();
        deliveries.iter().for_each(|delivery| self.github().lose(delivery));
        deliveries
    }

    /// One delivery arrives.
    pub fn hears(&self, delivery: &Delivery) -> Taken {
        let taken = self.app.ingest(&arrival(delivery)).unwrap();
        self.github().delivered(delivery, 202);
        taken
    }

    /// Into whose conversations `text` was typed.
    pub fn heard(&self, text: &str) -> Vec<String> {
        self.terminal.heard(text)
    }

    /// An issue of mona's with the label.
    pub fn issue(&self) -> u64 {
        let mut github = self.github();
        let number = github.open_issue(REPO, "mona", "Totals are wrong", "An empty line counts.");
        github.label(REPO, number, "mona", LABEL);
        number
    }

    /// An issue of mona's that runs: the first cycle is over, and she has said start.
    pub fn running(&self) -> u64 {
        let number = self.issue();
        self.next();
        self.says(number, "mona", "the-loop start");
        self.next();
        assert_eq!(self.terminal.started(), [format!("#{number}")]);
        number
    }

    /// A pull request of mona's with the label, beside a first issue, that runs on its own.
    pub fn running_pull(&self) -> u64 {
        self.later(1);
        let number = {
            let mut github = self.github();
            let number = github.open_pull(REPO, "mona", "alone", "Alone", "");
            github.label(REPO, number, "mona", LABEL);
            number
        };
        self.next();
        self.says(number, "mona", "the-loop start");
        self.next();
        assert!(self.lives(number));
        number
    }

    /// Somebody comments, a second later.
    pub fn says(&self, number: u64, login: &str, text: &str) -> u64 {
        self.later(1);
        self.github().comment(REPO, number, login, text)
    }

    /// Mona comments in this very second.
    pub fn adds(&self, number: u64, text: &str) {
        self.github().comment(REPO, number, "mona", text);
    }

    /// A pull request of mona's that says it closes the issue.
    pub fn pull(&self, issue: u64) -> u64 {
        self.later(1);
        self.github().open_pull(REPO, "mona", "fix-totals", "Skip empty lines", &format!("Fixes #{issue}"))
    }

    /// The item, as the store has it.
    pub fn item(&self, number: u64) -> Option<Item> {
        self.app.store().read(|tx| tx.item(&reference(number).key())).unwrap()
    }

    /// Whether the item has a session that lives.
    pub fn lives(&self, number: u64) -> bool {
        self.item(number).is_some_and(|item| item.live_session().is_some())
    }

    /// How far the usual repository was polled.
    pub fn progress(&self) -> Progress {
        let key = RepoRef::parse(REPO).unwrap().key();
        self.app.store().read(|tx| tx.poll(&key)).unwrap().unwrap_or_default()
    }

    /// What `status` says.
    pub fn status(&self) -> Status {
        let now = self.app.now();
        match self.app.store().read(|tx| look::answer(tx, &the_loop::app::request::Look::Status, now)).unwrap() {
            Response::Status(status) => status,
            other => panic!("{other:?}"),
        }
    }

    /// What `status` says of polling the only repository.
    pub fn poll_state(&self) -> PollState {
        self.status().polling.remove(0)
    }

    /// Entries of the trail.
    pub fn journal(&self, name: EventName) -> Vec<LogEntry> {
        let journal = self.app.store().read(|tx| tx.journal(0, usize::MAX)).unwrap();
        journal.into_iter().map(|(_, _, entry)| entry).filter(|entry| entry.event == name).collect()
    }

    /// Portable files follow; the names of those that were written.
    pub fn export(&self) -> Vec<String> {
        self.app.export_marked(Urgency::Cycle, &Default::default()).unwrap().exported.written
    }

    /// The folder of portable files.
    pub fn folder(&self) -> std::path::PathBuf {
        self.root.path().join("portable")
    }

    /// The portable files of `other` arrive, as by a pull, and are taken in.
    pub fn takes_files_of(&self, other: &Self) {
        for file in fs::read_dir(other.folder()).unwrap() {
            let file = file.unwrap();
            if file.file_name().to_string_lossy().ends_with(".json") {
                fs::copy(file.path(), self.folder().join(file.file_name())).unwrap();
            }
        }
        self.app.adopt_folder().unwrap();
        self.settle();
    }
}

/// An item of the usual repository.
pub fn reference(number: u64) -> WorkItemRef {
    RepoRef::parse(REPO).unwrap().item(number).unwrap()
}

/// A delivery as the receiver reads it.
pub fn arrival(delivery: &Delivery) -> Arrival {
    let body = bytes::Bytes::from(delivery.body.clone());
    let trusted = TrustedBody::kept(body.clone());
    let json = read(MediaType::Json, &trusted).unwrap();
    Arrival::delivered(normalise(&delivery.event, DeliveryId::parse(&delivery.guid).unwrap(), &json), body)
}

fn app(
    backend: &CrashBackend,
    hosts: &Hosts,
    terminal: &Arc<Terminal>,
    clock: &Arc<Hand>,
    root: &std::path::Path,
    settings: Settings,
) -> App {
    App::new(Parts {
        store: Store::open_inline(backend.clone(), &RandomIds).unwrap(),
        harness_files: Arc::new(the_loop::adapters::harness_files::HarnessFolders::new(&Default::default())),
        runner: Arc::clone(terminal) as Arc<dyn Runner>,
        portable: Arc::new(PortableDir::new(root.join("portable"))),
        earlier: Arc::new(()),
        github: Arc::new(hosts.clone()),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        ids: Arc::new(RandomIds),
        instance: InstanceId("test".into()),
        settings: RwLock::new(Arc::new(settings)),
    })
}
