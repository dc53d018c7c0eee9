//! Facts: they change state and never speak (events rules, section 3).

use super::draft::Draft;
use super::resolve::{self, Named};
use super::{DropReason, Urgency, Verdict, ending, moves, records, speech};
use crate::domain::event::{Fact, ItemFact, RepositoryFact, Subject, SubjectKind};
use crate::domain::item::Item;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::portable::{Command, Control};
use crate::domain::reference::WorkItemRef;
use crate::domain::session::EndReason;
use crate::domain::time::Time;

pub(super) fn act(draft: &mut Draft<'_>, fact: &Fact) -> Verdict {
    match fact {
        Fact::Item { subject, change } => item(draft, subject, change),
        Fact::Withdrawn { .. } => Verdict::Dropped(DropReason::Withdrawn),
        Fact::Repository(change) => repository(draft, change),
    }
}

fn item(draft: &mut Draft<'_>, subject: &Subject, change: &ItemFact) -> Verdict {
    match change {
        ItemFact::Closed { merged } => {
            let reason = if *merged { EndReason::Merged } else { EndReason::Closed };
            over(draft, subject, reason)
        }
        ItemFact::Transferred { to } => moves::transferred(draft, subject, to.as_ref()),
        ItemFact::Deleted => over(draft, subject, EndReason::Deleted),
        ItemFact::Reopened => reopened(draft, subject),
        ItemFact::Shown { merged } => shown(draft, subject, *merged),
        ItemFact::Opened { transferred_from: Some(from) } => opened_from(draft, subject, from),
        ItemFact::Opened { transferred_from: None } | ItemFact::Labeled(_) | ItemFact::ReadyForReview => {
            linked(draft, subject, true)
        }
        ItemFact::Unlabeled(_) | ItemFact::Edited => linked(draft, subject, false),
    }
}

/// Opened by a transfer: the record comes along; without one it is an item like any other.
fn opened_from(draft: &mut Draft<'_>, subject: &Subject, from: &(WorkItemRef, u64)) -> Verdict {
    match moves::arrived(draft, subject, from) {
        Verdict::Accepted => Verdict::Accepted,
        _ => linked(draft, subject, true),
    }
}

/// Closed, merged, moved or deleted: the item and what it owns end.
///
/// A close that arrives late is judged twice. It does not make an item closed that was reopened since; but what ran when
/// it happened ends all the same, because reopening does not arm again.
pub(super) fn over(draft: &mut Draft<'_>, subject: &Subject, reason: EndReason) -> Verdict {
    let at = subject.closed_at.or(subject.updated_at);
    let item = draft.item(&subject.reference);
    let (is_newest, ends) = (is_newest_fact(item, subject), !began_after(item, at));
    if !is_newest && !ends {
        return Verdict::Dropped(DropReason::OlderFact);
    }
    let at = at.unwrap_or(draft.now);
    records::note_subject(draft, &subject.reference, subject);
    let item = draft.item_mut(&subject.reference);
    item.facts.closed_at = item.facts.closed_at.max(Some(at));
    if is_newest {
        item.facts.open = Some(false);
        item.facts.updated_at = item.facts.updated_at.max(subject.updated_at);
    }
    if ends {
        ending::end_item(draft, &subject.reference, at, reason);
    }
    if is_newest && subject.kind == SubjectKind::PullRequest {
        ending::close_endpoint(draft, &subject.reference, reason);
    }
    Verdict::Accepted
}

/// The state of an item as a list shows it: nobody in particular did anything, so what it means depends on what is known.
fn shown(draft: &mut Draft<'_>, subject: &Subject, merged: bool) -> Verdict {
    let recorded = draft.item(&subject.reference).and_then(|item| item.facts.open);
    match (subject.open, recorded) {
        (Some(false), _) => over(draft, subject, if merged { EndReason::Merged } else { EndReason::Closed }),
        (Some(true), Some(false)) => reopened(draft, subject),
        (Some(true) | None, _) => linked(draft, subject, true),
    }
}

/// Whether nothing newer is recorded. Payloads without a time are believed.
fn is_newest_fact(item: Option<&Item>, subject: &Subject) -> bool {
    let recorded = item.and_then(|item| item.facts.updated_at);
    subject.updated_at.zip(recorded).is_none_or(|(new, recorded)| new >= recorded)
}

/// Whether the item's present life began after `at`: it was armed, or started, since. A resume begins no life of what
/// already has one.
pub(super) fn began_after(item: Option<&Item>, at: Option<Time>) -> bool {
    let lives = item.is_some_and(|item| item.live_session().is_some());
    let begins = |control: &&Control| control.command == Command::Start || (control.command.arms() && !lives);
    let armed = item.and_then(|item| item.sections.control.as_ref()).filter(begins);
    let began = armed.and_then(Control::at).or(item.and_then(|item| item.baseline));
    began.zip(at).is_some_and(|(began, at)| began > at)
}

