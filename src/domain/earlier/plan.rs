//! What of the old tree an item takes over. Pure; decided inside the transaction that writes it.

use std::collections::{BTreeMap, BTreeSet};

use super::session::{EarlierSession, Status};
use super::{Found, What};
use crate::domain::ids::{DeliveryId, StoreId};
use crate::domain::item::Item;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::policy::Policy;
use crate::domain::portable::{Conflict, Ended, Hold, Intake, Poll, Record, Section, take_in};
use crate::domain::reference::RefKey;
use crate::domain::session::{EndReason, Life, Session, SessionState};
use crate::domain::time::Time;

/// The earlier system kept the ids of no more comments than this: a full list does not tell of older ones.
const KEPT_COMMENTS: usize = 500;

/// Which sections an item's portable file has something to say about, `null` included: they win over the old tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said {
    /// `control`.
    pub control: bool,
    /// `poll`.
    pub poll: bool,
}

/// What is known of an item before its old files are taken in.
#[derive(Debug, Clone, Copy)]
pub struct Known<'k> {
    /// Its row.
    pub item: &'k Item,
    /// The record that the store holds of it.
    pub record: &'k Record,
    /// Conversations of its pull requests.
    pub endpoints: &'k [Session],
    /// What its portable file says.
    pub said: Said,
    /// Where the sessions of old records were found running, by their tmux name.
    pub lives: &'k BTreeMap<String, Life>,
    /// The store.
    pub store: &'k StoreId,
    /// Who is trusted.
    pub policy: &'k Policy,
    /// Now.
    pub now: Time,
}

/// What is to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The item's row, when it changed.
    pub item: Option<Item>,
    /// Comments the store did not know.
    pub comments: BTreeSet<String>,
    /// What only the portable file keeps of `poll`, for its next export.
    pub ledger: Option<Poll>,
    /// New conversations of pull requests.
    pub endpoints: Vec<Session>,
    /// Deliveries that were made.
    pub deliveries: Vec<DeliveryId>,
    /// Whether the portable file has to follow; true inside when the command changed.
    pub export: Option<bool>,
    /// What changes of the item's hold.
    pub hold: Option<Hold>,
    /// Files and entries that are never looked at again, by path and digest.
    pub judged: Vec<(String, String)>,
    /// What did not act and may act later.
    pub open: Option<String>,
    /// The trail.
    pub log: Vec<LogEntry>,
}

/// Decides what an item takes over of `found`, which is all about it and in the order of preference.
///
/// # Errors
/// Something of it is about another item.
pub fn plan(found: &[Found], known: &Known<'_>) -> Result<Plan, Conflict> {
    let (old, froms) = portable(found, known);
    let mut item = known.item.clone();
    let intake = take_in(&item, known.record, &old, known.policy, known.now)?;
    let hold = intake.apply(&mut item);
    let ledger = old.poll.present().filter(|poll| has_ledger(poll)).cloned();
    let mut plan = Plan {
        item: None,
        comments: intake.adopted.new_comments.clone(),
        ledger: ledger.map(|poll| Poll { seen_comments: BTreeSet::new(), ..poll }),
        endpoints: Vec::new(),
        deliveries: Vec::new(),
        export: None,
        hold,
        judged: judged(found, intake.open().is_some()),
        open: intake.open(),
        log: Vec::new(),
    };
    if intake.adopted.changed || plan.ledger.is_some() {
        plan.export = Some(intake.adopted.control.is_some());
        plan.log.push(taken(&item, &intake, &froms));
    }
    let taken_over = session(found).filter(|_| item.session.is_none());
    let is_new = taken_over.is_some_and(|(from, earlier)| over(&mut plan, &mut item, from, earlier, &intake, known));
    plan.item = (is_new || intake.adopted.changed).then_some(item);
    Ok(plan)
}

/// The sections that nothing here says anything about, as the old tree has them, and where they stand.
fn portable<'f>(found: &'f [Found], known: &Known<'_>) -> (Record, Vec<&'f str>) {
    let (mut old, mut from) = (Record::new(known.item.reference.clone()), Vec::new());
    let controls = found.iter().filter_map(|found| match &found.what {
        What::Control(record) => Some((found.path.as_str(), record)),
        _ => None,
    });
    // Several are several spellings of one item; the last command is the newest.
    let newest = controls.max_by_key(|(_, record)| record.requested_at());
    if let Some((path, record)) = newest.filter(|_| !known.said.control && known.record.control.is_absent()) {
        (old.control, old.commanded_at) = (record.control.clone(), record.requested_at());
        from.push(path);
    }
    let poll = found.iter().find_map(|found| match &found.what {
        What::Poll(record) => Some((found.path.as_str(), record)),
        _ => None,
    });
    // What the store has seen beside it stays: seen comments are a union.
    if let Some((path, record)) = poll.filter(|_| !known.said.poll) {
        old.poll = record.poll.clone();
        from.push(path);
    }
    (old, from)
}

