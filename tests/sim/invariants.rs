//! What must hold whatever happened, by name.

use std::collections::BTreeMap;

use the_loop::app::App;
use the_loop::domain::effect::EffectBody;
use the_loop::domain::ids::DeliveryId;
use the_loop::domain::log::EventName;
use the_loop::domain::session::SessionState;
use the_loop::store::View as _;

use crate::endpoints;
use crate::github::{GitHub, marker};
use crate::world::World;

/// What the store says was accepted for an agent, in the order of commits, and what became of what was not typed.
struct Trail {
    queued: Vec<String>,
    excused: Vec<String>,
}

/// How much happened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// Deliveries accepted for an agent.
    pub queued: u64,
    /// Of these, typed into a pane.
    pub typed: u64,
    /// Of these, dropped because their session ended, or given up visibly.
    pub excused: u64,
    /// Panes made.
    pub panes: u64,
}

impl std::ops::Add for Figures {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            queued: self.queued + other.queued,
            typed: self.typed + other.typed,
            excused: self.excused + other.excused,
            panes: self.panes + other.panes,
        }
    }
}

pub fn figures(app: &App, world: &World) -> Figures {
    let trail = trail(app);
    let panes = world.terminal.0.lock().unwrap().panes.clone();
    let text: String = panes.values().flat_map(|pane| pane.submitted.clone()).collect();
    let typed = trail.queued.iter().filter(|id| text.contains(&marker(&DeliveryId::parse(id).unwrap()))).count();
    let excused = trail.queued.iter().filter(|id| trail.excused.contains(id)).count();
    Figures {
        queued: trail.queued.len() as u64,
        typed: typed as u64,
        excused: excused as u64,
        panes: panes.len() as u64,
    }
}

pub fn check(app: &App, world: &World) -> Vec<String> {
    let trail = trail(app);
    let mut violations = Vec::new();
    let panes = world.terminal.0.lock().unwrap().panes.clone();
    let typed: Vec<(String, String)> = panes
        .values()
        .flat_map(|pane| pane.submitted.iter().map(|text| (pane.request.reference.to_string(), text.clone())))
        .collect();
    for delivery in &trail.queued {
        let mark = marker(&DeliveryId::parse(delivery).unwrap());
        let times = typed.iter().map(|(_, text)| text.matches(&mark).count()).sum::<usize>();
        let excused = trail.excused.contains(delivery);
        match times {
            0 if !excused => violations.push(format!("no accepted event lost: {delivery} reached no pane")),
            0 | 1 => {}
            _ => violations.push(format!("none delivered twice: {delivery} was typed {times} times")),
        }
    }
    violations.extend(to_another_item(app, &typed));
    violations.extend(out_of_order(&trail, world));
    violations.extend(not_closed(app, world));
    violations.extend(endpoints::check(app, world, &typed));
    violations
}

fn trail(app: &App) -> Trail {
    app.store()
        .read(|tx| {
            let journal = tx.journal(0, usize::MAX)?;
            let of = |name: EventName| {
                // A first prompt says what the item is; the text that made it is queued beside it, when it is new.
                let entries = journal
                    .iter()
                    .filter(move |(_, _, entry)| entry.event == name && !entry.fields.contains_key("firstPrompt"));
                entries.filter_map(|(_, _, entry)| entry.fields.get("delivery")?.as_str().map(str::to_owned))
            };
            let mut queued: Vec<String> = of(EventName::DispatchQueued).collect();
            queued.retain(|delivery| wants_text(&journal, delivery));
            let mut excused: Vec<String> = of(EventName::DispatchDropped).collect();
            for (_, letter) in tx.dead_letters()? {
                if let EffectBody::Deliver { message, .. } = &letter.effect.body {
                    excused.push(message.delivery.as_str().to_owned());
                }
            }
            for (lane, _) in tx.lanes()? {
                for effect in tx.lane(&lane, usize::MAX)? {
                    if let EffectBody::Deliver { message, .. } = &effect.body {
                        excused.push(message.delivery.as_str().to_owned());
                    }
                }
            }
            queued.dedup();
            Ok(Trail { queued, excused })
        })
        .expect("the journal can be read")
}

/// First prompts of facts carry no marker of a comment.
fn wants_text(
    journal: &[(u64, the_loop::domain::time::Time, the_loop::domain::log::LogEntry)],
    delivery: &str,
) -> bool {
    journal.iter().any(|(_, _, entry)| {
        entry.event == EventName::WebhookReceived
            && entry.fields.get("delivery").and_then(|d| d.as_str()) == Some(delivery)
            && matches!(entry.fields.get("name").and_then(|n| n.as_str()), Some("issue_comment" | "check_run"))
    })
}

