//! Events that wait for a fact: GitHub is asked, and they are decided with what it says (events rules, section 4).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::App;
use super::asking::{items, people};
use super::ingest::{Arrival, Taken};
use crate::domain::decide::{Learnt, MissingFact, Waiting};
use crate::domain::event::body::{self, MediaType};
use crate::domain::event::listed::is_pull;
use crate::domain::event::webhook;
use crate::domain::github::{Permission, Trouble, Unsent};
use crate::domain::ids::Login;
use crate::domain::reference::{DEFAULT_HOST, RefKey, RepoRef};
use crate::domain::signature::TrustedBody;
use crate::domain::time::Time;
use crate::store::{PolledView as _, StoreError, Waiter};

/// Longest that a fact is left alone between two tries, seconds.
const LONGEST_WAIT: i64 = 60;

/// What one look at what waits came to.
#[derive(Debug, Default)]
pub struct Looked {
    /// What was decided.
    pub taken: Vec<Taken>,
    /// Whether anything was decided or learnt: there may be more to do at once.
    pub moved: bool,
    /// When the next fact is to be asked for again.
    pub next: Option<Time>,
}

impl App {
    /// Looks once at the first event of every queue: asks for what it misses, and decides it when nothing is missing.
    /// Waits for a look that is under way.
    ///
    /// # Errors
    /// The store did not answer.
    pub fn look_at_waiting(&self) -> Result<Looked, StoreError> {
        let _one = self.asking.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut looked = Looked::default();
        for waiter in self.parts.store.read(|tx| tx.first_waiting())? {
            let now = self.now();
            // Longer than a try waits it is of a clock that was set back since.
            let not_before = waiter.waiting.not_before.filter(|at| now < *at && *at <= now.plus_seconds(LONGEST_WAIT));
            match (&waiter.waiting.missing, not_before) {
                (Some(_), Some(at)) => looked.next = Some(looked.next.map_or(at, |next| next.min(at))),
                (Some(fact), None) => {
                    let waiting = self.asked(&waiter, fact);
                    looked.next = waiting.not_before.or(looked.next);
                    looked.moved |= waiting.missing.is_none();
                    self.keep_waiting(Waiter { waiting, ..waiter })?;
                }
                (None, _) => {
                    let taken = self.decide_waiting(waiter)?;
                    self.ring_for(&taken);
                    looked.taken.push(taken);
                    looked.moved = true;
                }
            }
        }
        Ok(looked)
    }

    /// Looks for the tokens of the hosts that are served, which may take a moment; decisions go by what is known then.
    pub fn look_for_tokens(&self) {
        let settings = self.settings();
        let polled = settings.polling.sources.iter().map(|source| &source.repository);
        let served = settings.policy.repositories.iter().chain(polled).map(RepoRef::host);
        let hosts: BTreeSet<&str> = served.chain([DEFAULT_HOST]).collect();
        // Where there is none, it is decided without.
        hosts.into_iter().for_each(|host| drop(self.parts.github.can_ask(host)));
    }

    /// The event after its fact was asked for.
    fn asked(&self, waiter: &Waiter, fact: &MissingFact) -> Waiting {
        let waiting = waiter.waiting.clone();
        let Some(repository) = repository_of(&waiter.item) else {
            return waiting.learns(Learnt::Nothing(fact.clone()));
        };
        let asked_at = self.now();
        match self.ask(&repository, fact) {
            Ok(learnt) => waiting.learns(learnt),
            // Asking again would bring the same.
            Err(Trouble::Refused { .. } | Trouble::Gone { .. }) => waiting.learns(Learnt::Nothing(fact.clone())),
            Err(Trouble::Unsent(Unsent::NoToken { .. } | Unsent::UnknownHost { .. })) => {
                waiting.learns(Learnt::Nothing(fact.clone()))
            }
            Err(_) => waiting.unanswered(asked_at, self.now()),
        }
    }

    fn ask(&self, repository: &RepoRef, fact: &MissingFact) -> Result<Learnt, Trouble> {
        let github = self.parts.github.as_ref();
        match fact {
            MissingFact::Linkage(pull_request) => {
                let issues = items::closing_issues(github, pull_request)?;
                Ok(Learnt::Linkage(pull_request.clone(), issues))
            }
            MissingFact::IssueExists(issue) => {
                let found = items::issue(github, issue)?;
                let exists = found.is_some_and(|object| !is_pull(&object));
                Ok(Learnt::Exists(issue.clone(), exists))
            }
            MissingFact::Permission(login) => match Login::parse(login) {
                Some(known) => Ok(Learnt::Permission(login.clone(), self.permission(repository, &known)?)),
                None => Ok(Learnt::Nothing(fact.clone())),
            },
        }
    }

    fn permission(&self, repository: &RepoRef, login: &Login) -> Result<Permission, Trouble> {
        let now = self.now();
        if let Some(known) = self.permissions.lately(repository, login.as_str(), now) {
            return Ok(known);
        }
        let permission = people::permission(self.parts.github.as_ref(), repository, login)?;
        self.permissions.said(repository, login.as_str(), permission, now);
        Ok(permission)
    }

    fn keep_waiting(&self, waiter: Waiter) -> Result<(), StoreError> {
        self.parts.store.write(move |tx| tx.put_waiting(&waiter.item, waiter.number, &waiter.waiting))
    }

    /// Decides an event whose turn it is. What cannot be decided because of a bug is kept for `dispatch retry`, as at its
    /// arrival, and holds up nobody.
    fn decide_waiting(&self, waiter: Waiter) -> Result<Taken, StoreError> {
        let Some(arrival) = arrival(&waiter.waiting) else {
            return self.drop_waiting(waiter);
        };
        let (deciding, queued) = (self.deciding(Arc::new(arrival.clone())), waiter.clone());
        match self.parts.store.write(move |tx| deciding.run_waiting(tx, &queued)) {
            Err(StoreError::Bug(text)) => {
                self.keep_undecided(&arrival, &text)?;
                self.drop_waiting(waiter)
            }
            taken => taken,
        }
    }

    fn drop_waiting(&self, waiter: Waiter) -> Result<Taken, StoreError> {
        self.parts.store.write(move |tx| tx.remove_waiting(&waiter.item, waiter.number))?;
        Ok(Taken::nothing())
    }
}

/// The event again, from what was kept of it.
fn arrival(waiting: &Waiting) -> Option<Arrival> {
    let trusted = TrustedBody::kept(waiting.body.clone().into());
    let json = body::read(MediaType::Json, &trusted).ok()?;
    let event = webhook::normalise_listed(&waiting.name, waiting.delivery.clone(), &json);
    Some(Arrival { event, body: waiting.body.clone().into(), heard: waiting.heard })
}

fn repository_of(item: &RefKey) -> Option<RepoRef> {
    Some(crate::domain::reference::WorkItemRef::parse(item.as_str()).ok()?.repo().clone())
}
