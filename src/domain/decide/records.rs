//! Records: starting one, linking pull requests to it, and storing deliveries for its conversations.

use super::draft::Draft;
use super::resolve::Match;
use super::{DropReason, ending, messages, resolve, speech};
use crate::domain::effect::{Class, EffectBody, EndpointRef};
use crate::domain::event::{Identity, Subject, SubjectKind};
use crate::domain::item::Item;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::message::Message;
use crate::domain::policy::{Policy, SpawnPolicy};
use crate::domain::portable::Control;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{Breaker, EndReason, Session, SessionState};
use crate::domain::time::Time;

/// What a new record is made from.
pub(super) struct Seed<'s> {
    /// The issue or pull request the event shows.
    pub(super) subject: &'s Subject,
    /// Whether a fact asks, which nobody in particular said.
    pub(super) by_fact: bool,
    /// The comment that asks for nothing but the start.
    pub(super) asked_by: Option<&'s Identity>,
}

/// Starts (or restarts) the record of `reference`, if policy allows, and asks for its harness and first prompt.
///
/// `command` is the control word that asks for it; it arms the item and is recorded only when the start is allowed.
pub(super) fn start(
    draft: &mut Draft<'_>,
    reference: &WorkItemRef,
    seed: &Seed<'_>,
    command: Option<&Control>,
) -> Result<Match, DropReason> {
    may_start(draft, reference, seed, command)?;
    Ok(start_allowed(draft, reference, seed, command))
}

/// Starts a record because the operator said so: labels and spawn policy are not asked, a closed item still refuses.
pub(super) fn start_by_operator(
    draft: &mut Draft<'_>,
    reference: &WorkItemRef,
    seed: &Seed<'_>,
    command: &Control,
) -> Result<Match, DropReason> {
    match is_open(draft.item(reference), seed.subject, reference) {
        true => Ok(start_allowed(draft, reference, seed, Some(command))),
        false => Err(DropReason::ItemClosed),
    }
}

fn start_allowed(draft: &mut Draft<'_>, reference: &WorkItemRef, seed: &Seed<'_>, command: Option<&Control>) -> Match {
    note_subject(draft, reference, seed.subject);
    note_open(draft, reference, seed.subject);
    begin(draft, reference, command, seed.asked_by);
    let message = messages::first_prompt(draft.event, seed.subject, reference);
    let own = Match { owner: reference.clone(), endpoint: EndpointRef::Item, link: None };
    deliver(draft, &own, None, message);
    match_of(draft, reference, seed.subject)
}

/// The session of `reference` begins a new life: a generation of its own, and a spawn in its lane.
fn begin(draft: &mut Draft<'_>, reference: &WorkItemRef, command: Option<&Control>, asked_by: Option<&Identity>) {
    let (now, fresh) = (draft.now, draft.new_session(reference, reference));
    let item = draft.item_mut(reference);
    let mut session = item.session.take().unwrap_or_else(|| fresh.clone());
    if session.was_reset() {
        // Not forgotten yet, because its pane is still to be ended: nothing else of it is left.
        session = Session { generation: session.generation, key: session.key, ..fresh };
    }
    session.state = SessionState::Starting;
    session.generation += 1;
    session.failed_spawns = 0;
    session.breaker = Breaker::default();
    let body = EffectBody::Spawn {
        endpoint: EndpointRef::Item,
        generation: session.generation,
        resume: session.conversation.is_some(),
        asked_by: asked_by.cloned(),
    };
    item.session = Some(session);
    let armed_at = command.or(item.sections.control.as_ref()).and_then(Control::at);
    item.baseline = Some(armed_at.unwrap_or(now));
    item.held_by_adoption = false;
    ending::revive_stopped(draft, reference);
    draft.effect(reference, Class::Ordinary, body);
}

