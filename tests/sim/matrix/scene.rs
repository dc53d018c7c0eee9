//! One run of one operation: the whole app over the fake world, interrupted at one moment or at none.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use the_loop::app::ingest::Arrival;
use the_loop::app::perform::Progress;
use the_loop::app::{App, Parts, Settings};
use the_loop::domain::event::{Content, ItemFact, Subject, SubjectKind};
use the_loop::domain::harness::{Harness, Keeps};
use the_loop::domain::ids::{ConversationId, InstanceId};
use the_loop::domain::ports::{Clock, HarnessFiles, Runner, TrustError};
use the_loop::domain::reference::RefKey;
use the_loop::store::testing::CrashBackend;
use the_loop::store::{Store, View as _};

use super::outcome::{self, Outcome};
use super::stage::{Power, Stage};
use super::steps::{Interruption, Moment, Operation, Work};
use crate::folder::Folder;
use crate::github::{GitHub, marker};
use crate::parts::{self, CountedIds, HandClock};
use crate::terminal::{Temper, Terminal};

/// What one run is about.
#[derive(Clone, Copy)]
pub struct Plan {
    pub operation: Operation,
    pub hook: Option<(Moment, Interruption)>,
    /// At a moment of writing: the storage change that fails first.
    pub change: u64,
    /// What a crash leaves: everything written, or of what was not synced what this seed says.
    pub torn: Option<u64>,
    /// Whether the harness keeps a transcript.
    pub transcript: bool,
    /// A runner with a planted fault, around the terminal.
    pub wrap: fn(Terminal) -> Arc<dyn Runner>,
}

/// What a run came to.
pub struct Ran {
    pub outcome: Outcome,
    pub works: Vec<Work>,
    pub decisions: usize,
    /// The storage change that should fail lies behind the moment.
    pub missed: bool,
    /// It never came to the moment.
    pub unreached: bool,
}

pub struct Scene {
    plan: Plan,
    pub stage: Stage,
    clock: Arc<HandClock>,
    pub app: App,
    github: GitHub,
    lives: u64,
    /// What was said, by the mark it is recognised by, in order.
    pub marks: Vec<String>,
}

/// The issue all of it is about, and its pull request.
const ISSUE: u64 = 1;
const PULL: u64 = 101;
/// Stands in the text of the issue, so in its first prompt.
const FIRST: &str = "say-first-end";

impl Plan {
    pub fn run(self) -> Ran {
        let mut scene = Scene::new(self);
        let arrivals = scene.prepare();
        let before = outcome::sessions(&scene.app);
        scene.stage.begin(self.hook, self.change);
        let decisions = arrivals.len();
        for (at, arrival) in arrivals.iter().enumerate() {
            scene.say(Some(at), arrival);
        }
        let works = scene.stage.state().works.clone();
        scene.finish();
        let missed = scene.stage.state().missed;
        let unreached = self.hook.is_some_and(|(moment, _)| scene.stage.awaits(moment));
        Ran { outcome: Outcome::of(&scene, &before), works, decisions, missed, unreached }
    }
}

impl Scene {
    fn new(plan: Plan) -> Self {
        let terminal = Terminal::new(0, Temper::default());
        let backend = Mutex::new(CrashBackend::new(Vec::new()));
        let power = Arc::new(Power { backend, off: AtomicBool::default(), full: AtomicBool::default() });
        let clock = Arc::new(HandClock(AtomicI64::new(1_780_000_000_000)));
        let stage = Stage::new(terminal, plan.wrap, power, Arc::clone(&clock));
        let app = boot(&plan, &stage, &clock, 1);
        let github = GitHub::new(1, 1, false, 0);
        Self { plan, stage, clock, app, github, lives: 1, marks: Vec::new() }
    }

