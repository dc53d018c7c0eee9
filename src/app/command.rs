//! The operator's control words: decided like a word on the ticket, in one transaction.

use super::portable::PortableError;
use super::request::Commanded;
use super::{App, view};
use crate::domain::decide::{self, OperatorCommand, Verdict};
use crate::domain::ids::DeliveryId;
use crate::domain::portable::Command;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::store::{StoreError, View as _};

impl App {
    /// Obeys `word` for `item`, and says what it did and which lanes have work now. What other machines said about the
    /// item is taken in first; a folder that cannot be read does not keep a person's word from being obeyed.
    pub fn command(
        &self,
        item: &WorkItemRef,
        word: &Command,
        actor: &str,
    ) -> Result<(Commanded, Vec<RefKey>), StoreError> {
        let adopted = match self.adopt_items(std::slice::from_ref(item)) {
            Err(PortableError::Store(error)) => return Err(error),
            Err(PortableError::Files(_)) => Vec::new(),
            Ok(adoption) => adoption.lanes,
        };
        let id =
            DeliveryId::parse(&format!("cli-{}", self.parts.ids.uuid())).map_err(|e| StoreError::Bug(e.to_string()))?;
        let command = OperatorCommand { item: item.clone(), word: word.clone(), actor: actor.to_owned(), id };
        let (settings, store, now) = (self.settings(), self.parts.store.id(), self.now());
        let done = self.parts.store.write(move |tx| {
            let item = view::present_item(tx, &command.item)?;
            let command = OperatorCommand { item, ..command.clone() };
            let view = view::of_item(tx, &store, &command.item)?;
            let outcome = decide::decide_command(&command, &view, &settings.policy, now);
            let verdict = outcome.verdict;
            let mut lanes = tx.apply_outcome(outcome, now)?;
            lanes.extend(adopted.iter().cloned());
            let waiting = tx.lane_count(&command.item.key())?;
            Ok((commanded(&command, verdict, waiting), lanes))
        })?;
        self.desk.ring();
        Ok(done)
    }
}

impl App {
    /// How many effects wait in the lane of `item`.
    pub fn waiting(&self, item: &WorkItemRef) -> Result<u64, StoreError> {
        let lane = item.key();
        self.parts.store.read(|tx| tx.lane_count(&lane))
    }
}

fn commanded(command: &OperatorCommand, verdict: Verdict, waiting: u64) -> Commanded {
    let reason = match verdict {
        Verdict::Accepted => None,
        Verdict::Dropped(reason) | Verdict::Refused(reason) => Some(reason.as_str().to_owned()),
    };
    Commanded {
        work_item: command.item.to_string(),
        command: command.word.as_str().to_owned(),
        acted: verdict == Verdict::Accepted,
        refused: matches!(verdict, Verdict::Refused(_)),
        reason,
        waiting,
    }
}
