//! The simulated world: a fake GitHub that says things, deliveries that arrive late, twice and out of order, an app
//! that crashes and comes back, and a terminal that outlives it.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use the_loop::app::ingest::Arrival;
use the_loop::app::perform::Progress;
use the_loop::app::{App, Parts};
use the_loop::domain::decide::Urgency;
use the_loop::domain::ids::InstanceId;
use the_loop::domain::portable::parse;
use the_loop::domain::ports::{Clock, PortableFiles, Runner};
use the_loop::domain::reference::RefKey;
use the_loop::domain::time::Time;
use the_loop::store::testing::CrashBackend;
use the_loop::store::{Store, View as _};

use crate::folder::Folder;
use crate::github::GitHub;
use crate::invariants::{self, Figures};
use crate::machine::Machine;
use crate::parts::{CountedIds, HandClock, settings};
use crate::rng::Rng;
use crate::settled;
use crate::terminal::{Temper, Terminal};

/// What a run is made of.
#[derive(Clone)]
pub struct Plan {
    pub steps: u64,
    pub items: u64,
    /// Pull requests per item.
    pub pulls: usize,
    /// Whether a pull request has a conversation of its own.
    pub session_per_pr: bool,
    /// Whether the invariants expect that it has: a planted fault where it differs.
    pub expects_per_pr: bool,
    pub temper: Temper,
    /// Chance of a power cut per step, percent.
    pub crash: u64,
    /// Chance that a delivery comes again, percent.
    pub again: u64,
    /// Deliveries that may overtake one another.
    pub window: u64,
    /// Whether people stop, close, reopen and pause.
    pub endings: bool,
    /// Chance that what happens is a new name of the repository, percent.
    pub renames: u64,
    /// A runner with a planted fault, around the terminal.
    pub wrap: fn(Terminal) -> Arc<dyn Runner>,
    /// Chance per step that another machine changes a portable file, percent.
    pub machine: u64,
    /// A folder with a planted fault, around the real one.
    pub wrap_folder: fn(Folder) -> Arc<dyn PortableFiles>,
}

impl Plan {
    pub fn calm() -> Self {
        let temper = Temper::default();
        Self {
            steps: 150,
            items: 4,
            pulls: 1,
            session_per_pr: true,
            expects_per_pr: true,
            temper,
            crash: 0,
            again: 10,
            window: 1,
            endings: false,
            renames: 0,
            wrap: |t| Arc::new(t),
            machine: 0,
            wrap_folder: |f| Arc::new(f),
        }
    }

    pub fn crashes() -> Self {
        let temper = Temper { power_cut: 4, ..Temper::default() };
        Self { temper, crash: 6, again: 20, window: 3, ..Self::calm() }
    }

    pub fn storm() -> Self {
        let temper = Temper {
            silent: 10,
            lost_reply: 10,
            cut_after_paste: 6,
            failed_spawn: 10,
            slow_spawn: 0,
            dying_pane: 4,
            busy: 5,
            power_cut: 2,
        };
        Self { temper, crash: 3, ..Self::crashes() }
    }

    pub fn endings() -> Self {
        Self { endings: true, window: 4, steps: 220, ..Self::storm() }
    }

    pub fn renames() -> Self {
        Self { renames: 5, ..Self::endings() }
    }
}

impl Plan {
    /// Several pull requests per item, and clones that take long.
    pub fn endpoints() -> Self {
        let endings = Self::endings();
        let temper = Temper { slow_spawn: 40, ..endings.temper };
        Self { pulls: 3, items: 3, temper, ..endings }
    }

    /// The same, with one conversation for all of an item.
    pub fn collapsed() -> Self {
        Self { session_per_pr: false, expects_per_pr: false, ..Self::endpoints() }
    }

    pub fn machines() -> Self {
        Self { machine: 15, ..Self::endings() }
    }
}

pub struct World {
    pub plan: Plan,
    rng: Rng,
    clock: Arc<HandClock>,
    pub terminal: Terminal,
    pub folder: Folder,
    pub machine: Machine,
    backend: CrashBackend,
    /// The machine is off: nothing that is written from now on is kept.
    off: Arc<AtomicBool>,
    app: Option<App>,
    lives: u64,
    pub github: GitHub,
    /// Sent and not yet answered with success; GitHub's own outbox, redelivered until it is.
    outbox: Vec<Arrival>,
    pub trace: bool,
}

