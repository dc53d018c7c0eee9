//! The earlier system's old tree, taken in on first touch: before a decision reads an item, and all of it when the daemon
//! begins and before an export. It is looked for once, and again only by the look at the whole folder; while nothing of
//! it waits, a decision pays one lock for it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::portable::{Adoption, Loaded, PortableError, release, tell_once};
use super::{App, Settings};
use crate::domain::decide::{DeliveryState, Urgency};
use crate::domain::earlier::{EarlierSession, Found, Known, Plan, Said, Tree, What, ended_since, plan};
use crate::domain::ids::StoreId;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::portable::date::dated;
use crate::domain::portable::files::Located;
use crate::domain::portable::{Hold, Poll, Record, Section, parse, render};
use crate::domain::ports::{RunnerError, TakeOver};
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::session::{Life, PaneKey};
use crate::domain::time::Time;
use crate::store::{StoreError, View, WriteTx};

/// Items taken in by one transaction.
const BATCH: usize = 128;

/// What of the old tree waits to be taken in.
#[derive(Default)]
pub(super) struct Earlier(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    looked: bool,
    /// Something did not act and may act later.
    open: bool,
    items: BTreeMap<RefKey, Vec<Found>>,
    /// Those of which tmux could not say what runs: not asked again before the next look at everything.
    later: BTreeSet<RefKey>,
    /// The owners that old records name for a pull request.
    owners: HashMap<RefKey, RefKey>,
}

/// One item with everything that is needed to decide about its old files.
#[derive(Debug)]
struct Candidate {
    item: WorkItemRef,
    found: Vec<Found>,
    said: Said,
    lives: BTreeMap<String, Life>,
}

/// What came of one item.
struct Judged {
    key: RefKey,
    open: bool,
    adoption: Adoption,
}

impl App {
    /// Takes in what the old tree says about `items` and about records that list them. Call it once their portable files
    /// were looked at: what those say wins.
    pub(super) fn adopt_earlier(&self, items: &[WorkItemRef]) -> Result<Adoption, PortableError> {
        self.look_at_earlier(false)?;
        let chosen = self.earlier.waiting(|waiting| {
            let keys = items.iter().map(WorkItemRef::key);
            let with_owners = keys.flat_map(|key| [waiting.owners.get(&key).cloned(), Some(key)]);
            let keys: BTreeSet<RefKey> = with_owners.flatten().collect();
            let due = keys.into_iter().filter(|key| !waiting.later.contains(key));
            due.filter_map(|key| waiting.items.get(&key).cloned()).collect::<Vec<_>>()
        });
        self.take_in_earlier(chosen)
    }

    /// Whether something of the old tree waits; looks for it the first time.
    pub(super) fn has_earlier(&self) -> Result<bool, PortableError> {
        self.look_at_earlier(false)?;
        Ok(self.earlier.waiting(|waiting| !waiting.items.is_empty()))
    }

    /// What an order about all items must not miss: the old tree, after the portable files that win over it. Without an
    /// old tree no file is looked at.
    pub(super) fn adopt_earlier_first(&self) -> Result<Adoption, PortableError> {
        self.look_at_earlier(true)?;
        let mut adoption = Adoption::default();
        if self.has_earlier()? {
            adoption.merge(self.adopt_folder()?);
            adoption.merge(self.adopt_earlier_tree()?);
        }
        Ok(adoption)
    }

    /// Takes in everything that the old tree says and that was not judged yet. Call it after [`App::adopt_folder`].
    ///
    /// # Errors
    /// As [`App::adopt_for`]; what was taken in until then is.
    pub fn adopt_earlier_tree(&self) -> Result<Adoption, PortableError> {
        self.look_at_earlier(true)?;
        let all = self.earlier.waiting(|waiting| {
            waiting.later.clear();
            waiting.items.values().cloned().collect::<Vec<_>>()
        });
        let mut adoption = Adoption::default();
        for some in all.chunks(BATCH) {
            adoption.merge(self.take_in_earlier(some.to_vec())?);
        }
        Ok(adoption)
    }

