//! Facts: they change state and never speak (events rules, section 3).

use super::draft::Draft;
use super::resolve::{self, Named};
use super::{DropReason, Verdict, ending, records, speech};
use crate::domain::event::{Fact, ItemFact, RepositoryFact, Subject, SubjectKind};
use crate::domain::item::Item;
use crate::domain::portable::Control;
use crate::domain::session::EndReason;
use crate::domain::time::Time;

pub(super) fn act(draft: &mut Draft<'_>, fact: &Fact) -> Verdict {
    match fact {
        Fact::Item { subject, change } => item(draft, subject, change),
        Fact::Withdrawn { .. } => Verdict::Dropped(DropReason::NothingToDo),
        Fact::Repository(change) => repository(draft, change),
    }
}

fn item(draft: &mut Draft<'_>, subject: &Subject, change: &ItemFact) -> Verdict {
    match change {
        ItemFact::Closed { merged } => {
            let reason = if *merged { EndReason::Merged } else { EndReason::Closed };
            over(draft, subject, reason)
        }
        ItemFact::Transferred { .. } => over(draft, subject, EndReason::Transferred),
        ItemFact::Deleted => over(draft, subject, EndReason::Deleted),
        ItemFact::Reopened => reopened(draft, subject),
        ItemFact::Opened { .. } | ItemFact::Labeled(_) | ItemFact::ReadyForReview => linked(draft, subject, true),
        ItemFact::Unlabeled(_) | ItemFact::Edited => linked(draft, subject, false),
    }
}

/// Closed, merged, moved or deleted: the item and what it owns end.
///
/// A close that arrives late is judged twice. It does not make an item closed that was reopened since; but what ran when
/// it happened ends all the same, because reopening does not arm again.
fn over(draft: &mut Draft<'_>, subject: &Subject, reason: EndReason) -> Verdict {
    let at = subject.closed_at.or(subject.updated_at);
    let item = draft.item(&subject.reference);
    let (is_newest, ends) = (is_newest_fact(item, subject), !began_after(item, at));
    if !is_newest && !ends {
        return Verdict::Dropped(DropReason::OlderFact);
    }
    let at = at.unwrap_or(draft.now);
    let item = draft.item_mut(&subject.reference);
    records::note_subject(item, subject);
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

/// Whether nothing newer is recorded. Payloads without a time are believed.
fn is_newest_fact(item: Option<&Item>, subject: &Subject) -> bool {
    let recorded = item.and_then(|item| item.facts.updated_at);
    subject.updated_at.zip(recorded).is_none_or(|(new, recorded)| new >= recorded)
}

/// Whether the item's present life began after `at`: it was armed, or started, since.
fn began_after(item: Option<&Item>, at: Option<Time>) -> bool {
    let armed = item.and_then(|item| item.sections.control.as_ref()).filter(|control| control.command.arms());
    let began = armed.and_then(Control::at).or(item.and_then(|item| item.baseline));
    began.zip(at).is_some_and(|(began, at)| began > at)
}

/// Reopened: known as open again, nothing armed; a pull request's conversation can live again. A tie stays closed.
fn reopened(draft: &mut Draft<'_>, subject: &Subject) -> Verdict {
    if !is_newer_opening(draft.item(&subject.reference), subject) {
        return Verdict::Dropped(DropReason::OlderFact);
    }
    if draft.item(&subject.reference).is_some() {
        let item = draft.item_mut(&subject.reference);
        records::note_subject(item, subject);
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
    let named = resolve::named(draft.event, draft.policy);
    draft.missing = resolve::missing(subject, &named, draft.view);
    let counted = resolve::counted(named, draft.view);
    let may_link = draft.policy.admits(subject.author.as_ref());
    let matches = resolve::matches(subject, &counted, draft.view, draft.policy, may_link);
    for matched in &matches {
        if let Some(pull_request) = &matched.link {
            records::link(draft, &matched.owner, pull_request);
        }
    }
    if !matches.is_empty() {
        if subject.kind == SubjectKind::PullRequest {
            speech::record_head(draft, subject);
        }
        return Verdict::Accepted;
    }
    match counted.first() {
        Some(first) if may_start => start(draft, subject, first),
        _ => Verdict::Dropped(DropReason::NothingToDo),
    }
}

fn start(draft: &mut Draft<'_>, subject: &Subject, first: &Named) -> Verdict {
    let seed = records::Seed { subject, by_fact: true };
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

/// A repository that is gone ends what it held.
fn repository(draft: &mut Draft<'_>, change: &RepositoryFact) -> Verdict {
    let (reason, of) = match change {
        RepositoryFact::Deleted => (EndReason::Deleted, draft.event.repository.as_ref().map(|r| r.reference.clone())),
        RepositoryFact::Renamed { from } | RepositoryFact::Transferred { from } => {
            (EndReason::Renamed, Some(from.clone()))
        }
    };
    let Some(of) = of else { return Verdict::Dropped(DropReason::NoWorkItem) };
    let held: Vec<_> = draft.view.items.values().map(|known| known.item.reference.clone()).collect();
    let held: Vec<_> = held.into_iter().filter(|reference| reference.repo().is_same(&of)).collect();
    if held.is_empty() {
        return Verdict::Dropped(DropReason::NothingToDo);
    }
    let now = draft.now;
    for reference in held {
        ending::end_item(draft, &reference, now, reason);
    }
    Verdict::Accepted
}
