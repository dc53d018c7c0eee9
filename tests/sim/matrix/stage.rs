//! Between the app and the terminal: counts what is done outside, and interrupts it at one named moment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use the_loop::domain::ids::BatchId;
use the_loop::domain::ports::{
    DeliverRequest, Delivered, Pane, PasteStyle, Remembered, Runner, RunnerError, SpawnRequest,
};
use the_loop::domain::session::{Life, PaneKey};
use the_loop::store::testing::CrashBackend;

use super::steps::{Interruption, Moment, Verb, Work};
use crate::parts::HandClock;
use crate::terminal::Terminal;

/// The disk under the store.
pub struct Power {
    pub backend: Mutex<CrashBackend>,
    /// The process is gone.
    pub off: AtomicBool,
    /// The disk is full.
    pub full: AtomicBool,
}

impl Power {
    pub fn backend(&self) -> CrashBackend {
        self.backend.lock().unwrap().clone()
    }

    pub fn is_out(&self) -> bool {
        self.off.load(Ordering::SeqCst) || self.full.load(Ordering::SeqCst)
    }
}

/// What keeps harnesses from starting.
#[derive(Clone, Copy)]
struct Trouble {
    why: &'static str,
    starts_left: u32,
}

pub struct State {
    /// What was asked of the runner since the operation began, in order.
    pub works: Vec<Work>,
    /// Where the interruption is still to come.
    hook: Option<(Moment, Interruption, u64)>,
    /// The moment of writing was over before the storage change it asked for.
    pub missed: bool,
    trouble: Option<Trouble>,
    /// Texts submitted to panes that are gone, with the reference of the pane.
    buried: Vec<(String, String)>,
}

/// The runner the app gets; clones share it.
#[derive(Clone)]
pub struct Stage {
    pub terminal: Terminal,
    inner: Arc<dyn Runner>,
    pub power: Arc<Power>,
    clock: Arc<HandClock>,
    state: Arc<Mutex<State>>,
}

