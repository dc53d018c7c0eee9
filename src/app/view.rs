//! Loading what a decision sees.

use std::collections::BTreeMap;

use crate::domain::decide::{self, Known, View};
use crate::domain::event::{Check, Content, Event, Fact, Form, RepositoryFact, Speech};
use crate::domain::ids::StoreId;
use crate::domain::policy::Policy;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::store::{self, StoreError};

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
    for reference in touched(tx, event, policy)? {
        load(tx, &mut view, &reference)?;
    }
    if let Content::Speech(speech) = &event.content {
        of_speech(tx, &mut view, event, speech)?;
    }
    Ok(view)
}

/// The items an event can touch, owners of pull requests aside.
pub(super) fn touched(tx: &impl store::View, event: &Event, policy: &Policy) -> Result<Vec<WorkItemRef>, StoreError> {
    let mut touched: Vec<WorkItemRef> = decide::named(event, policy).into_iter().map(|named| named.reference).collect();
    match &event.content {
        Content::Speech(speech) => {
            let Form::Check(check) = &speech.form else { return Ok(touched) };
            touched.extend(decide::named_pull_requests(check, event));
            touched.extend(tx.head(&check.head_sha)?);
            touched.extend(decide::branch_items(check, event));
        }
        Content::Fact(fact) => {
            if let Fact::Repository(change) = fact.as_ref() {
                touched.extend(of_repository(tx, event, change)?);
            }
        }
        Content::Ignored(_) => {}
    }
    Ok(touched)
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
    view.head_owner = tx.head(&check.head_sha)?;
    if let Some(head) = decide::checked_head(event, check) {
        view.head_checked = tx.identity(&head)? != decide::IdentityState::Unused;
    }
    Ok(())
}

/// A fact about a repository is about every item of it.
fn of_repository(
    tx: &impl store::View,
    event: &Event,
    change: &RepositoryFact,
) -> Result<Vec<WorkItemRef>, StoreError> {
    let repository = match change {
        RepositoryFact::Renamed { from } | RepositoryFact::Transferred { from } => Some(from),
        RepositoryFact::Deleted => event.repository.as_ref().map(|repository| &repository.reference),
    };
    let items = repository.map(|repository| tx.items_of_repo(&repository.key())).transpose()?.unwrap_or_default();
    Ok(items.into_iter().map(|item| item.reference).collect())
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
