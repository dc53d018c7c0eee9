//! The program from outside: real sockets, processes and files.
#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

#[path = "../support/payloads.rs"]
mod payloads;
mod receiver;
