//! Tests: items that change their name while something is being done for them.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use super::ingest::{Arrival, Taken};
use super::perform::Progress;
use super::request::{Request, Response, Trouble};
use super::settings::{Settings, Workspace};
use super::{App, Parts};
use crate::domain::effect::{DeadLetter, DeadReason};
use crate::domain::event::{
    Content, Event, Fact, Form, Identity, ItemFact, Repository, RepositoryFact, Speech, Subject, SubjectKind,
};
use crate::domain::github::GitHub;
use crate::domain::harness::{Harness, Keeps};
use crate::domain::ids::{BatchId, ConversationId, DeliveryId, InstanceId, Login};
use crate::domain::policy::Policy;
use crate::domain::portable::files::{Export, FileError, Held, Located, Look, Written};
use crate::domain::portable::{FolderId, Stamp};
use crate::domain::ports::{
    Clock, DeliverRequest, Delivered, HarnessFiles, Pane, PasteStyle, PortableFiles, Remembered, Runner, RunnerError,
    SpawnRequest, TrustError,
};
use crate::domain::reference::{RepoRef, WorkItemRef};
use crate::domain::session::{Life, PaneKey, SessionState};
use crate::domain::time::Time;
use crate::domain::trust::Trust;
use crate::store::testing::{CountingIds, FaultBackend};
use crate::store::{self, Store, View as _};

pub(super) const EPOCH: Time = Time::from_millis(1_780_000_000_000);

struct Noon;

impl Clock for Noon {
    fn now(&self) -> Time {
        EPOCH.plus_seconds(1000)
    }
}

type Hook = Box<dyn FnOnce() + Send>;

/// A terminal that lets something else happen in the middle of what it does.
#[derive(Default)]
pub(super) struct Meddled {
    pub(super) hook: Mutex<Option<Hook>>,
    pub(super) typed: Mutex<Vec<String>>,
    pub(super) spawned: Mutex<Vec<SpawnRequest>>,
    /// Panes ended, and whether they stay.
    pub(super) ended: Mutex<Vec<(String, bool)>>,
    asked: AtomicU64,
}

impl Meddled {
    fn meddle(&self) {
        let hook = self.hook.lock().unwrap().take();
        if let Some(hook) = hook {
            hook();
        }
    }
}

impl Runner for Meddled {
    fn spawn(&self, request: &SpawnRequest) -> Result<Life, RunnerError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.spawned.lock().unwrap().push(request.clone());
        self.meddle();
        let session = request.session_name.clone();
        Ok(Life { socket: "t".into(), server_pid: 1, server_started: 1, session, pane: "%1".into(), pane_pid: 9 })
    }

    fn settle_screen(&self, _: &Life, _: u64) {}

    fn deliver(&self, request: &DeliverRequest) -> Delivered {
        self.meddle();
        self.typed.lock().unwrap().push(request.text.clone());
        Delivered::Submitted
    }

    fn recall(&self, _: &PaneKey, _: &Life, _: &BatchId, _: &PasteStyle) -> Result<Remembered, RunnerError> {
        Ok(Remembered::Nothing)
    }

    fn submit(&self, _: &DeliverRequest) -> Delivered {
        Delivered::Submitted
    }

    fn panes(&self) -> Result<Vec<Pane>, RunnerError> {
        Ok(Vec::new())
    }

    fn end(&self, _: &PaneKey, life: &Life, _: u64, keep_pane: bool) -> Result<(), RunnerError> {
        self.ended.lock().unwrap().push((life.pane.clone(), keep_pane));
        Ok(())
    }
}

/// A portable folder that is not there.
struct NoFolder;

impl PortableFiles for NoFolder {
    fn folder(&self) -> Result<Option<FolderId>, FileError> {
        Ok(None)
    }

    fn names(&self) -> Result<Vec<String>, FileError> {
        Ok(Vec::new())
    }

    fn leftovers(&self, _: Time) -> Result<Vec<WorkItemRef>, FileError> {
        Ok(Vec::new())
    }

    fn look(&self, _: &str, _: Option<&Stamp>, _: Time) -> Result<Look, FileError> {
        Ok(Look::Missing)
    }

    fn locate(&self, _: &WorkItemRef, _: Time) -> Result<Located, FileError> {
        Ok(Located::Missing)
    }

