//! Whether two records mean the same: a file whose meaning is right is not rewritten.

use super::date::dated;
use super::{Poll, Record, Section};

/// What to do with fields that change without anything having happened: `lastPolledAt` and the tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volatile {
    /// They make no difference; they ride along with the next real change.
    Ignored,
    /// They count.
    Compared,
}

/// Whether both say the same about the same item, however they are laid out and spelled.
///
/// `commandedAt` and `sealed` are not compared: what they mean shows in the sections of the normal form.
pub fn same_meaning(a: &Record, b: &Record, volatile: Volatile) -> bool {
    let (a, b) = (dated(a, None, None), dated(b, None, None));
    let key = |record: &Record| record.reference.key();
    key(&a) == key(&b)
        && a.control == b.control
        && (&a.ended, &a.ended_extra) == (&b.ended, &b.ended_extra)
        && a.extra == b.extra
        && same_poll(&a.poll, &b.poll, volatile)
}

fn same_poll(a: &Section<Poll>, b: &Section<Poll>, volatile: Volatile) -> bool {
    match (a, b, volatile) {
        (Section::Present(a), Section::Present(b), Volatile::Ignored) => {
            (&a.seen_comments, &a.gave_up, &a.extra) == (&b.seen_comments, &b.gave_up, &b.extra)
        }
        _ => a == b,
    }
}
