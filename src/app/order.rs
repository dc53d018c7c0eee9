//! Orders: what changes the store on the operator's word, whoever owns it.

use super::portable::PortableError;
use super::request::{Commanded, Order, Request, Response, Trouble};
use super::{App, look};
use crate::domain::portable::Command;
use crate::domain::reference::WorkItemRef;

/// Pieces of quick work done for one order.
pub(super) const ROUNDS: usize = 32;

impl App {
    /// Answers a request as the owner of the store.
    ///
    /// # Errors
    /// The store or the portable folder did not answer, or the request was refused; what was committed until then holds.
    pub fn respond(&self, request: &Request) -> Result<Response, Trouble> {
        match request {
            Request::Look(look) => Ok(self.store().read(|tx| look::answer(tx, look, self.now()))?),
            Request::Order(order) => self.order(order),
        }
    }

    /// Carries out an order: decides it, does the quick work that follows, and brings the item's file up to date. A
    /// spawn stays stored for the pools of a daemon.
    fn order(&self, order: &Order) -> Result<Response, Trouble> {
        match order {
            Order::Command { item, word, actor } => Ok(Response::Commanded(self.obey(item, word, actor)?)),
            Order::ByHand { item, act } => Ok(Response::Commanded(self.by_hand(item, act)?)),
            Order::Reset(scope) => Ok(Response::Reset(self.reset(scope)?)),
            Order::Retry(id) => Ok(Response::Dispatched(self.retry(id)?)),
            Order::Drop(id) => Ok(Response::Dispatched(self.drop_entry(id)?)),
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
