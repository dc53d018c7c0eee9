//! The real program end to end: the binary, its daemon, tmux, signed deliveries over real connections.

mod burst;
mod daemon;
mod hub;
mod world;
