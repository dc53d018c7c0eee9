//! Transactions as the store uses them: tables opened at most once, bytes in and out, no panic of redb let through.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ops::{Bound, ControlFlow};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;

use redb::{ReadOnlyTable, ReadTransaction, ReadableTable, Table, TableError, WriteTransaction};

use super::error::{StoreError, panic_text};
use super::keys::{self, Span};
use super::packs::Filling;
use super::rows::{self, JournalRowRef};
use super::tables::{Bytes, TableId};
use crate::domain::item::Item;
use crate::domain::reference::RefKey;

/// What a visitor of rows answers.
pub type Flow = ControlFlow<()>;

/// Bytes of one snapshot. Implemented by the two kinds of transaction; everything else is written on top of it once.
pub trait Raw {
    /// Calls `read` with the value of `key`, when there is one.
    fn get<R>(&self, table: TableId, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>, StoreError>;

    /// Calls `visit` with every key and value of `span`, in order, until it breaks.
    fn scan(&self, table: TableId, span: &Span, visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow) -> Result<(), StoreError>;

    /// The last key of a table that has a tree of its own.
    fn last_key(&self, table: TableId) -> Result<Option<Vec<u8>>, StoreError>;

    /// The next number of a counter, when this transaction has it in hand.
    fn number_in_hand(&self, counter: &str) -> Option<u64>;

    /// Remembers a row that a list left out.
    fn note_skipped(&self, error: StoreError);

    /// The rows that lists of this transaction left out because they cannot be read, for the log; empties the memory.
    fn take_skipped(&self) -> Vec<StoreError>;
}

/// A snapshot for reading.
pub struct ReadTx<'t> {
    path: &'t Path,
    transaction: &'t ReadTransaction,
    tables: [OnceCell<Option<ReadOnlyTable<Bytes, Bytes>>>; TableId::COUNT],
    skipped: RefCell<Vec<StoreError>>,
}

/// A write transaction, shared by the jobs of one group.
pub struct WriteTx<'t> {
    path: &'t Path,
    transaction: &'t WriteTransaction,
    tables: [OnceCell<Table<'t, Bytes, Bytes>>; TableId::COUNT],
    writes: u64,
    /// Next numbers of the counters used so far; they become rows with the commit of the group.
    numbers: BTreeMap<&'static str, u64>,
    trail: Trail,
    pub(super) filling: Filling,
    /// Items read or put so far, decoded once for the whole group. A row changed in another way is forgotten.
    items: RefCell<HashMap<Vec<u8>, Option<Rc<Item>>>>,
    /// Where rows become bytes.
    buffer: Vec<u8>,
    storage_failed: Cell<bool>,
    skipped: RefCell<Vec<StoreError>>,
}

/// A row of the journal that is being made: a list that is not closed yet, and the number of its last entry.
#[derive(Default)]
struct Trail {
    row: Vec<u8>,
    last: u64,
}

/// A row of the journal that is this long is closed, a little under what redb keeps in a piece of eight pages.
const TRAIL_BYTES: usize = 30 << 10;

impl Trail {
    fn add(&mut self, number: u64, entry: &JournalRowRef<'_>) -> Result<(), StoreError> {
        self.row.push(if self.row.is_empty() { b'[' } else { b',' });
        self.last = number;
        rows::encode_into(TableId::Journal, entry, &mut self.row)
    }
}

impl<'t> ReadTx<'t> {
    pub(super) fn new(path: &'t Path, transaction: &'t ReadTransaction) -> Self {
        let tables = std::array::from_fn(|_| OnceCell::new());
        Self { path, transaction, tables, skipped: RefCell::default() }
    }

    /// The table, or `None` while nobody has written it.
    fn table(&self, id: TableId) -> Result<Option<&ReadOnlyTable<Bytes, Bytes>>, StoreError> {
        let id = id.tree();
        let cell = &self.tables[id as usize];
        if cell.get().is_none() {
            let opened = guarded(self.path, || self.transaction.open_table(id.definition()))?;
            let opened = match opened {
                Ok(table) => Some(table),
                Err(TableError::TableDoesNotExist(_)) => None,
                Err(error) => return Err(StoreError::table(self.path, error)),
            };
            let _ = cell.set(opened);
        }
        Ok(cell.get().and_then(Option::as_ref))
    }
}

impl Raw for ReadTx<'_> {
    fn get<R>(&self, table: TableId, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>, StoreError> {
        self.table(table)?.map_or(Ok(None), |tree| get_in(self.path, tree, &lying(table, key), read))
    }

    fn scan(&self, table: TableId, span: &Span, visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow) -> Result<(), StoreError> {
        self.table(table)?.map_or(Ok(()), |tree| scan_of(self.path, table, tree, span, visit))
    }

    fn last_key(&self, table: TableId) -> Result<Option<Vec<u8>>, StoreError> {
        self.table(apart(table)?)?.map_or(Ok(None), |tree| last_in(self.path, tree))
    }

    fn number_in_hand(&self, _: &str) -> Option<u64> {
        None
    }

    fn note_skipped(&self, error: StoreError) {
        self.skipped.borrow_mut().push(error);
    }

    fn take_skipped(&self) -> Vec<StoreError> {
        self.skipped.take()
    }
}

