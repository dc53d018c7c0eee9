//! Questions about sessions and lanes, answered from one read transaction.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::request::{Look, PollState, Response, SessionDetail, SessionRow, Status};
use super::{by_hand, dispatch};
use crate::domain::item::Item;
use crate::domain::polling::Progress;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{Session, SessionState};
use crate::domain::time::Time;
use crate::store::{PolledView as _, StoreError, View};

/// Answers a question.
///
/// # Errors
/// What the store says.
pub fn answer(tx: &impl View, look: &Look, now: Time) -> Result<Response, StoreError> {
    match look {
        Look::Status => status(tx, now),
        Look::Sessions => sessions(tx),
        Look::Session(reference) => session(tx, reference),
        Look::Reset(scope) => {
            let rows = by_hand::to_reset(tx, scope)?;
            Ok(Response::Reset(rows.into_iter().map(|row| row.report).collect()))
        }
        Look::Dispatch => dispatch::list(tx),
        Look::Effect(id) => dispatch::show(tx, id),
    }
}

/// Numbers about the whole store.
fn status(tx: &impl View, now: Time) -> Result<Response, StoreError> {
    let lanes = tx.lanes()?;
    let mut oldest: Option<Time> = None;
    for (lane, _) in &lanes {
        let first = tx.lane(lane, 1)?.into_iter().next().map(|effect| effect.created_at);
        oldest = [oldest, first].into_iter().flatten().min();
    }
    let (mut sessions, mut held) = (0, 0);
    tx.for_each_item(&mut |item| {
        if let Some((item, session)) = item.as_ref().ok().and_then(|item| Some((item, item.live_session()?))) {
            sessions += 1;
            held += usize::from(item.held_by_adoption || session.breaker.tripped);
        }
        ControlFlow::Continue(())
    })?;
    let (mut tells, mut first_tell) = (0, None);
    tx.for_each_telling(&mut |telling| {
        tells += 1;
        first_tell = first_tell.or(Some(telling.decided_at));
        ControlFlow::Continue(())
    })?;
    let age = |at: Time| (now.as_millis() - at.as_millis()).max(0) / 1000;
    Ok(Response::Status(Status {
        sessions,
        held,
        waiting: lanes.iter().map(|(_, count)| count).sum(),
        lanes: lanes.len(),
        oldest_waiting_seconds: oldest.map(age),
        claimed: tx.claims()?.len(),
        dead_letters: tx.dead_letters()?.len(),
        undecidable: tx.undecidables()?.len(),
        marks: tx.marks()?.len(),
        undecided: tx.waiting()?.len(),
        polling: tx.polls()?.into_iter().map(|(repository, progress)| poll_state(repository, &progress, now)).collect(),
        tells,
        oldest_tell_seconds: first_tell.map(age),
    }))
}

/// How far a repository was polled.
fn poll_state(repository: String, progress: &Progress, now: Time) -> PollState {
    let last = progress.pause.last.as_ref();
    PollState {
        repository,
        cycled_at: progress.cycled_at.map(|at| at.to_string()),
        requests: progress.requests,
        unchanged: progress.unchanged,
        paused_until: progress.pause.holds(now).map(|until| until.to_string()),
        is_limited: last.is_some_and(|last| last.is_limit),
        trouble: last.map(|last| last.what.clone()),
        hint: last.and_then(|last| last.hint.clone()),
        failing_items: progress.again.len(),
        clock_offset_seconds: progress.offset,
    }
}

/// All sessions, pull requests under their work item. One malformed row is left out and does not hide the others.
fn sessions(tx: &impl View) -> Result<Response, StoreError> {
    let mut items = Vec::new();
    tx.for_each_item(&mut |item| {
        items.extend(item.ok().filter(|item| item.session.is_some()));
        ControlFlow::Continue(())
    })?;
    let mut rows = Vec::new();
    for item in &items {
        rows.extend(rows_of(tx, item)?);
    }
    Ok(Response::Sessions(rows))
}

