//! The poller over a fake GitHub, in process: the whole product over a store in memory, a terminal that only writes down
//! what is typed, and clocks turned by hand.

// In a test a panic is the report.
#![allow(clippy::unwrap_used)]

// These tests use some of it, others the rest.
#[allow(dead_code, unused_imports)]
#[path = "../support/fake_github/mod.rs"]
mod fake_github;
#[allow(dead_code)]
#[path = "../support/payloads.rs"]
mod payloads;
mod terminal;
mod world;

mod both;
mod facts;
mod hand_over;
mod hosts;
mod lists;
mod pulls;
mod quiet;
mod sweep;
mod troubles;
mod words;
