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

/// Takes the life of a session away whose pane is not there, or dead.
fn lose(session: &mut Session, panes: &[Pane]) -> bool {
    let has_pane = panes.iter().any(|pane| pane.key == session.key.as_str() && pane.dead.is_none());
    let lost = session.life().is_some() && !has_pane;
    if lost {
        session.lose_life();
    }
    lost
}