/// Where the event itself goes once `reference` has a record: a pull request gets its own conversation.
fn match_of(draft: &Draft<'_>, reference: &WorkItemRef, subject: &Subject) -> Match {
    let owner = reference.clone();
    if subject.reference.key() == reference.key() {
        return Match { owner, endpoint: EndpointRef::Item, link: None };
    }
    let endpoint = match draft.policy.session_per_pr {
        true => EndpointRef::PullRequest(subject.reference.clone()),
        false => EndpointRef::Item,
    };
    let may_link = resolve::may_link(subject, reference, draft.policy, &draft.view.told);
    Match { owner, endpoint, link: may_link.then(|| subject.reference.clone()) }
}

/// Guard 10.
fn may_start(
    draft: &Draft<'_>,
    reference: &WorkItemRef,
    seed: &Seed<'_>,
    command: Option<&Control>,
) -> Result<(), DropReason> {
    let policy = draft.policy;
    if !is_open(draft.item(reference), seed.subject, reference) {
        return Err(DropReason::ItemClosed);
    }
    match policy.spawn {
        SpawnPolicy::Never => return Err(DropReason::SpawnPolicy),
        SpawnPolicy::Labeled if !carries_label(seed.subject, policy) => return Err(DropReason::SpawnPolicy),
        SpawnPolicy::Labeled | SpawnPolicy::Always => {}
    }
    let armed = command.is_some() || draft.item(reference).is_some_and(is_armed);
    let disarmed = command.is_none() && draft.item(reference).is_some_and(is_disarmed);
    if disarmed || (policy.require_start && !armed) {
        return Err(DropReason::AwaitingStart);
    }
    if seed.by_fact
        && !armed
        && !(policy.admits(seed.subject.author.as_ref()) && policy.admits(draft.event.sender.as_ref()))
    {
        return Err(DropReason::UnauthorizedActor);
    }
    Ok(())
}

/// Whether the item's last command arms it and nothing ended it since.
pub(super) fn is_armed(item: &Item) -> bool {
    item.sections.control.as_ref().is_some_and(|control| control.arms_after(item.sections.ended.as_ref()))
}

/// Whether somebody said stop or pause and nobody armed it since.
fn is_disarmed(item: &Item) -> bool {
    item.sections.control.as_ref().is_some_and(|control| !control.command.arms())
}

/// Open, by the newer of what is recorded and what the event shows; unknown counts as open.
pub(super) fn is_open(item: Option<&Item>, subject: &Subject, reference: &WorkItemRef) -> bool {
    let shown = (subject.reference.key() == reference.key()).then_some(subject);
    let recorded = item.and_then(|item| item.facts.open.map(|open| (item.facts.updated_at, open)));
    match (recorded, shown.and_then(|subject| subject.open.map(|open| (subject.updated_at, open)))) {
        (Some((recorded_at, recorded)), Some((shown_at, shown))) => match shown_at > recorded_at {
            true => shown,
            false => recorded && (shown || shown_at < recorded_at),
        },
        (Some((_, open)), None) | (None, Some((_, open))) => open,
        (None, None) => true,
    }
}

fn carries_label(subject: &Subject, policy: &Policy) -> bool {
    subject.labels.iter().any(|label| label.eq_ignore_ascii_case(&policy.label))
}

/// Ids, kind and spelling of `reference`, as the payload has them. The id of its repository is known from an event on any
/// item there.
pub(super) fn note_subject(draft: &mut Draft<'_>, reference: &WorkItemRef, subject: &Subject) {
    let repository = draft.event.repository.clone().filter(|repository| repository.id != 0);
    let item = draft.item_mut(reference);
    if let Some(repository) = repository.filter(|here| here.reference.is_same(reference.repo())) {
        item.facts.repository_id = Some(repository.id);
    }
    if item.reference.key() != subject.reference.key() {
        return;
    }
    item.reference = subject.reference.clone();
    item.facts.kind = Some(subject.kind);
    if let Some(id) = object_id(subject) {
        item.facts.item_id = Some(id);
    }
    if subject.head.is_some() {
        item.facts.head = subject.head.clone();
    }
}

/// GitHub's id of the object. Comments in a pull request's conversation show the id of its issue side, which is another.
fn object_id(subject: &Subject) -> Option<u64> {
    let own = subject.kind == SubjectKind::Issue || subject.head.is_some();
    (own && subject.id != 0).then_some(subject.id)
}

