//! A terminal multiplexer that outlives the daemon and misbehaves on request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use the_loop::domain::ids::BatchId;
use the_loop::domain::ports::{
    DeliverRequest, Delivered, Pane, PasteStyle, Refusal, Remembered, Runner, RunnerError, SpawnRequest,
};
use the_loop::domain::session::{Life, PaneKey};

use crate::rng::Rng;

/// One pane of the fake server.
#[derive(Debug, Clone)]
pub struct FakePane {
    pub request: SpawnRequest,
    pub life: Life,
    pub alive: bool,
    /// Submitted texts, in order, over all lives of the pane.
    pub submitted: Vec<String>,
    typed: Option<String>,
    pasted: Option<String>,
    delivered: Option<String>,
}

/// How badly it behaves, percent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Temper {
    pub silent: u64,
    pub lost_reply: u64,
    pub cut_after_paste: u64,
    pub failed_spawn: u64,
    /// A start takes long: its clone does, and other things happen meanwhile.
    pub slow_spawn: u64,
    pub dying_pane: u64,
    pub busy: u64,
    /// The power goes in the middle of a call.
    pub power_cut: u64,
}

pub struct State {
    pub panes: BTreeMap<String, FakePane>,
    pub temper: Temper,
    pub rng: Rng,
    next_pid: u32,
    /// Which server it is: another one began empty.
    server: u32,
    next_pane: u32,
    /// Cuts the power of the store, if the simulation wired it.
    pub cut_power: Option<Box<dyn Fn() + Send>>,
    /// What happens while a start takes long.
    pub meanwhile: Option<Box<dyn FnOnce() + Send>>,
}

/// The fake server; clones share it, as daemons share a real one.
#[derive(Clone)]
pub struct Terminal(pub Arc<Mutex<State>>);

