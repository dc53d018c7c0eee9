//! One record of two copies: the one pure function that the exporter, adoption and the merge driver share.
//!
//! On dated copies it is commutative, associative and idempotent, so machines that exchange in any order agree. On
//! undated ones it is commutative, and it never arms anything by itself.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

pub use super::keys::KeyConflict;

use super::date::{dated, is_undated, lost_control};
use super::render::{canonical, control_text};
use super::{Control, Ended, Poll, Record, Section, keys, ledger};

/// Two copies made one.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    /// The one.
    pub record: Record,
    /// The command that an ending of the other copy beat, for people to see.
    pub beaten: Option<Beaten>,
}

/// A command that is null now because of the other copy. Ending is safe, arming by accident is not.
#[derive(Debug, Clone, PartialEq)]
pub struct Beaten {
    /// The command.
    pub control: Control,
    /// The ending that beat it; absent when it could not be dated.
    pub ended: Option<Ended>,
}

/// Why two copies do not make one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Conflict {
    /// They are about different items.
    #[error("one copy is about `{ours}`, the other about `{theirs}`")]
    References {
        /// What ours is about.
        ours: Box<WorkItemRef>,
        /// What theirs is about.
        theirs: Box<WorkItemRef>,
    },
    /// Keys of other versions were changed on both sides, differently.
    #[error("changed on both sides: {}", names(keys))]
    Keys {
        /// Each of them, in byte order by section.
        keys: Vec<KeyConflict>,
        /// Everything else, joined; the keys in conflict are missing from it.
        rest: Box<Joined>,
    },
}

fn names(keys: &[KeyConflict]) -> String {
    let name = |conflict: &KeyConflict| match conflict.section {
        "" => format!("`{}`", conflict.key),
        section => format!("`{section}.{}`", conflict.key),
    };
    keys.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Joins two copies; `ancestor` is their common one, for keys of other versions and undated tombstones.
///
/// # Errors
/// Different references, or keys of other versions that both sides changed differently.
pub fn join(ours: &Record, theirs: &Record, ancestor: Option<&Record>) -> Result<Joined, Conflict> {
    if ours.reference.key() != theirs.reference.key() {
        let (ours, theirs) = (Box::new(ours.reference.clone()), Box::new(theirs.reference.clone()));
        return Err(Conflict::References { ours, theirs });
    }
    let ancestor = ancestor.filter(|ancestor| ancestor.reference.key() == ours.reference.key());
    let a = dated(ours, Some(theirs), ancestor);
    let b = dated(theirs, Some(ours), ancestor);
    let mut conflicts = Vec::new();
    let record = join_dated(&a, &b, ancestor, &mut conflicts);
    let beaten = beaten(ours, theirs, &record);
    let joined = Joined { record, beaten };
    match conflicts.is_empty() {
        true => Ok(joined),
        false => Err(Conflict::Keys { keys: conflicts, rest: Box::new(joined) }),
    }
}

/// [`join`], where a key that conflicts keeps `ours`: for a copy that is only a leftover.
pub fn join_preferring_ours(ours: &Record, theirs: &Record) -> Result<Joined, Conflict> {
    match join(ours, theirs, None) {
        // With the leftover as its own ancestor, every key it has is one it did not change.
        Err(Conflict::Keys { .. }) => join(ours, theirs, Some(theirs)),
        other => other,
    }
}

fn join_dated(a: &Record, b: &Record, base: Option<&Record>, conflicts: &mut Vec<KeyConflict>) -> Record {
    let later = if ended_of(a) >= ended_of(b) { a } else { b };
    let none = Map::new();
    let mut record = Record {
        reference: (&a.reference).max(&b.reference).clone(),
        control: control(a, b),
        poll: poll(a, b, base, conflicts),
        ended: later.ended.clone(),
        ended_extra: later.ended_extra.clone(),
        commanded_at: a.commanded_at.max(b.commanded_at),
        sealed: a.sealed && b.sealed,
        extra: keys::three_way("", &a.extra, &b.extra, base.map_or(&none, |base| &base.extra), conflicts),
    };
    let over = record.control.present().is_some_and(|control| !outlives(control, record.ended.as_ref()));
    if over {
        record.control = Section::Tombstone;
    }
    record
}

/// Whether a command is later than an ending; one whose time cannot be read is not.
pub(super) fn outlives(control: &Control, ended: Option<&Ended>) -> bool {
    ended.is_none_or(|ended| control.at().is_some_and(|at| at > ended.at))
}

/// The greatest ending wins: (`at`, `reason` bytes), then what other versions added.
pub(super) fn ended_rank<'a>(ended: &'a Ended, extra: &Map<String, Value>) -> (Time, &'a str, bool, String) {
    (ended.at, &ended.reason, !extra.is_empty(), canonical(&Value::Object(extra.clone())))
}