impl World {
    /// Runs `plan` under `seed`; the violations it found, if any.
    pub fn run(plan: &Plan, seed: u64) -> Result<Figures, Vec<String>> {
        let mut world = Self::new(plan.clone(), seed);
        world.boot();
        for _ in 0..plan.steps {
            world.step();
        }
        world.quiesce();
        let app = world.app.as_ref().ok_or_else(|| vec!["the app did not come back".to_owned()])?;
        world.note(|| format!("{:?}", invariants::explain(app)));
        world.note(|| {
            let journal = app.store().read(|tx| tx.journal(0, usize::MAX)).expect("the journal can be read");
            let lines =
                journal.iter().map(|(_, at, entry)| format!("{at} {} {:?}", entry.event.as_str(), entry.fields));
            lines.collect::<Vec<_>>().join("\n")
        });
        let mut violations = invariants::check(app, &world);
        violations.extend(settled::check(app, &world));
        if violations.is_empty() { Ok(invariants::figures(app, &world)) } else { Err(violations) }
    }

    fn new(plan: Plan, seed: u64) -> Self {
        let terminal = Terminal::new(seed, plan.temper);
        let folder = Folder::new(seed, plan.temper.power_cut);
        Self {
            rng: Rng::new(seed),
            clock: Arc::new(HandClock(AtomicI64::new(1_780_000_000_000))),
            terminal,
            folder,
            machine: Machine::default(),
            backend: CrashBackend::new(Vec::new()),
            off: Arc::default(),
            app: None,
            lives: 0,
            github: GitHub::new(plan.items, plan.pulls, plan.endings, plan.renames),
            outbox: Vec::new(),
            trace: std::env::var("SIM_SEED").is_ok(),
            plan,
        }
    }

