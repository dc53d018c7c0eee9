//! The program from outside: real sockets, processes and files.
#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

#[path = "../support/payloads.rs"]
mod payloads;
mod receiver;
//! The real adapters and the real program against the real things: tmux on private sockets, git, loopback servers.

// In a test a panic is the report.
#![allow(clippy::unwrap_used)]

mod support;
mod tmux;
