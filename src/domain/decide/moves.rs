//! Items that go on under another name: transferred issues, renamed and transferred repositories.
//!
//! The record, its history and its conversations go along; the old name keeps a dated ending, so that no copy of the
//! command arms it again, and the way to the new one, for what arrives late.

use super::draft::Draft;
use super::view::Known;
use super::{Change, DropReason, Verdict, ending, facts, guards};
use crate::domain::event::{Content, Event, Fact, Repository, RepositoryFact, Subject};
use crate::domain::item::{Facts, Item, Sections};
use crate::domain::log::{EventName, LogEntry};
use crate::domain::names::Names;
use crate::domain::portable::{Control, Ended, RequestedAt};
use crate::domain::reference::{RepoRef, WorkItemRef};
use crate::domain::session::{EndReason, Session};
use crate::domain::time::Time;

/// One change of name.
struct Move<'m> {
    from: &'m WorkItemRef,
    to: &'m WorkItemRef,
    at: Time,
    reason: EndReason,
    /// GitHub's ids under the new name, as far as they are known.
    repository_id: Option<u64>,
    item_id: Option<u64>,
}

/// The source's side of a transfer. Without a destination that we serve, the item is over.
pub(super) fn transferred(draft: &mut Draft<'_>, subject: &Subject, to: Option<&(WorkItemRef, u64)>) -> Verdict {
    let served = to.filter(|(to, _)| guards::serves(draft, to.repo()));
    let Some((to, item_id)) = served else { return facts::over(draft, subject, EndReason::Transferred) };
    if !is_same_object(draft.item(&subject.reference), subject.id) || to.key() == subject.reference.key() {
        return Verdict::Dropped(DropReason::NothingToDo);
    }
    let at = subject.updated_at.unwrap_or(draft.now);
    transfer(draft, &subject.reference, to, at, *item_id, None)
}

/// The destination's side of a transfer: the record comes along, if it is not here already.
pub(super) fn arrived(draft: &mut Draft<'_>, subject: &Subject, from: &(WorkItemRef, u64)) -> Verdict {
    let (from, old_id) = from;
    let worth = draft.item(from).is_some_and(|item| is_kept(item) && item.facts.moved_to.is_none());
    if !worth || !is_same_object(draft.item(from), *old_id) || from.key() == subject.reference.key() {
        return Verdict::Dropped(DropReason::NothingToDo);
    }
    let at = subject.updated_at.unwrap_or(draft.now);
    let repository = draft.event.repository.as_ref().map(|repository| repository.id);
    transfer(draft, from, &subject.reference, at, subject.id, repository)
}

fn transfer(
    draft: &mut Draft<'_>,
    from: &WorkItemRef,
    to: &WorkItemRef,
    at: Time,
    item_id: u64,
    repository: Option<u64>,
) -> Verdict {
    if draft.item(from).is_some_and(|item| item.facts.moved_to.is_some()) {
        return Verdict::Dropped(DropReason::NothingToDo);
    }
    let known = |id: u64| (id != 0).then_some(id);
    let repository_id = repository.and_then(known);
    let reason = EndReason::Transferred;
    go(draft, &Move { from, to, at, reason, repository_id, item_id: known(item_id) });
    Verdict::Accepted
}

/// A number names the same issue as long as its id does; unknown ids are believed.
fn is_same_object(item: Option<&Item>, id: u64) -> bool {
    let recorded = item.and_then(|item| item.facts.item_id);
    id == 0 || recorded.is_none_or(|recorded| recorded == id)
}

