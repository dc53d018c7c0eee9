//! The section about what happens with an event: who may speak, what starts, how often, and who is told.

use std::collections::BTreeMap;

use crate::domain::ids::Login;
use crate::domain::policy::{Keywords, SpawnPolicy};

use super::hosting::{EnvironmentConfig, HarnessConfig, HarnessTrustConfig, Runner, TmuxConfig, WorkspaceConfig};
use super::rules;
use super::schema::{Key, Rule, Section};
use super::values::words;

/// `routing`.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutingConfig {
    /// Directory of the local store; empty means `<state.root>/local`.
    pub registry_dir: String,
    /// Harness of new sessions.
    pub default_harness: String,
    /// Extra arguments by harness.
    pub harness_args: BTreeMap<String, Vec<String>>,
    /// Harnesses of the operator's own, by name.
    pub harnesses: BTreeMap<String, HarnessConfig>,
    /// When an event without a session may start one.
    pub spawn_on_unmatched: SpawnPolicy,
    /// The label that `labeled` asks for.
    pub auto_execute_label: String,
    /// Who may speak; empty admits nobody.
    pub authorized_users: Vec<Login>,
    /// Also admit by live permission.
    pub authorize_permission: Permission,
    /// Whose command line may arm on another machine.
    pub trusted_operators: Vec<String>,
    /// Working directory of `shared` sessions.
    pub spawn_workdir: String,
    /// Deliveries at the same time.
    pub max_concurrent_dispatches: u32,
    /// Clones and starts at the same time.
    pub max_concurrent_spawns: u32,
    /// When a conversation that feeds itself is stopped.
    pub breaker: BreakerConfig,
    /// How long an effect may run, seconds.
    pub dispatch_timeout_seconds: u32,
    /// File of the event prompt; empty is built in.
    pub prompt_template: String,
    /// File of the first prompt; empty is built in.
    pub spawn_prompt_template: String,
    /// Control words.
    pub control: ControlConfig,
    /// What hosts harnesses.
    pub runner: Runner,
    /// tmux.
    pub tmux: TmuxConfig,
    /// Working directories.
    pub workspace: WorkspaceConfig,
    /// The harness's own trust in directories.
    pub harness_trust: HarnessTrustConfig,
    /// Environment of sessions.
    pub environment: EnvironmentConfig,
    /// Reactions.
    pub reactions: ReactionsConfig,
    /// Announcements.
    pub announce: AnnounceConfig,
}

impl Default for RoutingConfig {
    fn default() -> Self {
        Self {
            registry_dir: String::new(),
            default_harness: "claude".into(),
            harness_args: ["claude", "codex"].map(|name| (name.to_owned(), Vec::new())).into(),
            harnesses: BTreeMap::new(),
            spawn_on_unmatched: SpawnPolicy::Labeled,
            auto_execute_label: "the-loop: auto-execute".into(),
            authorized_users: Vec::new(),
            authorize_permission: Permission::Off,
            trusted_operators: Vec::new(),
            spawn_workdir: ".".into(),
            max_concurrent_dispatches: 4,
            max_concurrent_spawns: 2,
            breaker: BreakerConfig::default(),
            dispatch_timeout_seconds: 1_800,
            prompt_template: String::new(),
            spawn_prompt_template: String::new(),
            control: ControlConfig::default(),
            runner: Runner::Auto,
            tmux: TmuxConfig::default(),
            workspace: WorkspaceConfig::default(),
            harness_trust: HarnessTrustConfig::default(),
            environment: EnvironmentConfig::default(),
            reactions: ReactionsConfig::default(),
            announce: AnnounceConfig::default(),
        }
    }
}

