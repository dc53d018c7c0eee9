//! What must hold of the conversations of pull requests, by name.

use std::collections::{BTreeMap, BTreeSet};

use the_loop::app::App;
use the_loop::domain::ids::DeliveryId;
use the_loop::domain::log::EventName;
use the_loop::domain::reference::WorkItemRef;
use the_loop::store::View as _;

use crate::github::{GitHub, marker};
use crate::world::World;

/// `typed` holds every submitted text with the reference of its pane.
pub fn check(app: &App, world: &World, typed: &[(String, String)]) -> Vec<String> {
    let mut violations = hears_its_own(app, world, typed);
    violations.extend(one_agent(world));
    violations.extend(closed_pulls(world));
    if !world.plan.expects_per_pr {
        let of_pulls = typed.iter().filter(|(pane, _)| number(pane) > 100);
        violations.extend(of_pulls.map(|(pane, _)| format!("collapsed is one conversation: {pane} has its own")));
    }
    violations
}

fn number(reference: &str) -> u64 {
    WorkItemRef::parse(reference).expect("a reference").number()
}

/// What is said on a pull request is typed into its own conversation; into its record's instead once it was closed, or
/// could not be started.
fn hears_its_own(app: &App, world: &World, typed: &[(String, String)]) -> Vec<String> {
    let journal = app.store().read(|tx| tx.journal(0, usize::MAX)).expect("the journal can be read");
    let failed = journal.iter().filter(|(_, _, entry)| entry.event == EventName::SessionSpawnFailed);
    let failed: BTreeSet<u64> =
        failed.filter_map(|(_, _, entry)| entry.fields.get("endpoint")?.as_str().map(number)).collect();
    let mut violations = Vec::new();
    for (delivery, about) in &world.github.about {
        let mark = marker(&DeliveryId::parse(delivery).expect("a delivery"));
        let by_the_record = !world.plan.expects_per_pr || world.github.was_closed(*about) || failed.contains(about);
        for (pane, _) in typed.iter().filter(|(_, text)| text.contains(&mark)) {
            if number(pane) != *about && !(by_the_record && number(pane) == about % 100) {
                violations.push(format!("a pull request hears its own: {delivery} on {about} was typed into {pane}"));
            }
        }
    }
    violations
}

/// No conversation has two agents.
fn one_agent(world: &World) -> Vec<String> {
    let mut living: BTreeMap<u64, usize> = BTreeMap::new();
    for pane in world.terminal.0.lock().unwrap().panes.values().filter(|pane| pane.alive) {
        *living.entry(pane.request.reference.number()).or_default() += 1;
    }
    let doubled = living.into_iter().filter(|(_, count)| *count > 1);
    doubled.map(|(number, count)| format!("one agent per conversation: {number} has {count}")).collect()
}

/// A pull request that was closed last has no agent, whatever became of its record.
fn closed_pulls(world: &World) -> Vec<String> {
    let closed = world.github.closed_pulls();
    let panes = &world.terminal.0.lock().unwrap().panes;
    let living = panes.values().filter(|pane| pane.alive).map(|pane| &pane.request.reference);
    let wrong = living.filter(|reference| closed.contains(&reference.number()));
    wrong
        .map(|reference| format!("a closed pull request has no agent: {reference} of {}", GitHub::owner_of(reference)))
        .collect()
}
