//! What the product does per second, in one run on one machine: `make bench`.
//!
//! Every row stands beside its target; what is measured, and how, says `docs/performance.md`. One part alone:
//! `cargo bench -- accepting` (or `floor`, `null`, `panes`, `commands`, `owners`, `exporting`, `polling`).
#![allow(clippy::print_stdout)]

#[path = "support/accepting.rs"]
mod accepting;
#[path = "support/commands.rs"]
mod commands;
#[path = "support/exporting.rs"]
mod exporting;
#[allow(dead_code, unused_imports, reason = "shared with the tests")]
#[path = "../tests/support/fake_github/mod.rs"]
mod fake_github;
#[path = "support/floor.rs"]
mod floor;
#[path = "support/home.rs"]
mod home;
#[path = "support/listener.rs"]
mod listener;
#[path = "support/load.rs"]
mod load;
#[path = "support/null_door.rs"]
mod null_door;
#[path = "support/owners.rs"]
mod owners;
#[path = "support/panes.rs"]
mod panes;
#[expect(dead_code, reason = "shared with the tests, which use every shape")]
#[path = "../tests/support/payloads.rs"]
mod payloads;
#[path = "support/polling.rs"]
mod polling;
#[path = "support/prototype.rs"]
mod prototype;
#[path = "support/report.rs"]
mod report;

use report::Row;

/// Measures and reports.
type Part = fn() -> anyhow::Result<Vec<Row>>;

/// The parts by name, in the order of running: what is compared stands close together.
const PARTS: [(&str, Part); 8] = [
    ("floor", floor::rows),
    ("null", || null_door::rows(50_000)),
    ("accepting", accepting::rows),
    ("owners", owners::rows),
    ("commands", commands::rows),
    ("exporting", exporting::rows),
    ("polling", polling::rows),
    ("panes", panes::rows),
];

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if !words.iter().any(|word| word == "--bench") {
        println!("figures are of the release build only: cargo bench");
        return Ok(());
    }
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with("--")).collect();
    println!("{}", Row::head());
    for (name, part) in PARTS {
        if wanted.is_empty() || wanted.iter().any(|word| *word == name) {
            for row in part()? {
                println!("{row}");
            }
        }
    }
    Ok(())
}
