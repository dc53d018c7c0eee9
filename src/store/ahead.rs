//! Items decoded ahead.
//!
//! Everybody waits for the committing thread, and it is only one. Whoever brings an event can read the event's item in a
//! snapshot before, and decode it there. The decision reads the row again, and takes the item that was decoded ahead when
//! the row is the same, byte for byte.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::StoreError;
use super::raw::{Raw as _, ReadTx};
use super::rows::{self, ItemRow};
use super::tables::TableId;
use crate::domain::item::Item;
use crate::domain::reference::RefKey;

/// Most items that are kept; with more of them nobody comes to take them, and all are let go.
const MOST: usize = 256;

/// What was decoded and not taken yet.
#[derive(Debug, Default)]
pub(super) struct Ahead(Mutex<HashMap<RefKey, Decoded>>);

#[derive(Debug)]
struct Decoded {
    row: Vec<u8>,
    item: Item,
}

impl Ahead {
    fn put(&self, key: &RefKey, row: &[u8], item: Item) {
        let decoded = Decoded { row: row.to_vec(), item };
        let mut kept = self.kept();
        let full = if kept.len() < MOST { HashMap::new() } else { std::mem::take(&mut *kept) };
        let before = kept.insert(key.clone(), decoded);
        drop(kept);
        drop((full, before));
    }

    /// The item of a row; taken, when it was decoded ahead.
    pub fn item(&self, key: &RefKey, row: &[u8]) -> Result<Item, StoreError> {
        let decoded = self.kept().remove(key).filter(|decoded| decoded.row == row);
        match decoded {
            Some(decoded) => Ok(decoded.item),
            None => rows::decode::<ItemRow>(TableId::Items, key.as_str().as_bytes(), row).map(Item::from),
        }
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<RefKey, Decoded>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadTx<'_> {
    /// Decodes an item for whoever decides about it next. A row that cannot be read is that one's to tell of.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn fetch(&self, key: &RefKey) -> Result<(), StoreError> {
        let Some(ahead) = self.ahead() else { return Ok(()) };
        let bytes = key.as_str().as_bytes();
        let decode = |row: &[u8]| {
            if let Ok(decoded) = rows::decode::<ItemRow>(TableId::Items, bytes, row) {
                ahead.put(key, row, decoded.into());
            }
        };
        self.get(TableId::Items, bytes, decode).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use super::*;
    use crate::domain::reference::WorkItemRef;
    use crate::store::testing::CountingIds;
    use crate::store::{Store, View as _};

    fn item(version: u64) -> Item {
        Item { version, ..Item::new(WorkItemRef::parse("github:octo/hello#1").unwrap()) }
    }

    #[test]
    fn an_item_decoded_ahead_is_taken_for_the_same_row_only_and_once() {
        let (ahead, key) = (Ahead::default(), item(1).reference.key());
        let mut row = Vec::new();
        rows::encode_into(TableId::Items, &ItemRow::from(item(1)), &mut row).unwrap();
        // An item that the row does not hold tells where an answer comes from.
        ahead.put(&key, &row, item(9));
        assert_eq!(ahead.item(&key, &row).unwrap().version, 9);
        assert_eq!(ahead.item(&key, &row).unwrap().version, 1);
        ahead.put(&key, b"another row", item(9));
        assert_eq!(ahead.item(&key, &row).unwrap().version, 1);
        assert!(ahead.item(&key, b"no row").is_err());
    }

    #[test]
    fn what_nobody_takes_is_let_go() {
        let (ahead, key) = (Ahead::default(), |n: usize| RefKey::parse(&format!("github:octo/hello#{n}")).unwrap());
        (1..=2 * MOST).for_each(|n| ahead.put(&key(n), b"row", item(1)));
        assert!(ahead.kept().len() <= MOST);
    }

    #[test]
    fn a_change_between_fetching_and_deciding_is_seen() {
        let store = Store::open_inline(InMemoryBackend::new(), &CountingIds::default()).unwrap();
        let key = item(1).reference.key();
        store.write(|tx| tx.put_item(&item(1))).unwrap();
        store.read(|tx| tx.fetch(&key)).unwrap();
        store.write(|tx| tx.put_item(&item(2))).unwrap();
        let (of, seen) = (key.clone(), store.write(move |tx| tx.item(&key)).unwrap().unwrap());
        assert_eq!(seen.version, 2);
        store.read(|tx| tx.fetch(&of)).unwrap();
        let changed = store.write(move |tx| {
            tx.put_item(&item(3))?;
            tx.item(&of)
        });
        assert_eq!(changed.unwrap().unwrap().version, 3);
    }
}
