//! Loading what a decision sees.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::domain::decide::{self, Known, Told, View};
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

/// The event under the present names of its repository, which are `names`, and of its item.
pub(super) fn present<'e>(
    tx: &impl store::View,
    event: &'e Event,
    names: Option<&Names>,
) -> Result<Cow<'e, Event>, StoreError> {
    let mut event = decide::under_present_name(event, names).map_or(Cow::Borrowed(event), Cow::Owned);
    for _ in 0..MOVES {
        let Some(key) = decide::subject(&event).map(|subject| subject.reference.key()) else { break };
        let Some(forwarded) = tx.shared_item(&key)?.and_then(|item| decide::forwarded(&event, &item)) else { break };
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

/// The rows `event` can touch; `names` are those of its repository, `told` is what GitHub said about it.
pub(super) fn of_event(
    tx: &impl store::View,
    store: &StoreId,
    event: &Event,
    names: Option<Names>,
    policy: &Policy,
    told: Told,
) -> Result<View, StoreError> {
    let mut view = View::empty(store.clone());
    view.watermark = tx.watermark()?;
    view.names = names;
    view.told = told;
    for reference in touched(tx, event, policy, &view.told)? {
        load(tx, &mut view, &reference)?;
    }
    if let Content::Speech(speech) = &event.content {
        of_speech(tx, &mut view, event, speech)?;
    }
    Ok(view)
}

/// The items an event can touch, owners of pull requests aside.
pub(super) fn touched(
    tx: &impl store::View,
    event: &Event,
    policy: &Policy,
    told: &Told,
) -> Result<Vec<WorkItemRef>, StoreError> {
    let named = decide::named(event, policy, told).into_iter();
    let mut touched: Vec<WorkItemRef> = named.map(|named| named.reference).collect();
    match &event.content {
        Content::Speech(speech) => {
            if let Form::Check(check) = &speech.form {
                touched.extend(decide::named_pull_requests(check, event));
                touched.extend(head(tx, event, check)?);
                touched.extend(decide::branch_items(check, event));
            }
        }
        Content::Fact(fact) => touched.extend(of_fact(tx, event, fact)?),
        Content::Ignored(_) => {}
    }
    Ok(touched)
}

/// The pull request a check's commit is the head of, under its present name.
fn head(tx: &impl store::View, event: &Event, check: &Check) -> Result<Option<WorkItemRef>, StoreError> {
    let names = names(tx, event)?;
    let present = |head: WorkItemRef| names.as_ref().and_then(|names| names.present(&head)).unwrap_or(head);
    Ok(tx.head(&check.head_sha)?.map(present))
}

/// The rows a verb about `items` can touch.
pub(super) fn of_items(tx: &impl store::View, store: &StoreId, items: &[WorkItemRef]) -> Result<View, StoreError> {
    let mut view = View::empty(store.clone());
    items.iter().try_for_each(|item| load(tx, &mut view, item))?;
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
        for item in view.items.keys() {
            if tx.has_seen(item, node_id)? {
                view.seen.insert(item.clone());
            }
        }
    }
    match &speech.form {
        Form::Check(check) => of_check(tx, view, event, check),
        Form::Comment | Form::ReviewComment { .. } | Form::Review { .. } => Ok(()),
    }
}

fn of_check(tx: &impl store::View, view: &mut View, event: &Event, check: &Check) -> Result<(), StoreError> {
    view.head_owner = head(tx, event, check)?;
    if let Some(head) = decide::checked_head(event, check) {
        view.head_checked = tx.identity(&head)? != decide::IdentityState::Unused;
    }
    Ok(())
}

fn of_fact(tx: &impl store::View, event: &Event, fact: &Fact) -> Result<Vec<WorkItemRef>, StoreError> {
    match fact {
        Fact::Item { change: ItemFact::Transferred { to: Some((other, _)) }, .. }
        | Fact::Item { change: ItemFact::Opened { transferred_from: Some((other, _)) }, .. } => Ok(vec![other.clone()]),
        Fact::Repository(change) => of_repository(tx, event, change),
        Fact::Item { .. } | Fact::Withdrawn { .. } => Ok(Vec::new()),
    }
}

/// A fact about a repository is about every item of it, and every pull request of it that a record lists; under a new
/// name, also about what is there already.
fn of_repository(
    tx: &impl store::View,
    event: &Event,
    change: &RepositoryFact,
) -> Result<Vec<WorkItemRef>, StoreError> {
    let former = match change {
        RepositoryFact::Renamed { from } | RepositoryFact::Transferred { from } => Some(from.clone()),
        RepositoryFact::Deleted => None,
    };
    let here = event.repository.as_ref().map(|repository| repository.reference.clone());
    let known = names(tx, event)?.map(|names| names.current);
    let mut touched = Vec::new();
    for repository in former.into_iter().chain(here).chain(known) {
        touched.extend(tx.items_of_repo(&repository.key())?.into_iter().map(|item| item.reference));
        let listed = tx.pull_requests_of_repo(&repository.key())?;
        touched.extend(listed.iter().filter_map(|key| WorkItemRef::parse(key.as_str()).ok()));
    }
    Ok(touched)
}

/// The item of `reference` with its endpoints, and the records that list it.
fn load(tx: &impl store::View, view: &mut View, reference: &WorkItemRef) -> Result<(), StoreError> {
    let key = reference.key();
    load_item(tx, &mut view.items, &key)?;
    let owners = tx.owners(&key)?;
    for owner in &owners {
        load_item(tx, &mut view.items, owner)?;
    }
    if !owners.is_empty() {
        view.owners.insert(key, owners);
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
