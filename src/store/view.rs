//! Reading, the same in a snapshot and inside a write transaction.
//!
//! A look-up of one malformed row is [`StoreError::BadRow`]; a list leaves the row out and keeps it in
//! [`Raw::take_skipped`], so that one bad row never stops the routing of everything else.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;

use serde::de::DeserializeOwned;

use super::error::StoreError;
use super::keys::{self, Span};
use super::packs::read_effect;
use super::raw::{Flow, Raw, ReadTx, WriteTx};
use super::rows::{
    self, ClaimRow, DeadLetterRow, HeadRow, ItemRow, JournalRow, MarkRow, MarkedRow, RepositoryRow, SessionRow,
    SettledRow, StampRow, StateRow, TellRow, UndecidableRow,
};
use super::tables::TableId;
use crate::domain::decide::{DeliveryState, IdentityState, Urgency};
use crate::domain::effect::{Claim, Class, DeadLetter, Effect, Place};
use crate::domain::event::Identity;
use crate::domain::ids::DeliveryId;
use crate::domain::item::Item;
use crate::domain::log::{LogEntry, WrittenEntry};
use crate::domain::names::Names;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::session::Session;
use crate::domain::telling::Tell;
use crate::domain::time::Time;

/// That an item's portable file has to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// When it is served.
    pub urgency: Urgency,
    /// Since when it waits.
    pub since: Time,
}

/// A portable file as it was last read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Its name in the directory.
    pub file: String,
    /// The exporter's own text, opaque here.
    pub stamp: String,
}

/// How an effect ended, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Where it stood.
    pub place: Place,
    /// `spawn`, `deliver` or `end`.
    pub verb: String,
    /// How it ended.
    pub outcome: String,
    /// When.
    pub at: Time,
}

/// A delivery that a bug kept from being decided; the body is [`View::undecidable_body`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecidable {
    /// The delivery.
    pub delivery: DeliveryId,
    /// GitHub's event name.
    pub name: String,
    /// What went wrong.
    pub error: String,
    /// When.
    pub at: Time,
    /// Length of the body in bytes.
    pub bytes: u64,
}

/// Something to tell people, as it waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Telling {
    /// Its number; ever increasing.
    pub number: u64,
    /// What.
    pub tell: Tell,
    /// Tries so far that failed.
    pub attempts: u32,
    /// Not to be tried before this.
    pub not_before: Option<Time>,
    /// When it was decided.
    pub decided_at: Time,
}

/// Reading the store.
pub trait View: Raw {
    /// One item.
    fn item(&self, key: &RefKey) -> Result<Option<Item>, StoreError> {
        Ok(row::<_, ItemRow>(self, TableId::Items, key.as_str().as_bytes())?.map(Item::from))
    }

    /// One item, to be looked at only: inside a write transaction it costs no copy.
    fn shared_item(&self, key: &RefKey) -> Result<Option<Rc<Item>>, StoreError> {
        Ok(self.item(key)?.map(Rc::new))
    }

    /// Every item in the order of keys, malformed rows as errors, until `visit` breaks.
    fn for_each_item(&self, visit: &mut dyn FnMut(Result<Item, StoreError>) -> Flow) -> Result<(), StoreError> {
        self.scan(TableId::Items, &Span::all(), &mut |key, value| {
            visit(rows::decode::<ItemRow>(TableId::Items, key, value).map(Item::from))
        })
    }

    /// The keys of all items, in order; no row is decoded.
    fn item_keys(&self) -> Result<Vec<RefKey>, StoreError> {
        list(self, TableId::Items, &Span::all(), usize::MAX, |key, _| whole(TableId::Items, key))
    }

    /// The items of one repository, by its lower-case key (`github:octo/hello`), in the order of keys.
    fn items_of_repo(&self, repo_key: &str) -> Result<Vec<Item>, StoreError> {
        let span = Span::prefix(format!("{repo_key}#").as_bytes());
        list(self, TableId::Items, &span, usize::MAX, |key, value| {
            rows::decode::<ItemRow>(TableId::Items, key, value).map(Item::from)
        })
    }

    /// The endpoint of one pull request in the record of `owner`.
    fn endpoint(&self, owner: &RefKey, pull_request: &RefKey) -> Result<Option<Session>, StoreError> {
        let key = keys::pair(owner.as_str(), pull_request.as_str());
        row::<_, SessionRow>(self, TableId::Endpoints, &key).map(|row| row.map(Session::from))
    }