/// A repository goes by another name: every item and every listed pull request of it follows.
pub(super) fn renamed(draft: &mut Draft<'_>, from: &RepoRef) -> Verdict {
    let Some(Repository { reference: to, id }) = draft.event.repository.clone() else {
        return Verdict::Dropped(DropReason::NoWorkItem);
    };
    let names = draft.view.names.clone().unwrap_or_else(|| Names::new(from.clone()));
    if names.was(&to) && !names.current.is_same(from) {
        return Verdict::Dropped(DropReason::OlderFact);
    }
    let leaving = |repo: &RepoRef| !repo.is_same(&to) && (repo.is_same(from) || names.all().any(|n| n.is_same(repo)));
    let mut moving: Vec<WorkItemRef> = Vec::new();
    for known in draft.view.items.values() {
        let item = &known.item;
        if leaving(item.reference.repo()) && item.facts.moved_to.is_none() && is_of_repository(item, id) {
            moving.push(item.reference.clone());
        }
        let listed = known.endpoints.iter().map(|endpoint| &endpoint.reference);
        moving.extend(listed.filter(|listed| leaving(listed.repo())).cloned());
    }
    moving.sort();
    moving.dedup_by_key(|reference| reference.key());
    let reason = EndReason::Renamed;
    for from in &moving {
        if let Ok(to) = to.item(from.number()) {
            let at = draft.item(from).and_then(last_heard).unwrap_or(draft.now);
            let item_id = draft.item(from).and_then(|item| item.facts.item_id);
            go(draft, &Move { from, to: &to, at, reason, repository_id: (id != 0).then_some(id), item_id });
        }
    }
    let heard = draft.view.names.is_some() || !moving.is_empty();
    if heard && id != 0 {
        draft.change(Change::Names { repository: id, names: names.renamed(from, &to) });
    }
    if moving.is_empty() { Verdict::Dropped(DropReason::NothingToDo) } else { Verdict::Accepted }
}

/// Whether `item` can be one of the repository with GitHub's id `id`; unknown ids are believed.
pub(super) fn is_of_repository(item: &Item, id: u64) -> bool {
    id == 0 || item.facts.repository_id.is_none_or(|recorded| recorded == id)
}

/// The latest of GitHub's times that is known of an item. A name is left no later than that: it may come back, and what
/// is said then must be later than its leaving on GitHub's own clock.
fn last_heard(item: &Item) -> Option<Time> {
    let command = item.sections.control.as_ref().and_then(Control::at);
    command.max(item.sections.commanded_at).max(item.facts.updated_at)
}

/// Whether there is anything of ours to keep.
fn is_kept(item: &Item) -> bool {
    item.session.is_some() || item.sections != Sections::default()
}

/// Moves one item, or a pull request that only others list.
fn go(draft: &mut Draft<'_>, moving: &Move<'_>) {
    let Some(old) = draft.known(moving.from).cloned() else {
        return follow(draft, moving);
    };
    let there = draft.known(moving.to).cloned();
    let there = there.unwrap_or_else(|| Known { item: Item::new(moving.to.clone()), endpoints: Vec::new() });
    if there.item.session.is_some() && old.item.session.is_some() {
        return stay(draft, moving);
    }
    let (kept, is_over) = (is_kept(&old.item), is_over_there(&old.item, &there.item, moving));
    draft.place(Known { item: left_behind(&old.item, moving, kept), endpoints: Vec::new() });
    draft.place(Known { item: arriving(old.item, there.item, moving), endpoints: old.endpoints });
    follow(draft, moving);
    if kept {
        draft.mark(moving.from, super::Urgency::Now);
        draft.mark(moving.to, super::Urgency::Now);
        let entry = LogEntry::info(EventName::ItemMoved).with("from", moving.from.to_string());
        draft.log(entry.with("reason", moving.reason.as_str()), moving.to);
        if is_over {
            let at = draft.item(moving.to).and_then(|item| item.facts.closed_at).unwrap_or(moving.at);
            ending::end_item(draft, moving.to, at, EndReason::Closed);
        }
    }
}

/// Rows kept by reference follow, here and in the store.
fn follow(draft: &mut Draft<'_>, moving: &Move<'_>) {
    draft.relist(moving.from, moving.to);
    draft.change_first(Change::Move { from: moving.from.key(), to: moving.to.clone() });
}

