//! Taking over a session that the earlier system started on the user's own server: it stays where it is and gets our
//! marks, so that it is addressed by its pane and its process like every other.

use super::Tmux;
use super::panes::Listing;
use super::server::{Trouble, args};
use super::spawn::marks;
use crate::domain::ports::{Pane, RunnerError, TakeOver};
use crate::domain::session::Life;

/// The earlier system named no socket.
const USERS_OWN: &str = "";

impl Tmux {
    pub(super) fn mark_earlier(&self, request: &TakeOver) -> Result<Option<Life>, RunnerError> {
        let Listing::Panes(panes) = self.list(USERS_OWN)? else { return Ok(None) };
        let runs = |pane: &Pane| pane.dead.is_none() && pane.life.session == request.session_name;
        let panes: Vec<Pane> = panes.into_iter().filter(runs).collect();
        let Some(pane) = self.active(&panes, &request.session_name)? else { return Ok(None) };
        if !pane.key.is_empty() && pane.key != request.key.as_str() {
            // Two items can have one name in tmux: whose it is was decided before.
            let ours = pane.store == request.store;
            let (reference, store) = (pane.reference.clone(), pane.store.clone());
            return if ours { Ok(None) } else { Err(RunnerError::OtherStore { reference, store }) };
        }
        let mut words = marks((&request.key, &request.reference, &request.store), &pane.life.pane);
        // They begin with the sign that parts commands.
        words.remove(0);
        self.command(USERS_OWN, words, false).map_err(Trouble::unreachable)?;
        self.remember_server(&pane.life);
        Ok(Some(pane.life.clone()))
    }

    /// The pane that text typed at the session would reach, which is where the earlier system put it.
    fn active<'p>(&self, panes: &'p [Pane], session: &str) -> Result<Option<&'p Pane>, RunnerError> {
        if panes.len() < 2 {
            return Ok(panes.first());
        }
        let asked = args(&["display-message", "-p", "-t", &format!("={session}:"), "#{pane_id}"]);
        let active = self.ask(USERS_OWN, asked).map_err(Trouble::unreachable)?;
        let active = panes.iter().find(|pane| pane.life.pane == active.trim_end());
        Ok(active.or_else(|| panes.first()))
    }
}
