//! The outcome of one event while it is being made: rows are copied when first touched.

use std::collections::{BTreeMap, BTreeSet};

use super::view::{Known, View};
use super::{Change, DropReason, IdentityState, MissingFact, Outcome, Urgency, Verdict};
use crate::domain::effect::{Class, EffectBody, NewEffect};
use crate::domain::event::{Event, Identity};
use crate::domain::item::Item;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::policy::Policy;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::session::{PaneKey, Session};
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
    items: BTreeSet<RefKey>,
    endpoints: BTreeSet<(RefKey, RefKey)>,
    marks: BTreeMap<RefKey, Urgency>,
    extra: Vec<Change>,
    effects: Vec<NewEffect>,
    log: Vec<LogEntry>,
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
            items: BTreeSet::new(),
            endpoints: BTreeSet::new(),
            marks: BTreeMap::new(),
            extra: Vec::new(),
            effects: Vec::new(),
            log: Vec::new(),
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
        if followed {
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

    /// An entry of the decision trail, about `item`.
    pub(super) fn log(&mut self, entry: LogEntry, item: &WorkItemRef) {
        self.log.push(entry.with("workItem", item.to_string()));
    }

    /// The finished outcome.
    pub(super) fn finish(mut self, verdict: Verdict) -> Outcome {
        self.log.push(trail(self.event, verdict));
        let (mut changes, mut endpoints) = (Vec::new(), Vec::new());
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
        Outcome { verdict, changes, effects: self.effects, log: self.log }
    }

    fn touch(&mut self, key: RefKey, reference: &WorkItemRef) -> &mut Known {
        let view = self.view;
        self.touched.entry(key).or_insert_with_key(|key| {
            let known = view.items.get(key).cloned();
            known.unwrap_or_else(|| Known { item: Item::new(reference.clone()), endpoints: Vec::new() })
        })
    }
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
