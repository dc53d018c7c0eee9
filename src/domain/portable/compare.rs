//! Whether two records mean the same: a file whose meaning is right is not rewritten.

use super::date::dated;
use super::{Control, Poll, Record, Section};
use crate::domain::secrets::redact;

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
        && same_control(&a.control, &b.control)
        && (&a.ended, &a.ended_extra) == (&b.ended, &b.ended_extra)
        && a.extra == b.extra
        && same_poll(&a.poll, &b.poll, volatile)
}

/// Whether `file` says what `want` says, so that it need not be written; volatile fields aside.
///
/// A command over an ending that `commandedAt` does not cover says less: once a writer who keeps the rest as it is clears
/// it, nothing tells the file from what it was before the command, which is no news.
pub fn says_all(file: &Record, want: &Record) -> bool {
    let can_be_cleared = file.ended.is_none() || file.requested_at() <= file.commanded_at;
    can_be_cleared && same_meaning(want, file, Volatile::Ignored)
}

/// A note is compared as it is written: what is withheld from the file is no difference to it.
fn same_control(a: &Section<Control>, b: &Section<Control>) -> bool {
    let (Section::Present(ours), Section::Present(theirs)) = (a, b) else { return a == b };
    let note = |control: &Control| control.note.as_deref().map(|note| redact(note).into_owned());
    ours == theirs || (note(ours) == note(theirs) && Control { note: theirs.note.clone(), ..ours.clone() } == *theirs)
}

fn same_poll(a: &Section<Poll>, b: &Section<Poll>, volatile: Volatile) -> bool {
    match (a, b, volatile) {
        (Section::Present(a), Section::Present(b), Volatile::Ignored) => {
            (&a.seen_comments, &a.gave_up, &a.extra) == (&b.seen_comments, &b.gave_up, &b.extra)
        }
        _ => a == b,
    }
}