    /// Brings the world to where the operation begins; what it hears.
    fn prepare(&mut self) -> Vec<Arrival> {
        let operation = self.plan.operation;
        let start = self.comment(ISSUE, "the-loop start\nplease begin");
        if operation == Operation::Spawn {
            return vec![start];
        }
        self.say(None, &start);
        match operation {
            Operation::Spawn | Operation::Deliver => vec![self.comment(ISSUE, "")],
            Operation::Link => vec![self.opened(), self.without_linkage()],
            Operation::Respawn => {
                self.stage.terminal.0.lock().unwrap().panes.values_mut().for_each(|pane| pane.alive = false);
                vec![self.comment(ISSUE, "")]
            }
            Operation::Close => {
                for arrival in [self.opened(), self.without_linkage()] {
                    self.say(None, &arrival);
                }
                vec![self.fact(ISSUE, ItemFact::Closed { merged: false })]
            }
        }
    }

    /// What is said afterwards: everything has to be in its place for it.
    fn finish(&mut self) {
        if self.plan.operation == Operation::Close {
            let (late, reopened) = (self.comment(ISSUE, ""), self.fact(ISSUE, ItemFact::Reopened));
            let start = self.comment(ISSUE, "the-loop start\nonce more");
            for arrival in [late, reopened, start] {
                self.say(None, &arrival);
            }
        }
        if self.plan.operation == Operation::Link {
            let arrival = self.without_linkage();
            self.say(None, &arrival);
        }
        let arrival = self.comment(ISSUE, "");
        self.say(None, &arrival);
    }

    fn comment(&mut self, number: u64, text: &str) -> Arrival {
        let at = self.github.later();
        let mut arrival = self.github.comment(number, kind(number), at, text, "mona");
        if self.marks.is_empty() {
            self.marks.push(FIRST.to_owned());
            subject(&mut arrival, |subject| subject.body = FIRST.into());
        }
        self.marks.push(marker(&arrival.event.delivery));
        arrival
    }

    fn fact(&mut self, number: u64, change: ItemFact) -> Arrival {
        let at = self.github.later();
        let mut subject = self.github.subject(number, kind(number), at);
        if let ItemFact::Closed { .. } = change {
            (subject.open, subject.closed_at) = (Some(false), Some(at));
        }
        let name = if number == ISSUE { "issues" } else { "pull_request" };
        self.github.fact(name, subject, change)
    }

    fn opened(&mut self) -> Arrival {
        self.fact(PULL, ItemFact::Opened { transferred_from: None })
    }

    /// A comment on the pull request that names no issue any more.
    fn without_linkage(&mut self) -> Arrival {
        let mut arrival = self.comment(PULL, "");
        subject(&mut arrival, |subject| (subject.body, subject.head) = (String::new(), None));
        arrival
    }

    /// GitHub sends a delivery until it is accepted, and once more; then everything is done that can be.
    fn say(&mut self, decision: Option<usize>, arrival: &Arrival) {
        let writes =
            decision.is_some_and(|at| self.stage.reach(Moment::Deciding(at), None)) && self.stage.power.is_out();
        let mut taken = self.app.ingest(arrival);
        self.stage.state().missed |= writes && taken.is_ok();
        if let (Some(at), true) = (decision, taken.is_ok()) {
            self.stage.reach(Moment::Decided(at), None);
        }
        while taken.is_err() {
            self.recover();
            taken = self.app.ingest(arrival);
        }
        self.recover();
        self.app.ingest(arrival).expect("a calm store works");
        self.drive();
    }

    /// Everything is done that can be; time passes where something waits.
    fn drive(&mut self) {
        for _ in 0..1000 {
            let (mut works, mut waits) = (false, false);
            for lane in self.lanes() {
                let next = self.stage.count();
                self.stage.reach(Moment::Claiming(next), None);
                match self.app.advance(&lane, true, 1) {
                    Ok(progress) => {
                        self.stage.state().missed |= self.stage.power.is_out() && self.stage.count() > next;
                        works |= !matches!(progress, Progress::Idle | Progress::Waiting(_));
                        waits |= matches!(progress, Progress::Waiting(Some(_)));
                    }
                    Err(_) => works = true,
                }
                if self.stage.count() > next {
                    self.stage.reach(Moment::Settled(next), None);
                }
                works |= self.stage.power.is_out();
                self.recover();
            }
            match (works, waits) {
                (false, false) => return,
                (false, true) => _ = self.clock.0.fetch_add(60_000, Ordering::SeqCst),
                (true, _) => {}
            }
        }
        panic!("it never comes to rest: {:?} {:?}", self.plan.operation, self.plan.hook);
    }

