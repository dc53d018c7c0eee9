//! The real program end to end: the binary, its daemon, tmux, signed deliveries over real connections.

mod burst;
mod by_hand;
mod claude;
mod daemon;
mod demo;
mod doctor;
mod full_disk;
pub mod hub;
mod life;
mod operator;
mod orders;
mod outside;
mod processes;
mod receiving;
mod routing;
mod trail;
mod trust;
pub mod world;