    fn export(&self, _: &[Export<'_>], _: &mut dyn FnMut(usize, Result<Written, Held>)) -> Result<FolderId, FileError> {
        Ok(FolderId { device: 0, inode: 0 })
    }

    fn check(&self, _: &[Export<'_>], _: &mut dyn FnMut(usize, Result<bool, Held>)) -> Result<(), FileError> {
        Ok(())
    }
}

/// Nothing is kept by any harness.
struct NoFiles;

impl HarnessFiles for NoFiles {
    fn trust(&self, _: &Path) -> Result<bool, TrustError> {
        Ok(false)
    }

    fn has_transcript(&self, _: Keeps, _: &Path, _: &ConversationId) -> Option<bool> {
        None
    }

    fn shows(&self, _: Keeps, _: &Path, _: &ConversationId, _: &str, _: u64) -> bool {
        false
    }

    fn conversation_with(&self, _: Keeps, _: &Path, _: &str, _: u64) -> Option<ConversationId> {
        None
    }
}

pub(super) fn world() -> (App, Arc<Meddled>) {
    let runner = Arc::new(Meddled::default());
    let agent = Harness::command("agent", "agent", Vec::new(), Vec::new());
    (app(Arc::clone(&runner) as Arc<dyn Runner>, Arc::new(NoFiles), agent), runner)
}

/// The same, with somebody to ask at GitHub and another clock.
pub(super) fn world_beside(github: Arc<dyn GitHub>, clock: Arc<dyn Clock>) -> (App, Arc<Meddled>) {
    let runner = Arc::new(Meddled::default());
    let agent = Harness::command("agent", "agent", Vec::new(), Vec::new());
    (app_beside(Arc::clone(&runner) as Arc<dyn Runner>, Arc::new(NoFiles), agent, github, clock), runner)
}

/// The product over a store in memory; `agent` is its only harness.
pub(super) fn app(runner: Arc<dyn Runner>, harness_files: Arc<dyn HarnessFiles>, agent: Harness) -> App {
    app_beside(runner, harness_files, agent, Arc::new(()), Arc::new(Noon))
}

fn app_beside(
    runner: Arc<dyn Runner>,
    harness_files: Arc<dyn HarnessFiles>,
    agent: Harness,
    github: Arc<dyn GitHub>,
    clock: Arc<dyn Clock>,
) -> App {
    let policy =
        Policy { authorized_users: vec![Login::parse("mona").unwrap()], harness: "agent".into(), ..Policy::default() };
    let settings = Settings {
        policy,
        harnesses: [("agent".to_owned(), agent)].into(),
        harness_args: Default::default(),
        workspace: Workspace::Shared("/".into()),
        trust: Trust::Directory,
        session_env: Vec::new(),
        kill_grace_ms: 0,
        keep_session_on_close: true,
        resume_on_respawn: true,
        templates: Default::default(),
        polling: Default::default(),
        sweep: None,
    };
    let ids = Arc::new(CountingIds::default());
    App::new(Parts {
        store: Store::open_inline(FaultBackend::new(Vec::new()), ids.as_ref()).unwrap(),
        runner,
        harness_files,
        portable: Arc::new(NoFolder),
        earlier: Arc::new(()),
        github,
        clock,
        ids,
        instance: InstanceId("test".into()),
        settings: RwLock::new(Arc::new(settings)),
    })
}

pub(super) fn item(repo: &str, number: u64) -> WorkItemRef {
    RepoRef::parse(repo).unwrap().item(number).unwrap()
}

fn subject(reference: WorkItemRef) -> Subject {
    let pull_request = reference.number() == 16;
    Subject {
        kind: if pull_request { SubjectKind::PullRequest } else { SubjectKind::Issue },
        id: reference.number() + 5000,
        title: "Ticket".into(),
        body: if pull_request { "Fixes #7".into() } else { String::new() },
        author: Login::parse("mona"),
        labels: vec!["the-loop: auto-execute".into()],
        open: Some(true),
        updated_at: Some(EPOCH.plus_seconds(5)),
        created_at: None,
        closed_at: None,
        link: None,
        head: None,
        reference,
    }
}

fn take(app: &App, delivery: &str, repo: &str, id: u64, content: Content) -> Taken {
    let event = Event {
        name: "test".into(),
        action: None,
        delivery: DeliveryId::parse(delivery).unwrap(),
        repository: Some(Repository { reference: RepoRef::parse(repo).unwrap(), id }),
        sender: Login::parse("mona"),
        content,
    };
    app.ingest(&Arrival::delivered(event, bytes::Bytes::new())).unwrap()
}

pub(super) fn say(app: &App, number: u64, at: &WorkItemRef, repository: u64, text: &str) -> Taken {
    let speech = Speech {
        identity: Identity::new("github.com", repository, "comment", &number.to_string()),
        node_id: Some(format!("IC_{number}")),
        author: Login::parse("mona"),
        text: text.into(),
        created_at: Some(EPOCH.plus_seconds(i64::try_from(number).unwrap())),
        link: None,
        form: Form::Comment,
        subject: Some(subject(at.clone())),
    };
    let repo = format!("{}/{}", at.repo().owner(), at.repo().name());
    take(app, &format!("d-{number}"), &repo, repository, Content::Speech(Box::new(speech)))
}

fn rename(app: &App) -> Taken {
    let from = RepoRef::parse("octo/hello").unwrap();
    let change = Fact::Repository(RepositoryFact::Renamed { from });
    take(app, "rename", "octo/hello2", 101, Content::Fact(Box::new(change)))
}

fn transfer(app: &App) -> Taken {
    let change = ItemFact::Transferred { to: Some((item("octo/world", 31), 5999)) };
    let fact = Fact::Item { subject: subject(item("octo/hello", 7)), change };
    take(app, "transfer", "octo/hello", 101, Content::Fact(Box::new(fact)))
}

pub(super) fn assert_sound(app: &App) {
    assert_eq!(app.store().read(|tx| store::check(tx)).unwrap(), []);
}

pub(super) fn live_key(app: &App, reference: &WorkItemRef) -> Option<(PaneKey, SessionState)> {
    let item = app.store().read(|tx| tx.item(&reference.key())).unwrap()?;
    item.live_session().map(|session| (session.key.clone(), session.state.clone()))
}

#[test]
fn p10_p12_waiting_work_and_history_go_along_in_order() {
    for to in [item("octo/hello2", 7), item("octo/world", 31)] {
        let (app, runner) = world();
        let old = item("octo/hello", 7);
        say(&app, 10, &old, 101, "the-loop start");
        say(&app, 11, &old, 101, "first");
        say(&app, 12, &item("octo/hello", 16), 101, "on the pull request");
        let before = live_key(&app, &old).unwrap().0;
        let letters = old.key();
        app.store()
            .write(move |tx| {
                let effect = tx.lane(&letters, 1)?.remove(0);
                let at = EPOCH;
                tx.put_dead(&DeadLetter { effect, reason: DeadReason::Unknown, detail: String::new(), at }).map(drop)
            })
            .unwrap();
        let taken = if to.number() == 7 { rename(&app) } else { transfer(&app) };
        assert!(taken.marked && taken.lanes.contains(&to.key()), "{taken:?}");
        assert_sound(&app);
        app.store()
            .read(|tx| {
                assert_eq!((tx.lane_count(&old.key())?, tx.lane_count(&to.key())?), (0, 4));
                assert_eq!(tx.seen(&to.key())?, ["IC_10", "IC_11", "IC_12"].map(String::from).into());
                assert!(tx.seen(&old.key())?.is_empty() && tx.endpoints(&old.key())?.is_empty());
                assert!(tx.mark(&old.key())?.is_some() && tx.mark(&to.key())?.is_some());
                assert_eq!(tx.dead_letters()?[0].1.effect.lane, to.key());
                Ok(())
            })
            .unwrap();
        assert_eq!(live_key(&app, &to).unwrap().0, before, "the pane is still found");
        assert_eq!(app.advance(&to.key(), true, 100).unwrap(), Progress::Idle);
        let typed = runner.typed.lock().unwrap().join("\n");
        let places = ["first", "on the pull request"].map(|text| typed.find(text).expect(text));
        assert!(places.is_sorted());
        assert_sound(&app);
    }
}

/// Something is being done; the repository gets another name; another worker looks at the new lane.
fn renamed_during(app: &App, runner: &Meddled) -> Arc<Mutex<Option<Progress>>> {
    let seen = Arc::new(Mutex::new(None));
    let (app, slot) = (app.clone(), Arc::clone(&seen));
    *runner.hook.lock().unwrap() = Some(Box::new(move || {
        rename(&app);
        let progress = app.advance(&item("octo/hello2", 7).key(), true, 100).unwrap();
        *slot.lock().unwrap() = Some(progress);
    }));
    seen
}

#[test]
fn p12_a_delivery_in_flight_is_settled_once_under_the_new_name() {
    let (app, runner) = world();
    let (old, to) = (item("octo/hello", 7), item("octo/hello2", 7));
    say(&app, 10, &old, 101, "the-loop start");
    app.advance(&old.key(), true, 100).unwrap();
    say(&app, 11, &old, 101, "only once");
    let other = renamed_during(&app, &runner);
    assert_eq!(app.advance(&old.key(), true, 100).unwrap(), Progress::Idle);
    assert!(matches!(*other.lock().unwrap(), Some(Progress::Waiting(Some(_)))), "the claim is somebody's");
    assert_eq!(app.advance(&to.key(), true, 100).unwrap(), Progress::Idle);
    let typed = runner.typed.lock().unwrap().join("\n");
    assert_eq!(typed.matches("only once").count(), 1);
    assert_sound(&app);
    let (lanes, claims) = app.store().read(|tx| Ok((tx.lanes()?, tx.claims()?))).unwrap();
    assert!(lanes.is_empty() && claims.is_empty());
}

#[test]
fn p12_a_spawn_in_flight_is_live_under_the_new_name() {
    let (app, runner) = world();
    let (old, to) = (item("octo/hello", 7), item("octo/hello2", 7));
    say(&app, 10, &old, 101, "the-loop start\nbegin");
    renamed_during(&app, &runner);
    app.advance(&old.key(), true, 100).unwrap();
    assert!(matches!(live_key(&app, &to), Some((_, SessionState::Live(_)))));
    assert_eq!(app.advance(&to.key(), true, 100).unwrap(), Progress::Idle);
    assert_eq!(runner.asked.load(Ordering::SeqCst), 1);
    assert!(runner.typed.lock().unwrap().join("\n").contains("begin"));
    assert_sound(&app);
}

#[test]
fn p12_a_pull_requests_spawn_in_flight_is_not_left_without_a_record() {
    let (app, runner) = world();
    let (old, to) = (item("octo/hello", 7), item("octo/hello2", 7));
    say(&app, 10, &old, 101, "the-loop start");
    app.advance(&old.key(), true, 100).unwrap();
    say(&app, 11, &item("octo/hello", 16), 101, "a review");
    renamed_during(&app, &runner);
    app.advance(&old.key(), true, 100).unwrap();
    let endpoints = app.store().read(|tx| tx.endpoints(&to.key())).unwrap();
    assert_eq!(endpoints[0].reference, item("octo/hello2", 16));
    assert!(matches!(endpoints[0].state, SessionState::Live(_)));
    app.advance(&to.key(), true, 100).unwrap();
    assert_eq!(runner.typed.lock().unwrap().join("\n").matches("a review").count(), 1);
    assert_sound(&app);
}

#[test]
fn p12_a_command_and_an_event_find_the_record_by_any_of_its_names() {
    let (app, _) = world();
    let (old, to) = (item("octo/hello", 7), item("octo/hello2", 7));
    say(&app, 10, &old, 101, "the-loop start");
    // Nobody said that the repository was renamed: its id did.
    let taken = say(&app, 11, &to, 101, "under the new name");
    assert!(taken.marked);
    assert!(live_key(&app, &to).is_some() && live_key(&app, &old).is_none());
    say(&app, 12, &old, 101, "late");
    assert_eq!(app.store().read(|tx| tx.lane_count(&to.key())).unwrap(), 4);
    let (done, _) = app.command(&old, &crate::domain::portable::Command::Stop, "mona").unwrap();
    assert!(done.acted && live_key(&app, &to).is_none());
    assert_sound(&app);
}

/// Asks as a command without a daemon does: what follows and is quick is done at once.
pub(super) fn ask(app: &App, request: &Request) -> Result<Response, Trouble> {
    let mut answered = app.respond(request)?;
    for lane in &answered.lanes {
        app.advance(lane, false, 32).unwrap();
    }
    app.export_items(&answered.items).unwrap();
    app.recount(&mut answered.response).unwrap();
    Ok(answered.response)
}