    fn lanes(&self) -> Vec<RefKey> {
        let lanes = self.app.store().read(|tx| {
            let claimed = tx.claims()?.into_iter().map(|claim| claim.lane);
            let mut lanes: Vec<RefKey> = tx.lanes()?.into_iter().map(|(lane, _)| lane).chain(claimed).collect();
            lanes.sort();
            lanes.dedup();
            Ok(lanes)
        });
        lanes.expect("the lanes can be read")
    }

    /// The daemon is started again, or the disk has room again.
    fn recover(&mut self) {
        let power = Arc::clone(&self.stage.power);
        if !power.is_out() {
            return;
        }
        let full = power.full.swap(false, Ordering::SeqCst);
        if full {
            // It is tried, in vain, as long as the disk is full.
            let lane = self.github.subject(ISSUE, kind(ISSUE), self.clock.now()).reference.key();
            let answer = self.app.advance(&lane, true, 1);
            assert!(!matches!(answer, Ok(Progress::More)), "a full disk takes nothing");
        } else {
            self.lives += 1;
        }
        let image = match self.plan.torn.filter(|_| !full) {
            Some(seed) => power.backend().crash_image(seed),
            None => power.backend().image(),
        };
        power.off.store(false, Ordering::SeqCst);
        *power.backend.lock().unwrap() = CrashBackend::new(image);
        self.app = boot(&self.plan, &self.stage, &self.clock, self.lives);
    }
}

const fn kind(number: u64) -> SubjectKind {
    if number == ISSUE { SubjectKind::Issue } else { SubjectKind::PullRequest }
}

fn subject(arrival: &mut Arrival, change: impl FnOnce(&mut Subject)) {
    if let Content::Speech(speech) = &mut arrival.event.content
        && let Some(subject) = &mut speech.subject
    {
        change(subject);
    }
}

/// The daemon over what the disk holds.
fn boot(plan: &Plan, stage: &Stage, clock: &Arc<HandClock>, life: u64) -> App {
    let ids = Arc::new(CountedIds { salt: life, next: AtomicU64::new(1) });
    let store = Store::open_inline(stage.power.backend(), ids.as_ref()).expect("what is left can be opened");
    let found = store.read(|tx| the_loop::store::check(tx)).expect("the store can be checked");
    assert!(found.is_empty(), "the store does not fit together: {found:?}");
    App::new(Parts {
        store,
        harness_files: Arc::new(Transcripts(stage.clone())),
        runner: Arc::new(stage.clone()),
        portable: Arc::new(Folder::new(0, 0)),
        earlier: Arc::new(()),
        github: Arc::new(()),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        ids,
        instance: InstanceId(format!("life-{life}")),
        settings: RwLock::new(Arc::new(settings(plan.transcript))),
    })
}

fn settings(transcript: bool) -> Settings {
    let settings = parts::settings(true);
    if !transcript {
        return settings;
    }
    let claude = Harness { name: "agent".into(), ..Harness::built_in("claude").expect("it is built in") };
    Settings { harnesses: [("agent".to_owned(), claude)].into(), ..settings }
}

/// What the harness wrote down itself: every text that was submitted to it.
struct Transcripts(Stage);

impl HarnessFiles for Transcripts {
    fn trust(&self, _: &std::path::Path) -> Result<bool, TrustError> {
        Ok(false)
    }

    fn has_transcript(&self, _: Keeps, _: &std::path::Path, _: &ConversationId) -> Option<bool> {
        None
    }

    fn shows(&self, _: Keeps, _: &std::path::Path, _: &ConversationId, word: &str, _: u64) -> bool {
        self.0.heard().iter().any(|(_, text)| text.contains(word))
    }

    /// The conversation has the id it was started with.
    fn conversation_with(&self, _: Keeps, _: &std::path::Path, _: &str, _: u64) -> Option<ConversationId> {
        None
    }
}
