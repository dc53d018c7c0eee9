//! Speaking to GitHub, over sockets of the loopback.

mod fake;
