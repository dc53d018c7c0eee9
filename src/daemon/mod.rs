//! Composition for the long run; the only home of tokio and warp.

pub mod answering;
pub mod compose;
pub mod control;
pub mod dispatcher;
pub mod door;
pub mod exporter;
pub mod ground;
pub mod interrupt;
pub mod journal;
mod loops;
pub mod poller;
pub mod receiver;
mod reload;
pub mod run;
mod telling;
mod upkeep;
pub mod vitals;
pub mod wake;
