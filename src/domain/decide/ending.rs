//! Endings: of sessions, of items, of a pull request's conversation.

use super::Urgency;
use super::draft::Draft;
use crate::domain::effect::{Class, EffectBody, EndpointRef};
use crate::domain::log::{EventName, LogEntry};
use crate::domain::portable::{Control, Ended};
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{EndReason, Session, SessionState};
use crate::domain::time::Time;

/// Ends the record's own conversation and all its pull requests'. A spawn in flight ends itself by its generation.
pub(super) fn end_sessions(draft: &mut Draft<'_>, owner: &WorkItemRef, reason: EndReason) {
    end_sessions_and(draft, owner, reason, None);
}

/// The same, with a person's word whether the panes stay.
pub(super) fn end_sessions_and(draft: &mut Draft<'_>, owner: &WorkItemRef, reason: EndReason, keep_pane: Option<bool>) {
    let Some(known) = draft.known(owner).cloned() else { return };
    let now = draft.now;
    // A pull request whose record is closed is not closed by that: a later start gives it its conversation back.
    let of_pull_requests = if reason == EndReason::Reset { reason } else { EndReason::Stopped };
    for endpoint in &known.endpoints {
        if let Some(body) = draft.endpoint_mut(owner, &endpoint.reference).and_then(|session| {
            end(session, EndpointRef::PullRequest(endpoint.reference.clone()), of_pull_requests, keep_pane, now)
        }) {
            draft.effect(owner, Class::Overtaking, body);
        }
    }
    if !known.item.session.as_ref().is_some_and(is_over_not_yet) {
        return;
    }
    let session = draft.item_mut(owner).session.as_mut();
    if let Some(body) = session.and_then(|session| end(session, EndpointRef::Item, reason, keep_pane, now)) {
        draft.effect(owner, Class::Overtaking, body);
    }
    if reason == EndReason::Stopped {
        pause_run(draft, owner);
    }
    let by_a_person = matches!(reason, EndReason::Stopped | EndReason::Reset);
    let event = if by_a_person { EventName::SessionClosed } else { EventName::SessionAutoclosed };
    draft.log(LogEntry::info(event).with("reason", reason.as_str()), owner);
}

/// What the agent was at is put aside with the item, behind the end of its agent: an early stop is no completion. Only a
/// session that has a directory can have a run there.
pub(super) fn pause_run(draft: &mut Draft<'_>, owner: &WorkItemRef) {
    let session = draft.item(owner).and_then(|item| item.session.as_ref());
    if session.is_some_and(|session| session.cwd.is_some()) {
        draft.effect(owner, Class::Overtaking, EffectBody::PauseRun);
    }
}

/// Whether the conversation can still be ended.
pub(super) fn is_over_not_yet(session: &Session) -> bool {
    !matches!(session.state, SessionState::Closed { .. } | SessionState::Closing(_))
}

/// Ends one conversation: the effect that does it, when there is a life to end.
fn end(
    session: &mut Session,
    endpoint: EndpointRef,
    reason: EndReason,
    keep_pane: Option<bool>,
    now: Time,
) -> Option<EffectBody> {
    if !is_over_not_yet(session) {
        return None;
    }
    session.generation += 1;
    let life = session.life().cloned();
    session.state = match &life {
        Some(_) => SessionState::Closing(reason),
        None => SessionState::Closed { at: now, reason },
    };
    life.map(|life| EffectBody::End { endpoint, life: Some(life), reason, keep_pane })
}

/// Ends the record's own conversation because another takes its place; those of its pull requests go on.
pub(super) fn end_own(draft: &mut Draft<'_>, owner: &WorkItemRef) {
    let now = draft.now;
    let session = draft.item_mut(owner).session.as_mut();
    if let Some(body) = session.and_then(|session| end(session, EndpointRef::Item, EndReason::Stopped, None, now)) {
        draft.effect(owner, Class::Overtaking, body);
    }
}

/// Everything of the record on this machine ends and is forgotten once it has; what had ended before is forgotten too.
pub(super) fn reset_sessions(draft: &mut Draft<'_>, owner: &WorkItemRef) {
    end_sessions(draft, owner, EndReason::Reset);
    let endpoints = draft.known(owner).map(|known| known.endpoints.clone()).unwrap_or_default();
    for endpoint in endpoints {
        if let Some(session) = draft.endpoint_mut(owner, &endpoint.reference) {
            ended_by_reset(session);
        }
    }
    if let Some(session) = &mut draft.item_mut(owner).session {
        ended_by_reset(session);
    }
}

fn ended_by_reset(session: &mut Session) {
    match &mut session.state {
        SessionState::Closing(reason) | SessionState::Closed { reason, .. } => *reason = EndReason::Reset,
        _ => {}
    }
}

/// The item is over: sessions end, `control` is cleared, the ending is dated, `poll` stays.
///
/// `at` is when GitHub says it happened. Items nobody knows get no portable file from their end.
pub(super) fn end_item(draft: &mut Draft<'_>, item: &WorkItemRef, at: Time, reason: EndReason) {
    end_sessions(draft, item, reason);
    tidy(draft, item);
    let known = draft.item(item).is_some_and(|item| item.session.is_some() || item.sections.control.is_some());
    if known {
        date_the_end(draft, item, at, reason);
        draft.mark(item, Urgency::Now);
    }
}

