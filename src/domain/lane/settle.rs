//! What follows from how a piece of work went.

use std::path::Path;

use super::{Done, ENDPOINT_SPAWN_TRIES, LaneView, Settlement, Work, retry, telling};
use crate::domain::effect::{Class, DeadReason, Effect, EffectBody, EndpointRef, NewEffect};
use crate::domain::ids::ConversationId;
use crate::domain::log::{EventName, Level, LogEntry};
use crate::domain::policy::Policy;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{EndReason, Life, Session, SessionState};
use crate::domain::time::Time;
use crate::domain::workspace::Tidied;

/// Follows `done` into rows. The view is read anew: the record may have been stopped while the work ran.
pub fn settle(view: &LaneView, work: &Work, done: &Done, policy: &Policy, now: Time, jitter: u64) -> Settlement {
    let mut settling = Settling { view, work, policy, now, jitter, out: Settlement::default() };
    match done {
        Done::Spawned { life, conversation, cwd } => settling.spawned(life, |session| {
            // A conversation that goes on knows what it is for; a fresh one is told with its next message.
            session.introduced &= conversation.is_some() && session.conversation == *conversation;
            session.conversation.clone_from(conversation);
            session.cwd = Some(cwd.clone());
        }),
        Done::SpawnFailed { detail, permanent } => settling.spawn_failed(detail, *permanent),
        Done::Submitted => settling.delivered("submitted", None),
        Done::Confirmed => settling.delivered("confirmed", None),
        Done::Learnt(conversation) => settling.delivered("confirmed", Some(conversation)),
        Done::Finished { conversation } => settling.delivered("finished", conversation.as_ref()),
        Done::Failed(detail) => settling.failed(detail),
        Done::Ended => settling.ended(),
        Done::Tidied(tidied) => settling.tidied(tidied),
        Done::RunPaused { how, why } => settling.run_paused(how, why.as_deref()),
        Done::PastedOnly | Done::Unsure(_) | Done::Running => {
            settling.out.keep_claim = true;
            settling.out.until = Some(retry::after_busy(now));
        }
        Done::Unknown(detail) => settling.bury(DeadReason::Unknown, detail),
        Done::HarnessGone { named } => settling.respawn(named.as_ref()),
        Done::Busy(why) => settling.wait(retry::after_busy(now), why),
        // The harness may have started unheard: only asking again tells, whatever becomes of the record meanwhile.
        Done::Unreachable(_) if matches!(work, Work::Spawn { .. }) => {
            settling.out.keep_claim = true;
            settling.out.until = Some(retry::after_silence(now));
        }
        Done::Unreachable(why) => settling.wait(retry::after_silence(now), why),
    }
    let mut out = settling.out;
    out.tells.extend(telling::given_up(&view.item.reference, &out.dead, policy));
    out
}

/// Gives up a delivery whose session could not be started; that was told when the start was given up.
pub fn give_up(item: &WorkItemRef, effect: &Effect, detail: &str, policy: &Policy) -> Settlement {
    let log = LogEntry::new(EventName::DispatchFailed, Level::Error).with("verb", effect.body.verb());
    let dead = vec![(effect.clone(), DeadReason::RetriesExhausted, detail.to_owned())];
    let tells = telling::reaction(item, effect, policy.reactions.error).into_iter().collect();
    Settlement { dead, tells, log: vec![log.with("detail", detail).with("gaveUp", true)], ..Settlement::default() }
}

struct Settling<'a> {
    view: &'a LaneView,
    work: &'a Work,
    policy: &'a Policy,
    now: Time,
    jitter: u64,
    out: Settlement,
}

