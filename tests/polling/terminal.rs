//! A terminal that only writes down what is typed, and lets something else happen in the middle of a start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use the_loop::domain::ids::BatchId;
use the_loop::domain::ports::{
    DeliverRequest, Delivered, Pane, PasteStyle, Remembered, Runner, RunnerError, SpawnRequest,
};
use the_loop::domain::session::{Life, PaneKey};

/// What happens once, in the middle of a start.
type Meddler = Box<dyn FnOnce() + Send>;

/// A terminal in memory.
#[derive(Default)]
pub struct Terminal {
    /// Whose conversation a pane is: `github:octo/hello#7`.
    owners: Mutex<BTreeMap<String, String>>,
    typed: Mutex<Vec<(String, String)>>,
    /// Deliveries that were typed, as a pane remembers them.
    submitted: Mutex<BTreeSet<String>>,
    ended: Mutex<Vec<String>>,
    next: AtomicU64,
    meddler: Mutex<Option<Meddler>>,
}

impl Terminal {
    /// In the middle of the next start, this happens.
    pub fn during_the_next_spawn(&self, meddle: impl FnOnce() + Send + 'static) {
        *self.meddler.lock().unwrap() = Some(Box::new(meddle));
    }

    /// Into whose conversations `text` was typed, in order; once for every time it stands in what was typed.
    pub fn heard(&self, text: &str) -> Vec<String> {
        let typed = self.typed.lock().unwrap();
        let times = |(to, typed): &(String, String)| vec![short(to); typed.matches(text).count()];
        typed.iter().flat_map(times).collect()
    }

    /// Into whose conversations something with `text` in it was typed, in order, each as often as something was typed.
    pub fn hearers(&self, text: &str) -> Vec<String> {
        let typed = self.typed.lock().unwrap();
        typed.iter().filter(|(_, typed)| typed.contains(text)).map(|(to, _)| short(to)).collect()
    }

    /// How often something with `text` in it was typed.
    pub fn times_typed(&self, text: &str) -> usize {
        self.hearers(text).len()
    }

    /// Everything typed, for messages of tests.
    pub fn all(&self) -> String {
        format!("{:#?}", self.typed.lock().unwrap())
    }

    /// Whose conversations were started, in order.
    pub fn started(&self) -> Vec<String> {
        let owners = self.owners.lock().unwrap();
        let mut started: Vec<(u64, String)> =
            owners.iter().map(|(pane, owner)| (pane[1..].parse().unwrap(), short(owner))).collect();
        started.sort();
        started.into_iter().map(|(_, owner)| owner).collect()
    }

    /// Whose conversations were ended, in order.
    pub fn ended(&self) -> Vec<String> {
        self.ended.lock().unwrap().iter().map(|owner| short(owner)).collect()
    }

    fn owner(&self, life: &Life) -> String {
        self.owners.lock().unwrap().get(&life.pane).cloned().unwrap_or_default()
    }
}

/// `#7`, and `octo/world#7` for other repositories than the usual one.
fn short(reference: &str) -> String {
    reference.trim_start_matches("github:").trim_start_matches(crate::world::REPO).to_owned()
}

impl Runner for Terminal {
    fn spawn(&self, request: &SpawnRequest) -> Result<Life, RunnerError> {
        let pane = format!("%{}", self.next.fetch_add(1, Ordering::SeqCst));
        self.owners.lock().unwrap().insert(pane.clone(), request.reference.to_string());
        let meddle = self.meddler.lock().unwrap().take();
        if let Some(meddle) = meddle {
            meddle();
        }
        let session = request.session_name.clone();
        Ok(Life { socket: "t".into(), server_pid: 1, server_started: 1, session, pane, pane_pid: 9 })
    }

    fn settle_screen(&self, _: &Life, _: u64) {}

    fn deliver(&self, request: &DeliverRequest) -> Delivered {
        self.submitted.lock().unwrap().insert(format!("{:?}", request.batch));
        self.typed.lock().unwrap().push((self.owner(&request.life), request.text.clone()));
        Delivered::Submitted
    }

    fn recall(&self, _: &PaneKey, _: &Life, batch: &BatchId, _: &PasteStyle) -> Result<Remembered, RunnerError> {
        let submitted = self.submitted.lock().unwrap().contains(&format!("{batch:?}"));
        Ok(if submitted { Remembered::Submitted } else { Remembered::Nothing })
    }

    fn submit(&self, _: &DeliverRequest) -> Delivered {
        Delivered::Submitted
    }

    fn panes(&self) -> Result<Vec<Pane>, RunnerError> {
        Ok(Vec::new())
    }

    fn end(&self, _: &PaneKey, life: &Life, _: u64, _: bool) -> Result<(), RunnerError> {
        self.ended.lock().unwrap().push(self.owner(life));
        Ok(())
    }
}