impl Stage {
    pub fn new(
        terminal: Terminal,
        wrap: fn(Terminal) -> Arc<dyn Runner>,
        power: Arc<Power>,
        clock: Arc<HandClock>,
    ) -> Self {
        let inner = wrap(terminal.clone());
        let state = State { works: Vec::new(), hook: None, missed: false, trouble: None, buried: Vec::new() };
        Self { terminal, inner, power, clock, state: Arc::new(Mutex::new(state)) }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The operation begins: works are counted from here, and one moment is interrupted. At a moment of writing,
    /// `change` is the storage change that fails first.
    pub fn begin(&self, hook: Option<(Moment, Interruption)>, change: u64) {
        let mut state = self.state();
        state.works.clear();
        state.hook = hook.map(|(moment, interruption)| (moment, interruption, change));
    }

    /// How many works were asked for since.
    pub fn count(&self) -> usize {
        self.state().works.len()
    }

    /// Interrupts, if this is the moment. `key` is the pane that is worked on.
    pub fn reach(&self, moment: Moment, key: Option<&PaneKey>) -> bool {
        let hook = self.state().hook;
        let Some((_, interruption, change)) = hook.filter(|(wanted, ..)| *wanted == moment) else { return false };
        if moment.is_writing() && interruption.is_of_storage() {
            // From this change on it does not happen; whoever completes the writing has missed the moment.
            self.power.backend().halt_at(change);
            self.flag(interruption);
        } else {
            self.fire(interruption, key);
        }
        self.state().hook = None;
        true
    }

    /// Whether the interruption is still to come.
    pub fn awaits(&self, moment: Moment) -> bool {
        self.state().hook.is_some_and(|(wanted, ..)| wanted == moment)
    }

    fn flag(&self, interruption: Interruption) {
        match interruption {
            Interruption::Kill => self.power.off.store(true, Ordering::SeqCst),
            _ => self.power.full.store(true, Ordering::SeqCst),
        }
    }

    fn fire(&self, interruption: Interruption, key: Option<&PaneKey>) {
        match interruption {
            Interruption::Kill | Interruption::DiskFull => {
                self.power.backend().halt_at(0);
                self.flag(interruption);
            }
            Interruption::ServerKilled => {
                self.bury(|_| true);
                self.terminal.begin_anew();
            }
            Interruption::PaneKilled => {
                let key = self.pane_of(key);
                self.bury(|pane| Some(pane) == key.as_deref());
            }
            Interruption::ClockBack => {
                self.clock.0.fetch_sub(3_600_000, Ordering::SeqCst);
            }
            Interruption::GitFails { starts } => {
                self.state().trouble = Some(Trouble { why: "git: fatal: cannot lock ref", starts_left: starts });
            }
            Interruption::HarnessExits { starts } => {
                let key = self.pane_of(key);
                let mut terminal = self.terminal.0.lock().unwrap();
                let dying =
                    terminal.panes.values_mut().filter(|pane| Some(pane.request.key.as_str()) == key.as_deref());
                dying.for_each(|pane| pane.alive = false);
                self.state().trouble = Some(Trouble { why: "exit status 1", starts_left: starts });
            }
        }
    }

    /// The pane that is worked on, or else the first there is.
    fn pane_of(&self, key: Option<&PaneKey>) -> Option<String> {
        let panes = &self.terminal.0.lock().unwrap().panes;
        let first = || panes.values().next().map(|pane| pane.request.key.as_str().to_owned());
        key.map(|key| key.as_str().to_owned()).or_else(first)
    }

    /// Panes are gone; what was submitted to them was heard all the same.
    fn bury(&self, which: impl Fn(&str) -> bool) {
        let mut terminal = self.terminal.0.lock().unwrap();
        let mut state = self.state();
        terminal.panes.retain(|_, pane| {
            let goes = which(pane.request.key.as_str());
            if goes {
                let reference = pane.request.reference.to_string();
                state.buried.extend(pane.submitted.iter().map(|text| (reference.clone(), text.clone())));
            }
            !goes
        });
    }

    /// Every text that was ever submitted, with the reference of its pane, in order per pane.
    pub fn heard(&self) -> Vec<(String, String)> {
        let terminal = self.terminal.0.lock().unwrap();
        let mut heard = self.state().buried.clone();
        for pane in terminal.panes.values() {
            heard.extend(pane.submitted.iter().map(|text| (pane.request.reference.to_string(), text.clone())));
        }
        heard
    }

    /// A work begins: its number. Whoever waited to cut the writing of its claim waited too long.
    fn begin_work(&self, verb: Verb, session: &str, key: &PaneKey) -> usize {
        let number = {
            let mut state = self.state();
            state.works.push(Work::new(verb, session));
            state.missed |= self.power.is_out();
            state.works.len() - 1
        };
        self.reach(Moment::Begun(number), Some(key));
        number
    }

    fn is_off(&self) -> bool {
        self.power.off.load(Ordering::SeqCst)
    }

    /// The last two moments of a work.
    fn end_work(&self, number: usize, key: &PaneKey) {
        self.reach(Moment::Done(number), Some(key));
        self.reach(Moment::Settling(number), Some(key));
    }

    fn start(&self, request: &SpawnRequest) -> Result<Life, RunnerError> {
        {
            let mut state = self.state();
            if let Some(trouble) = state.trouble.as_mut().filter(|trouble| trouble.starts_left > 0) {
                trouble.starts_left -= 1;
                return Err(RunnerError::SpawnFailed(trouble.why.into()));
            }
        }
        self.inner.spawn(request)
    }

    /// Pasted, and not submitted yet: here it is interrupted.
    fn deliver_half(&self, number: usize, request: &DeliverRequest) -> Delivered {
        let cut = |percent| self.terminal.0.lock().unwrap().temper.cut_after_paste = percent;
        cut(100);
        let answer = self.inner.deliver(request);
        cut(0);
        let hook = self.state().hook;
        self.reach(Moment::Half(number), Some(&request.key));
        match (answer, hook) {
            (Delivered::PastedOnly, Some((_, Interruption::ServerKilled, _))) => {
                Delivered::Unknown("the server went away".into())
            }
            // The client was not disturbed and goes on.
            (Delivered::PastedOnly, Some((_, interruption, _))) if !interruption.reaches_the_terminal() => {
                self.inner.submit(request)
            }
            (answer, _) => answer,
        }
    }
}

impl Runner for Stage {
    fn spawn(&self, request: &SpawnRequest) -> Result<Life, RunnerError> {
        let number = self.begin_work(Verb::Spawn, &request.session_name, &request.key);
        if self.is_off() {
            return Err(RunnerError::Unreachable("the asker is gone".into()));
        }
        let answer = self.start(request);
        let hook = self.state().hook;
        if self.reach(Moment::Half(number), Some(&request.key))
            && hook.is_some_and(|(_, interruption, _)| interruption.reaches_the_terminal())
        {
            return Err(RunnerError::Unreachable("the answer was lost".into()));
        }
        self.end_work(number, &request.key);
        answer
    }

    fn settle_screen(&self, _: &Life, _: u64) {}

    fn deliver(&self, request: &DeliverRequest) -> Delivered {
        let number = self.begin_work(Verb::Deliver, &request.life.session, &request.key);
        if self.is_off() {
            return Delivered::NotRun("the asker is gone".into());
        }
        let answer = match self.awaits(Moment::Half(number)) {
            true => self.deliver_half(number, request),
            false => self.inner.deliver(request),
        };
        self.end_work(number, &request.key);
        answer
    }

    fn recall(
        &self,
        key: &PaneKey,
        life: &Life,
        batch: &BatchId,
        style: &PasteStyle,
    ) -> Result<Remembered, RunnerError> {
        self.inner.recall(key, life, batch, style)
    }

    fn submit(&self, request: &DeliverRequest) -> Delivered {
        self.inner.submit(request)
    }

    fn panes(&self) -> Result<Vec<Pane>, RunnerError> {
        self.inner.panes()
    }

    fn end(&self, key: &PaneKey, life: &Life, grace_ms: u64, keep_pane: bool) -> Result<(), RunnerError> {
        let number = self.begin_work(Verb::End, &life.session, key);
        if self.is_off() {
            return Err(RunnerError::Unreachable("the asker is gone".into()));
        }
        let answer = self.inner.end(key, life, grace_ms, keep_pane);
        self.end_work(number, key);
        answer
    }
}
