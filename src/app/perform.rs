//! Performing: claim, do, settle, each durable; the next effect of a lane starts only after settle.

use std::sync::Arc;

use super::in_flight::Turn;
use super::{App, Settings};
use crate::domain::effect::{Claim, Class, DeadLetter, DeadReason, Effect, EffectBody, EndpointRef, NewEffect};
use crate::domain::ids::{BatchId, InstanceId};
use crate::domain::item::Item;
use crate::domain::lane::{self, Done, LaneView, MAX_BATCH, Next, Settlement, Work};
use crate::domain::log::{EventName, LogEntry};
use crate::domain::ports::Ids;
use crate::domain::reference::RefKey;
use crate::domain::session::SessionState;
use crate::domain::time::Time;
use crate::store::{StoreError, View as _, WriteTx};

/// Where a lane stands after it was advanced.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// Nothing waits.
    Idle,
    /// Something waits; look again at the time, if any, or when something new arrives.
    Waiting(Option<Time>),
    /// The next step is slow work, and the caller asked for quick work only.
    NeedsSlow,
    /// The round's share is done and more may wait.
    More,
}

/// Which work a look at a lane may claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allow {
    /// Everything that does not take long.
    Quick,
    /// Everything.
    All,
}

impl Allow {
    fn allows(self, work: &Work) -> bool {
        match self {
            Self::Quick => !work.is_slow(),
            Self::All => true,
        }
    }

    /// Asking what became of a delivery is quick, however it was made.
    fn allows_recovery(self, work: &Work) -> bool {
        self.allows(work) || (self == Self::Quick && !matches!(work, Work::Spawn { .. } | Work::Tidy { .. }))
    }
}

/// Work that is claimed in the store; only this can be done. Made by the transaction that wrote the claim.
pub(super) struct Claimed {
    pub(super) claim: Claim,
    pub(super) item: Item,
    pub(super) work: Work,
    /// Begun by an earlier claim whose end nobody saw.
    pub(super) recovering: bool,
}

/// What a look at the lane came to.
pub(super) enum Look {
    Claimed(Box<Claimed>),
    Progress(Progress),
}

impl App {
    /// Does up to `rounds` pieces of work of one lane. Callers see to it that a lane is advanced once at a time.
    pub fn advance(&self, lane: &RefKey, allow_slow: bool, rounds: usize) -> Result<Progress, StoreError> {
        let guard = self.in_flight.begin();
        let allow = if allow_slow { Allow::All } else { Allow::Quick };
        let mut looking = self.looking(lane, allow, guard.turn());
        let mut look = self.parts.store.write(move |tx| looking.look(tx))?;
        for round in 1.. {
            let claimed = match look {
                Look::Progress(progress) => return Ok(progress),
                Look::Claimed(claimed) => claimed,
            };
            let done = match claimed.recovering {
                true => self.recover_work(&claimed.item, &claimed.work, &claimed.claim.batch),
                false => self.do_work(&claimed.item, &claimed.work, &claimed.claim.batch),
            };
            look = self.settle(*claimed, done, self.looking(lane, allow, guard.turn()), round >= rounds)?;
            // What became of it is told.
            self.desk.ring();
        }
        Ok(Progress::More)
    }

    /// Settles one piece of work and, in the same transaction, looks for the next.
    ///
    /// The claim is found again by its batch: the item may have got another name while the work ran.
    pub(super) fn settle(
        &self,
        claimed: Claimed,
        done: Done,
        mut looking: Looking,
        last: bool,
    ) -> Result<Look, StoreError> {
        let (jitter, desk) = (self.parts.ids.below(1000), Arc::clone(&self.desk));
        self.parts.store.write(move |tx| {
            let now = looking.now;
            let Some(claim) = present_claim(tx, &claimed.claim)? else { return Ok(Look::Progress(Progress::More)) };
            let done = overdue(&claim, &done, &looking.settings, now);
            let view = view_of(tx, &claim)?;
            let Some(view) = view else { return Ok(Look::Progress(Progress::Idle)) };
            let work = claimed.work.clone().at(claim.endpoint.clone());
            let mut settlement = lane::settle(&view, &work, &done, &looking.settings.policy, now, jitter);
            desk.keep_tellable(&mut settlement.tells, now);
            apply(tx, &claim.lane, &view, &settlement, now)?;
            if settlement.keep_claim {
                return Ok(Look::Progress(Progress::Waiting(settlement.until)));
            }
            tx.remove_claim(&claim.lane)?;
            // An empty lane is looked at in any case: what it forgets goes with its last settlement.
            match last && tx.lane_count(&claim.lane)? > 0 {
                true => Ok(Look::Progress(Progress::More)),
                false => looking.look(tx),
            }
        })
    }

