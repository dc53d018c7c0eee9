//! Events and views for the tests of decisions.

use super::view::{DeliveryState, Known, View};
use super::{
    Change, Decision, IdentityState, Learnt, Outcome, Told, decide, forwarded, implied_rename, under_present_name,
};
use crate::domain::event::{
    Check, Content, Event, Fact, Form, Head, Identity, ItemFact, Repository, Speech, Subject, SubjectKind,
};
use crate::domain::ids::{DeliveryId, Login, StoreId};
use crate::domain::item::Item;
use crate::domain::names::Names;
use crate::domain::policy::Policy;
use crate::domain::reference::{RefKey, RepoRef, WorkItemRef};
use crate::domain::session::{Life, SessionState};
use crate::domain::time::Time;

pub(super) const LABEL: &str = "the-loop: auto-execute";

pub(super) fn at(second: i64) -> Time {
    Time::from_millis(1_780_000_000_000).plus_seconds(second)
}

pub(super) fn issue(number: u64) -> WorkItemRef {
    RepoRef::parse("octo/hello").unwrap().item(number).unwrap()
}

pub(super) fn policy() -> Policy {
    // What a closed item leaves behind is looked at by its own tests.
    let tidies_checkouts = false;
    Policy { authorized_users: vec![Login::parse("mona").unwrap()], tidies_checkouts, ..Policy::default() }
}

pub(super) fn subject(number: u64) -> Subject {
    Subject {
        reference: issue(number),
        kind: SubjectKind::Issue,
        id: number + 5000,
        title: format!("Ticket {number}"),
        body: "what to do".into(),
        author: Login::parse("mona"),
        labels: vec![LABEL.into()],
        open: Some(true),
        updated_at: None,
        created_at: None,
        closed_at: None,
        link: None,
        head: None,
    }
}

/// A pull request of mona whose text closes `issue`.
pub(super) fn pull_request(number: u64, closes: Option<u64>) -> Subject {
    Subject {
        kind: SubjectKind::PullRequest,
        body: closes.map(|issue| format!("Fixes #{issue}")).unwrap_or_default(),
        labels: Vec::new(),
        head: Some(Head { branch: "topic".into(), sha: format!("{number:040x}"), in_base_repository: true }),
        ..subject(number)
    }
}

pub(super) fn event(name: &str, delivery: &str, sender: Option<&str>, content: Content) -> Event {
    Event {
        name: name.into(),
        action: None,
        delivery: DeliveryId::parse(delivery).unwrap(),
        repository: Some(Repository { reference: RepoRef::parse("octo/hello").unwrap(), id: 101 }),
        sender: sender.and_then(Login::parse),
        content,
    }
}

/// A comment with id `id`, said `second` seconds after the epoch of these tests.
pub(super) fn comment(id: u64, subject: Subject, login: &str, second: i64, text: &str) -> Event {
    let speech = Speech {
        identity: Identity::new("github.com", 101, "comment", &id.to_string()),
        node_id: Some(format!("IC_{id}")),
        author: Login::parse(login),
        text: text.into(),
        created_at: Some(at(second)),
        link: Some(format!("{}#issuecomment-{id}", subject.reference.url())),
        form: Form::Comment,
        subject: Some(subject),
    };
    event("issue_comment", &format!("d-{id}"), Some(login), Content::Speech(Box::new(speech)))
}

pub(super) fn failed_check(pull_request: u64, sha: &str) -> Event {
    let check = Check {
        name: "ci".into(),
        conclusion: "failure".into(),
        head_sha: sha.into(),
        pull_requests: vec![pull_request],
        own_branch: None,
        is_workflow_run: false,
    };
    let speech = Speech {
        identity: Identity::new("github.com", 101, "check", sha),
        node_id: None,
        author: None,
        text: String::new(),
        created_at: None,
        link: None,
        form: Form::Check(check),
        subject: None,
    };
    event("check_run", "d-check", Some("github-actions[bot]"), Content::Speech(Box::new(speech)))
}

pub(super) fn fact(delivery: &str, subject: Subject, change: ItemFact) -> Event {
    let name = if subject.kind == SubjectKind::Issue { "issues" } else { "pull_request" };
    event(name, delivery, Some("mona"), Content::Fact(Box::new(Fact::Item { subject, change })))
}

pub(super) fn life(pane: u32) -> Life {
    Life {
        socket: "test".into(),
        server_pid: 1,
        server_started: 1,
        session: "loop".into(),
        pane: format!("%{pane}"),
        pane_pid: pane,
    }
}

/// A store of rows: what the real one does, in memory.
pub(super) struct Rows {
    pub(super) view: View,
    pub(super) policy: Policy,
    deliveries: Vec<(DeliveryId, DeliveryState)>,
    identities: Vec<(Identity, IdentityState)>,
    names: std::collections::HashMap<u64, Names>,
    pub(super) seen: Vec<String>,
    pub(super) marked: Vec<String>,
    /// A planted fault: which records list a pull request is not looked up.
    pub(super) ignores_linkage: bool,
}

impl Rows {
    pub(super) fn new() -> Self {
        let view = View::empty(StoreId("store".into()));
        Self {
            view,
            policy: policy(),
            deliveries: Vec::new(),
            identities: Vec::new(),
            names: Default::default(),
            seen: Vec::new(),
            marked: Vec::new(),
            ignores_linkage: false,
        }
    }

