//! Lanes for the tests.

use super::*;
use crate::domain::effect::{Class, EffectBody};
use crate::domain::event::Identity;
use crate::domain::ids::{DeliveryId, StoreId};
use crate::domain::message::MessageKind;
use crate::domain::policy::Policy;
use crate::domain::session::{PaneKey, SessionState};

pub(super) const NOW: Time = Time::from_millis(1_780_000_000_000);

pub(super) fn item_ref() -> WorkItemRef {
    WorkItemRef::parse("github:octo/hello#7").unwrap()
}

pub(super) fn pull_ref() -> WorkItemRef {
    WorkItemRef::parse("github:octo/hello#16").unwrap()
}

pub(super) fn to_pull() -> EndpointRef {
    EndpointRef::PullRequest(pull_ref())
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

pub(super) fn session(reference: &WorkItemRef, state: SessionState) -> Session {
    let key = PaneKey::new(&StoreId("s".into()), &item_ref(), reference);
    Session { state, generation: 3, ..Session::recorded(reference.clone(), key, "claude".into(), NOW) }
}

/// A record in `state` with an empty lane.
pub(super) fn view(state: SessionState) -> LaneView {
    let item = Item { session: Some(session(&item_ref(), state)), ..Item::new(item_ref()) };
    LaneView { item, endpoints: Vec::new(), effects: Vec::new() }
}

pub(super) fn live() -> SessionState {
    SessionState::Live(life(7))
}

impl LaneView {
    pub(super) fn and(mut self, class: Class, seq: u64, body: EffectBody) -> Self {
        let place = Place { class, seq };
        let lane = item_ref().key();
        self.effects.push(Effect { lane, place, body, attempts: 0, not_before: None, trouble: None, created_at: NOW });
        self.effects.sort_by_key(|effect| effect.place);
        self
    }

    pub(super) fn with_deliveries(self, endpoint: &EndpointRef, seqs: std::ops::RangeInclusive<u64>) -> Self {
        seqs.fold(self, |view, seq| view.and(Class::Ordinary, seq, deliver(endpoint.clone(), seq, "a remark")))
    }

    pub(super) fn with_pull(mut self, state: SessionState) -> Self {
        self.endpoints.push(session(&pull_ref(), state));
        self
    }

    pub(super) fn own(&mut self) -> &mut Session {
        self.item.session.as_mut().unwrap()
    }
}

pub(super) fn deliver(endpoint: EndpointRef, seq: u64, text: &str) -> EffectBody {
    let message = Message {
        kind: MessageKind::Comment,
        about: item_ref(),
        delivery: DeliveryId::parse(&format!("d-{seq}")).unwrap(),
        author: Some("mona".into()),
        title: String::new(),
        link: None,
        text: text.into(),
    };
    let identity = Some(Identity::new("github.com", 1, "comment", &seq.to_string()));
    EffectBody::Deliver { endpoint, identity, message: Box::new(message), generation: 3 }
}

pub(super) fn spawn(endpoint: EndpointRef, generation: u64) -> EffectBody {
    EffectBody::Spawn { endpoint, generation, resume: true, asked_by: None }
}

pub(super) fn end(life: Option<Life>) -> EffectBody {
    EffectBody::End { endpoint: EndpointRef::Item, life, reason: EndReason::Stopped, keep_pane: None }
}

pub(super) fn work(view: &LaneView) -> Work {
    match next(view, NOW) {
        Next::Do(work) => work,
        other => panic!("{other:?}"),
    }
}

pub(super) fn seqs(places: &[Place]) -> Vec<u64> {
    places.iter().map(|place| place.seq).collect()
}

pub(super) fn policy() -> Policy {
    Policy { max_retries: 3, ..Policy::default() }
}

pub(super) fn settled(view: &LaneView, work: &Work, done: &Done) -> Settlement {
    settle(view, work, done, &policy(), NOW, 0)
}

pub(super) fn spawned(pane: u32) -> Done {
    Done::Spawned { life: life(pane), conversation: None, cwd: "/srv".into() }
}

pub(super) fn failed() -> Done {
    Done::SpawnFailed { detail: "exit 1".into(), permanent: false }
}

/// The session after a settlement.
pub(super) fn after(settlement: &Settlement) -> &Session {
    match (&settlement.item, &settlement.endpoint) {
        (Some(item), _) => item.session.as_ref().unwrap(),
        (None, Some(endpoint)) => endpoint,
        (None, None) => panic!("no session changed"),
    }
}