/// Reopened: known as open again, nothing armed; a pull request's conversation can live again. A tie stays closed.
fn reopened(draft: &mut Draft<'_>, subject: &Subject) -> Verdict {
    if !is_newer_opening(draft.item(&subject.reference), subject) {
        return Verdict::Dropped(DropReason::OlderFact);
    }
    // Known, or a pull request of ours: a close from before that arrives after it undoes nothing.
    if draft.item(&subject.reference).is_some() || !draft.listing(&subject.reference).is_empty() {
        records::note_subject(draft, &subject.reference, subject);
        let item = draft.item_mut(&subject.reference);
        item.facts.open = Some(true);
        item.facts.updated_at = item.facts.updated_at.max(subject.updated_at);
    }
    let revived = subject.kind == SubjectKind::PullRequest && ending::revive_endpoint(draft, &subject.reference);
    match linked(draft, subject, true) {
        Verdict::Accepted => Verdict::Accepted,
        _ if revived => Verdict::Accepted,
        verdict => verdict,
    }
}

fn is_newer_opening(item: Option<&Item>, subject: &Subject) -> bool {
    let recorded = item.filter(|item| item.facts.open == Some(false)).and_then(|item| item.facts.updated_at);
    recorded.zip(subject.updated_at).is_none_or(|(recorded, new)| new > recorded)
}

/// A fact about a pull request records its linkage; one that shows the label may start an armed item.
fn linked(draft: &mut Draft<'_>, subject: &Subject, may_start: bool) -> Verdict {
    let named = resolve::named(draft.event, draft.policy, &draft.view.told);
    draft.missing = resolve::missing(subject, &named, draft.view);
    let counted = resolve::counted(named, draft.view);
    let matches = resolve::matches(subject, &counted, draft.view, draft.policy);
    for matched in &matches {
        if let Some(pull_request) = &matched.link {
            records::link(draft, &matched.owner, pull_request);
        }
    }
    records::note_ids(draft, subject);
    if !matches.is_empty() {
        if subject.kind == SubjectKind::PullRequest {
            speech::record_head(draft, subject);
        }
        return Verdict::Accepted;
    }
    match counted.first() {
        Some(first) if may_start && is_before_the_end(draft, &first.reference, subject.updated_at) => {
            Verdict::Dropped(DropReason::OlderFact)
        }
        Some(first) if may_start => start(draft, subject, first),
        _ => Verdict::Dropped(DropReason::NothingToDo),
    }
}

/// Whether something of `at` is from before the item's last ending or close: it starts nothing.
pub(super) fn is_before_the_end(draft: &Draft<'_>, reference: &WorkItemRef, at: Option<Time>) -> bool {
    let (Some(item), Some(at)) = (draft.item(reference), at) else { return false };
    let ended = item.sections.ended.as_ref().map(|ended| ended.at);
    ended.max(item.facts.closed_at).is_some_and(|over| at.whole_seconds() <= over.whole_seconds())
}

fn start(draft: &mut Draft<'_>, subject: &Subject, first: &Named) -> Verdict {
    let seed = records::Seed { subject, by_fact: true, asked_by: None };
    match records::start(draft, &first.reference, &seed, None) {
        Ok(matched) => {
            if let Some(pull_request) = &matched.link {
                records::link(draft, &matched.owner, pull_request);
            }
            Verdict::Accepted
        }
        Err(reason) => Verdict::Refused(reason),
    }
}

fn repository(draft: &mut Draft<'_>, change: &RepositoryFact) -> Verdict {
    match change {
        RepositoryFact::Deleted => deleted(draft),
        RepositoryFact::Renamed { from } | RepositoryFact::Transferred { from } => moves::renamed(draft, from),
    }
}

/// A repository is gone: its items are over, and nothing will be said to their agents any more. These keep running with
/// what only their checkouts still hold; a person ends them.
fn deleted(draft: &mut Draft<'_>) -> Verdict {
    let Some(repository) = draft.event.repository.clone() else { return Verdict::Dropped(DropReason::NoWorkItem) };
    let is_ours = |item: &Item| {
        item.reference.repo().is_same(&repository.reference) && moves::is_of_repository(item, repository.id)
    };
    let known = draft.view.items.values().map(|known| &known.item);
    let held: Vec<_> =
        known.filter(|item| is_ours(item) && is_begun(item)).map(|item| item.reference.clone()).collect();
    if held.is_empty() {
        return Verdict::Dropped(DropReason::NothingToDo);
    }
    let now = draft.now;
    for reference in held {
        ending::date_the_end(draft, &reference, now, EndReason::Deleted);
        draft.mark(&reference, Urgency::Now);
        let facts = &mut draft.item_mut(&reference).facts;
        (facts.open, facts.closed_at) = (Some(false), facts.closed_at.max(Some(now)));
        if draft.item(&reference).is_some_and(|item| item.live_session().is_some()) {
            let entry = LogEntry::warn(EventName::SessionKeptOpen).with("reason", EndReason::Deleted.as_str());
            draft.log(entry, &reference);
        }
    }
    Verdict::Accepted
}

/// Whether the item is armed or runs, and did not end with its repository before.
fn is_begun(item: &Item) -> bool {
    let ended = item.sections.ended.as_ref().is_some_and(|ended| ended.reason == EndReason::Deleted.as_str());
    item.sections.control.is_some() || (item.live_session().is_some() && !ended)
}
