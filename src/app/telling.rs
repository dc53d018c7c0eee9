//! Telling people: what was decided to be told is told on GitHub, one thing at a time, and only once.
//!
//! A comment is looked for by its marker before it is posted, so one whose answer was lost is not posted again. What a
//! crash or a limit leaves waits in the store. Two of one ticket are never told at once: they could be the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::App;
use crate::domain::github::{Pause, Request, Target, next_link};
use crate::domain::lane::after_failure;
use crate::domain::log::{EventName, Level, LogEntry};
use crate::domain::reference::RefKey;
use crate::domain::telling::{self, Tell, Untold, What};
use crate::domain::time::Time;
use crate::store::{StoreError, Telling, View, WriteTx};

#[cfg(test)]
mod tests;

/// Most pages of comments looked through for one of ours; a ticket of more comments in two days gets it again at worst.
const PAGES: usize = 20;

/// What a look at what is to be told came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Something was told or given up, and more may be due.
    Something,
    /// Something could not be told now, and is tried again.
    Failed(String),
    /// What was for a host that nobody can be asked at was dropped.
    Dropped,
    /// Nothing is due before this; without a time, nothing waits.
    Nothing(Option<Time>),
}

/// What is known only while this process runs.
#[derive(Default)]
pub(super) struct Desk {
    state: Mutex<State>,
    ring: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

#[derive(Default)]
struct State {
    /// Tickets that something is being told on.
    busy: BTreeSet<RefKey>,
    /// Hosts that asked us to wait.
    until: BTreeMap<String, Time>,
    /// How often they did without a success between, as with polling: the wait grows.
    pauses: BTreeMap<String, Pause>,
    /// Hosts at which nobody can be asked, as the log says already, and until when that is believed.
    unasked: BTreeMap<String, Time>,
}

/// Longest wait of all, seconds.
const LONGEST_WAIT: i64 = 24 * 3600;
/// Longest wait that grows of limits in a row, seconds.
const LONGEST_GROWN: i64 = 3600;
/// How long nothing is stored for a host at which nobody could be asked, seconds: a token may come.
const BELIEVED: i64 = 60;

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves out what would only be dropped: where there is no token, telling costs nothing.
    pub(super) fn keep_tellable(&self, tells: &mut Vec<Tell>, now: Time) {
        if !tells.is_empty() {
            let state = self.state();
            tells.retain(|tell| state.unasked.get(tell.about.repo().host()).is_none_or(|until| *until <= now));
        }
    }

    /// Something to tell was committed.
    pub(super) fn ring(&self) {
        if let Some(ring) = self.ring.get() {
            ring();
        }
    }
}

/// What became of one try.
enum Ended {
    /// It is told; the node id of our comment, where it is one and GitHub named it.
    Told(Option<String>),
    /// Not now.
    Later { until: Time, failed: bool, why: String },
    /// Never.
    GivenUp(String),
    /// There is nobody to ask.
    Nobody(String),
}

impl App {
    /// Calls `ring` after each commit that stored something to tell. The first caller is heard, and only it.
    pub fn when_something_is_to_be_told(&self, ring: impl Fn() + Send + Sync + 'static) {
        let _ = self.desk.ring.set(Box::new(ring));
    }

    /// Tells what is due next. Any number of threads may call it at once, of the process that owns the store.
    ///
    /// # Errors
    /// The store did not answer; what was told meanwhile is found by its marker at the next try.
    pub fn tell_next(&self) -> Result<Told, StoreError> {
        let (telling, wait) = self.take_due()?;
        let Some(telling) = telling else { return Ok(Told::Nothing(wait)) };
        let about = telling.tell.about.key();
        let told = self.tell_one(telling);
        self.desk.state().busy.remove(&about);
        told
    }

