//! The hosts that items are of.

use std::collections::BTreeSet;

use crate::domain::reference::WorkItemRef;
use crate::store::{StoreError, View};

/// The hosts of all items in the store.
///
/// # Errors
/// The store did not answer.
pub fn hosts(tx: &impl View) -> Result<BTreeSet<String>, StoreError> {
    let keys = tx.item_keys()?;
    let items = keys.iter().filter_map(|key| WorkItemRef::parse(key.as_str()).ok());
    Ok(items.map(|item| item.repo().host().to_owned()).collect())
}
