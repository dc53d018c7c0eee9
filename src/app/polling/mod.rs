//! Polling one repository once: ask, make events of what is listed, decide them, and keep how far it went, in one
//! transaction (events rules, section 2).
//!
//! `round` holds one cycle, `begin` what the first one reads, `lists` what the others do, `items` single issues and pull
//! requests, `threads` conversations that are read whole, `checks` the heads of pull requests.

mod all;
mod begin;
mod checks;
mod counted;
mod items;
mod lists;
mod round;
mod threads;

use std::sync::Arc;

use super::ingest::{Arrival, Taken};
use super::{App, view};
use crate::domain::github::{Purpose, Trouble};
use crate::domain::log::{EventName, LogEntry};
use crate::domain::polling::{Followed, Progress, Source, follow};
use crate::domain::reference::RefKey;
use crate::domain::time::Time;
use crate::store::{PolledView as _, ReadTx, StoreError, View as _};
pub use all::Polled;
use counted::{Count, Counted};
use round::{Gathered, Round};

/// Most events of one transaction.
const BATCH: usize = 200;

/// What one cycle of one repository came to.
#[derive(Debug, Default)]
pub struct Cycle {
    /// What was asked.
    pub requests: u32,
    /// How many answers were 304.
    pub unchanged: u32,
    /// Events that were decided.
    pub events: usize,
    /// Lanes that have something to look at.
    pub lanes: Vec<RefKey>,
    /// Whether a portable file has to follow.
    pub marked: bool,
    /// Whether an event waits for a fact.
    pub waits: bool,
    /// Not asked at all until then.
    pub paused: Option<Time>,
    /// What went wrong, for people.
    pub trouble: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl App {
    /// Polls `source` once, unless it is to be left alone now; `by_hand` says that a person asks for it. The caller sees to
    /// it that a repository has one cycle at a time, as [`App::poll_all`] does.
    ///
    /// # Errors
    /// The store did not answer; nothing that was not stored counts as read.
    pub fn poll(&self, source: &Source, by_hand: bool) -> Result<Cycle, StoreError> {
        let key = source.repository.key();
        let progress = self.parts.store.read(|tx| tx.poll(&key))?.unwrap_or_default();
        if let Some(until) = self.held_off(source, &progress, by_hand) {
            let (trouble, hint) = progress.pause.last.map(|last| (last.what, last.hint)).unzip();
            return Ok(Cycle { paused: Some(until), trouble, hint: hint.flatten(), ..Cycle::default() });
        }
        let counted = Counted::new(self.parts.github.as_ref(), self.parts.clock.as_ref());
        let (settings, followed) = (self.settings(), self.followed(source, &progress)?);
        let mut round = Round::new(source, &settings.policy, &counted, progress.clone(), followed, self.now());
        let read = round.read();
        let gathered = round.finish();
        let count = counted.count();
        self.note_limits(source.repository.host(), &count);
        match read {
            Ok(()) => self.store_round(source, gathered, &count),
            Err(trouble) => self.store_trouble(source, progress, &trouble, &count),
        }
    }

    /// Until when the repository is left alone: after trouble, or because only the reserve of the host's budget is left.
    fn held_off(&self, source: &Source, progress: &Progress, by_hand: bool) -> Option<Time> {
        let now = self.now();
        let pause = if by_hand { progress.pause.holds_people(now) } else { progress.pause.holds(now) };
        pause.or_else(|| {
            let budgets = self.budgets.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let budget = budgets.get(&source.repository.host().to_ascii_lowercase())?;
            budget.holds("core", Purpose::Background, now)
        })
    }

    fn note_limits(&self, host: &str, count: &Count) {
        let mut budgets = self.budgets.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let budget = budgets.entry(host.to_ascii_lowercase()).or_default();
        count.limits.iter().for_each(|seen| budget.note(&seen.limit, seen.date, seen.now));
    }

    /// The items of the repository that are followed, under any of its names.
    fn followed(&self, source: &Source, progress: &Progress) -> Result<Vec<Followed>, StoreError> {
        self.parts.store.read(|tx| {
            let mut followed = Vec::new();
            for key in names(tx, source, progress)? {
                let items = tx.items_of_repo(&key)?;
                followed.extend(items.iter().filter_map(follow));
                followed.extend(owned(tx, &key)?);
            }
            Ok(followed)
        })
    }

    /// Decides what was gathered and keeps how far it went.
    fn store_round(&self, source: &Source, gathered: Gathered, count: &Count) -> Result<Cycle, StoreError> {
        let Gathered { mut progress, arrivals, is_whole, trouble, log } = gathered;
        let now = self.now();
        match &trouble {
            None => progress.pause.succeeded(),
            Some(trouble) => progress.pause.met_in_part(trouble, now, self.parts.ids.below(1000)),
        }
        progress.cycled_at = Some(now);
        progress.polled_at = progress.polled_at.max(count.date.filter(|_| is_whole));
        progress.offset = count.offset.or(progress.offset);
        (progress.requests, progress.unchanged) = (count.requests, count.unchanged);
        let mut cycle = Cycle {
            requests: count.requests,
            unchanged: count.unchanged,
            trouble: trouble.as_ref().map(Trouble::to_string),
            hint: trouble.as_ref().and_then(Trouble::hint),
            ..Cycle::default()
        };
        let mut rest = arrivals;
        while rest.len() > BATCH {
            let later = rest.split_off(BATCH);
            self.decide_listed(std::mem::replace(&mut rest, later), &mut cycle, None)?;
        }
        self.decide_listed(rest, &mut cycle, Some((source.repository.key(), progress, log)))?;
        Ok(cycle)
    }

    /// Nothing could be read: what was known before holds, and it is asked again later.
    fn store_trouble(
        &self,
        source: &Source,
        mut progress: Progress,
        trouble: &Trouble,
        count: &Count,
    ) -> Result<Cycle, StoreError> {
        let now = self.now();
        let is_news = progress.pause.last.as_ref().is_none_or(|last| last.what != trouble.to_string());
        progress.pause.met(trouble, now, self.parts.ids.below(1000));
        progress.cycled_at = Some(now);
        (progress.requests, progress.unchanged) = (count.requests, count.unchanged);
        let entry = LogEntry::warn(EventName::PollCycle)
            .with("repository", source.repository.to_string())
            .with("error", trouble.to_string())
            .with_some("until", progress.pause.until.map(|until| until.to_string()));
        let (paused, key) = (progress.pause.until, source.repository.key());
        self.parts.store.write(move |tx| {
            if is_news {
                tx.append_journal(&entry, now)?;
            }
            tx.put_poll(&key, &progress)
        })?;
        let (trouble, hint) = (Some(trouble.to_string()), trouble.hint());
        Ok(Cycle { requests: count.requests, unchanged: count.unchanged, paused, trouble, hint, ..Cycle::default() })
    }

    /// Decides `arrivals` in one transaction, with how far the cycle went when they are its last. A bug in one of them
    /// does not undo the others: then each is decided on its own.
    fn decide_listed(
        &self,
        arrivals: Vec<Arrival>,
        cycle: &mut Cycle,
        last: Option<(String, Progress, Vec<LogEntry>)>,
    ) -> Result<(), StoreError> {
        for arrival in &arrivals {
            // A folder that cannot be read keeps nothing from being decided.
            if let Ok(adoption) = self.adopt_for(&arrival.event) {
                cycle.lanes.extend(adoption.lanes);
                cycle.marked |= adoption.marked;
            }
        }
        cycle.events += arrivals.len();
        let arrivals: Vec<Arc<Arrival>> = arrivals.into_iter().map(Arc::new).collect();
        let decidings: Vec<_> = arrivals.iter().map(|arrival| self.deciding(Arc::clone(arrival))).collect();
        let (now, kept) = (self.now(), last.clone());
        let taken = self.parts.store.write(move |tx| {
            let taken = decidings.iter().map(|deciding| deciding.run(tx)).collect::<Result<Vec<Taken>, _>>()?;
            if let Some((key, progress, log)) = &kept {
                log.iter().try_for_each(|entry| tx.append_journal(entry, now).map(drop))?;
                tx.put_poll(key, progress)?;
            }
            Ok(taken)
        });
        let taken = match taken {
            Err(StoreError::Bug(_)) if !arrivals.is_empty() => {
                let taken = arrivals.iter().map(|arrival| self.ingest(arrival)).collect::<Result<Vec<Taken>, _>>()?;
                self.decide_listed(Vec::new(), cycle, last)?;
                taken
            }
            taken => taken?,
        };
        taken.iter().for_each(|taken| self.ring_for(taken));
        for Taken { lanes, marked, waits, .. } in taken {
            cycle.lanes.extend(lanes);
            cycle.marked |= marked;
            cycle.waits |= waits;
        }
        Ok(())
    }
}

/// The lower-case keys of a repository: as it is configured, and as it is called by now.
fn names(tx: &ReadTx<'_>, source: &Source, progress: &Progress) -> Result<Vec<String>, StoreError> {
    let mut keys = vec![source.repository.key()];
    if let Some(known) = &progress.repository {
        let names = tx.repository(source.repository.host(), known.id)?;
        keys.extend(names.map(|names| names.current.key()).filter(|key| *key != keys[0]));
    }
    Ok(keys)
}

/// The open pull requests of a repository that live records list.
fn owned(tx: &ReadTx<'_>, key: &str) -> Result<Vec<Followed>, StoreError> {
    let mut owned = Vec::new();
    for pull_request in tx.pull_requests_of_repo(key)? {
        let Ok(reference) = crate::domain::reference::WorkItemRef::parse(pull_request.as_str()) else { continue };
        for owner in tx.owners(&pull_request)? {
            let Some(item) = tx.item(&owner)?.filter(|item| item.live_session().is_some()) else { continue };
            if tx.endpoint(&owner, &pull_request)?.is_some_and(|endpoint| !endpoint.is_over()) {
                let reference = view::present_item(tx, &reference)?;
                owned.push(Followed::owned(reference.number(), follow(&item).as_ref()));
                break;
            }
        }
    }
    Ok(owned)
}
