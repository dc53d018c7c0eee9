//! Forgetting: identities are kept for thirty days, and a watermark keeps what is older from being new.

use super::App;
use crate::domain::reference::RefKey;
use crate::store::{StoreError, View as _};

/// How long identities, delivery ids and settled effects are kept, days (events rules, section 3).
const RETENTION_DAYS: i64 = 30;
/// Rows looked at in one transaction.
const ROWS: usize = 2_000;

impl App {
    /// Forgets a little of what is old; the rows removed.
    pub fn prune(&self) -> Result<usize, StoreError> {
        let before = self.now().plus_seconds(-RETENTION_DAYS * 24 * 3600);
        self.parts.store.write(move |tx| tx.prune(before, ROWS))
    }

    /// Whether a commit goes through, tried with one that changes nothing.
    pub fn try_commit(&self) -> bool {
        self.parts.store.write(|_| Ok(())).is_ok()
    }

    /// Lanes with something waiting, or claimed by a run that ended.
    pub fn waiting_lanes(&self) -> Result<Vec<RefKey>, StoreError> {
        self.parts.store.read(|tx| {
            let waiting = tx.lanes()?.into_iter().map(|(lane, _)| lane);
            Ok(waiting.chain(tx.claims()?.into_iter().map(|claim| claim.lane)).collect())
        })
    }
}