fn session(found: &[Found]) -> Option<(&str, &EarlierSession)> {
    found.iter().find_map(|found| match &found.what {
        What::Session(session) => Some((found.path.as_str(), session.as_ref())),
        _ => None,
    })
}

fn has_ledger(poll: &Poll) -> bool {
    [&poll.comment_attempts, &poll.spawn, &poll.gave_up, &poll.extra].iter().any(|part| !part.is_empty())
}

/// Everything but a command that may act later.
fn judged(found: &[Found], is_open: bool) -> Vec<(String, String)> {
    let done = found.iter().filter(|found| !(is_open && matches!(found.what, What::Control(_))));
    done.map(|found| (found.path.clone(), found.digest.clone())).collect()
}

fn taken(item: &Item, intake: &Intake, froms: &[&str]) -> LogEntry {
    let record = &intake.adopted.record;
    let comments = intake.adopted.new_comments.len();
    LogEntry::info(EventName::PortableAdopted)
        .with("workItem", item.reference.to_string())
        .with("file", froms.join(", "))
        .with("armed", record.is_armed())
        .with_some("command", record.control.present().map(|control| control.command.as_str()))
        .with_some("newComments", (comments > 0).then_some(comments))
}

/// Takes a session over, unless a reset came after it. One whose item ended since is over, its conversation kept.
fn over(
    plan: &mut Plan,
    item: &mut Item,
    from: &str,
    earlier: &EarlierSession,
    intake: &Intake,
    known: &Known<'_>,
) -> bool {
    let ended = ended_since(earlier, item).cloned();
    if ended.as_ref().is_some_and(|ended| ended.reason == EndReason::Reset.as_str()) {
        return false;
    }
    let at_end = |mut session: Session| {
        if let Some(ended) = &ended {
            session.state = SessionState::Closed { at: ended.at, reason: EndReason::Closed };
        }
        session
    };
    let session = |of: &EarlierSession| {
        let life = of.tmux_session.as_ref().and_then(|name| known.lives.get(name)).cloned();
        at_end(of.session(known.store, &item.reference, life, known.now))
    };
    let listed: BTreeSet<RefKey> = known.endpoints.iter().map(|endpoint| endpoint.reference.key()).collect();
    let new = earlier.pull_requests.iter().filter(|pull| !listed.contains(&pull.reference.key()));
    plan.endpoints = new.map(session).collect();
    let own = session(earlier);
    let all = earlier.pull_requests.iter().chain([earlier]);
    plan.deliveries = all.flat_map(|session| session.deliveries.iter().cloned()).collect();
    plan.log.push(
        LogEntry::info(EventName::SessionRegistered)
            .with("workItem", item.reference.to_string())
            .with("file", from)
            .with("harness", earlier.harness.as_str())
            .with("running", own.life().is_some())
            .with("pullRequests", plan.endpoints.len())
            .with_some("sessionId", own.conversation.as_ref().map(|id| id.as_str())),
    );
    item.session = Some(own);
    item.baseline = item.baseline.or_else(|| last_heard(earlier, &intake.adopted.record.poll));
    true
}

/// The ending of an item after which an old session did nothing any more.
pub fn ended_since<'i>(session: &EarlierSession, item: &'i Item) -> Option<&'i Ended> {
    item.sections.ended.as_ref().filter(|ended| session.last_active().is_none_or(|at| ended.at >= at))
}

/// Until when everything was heard: what is older is not new, although nothing names it.
///
/// Where comments were polled, those that were heard are named one by one from the session's beginning on, unless the
/// list was full and lost its oldest.
fn last_heard(session: &EarlierSession, poll: &Section<Poll>) -> Option<Time> {
    match poll.present() {
        Some(poll) if poll.seen_comments.len() < KEPT_COMMENTS && session.status != Status::Closed => {
            session.created_at.or(session.last_event_at)
        }
        Some(poll) => poll.last_polled_at.max(session.last_active()),
        None => session.last_active(),
    }
}
