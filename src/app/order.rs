//! Orders: what changes the store on the operator's word, whoever owns it.

use std::collections::BTreeSet;

use super::polling::Polled;
use super::request::{Order, Request, ResetScope, Response, Trouble};
use super::{App, look};
use crate::domain::decide::Urgency;
use crate::domain::portable::Command;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::store::StoreError;

/// An answer, and what follows from it. Everything in it is stored already; whoever serves it is told for speed.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// For the one who asked.
    pub response: Response,
    /// Lanes that have something to look at.
    pub lanes: Vec<RefKey>,
    /// Items whose portable file has to follow.
    pub items: Vec<WorkItemRef>,
}

impl Answered {
    /// An answer that nothing follows from.
    pub const fn only(response: Response) -> Self {
        Self { response, lanes: Vec::new(), items: Vec::new() }
    }
}

impl App {
    /// Answers a request as the owner of the store; what follows from it is left to the caller.
    ///
    /// # Errors
    /// The store or the portable folder did not answer, or the request was refused; what was committed until then holds.
    pub fn respond(&self, request: &Request) -> Result<Answered, Trouble> {
        match request {
            Request::Look(look) => Ok(Answered::only(self.store().read(|tx| look::answer(tx, look, self.now()))?)),
            Request::Order(order) => self.order(order),
        }
    }

    fn order(&self, order: &Order) -> Result<Answered, Trouble> {
        match order {
            Order::Command { item, word, actor } => Ok(self.obey(item, word, actor)?),
            Order::ByHand { item, act } => self.by_hand(item, act),
            Order::Reset(scope) => {
                let adopted = match scope {
                    ResetScope::All => self.adopt_earlier_first()?.lanes,
                    ResetScope::Items(_) => Vec::new(),
                };
                let mut answered = self.reset(scope)?;
                answered.lanes.extend(adopted);
                Ok(answered)
            }
            Order::Comment { item, body } => self.comment(item, body),
            Order::Retry(id) => self.retry(id),
            Order::Drop(id) => Ok(Answered::only(Response::Dispatched(self.drop_entry(id)?))),
            Order::Export => {
                let mut adopted = self.adopt_earlier_first()?;
                let run = self.export_all()?;
                adopted.merge(run.adoption);
                // Nothing is written for their sake: it was just done.
                Ok(Answered { response: Response::Exported(run.exported), lanes: adopted.lanes, items: Vec::new() })
            }
            Order::Poll => {
                let Polled { repositories, lanes, marked, waits: _ } = self.poll_now()?;
                if marked {
                    self.export_marked(Urgency::Cycle, &BTreeSet::new())?;
                }
                Ok(Answered { response: Response::Polled(repositories), lanes, items: Vec::new() })
            }
            Order::ExportItems(items) => Ok(Answered::only(Response::Exported(self.export_items(items)?.exported))),
            Order::PruneFiles(days) => Ok(Answered::only(Response::Exported(self.prune_files(*days)?.exported))),
            Order::MarkGone(items) => {
                let response = Response::MarkedGone(self.mark_gone(items)?);
                Ok(Answered { response, lanes: items.iter().map(WorkItemRef::key).collect(), items: Vec::new() })
            }
        }
    }

    /// Brings what an answer says about waiting work up to date, after some of it was done.
    ///
    /// # Errors
    /// The store did not answer.
    pub fn recount(&self, response: &mut Response) -> Result<(), StoreError> {
        let waiting = |item: &str| WorkItemRef::parse(item).map_or(Ok(0), |item| self.waiting(&item));
        match response {
            Response::Commanded(commanded) => commanded.waiting = waiting(&commanded.work_item)?,
            Response::Reset(items) => {
                for item in items {
                    item.waiting = waiting(&item.work_item)?;
                }
            }
            Response::Dispatched(dispatched) => self.restate(dispatched)?,
            _ => {}
        }
        Ok(())
    }

    fn obey(&self, item: &WorkItemRef, word: &Command, actor: &str) -> Result<Answered, StoreError> {
        let (commanded, lanes) = self.command(item, word, actor)?;
        let items = commanded.acted.then(|| item.clone()).into_iter().collect();
        Ok(Answered { response: Response::Commanded(commanded), lanes, items })
    }
}