/// What it worked in goes, when that can go: behind everything that still ends or waits in its lane, whatever ended its
/// session before.
pub(super) fn tidy(draft: &mut Draft<'_>, item: &WorkItemRef) {
    let session = draft.item(item).and_then(|item| item.session.as_ref());
    if let Some(generation) = session.filter(|_| draft.policy.tidies_checkouts).map(|session| session.generation) {
        draft.effect(item, Class::Ordinary, EffectBody::Tidy { generation });
    }
}

/// Clears the command and dates the ending; the later of two endings stays.
pub(super) fn date_the_end(draft: &mut Draft<'_>, item: &WorkItemRef, at: Time, reason: EndReason) {
    let sections = &mut draft.item_mut(item).sections;
    let requested = sections.control.as_ref().and_then(Control::at);
    // Dated not before the command it clears, so that no copy of the command outlives it.
    let at = at.whole_seconds().max(requested.unwrap_or(at.whole_seconds()));
    sections.control = None;
    let ended = Ended { at, reason: reason.as_str().to_owned() };
    if sections.ended.as_ref().is_none_or(|earlier| (earlier.at, &earlier.reason) < (ended.at, &ended.reason)) {
        sections.ended = Some(ended);
    }
}

/// A pull request closed: its conversation ends on every record that lists it, and the records live on.
pub(super) fn close_endpoint(draft: &mut Draft<'_>, pull_request: &WorkItemRef, reason: EndReason) -> bool {
    let owners = draft.view.owners.get(&pull_request.key()).cloned().unwrap_or_default();
    let now = draft.now;
    let mut closed = false;
    for owner in owners {
        let Some(owner) = draft.view.items.get(&owner).map(|known| known.item.reference.clone()) else { continue };
        let open = draft.known(&owner).and_then(|known| known.endpoint(pull_request)).is_some_and(is_over_not_yet);
        if !open {
            over_for_good(draft, &owner, pull_request, reason);
            continue;
        }
        let endpoint = EndpointRef::PullRequest(pull_request.clone());
        let session = draft.endpoint_mut(&owner, pull_request);
        if let Some(body) = session.and_then(|session| end(session, endpoint, reason, None, now)) {
            draft.effect(&owner, Class::Overtaking, body);
        }
        let entry = |name| LogEntry::info(name).with("pullRequest", pull_request.to_string());
        draft.log(entry(EventName::SessionPrClosed).with("reason", reason.as_str()), &owner);
        draft.log(entry(EventName::SessionKeptOpen), &owner);
        closed = true;
    }
    closed
}

/// A conversation that was stopped with its record stays over when the record begins again: its pull request is closed.
fn over_for_good(draft: &mut Draft<'_>, owner: &WorkItemRef, pull_request: &WorkItemRef, reason: EndReason) {
    let stopped = |session: &Session| match session.state {
        SessionState::Closing(reason) | SessionState::Closed { reason, .. } => reason == EndReason::Stopped,
        _ => false,
    };
    if draft.known(owner).and_then(|known| known.endpoint(pull_request)).is_some_and(stopped)
        && let Some(session) = draft.endpoint_mut(owner, pull_request)
    {
        match &mut session.state {
            SessionState::Closing(why) | SessionState::Closed { reason: why, .. } => *why = reason,
            _ => {}
        }
    }
}

/// The record begins again after a stop: conversations of pull requests that are still open can be spawned again.
pub(super) fn revive_stopped(draft: &mut Draft<'_>, owner: &WorkItemRef) {
    let endpoints = draft.known(owner).map(|known| known.endpoints.clone()).unwrap_or_default();
    for endpoint in endpoints {
        let stopped = matches!(
            endpoint.state,
            SessionState::Closing(EndReason::Stopped) | SessionState::Closed { reason: EndReason::Stopped, .. }
        );
        if stopped && let Some(session) = draft.endpoint_mut(owner, &endpoint.reference) {
            recorded_again(session);
        }
    }
}

fn recorded_again(session: &mut Session) {
    if session.was_reset() {
        (session.conversation, session.introduced, session.cwd) = (None, false, None);
    }
    session.generation += 1;
    session.failed_spawns = 0;
    session.state = SessionState::Recorded;
}

/// A pull request reopened: its conversation can be spawned again, by the next thing that speaks to it.
pub(super) fn revive_endpoint(draft: &mut Draft<'_>, pull_request: &WorkItemRef) -> bool {
    let mut revived = false;
    for owner in draft.view.live_owners(pull_request) {
        let Some(endpoint) = draft.known(&owner).and_then(|known| known.endpoint(pull_request)) else { continue };
        if is_over_not_yet(endpoint) {
            continue;
        }
        if let Some(session) = draft.endpoint_mut(&owner, pull_request) {
            recorded_again(session);
            revived = true;
        }
    }
    revived
}
