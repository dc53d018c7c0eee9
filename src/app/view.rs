//! Loading what a decision sees.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::domain::decide::{self, Known, View};
use crate::domain::event::{Check, Content, Event, Fact, Form, ItemFact, RepositoryFact, Speech};
use crate::domain::ids::StoreId;
use crate::domain::names::Names;
use crate::domain::policy::Policy;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::store::{self, StoreError};

/// How often an item may have moved before what is sent to its first name no longer finds it.
const MOVES: usize = 4;

/// The names of the event's repository, when it has items here.
pub(super) fn names(tx: &impl store::View, event: &Event) -> Result<Option<Names>, StoreError> {
    match &event.repository {
        Some(repository) if repository.id != 0 => tx.repository(repository.reference.host(), repository.id),
        _ => Ok(None),
    }
}

/// The event under the present names of its repository and its item.
pub(super) fn present<'e>(tx: &impl store::View, event: &'e Event) -> Result<Cow<'e, Event>, StoreError> {
    let names = names(tx, event)?;
    let mut event = decide::under_present_name(event, names.as_ref()).map_or(Cow::Borrowed(event), Cow::Owned);
    for _ in 0..MOVES {
        let Some(key) = decide::subject(&event).map(|subject| subject.reference.key()) else { break };
        let Some(forwarded) = tx.item(&key)?.and_then(|item| decide::forwarded(&event, &item)) else { break };
        event = Cow::Owned(forwarded);
    }
    Ok(event)
}

/// The reference an item goes by now.
pub(super) fn present_item(tx: &impl store::View, reference: &WorkItemRef) -> Result<WorkItemRef, StoreError> {
    let mut reference = reference.clone();
    for _ in 0..MOVES {
        let Some(item) = tx.item(&reference.key())?.filter(|item| item.live_session().is_none()) else { break };
        let Some(to) = item.facts.moved_to else { break };
        reference = to;
    }
    Ok(reference)
}

/// The rows `event` can touch.
pub(super) fn of_event(
    tx: &impl store::View,
    store: &StoreId,
    event: &Event,
    policy: &Policy,
) -> Result<View, StoreError> {
    let mut view = View::empty(store.clone());
    view.delivery = tx.delivery(&event.delivery)?;
    view.watermark = tx.watermark()?;
    view.names = names(tx, event)?;
    for named in decide::named(event, policy) {
        load(tx, &mut view, &named.reference)?;
    }
    match &event.content {
        Content::Speech(speech) => of_speech(tx, &mut view, event, speech)?,
        Content::Fact(fact) => of_fact(tx, &mut view, event, fact)?,
        Content::Ignored(_) => {}
    }
    Ok(view)
}

/// The rows a command about `item` can touch.
pub(super) fn of_item(tx: &impl store::View, store: &StoreId, item: &WorkItemRef) -> Result<View, StoreError> {
    let mut view = View::empty(store.clone());
    load(tx, &mut view, item)?;
    Ok(view)
}

fn of_speech(tx: &impl store::View, view: &mut View, event: &Event, speech: &Speech) -> Result<(), StoreError> {
    view.identity = tx.identity(&speech.identity)?;
    if let Some(node_id) = &speech.node_id {
        view.posted_by_us = tx.posted(node_id)?;
    }
    match &speech.form {
        Form::Check(check) => of_check(tx, view, event, check),
        Form::Comment | Form::ReviewComment { .. } | Form::Review { .. } => Ok(()),
    }
}

fn of_check(tx: &impl store::View, view: &mut View, event: &Event, check: &Check) -> Result<(), StoreError> {
    let names = view.names.as_ref();
    let present = |head: WorkItemRef| names.and_then(|names| names.present(&head)).unwrap_or(head);
    view.head_owner = tx.head(&check.head_sha)?.map(present);
    if let Some(head) = decide::checked_head(event, check) {
        view.head_checked = tx.identity(&head)? != decide::IdentityState::Unused;
    }
    let pull_requests = decide::named_pull_requests(check, event).into_iter().chain(view.head_owner.clone());
    for reference in pull_requests.chain(decide::branch_items(check, event)).collect::<Vec<_>>() {
        load(tx, view, &reference)?;
    }
    Ok(())
}

fn of_fact(tx: &impl store::View, view: &mut View, event: &Event, fact: &Fact) -> Result<(), StoreError> {
    match fact {
        Fact::Item { change: ItemFact::Transferred { to: Some((other, _)) }, .. }
        | Fact::Item { change: ItemFact::Opened { transferred_from: Some((other, _)) }, .. } => load(tx, view, other),
        Fact::Repository(change) => of_repository(tx, view, event, change),
        Fact::Item { .. } | Fact::Withdrawn { .. } => Ok(()),
    }
}

/// A fact about a repository is about every item of it, and every pull request of it that a record lists; under a new
/// name, also about what is there already.
fn of_repository(
    tx: &impl store::View,
    view: &mut View,
    event: &Event,
    change: &RepositoryFact,
) -> Result<(), StoreError> {
    let former = match change {
        RepositoryFact::Renamed { from } | RepositoryFact::Transferred { from } => Some(from.clone()),
        RepositoryFact::Deleted => None,
    };
    let here = event.repository.as_ref().map(|repository| repository.reference.clone());
    let known = view.names.iter().map(|names| names.current.clone()).collect::<Vec<_>>();
    for repository in former.into_iter().chain(here).chain(known) {
        for item in tx.items_of_repo(&repository.key())? {
            load(tx, view, &item.reference)?;
        }
        for pull_request in tx.pull_requests_of_repo(&repository.key())? {
            load_key(tx, view, &pull_request)?;
        }
    }
    Ok(())
}

/// The item of `reference` with its endpoints, and the records that list it.
fn load(tx: &impl store::View, view: &mut View, reference: &WorkItemRef) -> Result<(), StoreError> {
    load_key(tx, view, &reference.key())
}

fn load_key(tx: &impl store::View, view: &mut View, key: &RefKey) -> Result<(), StoreError> {
    load_item(tx, &mut view.items, key)?;
    let owners = tx.owners(key)?;
    for owner in &owners {
        load_item(tx, &mut view.items, owner)?;
    }
    if !owners.is_empty() {
        view.owners.insert(key.clone(), owners);
    }
    Ok(())
}

fn load_item(tx: &impl store::View, items: &mut BTreeMap<RefKey, Known>, key: &RefKey) -> Result<(), StoreError> {
    if items.contains_key(key) {
        return Ok(());
    }
    if let Some(item) = tx.item(key)? {
        items.insert(key.clone(), Known { item, endpoints: tx.endpoints(key)? });
    }
    Ok(())
}
