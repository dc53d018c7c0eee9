//! What a decision sees: the rows of the store that the event can touch, loaded before deciding.

use std::collections::{BTreeMap, BTreeSet};

use super::{Heard, IdentityState, Told};
use crate::domain::ids::StoreId;
use crate::domain::item::Item;
use crate::domain::names::Names;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::session::Session;
use crate::domain::time::Time;

/// What became of a delivery id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// Decided: the id is a duplicate for ever.
    Decided,
    /// Dropped by policy: the same id decides it again.
    Refused,
    /// A bug kept it from being decided; kept whole for `dispatch retry`.
    Undecidable,
}

/// The rows an event can touch.
#[derive(Debug, Clone)]
pub struct View {
    /// The store, part of the key of every pane.
    pub store: StoreId,
    /// The delivery id's row.
    pub delivery: Option<DeliveryState>,
    /// The identity's row, for what speaks.
    pub identity: IdentityState,
    /// Whether we posted this comment ourselves.
    pub posted_by_us: bool,
    /// Whether a check of the same head spoke, for workflow runs.
    pub head_checked: bool,
    /// Identities older than this are forgotten, so nothing older is new.
    pub watermark: Option<Time>,
    /// Items by key: those the event names, and the owners of the pull requests among them.
    pub items: BTreeMap<RefKey, Known>,
    /// Records that list a pull request.
    pub owners: BTreeMap<RefKey, Vec<RefKey>>,
    /// Pull request whose recorded head is the event's commit, for checks.
    pub head_owner: Option<WorkItemRef>,
    /// The names of the event's repository, by GitHub's id; absent until it has an item here.
    pub names: Option<Names>,
    /// How the event came to be read.
    pub heard: Heard,
    /// The items whose `seenComments` hold what speaks, on this machine or from another.
    pub seen: BTreeSet<RefKey>,
    /// What GitHub said about facts that were missing.
    pub told: Told,
}

/// An item with the endpoints its record owns.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The item.
    pub item: Item,
    /// Conversations of its pull requests.
    pub endpoints: Vec<Session>,
}

impl View {
    /// A view in which nothing is known.
    pub fn empty(store: StoreId) -> Self {
        Self {
            store,
            delivery: None,
            identity: IdentityState::Unused,
            posted_by_us: false,
            head_checked: false,
            watermark: None,
            items: BTreeMap::new(),
            owners: BTreeMap::new(),
            head_owner: None,
            names: None,
            heard: Heard::default(),
            seen: BTreeSet::new(),
            told: Told::default(),
        }
    }

    /// The item of `reference`, when it has a row.
    pub fn item(&self, reference: &WorkItemRef) -> Option<&Item> {
        self.items.get(&reference.key()).map(|known| &known.item)
    }

    /// Whether `reference` has a live record of its own.
    pub fn is_live(&self, reference: &WorkItemRef) -> bool {
        self.item(reference).is_some_and(|item| item.live_session().is_some())
    }

    /// The live records that list the pull request `reference`.
    pub fn live_owners(&self, reference: &WorkItemRef) -> Vec<WorkItemRef> {
        let owners = self.owners.get(&reference.key()).into_iter().flatten();
        owners
            .filter_map(|key| self.items.get(key))
            .filter(|known| known.item.live_session().is_some())
            .map(|known| known.item.reference.clone())
            .collect()
    }
}

impl Known {
    /// The endpoint of the pull request `reference`.
    pub fn endpoint(&self, reference: &WorkItemRef) -> Option<&Session> {
        let key = reference.key();
        self.endpoints.iter().find(|endpoint| endpoint.reference.key() == key)
    }
}
