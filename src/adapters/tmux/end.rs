//! Ending a harness: only in a pane that carries the key and is the life meant.

use std::time::Duration;

use super::Tmux;
use super::panes::{LIFE, is_pane_id, parse_life};
use super::server::{Trouble, args};
use crate::adapters::groups;
use crate::domain::ports::RunnerError;
use crate::domain::session::{Life, PaneKey};

/// What a pane is with respect to the life to end.
enum Found {
    /// Gone, or another life: nothing to end.
    Other,
    /// Ours; its program runs or has ended.
    Ours { runs: bool },
}

impl Tmux {
    pub(super) fn end_harness(
        &self,
        key: &PaneKey,
        life: &Life,
        grace: Duration,
        keep_pane: bool,
    ) -> Result<(), RunnerError> {
        let runs = match self.find(key, life)? {
            Found::Other => return Ok(()),
            Found::Ours { runs } => runs,
        };
        if runs {
            groups::end(life.pane_pid, grace)?;
        }
        match keep_pane {
            true => Ok(()),
            false => self.kill_pane(key, life),
        }
    }

    fn find(&self, key: &PaneKey, life: &Life) -> Result<Found, RunnerError> {
        if !is_pane_id(&life.pane) {
            return Ok(Found::Other);
        }
        let format = format!("#{{@the-loop-key}}\t#{{pane_dead}}\t{LIFE}");
        let line = match self.ask(&life.socket, args(&["display-message", "-p", "-t", &life.pane, &format])) {
            Ok(line) => line,
            Err(Trouble::NoServer(_)) => return Ok(Found::Other),
            Err(trouble) => return Err(trouble.unreachable()),
        };
        let fields: Vec<&str> = line.splitn(3, '\t').collect();
        let [found_key, dead, rest] = fields[..] else { return Ok(Found::Other) };
        let ours =
            found_key == key.as_str() && parse_life(rest, &life.socket).is_some_and(|found| is_same(&found, life));
        Ok(if ours { Found::Ours { runs: dead != "1" } } else { Found::Other })
    }

    /// Removes the pane under the same condition, which tmux checks in the same breath.
    fn kill_pane(&self, key: &PaneKey, life: &Life) -> Result<(), RunnerError> {
        let Life { pane, pane_pid, .. } = life;
        let ours = format!("#{{&&:#{{==:#{{@the-loop-key}},{}}},#{{==:#{{pane_pid}},{pane_pid}}}}}", key.as_str());
        let kill = format!("kill-pane -t {pane}");
        match self.command(&life.socket, args(&["if-shell", "-F", "-t", pane, &ours, &kill, ""]), false) {
            // The last pane takes its server with it, before or after the answer.
            Ok(_) | Err(Trouble::NoServer(_)) => Ok(()),
            Err(Trouble::NoAnswer(_)) if self.find(key, life).is_ok_and(|found| matches!(found, Found::Other)) => {
                Ok(())
            }
            Err(trouble) => Err(trouble.unreachable()),
        }
    }
}

/// The same process in the same pane of the same server; the session's name may have changed.
fn is_same(one: &Life, other: &Life) -> bool {
    let facts = |life: &Life| (life.server_pid, life.server_started, life.pane_pid);
    facts(one) == facts(other) && one.pane == other.pane
}