impl Terminal {
    pub fn new(seed: u64, temper: Temper) -> Self {
        let state = State {
            panes: BTreeMap::new(),
            temper,
            rng: Rng::new(seed ^ 0x7E21),
            next_pid: 100,
            server: 1,
            next_pane: 0,
            cut_power: None,
            meanwhile: None,
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// From now on it behaves.
    pub fn calm_down(&self) {
        self.0.lock().unwrap().temper = Temper::default();
    }

    fn take_long(&self) {
        let mut state = self.0.lock().unwrap();
        let percent = state.temper.slow_spawn;
        let meanwhile = if state.roll(percent) { state.meanwhile.take() } else { None };
        drop(state);
        if let Some(meanwhile) = meanwhile {
            meanwhile();
        }
    }

    /// Another server in its place, which counts from the beginning.
    pub fn begin_anew(&self) {
        let mut state = self.0.lock().unwrap();
        (state.server, state.next_pane) = (state.server + 1, 0);
    }

    pub fn kill_some_pane(&self, rng: &mut Rng) {
        let mut state = self.0.lock().unwrap();
        let ids: Vec<String> = state.panes.iter().filter(|(_, pane)| pane.alive).map(|(id, _)| id.clone()).collect();
        if !ids.is_empty() {
            let id = rng.pick(&ids).clone();
            state.panes.get_mut(&id).unwrap().alive = false;
        }
    }
}

impl State {
    fn roll(&mut self, percent: u64) -> bool {
        percent > 0 && self.rng.chance(percent)
    }

    fn maybe_cut_power(&mut self) {
        let percent = self.temper.power_cut;
        if self.roll(percent)
            && let Some(cut) = &self.cut_power
        {
            cut();
        }
    }

    fn condition(&self, request: &DeliverRequest) -> Result<(), Refusal> {
        let pane = self.panes.get(&request.life.pane).ok_or(Refusal::OtherLife)?;
        if pane.request.key != request.key || pane.life != request.life {
            return Err(Refusal::OtherLife);
        }
        if pane.alive { Ok(()) } else { Err(Refusal::Dead) }
    }
}

impl FakePane {
    fn submit(&mut self, batch: &BatchId) {
        self.submitted.extend(self.typed.take());
        self.delivered = Some(batch.as_str().to_owned());
    }
}

impl Runner for Terminal {
    fn spawn(&self, request: &SpawnRequest) -> Result<Life, RunnerError> {
        self.take_long();
        let mut state = self.0.lock().unwrap();
        state.maybe_cut_power();
        let (silent, fails) = (state.temper.silent, state.temper.failed_spawn);
        if state.roll(silent) {
            return Err(RunnerError::Unreachable("silent".into()));
        }
        if let Some(pane) = state.panes.values().find(|pane| pane.request.key == request.key && pane.alive) {
            return Ok(pane.life.clone());
        }
        if state.roll(fails) {
            return Err(RunnerError::SpawnFailed("exit status 1".into()));
        }
        let old = state.panes.values().find(|pane| pane.request.key == request.key).map(|pane| pane.life.pane.clone());
        state.next_pid += 1;
        let pid = state.next_pid;
        let pane_id = old.unwrap_or_else(|| {
            // A server never gives a number twice.
            state.next_pane += 1;
            format!("%{}", state.next_pane - 1)
        });
        let life = Life {
            socket: "sim".into(),
            server_pid: state.server,
            server_started: 1,
            session: request.session_name.clone(),
            pane: pane_id.clone(),
            pane_pid: pid,
        };
        let submitted = state.panes.remove(&pane_id).map(|pane| pane.submitted).unwrap_or_default();
        let request = request.clone();
        let pane = FakePane {
            request,
            life: life.clone(),
            alive: true,
            submitted,
            typed: None,
            pasted: None,
            delivered: None,
        };
        state.panes.insert(pane_id, pane);
        state.maybe_cut_power();
        let lost = state.temper.lost_reply;
        if state.roll(lost) {
            return Err(RunnerError::Unreachable("the answer was lost".into()));
        }
        Ok(life)
    }

    fn settle_screen(&self, _: &Life, _: u64) {}

    fn deliver(&self, request: &DeliverRequest) -> Delivered {
        let mut state = self.0.lock().unwrap();
        state.maybe_cut_power();
        let temper = state.temper;
        if state.roll(temper.silent) {
            return Delivered::NotRun("silent".into());
        }
        if state.roll(temper.dying_pane)
            && let Some(pane) = state.panes.get_mut(&request.life.pane)
        {
            pane.alive = false;
        }
        if state.roll(temper.busy) {
            return Delivered::Refused(Refusal::Busy("dialog".into()));
        }
        if let Err(refusal) = state.condition(request) {
            return Delivered::Refused(refusal);
        }
        let cut = state.roll(temper.cut_after_paste);
        let lost = state.roll(temper.lost_reply);
        let dies = state.roll(temper.dying_pane);
        let pane = state.panes.get_mut(&request.life.pane).unwrap();
        pane.typed = Some(request.text.clone());
        pane.pasted = Some(request.batch.as_str().to_owned());
        if cut {
            pane.alive &= !dies;
            state.maybe_cut_power();
            return if lost { Delivered::Unknown("client killed".into()) } else { Delivered::PastedOnly };
        }
        pane.submit(&request.batch);
        state.maybe_cut_power();
        if lost { Delivered::Unknown("the answer was lost".into()) } else { Delivered::Submitted }
    }

    fn recall(&self, key: &PaneKey, life: &Life, batch: &BatchId, _: &PasteStyle) -> Result<Remembered, RunnerError> {
        let mut state = self.0.lock().unwrap();
        let silent = state.temper.silent;
        if state.roll(silent) {
            return Err(RunnerError::Unreachable("silent".into()));
        }
        let Some(pane) = state.panes.get(&life.pane) else { return Ok(Remembered::OtherLife) };
        // Marks are options of the pane and outlive a respawn; only the life decides whether they count.
        if pane.delivered.as_deref() == Some(batch.as_str()) {
            return Ok(Remembered::Submitted);
        }
        if pane.request.key != *key || pane.life != *life {
            return Ok(Remembered::OtherLife);
        }
        match pane.pasted.as_deref() == Some(batch.as_str()) {
            true => Ok(Remembered::PastedOnly),
            false => Ok(Remembered::Nothing),
        }
    }

    fn submit(&self, request: &DeliverRequest) -> Delivered {
        let mut state = self.0.lock().unwrap();
        state.maybe_cut_power();
        if let Err(refusal) = state.condition(request) {
            return Delivered::Refused(refusal);
        }
        state.panes.get_mut(&request.life.pane).unwrap().submit(&request.batch);
        state.maybe_cut_power();
        Delivered::Submitted
    }

    fn panes(&self) -> Result<Vec<Pane>, RunnerError> {
        let state = self.0.lock().unwrap();
        Ok(state
            .panes
            .values()
            .map(|pane| Pane {
                key: pane.request.key.as_str().to_owned(),
                store: pane.request.store.clone(),
                reference: pane.request.reference.to_string(),
                life: pane.life.clone(),
                dead: (!pane.alive).then_some(Some(0)),
                only_shell: false,
            })
            .collect())
    }

    fn end(&self, key: &PaneKey, life: &Life, _: u64, _: bool) -> Result<(), RunnerError> {
        let mut state = self.0.lock().unwrap();
        state.maybe_cut_power();
        let silent = state.temper.silent;
        if state.roll(silent) {
            return Err(RunnerError::Unreachable("silent".into()));
        }
        if let Some(pane) =
            state.panes.get_mut(&life.pane).filter(|pane| pane.request.key == *key && pane.life == *life)
        {
            pane.alive = false;
        }
        state.maybe_cut_power();
        Ok(())
    }
}
