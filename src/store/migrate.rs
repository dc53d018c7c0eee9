//! The schema version and the way from one to the next (`migrations/store/`, one numbered file per step).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use redb::{Database, ReadableTable, TableDefinition, WriteTransaction};

use super::error::StoreError;
use super::open::{self, catching};
use super::packs::Packed;
use super::raw::guarded;
use super::tables::{Bytes, Definition, ID_KEY, SCHEMA_KEY, TableId};
use super::write::PACKS_COUNTER;
use super::{beside, keys};

/// One step: from the version before it to the next, in one transaction together with the version's change.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// Its file in `migrations/store/`, for messages.
    pub name: &'static str,
    /// The change. It opens the tables it needs itself, those of older versions too.
    pub run: fn(&WriteTransaction) -> Result<(), redb::Error>,
}

/// All steps, oldest first; the first leads from version 1 to 2.
pub(super) const STEPS: &[Step] = &[
    Step { name: "0002-asking-and-telling", run: asking_and_telling },
    Step { name: "0003-long-effects", run: long_effects },
    Step { name: "0004-packed-effects", run: packed_effects },
];
/// The version of a store before any step.
const FIRST: u32 = 1;
/// The table of long effects of version 3.
const LONG: Definition = TableDefinition::new("long_effects");

/// Adds the tables about what is asked of GitHub and told there.
fn asking_and_telling(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    for table in [TableId::Polls, TableId::Waiting, TableId::Tells] {
        transaction.open_table(table.definition())?;
    }
    Ok(())
}

/// Adds the table of long effects. What waits stays where it is: a row that is not empty is read in its place.
fn long_effects(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    transaction.open_table(LONG).map(drop).map_err(Into::into)
}

/// Packs the long effects, in the order of their numbers. A row whose long row was missing stays empty, and is missed
/// as it was.
fn packed_effects(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    {
        let mut items = transaction.open_table(TableId::Items.definition())?;
        let mut long = transaction.open_table(LONG)?;
        let mut packed = transaction.open_table(TableId::Packs.definition())?;
        let (mut number, mut pack) = (1, Vec::new());
        for (effect, key) in empty_effects(&items)? {
            let Some(row) = long.remove(keys::number(effect).as_slice())? else { continue };
            let whole = Packed { effect, row: row.value(), text: b"" };
            if !whole.add_to(&mut pack) {
                packed.insert(keys::number(number).as_slice(), std::mem::take(&mut pack).as_slice())?;
                number += 1;
                whole.add_to(&mut pack);
            }
            items.insert(key.as_slice(), keys::number(number).as_slice())?;
        }
        if !pack.is_empty() {
            packed.insert(keys::number(number).as_slice(), pack.as_slice())?;
            number += 1;
        }
        let mut counters = transaction.open_table(TableId::Counters.definition())?;
        counters.insert(PACKS_COUNTER.as_bytes(), keys::number(number).as_slice())?;
    }
    transaction.delete_table(LONG)?;
    Ok(())
}

/// Keys in the tree of items of the effects whose row is empty, by their numbers.
fn empty_effects(items: &impl ReadableTable<Bytes, Bytes>) -> Result<BTreeMap<u64, Vec<u8>>, redb::Error> {
    let mut empty = BTreeMap::new();
    for row in items.iter()? {
        let (key, value) = row?;
        if let Some(effect) = beside::effect_of(key.value()).filter(|_| value.value().is_empty()) {
            empty.insert(effect, key.value().to_vec());
        }
    }
    Ok(empty)
}

/// The version that `steps` lead to.
pub(super) fn version(steps: &[Step]) -> u32 {
    FIRST + u32::try_from(steps.len()).unwrap_or(u32::MAX - FIRST)
}

/// Makes every table and writes the two keys that never move.
pub(super) fn initialise(path: &Path, database: &Database, id: &str, version: u32) -> Result<(), StoreError> {
    transact(path, database, |transaction| {
        for table in TableId::ALL.iter().filter(|table| table.tree() == **table) {
            transaction.open_table(table.definition())?;
        }
        let mut table = transaction.open_table(TableId::Store.definition())?;
        table.insert(ID_KEY, id.as_bytes())?;
        table.insert(SCHEMA_KEY, version.to_string().as_bytes())?;
        Ok(())
    })
}

/// Migrates the store at `path` from version `found`, with nobody else in the file, after a copy of it was made and
/// checked.
pub(super) fn run(path: &Path, found: u32, steps: &[Step]) -> Result<(), StoreError> {
    let supported = version(steps);
    let done = found.checked_sub(FIRST).and_then(|done| usize::try_from(done).ok());
    let Some(todo) = done.and_then(|done| steps.get(done..)) else {
        return Err(StoreError::Older { found, supported });
    };
    let database = catching(path, || open::exclusive_builder().open(path))?;
    if open::label(path, &database)?.schema != found {
        // Somebody else migrated it between the look and the lock: look again.
        return Err(StoreError::Busy);
    }
    keep_copy(path, found)?;
    for (number, step) in (found + 1..).zip(todo) {
        transact(path, &database, |transaction| {
            (step.run)(transaction)?;
            let mut table = transaction.open_table(TableId::Store.definition())?;
            table.insert(SCHEMA_KEY, number.to_string().as_bytes())?;
            Ok(())
        })
        .map_err(|error| match error {
            StoreError::Bug(text) => StoreError::Bug(format!("migration {}: {text}", step.name)),
            other => other,
        })?;
    }
    catching(path, || database.close())
}

/// Where the copy of a store of version `found` is kept: `state.redb.v1`.
pub(super) fn copy_path(path: &Path, found: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".v{found}"));
    name.into()
}

/// Copies the file beside itself. The caller holds the lock, nothing is written meanwhile. A copy counts only when it
/// could be opened.
fn keep_copy(path: &Path, found: u32) -> Result<(), StoreError> {
    let copy = copy_path(path, found);
    let io = |error| StoreError::io(&copy, error);
    let dir = path.parent().unwrap_or(Path::new("."));
    let unfinished = tempfile::Builder::new().prefix(".state-copy-").tempfile_in(dir).map_err(io)?;
    fs::copy(path, unfinished.path()).map_err(io)?;
    let copied = open::inspect(unfinished.path())?;
    if copied.schema != found {
        return Err(StoreError::Damaged(format!("the copy {} has schema {}", copy.display(), copied.schema)));
    }
    unfinished.as_file().sync_all().map_err(io)?;
    unfinished.persist(&copy).map(drop).map_err(|error| io(error.error))
}

/// One write transaction on a whole database.
fn transact(
    path: &Path,
    database: &Database,
    work: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
) -> Result<(), StoreError> {
    let run = || -> Result<(), redb::Error> {
        let transaction = database.begin_write()?;
        work(&transaction)?;
        transaction.commit()?;
        Ok(())
    };
    guarded(path, run)?.map_err(|error| match error {
        redb::Error::Io(source) => StoreError::io(path, source),
        redb::Error::Corrupted(text) => StoreError::Damaged(format!("{}: {text}", path.display())),
        other => StoreError::Bug(other.to_string()),
    })
}
