//! Writing: one method per kind of row, and whole outcomes of decisions.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::error::StoreError;
use super::keys::{self, Span};
use super::raw::{Raw, WriteTx};
use super::rows::{
    self, AtRow, ClaimRow, DeadLetterRow, EffectRow, HeadRow, ItemRow, JournalRowRef, MarkRow, MarkedRow,
    RepositoryRow, SessionRow, SettledRow, StampRow, StateRow, TellRow, UndecidableRow,
};
use super::tables::TableId;
use super::view::{Telling, View, mark_row};
use crate::domain::decide::DeliveryState;
use crate::domain::decide::{Change, IdentityState, Outcome, Urgency};
use crate::domain::effect::{Claim, DeadLetter, Effect, NewEffect, Place};
use crate::domain::event::Identity;
use crate::domain::ids::DeliveryId;
use crate::domain::item::Item;
use crate::domain::log::LogEntry;
use crate::domain::names::Names;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::session::Session;
use crate::domain::telling::Tell;
use crate::domain::time::Time;

/// Counter of effects, over all lanes.
pub(super) const EFFECTS_COUNTER: &str = "effects";
/// Counter of dead letters.
pub(super) const DEAD_COUNTER: &str = "dead_letters";
/// Counter of packs.
pub(super) const PACKS_COUNTER: &str = "packs";
/// Counter of export marks.
pub(super) const MARKS_COUNTER: &str = "marks";
/// Counter of events that wait for a fact.
pub(super) const WAITING_COUNTER: &str = "waiting";
/// Counter of what is to be told.
pub(super) const TELLS_COUNTER: &str = "tells";
/// Counter of journal entries.
pub(super) const JOURNAL_COUNTER: &str = "journal";

