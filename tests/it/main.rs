//! The real adapters and the real program against the real things: tmux on private sockets, git, loopback servers.

// In a test a panic is the report.
#![allow(clippy::unwrap_used)]

mod cli;
mod corpus;
#[path = "../support/fake_github/mod.rs"]
mod fake_github;
mod git;
mod github;
mod interop;
#[path = "../support/payloads.rs"]
mod payloads;
mod portable;
mod processes;
mod program;
mod receiver;
mod runs;
mod support;
mod tmux;
mod upgrade;