/// Whether the present life was closed or ended under the new name before the record arrived there.
fn is_over_there(old: &Item, there: &Item, moving: &Move<'_>) -> bool {
    let began_after = |at: Option<Time>| facts::began_after(Some(old), at);
    let closed = there.facts.open == Some(false) && there.facts.updated_at > old.facts.updated_at;
    let ended = there.sections.ended.as_ref().map(|ended| ended.at);
    !is_back(there, moving) && (closed && !began_after(there.facts.closed_at) || ended.is_some() && !began_after(ended))
}

/// Whether the new name is one that the item had before.
fn is_back(there: &Item, moving: &Move<'_>) -> bool {
    there.facts.moved_to.as_ref().is_some_and(|to| to.key() == moving.from.key())
}

/// The new name began a life of its own, so the old one ends where it is.
fn stay(draft: &mut Draft<'_>, moving: &Move<'_>) {
    ending::end_item(draft, moving.from, moving.at, moving.reason);
    let facts = &mut draft.item_mut(moving.from).facts;
    facts.moved_to = Some(moving.to.clone());
    facts.open = Some(false);
    facts.closed_at = facts.closed_at.max(Some(moving.at));
}

/// What stays under the old name: that it ended, when, and where it went.
fn left_behind(old: &Item, moving: &Move<'_>, kept: bool) -> Item {
    let command = old.sections.control.as_ref().and_then(Control::at).max(old.sections.commanded_at);
    // Not before the command it clears, so that no copy of the command outlives it.
    let at = moving.at.whole_seconds().max(command.unwrap_or(moving.at.whole_seconds()));
    let ended = Ended { at, reason: moving.reason.as_str().to_owned() };
    let sections = Sections {
        ended: later(old.sections.ended.clone(), Some(ended)).filter(|_| kept),
        commanded_at: old.sections.commanded_at,
        ..Sections::default()
    };
    let facts = Facts {
        repository_id: old.facts.repository_id,
        kind: old.facts.kind,
        open: Some(false),
        updated_at: old.facts.updated_at.max(Some(moving.at)),
        closed_at: Some(at),
        moved_to: Some(moving.to.clone()),
        ..Facts::default()
    };
    Item { version: old.version, facts, sections, ..Item::new(old.reference.clone()) }
}

/// The item under its new name, joined with what was known there.
fn arriving(old: Item, there: Item, moving: &Move<'_>) -> Item {
    let back = is_back(&there, moving);
    let is_newer = !back && there.facts.updated_at > old.facts.updated_at;
    let open = if is_newer {
        there.facts.open.or(old.facts.open)
    } else {
        old.facts.open.or(there.facts.open.filter(|_| !back))
    };
    let facts = Facts {
        repository_id: moving.repository_id.or(there.facts.repository_id),
        item_id: moving.item_id.or(there.facts.item_id),
        kind: old.facts.kind.or(there.facts.kind),
        open,
        updated_at: old.facts.updated_at.max(there.facts.updated_at.filter(|_| !back)),
        closed_at: old.facts.closed_at.max(there.facts.closed_at.filter(|_| !back)),
        head: there.facts.head.or(old.facts.head),
        moved_to: None,
    };
    let session = old.session.map(|session| Session { reference: moving.to.clone(), ..session });
    Item {
        reference: moving.to.clone(),
        version: old.version.max(there.version),
        facts,
        sections: joined(old.sections, there.sections, back),
        session: session.or(there.session),
        baseline: old.baseline.max(there.baseline),
        held_by_adoption: old.held_by_adoption || there.held_by_adoption,
    }
}

