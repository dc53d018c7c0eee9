//! One thin translation per outside thing, behind the traits of `domain::ports`.

pub mod processes;
pub mod system;
pub mod tmux;
pub mod config_files;
