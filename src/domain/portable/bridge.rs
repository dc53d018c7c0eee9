//! Between the store's shape and the file's, and what adoption makes of the two.

use std::collections::BTreeSet;

use crate::domain::item::{Item, Sections};
use crate::domain::time::Time;

use super::date::{dated, dated_for_adoption};
use super::join::{Beaten, Conflict, join};
use super::{Control, Poll, Record, RequestedAt, Section, Volatile, same_meaning};

/// How far ahead of our clock another machine's time may be, seconds; beyond it, it does not act.
pub const AHEAD_SECONDS: i64 = 300;

/// Store and file made one.
#[derive(Debug, Clone, PartialEq)]
pub struct Adopted {
    /// What the store shall hold now; [`Record::sections`] gives its shape.
    pub record: Record,
    /// Whether the store's content changes, `lastPolledAt` aside.
    pub changed: bool,
    /// How `control` and `ended` change, when they do.
    pub control: Option<ControlChange>,
    /// Comments the store did not know.
    pub new_comments: BTreeSet<String>,
    /// What people should hear of.
    pub reports: Vec<Report>,
}

/// What an adopted change does to an item's command.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlChange {
    /// The command before.
    pub before: Section<Control>,
    /// The command now.
    pub after: Section<Control>,
    /// Whether the item was armed before.
    pub was_armed: bool,
    /// Whether it is armed now; arming still needs an authorised actor.
    pub is_armed: bool,
}

/// Something adoption did, or did not do, that people should hear of.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// A command is null now.
    Beaten(Beaten),
    /// A time too far ahead; it does not act until our clock comes near.
    Ahead {
        /// Which field.
        field: &'static str,
        /// The time in it.
        at: Time,
    },
    /// An arming by somebody this machine does not trust; the file keeps it, the store does not take it.
    NotEntitled(Box<Control>),
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Beaten(Beaten { control, ended: Some(ended) }) => {
                write!(
                    f,
                    "{} by {:?} is over: {} at {}",
                    control.command.as_str(),
                    control.actor,
                    ended.reason,
                    ended.at
                )
            }
            Self::Beaten(Beaten { control, ended: None }) => {
                write!(f, "{} by {:?} is over", control.command.as_str(), control.actor)
            }
            Self::Ahead { field, at } => write!(f, "`{field}` {at} is ahead of our clock and does not act"),
            Self::NotEntitled(control) => {
                let (command, actor) = (control.command.as_str(), &control.actor);
                write!(f, "{command} by {actor:?} does not count here: nobody this machine trusts")
            }
        }
    }
}

impl Record {
    /// The record the store holds for an item.
    pub fn from_store(item: &Item, seen: BTreeSet<String>) -> Self {
        let Sections { control, ended, commanded_at, has_poll, last_polled_at } = item.sections.clone();
        let mut record = Self::new(item.reference.clone());
        record.control = control.map_or(Section::Absent, |control| Section::Present(in_seconds(control)));
        record.ended = ended;
        if let Some(ended) = &mut record.ended {
            ended.at = ended.at.whole_seconds();
        }
        record.commanded_at = commanded_at.map(Time::whole_seconds);
        if has_poll || !seen.is_empty() {
            let last_polled_at = last_polled_at.map(Time::whole_seconds);
            record.poll = Section::Present(Poll { seen_comments: seen, last_polled_at, ..Poll::default() });
        }
        dated(&record, None, None)
    }

    /// What the store keeps of it beside the seen comments; keys of other versions live in the file.
    pub fn sections(&self) -> Sections {
        Sections {
            control: self.control.present().cloned(),
            ended: self.ended.clone(),
            commanded_at: self.commanded_at,
            has_poll: self.poll.present().is_some(),
            last_polled_at: self.poll.present().and_then(|poll| poll.last_polled_at),
        }
    }
}

