//! The configuration: its keys as data, read from YAML with every problem at its place, and the policy it states.
//!
//! [`read`] is the door. It is pure: files, environment and the resolution of paths belong to the callers.

mod checks;
mod docs;
mod hosting;
mod ingress;
mod migrate;
mod places;
mod problem;
mod routing;
mod rules;
mod schema;
mod starter;
mod to_policy;
mod tree;
mod values;
mod version;

use crate::domain::reference::RepoRef;

pub use docs::{Effective, effective, json_schema, needs_restart, page};
pub use hosting::{
    CloneProtocol, EnvironmentConfig, HarnessConfig, HarnessTrustConfig, Runner, Strategy, TmuxConfig, TrustScope,
    WorkspaceConfig,
};
pub use ingress::{
    EventLogConfig, GhWebhookConfig, GithubConfig, HostConfig, MonitorConfig, PollingConfig, Provider, SourceConfig,
    StateConfig, WebhooksConfig,
};
pub use migrate::{Migrated, migrate};
pub use places::Home;
pub use problem::{Note, Place, Problem, ProblemKind, nearest};
pub use routing::{
    AnnounceConfig, BreakerConfig, ControlConfig, KeywordsConfig, Permission, ReactionsConfig, RoutingConfig,
};
pub use rules::is_loopback;
pub use schema::{KeyDoc, Shape};
pub use starter::starter;
pub use values::Word;
pub use version::{CURRENT, Version};

use schema::{At, Key, Reader, Section, Value};

/// Harnesses that are built in.
pub const BUILT_IN_HARNESSES: &[&str] = &["claude", "codex", "cursor", "opencode"];

/// The whole configuration; [`Config::default`] is what holds without a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// Version of the format.
    pub version: Version,
    /// Where state is kept.
    pub state: StateConfig,
    /// Repositories whose events are taken; empty takes whatever arrives signed.
    pub repositories: Vec<RepoRef>,
    /// GitHub and its tokens.
    pub github: GithubConfig,
    /// Receivers.
    pub webhooks: WebhooksConfig,
    /// Polling.
    pub polling: PollingConfig,
    /// What happens with an event.
    pub routing: RoutingConfig,
    /// The event log.
    pub event_log: EventLogConfig,
}

impl Section for Config {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("version", "version of the format; may be left out", |s: &mut Self| &mut s.version),
        Key::new("state", "where state is kept", |s: &mut Self| &mut s.state),
        Key::new(
            "repositories",
            "repositories whose events are taken; empty takes whatever arrives signed",
            |s: &mut Self| &mut s.repositories,
        ),
        Key::new("github", "GitHub and its tokens", |s: &mut Self| &mut s.github),
        Key::new("webhooks", "receivers of events", |s: &mut Self| &mut s.webhooks),
        Key::new("polling", "asking GitHub at intervals", |s: &mut Self| &mut s.polling),
        Key::new("routing", "what happens with an event", |s: &mut Self| &mut s.routing),
        Key::new("eventLog", "the log of decisions", |s: &mut Self| &mut s.event_log),
    ];
}

/// A text that was read without problems.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The effective values.
    pub config: Config,
    /// What to know about it; each thing once.
    pub notes: Vec<Note>,
    /// Paths of the keys that the text sets, with their places; everything else is a default.
    pub set: Vec<(String, Place)>,
    /// Whether the text holds no value at all. At a start that means the defaults; on a reload it means that an editor
    /// is half way through saving, and the old configuration stays.
    pub blank: bool,
}

/// Reads a configuration, or says everything that is wrong with it, in the order of the text.
///
/// A text of another version is judged by its version and removed keys alone: the rest of it belongs to another set of
/// rules.
pub fn read(text: &str) -> Result<Reading, Vec<Problem>> {
    let mut reader = Reader::default();
    let node = tree::parse(text, &mut reader.problems);
    let blank = node.as_ref().is_none_or(|node| node.data == tree::Data::Null);
    let config = match node.filter(|_| !blank) {
        Some(node) => Config::read(&node, &At::top(), &mut reader),
        None => Some(Config::default()),
    };
    let refused = |reader: &Reader| reader.problems.iter().any(|problem| problem.kind.is_gate());
    if let Some(config) = config.as_ref().filter(|_| !refused(&reader)) {
        checks::together(config, &mut reader);
    }
    let Reader { mut problems, notes, set } = reader;
    if problems.iter().any(|problem| matches!(problem.kind, ProblemKind::Version | ProblemKind::Removed)) {
        problems.retain(|problem| problem.kind.is_gate());
    }
    problems.sort_by_key(|problem| problem.place);
    match config {
        Some(config) if problems.is_empty() => Ok(Reading { config, notes, set, blank }),
        _ => Err(problems),
    }
}

/// What can be read of a text whose rest is wrong: the values that stand there rightly, and defaults. `None` when it is
/// no YAML. It is good for finding where things lie, not for a decision: what is wrong may be what would forbid it.
pub fn readable_part(text: &str) -> Option<Config> {
    let mut reader = Reader::default();
    let node = tree::parse(text, &mut reader.problems)?;
    Config::read(&node, &At::top(), &mut reader)
}

#[cfg(test)]
mod tests;
