//! What a run came to, and how it compares with the run that nothing interrupted.

use std::collections::BTreeMap;

use the_loop::app::App;
use the_loop::domain::effect::{DeadReason, EffectBody};
use the_loop::domain::ids::DeliveryId;
use the_loop::domain::log::EventName;
use the_loop::domain::session::{Session, SessionState};
use the_loop::domain::time::Time;
use the_loop::store::View as _;

use super::scene::Scene;
use super::steps::Interruption;
use crate::github::marker;

/// When each session was made, by its reference.
pub type Sessions = BTreeMap<String, Time>;

/// What people would see.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// The marks each endpoint heard, in order.
    heard: BTreeMap<String, Vec<String>>,
    /// Marks that were given up, with the reason.
    dead: BTreeMap<String, (DeadReason, String)>,
    /// Marks that were not accepted, with the reason.
    refused: BTreeMap<String, String>,
    /// Records, their pull requests and their panes.
    state: Vec<String>,
    /// Panes that live, by reference.
    living: BTreeMap<String, usize>,
    marks: Vec<String>,
}

/// One cell of the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The same as without the interruption.
    Equal,
    /// All was said once, some of it in the record's conversation: the pull request's could not be started.
    ByTheRecord,
    /// Not accepted, with the reason in the log: the record had been given up before.
    Refused(String),
    /// Given up, visibly.
    Dead(String),
    /// Nobody can know; a person decides.
    Unknown(String),
    /// What must not be.
    Bad(String),
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Equal => f.write_str("equal"),
            Self::ByTheRecord => f.write_str("equal, in the record's conversation"),
            Self::Refused(reason) => write!(f, "refused: {reason}"),
            Self::Dead(detail) => write!(f, "dead: {detail}"),
            Self::Unknown(detail) => write!(f, "unknown: {detail}"),
            Self::Bad(what) => write!(f, "**{what}**"),
        }
    }
}

impl Outcome {
    pub fn of(scene: &Scene, before: &Sessions) -> Self {
        let mut outcome = Self { marks: scene.marks.clone(), ..Self::default() };
        for (endpoint, text) in scene.stage.heard() {
            let mut places: Vec<(usize, &String)> = scene
                .marks
                .iter()
                .flat_map(|mark| text.match_indices(mark.as_str()).map(move |(at, _)| (at, mark)))
                .collect();
            places.sort();
            outcome.heard.entry(endpoint).or_default().extend(places.into_iter().map(|(_, mark)| mark.clone()));
        }
        for pane in scene.stage.terminal.0.lock().unwrap().panes.values().filter(|pane| pane.alive) {
            *outcome.living.entry(pane.request.reference.to_string()).or_default() += 1;
        }
        outcome.read(&scene.app, before);
        outcome
    }

    fn read(&mut self, app: &App, before: &Sessions) {
        let read = app.store().read(|tx| {
            for (_, letter) in tx.dead_letters()? {
                if let EffectBody::Deliver { message, .. } = &letter.effect.body {
                    let text = format!("{} {}", message.text, message.title);
                    let marks = self.marks.iter().filter(|mark| text.contains(mark.as_str()));
                    self.dead.extend(marks.map(|mark| (mark.clone(), (letter.reason, letter.detail.clone()))));
                }
            }
            for (_, _, entry) in tx.journal(0, usize::MAX)? {
                let field = |name: &str| entry.fields.get(name).and_then(|field| field.as_str());
                if let (EventName::RoutingDropped, Some(delivery), Some(reason)) =
                    (entry.event, field("delivery").and_then(|id| DeliveryId::parse(id).ok()), field("reason"))
                {
                    // Everything is sent twice; that the second was one says nothing of the first.
                    if reason != "duplicate-delivery" && reason != "same-event" {
                        self.refused.insert(marker(&delivery), reason.to_owned());
                    }
                }
            }
            self.state.push(format!("waiting {:?}, claims {}", tx.lanes()?, tx.claims()?.len()));
            tx.for_each_item(&mut |item| {
                let Ok(item) = item else { return std::ops::ControlFlow::Continue(()) };
                let control = item.sections.control.as_ref().map(|control| control.command.as_str().to_owned());
                let ended = item.sections.ended.as_ref().map(|ended| ended.reason.clone());
                self.state.push(format!("{} {control:?} {ended:?} open {:?}", item.reference, item.facts.open));
                let endpoints = tx.endpoints(&item.reference.key()).unwrap_or_default();
                self.state.extend(item.session.iter().chain(&endpoints).map(|session| describe(session, before)));
                std::ops::ControlFlow::Continue(())
            })
        });
        read.expect("the store can be read");
    }

