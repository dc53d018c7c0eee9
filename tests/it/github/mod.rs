//! Speaking to GitHub, over sockets of the loopback.

mod fake;
mod fake_hooks;
mod fake_server;