impl<'t> WriteTx<'t> {
    pub(super) fn new(path: &'t Path, transaction: &'t WriteTransaction) -> Self {
        let tables = std::array::from_fn(|_| OnceCell::new());
        Self {
            path,
            transaction,
            tables,
            writes: 0,
            numbers: BTreeMap::new(),
            trail: Trail::default(),
            filling: Filling::default(),
            items: RefCell::default(),
            buffer: Vec::new(),
            storage_failed: Cell::new(false),
            skipped: RefCell::default(),
        }
    }

    /// How many rows were put or removed so far.
    pub(super) fn writes(&self) -> u64 {
        self.writes
    }

    /// Whether the disk failed under it, whatever a closure made of that.
    pub(super) fn storage_failed(&self) -> bool {
        self.storage_failed.get()
    }

    /// Sets the next number of a counter; written by [`WriteTx::settle`].
    pub(super) fn set_number(&mut self, counter: &'static str, next: u64) {
        self.writes += 1;
        self.numbers.insert(counter, next);
    }

    /// The item of `key`, or that there is none, when this group has read or put it before.
    pub(super) fn kept_item(&self, key: &RefKey) -> Option<Option<Rc<Item>>> {
        self.items.borrow().get(key.as_str().as_bytes()).cloned()
    }

    /// Keeps what was read or put of an item.
    pub(super) fn keep_item(&self, key: &RefKey, item: Option<Rc<Item>>) {
        self.items.borrow_mut().insert(key.as_str().as_bytes().to_vec(), item);
    }

    fn forget(&mut self, table: TableId, key: &[u8]) {
        if table == TableId::Items {
            self.items.get_mut().remove(key);
        }
    }

    /// An empty buffer for a row's bytes; [`WriteTx::give_buffer`] keeps its memory for the next row.
    pub(super) fn take_buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// Takes a buffer back.
    pub(super) fn give_buffer(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.buffer = buffer;
    }

    /// Adds an entry with its number to the trail of this transaction.
    pub(super) fn add_to_trail(&mut self, number: u64, entry: &JournalRowRef<'_>) -> Result<(), StoreError> {
        self.trail.add(number, entry)?;
        if self.trail.row.len() < TRAIL_BYTES { Ok(()) } else { self.settle_trail() }
    }

    /// Writes the row of the trail that is in hand.
    fn settle_trail(&mut self) -> Result<(), StoreError> {
        let Trail { mut row, last } = std::mem::take(&mut self.trail);
        if row.is_empty() {
            return Ok(());
        }
        row.push(b']');
        self.put(TableId::Journal, &keys::number(last), &row)
    }

    /// Writes the trail, the pack and the counters; the last thing before a commit.
    pub(super) fn settle(&mut self) -> Result<(), StoreError> {
        self.settle_trail()?;
        self.settle_pack()?;
        for (counter, next) in std::mem::take(&mut self.numbers) {
            self.put(TableId::Counters, counter.as_bytes(), &keys::number(next))?;
        }
        Ok(())
    }

    /// Puts a row.
    pub(super) fn put(&mut self, table: TableId, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        self.put_new(table, key, value).map(drop)
    }

    /// Puts a row; whether there was none.
    pub(super) fn put_new(&mut self, table: TableId, key: &[u8], value: &[u8]) -> Result<bool, StoreError> {
        self.open(table)?;
        self.forget(table, key);
        self.writes += 1;
        let path = self.path;
        let Some(opened) = self.tables[table.tree() as usize].get_mut() else { return Ok(false) };
        let put = guarded(path, || opened.insert(&*lying(table, key), value).map(|old| old.is_none()))
            .and_then(|put| put.map_err(|error| StoreError::storage(path, error)));
        self.watch(put)
    }

    /// Removes a row; false when there was none.
    pub(super) fn delete(&mut self, table: TableId, key: &[u8]) -> Result<bool, StoreError> {
        self.open(table)?;
        self.forget(table, key);
        self.writes += 1;
        let path = self.path;
        let Some(opened) = self.tables[table.tree() as usize].get_mut() else { return Ok(false) };
        let deleted = guarded(path, || opened.remove(&*lying(table, key)).map(|old| old.is_some()))
            .and_then(|deleted| deleted.map_err(|error| StoreError::storage(path, error)));
        self.watch(deleted)
    }

