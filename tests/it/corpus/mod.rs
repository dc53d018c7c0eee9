//! GitHub's own example payloads, as `@octokit/webhooks-examples` publishes them, through the whole product.
//!
//! `make corpus` fetches them into `target/corpus`; where they are not there, each of these tests says that it was
//! skipped and why. What the examples of github.com are about stands in `tests/data/octokit-examples-routing.tsv`, with
//! the digest of each.

mod classes;
mod daemon;
pub mod examples;
mod mutants;
mod mutations;
mod portable;
// The simulation uses more of it.
#[allow(dead_code)]
#[path = "../../sim/rng.rs"]
pub mod rng;
mod routing;
mod state;
