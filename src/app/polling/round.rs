//! One cycle of one repository while it is being read: what was asked, and the events that were found.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::counted::Counted;
use crate::app::asking::{items, pages};
use crate::app::ingest::Arrival;
use crate::domain::decide::Heard;
use crate::domain::event::Content;
use crate::domain::event::listed::{self, Listed};
use crate::domain::github::{Trouble, Unsent, Validators, repo_path};
use crate::domain::ids::DeliveryId;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::policy::{Policy, SpawnPolicy};
use crate::domain::polling::{Followed, ListProgress, Progress, Repository, Source};
use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

/// How often a list of several pages is walked until nothing moves under the walk.
const WALKS: usize = 6;

/// One cycle being read.
pub(super) struct Round<'r> {
    pub(super) source: &'r Source,
    pub(super) policy: &'r Policy,
    pub(super) github: &'r Counted<'r>,
    pub(super) progress: Progress,
    pub(super) followed: Vec<Followed>,
    pub(super) now: Time,
    /// Issues and pull requests as the list of issues shows them, by number.
    pub(super) objects: BTreeMap<u64, Value>,
    /// Pull requests as they show themselves, by number; `None` for one that is gone.
    pub(super) pulls: BTreeMap<u64, Option<Value>>,
    /// The open pull requests, where they were listed.
    pub(super) open_pulls: Option<Vec<Value>>,
    found: Found,
    /// Items of which something could not be read: they have to wait for the next cycle.
    failed: BTreeSet<u64>,
    /// Items about which there was no answer at all.
    unanswered: BTreeSet<u64>,
    /// After this nothing more is asked in this cycle.
    stopped: Option<Trouble>,
    /// What went wrong with a part, while the rest went on.
    trouble: Option<Trouble>,
    log: Vec<LogEntry>,
}

/// The events that were found, in the order in which they are decided.
#[derive(Default)]
struct Found {
    /// States of issues that are open: they start.
    open: Vec<Arrival>,
    /// States of open pull requests: they start, and link to what has started.
    open_pulls: Vec<Arrival>,
    /// What was said, with its time.
    said: Vec<(Option<Time>, Arrival)>,
    /// States of what is closed, with the time of the close: they end, between what was said before and after.
    closed: Vec<(Option<Time>, Arrival)>,
}

/// What a cycle leaves.
pub(super) struct Gathered {
    pub(super) progress: Progress,
    pub(super) arrivals: Vec<Arrival>,
    /// Whether everything was answered.
    pub(super) is_whole: bool,
    /// What went wrong, while the rest was read.
    pub(super) trouble: Option<Trouble>,
    pub(super) log: Vec<LogEntry>,
}

impl<'r> Round<'r> {
    pub(super) fn new(
        source: &'r Source,
        policy: &'r Policy,
        github: &'r Counted<'r>,
        progress: Progress,
        followed: Vec<Followed>,
        now: Time,
    ) -> Self {
        let (objects, pulls, open_pulls) = (BTreeMap::new(), BTreeMap::new(), None);
        let (found, failed, stopped, trouble, log) = (Found::default(), BTreeSet::new(), None, None, Vec::new());
        Self {
            source,
            policy,
            github,
            progress,
            followed,
            now,
            objects,
            pulls,
            open_pulls,
            found,
            failed,
            unanswered: BTreeSet::new(),
            stopped,
            trouble,
            log,
        }
    }

    /// Asks for everything.
    ///
    /// # Errors
    /// Without this nothing can be read; what was read until then does not count.
    pub(super) fn read(&mut self) -> Result<(), Trouble> {
        if self.progress.repository.is_none() {
            self.know_repository()?;
        }
        if self.progress.first.is_none() {
            self.begin()?;
        } else {
            self.read_lists()?;
        }
        self.newest_words();
        self.take_over();
        self.read_checks();
        Ok(())
    }

    /// What was found, and how far it went.
    pub(super) fn finish(self) -> Gathered {
        let Found { open, open_pulls, said, closed } = self.found;
        let arrivals = open.into_iter().chain(open_pulls).chain(in_order(said, closed)).collect();
        let trouble = self.stopped.or(self.trouble);
        let is_whole = trouble.is_none() && self.progress.again.is_empty() && self.progress.words.is_empty();
        Gathered { progress: self.progress, arrivals, is_whole, trouble, log: self.log }
    }