/// Both names' sections: the newest command, unless the newest ending is not before it.
///
/// The ending of a name that comes back was its leaving: the command is dated after it, so that it outlives the file.
fn joined(mut old: Sections, there: Sections, back: bool) -> Sections {
    if let (true, Some(left), Some(control)) = (back, &there.ended, &mut old.control) {
        let after = left.at.plus_seconds(1);
        control.requested_at = RequestedAt::At(control.at().map_or(after, |at| at.max(after)));
        old.commanded_at = old.commanded_at.max(control.at());
    }
    let ended = later(old.ended, there.ended);
    let rank = |control: &Control| (control.at(), control.command.rank());
    let control = match (old.control, there.control) {
        (Some(old), Some(there)) if rank(&there) > rank(&old) => Some(there),
        (old, there) => old.or(there),
    };
    let outlived = |control: &Control| ended.as_ref().is_none_or(|ended| control.at() > Some(ended.at));
    Sections {
        control: control.filter(outlived),
        commanded_at: old.commanded_at.max(there.commanded_at),
        has_poll: old.has_poll || there.has_poll,
        last_polled_at: old.last_polled_at.max(there.last_polled_at),
        ended,
    }
}

fn later(one: Option<Ended>, other: Option<Ended>) -> Option<Ended> {
    [one, other].into_iter().flatten().max_by(|a, b| (a.at, &a.reason).cmp(&(b.at, &b.reason)))
}

/// That a repository goes by another name, when an event shows it and nobody said so.
pub fn implied_rename(event: &Event, names: Option<&Names>) -> Option<Event> {
    let (repository, names) = (event.repository.as_ref()?, names?);
    let new = !names.current.is_same(&repository.reference) && !names.was(&repository.reference);
    let told = matches!(
        &event.content,
        Content::Fact(fact)
            if matches!(fact.as_ref(), Fact::Repository(RepositoryFact::Renamed { .. } | RepositoryFact::Transferred { .. }))
    );
    let change = RepositoryFact::Renamed { from: names.current.clone() };
    (new && !told).then(|| Event {
        action: Some("renamed".into()),
        sender: None,
        content: Content::Fact(Box::new(Fact::Repository(change))),
        ..event.clone()
    })
}

/// The event under the present name of its repository, when it goes by a former one: it was sent before the change.
pub fn under_present_name(event: &Event, names: Option<&Names>) -> Option<Event> {
    let names = names?;
    let Repository { reference, id } = event.repository.as_ref()?;
    let is_change_of_name = |fact: &Fact| {
        matches!(fact, Fact::Repository(RepositoryFact::Renamed { .. } | RepositoryFact::Transferred { .. }))
    };
    if !names.was(reference) || matches!(&event.content, Content::Fact(fact) if is_change_of_name(fact)) {
        return None;
    }
    let mut event = event.clone();
    event.repository = Some(Repository { reference: names.current.clone(), id: *id });
    if let Some(subject) = subject_mut(&mut event)
        && let Some(present) = names.present(&subject.reference)
    {
        subject.reference = present;
    }
    Some(event)
}

/// The event about the item that `item`, which it names, became. `None` when it is still there, or when the name belongs
/// to another repository by now.
pub fn forwarded(event: &Event, item: &Item) -> Option<Event> {
    let to = item.facts.moved_to.as_ref().filter(|_| item.live_session().is_none())?;
    let id = event.repository.as_ref().map_or(0, |repository| repository.id);
    if !is_of_repository(item, id) {
        return None;
    }
    let mut event = event.clone();
    let subject = subject_mut(&mut event)?;
    let stays = subject.reference.repo().is_same(to.repo());
    subject.reference = to.clone();
    if !stays {
        // Ids and text are of the place it left.
        subject.id = 0;
        event.repository = Some(Repository { reference: to.repo().clone(), id: 0 });
    }
    Some(event)
}

fn subject_mut(event: &mut Event) -> Option<&mut Subject> {
    match &mut event.content {
        Content::Speech(speech) => speech.subject.as_mut(),
        Content::Fact(fact) => match fact.as_mut() {
            Fact::Item { subject, .. } | Fact::Withdrawn { subject } => Some(subject),
            Fact::Repository(_) => None,
        },
        Content::Ignored(_) => None,
    }
}
