//! One thin translation per outside thing, behind the traits of `domain::ports`.

pub mod config_files;
pub mod earlier_daemon;
pub mod event_log;
pub mod owner_file;
pub mod places;
pub mod portable_files;
pub mod processes;
pub mod supervisor;
pub mod system;
pub mod tmux;