    /// The repository's id and present name.
    pub(super) fn know_repository(&mut self) -> Result<(), Trouble> {
        let known = items::repository(self.github, &self.source.repository)?;
        let full_name = format!("{}/{}", known.name.owner(), known.name.name());
        self.progress.repository = Some(Repository { id: known.id, full_name });
        Ok(())
    }

    /// The host that is asked.
    pub(super) fn host(&self) -> &'r str {
        self.source.repository.host()
    }

    /// A path below the repository.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("{}{rest}", repo_path(&self.source.repository))
    }

    /// The item of this number, under the name that the repository is polled by.
    pub(super) fn item(&self, number: u64) -> Option<WorkItemRef> {
        self.source.repository.item(number).ok()
    }

    /// The repository as payloads name it.
    pub(super) fn payload(&self) -> Value {
        let known = self.progress.repository.as_ref();
        known.map_or(Value::Null, |known| listed::repository(self.host(), &known.full_name, known.id))
    }

    /// What a list shows that was not handled yet, each entry as it is now. Where the list has several pages, it may move
    /// under the walk: it is walked again until nothing new comes.
    pub(super) fn walk(
        &self,
        known: &ListProgress,
        path: impl Fn(Time) -> String,
        key: &str,
    ) -> Result<(Vec<Value>, ListProgress), Trouble> {
        let mut next = known.clone();
        let mut handled: BTreeMap<u64, Time> = BTreeMap::new();
        let mut news: BTreeMap<u64, Value> = BTreeMap::new();
        let mut since = known.cursor.since().or(self.progress.first).unwrap_or(self.now);
        let mut date = None;
        for _ in 0..WALKS {
            let listing = pages::list(self.github, self.host(), &path(since), &next.validators)?;
            next.validators = listing.validators;
            date = date.or(listing.date);
            let mut moved = false;
            for entry in listing.items {
                let (Some(id), Some(at)) = (number(&entry, key), listed::changed_at(&entry)) else { continue };
                if known.cursor.is_news(id, at) && handled.get(&id).is_none_or(|handled| *handled < at) {
                    handled.insert(id, at);
                    news.insert(id, entry);
                    moved = true;
                }
            }
            if listing.is_cut {
                since = handled.values().max().copied().unwrap_or(since);
            } else if listing.requests == 1 || !moved {
                break;
            }
        }
        let mut handled: Vec<(Time, u64)> = handled.into_iter().map(|(id, at)| (at, id)).collect();
        handled.sort_unstable();
        handled.iter().for_each(|(at, id)| next.cursor.handled(*id, *at, date));
        next.cursor.read_whole(date.unwrap_or(since));
        let mut news: Vec<Value> = news.into_values().collect();
        news.sort_by_key(listed::changed_at);
        Ok((news, next))
    }

    /// A list from its first page to its last, however it moves while it is read: walked until a walk brings nothing new.
    pub(super) fn whole(&self, rest: &str) -> Result<Vec<Value>, Trouble> {
        let mut known = Validators::default();
        let mut found: BTreeMap<u64, Value> = BTreeMap::new();
        for _ in 0..WALKS {
            let listing = pages::list(self.github, self.host(), &self.path(rest), &known)?;
            known = listing.validators;
            let before = found.len();
            found.extend(listing.items.into_iter().filter_map(|entry| Some((number(&entry, "id")?, entry))));
            if listing.requests == 1 || found.len() == before {
                break;
            }
        }
        Ok(found.into_values().collect())
    }

    /// Whether what happens to an issue or pull request can matter here.
    pub(super) fn is_relevant(&self, number: u64, object: &Value, is_pull: bool) -> bool {
        let watched = if is_pull { self.source.pull_requests } else { self.source.issues };
        let open = object.get("state").and_then(Value::as_str) != Some("closed");
        let may_start = watched && open && (self.is_labelled(object) || self.policy.spawn == SpawnPolicy::Always);
        let may_link = is_pull && self.followed.iter().any(|item| item.lives);
        self.is_followed(number) || may_start || may_link
    }

    /// Whether it is one of ours.
    pub(super) fn is_followed(&self, number: u64) -> bool {
        self.followed.iter().any(|item| item.number == number)
    }

    pub(super) fn is_labelled(&self, object: &Value) -> bool {
        let labels = object.get("labels").and_then(Value::as_array).into_iter().flatten();
        let mut names = labels.filter_map(|label| label.get("name").unwrap_or(label).as_str());
        names.any(|name| name.eq_ignore_ascii_case(&self.source.label) || name.eq_ignore_ascii_case(&self.policy.label))
    }

    /// The state of an issue or pull request.
    pub(super) fn found_state(&mut self, object: &Value) {
        let number = number(object, "number").unwrap_or(0);
        let at = time(object, "updated_at").map_or(0, Time::as_millis);
        let shown = listed::shown(&self.payload(), object);
        let arrival = self.arrival(&shown, &format!("i{number}-{at}"), self.listed());
        match object.get("state").and_then(Value::as_str) {
            Some("closed") => {
                let closed_at = time(object, "closed_at").or_else(|| time(object, "updated_at"));
                self.found.closed.push((closed_at, arrival));
            }
            _ if object.get("head").is_some() => self.found.open_pulls.push(arrival),
            _ => self.found.open.push(arrival),
        }
    }

    /// Something that was said. What a list shows from before the repository was polled is no news, and nobody has to
    /// decide about it: it would stand in the way of a thread that is read whole.
    pub(super) fn found_said(&mut self, listed: &Listed, id: &str, heard: Heard) {
        let arrival = self.arrival(listed, id, heard);
        let at = match &arrival.event.content {
            Content::Speech(speech) => speech.created_at,
            _ => None,
        };
        if heard.takes(at) {
            self.found.said.push((at, arrival));
        }
    }

    /// How what a list shows is heard.
    pub(super) fn listed(&self) -> Heard {
        Heard::Listed { since: self.progress.first.unwrap_or(self.now) }
    }

    fn arrival(&self, listed: &Listed, id: &str, heard: Heard) -> Arrival {
        let repository = self.progress.repository.as_ref().map_or(0, |known| known.id);
        Arrival::listed(listed, DeliveryId::of_poll(repository, id), heard)
    }

    /// Whether nothing more is to be asked in this cycle.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Whether an item is not to be asked about any more in this cycle.
    pub(super) fn is_put_off(&self, number: u64) -> bool {
        self.is_stopped() || self.failed.contains(&number)
    }

    /// A part could not be read, and the rest goes on.
    pub(super) fn note(&mut self, trouble: Trouble) {
        self.trouble.get_or_insert(trouble);
    }

    /// One item could not be read: it is asked for again, and holds up no other. A limit ends the cycle, and so does a host
    /// that leaves a second item without an answer: with the first it may be the item.
    pub(super) fn item_failed(&mut self, number: u64, trouble: Trouble) {
        self.failed.insert(number);
        let tries = self.progress.again.entry(number).or_default();
        *tries += 1;
        let (tries, gave_up) = (*tries, *tries > self.policy.max_retries);
        if gave_up {
            self.progress.again.remove(&number);
            self.progress.words.remove(&number);
        }
        let mut entry =
            LogEntry::warn(EventName::PollItemError).with("error", trouble.to_string()).with("tries", tries);
        if let Some(item) = self.item(number) {
            entry = entry.with("workItem", item.to_string());
        }
        self.log.push(entry.with_some("gaveUp", gave_up.then_some(true)));
        let ends = match &trouble {
            Trouble::Limited { .. } | Trouble::Unsent(Unsent::NoToken { .. } | Unsent::UnknownHost { .. }) => true,
            Trouble::Unsent(Unsent::Unreachable { .. }) => {
                self.unanswered.insert(number);
                self.unanswered.len() > 1
            }
            _ => false,
        };
        if ends {
            self.stopped.get_or_insert(trouble);
        }
    }

    pub(super) fn log(&mut self, entry: LogEntry) {
        self.log.push(entry);
    }
}

/// What was said and what was closed, in the order of their times. A comment of the same second closed it, and comes first;
/// a close without a time comes last.
fn in_order(said: Vec<(Option<Time>, Arrival)>, closed: Vec<(Option<Time>, Arrival)>) -> impl Iterator<Item = Arrival> {
    let said = said.into_iter().map(|(at, arrival)| ((false, at, false), arrival));
    let closed = closed.into_iter().map(|(at, arrival)| ((at.is_none(), at, true), arrival));
    let mut all: Vec<_> = said.chain(closed).collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, arrival)| arrival)
}

/// A number of an object.
pub(super) fn number(object: &Value, key: &str) -> Option<u64> {
    object.get(key)?.as_u64()
}

/// A time of an object.
pub(super) fn time(object: &Value, key: &str) -> Option<Time> {
    Time::parse(object.get(key)?.as_str()?).ok()
}
