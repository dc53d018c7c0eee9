//! The next step of a lane: each effect is checked again just before it acts.

use super::{ENDPOINT_SPAWN_TRIES, HELD_BY_BREAKER, LaneView, MAX_BATCH, MAX_BATCH_BYTES, Next, Work};
use crate::domain::effect::{Class, Effect, EffectBody, EndpointRef, Place};
use crate::domain::item::Item;
use crate::domain::message::Message;
use crate::domain::reference::RefKey;
use crate::domain::session::{EndReason, Life, Session, SessionState};
use crate::domain::time::Time;

/// Where a delivery goes now.
enum Target<'v> {
    /// To this conversation, which runs.
    Live(EndpointRef, &'v Session, Life),
    /// To this one, once it runs.
    Spawn(EndpointRef),
    /// Nowhere: the record ended since.
    Ended,
    /// Nowhere: the record could not be started.
    Unstartable,
}

/// Decides the next step. Ends come first and are never held; everything else waits while the record is held.
pub fn next(view: &LaneView, now: Time) -> Next {
    let Some(first) = view.effects.first() else { return idle(view) };
    if first.place.class != Class::Overtaking
        && let Some(why) = held(&view.item)
    {
        return Next::Wait { until: None, why };
    }
    for effect in &view.effects {
        // What is to be tried again later holds up nobody who begins anew.
        if let EffectBody::Tidy { generation } = &effect.body
            && let dropped @ Next::Drop { .. } = tidy(view, effect, *generation)
        {
            return dropped;
        }
        if let Some(until) = effect.not_before.filter(|until| *until > now) {
            return Next::Wait { until: Some(until), why: "retry" };
        }
        match &effect.body {
            EffectBody::End { endpoint, life, .. } => return end(view, effect, endpoint, life.as_ref()),
            EffectBody::Spawn { endpoint, generation, resume, .. } => {
                return spawn(view, effect, endpoint, *generation, *resume);
            }
            EffectBody::Tidy { generation } => return tidy(view, effect, *generation),
            EffectBody::PauseRun => return pause_run(view, effect),
            EffectBody::Deliver { endpoint, generation, .. } => match target(view, endpoint, *generation) {
                Target::Live(_, session, _) if session.breaker.tripped => {}
                Target::Live(endpoint, session, life) => return deliver(view, effect, endpoint, session, life, now),
                Target::Spawn(endpoint) => return Next::Prepare { endpoint },
                Target::Ended => return Next::Drop { places: vec![effect.place], reason: "session-ended" },
                Target::Unstartable => return bury(effect),
            },
        }
    }
    Next::Wait { until: None, why: HELD_BY_BREAKER }
}

/// Whether the next step of a lane follows from its item and its first effect alone, whatever stands behind it.
pub fn is_decided_by(item: &Item, first: &Effect, now: Time) -> bool {
    let waits = first.not_before.is_some_and(|until| until > now);
    waits || is_held(item) || !matches!(first.body, EffectBody::Deliver { .. })
}

/// Whether everything but ends waits in the lane of `item`.
pub fn is_held(item: &Item) -> bool {
    held(item).is_some()
}

/// Why the whole lane is held, if it is.
fn held(item: &Item) -> Option<&'static str> {
    if item.session.as_ref().is_some_and(Session::is_paused) {
        return Some("paused");
    }
    item.held_by_adoption.then_some("disarmed-elsewhere")
}

/// With nothing left to end, what a reset ended is forgotten: until then its rows say what there is to end.
fn idle(view: &LaneView) -> Next {
    let record = view.item.session.as_ref().is_some_and(Session::was_reset);
    let gone = view.endpoints.iter().filter(|endpoint| endpoint.was_reset());
    let pull_requests: Vec<RefKey> = gone.map(|endpoint| endpoint.reference.key()).collect();
    match record || !pull_requests.is_empty() {
        true => Next::Forget { record, pull_requests },
        false => Next::Idle,
    }
}

fn end(view: &LaneView, effect: &Effect, endpoint: &EndpointRef, life: Option<&Life>) -> Next {
    match (view.session(endpoint), life, &effect.body) {
        (Some(session), Some(life), EffectBody::End { reason, keep_pane, .. }) => Next::Do(Work::End {
            place: effect.place,
            endpoint: endpoint.clone(),
            session: Box::new(session.clone()),
            life: life.clone(),
            reason: *reason,
            keep_pane: *keep_pane,
        }),
        _ => Next::Drop { places: vec![effect.place], reason: "nothing-to-end" },
    }
}