    /// The next that is due, whose ticket is this caller's until it is given back; or when one may be.
    fn take_due(&self) -> Result<(Option<Telling>, Option<Time>), StoreError> {
        let now = self.now();
        self.parts.store.read(|tx| {
            let mut state = self.desk.state();
            state.until.retain(|_, until| *until > now);
            let (mut due, mut wait): (_, Option<Time>) = (None, None);
            tx.for_each_telling(&mut |telling| {
                let about = &telling.tell.about;
                let until = state.until.get(about.repo().host()).copied().max(telling.not_before);
                // A wait longer than any we make is of a clock that was set back since.
                if let Some(until) = until.filter(|until| now < *until && *until <= now.plus_seconds(LONGEST_WAIT)) {
                    wait = Some(wait.map_or(until, |wait| wait.min(until)));
                    return ControlFlow::Continue(());
                }
                // Whoever is busy with its ticket looks again afterwards.
                if !state.busy.insert(about.key()) {
                    return ControlFlow::Continue(());
                }
                due = Some(telling);
                ControlFlow::Break(())
            })?;
            Ok((due, wait))
        })
    }

    fn tell_one(&self, telling: Telling) -> Result<Told, StoreError> {
        let host = telling.tell.about.repo().host().to_owned();
        let ended = match self.parts.github.can_ask(&host) {
            Ok(()) => self.try_to_tell(&telling),
            Err(error) => Ended::Nobody(error.to_string()),
        };
        let (now, retries) = (self.now(), self.settings().policy.max_retries);
        if let Ended::Later { until, failed: false, .. } = &ended {
            self.desk.state().until.insert(host.clone(), *until);
        }
        match ended {
            Ended::Told(node_id) => self.parts.store.write(move |tx| told(tx, &telling, node_id.as_deref(), now))?,
            Ended::Later { failed: true, why, .. } if telling.attempts >= retries => {
                self.parts.store.write(move |tx| given_up(tx, &telling, &why, now))?;
            }
            Ended::Later { until, failed, why } => {
                let reason = why.clone();
                self.parts.store.write(move |tx| again(tx, &telling, until, failed, &why, now))?;
                return Ok(if failed { Told::Failed(reason) } else { Told::Nothing(Some(until)) });
            }
            Ended::GivenUp(why) => self.parts.store.write(move |tx| given_up(tx, &telling, &why, now))?,
            Ended::Nobody(why) => return self.drop_all_of(host, why),
        }
        let mut state = self.desk.state();
        state.unasked.remove(&host);
        state.pauses.remove(&host);
        Ok(Told::Something)
    }

    fn try_to_tell(&self, telling: &Telling) -> Ended {
        let tell = &telling.tell;
        let told = match (&tell.what, tell.marker(&self.parts.store.id())) {
            (What::Words { text, .. }, Some(marker)) => match telling::comment(text, &marker) {
                Ok(comment) => self.post_once(telling, &marker, &comment),
                Err(leaks) => return Ended::GivenUp(leaks.to_string()),
            },
            _ => self.send(telling::put(&tell.about, &tell.what, "")).map(|_| None),
        };
        told.map_or_else(|untold| self.not_told(telling, untold), Ended::Told)
    }

    /// Posts a comment, unless an earlier try did; its node id.
    fn post_once(&self, telling: &Telling, marker: &str, comment: &str) -> Result<Option<String>, Untold> {
        let mut request = telling::look_up(&telling.tell.about, telling.decided_at);
        for _ in 0..PAGES {
            let answer = self.parts.github.send(&request);
            let page = telling::heard_page(&request.host, &answer, self.now())?;
            if let Some(node_id) = telling::found(&page, marker) {
                return Ok(Some(node_id));
            }
            let link = answer.ok().and_then(|answer| answer.link);
            let Some(next) = link.as_deref().and_then(next_link) else { break };
            request = Request { target: Target::Link(next.to_owned()), ..request };
        }
        let made = self.send_comment(telling::put(&telling.tell.about, &telling.tell.what, comment))?;
        Ok(Some(telling::posted(&made).0))
    }

    pub(super) fn send(&self, request: Request) -> Result<serde_json::Value, Untold> {
        let answer = self.parts.github.send(&request);
        telling::heard(&request.host, &answer, self.now())
    }

