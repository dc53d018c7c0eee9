//! Everything kept under one reference goes under another: transferred issues, renamed repositories.

use super::error::StoreError;
use super::keys;
use super::raw::WriteTx;
use super::rows::DeadLetterRow;
use super::tables::TableId;
use super::view::View;
use crate::domain::effect::{Claim, Effect, EffectBody, EndpointRef};
use crate::domain::reference::{RefKey, WorkItemRef};

impl WriteTx<'_> {
    /// Moves what is kept under `from` to `to`, item rows and marks aside: conversations of its pull requests, comments
    /// seen, what waits and is being done in its lane, and its place as a pull request of other records.
    ///
    /// Sessions keep the key of their pane, effects their place, claims their batch.
    pub fn move_rows(&mut self, from: &RefKey, to: &WorkItemRef) -> Result<(), StoreError> {
        let target = to.key();
        if *from == target {
            return Ok(());
        }
        self.move_endpoints(from, &target)?;
        self.move_seen(from, &target)?;
        self.move_lane(from, &target)?;
        self.move_listed(from, to)
    }

    fn move_endpoints(&mut self, from: &RefKey, target: &RefKey) -> Result<(), StoreError> {
        for session in self.endpoints(from)? {
            let pull_request = session.reference.key();
            self.remove_endpoint(from, &pull_request)?;
            if pull_request != *target {
                self.put_endpoint(target, &session)?;
            }
        }
        Ok(())
    }

    fn move_seen(&mut self, from: &RefKey, target: &RefKey) -> Result<(), StoreError> {
        for node_id in self.seen(from)? {
            self.delete(TableId::Seen, &keys::pair(from.as_str(), &node_id))?;
            self.put_seen(target, &node_id)?;
        }
        Ok(())
    }

    /// Numbers are given over all lanes, so places stay and what waits in both keeps the order of arrival.
    fn move_lane(&mut self, from: &RefKey, target: &RefKey) -> Result<(), StoreError> {
        for effect in self.lane(from, usize::MAX)? {
            self.remove_effect(from, effect.place)?;
            self.put_effect(&Effect { lane: target.clone(), ..effect })?;
        }
        if let Some(claim) = self.claim(from)? {
            self.remove_claim(from)?;
            self.put_claim(&Claim { lane: target.clone(), ..claim })?;
        }
        self.change_dead(|effect| {
            let moves = effect.lane == *from;
            if moves {
                effect.lane = target.clone();
            }
            moves
        })
    }

    /// The records that list `from` as their pull request list `to` instead, in what waits for it too.
    fn move_listed(&mut self, from: &RefKey, to: &WorkItemRef) -> Result<(), StoreError> {
        for owner in self.owners(from)? {
            let Some(mut session) = self.endpoint(&owner, from)? else { continue };
            self.remove_endpoint(&owner, from)?;
            session.reference = to.clone();
            if owner != to.key() {
                self.put_endpoint(&owner, &session)?;
            }
            for mut effect in self.lane(&owner, usize::MAX)? {
                if endpoint_of(&mut effect.body).is_some_and(|endpoint| readdress(endpoint, from, to)) {
                    self.put_effect(&effect)?;
                }
            }
            if let Some(mut claim) = self.claim(&owner)?
                && readdress(&mut claim.endpoint, from, to)
            {
                self.put_claim(&claim)?;
            }
            self.change_dead(|effect| {
                let endpoint = endpoint_of(&mut effect.body).filter(|_| effect.lane == owner);
                endpoint.is_some_and(|endpoint| readdress(endpoint, from, to))
            })?;
        }
        Ok(())
    }

    /// Puts the dead letters back whose effect `change` says it changed.
    fn change_dead(&mut self, mut change: impl FnMut(&mut Effect) -> bool) -> Result<(), StoreError> {
        for (number, mut letter) in self.dead_letters()? {
            if change(&mut letter.effect) {
                self.put_row(TableId::DeadLetters, &keys::number(number), &DeadLetterRow::from(&letter))?;
            }
        }
        Ok(())
    }
}

const fn endpoint_of(body: &mut EffectBody) -> Option<&mut EndpointRef> {
    match body {
        EffectBody::Spawn { endpoint, .. }
        | EffectBody::Deliver { endpoint, .. }
        | EffectBody::End { endpoint, .. } => Some(endpoint),
        EffectBody::Tidy { .. } | EffectBody::PauseRun => None,
    }
}

/// Gives an endpoint the pull request's new reference; whether it was its.
fn readdress(endpoint: &mut EndpointRef, from: &RefKey, to: &WorkItemRef) -> bool {
    match endpoint {
        EndpointRef::PullRequest(reference) if reference.key() == *from => {
            *reference = to.clone();
            true
        }
        EndpointRef::PullRequest(_) | EndpointRef::Item => false,
    }
}