    /// All endpoints of a record, in the order of keys.
    fn endpoints(&self, owner: &RefKey) -> Result<Vec<Session>, StoreError> {
        let span = Span::prefix(&keys::pair(owner.as_str(), ""));
        list(self, TableId::Endpoints, &span, usize::MAX, |key, value| {
            rows::decode::<SessionRow>(TableId::Endpoints, key, value).map(Session::from)
        })
    }

    /// The records that list a pull request.
    fn owners(&self, pull_request: &RefKey) -> Result<Vec<RefKey>, StoreError> {
        let span = Span::prefix(&keys::pair(pull_request.as_str(), ""));
        list(self, TableId::Owners, &span, usize::MAX, |key, _| second(TableId::Owners, key))
    }

    /// The pull requests of one repository that records list, by its lower-case key, each once.
    fn pull_requests_of_repo(&self, repo_key: &str) -> Result<Vec<RefKey>, StoreError> {
        let span = Span::prefix(format!("{repo_key}#").as_bytes());
        let mut listed = list(self, TableId::Owners, &span, usize::MAX, |key, _| first(TableId::Owners, key))?;
        listed.dedup();
        Ok(listed)
    }

    /// Reads what is written about an item and answers nothing: it is in memory then for whoever asks next.
    fn fetch(&self, key: &RefKey) -> Result<(), StoreError> {
        self.get(TableId::Items, key.as_str().as_bytes(), |_| ()).map(drop)
    }

    /// The names of the repository with GitHub's id `id` on `host`.
    fn repository(&self, host: &str, id: u64) -> Result<Option<Names>, StoreError> {
        let found = row::<_, RepositoryRow>(self, TableId::Repositories, &keys::repository(host, id))?;
        Ok(found.map(|RepositoryRow { current, former }| Names { current, former }))
    }

    /// The pull request a head commit belongs to.
    fn head(&self, sha: &str) -> Result<Option<WorkItemRef>, StoreError> {
        row::<_, HeadRow>(self, TableId::Heads, sha.as_bytes()).map(|row| row.map(|row| row.pull_request))
    }

    /// What became of something that speaks.
    fn identity(&self, identity: &Identity) -> Result<IdentityState, StoreError> {
        let key = identity.as_str().as_bytes();
        match row::<_, MarkedRow>(self, TableId::Identities, key)?.map(|row| row.s) {
            None => Ok(IdentityState::Unused),
            Some(StateRow::Spoken) => Ok(IdentityState::Spoken),
            Some(StateRow::Refused) => Ok(IdentityState::Refused),
            Some(_) => Err(rows::bad(TableId::Identities, key, "not a state of an identity")),
        }
    }

    /// What became of a delivery id.
    fn delivery(&self, id: &DeliveryId) -> Result<Option<DeliveryState>, StoreError> {
        let key = id.as_str().as_bytes();
        match row::<_, MarkedRow>(self, TableId::Deliveries, key)?.map(|row| row.s) {
            None => Ok(None),
            Some(StateRow::Decided) => Ok(Some(DeliveryState::Decided)),
            Some(StateRow::Refused) => Ok(Some(DeliveryState::Refused)),
            Some(StateRow::Undecidable) => Ok(Some(DeliveryState::Undecidable)),
            Some(StateRow::Spoken) => Err(rows::bad(TableId::Deliveries, key, "not a state of a delivery")),
        }
    }

    /// Whether we posted the comment with this id.
    fn posted(&self, id: &str) -> Result<bool, StoreError> {
        Ok(self.get(TableId::Posted, id.as_bytes(), |_| ())?.is_some())
    }

    /// Whether a comment is among the item's `seenComments`.
    fn has_seen(&self, item: &RefKey, node_id: &str) -> Result<bool, StoreError> {
        Ok(self.get(TableId::Seen, &keys::pair(item.as_str(), node_id), |_| ())?.is_some())
    }

    /// The item's `seenComments`.
    fn seen(&self, item: &RefKey) -> Result<BTreeSet<String>, StoreError> {
        let span = Span::prefix(&keys::pair(item.as_str(), ""));
        let ids = list(self, TableId::Seen, &span, usize::MAX, |key, _| match keys::split(key) {
            Some((_, node_id)) => Ok(node_id.to_owned()),
            None => Err(rows::bad(TableId::Seen, key, "not a pair of texts")),
        })?;
        Ok(ids.into_iter().collect())
    }