fn to_another_item(app: &App, typed: &[(String, String)]) -> Vec<String> {
    let about: BTreeMap<String, String> = app
        .store()
        .read(|tx| {
            let journal = tx.journal(0, usize::MAX)?;
            let queued = journal.into_iter().filter(|(_, _, entry)| entry.event == EventName::DispatchQueued);
            Ok(queued
                .filter_map(|(_, _, entry)| {
                    let field = |name: &str| entry.fields.get(name)?.as_str().map(str::to_owned);
                    Some((field("delivery")?, field("workItem")?))
                })
                .collect())
        })
        .expect("the journal can be read");
    let mut violations = Vec::new();
    for (pane, text) in typed {
        for (delivery, owner) in &about {
            let pane_ref = the_loop::domain::reference::WorkItemRef::parse(pane).unwrap();
            let mark = marker(&DeliveryId::parse(delivery).unwrap());
            // Repositories change their names here, and their numbers stay.
            let owner_number = the_loop::domain::reference::WorkItemRef::parse(owner).unwrap().number();
            if text.contains(&mark) && GitHub::owner_of(&pane_ref).number() != owner_number {
                violations.push(format!("none to another item: {delivery} of {owner} was typed into {pane}"));
            }
        }
    }
    violations
}

/// Within one pane, what was accepted first is typed first.
fn out_of_order(trail: &Trail, world: &World) -> Vec<String> {
    let mut violations = Vec::new();
    for pane in world.terminal.0.lock().unwrap().panes.values() {
        let text = pane.submitted.join("\n");
        let mut places: Vec<(usize, &str)> = Vec::new();
        for delivery in &trail.queued {
            if let Some(at) = text.find(&marker(&DeliveryId::parse(delivery).unwrap())) {
                places.push((at, delivery));
            }
        }
        for pair in places.windows(2) {
            if pair[0].0 > pair[1].0 {
                violations.push(format!("order per item: {} was typed after {}", pair[0].1, pair[1].1));
            }
        }
    }
    violations
}

/// What people stopped or closed last has no live session and no living pane.
fn not_closed(app: &App, world: &World) -> Vec<String> {
    let mut violations = Vec::new();
    let panes = world.terminal.0.lock().unwrap().panes.clone();
    for reference in world.github.disarmed() {
        let item = app.store().read(|tx| tx.item(&reference.key())).expect("the item can be read");
        let Some(session) = item.and_then(|item| item.session) else { continue };
        if !matches!(session.state, SessionState::Closed { .. }) {
            violations.push(format!("closed stays closed: {reference} is {:?}", session.state));
        }
        for pane in panes.values().filter(|pane| pane.alive) {
            if GitHub::owner_of(&pane.request.reference).number() == reference.number() {
                let life = &pane.life;
                violations.push(format!("closed stays closed: a pane of {reference} lives: {life:?}"));
            }
        }
    }
    violations
}

/// Everything a restart must keep.
pub fn digest(app: &App) -> String {
    app.store()
        .read(|tx| {
            let mut text = String::new();
            tx.for_each_item(&mut |item| {
                text.push_str(&format!("{item:?}\n"));
                std::ops::ControlFlow::Continue(())
            })?;
            for (lane, count) in tx.lanes()? {
                text.push_str(&format!("{lane} {count} {:?}\n", tx.lane(&lane, usize::MAX)?));
            }
            text.push_str(&format!("{:?} {:?} {:?}", tx.claims()?, tx.dead_letters()?, tx.marks()?));
            Ok(text)
        })
        .expect("the store can be read")
}

/// Reasons, for a look at a single seed.
pub fn explain(app: &App) -> BTreeMap<String, u64> {
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let all = app.store().read(|tx| Ok((tx.journal(0, usize::MAX)?, tx.dead_letters()?))).expect("readable");
    for (_, _, entry) in all.0.iter().filter(|(_, _, entry)| entry.event == EventName::DispatchDropped) {
        *reasons.entry(format!("dropped: {:?}", entry.fields.get("reason"))).or_default() += 1;
    }
    for (_, letter) in all.1 {
        *reasons.entry(format!("dead {}: {}", letter.effect.body.verb(), letter.detail)).or_default() += 1;
    }
    reasons
}