    fn note(&self, text: impl FnOnce() -> String) {
        if self.trace {
            println!("{}", text());
        }
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    /// Starts the app over what the last life left behind.
    fn boot(&mut self) {
        self.lives += 1;
        let ids = Arc::new(CountedIds { salt: self.rng.next(), next: AtomicU64::new(1) });
        let store = Store::open_inline(self.backend.clone(), ids.as_ref()).expect("a crash image opens");
        let found = store.read(|tx| the_loop::store::check(tx)).expect("the store can be checked");
        assert!(found.is_empty(), "after a restart the store does not fit together: {found:?}");
        let (power, off) = (self.backend.clone(), Arc::clone(&self.off));
        self.terminal.0.lock().unwrap().cut_power = Some(Box::new(move || cut(&power, &off)));
        let (power, off) = (self.backend.clone(), Arc::clone(&self.off));
        self.folder.state().cut_power = Some(Box::new(move || cut(&power, &off)));
        self.app = Some(App::new(Parts {
            store,
            harness_files: Arc::new(the_loop::adapters::harness_files::HarnessFolders::new(&Default::default())),
            runner: (self.plan.wrap)(self.terminal.clone()),
            portable: (self.plan.wrap_folder)(self.folder.clone()),
            earlier: Arc::new(()),
            github: Arc::new(()),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            ids,
            instance: InstanceId(format!("life-{}", self.lives)),
            settings: RwLock::new(Arc::new(settings(self.plan.session_per_pr))),
        }));
    }

    /// The power goes, if it has not gone by itself, and comes back.
    fn crash(&mut self) {
        self.note(|| "-- power cut".into());
        cut(&self.backend, &self.off);
        self.app = None;
        self.backend = CrashBackend::new(self.backend.crash_image(self.rng.next()));
        self.off.store(false, Ordering::SeqCst);
        self.terminal.0.lock().unwrap().meanwhile = None;
        self.boot();
    }

    fn step(&mut self) {
        self.clock.0.fetch_add(self.rng.below(1500) as i64, Ordering::SeqCst);
        let now = self.now();
        match self.rng.below(10) {
            0..=2 => {
                let said = self.github.something(&mut self.rng, now);
                self.note(|| format!("said {}", crate::github::describe(&said.event)));
                self.outbox.push(said);
            }
            3..=5 => self.deliver_one(),
            6..=8 => self.advance_some(),
            _ if self.plan.temper.dying_pane > 0 => self.terminal.kill_some_pane(&mut self.rng.clone()),
            _ => {}
        }
        if self.rng.chance(25) {
            self.export_some();
        }
        if self.rng.chance(self.plan.machine) {
            self.other_machine();
        }
        if self.off.load(Ordering::SeqCst) || self.rng.chance(self.plan.crash) {
            self.crash();
        }
    }

    /// One of the oldest unanswered deliveries arrives; sometimes it is sent again although it was answered.
    fn deliver_one(&mut self) {
        if self.outbox.is_empty() {
            return;
        }
        let at = self.rng.below(self.plan.window.min(self.outbox.len() as u64)) as usize;
        let arrival = self.outbox[at].clone();
        let Some(app) = &self.app else { return };
        match app.adopt_for(&arrival.event) {
            Ok(adoption) if adoption.changed.is_empty() => {}
            adopted => self.note(|| format!("adopted {adopted:?}")),
        }
        match app.ingest(&arrival) {
            Ok(taken) => {
                self.note(|| format!("taken {:?} {:?}", arrival.event.delivery, taken.verdict));
                if !self.rng.chance(self.plan.again) {
                    self.outbox.remove(at);
                }
            }
            Err(error) => self.note(|| format!("503 {error}")),
        }
    }

    fn lanes(&self) -> Vec<RefKey> {
        let Some(app) = &self.app else { return Vec::new() };
        let lanes = app.store().read(|tx| {
            let mut lanes: Vec<RefKey> = tx.lanes()?.into_iter().map(|(lane, _)| lane).collect();
            lanes.extend(tx.claims()?.into_iter().map(|claim| claim.lane));
            lanes.sort();
            lanes.dedup();
            Ok(lanes)
        });
        lanes.unwrap_or_default()
    }

    fn advance_some(&mut self) {
        let lanes = self.lanes();
        if lanes.is_empty() {
            return;
        }
        let lane = self.rng.pick(&lanes).clone();
        let rounds = 1 + self.rng.below(3) as usize;
        let heard = self.meanwhile();
        if let Some(app) = &self.app {
            let progress = app.advance(&lane, true, rounds);
            self.note(|| format!("advance {lane} {progress:?}"));
        }
        // What was not accepted is sent again.
        let unheard = std::mem::take(&mut *heard.lock().unwrap());
        self.outbox.splice(0..0, unheard);
    }

    /// Puts the next deliveries where they arrive while a start takes long; those that are left are not accepted.
    fn meanwhile(&mut self) -> Arc<Mutex<Vec<Arrival>>> {
        let count = match self.plan.temper.slow_spawn {
            0 => 0,
            _ => self.rng.below(3).min(self.outbox.len() as u64) as usize,
        };
        let waiting: Arc<Mutex<Vec<Arrival>>> = Arc::new(Mutex::new(self.outbox.drain(..count).collect()));
        let Some(app) = self.app.clone() else { return waiting };
        let (clock, arriving, minutes) = (Arc::clone(&self.clock), Arc::clone(&waiting), self.rng.below(45) as i64);
        self.terminal.0.lock().unwrap().meanwhile = Some(Box::new(move || {
            clock.0.fetch_add(minutes * 60_000, Ordering::SeqCst);
            arriving.lock().unwrap().retain(|arrival| app.ingest(arrival).is_err());
        }));
        waiting
    }

    fn export_some(&mut self) {
        let urgency = if self.rng.chance(50) { Urgency::Now } else { Urgency::Cycle };
        if let Some(app) = &self.app {
            let run = app.export_marked(urgency, &Default::default());
            self.note(|| format!("export {run:?}"));
        }
    }

    fn other_machine(&mut self) {
        let Some(app) = &self.app else { return };
        let did = self.machine.act(&mut self.rng, &self.folder, &mut self.github, app);
        self.note(|| did);
    }

    /// Every conflict is solved, and what the files say is taken in.
    fn calm_folder(&mut self) {
        self.folder.state().power_cut = 0;
        for (name, text) in self.folder.texts() {
            if parse(text.as_bytes()).is_err() {
                self.folder.remove(&name);
            }
        }
        let adopted = self.app.as_ref().map(|app| app.adopt_folder().expect("a calm folder can be read"));
        self.note(|| format!("adopted {adopted:?}"));
    }

    /// Serves what marks are left.
    fn export_rest(&self) {
        let Some(app) = &self.app else { return };
        for _ in 0..4 {
            let run = app.export_marked(Urgency::Cycle, &Default::default()).expect("a calm folder can be written");
            self.note(|| format!("export {run:?}"));
        }
    }

    /// Everything arrives, everything behaves, time passes: what is left to do gets done.
    fn quiesce(&mut self) {
        self.terminal.calm_down();
        self.plan.again = 0;
        self.crash();
        self.calm_folder();
        while !self.outbox.is_empty() {
            self.deliver_one();
        }
        for _ in 0..400 {
            let mut busy = false;
            for lane in self.lanes() {
                let Some(app) = &self.app else { return };
                let progress = app.advance(&lane, true, 100).expect("a calm store works");
                self.note(|| format!("advance {lane} {progress:?}"));
                busy |= progress != Progress::Idle && progress != Progress::Waiting(None);
            }
            if !busy {
                break;
            }
            self.clock.0.fetch_add(120_000, Ordering::SeqCst);
        }
        self.export_rest();
        self.restart_is_identity();
    }

    /// A clean restart changes nothing.
    fn restart_is_identity(&mut self) {
        let before = self.app.as_ref().map(invariants::digest);
        self.app = None;
        self.backend = CrashBackend::new(self.backend.crash_image(0));
        self.boot();
        let after = self.app.as_ref().map(invariants::digest);
        assert_eq!(before, after, "a restart changed the store");
    }
}

fn cut(backend: &CrashBackend, off: &AtomicBool) {
    backend.halt_at(0);
    off.store(true, Ordering::SeqCst);
}