    /// The first `limit` effects of a lane, in the order they are to be done.
    fn lane(&self, lane: &RefKey, limit: usize) -> Result<Vec<Effect>, StoreError> {
        list(self, TableId::Effects, &Span::prefix(&keys::lane(lane)), limit, |key, value| {
            read_effect(self, key, value)
        })
    }

    /// The first `limit` effects of one class of a lane.
    fn lane_class(&self, lane: &RefKey, class: Class, limit: usize) -> Result<Vec<Effect>, StoreError> {
        list(self, TableId::Effects, &Span::prefix(&keys::lane_class(lane, class)), limit, |key, value| {
            read_effect(self, key, value)
        })
    }

    /// One waiting effect.
    fn effect(&self, lane: &RefKey, place: Place) -> Result<Option<Effect>, StoreError> {
        let key = keys::place(lane, place);
        self.get(TableId::Effects, &key, |value| read_effect(self, &key, value))?.transpose()
    }

    /// The lanes in which effects wait, with how many; costs one row per lane.
    fn lanes(&self) -> Result<Vec<(RefKey, usize)>, StoreError> {
        list(self, TableId::LaneCounts, &Span::all(), usize::MAX, |key, value| {
            let count = keys::read_number(value).and_then(|count| usize::try_from(count).ok());
            let count = count.ok_or_else(|| rows::bad(TableId::LaneCounts, key, "not a number"))?;
            Ok((whole(TableId::LaneCounts, key)?, count))
        })
    }

    /// How many effects wait in one lane.
    fn lane_count(&self, lane: &RefKey) -> Result<u64, StoreError> {
        let key = lane.as_str().as_bytes();
        let count = self.get(TableId::LaneCounts, key, keys::read_number)?;
        count.map_or(Ok(0), |count| count.ok_or_else(|| rows::bad(TableId::LaneCounts, key, "not a number")))
    }

    /// What is being done in a lane.
    fn claim(&self, lane: &RefKey) -> Result<Option<Claim>, StoreError> {
        let found = row::<_, ClaimRow>(self, TableId::Claims, lane.as_str().as_bytes())?;
        Ok(found.map(|row| row.into_claim(lane.clone())))
    }

    /// All claims.
    fn claims(&self) -> Result<Vec<Claim>, StoreError> {
        list(self, TableId::Claims, &Span::all(), usize::MAX, |key, value| {
            Ok(rows::decode::<ClaimRow>(TableId::Claims, key, value)?.into_claim(whole(TableId::Claims, key)?))
        })
    }

    /// All dead letters with their numbers, oldest first.
    fn dead_letters(&self) -> Result<Vec<(u64, DeadLetter)>, StoreError> {
        list(self, TableId::DeadLetters, &Span::all(), usize::MAX, |key, value| {
            let number = numbered(TableId::DeadLetters, key)?;
            Ok((number, rows::decode::<DeadLetterRow>(TableId::DeadLetters, key, value)?.into()))
        })
    }

    /// One dead letter.
    fn dead_letter(&self, number: u64) -> Result<Option<DeadLetter>, StoreError> {
        row::<_, DeadLetterRow>(self, TableId::DeadLetters, &keys::number(number)).map(|row| row.map(Into::into))
    }

    /// How the first `limit` effects of a lane that are still remembered ended.
    fn settled(&self, lane: &RefKey, limit: usize) -> Result<Vec<Settled>, StoreError> {
        list(self, TableId::Settled, &Span::prefix(&keys::lane(lane)), limit, |key, value| {
            let (_, place) = keys::read_place(key).ok_or_else(|| rows::bad(TableId::Settled, key, NOT_A_PLACE))?;
            let SettledRow { verb, outcome, t } = rows::decode(TableId::Settled, key, value)?;
            Ok(Settled { place, verb, outcome, at: t })
        })
    }

    /// An item's export mark.
    fn mark(&self, item: &RefKey) -> Result<Option<Mark>, StoreError> {
        mark_row(self, item).map(|row| row.map(Mark::from))
    }

    /// All export marks, the urgent ones first.
    fn marks(&self) -> Result<Vec<(RefKey, Mark)>, StoreError> {
        let due = list(self, TableId::Due, &Span::all(), usize::MAX, |_, item| whole(TableId::Due, item))?;
        let marks = due.into_iter().map(|item| Ok(self.mark(&item)?.map(|mark| (item, mark))));
        marks.filter_map(Result::transpose).collect()
    }

