//! The configuration as use cases read it, with every path resolved.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::harness::Harness;
use crate::domain::policy::Policy;
use crate::domain::polling::Polling;
use crate::domain::ports::Workspaces;
use crate::domain::prompt::Templates;
use crate::domain::trust::Trust;

/// Everything a use case may ask of the configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What decisions read.
    pub policy: Policy,
    /// Harnesses by name, built-in ones included.
    pub harnesses: BTreeMap<String, Harness>,
    /// Extra arguments by harness.
    pub harness_args: BTreeMap<String, Vec<String>>,
    /// Where sessions work.
    pub workspace: Workspace,
    /// How far harnesses are made to trust where they work.
    pub trust: Trust,
    /// Variables every session gets.
    pub session_env: Vec<(String, String)>,
    /// Seconds between SIGTERM and SIGKILL, as milliseconds.
    pub kill_grace_ms: u64,
    /// Whether a closed session's pane and scroll-back stay.
    pub keep_session_on_close: bool,
    /// Whether a respawn resumes the recorded conversation.
    pub resume_on_respawn: bool,
    /// The texts of prompts.
    pub templates: Templates,
    /// What is polled.
    pub polling: Polling,
    /// The path of the receiver, when deliveries that GitHub could not hand over are asked for again.
    pub sweep: Option<String>,
}

/// Where sessions work.
#[derive(Debug, Clone)]
pub enum Workspace {
    /// All in one directory, chosen on purpose.
    Shared(PathBuf),
    /// Each item in one of its own.
    PerItem(Arc<dyn Workspaces>),
}
