//! What `doctor` finds in the store, between the store and tmux, and in sessions; the rest of the world is looked at by
//! its caller. Everything is read from one snapshot, and nothing is changed.

mod hosts;
mod lanes;
mod sessions;
mod terminal;
mod trouble;
mod workspaces;

pub use hosts::hosts;
pub use lanes::store;
pub use sessions::{Surroundings, sessions};
pub use terminal::tmux;
pub use trouble::trouble;
pub use workspaces::standing;

use std::collections::BTreeSet;
use std::path::PathBuf;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::domain::reference::WorkItemRef;
use crate::domain::session::Session;
use crate::store::{StoreError, View};

/// A session or endpoint with the item whose record it is in.
struct Owned {
    item: WorkItemRef,
    session: Session,
}

/// The directories that sessions work in, or did.
///
/// # Errors
/// The store did not answer.
pub fn directories(tx: &impl View) -> Result<BTreeSet<PathBuf>, StoreError> {
    Ok(all(tx)?.into_values().filter_map(|owned| owned.session.cwd).collect())
}

/// All sessions and endpoints by the key of their panes. Rows that cannot be read are left out: `store` names them.
fn all(tx: &impl View) -> Result<BTreeMap<String, Owned>, StoreError> {
    let mut items = Vec::new();
    tx.for_each_item(&mut |item| {
        items.extend(item.ok());
        ControlFlow::Continue(())
    })?;
    let mut sessions = BTreeMap::new();
    for item in items {
        let endpoints = match tx.endpoints(&item.reference.key()) {
            Err(StoreError::BadRow { .. }) => Vec::new(),
            endpoints => endpoints?,
        };
        for session in item.session.iter().cloned().chain(endpoints) {
            let owned = Owned { item: item.reference.clone(), session };
            sessions.insert(owned.session.key.as_str().to_owned(), owned);
        }
    }
    Ok(sessions)
}