impl Settling<'_> {
    /// Effects of the work that are still in the lane.
    fn effects(&self) -> Vec<Effect> {
        let members = self.work.members();
        self.view.effects.iter().filter(|effect| members.contains(&effect.place)).cloned().collect()
    }

    fn over(&mut self, how: &'static str) {
        for effect in self.effects() {
            self.out.over.push((effect.place, how));
            self.log(LogEntry::info(EventName::DispatchSucceeded).with("how", how), &effect.body);
        }
    }

    fn delivered(&mut self, how: &'static str, named: Option<&ConversationId>) {
        let news = |session: &Session| {
            !session.introduced || named.is_some_and(|named| session.conversation.as_ref() != Some(named))
        };
        if self.session().is_some_and(news) {
            self.change(|session| {
                session.introduced = true;
                session.conversation = named.cloned().or(session.conversation.take());
            });
        }
        self.completed();
        self.over(how);
    }

    /// What was asked for was done, and whoever asked sees it.
    fn completed(&mut self) {
        let completed = self.policy.reactions.completed;
        let item = &self.view.item.reference;
        let told = self.effects().into_iter().filter_map(|effect| telling::reaction(item, &effect, completed));
        self.out.tells.extend(told.collect::<Vec<_>>());
    }

    /// It was tried and went wrong, which was seen: again later, until the tries are used up.
    fn failed(&mut self, detail: &str) {
        let attempts = self.effects().iter().map(|effect| effect.attempts).max().unwrap_or_default();
        if attempts >= self.policy.max_retries {
            return self.bury(DeadReason::RetriesExhausted, detail);
        }
        for effect in self.effects() {
            self.log(LogEntry::warn(EventName::DispatchFailed).with("detail", detail), &effect.body);
        }
        self.retry(false, detail);
    }

    /// Changes the session the work was about.
    fn change(&mut self, change: impl FnOnce(&mut Session)) {
        match self.work.endpoint() {
            EndpointRef::Item => {
                let mut item = self.out.item.take().unwrap_or_else(|| Box::new(self.view.item.clone()));
                if let Some(session) = &mut item.session {
                    change(session);
                }
                self.out.item = Some(item);
            }
            EndpointRef::PullRequest(reference) => {
                let recorded = self.view.endpoint(reference).cloned().map(Box::new);
                if let Some(mut session) = self.out.endpoint.take().or(recorded) {
                    change(&mut session);
                    self.out.endpoint = Some(session);
                }
            }
        }
    }

    fn session(&self) -> Option<&Session> {
        self.view.session(self.work.endpoint())
    }

    /// Whether the session is still in the life that the work was claimed for.
    fn is_wanted(&self) -> bool {
        let asked = self.work.session().generation;
        self.session().is_some_and(|session| session.generation == asked && session.is_live())
    }

    /// A spawn that completes after a stop ends at once.
    fn spawned(&mut self, life: &Life, learn: impl FnOnce(&mut Session)) {
        let first = matches!(self.work, Work::Spawn { place, .. } if place.class == Class::Ordinary);
        if self.is_wanted() {
            self.completed();
            if first && *self.work.endpoint() == EndpointRef::Item {
                let announced =
                    telling::announcement(&self.view.item.reference, self.work.session(), life, self.policy);
                self.out.tells.extend(announced);
            }
            let life = life.clone();
            self.change(|session| {
                learn(session);
                session.failed_spawns = 0;
                session.state = match &session.state {
                    SessionState::Paused(_) => SessionState::Paused(Some(life)),
                    _ => SessionState::Live(life),
                };
            });
        } else {
            let (endpoint, life) = (self.work.endpoint().clone(), Some(life.clone()));
            let reason = self.session().map_or(EndReason::Stopped, end_reason);
            self.push(Class::Overtaking, EffectBody::End { endpoint, life, reason, keep_pane: None });
        }
        self.over("spawned");
        let name = match (self.work.endpoint(), first) {
            (EndpointRef::Item, true) => EventName::SessionSpawned,
            (EndpointRef::Item, false) => EventName::SessionRespawned,
            (EndpointRef::PullRequest(_), _) if self.work.session().cwd.is_some() => EventName::SessionRespawned,
            (EndpointRef::PullRequest(_), _) => EventName::SessionPrSpawned,
        };
        let entry = LogEntry::info(name).with("tmux", life.session.as_str()).with("pane", life.pane.as_str());
        self.log_entry(entry);
    }

    fn spawn_failed(&mut self, detail: &str, permanent: bool) {
        let entry = LogEntry::warn(EventName::SessionSpawnFailed).with("detail", detail);
        self.log_entry(entry);
        if !self.is_wanted() {
            // Stopped, or begun anew, meanwhile: the failure is not the present life's.
            return self.over("no-longer-wanted");
        }
        let failed = self.session().map_or(0, |session| session.failed_spawns) + 1;
        self.change(|session| session.failed_spawns = failed);
        let for_pull_request = matches!(self.work.endpoint(), EndpointRef::PullRequest(_));
        if for_pull_request && (permanent || failed >= ENDPOINT_SPAWN_TRIES) {
            // Its events go to the record's conversation from now on.
            self.change(|session| {
                session.failed_spawns = session.failed_spawns.max(ENDPOINT_SPAWN_TRIES);
                session.state = SessionState::Recorded;
            });
            self.over("spawn-failed");
        } else if permanent || failed > self.policy.max_retries {
            let now = self.now;
            self.change(|session| {
                session.state = SessionState::Closed { at: now, reason: EndReason::SpawnFailed };
            });
            self.bury(DeadReason::RetriesExhausted, detail);
        } else {
            self.retry(for_pull_request, detail);
        }
    }

    /// The harness or its pane is gone and nothing was handed over: it is started again, and the event follows.
    fn respawn(&mut self, named: Option<&ConversationId>) {
        let attempts = self.effects().first().map_or(0, |effect| effect.attempts);
        if attempts >= self.policy.max_retries {
            return self.bury(DeadReason::RetriesExhausted, "the harness ended again and again");
        }
        let lost = self.work.life().cloned();
        let current = self.session().and_then(Session::life).cloned();
        if current.is_some() && current == lost {
            self.change(|session| {
                session.lose_life();
                session.conversation = session.conversation.take().or(named.cloned());
            });
        }
        for mut effect in self.effects() {
            effect.attempts += 1;
            effect.not_before = None;
            self.out.again.push(effect);
        }
    }

    fn ended(&mut self) {
        let now = self.now;
        self.change(|session| {
            if let SessionState::Closing(reason) = session.state {
                session.state = SessionState::Closed { at: now, reason };
            }
        });
        self.over("ended");
    }

    fn tidied(&mut self, tidied: &Tidied) {
        let entry = |name, path: &Path| LogEntry::info(name).with("directory", path.display().to_string());
        match tidied {
            Tidied::Nothing => self.over("nothing-there"),
            Tidied::Removed(path) => {
                self.change(|session| session.cwd = None);
                self.log_entry(entry(EventName::SessionCheckoutRemoved, path));
                self.over("removed");
            }
            Tidied::Kept { path, why } => {
                let entry = entry(EventName::SessionCheckoutKept, path).with("reason", why.as_str());
                self.log_entry(entry.with("detail", why.to_string()));
                self.over("kept");
            }
        }
    }

    /// Whatever kept it from being put aside, a person sees it in the trail; it is never tried again.
    fn run_paused(&mut self, how: &'static str, why: Option<&str>) {
        if let Some(why) = why {
            let entry = LogEntry::warn(EventName::DispatchFailed).with("detail", why);
            self.log(entry, &EffectBody::PauseRun);
        }
        self.over(how);
    }

    /// Not a failure: the lane looks again later, in the same order.
    fn wait(&mut self, until: Time, why: &str) {
        if let Some(mut effect) = self.effects().into_iter().next() {
            // Told once when it begins; looking again and finding the same is no news.
            let level = if effect.not_before.is_none() { Level::Warn } else { Level::Debug };
            effect.not_before = Some(until);
            effect.trouble = Some(why.to_owned());
            let entry = LogEntry::new(EventName::DispatchFailed, level).with("waits", why);
            self.log(entry, &effect.body);
            self.out.again.push(effect);
        }
        self.out.until = Some(until);
    }

    fn retry(&mut self, soon: bool, detail: &str) {
        for mut effect in self.effects() {
            effect.attempts += 1;
            let until = match soon {
                true => self.now.plus_seconds(1),
                false => retry::after_failure(self.now, effect.attempts, self.jitter),
            };
            effect.not_before = Some(until);
            effect.trouble = Some(detail.to_owned());
            self.out.until = Some(until);
            self.out.again.push(effect);
        }
    }

    fn bury(&mut self, reason: DeadReason, detail: &str) {
        for effect in self.effects() {
            let entry = LogEntry::new(EventName::DispatchFailed, Level::Error).with("detail", detail);
            self.log(entry.with("gaveUp", true), &effect.body);
            self.out.dead.push((effect, reason, detail.to_owned()));
        }
    }

    fn push(&mut self, class: Class, body: EffectBody) {
        self.out.new.push(NewEffect { lane: self.view.item.reference.key(), class, body });
    }

    fn log(&mut self, entry: LogEntry, body: &EffectBody) {
        let entry = entry.with("verb", body.verb());
        let delivery = match body {
            EffectBody::Deliver { message, .. } => Some(message.delivery.as_str().to_owned()),
            EffectBody::Spawn { .. } | EffectBody::End { .. } | EffectBody::Tidy { .. } | EffectBody::PauseRun => None,
        };
        self.log_entry(entry.with_some("delivery", delivery));
    }

    fn log_entry(&mut self, entry: LogEntry) {
        let entry = entry.with("workItem", self.view.item.reference.to_string());
        let endpoint = match self.work.endpoint() {
            EndpointRef::Item => None,
            EndpointRef::PullRequest(reference) => Some(reference.to_string()),
        };
        self.out.log.push(entry.with_some("endpoint", endpoint));
    }
}

fn end_reason(session: &Session) -> EndReason {
    match &session.state {
        SessionState::Closing(reason) | SessionState::Closed { reason, .. } => *reason,
        _ => EndReason::Stopped,
    }
}
