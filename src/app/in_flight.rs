//! What this process is doing right now. A claim goes along when its item gets another name; whoever then looks at the
//! new lane must not take it for one that a crash left behind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::ids::BatchId;

/// Batches being done, each with the turn that does it. Clones share one table.
#[derive(Clone, Default)]
pub(super) struct InFlight(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    turns: u64,
    batches: HashMap<BatchId, u64>,
}

/// One worker's turn at a lane.
#[derive(Clone)]
pub(super) struct Turn {
    table: InFlight,
    number: u64,
}

/// Ends the turn when it goes: what it did not settle is left behind by then.
pub(super) struct TurnGuard(Turn);

impl InFlight {
    /// Begins a turn.
    pub(super) fn begin(&self) -> TurnGuard {
        let mut table = self.lock();
        table.turns += 1;
        TurnGuard(Turn { table: self.clone(), number: table.turns })
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Takes a batch; false when another turn has it.
    pub(super) fn take(&self, batch: &BatchId) -> bool {
        *self.table.lock().batches.entry(batch.clone()).or_insert(self.number) == self.number
    }
}

impl TurnGuard {
    /// The turn, for whoever acts in it.
    pub(super) fn turn(&self) -> Turn {
        self.0.clone()
    }
}

impl Drop for TurnGuard {
    fn drop(&mut self) {
        let number = self.0.number;
        self.0.table.lock().batches.retain(|_, turn| *turn != number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_belongs_to_one_turn_until_it_ends() {
        let table = InFlight::default();
        let batch = BatchId::from_hex("00000000-0000-4000-8000-000000000001");
        let (first, second) = (table.begin(), table.begin());
        assert!(first.turn().take(&batch) && first.turn().take(&batch));
        assert!(!second.turn().take(&batch));
        drop(first);
        assert!(second.turn().take(&batch));
    }
}
