//! What must hold between tables, stated once: `doctor` shows what this finds, tests and simulation end with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::ControlFlow;

use super::error::StoreError;
use super::keys::{self, Span};
use super::packs::{self, read_effect};
use super::rows::{
    self, AtRow, ClaimRow, DeadLetterRow, HeadRow, ItemRow, MarkRow, MarkedRow, RepositoryRow, SessionRow, SettledRow,
    StampRow, TellRow, UndecidableRow,
};
use super::tables::TableId;
use super::view::{View, mark_row, trail, whole};
use super::write::{
    Counters, DEAD_COUNTER, EFFECTS_COUNTER, JOURNAL_COUNTER, MARKS_COUNTER, PACKS_COUNTER, TELLS_COUNTER,
};
use crate::domain::decide::{IdentityState, Waiting};
use crate::domain::effect::{Effect, EffectBody};
use crate::domain::item::Item;
use crate::domain::log::LogEntry;
use crate::domain::polling::Progress;
use crate::domain::reference::RefKey;
use crate::domain::session::{EndReason, Session, SessionState};

/// Something in the store that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inconsistency {
    /// The table it shows in.
    pub table: &'static str,
    /// What is wrong, with the keys.
    pub text: String,
}

impl fmt::Display for Inconsistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.table, self.text)
    }
}

/// Reads every row and answers everything that is wrong, malformed rows included. An empty list is a sound store.
///
/// # Errors
/// Only when the file itself cannot be read.
pub fn check<V: View>(view: &V) -> Result<Vec<Inconsistency>, StoreError> {
    let mut check = Check { view, found: Vec::new() };
    check.shapes()?;
    check.items()?;
    check.endpoints()?;
    check.effects()?;
    check.claims()?;
    check.marks()?;
    check.counters()?;
    Ok(check.found)
}

struct Check<'v, V> {
    view: &'v V,
    found: Vec<Inconsistency>,
}