fn spawn(view: &LaneView, effect: &Effect, endpoint: &EndpointRef, generation: u64, resume: bool) -> Next {
    let record_lives = view.item.live_session().is_some();
    match view.session(endpoint) {
        Some(session)
            if record_lives && session.generation == generation && session.state == SessionState::Starting =>
        {
            Next::Do(Work::Spawn {
                place: effect.place,
                endpoint: endpoint.clone(),
                session: Box::new(session.clone()),
                // A conversation that could not be resumed is tried fresh.
                resume: resume && effect.attempts == 0,
            })
        }
        _ => Next::Drop { places: vec![effect.place], reason: "no-longer-wanted" },
    }
}

/// A checkout goes when nobody works in it any more, and nobody was told to again.
fn tidy(view: &LaneView, effect: &Effect, generation: u64) -> Next {
    let drop = |reason| Next::Drop { places: vec![effect.place], reason };
    let is_over = |session: &Session| matches!(session.state, SessionState::Closed { .. } | SessionState::Recorded);
    match view.item.session.as_ref().filter(|session| session.generation == generation && !session.is_live()) {
        None => drop("no-longer-wanted"),
        Some(session) if is_over(session) && view.endpoints.iter().all(is_over) => {
            Next::Do(Work::Tidy { place: effect.place, session: Box::new(session.clone()) })
        }
        Some(_) => drop("not-ended"),
    }
}

/// A run is put aside while its item is held or over; whoever began again since goes on.
fn pause_run(view: &LaneView, effect: &Effect) -> Next {
    match view.item.session.as_ref().filter(|session| session.is_paused() || !session.is_live()) {
        Some(session) => Next::Do(Work::PauseRun { place: effect.place, session: Box::new(session.clone()) }),
        None => Next::Drop { places: vec![effect.place], reason: "no-longer-wanted" },
    }
}

fn bury(effect: &Effect) -> Next {
    Next::Bury { place: effect.place, detail: "its session could not be started".into() }
}

fn target<'v>(view: &'v LaneView, endpoint: &EndpointRef, generation: u64) -> Target<'v> {
    let Some(record) = &view.item.session else { return Target::Ended };
    if matches!(record.state, SessionState::Closed { reason: EndReason::SpawnFailed, .. }) {
        return Target::Unstartable;
    }
    if record.generation != generation || !record.is_live() {
        return Target::Ended;
    }
    if let EndpointRef::PullRequest(reference) = endpoint
        && let Some(session) = view.endpoint(reference)
    {
        match &session.state {
            SessionState::Live(life) => return Target::Live(endpoint.clone(), session, life.clone()),
            SessionState::Recorded | SessionState::Starting if session.failed_spawns < ENDPOINT_SPAWN_TRIES => {
                return Target::Spawn(endpoint.clone());
            }
            _ => {}
        }
    }
    match &record.state {
        SessionState::Live(life) => Target::Live(EndpointRef::Item, record, life.clone()),
        _ => Target::Spawn(EndpointRef::Item),
    }
}

/// The first delivery with all that wait right behind it for the same conversation.
fn deliver(view: &LaneView, first: &Effect, endpoint: EndpointRef, session: &Session, life: Life, now: Time) -> Next {
    let waiting = view.effects.iter().skip_while(|effect| effect.place != first.place);
    let mut members: Vec<Place> = Vec::new();
    let mut messages: Vec<Message> = Vec::new();
    let (mut bytes, mut held) = (0, 0);
    for effect in waiting.take(MAX_BATCH) {
        let EffectBody::Deliver { endpoint: wanted, message, generation, .. } = &effect.body else { break };
        let same = matches!(target(view, wanted, *generation), Target::Live(to, ..) if to == endpoint);
        let ready = effect.not_before.is_none_or(|until| until <= now);
        bytes += message.text.len();
        if !same || !ready || (bytes > MAX_BATCH_BYTES && !members.is_empty()) {
            break;
        }
        held += usize::from(session.resumed_at.is_some_and(|resumed| effect.created_at <= resumed));
        members.push(effect.place);
        messages.push(message.as_ref().clone());
    }
    Next::Do(Work::Deliver { members, endpoint, session: Box::new(session.clone()), life, messages, held })
}
