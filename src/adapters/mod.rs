//! One thin translation per outside thing, behind the traits of `domain::ports`.

pub mod checks;
mod claude_files;
pub mod config_edit;
pub mod config_files;
pub mod earlier_daemon;
pub mod earlier_files;
mod environment;
pub mod event_log;
pub mod git;
mod git_program;
pub mod github;
mod groups;
pub mod harness_files;
pub mod hosts;
pub mod owner_file;
pub mod places;
pub mod portable_files;
pub mod process_runner;
pub mod processes;
pub mod project;
pub mod run_files;
pub mod supervisor;
pub mod system;
pub mod text_files;
pub mod tmux;
pub mod workspaces;
pub mod worktrees;
