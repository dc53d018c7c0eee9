//! Every decision of the product, pure: no files, clock, randomness, environment, processes or network.

pub mod config;
pub mod decide;
pub mod effect;
pub mod event;
pub mod findings;
pub mod harness;
pub mod ids;
pub mod item;
pub mod json;
pub mod lane;
pub mod layout;
pub mod log;
pub mod message;
pub mod names;
pub mod policy;
pub mod portable;
pub mod ports;
pub mod prompt;
pub mod reference;
pub mod session;
pub mod signature;
pub mod text;
pub mod time;
pub mod trail;
pub mod transcript;
pub mod trust;
