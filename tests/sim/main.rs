//! Simulation: the whole app over a storage that crashes, a runner that misbehaves and a clock that is turned by hand,
//! all from one seed. `SIM_SEEDS=n` runs more seeds, `SIM_SEED=n` runs one and prints its steps.

// In a simulation a panic is the report, and a trace is for whoever asked for one seed.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod endpoints;
mod folder;
mod github;
mod invariants;
mod machine;
mod malformed;
mod matrix;
mod parts;
mod planted;
mod rng;
mod second;
mod settled;
mod terminal;
mod world;

use world::{Plan, World};

fn seeds(default: u64) -> Vec<u64> {
    match (std::env::var("SIM_SEED"), std::env::var("SIM_SEEDS")) {
        (Ok(seed), _) => vec![seed.parse().expect("SIM_SEED is a number")],
        (_, Ok(count)) => (0..count.parse().expect("SIM_SEEDS is a number")).collect(),
        _ => (0..default).collect(),
    }
}

fn run(plan: &Plan, count: u64) {
    let mut total = invariants::Figures::default();
    let seeds = seeds(count);
    for seed in &seeds {
        match World::run(plan, *seed) {
            Ok(figures) => total = total + figures,
            Err(violations) => panic!("seed {seed}: {}", violations.join("\n")),
        }
    }
    println!("{total:?}");
    // A run in which nothing is typed, or in which most is excused, proves nothing.
    assert!(total.typed as usize > 10 * seeds.len(), "{total:?}");
    assert!(total.excused * 2 < total.queued, "{total:?}");
}

#[test]
fn calm_weather_delivers_everything_once_in_order() {
    run(&Plan::calm(), 30);
}

#[test]
fn crashes_between_any_two_steps_lose_and_double_nothing() {
    run(&Plan::crashes(), 60);
}

#[test]
fn silent_terminals_lost_replies_and_dying_panes() {
    run(&Plan::storm(), 60);
}

#[test]
fn stops_closes_and_reopenings_against_work_in_flight() {
    run(&Plan::endings(), 60);
}

#[test]
fn other_machines_edits_arm_nobody_and_lose_nothing() {
    run(&Plan::machines(), 60);
}

#[test]
fn p12_new_names_of_the_repository_against_work_in_flight() {
    run(&Plan::renames(), 60);
}

#[test]
fn several_pull_requests_per_item_and_clones_that_take_long() {
    run(&Plan::endpoints(), 60);
}

#[test]
fn collapsed_all_of_an_item_is_one_conversation() {
    run(&Plan::collapsed(), 60);
}