    /// How many marks nobody heard exactly once.
    pub fn unheard(&self) -> usize {
        self.marks.iter().filter(|mark| self.times(mark, None) != 1).count()
    }

    /// How often an endpoint heard something, or all of them did.
    fn times(&self, mark: &str, endpoint: Option<&str>) -> usize {
        let heard = self.heard.iter().filter(|(at, _)| endpoint.is_none_or(|endpoint| endpoint == *at));
        heard.map(|(_, marks)| marks.iter().filter(|heard| *heard == mark).count()).sum()
    }

    /// Compares with the run that nothing interrupted.
    pub fn against(&self, calm: &Self, interruption: Interruption) -> Verdict {
        let verdicts: Vec<Verdict> = self.marks.iter().map(|mark| self.of_mark(calm, mark)).collect();
        let worst = verdicts.into_iter().max().unwrap_or(Verdict::Equal);
        if let Some((endpoint, count)) = self.living.iter().find(|(_, count)| **count > 1) {
            return Verdict::Bad(format!("{count} agents of {endpoint}"));
        }
        match worst {
            Verdict::Equal if self.heard != calm.heard => Verdict::Bad("out of order".into()),
            Verdict::Equal | Verdict::Unknown(_) if !interruption.is_for_good() && self.differs(calm) => {
                Verdict::Bad(format!("another state: {:?} {:?}", self.state, self.living))
            }
            worst => worst,
        }
    }

    fn differs(&self, calm: &Self) -> bool {
        self.state != calm.state || self.living != calm.living
    }

    fn of_mark(&self, calm: &Self, mark: &str) -> Verdict {
        let (wanted, got) = (calm.times(mark, None), self.times(mark, None));
        match (wanted, got, self.dead.get(mark)) {
            (0 | 1, 0 | 1, None) if wanted == got => {
                let places = calm.heard.keys().all(|at| calm.times(mark, Some(at)) == self.times(mark, Some(at)));
                if places { Verdict::Equal } else { Verdict::ByTheRecord }
            }
            (1, 0, Some((DeadReason::Unknown, detail))) => Verdict::Unknown(detail.clone()),
            // Nobody could know that it had been heard.
            (1, 1, Some((DeadReason::Unknown, detail))) => Verdict::Unknown(detail.clone()),
            (1, 0, Some((DeadReason::RetriesExhausted, detail))) => Verdict::Dead(detail.clone()),
            (1, 0, None) if self.refused.contains_key(mark) => Verdict::Refused(self.refused[mark].clone()),
            (1, 0, None) => Verdict::Bad(format!("lost {mark}")),
            (_, 2.., _) => Verdict::Bad(format!("twice {mark}")),
            other => Verdict::Bad(format!("{mark}: {other:?}")),
        }
    }
}

fn describe(session: &Session, before: &Sessions) -> String {
    let state = match &session.state {
        SessionState::Recorded => "recorded",
        SessionState::Starting => "starting",
        SessionState::Live(_) => "live",
        SessionState::Paused(_) => "paused",
        SessionState::Closing(_) => "closing",
        SessionState::Closed { .. } => "closed",
    };
    let reference = session.reference.to_string();
    let made = match before.get(&reference) {
        Some(at) if *at == session.created_at => "when it was",
        Some(_) => "at another time",
        None => "since",
    };
    format!("{reference} {state}, made {made}, introduced {}", session.introduced)
}

/// The sessions there are.
pub fn sessions(app: &App) -> Sessions {
    let mut sessions = Sessions::new();
    let read = app.store().read(|tx| {
        tx.for_each_item(&mut |item| {
            if let Ok(item) = item {
                let endpoints = tx.endpoints(&item.reference.key()).unwrap_or_default();
                let all = item.session.iter().chain(&endpoints);
                sessions.extend(all.map(|session| (session.reference.to_string(), session.created_at)));
            }
            std::ops::ControlFlow::Continue(())
        })
    });
    read.expect("the store can be read");
    sessions
}
