//! Endings done by a command that owns the store only for moments: claimed in one, done while nobody is held up, settled
//! in another.
//!
//! Only endings are done so. A harness is ended by its life, which never comes back, so an ending that a daemon finds
//! claimed and does again does nothing twice. A delivery could be typed twice, and a spawn takes long: both wait for a
//! daemon.

use super::App;
use super::in_flight::TurnGuard;
use super::perform::{Allow, Claimed, Look};
use crate::domain::lane::Done;
use crate::domain::reference::RefKey;
use crate::store::StoreError;

/// A claimed ending.
pub struct Errand {
    lane: RefKey,
    claimed: Box<Claimed>,
    turn: TurnGuard,
}

/// An ending that was done, or tried.
pub struct Returned {
    errand: Errand,
    done: Done,
}

impl App {
    /// Claims the ending that comes next in the lane, if one does.
    ///
    /// # Errors
    /// The store did not answer.
    pub fn next_errand(&self, lane: &RefKey) -> Result<Option<Errand>, StoreError> {
        let turn = self.in_flight.begin();
        let mut looking = self.looking(lane, Allow::Endings, turn.turn());
        let look = self.parts.store.write(move |tx| looking.look(tx))?;
        Ok(errand(lane, look, turn))
    }

    /// Does it. Touches no store: nobody has to own it meanwhile.
    pub fn run_errand(&self, errand: Errand) -> Returned {
        let Claimed { item, work, claim, .. } = errand.claimed.as_ref();
        let done = self.do_work(item, work, &claim.batch);
        Returned { errand, done }
    }

    /// Settles it, if nobody else did, and claims the next ending of the lane.
    ///
    /// # Errors
    /// The store did not answer; then the claim is recovered by whoever owns it next.
    pub fn settle_errand(&self, returned: Returned) -> Result<Option<Errand>, StoreError> {
        let Returned { errand: Errand { lane, claimed, turn }, done } = returned;
        let looking = self.looking(&lane, Allow::Endings, turn.turn());
        let look = self.settle(*claimed, done, looking, false)?;
        Ok(errand(&lane, look, turn))
    }
}

fn errand(lane: &RefKey, look: Look, turn: TurnGuard) -> Option<Errand> {
    match look {
        Look::Claimed(claimed) => Some(Errand { lane: lane.clone(), claimed, turn }),
        Look::Progress(_) => None,
    }
}