    pub(super) fn send_comment(&self, request: Request) -> Result<serde_json::Value, Untold> {
        let answer = self.parts.github.send(&request);
        telling::heard_comment(&request.host, &answer, self.now())
    }

    fn not_told(&self, telling: &Telling, untold: Untold) -> Ended {
        match untold {
            Untold::Limited { until, trouble } => {
                let now = self.now();
                let mut state = self.desk.state();
                let pause = state.pauses.entry(telling.tell.about.repo().host().to_owned()).or_default();
                pause.met(&trouble, now, 0);
                // What is said too far ahead is believed for `until` only.
                let grown = pause.holds(now).unwrap_or(until).min(now.plus_seconds(LONGEST_GROWN));
                Ended::Later { until: until.max(grown), failed: false, why: "GitHub asks to wait".to_owned() }
            }
            Untold::Outage(trouble) => {
                let until = after_failure(self.now(), telling.attempts + 1, self.parts.ids.below(1000));
                Ended::Later { until, failed: true, why: trouble.to_string() }
            }
            Untold::Never(trouble) => Ended::GivenUp(trouble.to_string()),
            Untold::Nobody(trouble) => Ended::Nobody(trouble.to_string()),
        }
    }

    /// Nobody can be asked at `host`, so nothing of what waits for it is kept; the log says so once.
    fn drop_all_of(&self, host: String, why: String) -> Result<Told, StoreError> {
        let now = self.now();
        let is_news = self.desk.state().unasked.insert(host.clone(), now.plus_seconds(BELIEVED)).is_none();
        self.parts.store.write(move |tx| {
            let mut numbers = Vec::new();
            tx.for_each_telling(&mut |telling| {
                numbers.extend((telling.tell.about.repo().host() == host).then_some(telling.number));
                ControlFlow::Continue(())
            })?;
            for number in &numbers {
                tx.remove_telling(*number)?;
            }
            if is_news {
                let entry = LogEntry::info(EventName::TellingDropped).with("host", host.as_str());
                tx.append_journal(&entry.with("count", numbers.len()).with("reason", why.as_str()), now)?;
            }
            Ok(())
        })?;
        Ok(Told::Dropped)
    }
}

fn told(tx: &mut WriteTx<'_>, telling: &Telling, node_id: Option<&str>, now: Time) -> Result<(), StoreError> {
    tx.remove_telling(telling.number)?;
    if let Some(node_id) = node_id.filter(|node_id| !node_id.is_empty()) {
        tx.put_posted(node_id, now)?;
    }
    let level = match telling.tell.what {
        What::Reaction { .. } => Level::Debug,
        What::Words { .. } => Level::Info,
    };
    tx.append_journal(&entry(EventName::TellingPosted, level, telling), now).map(drop)
}

fn given_up(tx: &mut WriteTx<'_>, telling: &Telling, why: &str, now: Time) -> Result<(), StoreError> {
    tx.remove_telling(telling.number)?;
    let entry = entry(EventName::TellingFailed, Level::Warn, telling).with("reason", why).with("gaveUp", true);
    tx.append_journal(&entry, now).map(drop)
}

/// A limit is no failure of what is told: it costs no try.
fn again(
    tx: &mut WriteTx<'_>,
    telling: &Telling,
    until: Time,
    failed: bool,
    why: &str,
    now: Time,
) -> Result<(), StoreError> {
    let attempts = telling.attempts + u32::from(failed);
    tx.put_telling(&Telling { attempts, not_before: Some(until), ..telling.clone() })?;
    let entry = entry(EventName::TellingFailed, Level::Warn, telling).with("reason", why);
    tx.append_journal(&entry.with("until", until.to_string()), now).map(drop)
}

fn entry(name: EventName, level: Level, telling: &Telling) -> LogEntry {
    let entry = LogEntry::new(name, level).with("workItem", telling.tell.about.to_string());
    entry.with("what", telling.tell.word())
}
