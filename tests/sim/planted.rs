//! Bugs planted on purpose: the simulation has to find each of them, or it proves nothing.

use std::sync::Arc;

use the_loop::domain::ids::{BatchId, StoreId};
use the_loop::domain::portable::files::{Export, FileError, Held, Located, Look, Written};
use the_loop::domain::portable::{FolderId, Stamp};
use the_loop::domain::ports::PortableFiles;
use the_loop::domain::ports::{
    DeliverRequest, Delivered, Pane, PasteStyle, Remembered, Runner, RunnerError, SpawnRequest,
};
use the_loop::domain::reference::WorkItemRef;
use the_loop::domain::session::{Life, PaneKey};
use the_loop::domain::time::Time;

use crate::folder::Folder;
use crate::terminal::{Temper, Terminal};
use crate::world::{Plan, World};

/// Which fault the runner has.
#[derive(Clone, Copy)]
pub enum Fault {
    /// Recovery never looks at the pane and pastes again (K11, K19).
    Forgetful,
    /// Success is reported although nothing was typed (K70).
    Boastful,
    /// What is ended lives on (K22, K40).
    Immortal,
    /// Two panes are mixed up (K04, K05).
    Crossed,
    /// A dead pane is typed at, and that counts as delivered (K18).
    Deaf,
    /// What is for a pull request is typed at another conversation of its item (K16).
    Neighbour,
    /// Living panes are not found again, and one more is started (K39).
    Doubling,
    /// What is ended lives on, where it is a pull request's (K40).
    ImmortalPulls,
}

/// A runner with a fault, around a sound one.
pub struct Planted(pub Terminal, pub Fault);

impl Runner for Planted {
    fn spawn(&self, request: &SpawnRequest) -> Result<Life, RunnerError> {
        if let Fault::Doubling = self.1 {
            let mut state = self.0.0.lock().unwrap();
            let key = PaneKey::new(&StoreId(format!("{}", state.panes.len())), &request.reference, &request.reference);
            // It goes by another key from now on, so that nobody finds it.
            state.panes.values_mut().filter(|pane| pane.request.key == request.key).for_each(|pane| {
                pane.request.key = key.clone();
            });
        }
        self.0.spawn(request)
    }

    fn settle_screen(&self, life: &Life, limit_ms: u64) {
        self.0.settle_screen(life, limit_ms);
    }

    fn deliver(&self, request: &DeliverRequest) -> Delivered {
        match self.1 {
            Fault::Deaf => match self.0.deliver(request) {
                Delivered::Refused(_) => Delivered::Submitted,
                answer => answer,
            },
            Fault::Boastful if request.text.len().is_multiple_of(7) => Delivered::Submitted,
            Fault::Crossed | Fault::Neighbour => {
                let panes = self.0.panes().unwrap_or_default();
                let item =
                    |session: &str| session.rsplit('-').next().and_then(|n| n.parse::<u64>().ok()).map(|n| n % 100);
                let own = item(&request.life.session);
                let other = panes.iter().find(|pane| {
                    let near = item(&pane.life.session) == own || matches!(self.1, Fault::Crossed);
                    pane.key != request.key.as_str() && pane.dead.is_none() && near
                });
                if let Some(other) = other.filter(|_| request.text.len().is_multiple_of(5)) {
                    let mut state = self.0.0.lock().unwrap();
                    let pane = state.panes.get_mut(&other.life.pane).unwrap();
                    pane.submitted.push(request.text.clone());
                    return Delivered::Submitted;
                }
                self.0.deliver(request)
            }
            _ => self.0.deliver(request),
        }
    }

    fn recall(
        &self,
        key: &PaneKey,
        life: &Life,
        batch: &BatchId,
        style: &PasteStyle,
    ) -> Result<Remembered, RunnerError> {
        match self.1 {
            Fault::Forgetful => Ok(Remembered::Nothing),
            _ => self.0.recall(key, life, batch, style),
        }
    }

    fn submit(&self, request: &DeliverRequest) -> Delivered {
        self.0.submit(request)
    }

    fn panes(&self) -> Result<Vec<Pane>, RunnerError> {
        self.0.panes()
    }

    fn end(&self, key: &PaneKey, life: &Life, grace_ms: u64, keep_pane: bool) -> Result<(), RunnerError> {
        match self.1 {
            Fault::Immortal => Ok(()),
            Fault::ImmortalPulls if !life.session.ends_with("-1") => Ok(()),
            _ => self.0.end(key, life, grace_ms, keep_pane),
        }
    }
}

/// A folder that reports success and writes nothing (K70).
struct Idle(Folder);

impl PortableFiles for Idle {
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
        let before = self.0.texts();
        let folder = self.0.export(items, done)?;
        for (name, text) in self.0.texts() {
            match before.get(&name) {
                Some(old) if *old != text => self.0.put(&name, old),
                Some(_) => {}
                None => self.0.remove(&name),
            }
        }
        Ok(folder)
    }

    fn check(&self, items: &[Export<'_>], told: &mut dyn FnMut(usize, Result<bool, Held>)) -> Result<(), FileError> {
        self.0.check(items, told)
    }
}

/// Runs until a seed shows the fault; the words of the invariant it must break.
fn must_find(plan: &Plan, wrap: fn(Terminal) -> Arc<dyn Runner>, words: &str) {
    must_find_in(Plan { wrap, ..plan.clone() }, words);
}

fn must_find_in(plan: Plan, words: &str) {
    let all: Vec<String> = (0..40).filter_map(|seed| World::run(&plan, seed).err()).flatten().collect();
    assert!(all.iter().any(|violation| violation.contains(words)), "it must be found within 40 seeds: {all:?}");
}

#[test]
fn a_recovery_that_pastes_again_is_found() {
    must_find(&Plan::crashes(), |t| Arc::new(Planted(t, Fault::Forgetful)), "none delivered twice");
}

#[test]
fn a_success_that_did_nothing_is_found() {
    must_find(&Plan::calm(), |t| Arc::new(Planted(t, Fault::Boastful)), "no accepted event lost");
}

#[test]
fn an_end_that_ends_nothing_is_found() {
    must_find(&Plan::endings(), |t| Arc::new(Planted(t, Fault::Immortal)), "closed stays closed");
}

#[test]
fn mixed_up_panes_are_found() {
    must_find(&Plan::calm(), |t| Arc::new(Planted(t, Fault::Crossed)), "none to another item");
}

#[test]
fn an_export_that_wrote_nothing_is_found() {
    must_find_in(Plan { wrap_folder: |folder| Arc::new(Idle(folder)), ..Plan::calm() }, "export settles");
}

#[test]
fn a_pull_request_that_its_neighbour_hears_is_found() {
    let plan = Plan { pulls: 2, ..Plan::calm() };
    must_find(&plan, |t| Arc::new(Planted(t, Fault::Neighbour)), "a pull request hears its own");
}

#[test]
fn a_second_agent_of_a_conversation_is_found() {
    must_find(&Plan::storm(), |t| Arc::new(Planted(t, Fault::Doubling)), "one agent per conversation");
}

#[test]
fn an_end_that_ends_no_pull_request_is_found() {
    let plan = Plan { temper: Temper::default(), crash: 0, ..Plan::endpoints() };
    must_find(&plan, |t| Arc::new(Planted(t, Fault::ImmortalPulls)), "a closed pull request has no agent");
}

#[test]
fn a_pull_request_with_its_own_conversation_in_collapsed_mode_is_found() {
    must_find_in(Plan { session_per_pr: true, ..Plan::collapsed() }, "collapsed is one conversation");
}
