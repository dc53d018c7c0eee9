//! Export and adoption over a real folder: an app in memory, files that git and other machines may change.

mod adopt;
mod daemon;
mod export;
mod refused;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use tempfile::TempDir;
use the_loop::adapters::earlier_files::EarlierTree;
use the_loop::adapters::portable_files::PortableDir;
use the_loop::adapters::system::{RandomIds, SystemClock};
use the_loop::app::{App, Parts, Settings, settings::Workspace};
use the_loop::domain::decide::Urgency;
use the_loop::domain::ids::{BatchId, InstanceId, Login};
use the_loop::domain::item::Item;
use the_loop::domain::layout::StateLayout;
use the_loop::domain::log::{EventName, LogEntry};
use the_loop::domain::policy::Policy;
use the_loop::domain::portable::files::{Export, FileError, Held, Located, Look, Written};
use the_loop::domain::portable::{
    Command, Control, FolderId, Record, RequestedAt, Section, Source, Stamp, parse, render,
};
use the_loop::domain::ports::{
    Clock, DeliverRequest, Delivered, Pane, PasteStyle, PortableFiles, Remembered, Runner, RunnerError, SpawnRequest,
    TakeOver,
};
use the_loop::domain::reference::WorkItemRef;
use the_loop::domain::session::{Life, PaneKey, Session, SessionState};
use the_loop::domain::time::Time;
use the_loop::store::testing::CrashBackend;
use the_loop::store::{Store, View as _, WriteTx};

/// A runner that is never reached.
struct Nobody;

impl Runner for Nobody {
    fn spawn(&self, _: &SpawnRequest) -> Result<Life, RunnerError> {
        Err(RunnerError::Unreachable("nobody".into()))
    }

    fn settle_screen(&self, _: &Life, _: u64) {}

    fn deliver(&self, _: &DeliverRequest) -> Delivered {
        Delivered::NotRun("nobody".into())
    }

    fn recall(&self, _: &PaneKey, _: &Life, _: &BatchId, _: &PasteStyle) -> Result<Remembered, RunnerError> {
        Err(RunnerError::Unreachable("nobody".into()))
    }

    fn submit(&self, _: &DeliverRequest) -> Delivered {
        Delivered::NotRun("nobody".into())
    }

    fn take_over(&self, request: &TakeOver) -> Result<Option<Life>, RunnerError> {
        match request.session_name.as_str() {
            "silent" => Err(RunnerError::Unreachable("it does not answer".into())),
            _ => Ok(None),
        }
    }

    fn panes(&self) -> Result<Vec<Pane>, RunnerError> {
        Ok(Vec::new())
    }

    fn end(&self, _: &PaneKey, _: &Life, _: u64, _: bool) -> Result<(), RunnerError> {
        Ok(())
    }
}

/// What happens once, after files were written and before anybody is told.
pub type Meddler = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

struct Meddled(PortableDir, Meddler);

impl PortableFiles for Meddled {
    fn folder(&self) -> Result<Option<FolderId>, FileError> {
        self.0.folder()
    }

    fn names(&self) -> Result<Vec<String>, FileError> {
        self.0.names()
    }

    fn leftovers(&self, now: Time) -> Result<Vec<WorkItemRef>, FileError> {
        self.0.leftovers(now)
    }

    fn look(&self, name: &str, known: Option<&Stamp>, now: Time) -> Result<Look, FileError> {
        self.0.look(name, known, now)
    }

    fn locate(&self, item: &WorkItemRef, now: Time) -> Result<Located, FileError> {
        self.0.locate(item, now)
    }