fn ended_of(record: &Record) -> Option<(Time, &str, bool, String)> {
    record.ended.as_ref().map(|ended| ended_rank(ended, &record.ended_extra))
}

/// The greatest command. A tombstone that nobody could date stays over one whose time nobody can read.
fn control(a: &Record, b: &Record) -> Section<Control> {
    match (&a.control, &b.control) {
        (Section::Present(x), Section::Present(y)) => {
            let x_wins = compare(x, &a.reference, y, &b.reference) != Ordering::Less;
            Section::Present(if x_wins { x } else { y }.clone())
        }
        (Section::Present(_), Section::Tombstone) if is_undated(b) => Section::Tombstone,
        (Section::Tombstone, Section::Present(_)) if is_undated(a) => Section::Tombstone,
        (Section::Present(control), _) | (_, Section::Present(control)) => Section::Present(control.clone()),
        (Section::Tombstone, _) | (_, Section::Tombstone) => Section::Tombstone,
        (Section::Absent, Section::Absent) => Section::Absent,
    }
}

/// (`requestedAt`, rank, remaining bytes).
fn compare(x: &Control, x_of: &WorkItemRef, y: &Control, y_of: &WorkItemRef) -> Ordering {
    // Both are about one item; its two spellings must not decide.
    let of = x_of.max(y_of);
    (x.at(), x.command.rank())
        .cmp(&(y.at(), y.command.rank()))
        .then_with(|| control_text(x, of).cmp(&control_text(y, of)))
}

fn poll(a: &Record, b: &Record, base: Option<&Record>, conflicts: &mut Vec<KeyConflict>) -> Section<Poll> {
    let none = Map::new();
    let base = base.and_then(|base| base.poll.present()).map_or(&none, |poll| &poll.extra);
    match (&a.poll, &b.poll) {
        (Section::Present(x), Section::Present(y)) => Section::Present(Poll {
            seen_comments: x.seen_comments.union(&y.seen_comments).cloned().collect(),
            comment_attempts: ledger::join(&x.comment_attempts, &y.comment_attempts),
            spawn: ledger::join(&x.spawn, &y.spawn),
            gave_up: ledger::join(&x.gave_up, &y.gave_up),
            last_polled_at: x.last_polled_at.max(y.last_polled_at),
            extra: keys::three_way("poll", &x.extra, &y.extra, base, conflicts),
        }),
        (Section::Present(poll), _) | (_, Section::Present(poll)) => Section::Present(poll.clone()),
        (Section::Tombstone, _) | (_, Section::Tombstone) => Section::Tombstone,
        (Section::Absent, Section::Absent) => Section::Absent,
    }
}

/// The greater of the commands that stood in a copy and are null now.
fn beaten(ours: &Record, theirs: &Record, joined: &Record) -> Option<Beaten> {
    let lost = match (lost_control(ours, joined), lost_control(theirs, joined)) {
        (Some(x), Some(y)) => {
            let x_wins = compare(x, &ours.reference, y, &theirs.reference) != Ordering::Less;
            if x_wins { x } else { y }
        }
        (Some(control), None) | (None, Some(control)) => control,
        (None, None) => return None,
    };
    Some(Beaten { control: lost.clone(), ended: joined.ended.clone() })
}