    /// Decides an event over the rows and applies the outcome, under the present names as the application does.
    pub(super) fn take(&mut self, event: &Event, now: i64) -> Outcome {
        let id = event.repository.as_ref().map_or(0, |repository| repository.id);
        if let Some(rename) = implied_rename(event, self.names.get(&id)) {
            let mut view = self.view.clone();
            view.names = self.names.get(&id).cloned();
            let Decision::Decided(outcome) = decide(&rename, &view, &self.policy, at(now)) else { panic!() };
            self.apply(&outcome);
        }
        let mut event = under_present_name(event, self.names.get(&id)).unwrap_or_else(|| event.clone());
        while let Some(forward) = super::subject(&event)
            .and_then(|subject| self.view.item(&subject.reference))
            .and_then(|item| forwarded(&event, item))
        {
            event = forward;
        }
        self.decide(&event, now)
    }

    fn decide(&mut self, event: &Event, now: i64) -> Outcome {
        let mut view = self.view.clone();
        view.names = event.repository.as_ref().and_then(|repository| self.names.get(&repository.id).cloned());
        if self.ignores_linkage {
            view.owners.clear();
            let named: Vec<_> =
                super::named(event, &self.policy, &Told::default()).iter().map(|named| named.reference.key()).collect();
            view.items.retain(|key, _| named.contains(key));
        }
        view.delivery = self.deliveries.iter().rev().find(|(id, _)| *id == event.delivery).map(|(_, state)| *state);
        if let Content::Speech(speech) = &event.content {
            let row = self.identities.iter().rev().find(|(identity, _)| *identity == speech.identity);
            view.identity = row.map_or(IdentityState::Unused, |(_, state)| *state);
        }
        let outcome = loop {
            match decide(event, &view, &self.policy, at(now)) {
                Decision::Decided(outcome) => break outcome,
                Decision::Needs(fact) => view.told.add(Learnt::Nothing(fact)),
            }
        };
        let refused = matches!(outcome.verdict, super::Verdict::Refused(_));
        let state = if refused { DeliveryState::Refused } else { DeliveryState::Decided };
        self.deliveries.push((event.delivery.clone(), state));
        self.apply(&outcome);
        outcome
    }

    pub(super) fn apply(&mut self, outcome: &Outcome) {
        for change in &outcome.changes {
            match change {
                Change::Item(item) => {
                    let key = item.reference.key();
                    let endpoints = self.view.items.get(&key).map(|k| k.endpoints.clone()).unwrap_or_default();
                    self.view.items.insert(key, Known { item: item.as_ref().clone(), endpoints });
                }
                Change::Endpoint { owner, session } => {
                    let key = session.reference.key();
                    let known = self.view.items.get_mut(owner).expect("an endpoint's record has a row");
                    known.endpoints.retain(|endpoint| endpoint.reference.key() != key);
                    known.endpoints.push(session.as_ref().clone());
                    let owners = self.view.owners.entry(key).or_default();
                    owners.retain(|earlier| earlier != owner);
                    owners.push(owner.clone());
                }
                Change::Identity { identity, state } => self.identities.push((identity.clone(), *state)),
                Change::Seen { node_id, .. } => self.seen.push(node_id.clone()),
                Change::Head { pull_request, .. } => self.view.head_owner = Some(pull_request.clone()),
                Change::Move { from, to } => self.move_rows(from, to),
                Change::Names { repository, names } => {
                    self.names.insert(*repository, names.clone());
                }
                Change::Mark { item, .. } => self.marked.push(item.as_str().to_owned()),
            }
        }
    }

    fn move_rows(&mut self, from: &RefKey, to: &WorkItemRef) {
        let endpoints = self.view.items.get_mut(from).map(|known| std::mem::take(&mut known.endpoints));
        let there = self.view.items.entry(to.key());
        let known = there.or_insert_with(|| Known { item: Item::new(to.clone()), endpoints: Vec::new() });
        known.endpoints.extend(endpoints.into_iter().flatten());
        for owners in self.view.owners.values_mut() {
            for owner in owners.iter_mut().filter(|owner| *owner == from) {
                *owner = to.key();
            }
        }
        if let Some(owners) = self.view.owners.remove(from) {
            for owner in &owners {
                let listed = self.view.items.get_mut(owner).into_iter().flat_map(|known| &mut known.endpoints);
                listed.filter(|listed| listed.reference.key() == *from).for_each(|l| l.reference = to.clone());
            }
            self.view.owners.insert(to.key(), owners);
        }
    }

    /// Issue `number` armed by a comment of mona and running in pane `number`.
    pub(super) fn with_live(mut self, number: u64) -> Self {
        self.take(&comment(number * 1000, subject(number), "mona", 0, "the-loop start"), 0);
        self.spawned(number, number as u32);
        self
    }

    /// The spawn of issue `number` completes.
    pub(super) fn spawned(&mut self, number: u64, pane: u32) {
        let known = self.view.items.get_mut(&issue(number).key()).unwrap();
        known.item.session.as_mut().unwrap().state = SessionState::Live(life(pane));
    }

    pub(super) fn known(&self, number: u64) -> &Known {
        &self.view.items[&issue(number).key()]
    }
}
