//! Dating at the door: a copy brought into the one form the join works on (`state` rules, section 5).
//!
//! A tombstone says that something was cleared, not when. Here it gets its time, from what can be known, so that the
//! join itself only has to compare times.

use crate::domain::time::Time;

use super::join::{ended_rank, outlives};
use super::{Control, Ended, Record, Section, ledger};

/// The word of an ending that only a tombstone tells.
pub const CLEARED: &str = "cleared";

/// A copy as the join takes it: absent sections that read as null are null, an ended command is null, `commandedAt`
/// covers the command, and a tombstone is dated as well as `other` and the common `ancestor` allow.
///
/// A command older than the copy's own `commandedAt` was put over a newer one by a writer that does not compare times;
/// the newer one counts as cleared, so that the older never arms.
pub fn dated(copy: &Record, other: Option<&Record>, ancestor: Option<&Record>) -> Record {
    let mut copy = normal(copy);
    if is_undated(&copy) {
        let known = [copy.commanded_at, other.and_then(Record::requested_at), ancestor.and_then(Record::requested_at)];
        if let Some(at) = known.into_iter().flatten().max() {
            end(&mut copy, at);
        }
    }
    copy
}

/// [`dated`] for adoption, which has a clock: what neither the file nor the store can date happened by `now`.
pub fn dated_for_adoption(file: &Record, store: &Record, now: Time) -> Record {
    let mut file = dated(file, Some(store), None);
    if is_undated(&file) && dated(store, None, None).ended.is_none() {
        end(&mut file, now.whole_seconds());
    }
    file
}

/// A copy whose tombstone was already taken in, without it: what it cleared then must not be what is commanded since.
pub fn without_undated(copy: &Record) -> Record {
    let mut copy = normal(copy);
    if is_undated(&copy) {
        copy.control = Section::Absent;
        copy.commanded_at = None;
        copy.sealed = false;
    }
    copy
}

/// Whether it holds a control tombstone without an `ended` at least as late as `commandedAt`.
pub(super) fn is_undated(copy: &Record) -> bool {
    let dated = copy.ended.as_ref().is_some_and(|ended| copy.commanded_at.is_none_or(|at| ended.at >= at));
    matches!(copy.control, Section::Tombstone) && !dated
}

fn end(copy: &mut Record, at: Time) {
    let ended = Ended { at, reason: CLEARED.to_owned() };
    let none = serde_json::Map::new();
    let earlier =
        copy.ended.as_ref().is_none_or(|known| ended_rank(known, &copy.ended_extra) < ended_rank(&ended, &none));
    if earlier {
        (copy.ended, copy.ended_extra) = (Some(ended), none);
    }
}

/// The copy's own normal form, nothing dated yet.
pub(super) fn normal(copy: &Record) -> Record {
    let mut copy = copy.clone();
    if copy.sealed {
        seal(&mut copy.control);
        seal(&mut copy.poll);
    }
    if copy.commanded_at.is_some() || copy.ended.is_some() {
        seal(&mut copy.control);
    }
    if let Section::Present(control) = &copy.control {
        let at = control.at();
        if !outlives(control, copy.ended.as_ref()) || at < copy.commanded_at {
            copy.control = Section::Tombstone;
        }
        copy.commanded_at = copy.commanded_at.max(at);
    }
    if let Section::Present(poll) = &mut copy.poll {
        poll.comment_attempts = ledger::normal_map(&poll.comment_attempts);
        poll.spawn = ledger::normal_map(&poll.spawn);
        poll.gave_up = ledger::normal_map(&poll.gave_up);
    }
    copy
}

fn seal<T>(section: &mut Section<T>) {
    if section.is_absent() {
        *section = Section::Tombstone;
    }
}

/// What of `copy`'s command was lost when it became `joined`: a command that stood in the copy and is null now.
pub(super) fn lost_control<'a>(copy: &'a Record, joined: &Record) -> Option<&'a Control> {
    let control = copy.control.present()?;
    (joined.control.present().is_none() && outlives(control, copy.ended.as_ref())).then_some(control)
}
