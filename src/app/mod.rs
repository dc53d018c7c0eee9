//! Use cases: load, call the pure function, save, in one transaction. Nothing here prints or knows an adapter.

use std::sync::{Arc, RwLock};

use crate::domain::ids::InstanceId;
use crate::domain::ports::{Clock, Ids, PortableFiles, Runner};
use crate::store::Store;

pub mod command;
pub mod doctor;
pub mod ingest;
pub mod journal;
mod lanes;
pub mod look;
pub mod perform;
pub mod request;
pub mod settings;
mod upkeep;
mod view;
mod work;

pub use settings::Settings;

/// The product over one store: what the daemon, a command and the simulation all drive.
#[derive(Clone)]
pub struct App {
    parts: Arc<Parts>,
}

/// What the product is made of.
pub struct Parts {
    /// Where everything is kept.
    pub store: Store,
    /// What hosts harnesses.
    pub runner: Arc<dyn Runner>,
    /// The portable files.
    pub portable: Arc<dyn PortableFiles>,
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
        Self { parts: Arc::new(parts) }
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

    /// The time of the app's own clock.
    pub fn now(&self) -> crate::domain::time::Time {
        self.parts.clock.now()
    }
}