    pub(super) fn looking(&self, lane: &RefKey, allow: Allow, turn: Turn) -> Looking {
        Looking {
            turn,
            lane: lane.clone(),
            allow,
            settings: self.settings(),
            instance: self.parts.instance.clone(),
            ids: Arc::clone(&self.parts.ids),
            batch: BatchId::from_hex(&self.parts.ids.uuid()),
            now: self.now(),
        }
    }
}

/// A look at a lane that ends in a claim when there is something to do; it can be run again with its group.
pub(super) struct Looking {
    lane: RefKey,
    allow: Allow,
    settings: Arc<Settings>,
    instance: InstanceId,
    ids: Arc<dyn Ids>,
    batch: BatchId,
    now: Time,
    turn: Turn,
}

impl Looking {
    pub(super) fn look(&mut self, tx: &mut WriteTx<'_>) -> Result<Look, StoreError> {
        if let Some(claim) = tx.claim(&self.lane)? {
            if !self.turn.take(&claim.batch) {
                // Another worker does it, under the name the item had when it was claimed.
                return Ok(Look::Progress(Progress::Waiting(Some(self.now.plus_seconds(1)))));
            }
            let theirs = claim.instance != self.instance && self.ids.is_living(&claim.instance);
            return match recover(tx, claim)? {
                // A living process is at it, in the middle of typing perhaps. An ending can be done by two.
                Look::Claimed(claimed) if theirs && !matches!(claimed.work, Work::End { .. }) => {
                    Ok(Look::Progress(Progress::Waiting(Some(self.now.plus_seconds(1)))))
                }
                Look::Claimed(claimed) if !self.allow.allows_recovery(&claimed.work) => {
                    Ok(Look::Progress(Progress::NeedsSlow))
                }
                look => Ok(look),
            };
        }
        let mut limit = MAX_BATCH + 1;
        loop {
            let Some(item) = tx.item(&self.lane)? else { return Ok(Look::Progress(Progress::Idle)) };
            let effects = first_effects(tx, &item, &self.lane, limit, self.now)?;
            let is_part = effects.len() == limit;
            let view = LaneView { item, endpoints: tx.endpoints(&self.lane)?, effects };
            match lane::next(&view, self.now) {
                Next::Idle => return Ok(Look::Progress(Progress::Idle)),
                Next::Forget { record, pull_requests } => forget(tx, &view.item, record, &pull_requests)?,
                // What waits behind a held conversation may be for another one.
                Next::Wait { until: None, why: lane::HELD_BY_BREAKER } if is_part => limit = usize::MAX,
                Next::Wait { until, .. } => return Ok(Look::Progress(Progress::Waiting(until))),
                Next::Drop { places, reason } => self.drop(tx, &view, &places, reason)?,
                Next::Bury { place, detail } => {
                    if let Some(effect) = view.effects.iter().find(|effect| effect.place == place) {
                        let given_up = lane::give_up(&view.item.reference, effect, &detail, &self.settings.policy);
                        apply(tx, &self.lane, &view, &given_up, self.now)?;
                    }
                }
                Next::Prepare { endpoint } => self.prepare(tx, &view, &endpoint)?,
                Next::Do(work) if !self.allow.allows(&work) => return Ok(Look::Progress(Progress::NeedsSlow)),
                Next::Do(work) => return self.claim(tx, view.item, work),
            }
        }
    }

    fn claim(&self, tx: &mut WriteTx<'_>, item: Item, work: Work) -> Result<Look, StoreError> {
        // Before the claim can be seen: whoever sees it must know that it is being done.
        self.turn.take(&self.batch);
        let claim = Claim {
            lane: self.lane.clone(),
            members: work.members(),
            endpoint: work.endpoint().clone(),
            batch: self.batch.clone(),
            life: work.life().cloned(),
            held: work.held(),
            instance: self.instance.clone(),
            at: self.now,
        };
        tx.put_claim(&claim)?;
        Ok(Look::Claimed(Box::new(Claimed { claim, item, work, recovering: false })))
    }

