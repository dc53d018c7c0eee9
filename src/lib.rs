//! `the-loop` keeps coding agents on their work: it hears GitHub issues and pull requests and delivers each event
//! exactly once into the agent conversation that owns the work item.
//!
//! The layers are folders and arrows point down; `docs/architecture.md` is the map.

pub mod adapters;
pub mod app;
pub mod cli;
pub mod daemon;
pub mod domain;
pub mod store;