    /// Reads the old tree the first time, and `again` when it may have changed.
    fn look_at_earlier(&self, again: bool) -> Result<(), PortableError> {
        let (looked, open) = self.earlier.waiting(|waiting| (waiting.looked, waiting.open));
        if looked && !again {
            return Ok(());
        }
        let Some(tree) = self.parts.earlier.read(open) else {
            self.earlier.waiting(|waiting| waiting.looked = true);
            return Ok(());
        };
        let new = self.parts.store.read(|tx| unjudged(tx, tree))?;
        self.earlier.waiting(|waiting| *waiting = Waiting::of(new));
        Ok(())
    }

    fn take_in_earlier(&self, chosen: Vec<Vec<Found>>) -> Result<Adoption, PortableError> {
        let mut candidates = Vec::new();
        for found in chosen {
            candidates.extend(self.candidate(found)?);
        }
        if candidates.is_empty() {
            return Ok(Adoption::default());
        }
        let (candidates, settings) = (Arc::new(candidates), self.settings());
        let (store, now) = (self.parts.store.id(), self.now());
        let judged = self.parts.store.write(move |tx| {
            let all = candidates.iter().map(|candidate| candidate.judge(tx, &store, &settings, now));
            all.collect::<Result<Vec<Judged>, StoreError>>()
        })?;
        let mut adoption = Adoption::default();
        self.earlier.waiting(|waiting| {
            for judged in judged {
                waiting.items.remove(&judged.key);
                waiting.open |= judged.open;
                adoption.merge(judged.adoption);
            }
        });
        Ok(adoption)
    }

    /// What has to be asked of the world before a decision; `None` while that cannot be known, and then the item waits:
    /// it is not armed, so nothing is started beside an agent that may run.
    fn candidate(&self, found: Vec<Found>) -> Result<Option<Candidate>, PortableError> {
        let Some(item) = found.first().map(|found| found.item.clone()) else { return Ok(None) };
        let Some(said) = self.said(&item)? else { return Ok(None) };
        let session = found.iter().find_map(|found| match &found.what {
            What::Session(session) => Some(session),
            _ => None,
        });
        let row = self.parts.store.read(|tx| tx.item(&item.key()))?;
        let is_free = |session: &EarlierSession| {
            row.as_ref().is_none_or(|row| row.session.is_none() && ended_since(session, row).is_none())
        };
        let lives = match session {
            Some(session) if is_free(session) => match self.lives(&item, session) {
                Ok(lives) => lives,
                Err(error) => {
                    self.wait_for(&item, &error)?;
                    return Ok(None);
                }
            },
            _ => BTreeMap::new(),
        };
        Ok(Some(Candidate { item, found, said, lives }))
    }

    /// Which sections the item's own portable file speaks of; `None` while it cannot be read.
    fn said(&self, item: &WorkItemRef) -> Result<Option<Said>, PortableError> {
        Ok(match self.parts.portable.locate(item, self.now())? {
            Located::Missing => Some(Said::default()),
            Located::Later { .. } | Located::Refused { .. } => None,
            Located::Files(news) => Some(news.iter().fold(Said::default(), |said, news| {
                let record = dated(&news.record, None, None);
                Said {
                    control: said.control || !record.control.is_absent(),
                    poll: said.poll || !record.poll.is_absent(),
                }
            })),
        })
    }

    /// Where the sessions of a record run, which are ours from now on.
    fn lives(&self, owner: &WorkItemRef, session: &EarlierSession) -> Result<BTreeMap<String, Life>, RunnerError> {
        let store = self.parts.store.id();
        let mut lives = BTreeMap::new();
        for session in [session].into_iter().chain(&session.pull_requests).filter(|session| session.may_run()) {
            let Some(name) = &session.tmux_session else { continue };
            let request = TakeOver {
                key: PaneKey::new(&store, owner, &session.reference),
                store: store.0.clone(),
                reference: session.reference.clone(),
                session_name: name.clone(),
            };
            if let Some(life) = self.parts.runner.take_over(&request)? {
                lives.insert(name.clone(), life);
            }
        }
        Ok(lives)
    }

    fn wait_for(&self, item: &WorkItemRef, error: &RunnerError) -> Result<(), StoreError> {
        self.earlier.waiting(|waiting| waiting.later.insert(item.key()));
        let (item, now, text) = (item.clone(), self.now(), error.to_string());
        self.parts.store.write(move |tx| {
            let entry = LogEntry::warn(EventName::PortableAdopted);
            tell_once(tx, &said_name(&item.key()), &item, Some(&text), entry, now)
        })
    }
}