/// Ids that are still missing for an item with a row.
pub(super) fn note_ids(draft: &mut Draft<'_>, subject: &Subject) {
    let Some(item) = draft.item(&subject.reference) else { return };
    let repository = draft.event.repository.as_ref().map_or(0, |repository| repository.id);
    let lacks = (item.facts.item_id.is_none() && object_id(subject).is_some())
        || (item.facts.repository_id.is_none() && repository != 0);
    if lacks {
        note_subject(draft, &subject.reference, subject);
    }
}

/// That the item is open, when what starts it shows so and is newer than what is recorded.
fn note_open(draft: &mut Draft<'_>, reference: &WorkItemRef, subject: &Subject) {
    let facts = &mut draft.item_mut(reference).facts;
    if reference.key() == subject.reference.key() && subject.open == Some(true) && subject.updated_at > facts.updated_at
    {
        (facts.open, facts.updated_at) = (Some(true), subject.updated_at);
    }
}

/// Stores one delivery for a matched record: links the pull request, feeds the breaker, keeps the time.
pub(super) fn deliver(draft: &mut Draft<'_>, matched: &Match, identity: Option<&Identity>, message: Message) {
    if let Some(pull_request) = &matched.link {
        link(draft, &matched.owner, pull_request);
    }
    let endpoint = usable_endpoint(draft, matched);
    let now = draft.now;
    let author = message.author.as_ref().filter(|_| identity.is_some()).map(|author| author.to_ascii_lowercase());
    let (limit, minutes) = (draft.policy.breaker_deliveries, draft.policy.breaker_minutes);
    let session = match &endpoint {
        EndpointRef::Item => draft.item_mut(&matched.owner).session.as_mut(),
        EndpointRef::PullRequest(pull_request) => draft.endpoint_mut(&matched.owner, pull_request),
    };
    if let Some(session) = session {
        session.last_event_at = Some(now);
        if let Some(author) = author {
            let held = session.breaker.tripped;
            feed_breaker(&mut session.breaker, author.clone(), now, limit, minutes);
            if session.breaker.tripped && !held {
                let entry = LogEntry::warn(EventName::SessionBreakerTripped)
                    .with("endpoint", about_endpoint(&endpoint, matched));
                draft.log(
                    entry.with("login", author).with("deliveries", limit).with("minutes", minutes),
                    &matched.owner,
                );
            }
        }
    }
    let generation = generation(draft.item(&matched.owner));
    let (delivery, to) = (message.delivery.clone(), about_endpoint(&endpoint, matched));
    let body = EffectBody::Deliver { endpoint, identity: identity.cloned(), message: Box::new(message), generation };
    draft.effect(&matched.owner, Class::Ordinary, body);
    let entry = LogEntry::info(EventName::DispatchQueued).with("delivery", delivery.as_str());
    let entry = entry.with_some("firstPrompt", identity.is_none().then_some(true));
    draft.log(entry.with("endpoint", to), &matched.owner);
}

/// The generation of the item's record; 0 without one.
pub(super) fn generation(item: Option<&Item>) -> u64 {
    item.and_then(|item| item.session.as_ref()).map_or(0, |session| session.generation)
}

fn about_endpoint(endpoint: &EndpointRef, matched: &Match) -> String {
    match endpoint {
        EndpointRef::Item => matched.owner.to_string(),
        EndpointRef::PullRequest(pull_request) => pull_request.to_string(),
    }
}

/// A pull request's conversation when it is recorded and not over, and no other record has it; else the record's own.
/// Never none.
fn usable_endpoint(draft: &Draft<'_>, matched: &Match) -> EndpointRef {
    let EndpointRef::PullRequest(pull_request) = &matched.endpoint else { return EndpointRef::Item };
    let endpoint = draft.known(&matched.owner).and_then(|known| known.endpoint(pull_request));
    match endpoint.map(|endpoint| &endpoint.state) {
        None | Some(SessionState::Closing(_) | SessionState::Closed { .. }) => EndpointRef::Item,
        Some(_) if rival(draft, &matched.owner, pull_request).is_some() => EndpointRef::Item,
        Some(_) => matched.endpoint.clone(),
    }
}

