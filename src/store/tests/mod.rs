//! The store's own tests: rows and tables, groups, files, failing and crashing storage, killed writers.

use crate::domain::decide::DeliveryState;
use std::path::PathBuf;

use super::testing::{CountingIds, FaultBackend};
use super::*;
use crate::domain::decide::{Change, IdentityState, Outcome, Urgency, Verdict};
use crate::domain::effect::{Class, EffectBody, EndpointRef, NewEffect};
use crate::domain::event::Identity;
use crate::domain::ids::DeliveryId;
use crate::domain::ids::StoreId;
use crate::domain::item::Item;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::message::{Message, MessageKind};
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::session::{PaneKey, Session, SessionState};
use crate::domain::time::Time;

mod faults;
mod files;
mod groups;
mod kills;
mod packs;
mod rows;
mod speed;
mod tables;
mod tells;

const NOW: Time = Time::from_millis(1_772_439_330_000);

fn reference(number: u64) -> WorkItemRef {
    WorkItemRef::parse(&format!("github:Octo/Hello#{number}")).unwrap()
}

fn key(number: u64) -> RefKey {
    reference(number).key()
}

fn session(number: u64) -> Session {
    let key = PaneKey::new(&StoreId("s".into()), &reference(number), &reference(number));
    Session {
        cwd: Some(PathBuf::from("/srv/mona/hello")),
        state: SessionState::Starting,
        generation: 1,
        ..Session::recorded(reference(number), key, "claude".into(), NOW)
    }
}

fn item(number: u64) -> Item {
    Item { session: Some(session(number)), version: 1, ..Item::new(reference(number)) }
}

fn identity(number: u64) -> Identity {
    Identity::new("github.com", 7, "comment", &number.to_string())
}

fn delivery(number: u64) -> DeliveryId {
    DeliveryId::parse(&format!("11111111-2222-3333-4444-{number:012}")).unwrap()
}

fn deliver(lane: u64, number: u64) -> NewEffect {
    let message = Message {
        kind: MessageKind::Comment,
        about: reference(lane),
        delivery: delivery(number),
        author: Some("mona".into()),
        title: "Greets nobody".into(),
        link: Some(format!("https://github.com/octo/hello/issues/{lane}#issuecomment-{number}")),
        text: "Please have a look at the second paragraph, it still greets nobody.".into(),
    };
    let body = EffectBody::Deliver {
        endpoint: EndpointRef::Item,
        identity: Some(identity(number)),
        message: Box::new(message),
        generation: 1,
    };
    NewEffect { lane: key(lane), class: Class::Ordinary, body }
}

/// What an accepted comment on item `lane` stores.
fn outcome(lane: u64, number: u64) -> Outcome {
    let mut changed = item(lane);
    changed.version = number;
    let log = |event| LogEntry::info(event).with("workItem", reference(lane).to_string()).with("delivery", number);
    Outcome {
        verdict: Verdict::Accepted,
        changes: vec![
            Change::Mark { item: key(lane), urgency: Urgency::Cycle },
            Change::Item(Box::new(changed)),
            Change::Identity { identity: identity(number), state: IdentityState::Spoken },
            Change::Seen { item: key(lane), node_id: format!("IC_{number}") },
        ],
        effects: vec![deliver(lane, number)],
        log: vec![log(EventName::RoutingRouted), log(EventName::DispatchQueued)],
        tells: Vec::new(),
    }
}

/// What the application does with one accepted comment: look at everything, then store. False for a duplicate.
fn accept(tx: &mut WriteTx<'_>, lane: u64, number: u64) -> Result<bool, StoreError> {
    if tx.delivery(&delivery(number))?.is_some() || tx.identity(&identity(number))? != IdentityState::Unused {
        return Ok(false);
    }
    tx.item(&key(lane))?;
    tx.endpoints(&key(lane))?;
    tx.put_delivery(&delivery(number), DeliveryState::Decided, NOW)?;
    tx.apply_outcome(outcome(lane, number), NOW)?;
    Ok(true)
}

pub(super) fn memory() -> Store {
    Store::open_inline(FaultBackend::new(Vec::new()), &CountingIds::default()).unwrap()
}

fn on_disk(dir: &tempfile::TempDir) -> (PathBuf, Store) {
    let path = dir.path().join("local/state.redb");
    let store = Store::open(&path, &CountingIds::default()).unwrap();
    (path, store)
}

/// The deliveries of item 1 that wait, by the number of their comment.
fn waiting(view: &impl View) -> Result<Vec<u64>, StoreError> {
    let numbers = view.lane(&key(1), usize::MAX)?.into_iter().map(|effect| match effect.body {
        EffectBody::Deliver { message, .. } => message.delivery.as_str().rsplit('-').next().unwrap().parse().unwrap(),
        other => panic!("{other:?}"),
    });
    Ok(numbers.collect())
}

fn assert_sound(store: &Store) {
    let found = store.read(|view| check(view)).unwrap();
    assert!(found.is_empty(), "{found:#?}");
}