    /// The items whose export mark has at least this urgency, in the order they are to be served, until `visit` breaks;
    /// malformed rows are left out and noted.
    fn for_each_due(&self, at_least: Urgency, visit: &mut dyn FnMut(RefKey) -> Flow) -> Result<(), StoreError> {
        self.scan(TableId::Due, &keys::due_span(at_least), &mut |_, item| match whole(TableId::Due, item) {
            Ok(item) => visit(item),
            Err(error) => {
                self.note_skipped(error);
                ControlFlow::Continue(())
            }
        })
    }

    /// What an item's portable file in directory `dir` looked like when it was last read or written.
    fn stamp(&self, dir: &str, item: &RefKey) -> Result<Option<Stamp>, StoreError> {
        let found = row::<_, StampRow>(self, TableId::Stamps, &keys::pair(dir, item.as_str()))?;
        Ok(found.map(|row| Stamp { file: row.file, stamp: row.stamp }))
    }

    /// All stamps of a directory.
    fn stamps(&self, dir: &str) -> Result<Vec<(RefKey, Stamp)>, StoreError> {
        list(self, TableId::Stamps, &Span::prefix(&keys::pair(dir, "")), usize::MAX, |key, value| {
            let StampRow { file, stamp } = rows::decode(TableId::Stamps, key, value)?;
            Ok((second(TableId::Stamps, key)?, Stamp { file, stamp }))
        })
    }

    /// Whether a file of the earlier system was adopted, by directory and digest.
    fn adopted(&self, dir: &str, digest: &str) -> Result<bool, StoreError> {
        Ok(self.get(TableId::Adopted, &keys::pair(dir, digest), |_| ())?.is_some())
    }

    /// Journal entries from number `from` on, `limit` of them and the rest of the last one's row.
    fn journal(&self, from: u64, limit: usize) -> Result<Vec<(u64, Time, LogEntry)>, StoreError> {
        entries(self, from, limit)
    }

    /// The same, to be passed on.
    fn journal_written(&self, from: u64, limit: usize) -> Result<Vec<(u64, Time, WrittenEntry)>, StoreError> {
        entries(self, from, limit)
    }

    /// Numbers of the first and the last journal entry; `None` when it is empty.
    fn journal_bounds(&self) -> Result<Option<(u64, u64)>, StoreError> {
        let first = self.journal(0, 1)?.first().map(|(number, ..)| *number);
        let last = self.last_key(TableId::Journal)?.and_then(|key| keys::read_number(&key));
        Ok(first.zip(last))
    }

    /// What is to be told, oldest first, until `visit` breaks; malformed rows are left out and noted.
    fn for_each_telling(&self, visit: &mut dyn FnMut(Telling) -> Flow) -> Result<(), StoreError> {
        self.scan(TableId::Tells, &Span::all(), &mut |key, value| {
            let row = || {
                Ok(rows::decode::<TellRow>(TableId::Tells, key, value)?.into_telling(numbered(TableId::Tells, key)?))
            };
            match row() {
                Ok(telling) => visit(telling),
                Err(error) => {
                    self.note_skipped(error);
                    ControlFlow::Continue(())
                }
            }
        })
    }

    /// A text the application keeps.
    fn meta(&self, name: &str) -> Result<Option<String>, StoreError> {
        let key = name.as_bytes();
        let found = self.get(TableId::Meta, key, |value| String::from_utf8(value.to_vec()))?;
        found.transpose().map_err(|error| rows::bad(TableId::Meta, key, error))
    }

    /// What bugs kept from being decided.
    fn undecidables(&self) -> Result<Vec<Undecidable>, StoreError> {
        list(self, TableId::Undecidables, &Span::all(), usize::MAX, |key, value| {
            let UndecidableRow { name, error, t, bytes } = rows::decode(TableId::Undecidables, key, value)?;
            let delivery = DeliveryId::parse(&String::from_utf8_lossy(key));
            let delivery = delivery.map_err(|error| rows::bad(TableId::Undecidables, key, error))?;
            Ok(Undecidable { delivery, name, error, at: t, bytes })
        })
    }

    /// The body of one of them, as it came.
    fn undecidable_body(&self, delivery: &DeliveryId) -> Result<Option<Vec<u8>>, StoreError> {
        self.get(TableId::Bodies, delivery.as_str().as_bytes(), <[u8]>::to_vec)
    }

    /// Identities older than this may have been forgotten: what was said before it is never new.
    fn watermark(&self) -> Result<Option<Time>, StoreError> {
        let text = self.meta(WATERMARK)?;
        let millis = text.map(|text| text.parse::<i64>()).transpose();
        let millis = millis.map_err(|error| rows::bad(TableId::Meta, WATERMARK.as_bytes(), error))?;
        Ok(millis.map(Time::from_millis))
    }
}

