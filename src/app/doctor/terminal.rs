//! Between the store and tmux: sessions without a pane, panes without a session. Panes are only named: none is ended.

use std::collections::BTreeMap;

use super::{Owned, all};
use crate::domain::findings::{Finding, Fix};
use crate::domain::ports::{Pane, RunnerError};
use crate::domain::session::{Session, SessionState};
use crate::store::{StoreError, View};

/// What starts a session again whose pane is gone.
const AGAIN: &str = "its next event starts it again, with its conversation";

/// tmux: whether it answers, and whether sessions and panes agree.
///
/// # Errors
/// The store did not answer.
pub fn tmux(tx: &impl View, store: &str, panes: Result<Vec<Pane>, RunnerError>) -> Result<Vec<Finding>, StoreError> {
    let sessions = all(tx)?;
    let panes = match panes {
        Ok(panes) => panes,
        Err(error) => {
            let finding = Finding::error("tmux.unanswered", format!("tmux cannot be asked: {error}"));
            return Ok(vec![finding.because("nothing is delivered until it answers; sessions are kept as they are")]);
        }
    };
    let live = sessions.values().filter(|owned| owned.session.life().is_some()).count();
    let mut findings = Vec::new();
    if panes.is_empty() && live > 0 {
        let what = format!("no tmux server runs; sessions recorded as live: {live}");
        findings.push(
            Finding::error("tmux.no-server", what)
                .because("their agents ended with it")
                .todo("each is started again, with its conversation, by its next event"),
        );
    }
    findings.extend(sessions.values().filter_map(|owned| without_pane(owned, &panes)));
    findings.extend(panes.iter().filter_map(|pane| without_session(pane, store, &sessions)));
    if findings.is_empty() {
        findings.push(Finding::ok("tmux.agree", format!("live sessions, each with its pane: {live}")));
    }
    Ok(findings)
}

fn without_pane(owned: &Owned, panes: &[Pane]) -> Option<Finding> {
    let (session, fix) = (&owned.session, Fix::MarkGone { item: (&owned.item).into() });
    let (life, reference) = (session.life()?, &session.reference);
    match panes.iter().find(|pane| pane.key == session.key.as_str()) {
        None => Some(
            Finding::warning("tmux.no-pane", format!("{reference} is live and its pane `{}` is gone", life.pane))
                .because("its record says that it runs")
                .todo(AGAIN)
                .fixed_by(fix),
        ),
        Some(Pane { dead: Some(status), .. }) => {
            let status = status.map_or(String::new(), |status| format!(" with status {status}"));
            Some(
                Finding::warning("tmux.dead-pane", format!("the harness of {reference} ended{status}"))
                    .because("its record says that it runs")
                    .todo(AGAIN)
                    .fixed_by(fix),
            )
        }
        Some(_) => None,
    }
}

fn without_session(pane: &Pane, store: &str, sessions: &BTreeMap<String, Owned>) -> Option<Finding> {
    if pane.dead.is_some() {
        return None;
    }
    let (reference, id) = (&pane.reference, &pane.life.pane);
    if pane.store != store {
        let what = format!("pane `{id}` belongs to {reference} of another store ({})", pane.store);
        return Some(
            Finding::warning("tmux.other-store", what)
                .because("nothing is started beside it, so that no item has two agents")
                .todo("end it where it was started, or use another `routing.tmux.socket` here"),
        );
    }
    let ended = |session: &Session| matches!(session.state, SessionState::Closed { .. } | SessionState::Recorded);
    match sessions.get(&pane.key) {
        Some(owned) if !ended(&owned.session) => None,
        _ => Some(
            Finding::warning("tmux.no-record", format!("pane `{id}` of {reference} runs and no session owns it"))
                .because("nobody speaks to it any more")
                .todo("look into it with tmux, and end its program there when it is not wanted"),
        ),
    }
}