    /// Removes every row of a span, in a table with a tree of its own.
    pub(super) fn delete_span(&mut self, table: TableId, span: &Span) -> Result<(), StoreError> {
        self.open(apart(table)?)?;
        self.writes += 1;
        let path = self.path;
        let Some(opened) = self.tables[table as usize].get_mut() else { return Ok(()) };
        let deleted = guarded(path, || opened.retain_in::<&[u8], _>(bounds(span), |_, _| false))
            .and_then(|deleted| deleted.map_err(|error| StoreError::storage(path, error)));
        self.watch(deleted)
    }

    fn open(&self, id: TableId) -> Result<&Table<'t, Bytes, Bytes>, StoreError> {
        let id = id.tree();
        let cell = &self.tables[id as usize];
        if cell.get().is_none() {
            let opened = guarded(self.path, || self.transaction.open_table(id.definition()))
                .and_then(|opened| opened.map_err(|error| StoreError::table(self.path, error)));
            let _ = cell.set(self.watch(opened)?);
        }
        cell.get().ok_or_else(|| StoreError::Bug(format!("table {} did not open", id.name())))
    }

    fn watch<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if matches!(result, Err(StoreError::Io { .. })) {
            self.storage_failed.set(true);
        }
        result
    }
}

impl Raw for WriteTx<'_> {
    fn get<R>(&self, table: TableId, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>, StoreError> {
        if let Some(pack) = self.filling.at(table, key) {
            return Ok(Some(read(pack)));
        }
        let tree = self.open(table)?;
        self.watch(get_in(self.path, tree, &lying(table, key), read))
    }

    fn scan(&self, table: TableId, span: &Span, visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow) -> Result<(), StoreError> {
        let tree = self.open(table)?;
        self.watch(scan_of(self.path, table, tree, span, visit))
    }

    fn last_key(&self, table: TableId) -> Result<Option<Vec<u8>>, StoreError> {
        let tree = self.open(apart(table)?)?;
        self.watch(last_in(self.path, tree))
    }

    fn number_in_hand(&self, counter: &str) -> Option<u64> {
        self.numbers.get(counter).copied()
    }

    fn note_skipped(&self, error: StoreError) {
        self.skipped.borrow_mut().push(error);
    }

    fn take_skipped(&self) -> Vec<StoreError> {
        self.skipped.take()
    }
}

/// Runs one call into redb. It can panic on a file that was changed outside of it; that is damage, not our end.
pub(super) fn guarded<T>(path: &Path, call: impl FnOnce() -> T) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(call))
        .map_err(|panic| StoreError::Damaged(format!("{}: {}", path.display(), panic_text(&*panic))))
}

/// The key of a row in the tree that holds it.
fn lying(table: TableId, key: &[u8]) -> Cow<'_, [u8]> {
    table.beside().map_or(Cow::Borrowed(key), |beside| Cow::Owned(beside.key(key)))
}

/// `table`, when it has a tree of its own.
fn apart(table: TableId) -> Result<TableId, StoreError> {
    match table.beside() {
        Some(_) => Err(StoreError::Bug(format!("table {} has no tree of its own", table.name()))),
        None => Ok(table),
    }
}

fn scan_of(
    path: &Path,
    table: TableId,
    tree: &impl ReadableTable<Bytes, Bytes>,
    span: &Span,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<(), StoreError> {
    match table.beside() {
        Some(beside) => beside.scan(path, tree, span, visit),
        None => scan_in(path, tree, span, visit),
    }
}

fn get_in<R>(
    path: &Path,
    table: &impl ReadableTable<Bytes, Bytes>,
    key: &[u8],
    read: impl FnOnce(&[u8]) -> R,
) -> Result<Option<R>, StoreError> {
    let found = guarded(path, || table.get(key))?.map_err(|error| StoreError::storage(path, error))?;
    let Some(found) = found else { return Ok(None) };
    let value = guarded(path, || found.value())?;
    Ok(Some(read(value)))
}

/// Every row of a span of one tree.
pub(super) fn scan_in(
    path: &Path,
    table: &impl ReadableTable<Bytes, Bytes>,
    span: &Span,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
) -> Result<(), StoreError> {
    let rows = guarded(path, || table.range::<&[u8]>(bounds(span)))?;
    let mut rows = rows.map_err(|error| StoreError::storage(path, error))?;
    while let Some(row) = guarded(path, || rows.next())? {
        let (key, value) = row.map_err(|error| StoreError::storage(path, error))?;
        let (key, value) = guarded(path, || (key.value(), value.value()))?;
        if visit(key, value).is_break() {
            break;
        }
    }
    Ok(())
}

fn bounds(span: &Span) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (Bound::Included(span.from.as_slice()), span.to.as_deref().map_or(Bound::Unbounded, Bound::Excluded))
}

fn last_in(path: &Path, table: &impl ReadableTable<Bytes, Bytes>) -> Result<Option<Vec<u8>>, StoreError> {
    let last = guarded(path, || table.last().map(|row| row.map(|(key, _)| key.value().to_vec())))?;
    last.map_err(|error| StoreError::storage(path, error))
}