impl Section for RoutingConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("registryDir", "directory of the local store; empty means `<state.root>/local`", |s: &mut Self| {
            &mut s.registry_dir
        })
        .rule(Rule::Text(&rules::FILE))
        .restart(),
        Key::new("defaultHarness", "harness of new sessions", |s: &mut Self| &mut s.default_harness)
            .rule(Rule::Text(&rules::HARNESS)),
        Key::new("harnessArgs", "extra arguments by harness", |s: &mut Self| &mut s.harness_args)
            .rule(Rule::Text(&rules::ARGUMENT))
            .names(&rules::HARNESS),
        Key::new("harnesses", "harnesses of your own, by name", |s: &mut Self| &mut s.harnesses).names(&rules::HARNESS),
        Key::new("spawnOnUnmatched", "when an event without a session may start one", |s: &mut Self| {
            &mut s.spawn_on_unmatched
        }),
        Key::new("autoExecuteLabel", "the label that `labeled` asks for", |s: &mut Self| &mut s.auto_execute_label)
            .rule(Rule::Text(&rules::FILLED)),
        Key::new("authorizedUsers", "logins that may speak to agents; empty admits nobody", |s: &mut Self| {
            &mut s.authorized_users
        }),
        Key::new("authorizePermission", "also admit whoever has this permission", |s: &mut Self| {
            &mut s.authorize_permission
        }),
        Key::new(
            "trustedOperators",
            "whose command line may arm an item on another machine; empty means `authorizedUsers` and this user",
            |s: &mut Self| &mut s.trusted_operators,
        )
        .rule(Rule::Text(&rules::FILLED)),
        Key::new("spawnWorkdir", "working directory of sessions with the `shared` strategy", |s: &mut Self| {
            &mut s.spawn_workdir
        })
        .rule(Rule::Text(&rules::PATH)),
        Key::new("maxConcurrentDispatches", "deliveries at the same time", |s: &mut Self| {
            &mut s.max_concurrent_dispatches
        })
        .rule(Rule::Range(1, 256))
        .restart(),
        Key::new("maxConcurrentSpawns", "clones and starts at the same time", |s: &mut Self| {
            &mut s.max_concurrent_spawns
        })
        .rule(Rule::Range(1, 64))
        .restart(),
        Key::new("breaker", "stops a conversation that feeds itself", |s: &mut Self| &mut s.breaker),
        Key::new("dispatchTimeoutSeconds", "how long one effect may run, seconds", |s: &mut Self| {
            &mut s.dispatch_timeout_seconds
        })
        .rule(Rule::Range(1, 86_400)),
        Key::new("promptTemplate", "file of the prompt for events; empty is built in", |s: &mut Self| {
            &mut s.prompt_template
        })
        .rule(Rule::Text(&rules::FILE)),
        Key::new("spawnPromptTemplate", "file of the first prompt; empty is built in", |s: &mut Self| {
            &mut s.spawn_prompt_template
        })
        .rule(Rule::Text(&rules::FILE)),
        Key::new("control", "words in comments that control a session", |s: &mut Self| &mut s.control),
        Key::new("runner", "what hosts the harnesses", |s: &mut Self| &mut s.runner).restart(),
        Key::new("tmux", "sessions in tmux", |s: &mut Self| &mut s.tmux),
        Key::new("workspace", "working directories of sessions", |s: &mut Self| &mut s.workspace),
        Key::new("harnessTrust", "the harness's own trust in a directory", |s: &mut Self| &mut s.harness_trust),
        Key::new("environment", "environment of sessions", |s: &mut Self| &mut s.environment),
        Key::new("reactions", "reactions on the comment that spoke", |s: &mut Self| &mut s.reactions),
        Key::new("announce", "comments about what began", |s: &mut Self| &mut s.announce),
    ];
}

/// A permission on a repository that admits its holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Permission {
    /// Nobody is admitted by permission.
    #[default]
    Off,
    /// May push.
    Write,
    /// May manage.
    Maintain,
    /// May do everything.
    Admin,
}

words!(Permission: "" => Permission::Off, "write" => Permission::Write, "maintain" => Permission::Maintain, "admin" => Permission::Admin);

