//! Use cases: load, call the pure function, save, in one transaction. Nothing here prints or knows an adapter.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, RwLock};

use crate::domain::github::{Budget, GitHub};
use crate::domain::ids::InstanceId;
use crate::domain::portable::FolderId;
use crate::domain::ports::{Clock, EarlierFiles, HarnessFiles, Ids, PortableFiles, Runner};
use crate::domain::run::{NoRuns, RunPlaces};
use crate::store::Store;

pub mod adopt;
pub mod asking;
mod by_hand;
pub mod carry;
pub mod command;
pub mod comment;
mod deciding;
mod dispatch;
pub mod doctor;
pub mod earlier;
pub mod errand;
#[cfg(test)]
mod evidence;
pub mod evolve;
pub mod export;
mod glances;
mod gone;
mod in_flight;
pub mod ingest;
pub mod journal;
pub mod kept;
mod lanes;
pub mod look;
pub mod model_eval;
#[cfg(test)]
mod moving;
pub mod order;
pub mod perform;
mod permissions;
pub mod polling;
pub mod portable;
pub mod progress;
mod pruned;
pub mod request;
mod run_marks;
pub mod runs;
pub mod settings;
pub mod skill;
pub mod sweep;
pub mod telling;
mod upkeep;
mod view;
mod waiting;
mod work;

use earlier::Earlier;
use glances::Glances;
use in_flight::InFlight;
use progress::{Progress, Unheard};
pub use settings::Settings;

/// The product over one store: what the daemon, a command and the simulation all drive.
#[derive(Clone)]
pub struct App {
    parts: Arc<Parts>,
    in_flight: InFlight,
    /// The portable folder as it was last met, under whose name its stamps are kept.
    folder: Arc<Mutex<Option<FolderId>>>,
    glances: Arc<Glances>,
    /// Hears how far long work is.
    heard: Arc<dyn Progress>,
    earlier: Arc<Earlier>,
    /// The rate limits of hosts, as last seen.
    budgets: Arc<Mutex<BTreeMap<String, Budget>>>,
    permissions: Arc<permissions::Permissions>,
    /// Held while repositories are polled.
    cycle: Arc<Mutex<()>>,
    /// Held while what waits is looked at.
    asking: Arc<Mutex<()>>,
    desk: Arc<telling::Desk>,
    /// The runs of the directories that sessions work in.
    runs: Arc<dyn RunPlaces>,
}

/// What the product is made of.
pub struct Parts {
    /// Where everything is kept.
    pub store: Store,
    /// What hosts harnesses.
    pub runner: Arc<dyn Runner>,
    /// What harnesses keep for their user.
    pub harness_files: Arc<dyn HarnessFiles>,
    /// The folder of portable records.
    pub portable: Arc<dyn PortableFiles>,
    /// What the earlier system left.
    pub earlier: Arc<dyn EarlierFiles>,
    /// Whoever can ask GitHub.
    pub github: Arc<dyn GitHub>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Fresh ids.
    pub ids: Arc<dyn Ids>,
    /// Who claims.
    pub instance: InstanceId,
    /// The configuration, replaced whole.
    pub settings: RwLock<Arc<Settings>>,
}

impl App {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Self {
        Self {
            parts: Arc::new(parts),
            in_flight: InFlight::default(),
            folder: Arc::default(),
            glances: Arc::default(),
            heard: Arc::new(Unheard),
            earlier: Arc::default(),
            budgets: Arc::default(),
            permissions: Arc::default(),
            cycle: Arc::default(),
            asking: Arc::default(),
            desk: Arc::default(),
            runs: Arc::new(NoRuns),
        }
    }

    /// The same, telling `heard` how far long work is.
    #[must_use]
    pub fn heard_by(self, heard: Arc<dyn Progress>) -> Self {
        Self { heard, ..self }
    }

    /// The same, knowing where runs are.
    #[must_use]
    pub fn with_runs(self, runs: Arc<dyn RunPlaces>) -> Self {
        Self { runs, ..self }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.parts.store
    }

    /// The configuration of this moment.
    pub fn settings(&self) -> Arc<Settings> {
        let guard = self.parts.settings.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        Arc::clone(&guard)
    }

    /// Puts another configuration in place of this one; what is being decided goes on with the old one.
    pub fn replace_settings(&self, settings: Settings) {
        let mut guard = self.parts.settings.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        *guard = Arc::new(settings);
    }

    /// The time of the app's own clock.
    pub fn now(&self) -> crate::domain::time::Time {
        self.parts.clock.now()
    }
}