impl WriteTx<'_> {
    /// Puts an item whole.
    pub fn put_item(&mut self, item: &Item) -> Result<(), StoreError> {
        self.put_own_item(item.clone())
    }

    /// The same without a copy.
    fn put_own_item(&mut self, item: Item) -> Result<(), StoreError> {
        let (key, row) = (item.reference.key(), ItemRow::from(item));
        self.put_row(TableId::Items, key.as_str().as_bytes(), &row)?;
        self.keep_item(&key, Some(Rc::new(row.into())));
        Ok(())
    }

    /// Puts an endpoint of `owner`, there and back. An item is never its own pull request.
    pub fn put_endpoint(&mut self, owner: &RefKey, session: &Session) -> Result<(), StoreError> {
        let pull_request = session.reference.key();
        if pull_request == *owner {
            return Err(StoreError::Bug(format!("{owner} as its own pull request")));
        }
        let there = keys::pair(owner.as_str(), pull_request.as_str());
        self.put_row(TableId::Endpoints, &there, &SessionRow::from(session.clone()))?;
        self.put(TableId::Owners, &keys::pair(pull_request.as_str(), owner.as_str()), &[])
    }

    /// Removes an endpoint of `owner`, there and back; false when there was none.
    pub fn remove_endpoint(&mut self, owner: &RefKey, pull_request: &RefKey) -> Result<bool, StoreError> {
        self.delete(TableId::Owners, &keys::pair(pull_request.as_str(), owner.as_str()))?;
        self.delete(TableId::Endpoints, &keys::pair(owner.as_str(), pull_request.as_str()))
    }

    /// Remembers which pull request a head commit belongs to.
    pub fn put_head(&mut self, sha: &str, pull_request: &WorkItemRef, at: Time) -> Result<(), StoreError> {
        let row = HeadRow { pull_request: pull_request.clone(), t: at };
        self.put_row(TableId::Heads, sha.as_bytes(), &row)
    }

    /// Remembers the names of the repository with GitHub's id `id`.
    pub fn put_repository(&mut self, id: u64, names: &Names) -> Result<(), StoreError> {
        let row = RepositoryRow { current: names.current.clone(), former: names.former.clone() };
        self.put_row(TableId::Repositories, &keys::repository(names.current.host(), id), &row)
    }

    /// Sets the state of something that speaks; `Unused` forgets it.
    pub fn put_identity(&mut self, identity: &Identity, state: IdentityState, at: Time) -> Result<(), StoreError> {
        let key = identity.as_str().as_bytes();
        let s = match state {
            IdentityState::Unused => return self.delete(TableId::Identities, key).map(drop),
            IdentityState::Spoken => StateRow::Spoken,
            IdentityState::Refused => StateRow::Refused,
        };
        self.put_row(TableId::Identities, key, &MarkedRow { s, t: at })
    }

    /// Sets the state of a delivery id.
    pub fn put_delivery(&mut self, id: &DeliveryId, state: DeliveryState, at: Time) -> Result<(), StoreError> {
        let s = match state {
            DeliveryState::Decided => StateRow::Decided,
            DeliveryState::Refused => StateRow::Refused,
            DeliveryState::Undecidable => StateRow::Undecidable,
        };
        self.put_row(TableId::Deliveries, id.as_str().as_bytes(), &MarkedRow { s, t: at })
    }

    /// Remembers a comment as our own.
    pub fn put_posted(&mut self, id: &str, at: Time) -> Result<(), StoreError> {
        self.put_row(TableId::Posted, id.as_bytes(), &AtRow { t: at })
    }

    /// Stores something to tell, behind what waits to be told.
    pub fn push_tell(&mut self, tell: &Tell, now: Time) -> Result<(), StoreError> {
        let number = self.take_number(TELLS_COUNTER)?;
        self.put_row(TableId::Tells, &keys::number(number), &TellRow::new(tell, now))
    }

    /// Replaces something to tell after a try: what was pruned or told meanwhile stays gone.
    pub fn put_telling(&mut self, telling: &Telling) -> Result<(), StoreError> {
        let key = keys::number(telling.number);
        match self.get(TableId::Tells, &key, |_| ())? {
            Some(()) => self.put_row(TableId::Tells, &key, &TellRow::from(telling)),
            None => Ok(()),
        }
    }

    /// Removes something to tell; false when there was none.
    pub fn remove_telling(&mut self, number: u64) -> Result<bool, StoreError> {
        self.delete(TableId::Tells, &keys::number(number))
    }

    /// Adds a comment to the item's `seenComments`; true when it is new there.
    pub fn put_seen(&mut self, item: &RefKey, node_id: &str) -> Result<bool, StoreError> {
        self.put_new(TableId::Seen, &keys::pair(item.as_str(), node_id), &[])
    }

    /// Stores a new effect at the end of its class.
    pub fn push_effect(&mut self, effect: NewEffect, now: Time) -> Result<Place, StoreError> {
        let NewEffect { lane, class, body } = effect;
        let place = Place { class, seq: self.take_number(EFFECTS_COUNTER)? };
        self.put_effect_row(&lane, place, EffectRow::new(body, now))?;
        self.count_lane(&lane, 1)?;
        Ok(place)
    }

    /// Replaces a waiting effect (tries, time of the next one, a change of endpoint).
    pub fn put_effect(&mut self, effect: &Effect) -> Result<(), StoreError> {
        if !self.delete_effect_row(&effect.lane, effect.place)? {
            self.count_lane(&effect.lane, 1)?;
        }
        self.put_effect_row(&effect.lane, effect.place, EffectRow::from(effect))
    }

    /// Removes an effect; false when there was none.
    pub fn remove_effect(&mut self, lane: &RefKey, place: Place) -> Result<bool, StoreError> {
        let was_there = self.delete_effect_row(lane, place)?;
        if was_there {
            self.count_lane(lane, -1)?;
        }
        Ok(was_there)
    }

    /// Sets the claim of its lane.
    pub fn put_claim(&mut self, claim: &Claim) -> Result<(), StoreError> {
        self.put_row(TableId::Claims, claim.lane.as_str().as_bytes(), &ClaimRow::from(claim))
    }

    /// Removes a lane's claim; false when there was none.
    pub fn remove_claim(&mut self, lane: &RefKey) -> Result<bool, StoreError> {
        self.delete(TableId::Claims, lane.as_str().as_bytes())
    }

    /// Keeps a dead letter and gives it a number.
    pub fn put_dead(&mut self, letter: &DeadLetter) -> Result<u64, StoreError> {
        let number = self.take_number(DEAD_COUNTER)?;
        self.put_row(TableId::DeadLetters, &keys::number(number), &DeadLetterRow::from(letter))?;
        Ok(number)
    }

    /// Removes a dead letter; false when there was none.
    pub fn remove_dead(&mut self, number: u64) -> Result<bool, StoreError> {
        self.delete(TableId::DeadLetters, &keys::number(number))
    }

    /// Remembers how an effect ended.
    pub fn put_settled(
        &mut self,
        place: Place,
        lane: &RefKey,
        verb: &str,
        outcome: &str,
        at: Time,
    ) -> Result<(), StoreError> {
        let row = SettledRow { verb: verb.to_owned(), outcome: outcome.to_owned(), t: at };
        self.put_row(TableId::Settled, &keys::place(lane, place), &row)
    }

    /// Asks for an export of an item. A mark that waits keeps its time and the greater urgency. A mark names no version:
    /// whoever serves it clears it only while the item is the one that was written.
    pub fn put_mark(&mut self, item: &RefKey, urgency: Urgency, at: Time) -> Result<(), StoreError> {
        let waiting = self.mark(item)?;
        if waiting.is_some_and(|mark| mark.urgency >= urgency) {
            return Ok(());
        }
        if waiting.is_some() {
            self.clear_mark(item)?;
        }
        let n = self.take_number(MARKS_COUNTER)?;
        let row = MarkRow { now: urgency == Urgency::Now, n, since: waiting.map_or(at, |mark| mark.since) };
        self.put(TableId::Due, &keys::due(urgency, n), item.as_str().as_bytes())?;
        self.put_row(TableId::Marks, item.as_str().as_bytes(), &row)
    }

    /// Clears an item's mark; false when there was none.
    pub fn clear_mark(&mut self, item: &RefKey) -> Result<bool, StoreError> {
        let Some(row) = mark_row(self, item)? else { return Ok(false) };
        self.delete(TableId::Due, &keys::due(row.urgency(), row.n))?;
        self.delete(TableId::Marks, item.as_str().as_bytes())
    }

    /// Remembers what a portable file looks like now.
    pub fn put_stamp(&mut self, dir: &str, item: &RefKey, file: &str, stamp: &str) -> Result<(), StoreError> {
        let row = StampRow { file: file.to_owned(), stamp: stamp.to_owned() };
        self.put_row(TableId::Stamps, &keys::pair(dir, item.as_str()), &row)
    }

    /// Forgets a portable file; false when it was not known.
    pub fn remove_stamp(&mut self, dir: &str, item: &RefKey) -> Result<bool, StoreError> {
        self.delete(TableId::Stamps, &keys::pair(dir, item.as_str()))
    }

    /// Remembers for ever that a file of the earlier system was adopted.
    pub fn put_adopted(&mut self, dir: &str, digest: &str, at: Time) -> Result<(), StoreError> {
        self.put_row(TableId::Adopted, &keys::pair(dir, digest), &AtRow { t: at })
    }

    /// Adds an entry to the decision trail and gives it a number. It becomes part of a row, and can be read, with the
    /// commit.
    pub fn append_journal(&mut self, entry: &LogEntry, at: Time) -> Result<u64, StoreError> {
        let number = self.take_number(JOURNAL_COUNTER)?;
        self.add_to_trail(number, &JournalRowRef { t: at, entry })?;
        Ok(number)
    }

    /// Removes the rows of the journal that end with number `to` or before it.
    pub fn trim_journal(&mut self, to: u64) -> Result<(), StoreError> {
        let end = keys::number(to.saturating_add(1)).to_vec();
        self.delete_span(TableId::Journal, &Span { from: Vec::new(), to: Some(end) })
    }

    /// Keeps a text under a name of the application's.
    pub fn put_meta(&mut self, name: &str, text: &str) -> Result<(), StoreError> {
        self.put(TableId::Meta, name.as_bytes(), text.as_bytes())
    }

    /// Forgets a text; false when there was none.
    pub fn remove_meta(&mut self, name: &str) -> Result<bool, StoreError> {
        self.delete(TableId::Meta, name.as_bytes())
    }

    /// Keeps whole what a bug kept from being decided.
    pub fn put_undecidable(
        &mut self,
        delivery: &DeliveryId,
        name: &str,
        body: &[u8],
        error: &str,
        at: Time,
    ) -> Result<(), StoreError> {
        let row = UndecidableRow { name: name.into(), error: error.into(), t: at, bytes: body.len() as u64 };
        let key = delivery.as_str().as_bytes();
        self.put_row(TableId::Undecidables, key, &row)?;
        self.put(TableId::Bodies, key, body)
    }

    /// Removes it; false when there was none.
    pub fn remove_undecidable(&mut self, delivery: &DeliveryId) -> Result<bool, StoreError> {
        let key = delivery.as_str().as_bytes();
        self.delete(TableId::Bodies, key)?;
        self.delete(TableId::Undecidables, key)
    }

    /// Puts the rows of a decision, in their order.
    fn apply_changes(&mut self, changes: Vec<Change>, now: Time) -> Result<(), StoreError> {
        for change in changes {
            match change {
                Change::Item(item) => self.put_own_item(*item)?,
                Change::Endpoint { owner, session } => self.put_endpoint(&owner, &session)?,
                Change::Seen { item, node_id } => self.put_seen(&item, &node_id).map(drop)?,
                Change::Identity { identity, state } => self.put_identity(&identity, state, now)?,
                Change::Head { sha, pull_request } => self.put_head(&sha, &pull_request, now)?,
                Change::Move { from, to } => self.move_rows(&from, &to)?,
                Change::Names { repository, names } => self.put_repository(repository, &names)?,
                Change::Mark { item, urgency } => self.put_mark(&item, urgency, now)?,
            }
        }
        Ok(())
    }

    /// Stores everything an event changes; answers the lanes that have news: new effects, or a changed record for which
    /// something waits (a resume makes nothing new and releases what is there; a move brings a whole lane).
    pub fn apply_outcome(&mut self, outcome: Outcome, now: Time) -> Result<Vec<RefKey>, StoreError> {
        let changed: Vec<RefKey> = outcome.changes.iter().filter_map(lane_of).collect();
        self.apply_changes(outcome.changes, now)?;
        let mut lanes = BTreeSet::new();
        for effect in outcome.effects {
            lanes.insert(effect.lane.clone());
            self.push_effect(effect, now)?;
        }
        for lane in changed {
            if !lanes.contains(&lane) && self.lane_count(&lane)? > 0 {
                lanes.insert(lane);
            }
        }
        for entry in &outcome.log {
            self.append_journal(entry, now)?;
        }
        for tell in &outcome.tells {
            self.push_tell(tell, now)?;
        }
        Ok(lanes.into_iter().collect())
    }

    /// The next number of a counter; numbers begin with 1 and are never given twice.
    pub(super) fn take_number(&mut self, counter: &'static str) -> Result<u64, StoreError> {
        let next = self.counter(counter)?;
        self.set_number(counter, next + 1);
        Ok(next)
    }

    fn count_lane(&mut self, lane: &RefKey, by: i64) -> Result<(), StoreError> {
        let count = self.lane_count(lane)?.saturating_add_signed(by);
        let key = lane.as_str().as_bytes();
        match count {
            0 => self.delete(TableId::LaneCounts, key).map(drop),
            _ => self.put(TableId::LaneCounts, key, &keys::number(count)),
        }
    }

    /// Puts a row of one of the stored shapes.
    pub(super) fn put_row(
        &mut self,
        table: TableId,
        key: &[u8],
        row: &impl serde::Serialize,
    ) -> Result<(), StoreError> {
        let mut bytes = self.take_buffer();
        rows::encode_into(table, row, &mut bytes)?;
        let put = self.put(table, key, &bytes);
        self.give_buffer(bytes);
        put
    }
}

/// The lane whose next step depends on what `change` puts.
fn lane_of(change: &Change) -> Option<RefKey> {
    match change {
        Change::Item(item) => Some(item.reference.key()),
        Change::Endpoint { owner, .. } => Some(owner.clone()),
        Change::Move { to, .. } => Some(to.key()),
        Change::Seen { .. }
        | Change::Identity { .. }
        | Change::Names { .. }
        | Change::Head { .. }
        | Change::Mark { .. } => None,
    }
}

/// Counters, for whoever checks them.
pub(super) trait Counters: Raw {
    /// The next number that `counter` gives.
    fn counter(&self, counter: &str) -> Result<u64, StoreError> {
        if let Some(next) = self.number_in_hand(counter) {
            return Ok(next);
        }
        let key = counter.as_bytes();
        match self.get(TableId::Counters, key, keys::read_number)? {
            None => Ok(1),
            Some(Some(next)) => Ok(next),
            Some(None) => Err(rows::bad(TableId::Counters, key, "not a number")),
        }
    }
}

impl<T: Raw> Counters for T {}
