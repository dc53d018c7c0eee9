//! The outcome of one event while it is being made: rows are copied when first touched.

use std::collections::{BTreeMap, BTreeSet};

use super::view::{Known, View};
use super::{Change, DropReason, IdentityState, MissingFact, Outcome, Urgency, Verdict, moves};
use crate::domain::effect::{Class, EffectBody, NewEffect};
use crate::domain::event::{Event, Identity, Repository};
use crate::domain::item::{Facts, Item};
use crate::domain::log::{EventName, LogEntry};
use crate::domain::names::Names;
use crate::domain::policy::Policy;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::session::{PaneKey, Session};
use crate::domain::telling::Tell;
use crate::domain::time::Time;

/// The outcome in the making.
pub(super) struct Draft<'a> {
    pub(super) event: &'a Event,
    pub(super) view: &'a View,
    pub(super) policy: &'a Policy,
    pub(super) now: Time,
    /// Set when the decision cannot be made without asking GitHub.
    pub(super) missing: Option<MissingFact>,
    touched: BTreeMap<RefKey, Known>,
    first: Vec<Change>,
    items: BTreeSet<RefKey>,
    endpoints: BTreeSet<(RefKey, RefKey)>,
    marks: BTreeMap<RefKey, Urgency>,
    extra: Vec<Change>,
    effects: Vec<NewEffect>,
    log: Vec<LogEntry>,
    tells: Vec<Tell>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(event: &'a Event, view: &'a View, policy: &'a Policy, now: Time) -> Self {
        Self {
            event,
            view,
            policy,
            now,
            missing: None,
            touched: BTreeMap::new(),
            first: Vec::new(),
            items: BTreeSet::new(),
            endpoints: BTreeSet::new(),
            marks: BTreeMap::new(),
            extra: Vec::new(),
            effects: Vec::new(),
            log: Vec::new(),
            tells: Vec::new(),
        }
    }

    /// The item as it is in this outcome so far.
    pub(super) fn known(&self, reference: &WorkItemRef) -> Option<&Known> {
        let key = reference.key();
        self.touched.get(&key).or_else(|| self.view.items.get(&key))
    }

    /// The item, when it has a row.
    pub(super) fn item(&self, reference: &WorkItemRef) -> Option<&Item> {
        self.known(reference).map(|known| &known.item)
    }

    /// The item for change; its row will be put.
    pub(super) fn item_mut(&mut self, reference: &WorkItemRef) -> &mut Item {
        let key = reference.key();
        self.items.insert(key.clone());
        &mut self.touch(key, reference).item
    }

    /// The endpoint of `pull_request` on `owner` for change.
    pub(super) fn endpoint_mut(&mut self, owner: &WorkItemRef, pull_request: &WorkItemRef) -> Option<&mut Session> {
        let (owner_key, key) = (owner.key(), pull_request.key());
        self.known(owner)?.endpoint(pull_request)?;
        self.endpoints.insert((owner_key.clone(), key.clone()));
        self.touch(owner_key, owner).endpoints.iter_mut().find(|endpoint| endpoint.reference.key() == key)
    }

    /// Adds an endpoint to `owner`.
    pub(super) fn add_endpoint(&mut self, owner: &WorkItemRef, endpoint: Session) {
        self.endpoints.insert((owner.key(), endpoint.reference.key()));
        self.touch(owner.key(), owner).endpoints.push(endpoint);
    }

    /// Forgets what GitHub said of items whose name belongs to another repository by now, the event's.
    pub(super) fn forget_other_repositories(&mut self) {
        let (view, Some(Repository { reference, id })) = (self.view, &self.event.repository) else { return };
        for known in view.items.values().filter(|known| known.item.reference.repo().is_same(reference)) {
            if !moves::is_of_repository(&known.item, *id) {
                let item = &known.item.reference;
                self.touch(item.key(), item).item.facts = Facts::default();
            }
        }
    }

    /// An item with its conversations, as a whole, whatever was known under its reference.
    pub(super) fn place(&mut self, known: Known) {
        let key = known.item.reference.key();
        self.items.insert(key.clone());
        self.touched.insert(key, known);
    }

    /// The records that list the pull request `from` list `to` instead.
    pub(super) fn relist(&mut self, from: &WorkItemRef, to: &WorkItemRef) {
        let key = from.key();
        for owner in self.listing(from) {
            let listed = self.touch(owner.key(), &owner).endpoints.iter_mut();
            for endpoint in listed.filter(|endpoint| endpoint.reference.key() == key) {
                endpoint.reference = to.clone();
            }
        }
    }

    /// The records known here that list `pull_request`.
    pub(super) fn listing(&self, pull_request: &WorkItemRef) -> Vec<WorkItemRef> {
        let unchanged = self.view.items.iter().filter(|(key, _)| !self.touched.contains_key(*key));
        let all = unchanged.chain(&self.touched).map(|(_, known)| known);
        let listing = all.filter(|known| known.endpoint(pull_request).is_some());
        listing.map(|known| known.item.reference.clone()).collect()
    }

    /// A conversation for `reference` under `owner` that does not run yet.
    pub(super) fn new_session(&self, owner: &WorkItemRef, reference: &WorkItemRef) -> Session {
        let key = PaneKey::new(&self.view.store, owner, reference);
        Session::recorded(reference.clone(), key, self.policy.harness.clone(), self.now)
    }

    /// Asks for an effect in the lane of `owner`.
    pub(super) fn effect(&mut self, owner: &WorkItemRef, class: Class, body: EffectBody) {
        self.effects.push(NewEffect { lane: owner.key(), class, body });
    }

    /// The portable file of `item` has to follow: what is exported changed.
    pub(super) fn mark(&mut self, item: &WorkItemRef, urgency: Urgency) {
        self.item_mut(item).version += 1;
        let mark = self.marks.entry(item.key()).or_insert(urgency);
        *mark = (*mark).max(urgency);
    }

    /// A comment is known to `item` from now on, whatever came of it. Items nobody follows are left alone.
    pub(super) fn seen(&mut self, item: &WorkItemRef, node_id: Option<&str>) {
        let (Some(node_id), Some(known)) = (node_id, self.known(item)) else { return };
        let followed = known.item.session.is_some() || known.item.sections.control.is_some();
        if followed && !self.view.seen.contains(&item.key()) {
            self.extra.push(Change::Seen { item: item.key(), node_id: node_id.to_owned() });
            self.item_mut(item).sections.has_poll = true;
            self.mark(item, Urgency::Cycle);
        }
    }

    /// The identity's new state.
    pub(super) fn identity(&mut self, identity: &Identity, state: IdentityState) {
        self.extra.push(Change::Identity { identity: identity.clone(), state });
    }

    /// Any further row.
    pub(super) fn change(&mut self, change: Change) {
        self.extra.push(change);
    }

    /// A change that others build on.
    pub(super) fn change_first(&mut self, change: Change) {
        self.first.push(change);
    }

    /// An entry of the decision trail, about `item`.
    pub(super) fn log(&mut self, entry: LogEntry, item: &WorkItemRef) {
        self.log.push(entry.with("workItem", item.to_string()));
    }

    /// Something to tell people, if there is.
    pub(super) fn tell(&mut self, tell: Option<Tell>) {
        self.tells.extend(tell);
    }

    /// The finished outcome.
    pub(super) fn finish(mut self, verdict: Verdict) -> Outcome {
        if self.view.heard.is_delivered() || !is_no_news(verdict) {
            self.log.push(trail(self.event, verdict));
        }
        self.note_repository();
        let mut changes = std::mem::take(&mut self.first);
        let mut endpoints = Vec::new();
        for (owner, known) in self.touched {
            for session in known.endpoints {
                let key = (owner.clone(), session.reference.key());
                if self.endpoints.contains(&key) {
                    endpoints.push(Change::Endpoint { owner: key.0, session: Box::new(session) });
                }
            }
            if self.items.contains(&owner) {
                changes.push(Change::Item(Box::new(known.item)));
            }
        }
        changes.append(&mut endpoints);
        changes.append(&mut self.extra);
        changes.extend(self.marks.into_iter().map(|(item, urgency)| Change::Mark { item, urgency }));
        Outcome { verdict, changes, effects: self.effects, log: self.log, tells: self.tells }
    }

    /// A repository with items of ours is known by its id from now on.
    fn note_repository(&mut self) {
        let Some(Repository { reference, id }) = &self.event.repository else { return };
        let here = self
            .touched
            .iter()
            .any(|(key, known)| self.items.contains(key) && known.item.reference.repo().is_same(reference));
        let named = self.extra.iter().any(|change| matches!(change, Change::Names { .. }));
        if *id != 0 && here && !named && self.view.names.is_none() {
            let names = Names::new(reference.clone());
            self.extra.push(Change::Names { repository: *id, names });
        }
    }

    fn touch(&mut self, key: RefKey, reference: &WorkItemRef) -> &mut Known {
        let view = self.view;
        self.touched.entry(key).or_insert_with_key(|key| {
            let known = view.items.get(key).cloned();
            known.unwrap_or_else(|| Known { item: Item::new(reference.clone()), endpoints: Vec::new() })
        })
    }
}

/// What a list shows again with every cycle is told once, when it is news.
const fn is_no_news(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Dropped(DropReason::SameEvent | DropReason::NotNew | DropReason::NothingToDo | DropReason::OlderFact)
    )
}

/// The line of the log that says what became of an event.
fn trail(event: &Event, verdict: Verdict) -> LogEntry {
    let entry = match verdict {
        Verdict::Accepted => LogEntry::info(EventName::RoutingRouted),
        Verdict::Dropped(reason) | Verdict::Refused(reason) => {
            LogEntry::info(EventName::RoutingDropped).with("reason", reason.as_str())
        }
    };
    let entry = entry.with("delivery", event.delivery.as_str()).with("name", event.name.as_str());
    let entry = entry.with_some("action", event.action.as_deref());
    let repository = event.repository.as_ref().map(|repository| repository.reference.to_string());
    let entry = entry.with_some("repository", repository);
    match verdict {
        Verdict::Refused(DropReason::UnauthorizedActor) | Verdict::Dropped(DropReason::UnauthorizedActor) => {
            entry.with("sender", event.sender.as_ref().map_or("unknown", |login| login.as_str()))
        }
        _ => entry,
    }
}