    fn drop(
        &self,
        tx: &mut WriteTx<'_>,
        view: &LaneView,
        places: &[crate::domain::effect::Place],
        reason: &'static str,
    ) -> Result<(), StoreError> {
        for effect in view.effects.iter().filter(|effect| places.contains(&effect.place)) {
            let entry = LogEntry::info(EventName::DispatchDropped)
                .with("workItem", view.item.reference.to_string())
                .with("verb", effect.body.verb())
                .with("reason", reason);
            let entry = match &effect.body {
                EffectBody::Deliver { message, .. } => entry.with("delivery", message.delivery.as_str()),
                EffectBody::Spawn { .. } | EffectBody::End { .. } | EffectBody::Tidy { .. } | EffectBody::PauseRun => {
                    entry
                }
            };
            tx.append_journal(&entry, self.now)?;
            over(tx, &self.lane, effect, reason, self.now)?;
        }
        Ok(())
    }

    /// Puts the spawn of a conversation in front of what waits for it.
    fn prepare(&self, tx: &mut WriteTx<'_>, view: &LaneView, endpoint: &EndpointRef) -> Result<(), StoreError> {
        let Some(mut session) = view.session(endpoint).cloned() else { return Ok(()) };
        session.state = SessionState::Starting;
        let body = EffectBody::Spawn {
            endpoint: endpoint.clone(),
            generation: session.generation,
            resume: session.conversation.is_some(),
            asked_by: None,
        };
        match endpoint {
            EndpointRef::Item => tx.put_item(&Item { session: Some(session), ..view.item.clone() })?,
            EndpointRef::PullRequest(_) => tx.put_endpoint(&self.lane, &session)?,
        }
        tx.push_effect(NewEffect { lane: self.lane.clone(), class: Class::Preparing, body }, self.now)?;
        Ok(())
    }
}

/// Forgets what a reset ended, where nothing of its lane is left to do. A reset calls it in its own transaction, and every
/// look at an empty lane does the same.
pub(super) fn forget_what_was_reset(tx: &mut WriteTx<'_>, lane: &RefKey, now: Time) -> Result<(), StoreError> {
    let (Some(item), None) = (tx.item(lane)?, tx.claim(lane)?) else { return Ok(()) };
    let view = LaneView { item, endpoints: tx.endpoints(lane)?, effects: tx.lane(lane, 1)? };
    match lane::next(&view, now) {
        Next::Forget { record, pull_requests } => forget(tx, &view.item, record, &pull_requests),
        _ => Ok(()),
    }
}

fn forget(tx: &mut WriteTx<'_>, item: &Item, record: bool, pull_requests: &[RefKey]) -> Result<(), StoreError> {
    for pull_request in pull_requests {
        tx.remove_endpoint(&item.reference.key(), pull_request)?;
    }
    match record {
        true => tx.put_item(&Item { session: None, ..item.clone() }),
        false => Ok(()),
    }
}

/// The work of a claim that was never settled.
fn recover(tx: &mut WriteTx<'_>, claim: Claim) -> Result<Look, StoreError> {
    let view = view_of(tx, &claim)?;
    let work = view.as_ref().and_then(|view| work_of(&claim, view));
    match (view, work) {
        (Some(view), Some(work)) => {
            Ok(Look::Claimed(Box::new(Claimed { claim, item: view.item, work, recovering: true })))
        }
        _ => {
            tx.remove_claim(&claim.lane)?;
            Ok(Look::Progress(Progress::More))
        }
    }
}

fn work_of(claim: &Claim, view: &LaneView) -> Option<Work> {
    let session = Box::new(view.session(&claim.endpoint)?.clone());
    let (place, endpoint) = (*claim.members.first()?, claim.endpoint.clone());
    match &view.effects.first()?.body {
        EffectBody::Spawn { resume, .. } => Some(Work::Spawn { place, endpoint, session, resume: *resume }),
        EffectBody::End { reason, keep_pane, .. } => {
            let (life, reason, keep_pane) = (claim.life.clone()?, *reason, *keep_pane);
            Some(Work::End { place, endpoint, session, life, reason, keep_pane })
        }
        EffectBody::Tidy { .. } => Some(Work::Tidy { place, session }),
        EffectBody::PauseRun => Some(Work::PauseRun { place, session }),
        EffectBody::Deliver { .. } => {
            let messages = view.effects.iter().filter_map(|effect| match &effect.body {
                EffectBody::Deliver { message, .. } => Some(message.as_ref().clone()),
                _ => None,
            });
            let (messages, members) = (messages.collect::<Vec<_>>(), claim.members.clone());
            let life = claim.life.clone()?;
            Some(Work::Deliver { members, endpoint, session, life, held: claim.held, messages })
        }
    }
}