/// The live record that has the pull request's conversation, when it is another than `owner`: the one where it runs,
/// else the one that listed it first.
fn rival(draft: &Draft<'_>, owner: &WorkItemRef, pull_request: &WorkItemRef) -> Option<WorkItemRef> {
    let claims = draft.listing(pull_request).into_iter().filter_map(|listing| {
        let known = draft.known(&listing)?;
        known.item.live_session()?;
        let endpoint = known.endpoint(pull_request)?;
        let runs = match endpoint.state {
            SessionState::Live(_) | SessionState::Starting | SessionState::Paused(_) => 0,
            SessionState::Recorded => 1,
            SessionState::Closing(_) | SessionState::Closed { .. } => return None,
        };
        Some((runs, endpoint.created_at, listing))
    });
    claims.min().map(|(_, _, first)| first).filter(|first| first.key() != owner.key())
}

/// Records a pull request on a record. Already listed: no write, no event. An item is never its own pull request.
pub(super) fn link(draft: &mut Draft<'_>, owner: &WorkItemRef, pull_request: &WorkItemRef) {
    let listed = draft.known(owner).is_some_and(|known| known.endpoint(pull_request).is_some());
    if listed || owner.key() == pull_request.key() {
        return;
    }
    let listing = draft.view.owners.get(&pull_request.key());
    if listing.is_some_and(|owners| owners.contains(&owner.key())) {
        // Its entry is there and cannot be read: it is kept as it is, and the record's conversation hears its events.
        let entry = LogEntry::warn(EventName::SessionLinkFailed).with("pullRequest", pull_request.to_string());
        return draft.log(entry.with("reason", "its entry cannot be read"), owner);
    }
    let mut endpoint: Session = draft.new_session(owner, pull_request);
    if is_closed(draft, pull_request) {
        // Heard of only after its end: a late event goes to the record, and reopening gives it its conversation.
        endpoint.state = SessionState::Closed { at: draft.now, reason: EndReason::Closed };
    }
    draft.add_endpoint(owner, endpoint);
    draft.log(LogEntry::info(EventName::SessionPrLinked).with("pullRequest", pull_request.to_string()), owner);
    if let Some(first) = rival(draft, owner, pull_request) {
        let entry = LogEntry::warn(EventName::SessionLinkFailed).with("pullRequest", pull_request.to_string());
        draft.log(entry.with("reason", "its conversation is another record's").with("with", first.to_string()), owner);
    }
    let event = draft.event;
    if let Some(subject) = resolve::subject(event).filter(|subject| subject.reference.key() == pull_request.key()) {
        speech::record_head(draft, subject);
    }
}

/// Whether the newer of what is recorded and what the event shows says that a pull request is closed.
fn is_closed(draft: &Draft<'_>, pull_request: &WorkItemRef) -> bool {
    let item = draft.item(pull_request);
    match resolve::subject(draft.event).filter(|subject| subject.reference.key() == pull_request.key()) {
        Some(subject) => !is_open(item, subject, pull_request),
        None => item.is_some_and(|item| item.facts.open == Some(false)),
    }
}

/// Counts comments of one login in a row; the configured number within the window trips it.
fn feed_breaker(breaker: &mut Breaker, login: String, now: Time, limit: u32, minutes: u32) {
    if limit == 0 {
        *breaker = Breaker::default();
        return;
    }
    if breaker.login.as_ref() != Some(&login) {
        *breaker = Breaker { login: Some(login), tripped: breaker.tripped, times: Vec::new() };
    }
    let since = now.plus_seconds(-60 * i64::from(minutes));
    breaker.times.retain(|at| *at > since);
    breaker.tripped |= breaker.times.len() >= limit as usize;
    // What a tripped one hears further changes nothing, so it is not kept.
    if !breaker.tripped {
        breaker.times.push(now);
    }
}
