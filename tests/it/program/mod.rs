//! The real program end to end: the binary, its daemon, tmux, signed deliveries over real connections.

mod burst;
mod daemon;
mod demo;
mod doctor;
mod hub;
mod life;
mod operator;
mod orders;
mod outside;
mod receiving;
mod routing;
mod trail;
mod trust;
mod world;