/// A claim that has been unsure for longer than an effect may run is `unknown`.
fn overdue(claim: &Claim, done: &Done, settings: &Settings, now: Time) -> Done {
    let deadline = claim.at.plus_seconds(i64::from(settings.policy.dispatch_timeout_seconds));
    match done {
        Done::PastedOnly | Done::Unsure(_) if now > deadline => {
            Done::Unknown("no answer within the time an effect may take".into())
        }
        done => done.clone(),
    }
}

/// The claim as it stands now, wherever its item went.
fn present_claim(tx: &WriteTx<'_>, claim: &Claim) -> Result<Option<Claim>, StoreError> {
    match tx.claim(&claim.lane)? {
        Some(found) if found.batch == claim.batch => Ok(Some(found)),
        _ => Ok(tx.claims()?.into_iter().find(|found| found.batch == claim.batch)),
    }
}

/// The rows a claim is about.
fn view_of(tx: &WriteTx<'_>, claim: &Claim) -> Result<Option<LaneView>, StoreError> {
    let mut effects = Vec::new();
    for place in &claim.members {
        effects.extend(tx.effect(&claim.lane, *place)?);
    }
    let Some(item) = tx.item(&claim.lane)? else { return Ok(None) };
    Ok(Some(LaneView { item, endpoints: tx.endpoints(&claim.lane)?, effects }))
}

/// The first `limit` effects of a lane; its first alone where that decides. Messages can be large, and this is read on
/// the thread that everything waits for.
fn first_effects(
    tx: &WriteTx<'_>,
    item: &Item,
    lane: &RefKey,
    limit: usize,
    now: Time,
) -> Result<Vec<Effect>, StoreError> {
    let first = tx.lane(lane, 1)?;
    match first.first() {
        Some(effect) if !lane::is_decided_by(item, effect, now) => tx.lane(lane, limit),
        _ => Ok(first),
    }
}

/// Writes a settlement of effects that stand in `view`.
fn apply(
    tx: &mut WriteTx<'_>,
    lane: &RefKey,
    view: &LaneView,
    settlement: &Settlement,
    now: Time,
) -> Result<(), StoreError> {
    if let Some(item) = &settlement.item {
        tx.put_item(item)?;
    }
    if let Some(endpoint) = &settlement.endpoint {
        tx.put_endpoint(lane, endpoint)?;
    }
    for (place, how) in &settlement.over {
        if let Some(effect) = view.effects.iter().find(|effect| effect.place == *place) {
            over(tx, lane, effect, how, now)?;
        }
    }
    for effect in &settlement.again {
        tx.put_effect(effect)?;
    }
    for (effect, reason, detail) in &settlement.dead {
        bury(tx, lane, effect, *reason, detail, now)?;
    }
    for effect in &settlement.new {
        tx.push_effect(effect.clone(), now)?;
    }
    for entry in &settlement.log {
        tx.append_journal(entry, now)?;
    }
    settlement.tells.iter().try_for_each(|tell| tx.push_tell(tell, now))
}

/// Removes an effect and remembers how it ended.
pub(super) fn over(
    tx: &mut WriteTx<'_>,
    lane: &RefKey,
    effect: &Effect,
    how: &str,
    now: Time,
) -> Result<(), StoreError> {
    tx.remove_effect(lane, effect.place)?;
    tx.put_settled(effect.place, lane, effect.body.verb(), how, now)
}

fn bury(
    tx: &mut WriteTx<'_>,
    lane: &RefKey,
    effect: &Effect,
    reason: DeadReason,
    detail: &str,
    now: Time,
) -> Result<(), StoreError> {
    tx.remove_effect(lane, effect.place)?;
    let letter = DeadLetter { effect: effect.clone(), reason, detail: detail.to_owned(), at: now };
    tx.put_dead(&letter).map(|_| ())
}
