//! Forgetting: identities are kept for thirty days, and a watermark keeps what is older from being new.

use super::App;
use crate::store::StoreError;

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
}