impl Earlier {
    fn waiting<T>(&self, act: impl FnOnce(&mut Waiting) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Waiting {
    fn of(found: Vec<Found>) -> Self {
        let mut waiting = Self { looked: true, ..Self::default() };
        for found in found {
            let key = found.item.key();
            if let What::Session(session) = &found.what {
                let pulls = session.pull_requests.iter().map(|pull| (pull.reference.key(), key.clone()));
                waiting.owners.extend(pulls);
            }
            waiting.items.entry(key).or_default().push(found);
        }
        waiting
    }
}

impl Candidate {
    fn judge(
        &self,
        tx: &mut WriteTx<'_>,
        store: &StoreId,
        settings: &Settings,
        now: Time,
    ) -> Result<Judged, StoreError> {
        let loaded = Loaded::read(tx, None, &self.item)?;
        let key = loaded.key();
        let endpoints = tx.endpoints(&key)?;
        let known = Known {
            item: &loaded.item,
            record: &loaded.record,
            endpoints: &endpoints,
            said: self.said,
            lives: &self.lives,
            store,
            policy: &settings.policy,
            now,
        };
        let plan = plan(&self.found, &known).map_err(|conflict| StoreError::Bug(conflict.to_string()))?;
        let adoption = write(tx, &self.item, &plan, now)?;
        Ok(Judged { key, open: plan.open.is_some(), adoption })
    }
}

fn write(tx: &mut WriteTx<'_>, reference: &WorkItemRef, plan: &Plan, now: Time) -> Result<Adoption, StoreError> {
    let key = reference.key();
    let mut adoption = Adoption::default();
    if let Some(item) = &plan.item {
        tx.put_item(item)?;
        adoption.changed.push(key.clone());
        if plan.hold == Some(Hold::Ends) {
            release(tx, item.clone(), now)?;
            adoption.lanes.push(key.clone());
        }
    }
    for comment in &plan.comments {
        tx.put_seen(&key, comment)?;
    }
    if let Some(ledger) = &plan.ledger {
        let poll = Section::Present(ledger.clone());
        tx.put_meta(&ledger_name(&key), &render(&Record { poll, ..Record::new(reference.clone()) }))?;
    }
    for endpoint in &plan.endpoints {
        tx.put_endpoint(&key, endpoint)?;
    }
    for delivery in &plan.deliveries {
        if tx.delivery(delivery)?.is_none() {
            tx.put_delivery(delivery, DeliveryState::Decided, now)?;
        }
    }
    for (path, digest) in &plan.judged {
        tx.put_adopted(path, digest, now)?;
    }
    for entry in &plan.log {
        tx.append_journal(entry, now)?;
    }
    if let Some(commanded) = plan.export {
        tx.put_mark(&key, if commanded { Urgency::Now } else { Urgency::Cycle }, now)?;
        adoption.marked = true;
    }
    let entry = LogEntry::warn(EventName::PortableAdopted);
    tell_once(tx, &said_name(&key), reference, plan.open.as_deref(), entry, now)?;
    Ok(adoption)
}

/// What of the tree this store has not judged.
///
/// # Errors
/// The store did not answer.
pub fn unjudged(tx: &impl View, tree: Tree) -> Result<Vec<Found>, StoreError> {
    let mut new = Vec::new();
    for found in tree.found {
        if !tx.adopted(&found.path, &found.digest)? {
            new.push(found);
        }
    }
    Ok(new)
}

fn said_name(key: &RefKey) -> String {
    format!("earlier.said:{key}")
}

fn ledger_name(key: &RefKey) -> String {
    format!("earlier.ledger:{key}")
}

/// What of an item's old `poll` its portable file has yet to be given.
pub(super) fn ledger(tx: &impl View, key: &RefKey) -> Result<Option<Poll>, StoreError> {
    let record = tx.meta(&ledger_name(key))?.and_then(|text| parse(text.as_bytes()).ok());
    Ok(record.and_then(|record| record.poll.present().cloned()))
}

/// The portable file has it now.
pub(super) fn forget_ledger(tx: &mut WriteTx<'_>, key: &RefKey) -> Result<(), StoreError> {
    tx.remove_meta(&ledger_name(key)).map(drop)
}