/// `routing.breaker`; 0 in either is off.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakerConfig {
    /// Deliveries in a row.
    pub deliveries: u32,
    /// Window, minutes.
    pub minutes: u32,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self { deliveries: 60, minutes: 10 }
    }
}

impl Section for BreakerConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("deliveries", "deliveries that trip it; 0 is off", |s: &mut Self| &mut s.deliveries)
            .rule(Rule::Range(0, 100_000)),
        Key::new("minutes", "the window they are counted in; 0 is off", |s: &mut Self| &mut s.minutes)
            .rule(Rule::Range(0, 1_440)),
    ];
}

/// `routing.control`.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlConfig {
    /// Whether words are read.
    pub enabled: bool,
    /// Whether only an armed item may start a session.
    pub require_start_command: bool,
    /// The words.
    pub keywords: KeywordsConfig,
}

impl Default for ControlConfig {
    fn default() -> Self {
        Self { enabled: true, require_start_command: true, keywords: KeywordsConfig::default() }
    }
}

impl Section for ControlConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("enabled", "whether control words are read", |s: &mut Self| &mut s.enabled),
        Key::new("requireStartCommand", "only an item that was started may start a session", |s: &mut Self| {
            &mut s.require_start_command
        }),
        Key::new("keywords", "the words; an empty one is switched off", |s: &mut Self| &mut s.keywords),
    ];
}

/// `routing.control.keywords`.
#[derive(Debug, Clone, PartialEq)]
pub struct KeywordsConfig {
    /// Starts.
    pub start: String,
    /// Ends.
    pub stop: String,
    /// Holds.
    pub pause: String,
    /// Goes on.
    pub resume: String,
}

impl Default for KeywordsConfig {
    fn default() -> Self {
        let Keywords { start, stop, pause, resume, .. } = Keywords::default();
        Self { start, stop, pause, resume }
    }
}

impl Section for KeywordsConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("start", "starts work on the item", |s: &mut Self| &mut s.start).rule(Rule::Text(&rules::LINE)),
        Key::new("stop", "ends the session", |s: &mut Self| &mut s.stop).rule(Rule::Text(&rules::LINE)),
        Key::new("pause", "holds deliveries", |s: &mut Self| &mut s.pause).rule(Rule::Text(&rules::LINE)),
        Key::new("resume", "delivers what was held", |s: &mut Self| &mut s.resume).rule(Rule::Text(&rules::LINE)),
    ];
}

/// `routing.reactions`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReactionsConfig {
    /// Whether reactions are posted.
    pub enabled: bool,
    /// Accepted.
    pub started: String,
    /// Done.
    pub completed: String,
    /// Failed.
    pub error: String,
}

impl Default for ReactionsConfig {
    fn default() -> Self {
        Self { enabled: true, started: "eyes".into(), completed: "hooray".into(), error: "confused".into() }
    }
}

impl Section for ReactionsConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("enabled", "whether reactions are posted", |s: &mut Self| &mut s.enabled),
        Key::new("started", "accepted", |s: &mut Self| &mut s.started).rule(Rule::OneOf(rules::REACTIONS)),
        Key::new("completed", "done", |s: &mut Self| &mut s.completed).rule(Rule::OneOf(rules::REACTIONS)),
        Key::new("error", "failed", |s: &mut Self| &mut s.error).rule(Rule::OneOf(rules::REACTIONS)),
    ];
}

/// `routing.announce`.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnounceConfig {
    /// Whether new sessions, and words of the command line, are told on the ticket.
    pub enabled: bool,
}

impl Default for AnnounceConfig {
    fn default() -> Self {
        Self { enabled: true }
    }
}

impl Section for AnnounceConfig {
    const KEYS: &'static [Key<Self>] = &[Key::new(
        "enabled",
        "whether new sessions, and words of the command line, are told on the ticket",
        |s: &mut Self| &mut s.enabled,
    )];
}
