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
    let live = sessions.values().filter(|owned| owned.session.in_terminal().is_some()).count();
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
    let (life, reference) = (session.in_terminal()?, &session.reference);
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
        Some(Pane { only_shell: true, .. }) => Some(
            Finding::warning(
                "tmux.only-a-shell",
                format!("only a shell is left in pane `{}` of {reference}", life.pane),
            )
            .because("its record says that it runs; nothing is typed at a shell, which would run it")
            .todo(format!("{AGAIN}, in a pane of its own; the shell stays as it is"))
            .fixed_by(fix),
        ),
        Some(_) => None,
    }
}

fn without_session(pane: &Pane, store: &str, sessions: &BTreeMap<String, Owned>) -> Option<Finding> {
    // A dead pane is a scroll-back to read, and a shell a person's own.
    if !pane.may_host() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::StoreId;
    use crate::domain::reference::WorkItemRef;
    use crate::domain::session::{EndReason, Life, PaneKey};
    use crate::domain::time::Time;

    fn session(number: u64, state: SessionState) -> Session {
        let reference = WorkItemRef::parse(&format!("github:octo/hello#{number}")).unwrap();
        let key = PaneKey::new(&StoreId("s".into()), &reference, &reference);
        Session { state, ..Session::recorded(reference, key, "agent".into(), Time::from_millis(1)) }
    }

    fn owned(session: Session) -> Owned {
        Owned { item: session.reference.clone(), session }
    }

    fn life() -> Life {
        let (socket, session, pane) = ("t".into(), "x".into(), "%1".into());
        Life { socket, server_pid: 1, server_started: 1, session, pane, pane_pid: 9 }
    }

    fn pane(session: &Session, dead: Option<Option<i32>>) -> Pane {
        let (key, reference) = (session.key.as_str().into(), session.reference.to_string());
        Pane { key, store: "s".into(), reference, life: life(), dead, only_shell: false }
    }

    #[test]
    fn a_session_whose_pane_is_surely_gone_can_be_marked_and_no_other() {
        let closed = SessionState::Closed { at: Time::from_millis(2), reason: EndReason::Stopped };
        let own = |session: &Session| vec![pane(session, None)];
        let dead = |session: &Session| vec![pane(session, Some(Some(3)))];
        let shell = |session: &Session| vec![Pane { only_shell: true, ..pane(session, None) }];
        let none = |_: &Session| Vec::new();
        type Panes = dyn Fn(&Session) -> Vec<Pane>;
        for (state, panes, want) in [
            (SessionState::Live(life()), &own as &Panes, None),
            (SessionState::Live(life()), &none, Some("tmux.no-pane")),
            (SessionState::Live(life()), &dead, Some("tmux.dead-pane")),
            (SessionState::Live(life()), &shell, Some("tmux.only-a-shell")),
            (SessionState::Paused(Some(life())), &none, Some("tmux.no-pane")),
            (SessionState::Paused(None), &none, None),
            (SessionState::Starting, &none, None),
            (closed, &none, None),
        ] {
            let owned = owned(session(7, state.clone()));
            let found = without_pane(&owned, &panes(&owned.session));
            assert_eq!(found.as_ref().map(|found| found.id), want, "{state:?}");
            let fix = found.map(|found| found.fix);
            assert_eq!(fix, want.map(|_| Some(Fix::MarkGone { item: (&owned.item).into() })));
        }
    }

    #[test]
    fn k49_a_pane_without_a_record_is_named_and_nothing_is_offered_that_ends_it() {
        let closed = SessionState::Closed { at: Time::from_millis(2), reason: EndReason::Stopped };
        let live = session(7, SessionState::Live(life()));
        for (known, store, dead, want) in [
            (Some(live.clone()), "s", None, None),
            (None, "s", None, Some("tmux.no-record")),
            (Some(session(7, closed)), "s", None, Some("tmux.no-record")),
            (None, "other", None, Some("tmux.other-store")),
            // A dead pane is a scroll-back to read.
            (None, "s", Some(None), None),
        ] {
            let sessions = known.map(|known| (live.key.as_str().to_owned(), owned(known))).into_iter().collect();
            let found = without_session(&pane(&live, dead), store, &sessions);
            assert_eq!(found.as_ref().map(|found| found.id), want, "{store} {dead:?}");
            assert!(found.is_none_or(|found| found.fix.is_none() && found.todo.is_some()));
        }
    }
}
