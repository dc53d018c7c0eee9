//! The rows that lie beside an item's own in the tree of items: their keys there, and walks over one table among them.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::path::Path;

use redb::ReadableTable;

use super::error::StoreError;
use super::keys::{self, Span};
use super::raw::{Flow, scan_in};
use super::tables::{Beside, Bytes, TableId};

/// Rows of other tables that are stepped over before the tree is asked for the next one of ours: a step is cheap, and a
/// long lane is many of them.
const STEPS: usize = 16;

impl Beside {
    /// The key in the tree of items of the row with `key`.
    pub fn key(self, key: &[u8]) -> Vec<u8> {
        let (item, rest) = parts(key);
        tree_key(item, self.place, rest.unwrap_or_default())
    }

    /// Calls `visit` with every key and value of `span` in the tree of items, keys as the table has them.
    pub fn scan(
        self,
        path: &Path,
        tree: &impl ReadableTable<Bytes, Bytes>,
        span: &Span,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), StoreError> {
        let mut span = self.span(span);
        let mut own = Vec::new();
        loop {
            let (mut passed, mut next) = (0, None);
            scan_in(path, tree, &span, &mut |key, value| match self.order(key, &mut own) {
                Ordering::Equal => {
                    passed = 0;
                    visit(&own, value)
                }
                _ if passed < STEPS => {
                    passed += 1;
                    ControlFlow::Continue(())
                }
                order => {
                    next = Some(self.behind(key, order));
                    ControlFlow::Break(())
                }
            })?;
            match next {
                Some(next) if span.to.as_ref().is_none_or(|to| next < *to) => span.from = next,
                _ => return Ok(()),
            }
        }
    }

    /// The stretch of the tree that holds `span`, with others' rows in it when it goes over several items.
    fn span(self, span: &Span) -> Span {
        let bound = |key: &[u8]| match parts(key) {
            (item, Some(rest)) if self.pairs => tree_key(item, self.place, rest),
            // Behind the one row of that item.
            (item, Some(_)) => tree_key(item, self.place + 1, &[]),
            (item, None) => item.to_vec(),
        };
        let (item, rest) = parts(&span.from);
        // All keys of one item end where the next place begins.
        let all_of_item = rest.is_some_and(<[u8]>::is_empty)
            && span.to.as_deref().is_some_and(|to| to.strip_prefix(item) == Some(&[1]));
        let to = match all_of_item {
            true => Some(tree_key(item, self.place + 1, &[])),
            false => span.to.as_deref().map(bound),
        };
        Span { from: bound(&span.from), to }
    }

    /// How a row of the tree lies to this table's rows of its item; the key as this table has it goes into `own`.
    fn order(self, key: &[u8], own: &mut Vec<u8>) -> Ordering {
        let (item, rest) = parts(key);
        let (place, rest) = rest.and_then(<[u8]>::split_first).unwrap_or((&0, &[]));
        if *place == self.place {
            own.clear();
            own.extend_from_slice(item);
            if self.pairs {
                own.push(0);
                own.extend_from_slice(rest);
            }
        }
        place.cmp(&self.place)
    }

    /// The first key behind `key` that can be this table's; `order` is how it lies.
    fn behind(self, key: &[u8], order: Ordering) -> Vec<u8> {
        let place = if order == Ordering::Less { self.place } else { u8::MAX };
        tree_key(parts(key).0, place, &[])
    }
}

/// The number of the effect whose row in the tree of items has `key`; `None` for a row of another table.
pub(super) fn effect_of(key: &[u8]) -> Option<u64> {
    let (place, rest) = parts(key).1?.split_first()?;
    let is_effect = TableId::Effects.beside().is_some_and(|beside| beside.place == *place);
    rest.split_first().filter(|_| is_effect).and_then(|(_, number)| keys::read_number(number))
}

fn tree_key(item: &[u8], place: u8, rest: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(item.len() + 2 + rest.len());
    key.extend_from_slice(item);
    key.extend_from_slice(&[0, place]);
    key.extend_from_slice(rest);
    key
}

/// The item of a key, and what stands behind its NUL.
fn parts(key: &[u8]) -> (&[u8], Option<&[u8]>) {
    match key.iter().position(|byte| *byte == 0) {
        Some(at) => (&key[..at], Some(&key[at + 1..])),
        None => (key, None),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::store::raw::Raw as _;
    use crate::store::tables::TableId;
    use crate::store::tests::memory;

    const TABLES: [TableId; 5] = [TableId::Effects, TableId::Seen, TableId::LaneCounts, TableId::Marks, TableId::Items];

    fn row() -> impl Strategy<Value = (TableId, Vec<u8>)> {
        let item = prop::sample::select(vec!["a#1", "a#10", "a#2", "b#1"]);
        let rest = prop::collection::vec(0..3_u8, 0..3);
        (prop::sample::select(TABLES.to_vec()), item, rest).prop_map(|(table, item, rest)| {
            let mut key = item.as_bytes().to_vec();
            if table.beside().is_some_and(|beside| beside.pairs) {
                key.push(0);
                key.extend(rest);
            }
            (table, key)
        })
    }

    fn span() -> impl Strategy<Value = Span> {
        let prefix = prop::sample::select(vec![
            &b""[..],
            b"a#",
            b"a#1",
            b"a#1\0",
            b"a#10\0",
            b"a#1\0\x01",
            b"a#1\0\x02\0",
            b"a#2",
            b"b",
            b"c",
        ]);
        (prefix, any::<bool>()).prop_map(|(prefix, open)| match open {
            true => Span::starting(prefix.to_vec()),
            false => Span::prefix(prefix),
        })
    }

    proptest! {
        #[test]
        fn a_table_among_others_reads_as_one_of_its_own(
            rows in prop::collection::vec(row(), 0..60),
            crowd in 0..3 * STEPS,
            spans in prop::collection::vec(span(), 1..6),
        ) {
            // A crowd of another table's rows between those of an item.
            let crowd = (0..crowd).map(|n| (TableId::Seen, [b"a#1\0crowd".as_slice(), &[n as u8]].concat()));
            let rows: Vec<(TableId, Vec<u8>)> = rows.into_iter().chain(crowd).collect();
            let (store, put) = (memory(), rows.clone());
            store.write(move |tx| put.iter().try_for_each(|(table, key)| tx.put(*table, key, key))).unwrap();
            for table in TABLES {
                let own = rows.iter().filter(|(of, _)| *of == table).map(|(_, key)| (key.clone(), key.clone()));
                let own: BTreeMap<Vec<u8>, Vec<u8>> = own.collect();
                for span in &spans {
                    let within = |key: &Vec<u8>| *key >= span.from && span.to.as_ref().is_none_or(|to| key < to);
                    let wanted: Vec<_> = own.clone().into_iter().filter(|(key, _)| within(key)).collect();
                    let mut found = Vec::new();
                    let scanned = store.read(|tx| tx.scan(table, span, &mut |key, value| {
                        found.push((key.to_vec(), value.to_vec()));
                        ControlFlow::Continue(())
                    }));
                    scanned.unwrap();
                    prop_assert_eq!(&found, &wanted, "{} {:?}", table.name(), span);
                }
                for key in own.keys() {
                    let got = store.read(|tx| tx.get(table, key, |value| value.to_vec())).unwrap();
                    prop_assert_eq!(got.as_ref(), Some(key));
                }
            }
        }
    }
}
