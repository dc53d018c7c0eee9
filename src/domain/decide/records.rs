//! Records: starting one, linking pull requests to it, and storing deliveries for its conversations.

use super::draft::Draft;
use super::resolve::Match;
use super::{DropReason, messages, speech};
use crate::domain::effect::{Class, EffectBody, EndpointRef};
use crate::domain::event::{Identity, Subject};
use crate::domain::item::Item;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::message::Message;
use crate::domain::policy::{Policy, SpawnPolicy};
use crate::domain::portable::Control;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{Breaker, Session, SessionState};
use crate::domain::time::Time;

/// What a new record is made from.
pub(super) struct Seed<'s> {
    /// The issue or pull request the event shows.
    pub(super) subject: &'s Subject,
    /// Whether a fact asks, which nobody in particular said.
    pub(super) by_fact: bool,
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
    note_subject(draft.item_mut(reference), seed.subject);
    begin(draft, reference, command);
    let message = messages::first_prompt(draft.event, seed.subject, reference);
    let own = Match { owner: reference.clone(), endpoint: EndpointRef::Item, link: None };
    deliver(draft, &own, None, message);
    match_of(draft, reference, seed.subject)
}

/// The session of `reference` begins a new life: a generation of its own, and a spawn in its lane.
fn begin(draft: &mut Draft<'_>, reference: &WorkItemRef, command: Option<&Control>) {
    let (now, fresh) = (draft.now, draft.new_session(reference, reference));
    let item = draft.item_mut(reference);
    let session = item.session.get_or_insert(fresh);
    session.state = SessionState::Starting;
    session.generation += 1;
    session.failed_spawns = 0;
    session.breaker = Breaker::default();
    let body = EffectBody::Spawn {
        endpoint: EndpointRef::Item,
        generation: session.generation,
        resume: session.conversation.is_some(),
    };
    let armed_at = command.or(item.sections.control.as_ref()).and_then(Control::at);
    item.baseline = Some(armed_at.unwrap_or(now));
    item.held_by_adoption = false;
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
    let admitted = draft.policy.admits(subject.author.as_ref());
    Match { owner, endpoint, link: admitted.then(|| subject.reference.clone()) }
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

/// Ids, kind and spelling of an item, as the payload has them.
pub(super) fn note_subject(item: &mut Item, subject: &Subject) {
    if item.reference.key() != subject.reference.key() {
        return;
    }
    item.reference = subject.reference.clone();
    item.facts.kind = Some(subject.kind);
    if subject.id != 0 {
        item.facts.item_id = Some(subject.id);
    }
    if subject.head.is_some() {
        item.facts.head = subject.head.clone();
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
            feed_breaker(&mut session.breaker, author, now, limit, minutes);
        }
    }
    let generation = generation(draft.item(&matched.owner));
    let (delivery, about) = (message.delivery.clone(), message.about.clone());
    let body = EffectBody::Deliver { endpoint, identity: identity.cloned(), message: Box::new(message), generation };
    draft.effect(&matched.owner, Class::Ordinary, body);
    let entry = LogEntry::info(EventName::DispatchQueued).with("delivery", delivery.as_str());
    let entry = entry.with_some("firstPrompt", identity.is_none().then_some(true));
    draft.log(entry.with("endpoint", about.to_string()), &matched.owner);
}

/// The generation of the item's record; 0 without one.
pub(super) fn generation(item: Option<&Item>) -> u64 {
    item.and_then(|item| item.session.as_ref()).map_or(0, |session| session.generation)
}

/// A pull request's conversation when it is recorded and not over; else the record's own. Never none.
fn usable_endpoint(draft: &Draft<'_>, matched: &Match) -> EndpointRef {
    let EndpointRef::PullRequest(pull_request) = &matched.endpoint else { return EndpointRef::Item };
    let endpoint = draft.known(&matched.owner).and_then(|known| known.endpoint(pull_request));
    match endpoint.map(|endpoint| &endpoint.state) {
        None | Some(SessionState::Closing(_) | SessionState::Closed { .. }) => EndpointRef::Item,
        Some(_) => matched.endpoint.clone(),
    }
}

/// Records a pull request on a record. Already listed: no write, no event. An item is never its own pull request.
pub(super) fn link(draft: &mut Draft<'_>, owner: &WorkItemRef, pull_request: &WorkItemRef) {
    let listed = draft.known(owner).is_some_and(|known| known.endpoint(pull_request).is_some());
    if listed || owner.key() == pull_request.key() {
        return;
    }
    let endpoint: Session = draft.new_session(owner, pull_request);
    draft.add_endpoint(owner, endpoint);
    draft.log(LogEntry::info(EventName::SessionPrLinked).with("pullRequest", pull_request.to_string()), owner);
    let event = draft.event;
    if let Some(subject) =
        super::resolve::subject(event).filter(|subject| subject.reference.key() == pull_request.key())
    {
        speech::record_head(draft, subject);
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
    breaker.times.push(now);
    breaker.tripped |= breaker.times.len() > limit as usize;
}