impl<V: View> Check<'_, V> {
    fn say(&mut self, table: TableId, text: String) {
        self.found.push(Inconsistency { table: table.name(), text });
    }

    /// Every row of `table` through `look`, which may look elsewhere; an unreadable one is reported.
    fn each(
        &mut self,
        table: TableId,
        mut look: impl FnMut(&mut Self, &[u8], &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let view = self.view;
        let mut outcome = Ok(());
        view.scan(table, &Span::all(), &mut |key, value| match look(self, key, value) {
            Ok(()) => ControlFlow::Continue(()),
            Err(StoreError::BadRow { key, reason, .. }) => {
                self.say(table, format!("{key} cannot be read: {reason}"));
                ControlFlow::Continue(())
            }
            Err(error) => {
                outcome = Err(error);
                ControlFlow::Break(())
            }
        })?;
        outcome
    }

    /// The tables that no other check reads.
    fn shapes(&mut self) -> Result<(), StoreError> {
        for table in [TableId::Identities, TableId::Deliveries] {
            self.each(table, |_, key, value| rows::decode::<MarkedRow>(table, key, value).map(drop))?;
        }
        for table in [TableId::Posted, TableId::Adopted] {
            self.each(table, |_, key, value| rows::decode::<AtRow>(table, key, value).map(drop))?;
        }
        self.shape::<HeadRow>(TableId::Heads)?;
        self.shape::<RepositoryRow>(TableId::Repositories)?;
        self.shape::<SettledRow>(TableId::Settled)?;
        self.shape::<StampRow>(TableId::Stamps)?;
        self.shape::<DeadLetterRow>(TableId::DeadLetters)?;
        self.each(TableId::Journal, |_, key, value| trail::<LogEntry>(key, value).map(drop))?;
        self.shape::<TellRow>(TableId::Tells)?;
        self.shape::<UndecidableRow>(TableId::Undecidables)?;
        self.shape::<Progress>(TableId::Polls)?;
        self.shape::<Waiting>(TableId::Waiting)?;
        self.each(TableId::Undecidables, |check, key, _| match check.view.get(TableId::Bodies, key, |_| ())? {
            Some(()) => Ok(()),
            None => Err(rows::bad(TableId::Undecidables, key, "its body is missing")),
        })
    }

    fn shape<T: serde::de::DeserializeOwned>(&mut self, table: TableId) -> Result<(), StoreError> {
        self.each(table, |_, key, value| rows::decode::<T>(table, key, value).map(drop))
    }

    fn items(&mut self) -> Result<(), StoreError> {
        self.each(TableId::Items, |check, key, value| {
            let item: Item = rows::decode::<ItemRow>(TableId::Items, key, value)?.into();
            let key = whole(TableId::Items, key)?;
            if item.reference.key() != key {
                check.say(TableId::Items, format!("{key} holds {}", item.reference));
            }
            check.sections(&key, &item);
            check.closed_item(&key, &item)
        })
    }

    /// `control` is absent exactly when the ending is not before its `requestedAt`.
    fn sections(&mut self, key: &RefKey, item: &Item) {
        let (Some(control), Some(ended)) = (&item.sections.control, &item.sections.ended) else { return };
        if control.at().is_some_and(|at| at <= ended.at) {
            self.say(TableId::Items, format!("{key} has a control that its ending is not before"));
        }
    }

    /// Nothing waits to be delivered under the generation of a record that was closed: closing raises it, and what was
    /// said before is dropped by its lane. One that could not be started keeps what waits until its lane gives it up.
    fn closed_item(&mut self, key: &RefKey, item: &Item) -> Result<(), StoreError> {
        let Some(Session { state: SessionState::Closed { reason, .. }, generation: closed, .. }) = &item.session else {
            return Ok(());
        };
        if *reason == EndReason::SpawnFailed {
            return Ok(());
        }
        for effect in self.view.lane(key, usize::MAX)? {
            if matches!(&effect.body, EffectBody::Deliver { generation, .. } if generation == closed) {
                self.say(TableId::Effects, format!("{key} is closed and {} waits for it", place(&effect)));
            }
        }
        Ok(())
    }

    /// The two tables of endpoints agree both ways, and no item is its own pull request.
    fn endpoints(&mut self) -> Result<(), StoreError> {
        self.each(TableId::Endpoints, |check, key, value| {
            let session: Session = rows::decode::<SessionRow>(TableId::Endpoints, key, value)?.into();
            let (owner, pull_request) = pair(TableId::Endpoints, key)?;
            if session.reference.key() != pull_request {
                check.say(TableId::Endpoints, format!("{owner} {pull_request} holds {}", session.reference));
            }
            if owner == pull_request {
                check.say(TableId::Endpoints, format!("{owner} is its own pull request"));
            }
            if check.view.item(&owner)?.is_none() {
                check.say(TableId::Endpoints, format!("{owner} has {pull_request} and no record"));
            }
            if !check.view.owners(&pull_request)?.contains(&owner) {
                check.say(TableId::Owners, format!("{pull_request} does not name its owner {owner}"));
            }
            Ok(())
        })?;
        self.each(TableId::Owners, |check, key, _| {
            let (pull_request, owner) = pair(TableId::Owners, key)?;
            let there = keys::pair(owner.as_str(), pull_request.as_str());
            if check.view.get(TableId::Endpoints, &there, |_| ())?.is_none() {
                check.say(TableId::Owners, format!("{pull_request} names {owner}, which does not list it"));
            }
            Ok(())
        })
    }

    /// Every effect has an item and is counted; what waits to be delivered has been spoken.
    fn effects(&mut self) -> Result<(), StoreError> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let mut packed = BTreeSet::new();
        self.each(TableId::Effects, |check, key, value| {
            if let Some((lane, place)) = keys::read_place(key) {
                *counts.entry(lane.to_owned()).or_default() += 1;
                packed.extend(packs::named(value).map(|pack| (pack, place.seq)));
            }
            let effect = read_effect(check.view, key, value)?;
            if check.view.get(TableId::Items, effect.lane.as_str().as_bytes(), |_| ())?.is_none() {
                check.say(TableId::Effects, format!("{} has no item", place(&effect)));
            }
            check.spoken(&effect)
        })?;
        self.packs(&packed)?;
        self.each(TableId::LaneCounts, |check, key, value| {
            let lane = whole(TableId::LaneCounts, key)?;
            let (counted, there) = (keys::read_number(value), counts.remove(lane.as_str()));
            if counted != there {
                check.say(TableId::LaneCounts, format!("{lane} counts {counted:?}, {there:?} wait"));
            }
            Ok(())
        })?;
        for (lane, there) in counts {
            self.say(TableId::LaneCounts, format!("{lane} is not counted, {there} wait"));
        }
        Ok(())
    }

    /// Packs are whole, and each row in them is an effect's that names it.
    fn packs(&mut self, packed: &BTreeSet<(u64, u64)>) -> Result<(), StoreError> {
        self.each(TableId::Packs, |check, key, value| {
            if !packs::is_whole(value) {
                return Err(rows::bad(TableId::Packs, key, "it is torn"));
            }
            let pack =
                keys::read_number(key).ok_or_else(|| rows::bad(TableId::Packs, key, "the key is not a number"))?;
            for strange in packs::in_pack(value).filter(|it| !packed.contains(&(pack, it.effect))) {
                check.say(TableId::Packs, format!("pack {pack} holds {}, which waits nowhere", strange.effect));
            }
            Ok(())
        })
    }

    fn spoken(&mut self, effect: &Effect) -> Result<(), StoreError> {
        let EffectBody::Deliver { identity: Some(identity), .. } = &effect.body else { return Ok(()) };
        let state = self.view.identity(identity)?;
        // Older than the watermark, the identity may have been forgotten while its delivery waited.
        let forgotten = self.view.watermark()?.is_some_and(|watermark| effect.created_at < watermark);
        if state != IdentityState::Spoken && !forgotten {
            self.say(TableId::Effects, format!("{} delivers {}, which is {state:?}", place(effect), identity.as_str()));
        }
        Ok(())
    }

    /// Every member of a claim waits in its lane.
    fn claims(&mut self) -> Result<(), StoreError> {
        self.each(TableId::Claims, |check, key, value| {
            let lane = whole(TableId::Claims, key)?;
            let claim = rows::decode::<ClaimRow>(TableId::Claims, key, value)?.into_claim(lane);
            if claim.members.is_empty() {
                check.say(TableId::Claims, format!("{} claims nothing", claim.lane));
            }
            for member in &claim.members {
                if check.view.get(TableId::Effects, &keys::place(&claim.lane, *member), |_| ())?.is_none() {
                    check.say(TableId::Claims, format!("{} claims {member:?}, which does not wait", claim.lane));
                }
            }
            Ok(())
        })
    }

    /// Marks and what is due agree both ways.
    fn marks(&mut self) -> Result<(), StoreError> {
        self.each(TableId::Marks, |check, key, value| {
            let mark = rows::decode::<MarkRow>(TableId::Marks, key, value)?;
            let item = whole(TableId::Marks, key)?;
            if check.view.item(&item)?.is_none() {
                check.say(TableId::Marks, format!("{item} is no item"));
            }
            let due = check.view.get(TableId::Due, &keys::due(mark.urgency(), mark.n), |due| due == key)?;
            if due != Some(true) {
                check.say(TableId::Marks, format!("{item} is marked and not due"));
            }
            Ok(())
        })?;
        self.each(TableId::Due, |check, key, item| {
            let item = whole(TableId::Due, item)?;
            let mark = mark_row(check.view, &item)?;
            if mark.is_none_or(|mark| keys::due(mark.urgency(), mark.n) != key) {
                check.say(TableId::Due, format!("{item} is due without its mark"));
            }
            Ok(())
        })
    }

    /// No number is given twice: counters are ahead of everything that has a number.
    fn counters(&mut self) -> Result<(), StoreError> {
        let mut highest = 0;
        for table in [TableId::Effects, TableId::Settled] {
            self.each(table, |_, key, _| {
                highest = highest.max(keys::read_place(key).map_or(0, |(_, place)| place.seq));
                Ok(())
            })?;
        }
        self.ahead(EFFECTS_COUNTER, highest)?;
        let mut highest = 0;
        self.each(TableId::Marks, |_, key, value| {
            highest = highest.max(rows::decode::<MarkRow>(TableId::Marks, key, value)?.n);
            Ok(())
        })?;
        self.ahead(MARKS_COUNTER, highest)?;
        let numbered = [
            (DEAD_COUNTER, TableId::DeadLetters),
            (JOURNAL_COUNTER, TableId::Journal),
            (PACKS_COUNTER, TableId::Packs),
            (TELLS_COUNTER, TableId::Tells),
        ];
        for (counter, table) in numbered {
            let last = self.view.last_key(table)?.and_then(|key| keys::read_number(&key)).unwrap_or(0);
            self.ahead(counter, last)?;
        }
        Ok(())
    }

    fn ahead(&mut self, counter: &str, highest: u64) -> Result<(), StoreError> {
        let next = self.view.counter(counter)?;
        if next <= highest {
            self.say(TableId::Counters, format!("{counter} would give {next}, {highest} is taken"));
        }
        Ok(())
    }
}

fn place(effect: &Effect) -> String {
    format!("{} {:?} {}", effect.lane, effect.place.class, effect.place.seq)
}

fn pair(table: TableId, key: &[u8]) -> Result<(RefKey, RefKey), StoreError> {
    let (first, second) = keys::split(key).ok_or_else(|| rows::bad(table, key, "not a pair of texts"))?;
    Ok((rows::ref_key(table, key, first)?, rows::ref_key(table, key, second)?))
}
