//! The real program end to end: the binary, its daemon, tmux, signed deliveries over real connections.

mod burst;
mod claude;
mod daemon;
mod demo;
mod hub;
mod operator;
mod outside;
mod processes;
mod receiving;
mod routing;
mod trust;
mod world;
