//! Simulation of both ways in: the whole app over a storage that crashes, a GitHub that is polled through faults and whose
//! webhooks are lost, late, repeated and out of order, and a second machine that takes over and gives back.
//! `SIM_SEEDS=n` runs more seeds, `SIM_SEED=n` runs one and prints its steps.

// In a simulation a panic is the report, and a trace is for whoever asked for one seed.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

// What is shared serves others too, and not all of it this simulation.
#[path = "../../support/fake_github/mod.rs"]
#[allow(dead_code, unused_imports)]
mod fake_github;
#[path = "../folder.rs"]
#[allow(dead_code)]
mod folder;
#[path = "../parts.rs"]
mod parts;
#[path = "../../support/payloads.rs"]
#[allow(dead_code, unused_imports)]
mod payloads;
#[path = "../rng.rs"]
mod rng;
#[path = "../terminal.rs"]
#[allow(dead_code)]
mod terminal;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

mod computer;
mod invariants;
mod mail;
mod oracle;
mod people;
mod planted;
mod wire;
mod world;

use oracle::Figures;
use world::{Plan, World};

fn seeds(default: u64) -> Vec<u64> {
    match (std::env::var("SIM_SEED"), std::env::var("SIM_SEEDS")) {
        (Ok(seed), _) => vec![seed.parse().expect("SIM_SEED is a number")],
        (_, Ok(count)) => (0..count.parse().expect("SIM_SEEDS is a number")).collect(),
        _ => (0..default).collect(),
    }
}

fn run(plan: &Plan, count: u64) {
    let seeds = seeds(count);
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(seeds.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let outcome = World::run(plan, *seed);
                    outcomes.lock().unwrap().push((*seed, outcome));
                }
            });
        }
    });
    let (mut total, mut failed) = (Figures::default(), Vec::new());
    for (seed, outcome) in outcomes.into_inner().unwrap() {
        match outcome {
            Ok(figures) => total.add(&figures),
            Err(violations) => failed.push(format!("seed {seed}:\n{}", violations.join("\n"))),
        }
    }
    println!("{total:#?}");
    assert!(failed.is_empty(), "{} of {} seeds: {}", failed.len(), seeds.len(), failed.join("\n"));
    // A run in which little has to arrive, or in which much is left open, proves nothing.
    let said = total.must + total.open.values().sum::<u64>();
    assert!(total.must > 150 * seeds.len() as u64, "{total:#?}");
    assert!(said - total.must < said / 5, "at most a fifth may be left open: {total:#?}");
}

#[test]
fn both_ways_in_and_two_machines_deliver_everything_once() {
    run(&Plan::both(), 50);
}
