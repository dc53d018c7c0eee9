//! What `doctor` finds in the store and between the store and tmux; the rest of the world is looked at by its caller.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::domain::effect::DeadReason;
use crate::domain::entry::EntryId;
use crate::domain::findings::Finding;
use crate::domain::item::Item;
use crate::domain::ports::{Pane, RunnerError};
use crate::domain::reference::RefKey;
use crate::domain::session::{Session, SessionState};
use crate::domain::time::Time;
use crate::store::{self, StoreError, View};

/// What to do about whatever a person has to decide.
const LETTER: &str = "`the-loop dispatch list` shows what can be tried again or dropped";
/// A lane that waited longer than this is worth a word, seconds.
const LONG_WAIT: i64 = 3600;

/// The store: whether its tables fit together, what was given up, what waits too long.
pub fn store(tx: &impl View, now: Time) -> Result<Vec<Finding>, StoreError> {
    let mut findings = Vec::new();
    let inconsistencies = store::check(tx)?;
    for inconsistency in &inconsistencies {
        findings.push(Finding::error("store", inconsistency.to_string()).because("tables do not fit together"));
    }
    if inconsistencies.is_empty() {
        findings.push(Finding::ok("store", "its tables fit together"));
    }
    for (_, letter) in tx.dead_letters()? {
        let what = format!(
            "`{}`, {} for {}, was given up at {}: {}",
            EntryId::Effect(letter.effect.place.seq),
            letter.effect.body.verb(),
            letter.effect.lane,
            letter.at,
            letter.detail
        );
        let why = match letter.reason {
            DeadReason::RetriesExhausted => "it was not done",
            DeadReason::Unknown => "nobody knows whether it was done",
        };
        findings.push(Finding::warning("store", what).because(why).todo(LETTER));
    }
    for event in tx.undecidables()? {
        let what = format!("delivery {} ({}) could not be decided: {}", event.delivery, event.name, event.error);
        let why = "a bug kept it from being decided; it is kept whole";
        findings.push(Finding::error("store", what).because(why).todo(LETTER));
    }
    for (lane, count) in tx.lanes()? {
        let first = tx.lane(&lane, 1)?.into_iter().next();
        let age = first.map_or(0, |effect| (now.as_millis() - effect.created_at.as_millis()) / 1000);
        if age > LONG_WAIT {
            findings.push(long_wait(tx, &lane, count, age)?);
        }
    }
    findings.extend(sessions(tx)?.values().filter_map(tripped));
    tx.for_each_item(&mut |item| {
        findings.extend(item.ok().as_ref().and_then(disarmed_elsewhere));
        ControlFlow::Continue(())
    })?;
    Ok(findings)
}

/// A conversation that the breaker holds: nothing more arrives, and only a person releases it.
fn tripped(session: &Session) -> Option<Finding> {
    let reference = &session.reference;
    (session.breaker.tripped && session.is_live()).then(|| {
        let login = session.breaker.login.as_deref().unwrap_or("one login");
        Finding::warning("store", format!("{reference} is held: {login} alone spoke into it too often"))
            .because("an agent that answers itself without the marker looks like this")
            .todo("`resume` on its ticket releases it; `routing.breaker` sets the limit")
    })
}

/// A live session whose item a portable change of another machine disarmed: its agent waits for a person's word.
fn disarmed_elsewhere(item: &Item) -> Option<Finding> {
    (item.held_by_adoption && item.live_session().is_some()).then(|| {
        let what = format!("{} is held: its portable file says that another machine disarmed it", item.reference);
        Finding::note("store", what).todo("`stop` on its ticket ends the session, `start` or `resume` goes on")
    })
}

fn long_wait(tx: &impl View, lane: &RefKey, count: usize, age: i64) -> Result<Finding, StoreError> {
    let paused = tx.item(lane)?.and_then(|item| item.session).is_some_and(|session| session.is_paused());
    let what = format!("{count} effects wait for {lane}, the oldest for {} minutes", age / 60);
    Ok(match paused {
        true => Finding::note("store", format!("{what}: it is paused")),
        false => Finding::warning("store", what).todo("`the-loop sessions show` tells what it waits for"),
    })
}

/// tmux: whether it answers, and whether sessions and panes agree.
pub fn tmux(tx: &impl View, store: &str, panes: Result<Vec<Pane>, RunnerError>) -> Result<Vec<Finding>, StoreError> {
    let sessions = sessions(tx)?;
    let panes = match panes {
        Ok(panes) => panes,
        Err(error) => {
            let finding = Finding::error("tmux", format!("tmux cannot be asked: {error}"));
            return Ok(vec![finding.because("nothing is delivered until it answers; sessions are kept as they are")]);
        }
    };
    let mut findings = Vec::new();
    let live = sessions.values().filter(|session| session.in_terminal().is_some()).count();
    if panes.is_empty() && live > 0 {
        let what = format!("no tmux server runs; sessions recorded as live: {live}");
        findings
            .push(Finding::error("tmux", what).todo("each is started again, with its conversation, by its next event"));
        return Ok(findings);
    }
    for session in sessions.values() {
        findings.extend(session_without_pane(session, &panes));
    }
    for pane in &panes {
        findings.extend(pane_without_session(pane, store, &sessions));
    }
    if findings.is_empty() {
        findings.push(Finding::ok("tmux", format!("live sessions, each with its pane: {live}")));
    }
    Ok(findings)
}

/// All sessions and endpoints by the key of their panes.
fn sessions(tx: &impl View) -> Result<BTreeMap<String, Session>, StoreError> {
    let mut items = Vec::new();
    tx.for_each_item(&mut |item| {
        items.extend(item.ok());
        ControlFlow::Continue(())
    })?;
    let mut sessions = BTreeMap::new();
    for item in items {
        for session in item.session.iter().cloned().chain(tx.endpoints(&item.reference.key())?) {
            sessions.insert(session.key.as_str().to_owned(), session);
        }
    }
    Ok(sessions)
}

fn session_without_pane(session: &Session, panes: &[Pane]) -> Option<Finding> {
    let life = session.in_terminal()?;
    let reference = &session.reference;
    match panes.iter().find(|pane| pane.key == session.key.as_str()) {
        None => Some(
            Finding::warning("tmux", format!("{reference} is live and its pane `{}` is gone", life.pane))
                .todo("its next event starts it again, with its conversation"),
        ),
        Some(Pane { dead: Some(status), .. }) => {
            let status = status.map_or(String::new(), |status| format!(" with status {status}"));
            Some(
                Finding::warning("tmux", format!("the harness of {reference} ended{status}"))
                    .todo("its next event starts it again, with its conversation"),
            )
        }
        Some(_) => None,
    }
}

fn pane_without_session(pane: &Pane, store: &str, sessions: &BTreeMap<String, Session>) -> Option<Finding> {
    if pane.dead.is_some() {
        return None;
    }
    let (reference, id) = (&pane.reference, &pane.life.pane);
    if pane.store != store {
        let what = format!("pane `{id}` belongs to {reference} of another store ({})", pane.store);
        return Some(
            Finding::warning("tmux", what)
                .because("nothing is started beside it, so that no item has two agents")
                .todo("end it there, or adopt it"),
        );
    }
    let ended = |session: &Session| matches!(session.state, SessionState::Closed { .. } | SessionState::Recorded);
    match sessions.get(&pane.key) {
        Some(session) if !ended(session) => None,
        _ => Some(
            Finding::warning("tmux", format!("pane `{id}` of {reference} runs and no session owns it"))
                .because("nobody speaks to it any more"),
        ),
    }
}
