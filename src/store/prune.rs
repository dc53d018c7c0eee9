//! Forgetting by age: a sweep in small steps, so that cost does not grow with history and no transaction is long.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::keys::{self, Span};
use super::raw::{Raw, WriteTx};
use super::rows::{self, AtRow, HeadRow, ItemRow, MarkedRow, SettledRow, StateRow, TellRow};
use super::tables::TableId;
use super::view::{View, WATERMARK};
use crate::domain::item::{Facts, Item, Sections};
use crate::domain::time::Time;

/// Where the sweep stands, by name among the texts.
const CURSOR: &str = "store.sweep";
/// What the sweep walks, in this order, over and over.
const SWEPT: [TableId; 7] = [
    TableId::Identities,
    TableId::Deliveries,
    TableId::Posted,
    TableId::Settled,
    TableId::Heads,
    TableId::Items,
    TableId::Tells,
];

/// The next row to look at: table and key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    table: usize,
    key: Vec<u8>,
}

impl WriteTx<'_> {
    /// Looks at the next `budget` rows of the sweep and removes those older than `before`; answers how many it removed.
    ///
    /// The watermark is raised first, in the same transaction: what an identity no longer remembers is never new.
    pub fn prune(&mut self, before: Time, budget: usize) -> Result<usize, StoreError> {
        if self.watermark()?.is_none_or(|watermark| watermark < before) {
            self.put_meta(WATERMARK, &before.as_millis().to_string())?;
        }
        let mut cursor: Cursor =
            self.meta(CURSOR)?.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let (mut left, mut removed, mut tables) = (budget, 0, 0);
        while left > 0 && tables <= SWEPT.len() {
            let table = SWEPT[cursor.table % SWEPT.len()];
            let step = self.look(table, &cursor.key, before, left)?;
            left -= step.looked;
            for key in &step.old {
                removed += usize::from(self.delete(table, key)?);
            }
            cursor = match step.next {
                Some(key) => Cursor { key, ..cursor },
                None => Cursor { table: (cursor.table + 1) % SWEPT.len(), key: Vec::new() },
            };
            tables += 1;
        }
        let text = serde_json::to_string(&cursor).map_err(|error| StoreError::Bug(error.to_string()))?;
        self.put_meta(CURSOR, &text)?;
        Ok(removed)
    }

    /// Reads at most `budget` rows of `table` from `from` on.
    fn look(&self, table: TableId, from: &[u8], before: Time, budget: usize) -> Result<Step, StoreError> {
        let mut step = Step { looked: 0, old: Vec::new(), next: None };
        let mut failed = None;
        self.scan(table, &Span::starting(from.to_vec()), &mut |key, value| {
            if step.looked == budget {
                step.next = Some(key.to_vec());
                return ControlFlow::Break(());
            }
            step.looked += 1;
            match self.is_over(table, key, value, before) {
                Ok(true) => step.old.push(key.to_vec()),
                Ok(false) => {}
                // A row that cannot be read is kept: `doctor` shows it.
                Err(StoreError::BadRow { .. }) => {}
                Err(error) => {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        })?;
        failed.map_or(Ok(step), Err)
    }

    fn is_over(&self, table: TableId, key: &[u8], value: &[u8], before: Time) -> Result<bool, StoreError> {
        let at = match table {
            TableId::Identities | TableId::Deliveries => {
                let row = rows::decode::<MarkedRow>(table, key, value)?;
                // What is kept for a person to retry stays known until that happened.
                return Ok(row.s != StateRow::Undecidable && row.t < before);
            }
            TableId::Settled => rows::decode::<SettledRow>(table, key, value)?.t,
            TableId::Heads => rows::decode::<HeadRow>(table, key, value)?.t,
            TableId::Tells => rows::decode::<TellRow>(table, key, value)?.t,
            TableId::Items => return self.is_spent(&rows::decode::<ItemRow>(table, key, value)?.into(), before),
            _ => rows::decode::<AtRow>(table, key, value)?.t,
        };
        Ok(at < before)
    }

    /// Whether an item is no more than the fact that something was closed long ago, and nobody refers to it.
    fn is_spent(&self, item: &Item, before: Time) -> Result<bool, StoreError> {
        let Item { reference, version: _, facts, sections, session, baseline: _, held_by_adoption } = item;
        if session.is_some() || *held_by_adoption || *sections != Sections::default() || !closed_before(facts, before) {
            return Ok(false);
        }
        let key = reference.key();
        let text = key.as_str();
        let own_rows = [
            (TableId::Marks, text.as_bytes().to_vec()),
            (TableId::LaneCounts, text.as_bytes().to_vec()),
            (TableId::Claims, text.as_bytes().to_vec()),
        ];
        for (table, key) in own_rows {
            if self.get(table, &key, |_| ())?.is_some() {
                return Ok(false);
            }
        }
        for table in [TableId::Endpoints, TableId::Owners, TableId::Seen] {
            if self.any(table, &Span::prefix(&keys::pair(text, "")))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn any(&self, table: TableId, span: &Span) -> Result<bool, StoreError> {
        let mut any = false;
        self.scan(table, span, &mut |_, _| {
            any = true;
            ControlFlow::Break(())
        })?;
        Ok(any)
    }
}

/// What one look found.
struct Step {
    looked: usize,
    old: Vec<Vec<u8>>,
    next: Option<Vec<u8>>,
}

fn closed_before(facts: &Facts, before: Time) -> bool {
    let last = facts.updated_at.max(facts.closed_at);
    facts.open == Some(false) && last.is_some_and(|last| last < before)
}