/// One session with everything known.
fn session(tx: &impl View, reference: &WorkItemRef) -> Result<Response, StoreError> {
    let key = reference.key();
    let Some(item) = tx.item(&key)? else { return Ok(Response::Session(None)) };
    let endpoints = tx.endpoints(&key)?;
    let mut rows = rows_of(tx, &item)?;
    if rows.is_empty() {
        return Ok(Response::Session(None));
    }
    let row = rows.remove(0);
    let waiting = tx.lane_count(&key)?;
    let life = item.session.as_ref().and_then(Session::in_terminal);
    Ok(Response::Session(Some(Box::new(SessionDetail {
        session: record(&item, &endpoints),
        pull_requests: rows,
        armed: item.sections.control.as_ref().is_some_and(|c| c.arms_after(item.sections.ended.as_ref())),
        ended: item.sections.ended.as_ref().map(|ended| format!("{} at {}", ended.reason, ended.at)),
        waiting,
        doing: tx.claim(&key)?.map(|claim| format!("{} effect(s) since {}", claim.members.len(), claim.at)),
        pane: life.map(|life| life.pane.clone()),
        socket: life.map(|life| life.socket.clone()),
        directory: item.session.as_ref().and_then(|session| Some(session.cwd.as_ref()?.display().to_string())),
        row,
    }))))
}

fn rows_of(tx: &impl View, item: &Item) -> Result<Vec<SessionRow>, StoreError> {
    let Some(session) = &item.session else { return Ok(Vec::new()) };
    let mut own = row(session);
    own.control = item.sections.control.as_ref().map(|control| control.command.as_str().to_owned());
    let is_idle = tx.lane_count(&item.reference.key())? == 0;
    if item.held_by_adoption && session.is_live() {
        own.status = "held".into();
    } else {
        say_registered(&mut own, session, is_idle);
    }
    let mut rows = vec![own];
    for endpoint in tx.endpoints(&item.reference.key())? {
        let mut row = SessionRow { is_pull_request: true, ..row(&endpoint) };
        say_registered(&mut row, &endpoint, is_idle);
        rows.push(row);
    }
    Ok(rows)
}

/// Nothing is under way that would start it: the first thing said to it does.
fn say_registered(row: &mut SessionRow, session: &Session, is_idle: bool) {
    if session.state == SessionState::Starting && is_idle {
        row.status = "registered".into();
    }
}

fn row(session: &Session) -> SessionRow {
    let held = session.breaker.tripped && session.is_live();
    SessionRow {
        work_item: session.reference.to_string(),
        is_pull_request: false,
        harness: session.harness.clone(),
        session_id: session.conversation.as_ref().map(|id| id.as_str().to_owned()),
        tmux: session.in_terminal().map(|life| life.session.clone()),
        status: if held { "held" } else { state_word(&session.state) }.to_owned(),
        control: None,
        last_event: session.last_event_at.map(|at| at.to_string()),
    }
}

/// The word for a state in lists.
pub(super) const fn state_word(state: &SessionState) -> &'static str {
    match state {
        SessionState::Recorded => "recorded",
        SessionState::Starting => "starting",
        SessionState::Live(_) => "live",
        SessionState::Paused(_) => "paused",
        SessionState::Closing(_) => "closing",
        SessionState::Closed { .. } => "closed",
    }
}

/// A record in the earlier system's shape, pull requests one level deep.
fn record(item: &Item, endpoints: &[Session]) -> Value {
    let mut record = item.session.as_ref().map_or(Value::Null, entry);
    if let Value::Object(fields) = &mut record
        && !endpoints.is_empty()
    {
        fields.insert("pullRequests".into(), endpoints.iter().map(entry).collect());
    }
    record
}

fn entry(session: &Session) -> Value {
    let status = match &session.state {
        SessionState::Paused(_) => "paused",
        SessionState::Closing(_) | SessionState::Closed { .. } => "closed",
        _ => "active",
    };
    let repo = session.reference.repo();
    // Whoever reads such records needs each of these as text; what is not known is empty there.
    json!({
        "workItem": {
            "ref": session.reference.to_string(),
            "provider": repo.provider(),
            "owner": repo.owner(),
            "repo": repo.name(),
            "number": session.reference.number(),
        },
        "harness": session.harness,
        "harnessSessionId": session.conversation.as_ref().map_or("", |id| id.as_str()),
        "cwd": session.cwd.as_ref().map_or_else(String::new, |cwd| cwd.display().to_string()),
        "status": status,
        "createdAt": session.created_at.to_string(),
        "lastEventAt": session.last_event_at.map(|at| at.to_string()),
        "tmuxTarget": session.in_terminal().map_or("", |life| life.session.as_str()),
        "recentDeliveries": [],
        "url": (repo.provider() == "github").then(|| session.reference.url()),
    })
}
