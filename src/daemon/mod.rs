//! Composition for the long run; the only home of tokio and warp.

pub mod receiver;
