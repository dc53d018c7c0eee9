//! What an operator does to records by hand: decided in one transaction each.

use super::order::Answered;
use super::portable::PortableError;
use super::request::{Commanded, ResetItem, ResetScope, Response, Trouble};
use super::{App, Settings, perform, view};
use crate::domain::decide::{self, Act, ByHand, Known, Registration, Verdict};
use crate::domain::harness::Mode;
use crate::domain::ids::DeliveryId;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::store::{self, StoreError};

#[cfg(test)]
mod tests;

impl App {
    /// Registers, closes or links.
    ///
    /// # Errors
    /// The store or the portable folder did not answer, or the harness cannot resume what is registered.
    pub(super) fn by_hand(&self, item: &WorkItemRef, act: &Act) -> Result<Answered, Trouble> {
        if let Act::Register(registration) = act {
            can_resume(&self.settings(), registration, self.parts.runner.mode())?;
        }
        let (item, verdict, lanes) = self.decide_by_hand(item, act)?;
        let acted = verdict == Verdict::Accepted;
        let reason = match verdict {
            Verdict::Accepted => None,
            Verdict::Dropped(reason) | Verdict::Refused(reason) => Some(reason.as_str().to_owned()),
        };
        let waiting = self.waiting(&item)?;
        let refused = matches!(verdict, Verdict::Refused(_));
        let command = act.verb().into();
        let commanded = Commanded { work_item: item.to_string(), command, acted, reason, refused, waiting };
        let items = acted.then_some(item).into_iter().collect();
        Ok(Answered { response: Response::Commanded(commanded), lanes, items })
    }

    /// Resets items, each in a transaction of its own.
    ///
    /// # Errors
    /// The store or the portable folder did not answer; what was reset until then is.
    pub(super) fn reset(&self, scope: &ResetScope) -> Result<Answered, Trouble> {
        let mut rows = self.parts.store.read(|tx| to_reset(tx, scope))?;
        let (mut items, mut lanes) = (Vec::new(), Vec::new());
        self.heard.begins(rows.len());
        for row in &mut rows {
            let (item, verdict, touched) = self.decide_by_hand(&row.item, &Act::Reset)?;
            lanes.extend(touched);
            row.report.reset = verdict == Verdict::Accepted;
            row.report.waiting = self.waiting(&item)?;
            items.extend(row.report.reset.then_some(item));
            self.heard.did(1);
        }
        let response = Response::Reset(rows.into_iter().map(|row| row.report).collect());
        Ok(Answered { response, lanes, items })
    }

    /// Decides one verb about one item. What other machines said about it is taken in first; a folder that cannot be read
    /// does not keep a person's word from being obeyed.
    fn decide_by_hand(&self, item: &WorkItemRef, act: &Act) -> Result<(WorkItemRef, Verdict, Vec<RefKey>), StoreError> {
        let adopted = match self.adopt_items(std::slice::from_ref(item)) {
            Err(PortableError::Store(error)) => return Err(error),
            Err(PortableError::Files(_)) => Vec::new(),
            Ok(adoption) => adoption.lanes,
        };
        let id =
            DeliveryId::parse(&format!("cli-{}", self.parts.ids.uuid())).map_err(|e| StoreError::Bug(e.to_string()))?;
        let by_hand = ByHand { item: item.clone(), act: act.clone(), id };
        let (settings, store, now) = (self.settings(), self.parts.store.id(), self.now());
        self.parts.store.write(move |tx| {
            let item = view::present_item(tx, &by_hand.item)?;
            let by_hand = ByHand { item: item.clone(), ..by_hand.clone() };
            let mut items = vec![item];
            if let Act::LinkPr(pull_request) = &by_hand.act {
                items.push(pull_request.clone());
            }
            let view = view::of_items(tx, &store, &items)?;
            let outcome = decide::decide_by_hand(&by_hand, &view, &settings.policy, now);
            let verdict = outcome.verdict;
            let mut lanes = tx.apply_outcome(outcome, now)?;
            lanes.extend(adopted.iter().cloned());
            if by_hand.act == Act::Reset {
                perform::forget_what_was_reset(tx, &by_hand.item.key(), now)?;
            }
            Ok((by_hand.item, verdict, lanes))
        })
    }
}

/// An item to reset, with what there is of it.
pub(super) struct ToReset {
    item: WorkItemRef,
    pub report: ResetItem,
}

/// What a reset of `scope` would find; of all items, those with something to reset.
pub(super) fn to_reset(tx: &impl store::View, scope: &ResetScope) -> Result<Vec<ToReset>, StoreError> {
    let keys = match scope {
        ResetScope::Items(items) => {
            let mut seen = std::collections::HashSet::new();
            let items = items.iter().map(|item| view::present_item(tx, item)).collect::<Result<Vec<_>, _>>()?;
            return items
                .into_iter()
                .filter(|item| seen.insert(item.key()))
                .map(|item| row(tx, &item.key(), item))
                .collect();
        }
        ResetScope::All => tx.item_keys()?,
    };
    let mut rows = Vec::new();
    for key in keys {
        // A row that cannot be read is left to `doctor`.
        let Ok(item) = WorkItemRef::parse(key.as_str()) else { continue };
        rows.extend(Some(row(tx, &key, item)?).filter(|row| row.report.reset));
    }
    Ok(rows)
}

fn row(tx: &impl store::View, key: &RefKey, item: WorkItemRef) -> Result<ToReset, StoreError> {
    let Some(found) = tx.item(key)? else {
        let report = ResetItem { work_item: item.to_string(), ..ResetItem::default() };
        return Ok(ToReset { item, report });
    };
    let known = Known { item: found, endpoints: tx.endpoints(key)? };
    let report = ResetItem {
        work_item: known.item.reference.to_string(),
        session: known.item.session.as_ref().map(|session| super::look::state_word(&session.state).to_owned()),
        pull_requests: known.endpoints.iter().map(|endpoint| endpoint.reference.to_string()).collect(),
        control: known.item.sections.control.as_ref().map(|control| control.command.as_str().to_owned()),
        reset: decide::can_be_reset(&known),
        waiting: tx.lane_count(key)?,
    };
    Ok(ToReset { item: known.item.reference, report })
}

/// Registering promises that the conversation goes on, so the harness has to be able to.
fn can_resume(settings: &Settings, registration: &Registration, mode: Mode) -> Result<(), Trouble> {
    let name = &registration.harness;
    let Some(harness) = settings.harnesses.get(name) else {
        return Err(
            Trouble::refused(format!("harness `{name}` is not configured")).hint("add it to `routing.harnesses`")
        );
    };
    if !harness.can_resume(mode) {
        return Err(Trouble::refused(format!("harness `{name}` cannot resume a conversation"))
            .hint(format!("give `routing.harnesses.{name}.resume` the arguments that resume `{{conversation}}`")));
    }
    if !settings.resume_on_respawn {
        return Err(Trouble::refused("conversations are not resumed here, so nothing can be registered")
            .hint("`routing.tmux.resumeOnRespawn` is switched off"));
    }
    Ok(())
}
