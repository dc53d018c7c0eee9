//! Orders: what changes the store on the operator's word, whoever owns it.

use super::App;
use super::portable::PortableError;
use super::request::{Commanded, Order, Response};
use crate::domain::portable::Command;
use crate::domain::reference::WorkItemRef;

/// Pieces of quick work done for one order.
const ROUNDS: usize = 32;

impl App {
    /// Carries out an order: decides it, does the quick work that follows, and brings the item's file up to date. A
    /// spawn stays stored for the pools of a daemon.
    ///
    /// # Errors
    /// The store or the portable folder did not answer; what was committed until then holds.
    pub fn order(&self, order: &Order) -> Result<Response, PortableError> {
        match order {
            Order::Command { item, word, actor } => self.obey(item, word, actor).map(Response::Commanded),
            Order::Export => Ok(Response::Exported(self.export_all()?.exported)),
        }
    }

    fn obey(&self, item: &WorkItemRef, word: &Command, actor: &str) -> Result<Commanded, PortableError> {
        self.adopt_items(std::slice::from_ref(item))?;
        let (mut commanded, lanes) = self.command(item, word, actor)?;
        for lane in &lanes {
            self.advance(lane, false, ROUNDS)?;
        }
        if commanded.acted {
            self.export_items(std::slice::from_ref(item))?;
        }
        commanded.waiting = self.waiting(item)?;
        Ok(commanded)
    }
}
