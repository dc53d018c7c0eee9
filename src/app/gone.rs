//! Records that follow what tmux says, for `doctor --fix`: a session whose pane is surely gone has none any more.
//!
//! It is what the lane itself would find with the next delivery. Nothing is ended and nothing is started by it, and a
//! lane with work under way is left to that work.

use super::App;
use super::request::Trouble;
use crate::domain::item::Item;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::ports::Pane;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::Session;
use crate::domain::time::Time;
use crate::store::{StoreError, View as _, WriteTx};

impl App {
    /// Looks for the panes of these items and marks the sessions that have none; the references of these.
    ///
    /// # Errors
    /// tmux cannot be asked, and then nothing is gone for sure; or the store did not answer.
    pub fn mark_gone(&self, items: &[WorkItemRef]) -> Result<Vec<String>, Trouble> {
        let panes = self.parts.runner.panes().map_err(|error| {
            Trouble::refused(format!("tmux cannot be asked, so no pane is gone for sure: {error}"))
                .hint("nothing was changed; try again once tmux answers")
        })?;
        let (items, now) = (items.to_vec(), self.now());
        Ok(self.parts.store.write(move |tx| {
            let mut marked = Vec::new();
            for item in &items {
                marked.extend(mark(tx, item, &panes, now)?);
            }
            Ok(marked)
        })?)
    }
}

fn mark(tx: &mut WriteTx<'_>, item: &WorkItemRef, panes: &[Pane], now: Time) -> Result<Vec<String>, StoreError> {
    let lane = item.key();
    let Some(item) = tx.item(&lane)? else { return Ok(Vec::new()) };
    if tx.claim(&lane)?.is_some() {
        return Ok(Vec::new());
    }
    let mut marked = Vec::new();
    for mut endpoint in tx.endpoints(&lane)? {
        if lose(&mut endpoint, panes) {
            tx.put_endpoint(&lane, &endpoint)?;
            marked.push(endpoint.reference.to_string());
        }
    }
    if let Some(mut session) = item.session.clone()
        && lose(&mut session, panes)
    {
        tx.put_item(&Item { session: Some(session), ..item.clone() })?;
        marked.insert(0, item.reference.to_string());
    }
    for reference in &marked {
        let entry = LogEntry::info(EventName::SessionPaneGone).with("workItem", item.reference.to_string());
        let endpoint = (*reference != item.reference.to_string()).then(|| reference.clone());
        tx.append_journal(&entry.with_some("endpoint", endpoint), now)?;
    }
    Ok(marked)
}

/// Takes the life of a session away whose pane is not there, dead, or left to a shell.
fn lose(session: &mut Session, panes: &[Pane]) -> bool {
    let has_pane = panes.iter().any(|pane| pane.key == session.key.as_str() && pane.may_host());
    let lost = session.life().is_some() && !has_pane;
    if lost {
        session.lose_life();
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::moving::world;
    use crate::domain::effect::{Claim, EndpointRef};
    use crate::domain::ids::{BatchId, InstanceId, StoreId};
    use crate::domain::session::{Life, PaneKey, SessionState};

    fn life() -> Life {
        let (socket, session, pane) = ("t".into(), "x".into(), "%1".into());
        Life { socket, server_pid: 1, server_started: 1, session, pane, pane_pid: 9 }
    }

    fn live(number: u64) -> Session {
        let reference = WorkItemRef::parse(&format!("github:octo/hello#{number}")).unwrap();
        let key = PaneKey::new(&StoreId("s".into()), &reference, &reference);
        let session = Session::recorded(reference, key, "agent".into(), Time::from_millis(1));
        Session { state: SessionState::Live(life()), ..session }
    }

    fn pane(session: &Session, dead: Option<Option<i32>>) -> Pane {
        let (key, reference) = (session.key.as_str().into(), session.reference.to_string());
        Pane { key, store: "s".into(), reference, life: life(), dead, only_shell: false }
    }

    #[test]
    fn k46_only_a_session_without_a_living_pane_is_lost() {
        for (panes, lost) in [
            (vec![], true),
            (vec![pane(&live(8), None)], true),
            (vec![pane(&live(7), Some(None))], true),
            (vec![pane(&live(7), None)], false),
            (vec![pane(&live(7), Some(None)), pane(&live(7), None)], false),
        ] {
            let mut session = live(7);
            assert_eq!(lose(&mut session, &panes), lost, "{panes:?}");
            assert_eq!(session.state == SessionState::Starting, lost);
        }
        let mut paused = Session { state: SessionState::Paused(Some(life())), ..live(7) };
        assert!(lose(&mut paused, &[]));
        assert_eq!(paused.state, SessionState::Paused(None));
        assert!(!lose(&mut paused, &[]), "it has none to lose");
    }

    #[test]
    fn k49_a_lane_with_work_under_way_is_left_to_that_work() {
        let (app, _) = world();
        let session = live(7);
        let item = session.reference.clone();
        let record = Item { session: Some(session), ..Item::new(item.clone()) };
        let claim = Claim {
            lane: item.key(),
            members: Vec::new(),
            endpoint: EndpointRef::Item,
            batch: BatchId::from_hex("0123456789abcdef0123456789abcdef"),
            life: Some(life()),
            held: 0,
            instance: InstanceId("x".into()),
            at: Time::from_millis(1),
        };
        app.store()
            .write(move |tx| {
                tx.put_item(&record)?;
                tx.put_claim(&claim)
            })
            .unwrap();
        let state = || app.store().read(|tx| tx.item(&item.key())).unwrap().unwrap().session.unwrap().state;
        assert_eq!(app.mark_gone(std::slice::from_ref(&item)).unwrap(), Vec::<String>::new());
        assert_eq!(state(), SessionState::Live(life()));
        let lane = item.key();
        app.store().write(move |tx| tx.remove_claim(&lane).map(drop)).unwrap();
        assert_eq!(app.mark_gone(std::slice::from_ref(&item)).unwrap(), [item.to_string()]);
        assert_eq!(state(), SessionState::Starting);
    }
}
