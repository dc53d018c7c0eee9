//! The real program end to end: the binary, its daemon, tmux, signed deliveries over real connections.

mod burst;
mod by_hand;
mod claude;
mod daemon;
mod demo;
mod doctor;
mod endings;
mod endpoints;
mod full_disk;
mod ground;
mod harnesses;
pub mod hub;
mod life;
mod operator;
mod orders;
mod outside;
mod processes;
mod progress;
mod receiving;
mod routing;
mod runs;
mod telling;
mod trail;
mod trust;
mod workspaces;
pub mod world;