    fn export(
        &self,
        items: &[Export<'_>],
        done: &mut dyn FnMut(usize, Result<Written, Held>),
    ) -> Result<FolderId, FileError> {
        let folder = self.0.export(items, done)?;
        if let Some(meddle) = self.1.lock().unwrap().take() {
            meddle();
        }
        Ok(folder)
    }

    fn check(&self, items: &[Export<'_>], told: &mut dyn FnMut(usize, Result<bool, Held>)) -> Result<(), FileError> {
        self.0.check(items, told)
    }
}

/// The real clock, turned ahead.
struct Ahead(AtomicI64);

impl Clock for Ahead {
    fn now(&self) -> Time {
        SystemClock.now().plus_seconds(self.0.load(Ordering::SeqCst))
    }
}

/// An app, its folder, and a clock by which everything in the folder is old.
pub struct Place {
    pub root: TempDir,
    pub app: App,
    clock: Arc<Ahead>,
}

impl Place {
    pub fn new() -> Self {
        Self::with(|path| Arc::new(PortableDir::new(path)))
    }

    /// A place in which something is done right after the next export's files are written.
    pub fn meddled() -> (Self, Meddler) {
        let meddler = Meddler::default();
        let kept = Arc::clone(&meddler);
        (Self::with(move |path| Arc::new(Meddled(PortableDir::new(path), kept))), meddler)
    }

    /// A place whose files lie where `files` says.
    pub fn with(files: impl FnOnce(PathBuf) -> Arc<dyn PortableFiles>) -> Self {
        let root = tempfile::tempdir().unwrap();
        let clock = Arc::new(Ahead(AtomicI64::new(3600)));
        let app = App::new(Parts {
            store: Store::open_inline(CrashBackend::new(Vec::new()), &RandomIds).unwrap(),
            harness_files: Arc::new(the_loop::adapters::harness_files::HarnessFolders::new(&Default::default())),
            runner: Arc::new(Nobody),
            portable: files(root.path().join("portable")),
            earlier: Arc::new(EarlierTree::new(&StateLayout::new(root.path()), root.path())),
            github: Arc::new(()),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ids: Arc::new(RandomIds),
            instance: InstanceId("test".into()),
            settings: RwLock::new(Arc::new(settings())),
        });
        fs::create_dir(root.path().join("portable")).unwrap();
        Self { root, app, clock }
    }

    /// From now on files that were just written are young.
    pub fn live_now(&self) {
        self.clock.0.store(0, Ordering::SeqCst);
    }

    /// It is `time` from now on, and time goes on.
    pub fn turn_clock_to(&self, time: Time) {
        let ahead = (time.as_millis() - SystemClock.now().as_millis()) / 1000;
        self.clock.0.store(ahead, Ordering::SeqCst);
    }

    pub fn path(&self, item: &WorkItemRef) -> PathBuf {
        self.root.path().join("portable").join(item.slug().file_name())
    }

    /// As git would: another file renamed over it.
    pub fn put(&self, item: &WorkItemRef, text: impl AsRef<[u8]>) {
        let beside = self.root.path().join("beside");
        fs::write(&beside, text).unwrap();
        fs::rename(beside, self.path(item)).unwrap();
    }

    pub fn put_record(&self, record: &Record) {
        self.put(&record.reference, render(record));
    }

    pub fn text(&self, item: &WorkItemRef) -> String {
        fs::read_to_string(self.path(item)).unwrap()
    }

    pub fn record(&self, item: &WorkItemRef) -> Record {
        parse(self.text(item).as_bytes()).unwrap()
    }

    pub fn item(&self, item: &WorkItemRef) -> Option<Item> {
        self.app.store().read(|tx| tx.item(&item.key())).unwrap()
    }

    pub fn is_marked(&self, item: &WorkItemRef) -> bool {
        self.app.store().read(|tx| Ok(tx.mark(&item.key())?.is_some())).unwrap()
    }

    pub fn seen(&self, item: &WorkItemRef) -> BTreeSet<String> {
        self.app.store().read(|tx| tx.seen(&item.key())).unwrap()
    }

    pub fn journal(&self, name: EventName) -> Vec<LogEntry> {
        let journal = self.app.store().read(|tx| tx.journal(0, usize::MAX)).unwrap();
        journal.into_iter().map(|(_, _, entry)| entry).filter(|entry| entry.event == name).collect()
    }

    /// Changes an item and asks for its export, as a decision would.
    pub fn change(&self, item: &WorkItemRef, change_row: impl Fn(&mut Item) + Send + 'static) {
        change(&self.app, item, change_row);
    }

    /// An item that mona armed at `second`, exported.
    pub fn armed(&self, number: u64, second: i64) -> WorkItemRef {
        let item = reference(number);
        self.change(&item, move |row| {
            row.sections.control = Some(control(Command::Start, "mona", second));
            row.sections.commanded_at = Some(at(second));
        });
        self.export();
        item
    }

    /// An armed item with a conversation that runs.
    pub fn running(&self, number: u64, second: i64) -> WorkItemRef {
        let item = self.armed(number, second);
        let store = self.app.store().id();
        self.change(&item, move |row| {
            let key = PaneKey::new(&store, &row.reference, &row.reference);
            let mut session = Session::recorded(row.reference.clone(), key, "agent".into(), at(second));
            session.state = SessionState::Live(Life {
                socket: "test".into(),
                server_pid: 1,
                server_started: 1,
                session: "loop".into(),
                pane: "%1".into(),
                pane_pid: 1,
            });
            row.session = Some(session);
            row.baseline = Some(at(second));
        });
        self.export();
        item
    }

    /// Serves all marks; the files written.
    pub fn export(&self) -> Vec<String> {
        self.app.export_marked(Urgency::Cycle, &BTreeSet::new()).unwrap().exported.written
    }

    pub fn adopt(&self, item: &WorkItemRef) -> the_loop::app::portable::Adoption {
        self.app.adopt_items(std::slice::from_ref(item)).unwrap()
    }
}

/// Changes an item and asks for its export, as a decision would.
pub fn change(app: &App, item: &WorkItemRef, change: impl Fn(&mut Item) + Send + 'static) {
    let (item, now) = (item.clone(), app.now());
    let write = move |tx: &mut WriteTx<'_>| {
        let mut row = tx.item(&item.key())?.unwrap_or_else(|| Item::new(item.clone()));
        row.version += 1;
        change(&mut row);
        tx.put_item(&row)?;
        tx.put_mark(&item.key(), Urgency::Now, now)
    };
    app.store().write(write).unwrap();
}

pub fn reference(number: u64) -> WorkItemRef {
    WorkItemRef::parse(&format!("github:octo/repo#{number}")).unwrap()
}

pub fn at(second: i64) -> Time {
    Time::from_millis(1_700_000_000_000).plus_seconds(second)
}

pub fn control(command: Command, actor: &str, second: i64) -> Control {
    Control {
        command,
        source: Source::Comment,
        actor: actor.into(),
        requested_at: RequestedAt::At(at(second)),
        note: None,
        extra: serde_json::Map::new(),
    }
}

/// A file of another machine with this command.
pub fn commanded(item: &WorkItemRef, command: Command, actor: &str, second: i64) -> Record {
    let control = Section::Present(control(command, actor, second));
    Record { control, commanded_at: Some(at(second)), ..Record::new(item.clone()) }
}

fn settings() -> Settings {
    Settings {
        policy: Policy { authorized_users: Login::parse("mona").into_iter().collect(), ..Policy::default() },
        harnesses: Default::default(),
        harness_args: Default::default(),
        workspace: Workspace::Shared("/".into()),
        trust: the_loop::domain::trust::Trust::Off,
        session_env: Vec::new(),
        kill_grace_ms: 0,
        keep_session_on_close: true,
        resume_on_respawn: true,
        templates: Default::default(),
        polling: Default::default(),
        sweep: None,
    }
}
