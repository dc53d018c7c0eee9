//! Composition for the long run; the only home of tokio and warp.

pub mod compose;
pub mod dispatcher;
pub mod door;
pub mod exporter;
pub mod journal;
pub mod receiver;
pub mod run;
mod upkeep;
pub mod wake;