fn in_seconds(mut control: Control) -> Control {
    if let RequestedAt::At(at) = &mut control.requested_at {
        *at = at.whole_seconds();
    }
    control
}

/// Joins a file into what the store holds. Adopting the same file again changes nothing.
///
/// # Errors
/// They are about different items.
pub fn adopt(store: &Record, file: &Record, now: Time) -> Result<Adopted, Conflict> {
    let (file, mut reports) = without_ahead(file, now.plus_seconds(AHEAD_SECONDS));
    let before = dated(store, None, None);
    let joined = join(&before, &dated_for_adoption(&file, &before, now), None)?;
    reports.extend(joined.beaten.map(Report::Beaten));
    let mut record = joined.record;
    record.reference = store.reference.clone();
    let known = before.seen_comments();
    let new_comments: BTreeSet<String> = record.seen_comments().map_or_else(BTreeSet::new, |seen| {
        seen.iter().filter(|id| known.is_none_or(|known| !known.contains(*id))).cloned().collect()
    });
    Ok(Adopted {
        changed: store_differs(&before, &record),
        control: control_change(&before, &record),
        record,
        new_comments,
        reports,
    })
}

/// Whether the two differ in what the store keeps; keys of other versions and ledgers live in the file alone.
fn store_differs(before: &Record, after: &Record) -> bool {
    let kept = |record: &Record| {
        let mut kept = record.clone();
        kept.extra.clear();
        kept.ended_extra.clear();
        kept.poll = match record.seen_comments() {
            Some(seen) => Section::Present(Poll { seen_comments: seen.clone(), ..Poll::default() }),
            None => Section::Absent,
        };
        // The store does not tell an empty section from a missing one.
        if kept.ended.is_none() && kept.control == Section::Tombstone {
            kept.control = Section::Absent;
        }
        kept
    };
    !same_meaning(&kept(before), &kept(after), Volatile::Ignored) || before.commanded_at != after.commanded_at
}

fn control_change(before: &Record, after: &Record) -> Option<ControlChange> {
    let unchanged = before.control == after.control && before.ended == after.ended;
    (!unchanged).then(|| ControlChange {
        before: before.control.clone(),
        after: after.control.clone(),
        was_armed: before.is_armed(),
        is_armed: after.is_armed(),
    })
}

/// What of a file is dated so far ahead of our clock that it does not act.
pub fn ahead(file: &Record, now: Time) -> Vec<Report> {
    without_ahead(file, now.plus_seconds(AHEAD_SECONDS)).1
}

/// The file without what is dated after `limit`, and what that was.
///
/// An ending that does not act takes the command beside it with it: without the ending, the command would act alone.
/// Likewise a command that stands where a later one is known (`commandedAt`) does not act when the later one may not.
fn without_ahead(file: &Record, limit: Time) -> (Record, Vec<Report>) {
    let mut file = file.clone();
    let ahead = |field, at: Option<Time>| at.filter(|at| *at > limit).map(|at| Report::Ahead { field, at });
    let control = ahead("control.requestedAt", file.requested_at());
    let ended = ahead("ended.at", file.ended.as_ref().map(|ended| ended.at));
    let commanded = ahead("commandedAt", file.commanded_at);
    let polled = ahead("poll.lastPolledAt", file.poll.present().and_then(|poll| poll.last_polled_at));
    let has_control = file.control.present().is_some();
    if ended.is_some() || control.is_some() || (commanded.is_some() && has_control) {
        file.control = Section::Absent;
        file.commanded_at = None;
        file.sealed = false;
    }
    if ended.is_some() {
        (file.ended, file.ended_extra) = (None, serde_json::Map::new());
    }
    if commanded.is_some() {
        file.commanded_at = None;
    }
    if let (Some(_), Section::Present(poll)) = (&polled, &mut file.poll) {
        poll.last_polled_at = None;
    }
    (file, [control, ended, commanded, polled].into_iter().flatten().collect())
}