impl View for ReadTx<'_> {}
impl View for WriteTx<'_> {
    fn item(&self, key: &RefKey) -> Result<Option<Item>, StoreError> {
        Ok(self.shared_item(key)?.map(Rc::unwrap_or_clone))
    }

    fn shared_item(&self, key: &RefKey) -> Result<Option<Rc<Item>>, StoreError> {
        if let Some(item) = self.kept_item(key) {
            return Ok(item);
        }
        let found = row::<_, ItemRow>(self, TableId::Items, key.as_str().as_bytes())?;
        let item = found.map(|row| Rc::new(Item::from(row)));
        self.keep_item(key, item.clone());
        Ok(item)
    }
}

/// Name of the watermark among the texts.
pub(super) const WATERMARK: &str = "store.watermark";
/// What a key of an effect is not.
pub(super) const NOT_A_PLACE: &str = "the key is not a lane, a class and a number";

impl From<MarkRow> for Mark {
    fn from(row: MarkRow) -> Self {
        Self { urgency: row.urgency(), since: row.since }
    }
}

/// One row, decoded.
fn row<V: Raw + ?Sized, T: DeserializeOwned>(view: &V, table: TableId, key: &[u8]) -> Result<Option<T>, StoreError> {
    view.get(table, key, |value| rows::decode(table, key, value))?.transpose()
}

/// An item's mark with its number.
pub(super) fn mark_row<V: Raw + ?Sized>(view: &V, item: &RefKey) -> Result<Option<MarkRow>, StoreError> {
    row(view, TableId::Marks, item.as_str().as_bytes())
}

/// At most `limit` rows of a span, decoded; what cannot be is left out and noted.
pub(super) fn list<V: Raw + ?Sized, T>(
    view: &V,
    table: TableId,
    span: &Span,
    limit: usize,
    read: impl Fn(&[u8], &[u8]) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut out = Vec::new();
    if limit == 0 {
        return Ok(out);
    }
    view.scan(table, span, &mut |key, value| {
        match read(key, value) {
            Ok(row) => out.push(row),
            Err(error) => view.note_skipped(error),
        }
        if out.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(out)
}

/// Entries of the journal with their numbers.
type Entries<E> = Vec<(u64, Time, E)>;

fn entries<V: Raw + ?Sized, E: DeserializeOwned>(view: &V, from: u64, limit: usize) -> Result<Entries<E>, StoreError> {
    let mut entries = Vec::new();
    view.scan(TableId::Journal, &Span::starting(keys::number(from).to_vec()), &mut |key, value| {
        match trail(key, value) {
            Ok(row) => entries.extend(row.into_iter().filter(|(number, ..)| *number >= from)),
            Err(error) => view.note_skipped(error),
        }
        if entries.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(entries)
}

/// The entries of one row of the journal; the row's key is the number of the last one.
pub(super) fn trail<E: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<Entries<E>, StoreError> {
    let entries: Vec<JournalRow<E>> = rows::decode(TableId::Journal, key, value)?;
    let last = numbered(TableId::Journal, key)?;
    let first = (last + 1).checked_sub(entries.len() as u64).filter(|first| *first > 0);
    let first = first.ok_or_else(|| rows::bad(TableId::Journal, key, "more entries than numbers"))?;
    Ok((first..).zip(entries).map(|(number, JournalRow { t, entry })| (number, t, entry)).collect())
}

/// A key that is one reference.
pub(super) fn whole(table: TableId, key: &[u8]) -> Result<RefKey, StoreError> {
    let text = std::str::from_utf8(key).map_err(|error| rows::bad(table, key, error))?;
    rows::ref_key(table, key, text)
}

/// The first reference of a pair.
fn first(table: TableId, key: &[u8]) -> Result<RefKey, StoreError> {
    let (text, _) = keys::split(key).ok_or_else(|| rows::bad(table, key, "not a pair of texts"))?;
    rows::ref_key(table, key, text)
}

/// The second reference of a pair.
fn second(table: TableId, key: &[u8]) -> Result<RefKey, StoreError> {
    let (_, text) = keys::split(key).ok_or_else(|| rows::bad(table, key, "not a pair of texts"))?;
    rows::ref_key(table, key, text)
}

/// A key that is a number.
fn numbered(table: TableId, key: &[u8]) -> Result<u64, StoreError> {
    keys::read_number(key).ok_or_else(|| rows::bad(table, key, "the key is not a number"))
}
