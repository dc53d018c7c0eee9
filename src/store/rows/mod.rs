//! The stored shapes: JSON rows, apart from the domain's types so that either can change alone.
//!
//! Every shape belongs to a schema version of the store. A field may be added with a default; anything else is a new
//! schema version with a migration step. Enums are externally tagged. The pinned rows in the store's tests are
//! the format: a test that fails there means that files in the field would no longer be read.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::keys;
use super::tables::TableId;
use crate::domain::decide::Urgency;
use crate::domain::log::LogEntry;
use crate::domain::reference::{RefKey, RepoRef, WorkItemRef};
use crate::domain::time::Time;

mod effect;
mod item;
mod session;
mod telling;

pub(super) use effect::{ClaimRow, DeadLetterRow, EffectRow};
pub(super) use item::ItemRow;
pub(super) use session::SessionRow;
pub(super) use telling::TellRow;

/// Adds a row as bytes to `out`. Fails only on what JSON cannot hold, which is a fault of ours.
pub(super) fn encode_into(table: TableId, row: &impl Serialize, out: &mut Vec<u8>) -> Result<(), StoreError> {
    serde_json::to_writer(out, row)
        .map_err(|error| StoreError::Bug(format!("a row of table {}: {error}", table.name())))
}

/// A row from bytes, or which row is bad and why.
pub(super) fn decode<T: DeserializeOwned>(table: TableId, key: &[u8], value: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(value).map_err(|error| bad(table, key, error))
}

/// That a row cannot be read.
pub(super) fn bad(table: TableId, key: &[u8], reason: impl ToString) -> StoreError {
    StoreError::BadRow { table: table.name(), key: keys::show(key), reason: reason.to_string() }
}

/// A reference key out of a stored key; it must be one that a reference could have made.
pub(super) fn ref_key(table: TableId, key: &[u8], text: &str) -> Result<RefKey, StoreError> {
    RefKey::parse(text).ok_or_else(|| match WorkItemRef::parse(text) {
        Err(error) => bad(table, key, error),
        Ok(_) => bad(table, key, "the key is not a lower-case reference"),
    })
}

/// When something happened; short names, there are many of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AtRow {
    pub t: Time,
}

/// The names of a repository; its id is its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RepositoryRow {
    pub current: RepoRef,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<RepoRef>,
}

/// A state and when it was reached: deliveries and identities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MarkedRow {
    pub s: StateRow,
    pub t: Time,
}

/// The states of deliveries and identities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StateRow {
    Spoken,
    Decided,
    Refused,
    Undecidable,
}

/// The pull request of a head commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HeadRow {
    pub pull_request: WorkItemRef,
    pub t: Time,
}

/// What became of an effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SettledRow {
    pub verb: String,
    pub outcome: String,
    pub t: Time,
}

/// An export mark, with its number among those that are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MarkRow {
    pub now: bool,
    pub n: u64,
    pub since: Time,
}

impl MarkRow {
    /// When it is served.
    pub const fn urgency(self) -> Urgency {
        if self.now { Urgency::Now } else { Urgency::Cycle }
    }
}

/// A portable file as it was last seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StampRow {
    pub file: String,
    pub stamp: String,
}

/// One entry of the decision trail; a row is a list of them. The entry's own shape is the event log's, read whole or to be
/// passed on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct JournalRow<E = LogEntry> {
    pub t: Time,
    pub entry: E,
}

/// A journal entry for writing, without a copy of the entry.
#[derive(Debug, Serialize)]
pub(super) struct JournalRowRef<'a> {
    pub t: Time,
    pub entry: &'a LogEntry,
}

/// What a bug kept from being decided; its body lies in a table of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UndecidableRow {
    pub name: String,
    pub error: String,
    pub t: Time,
    pub bytes: u64,
}
