//! The sections about where events come from: state, GitHub, webhooks, polling, the event log.

use std::collections::BTreeMap;

use crate::domain::reference::RepoRef;

use super::rules;
use super::schema::{Key, Rule, Section};
use super::values::words;

/// `state`: where the product keeps what it knows.
#[derive(Debug, Clone, PartialEq)]
pub struct StateConfig {
    /// Directory of the state, relative to the configuration's home.
    pub root: String,
}

impl Default for StateConfig {
    fn default() -> Self {
        Self { root: ".the-loop".into() }
    }
}

impl Section for StateConfig {
    const KEYS: &'static [Key<Self>] = &[Key::new("root", "directory of the state", |s: &mut Self| &mut s.root)
        .rule(Rule::Text(&rules::PATH))
        .restart()];
}

/// `github`: where GitHub answers and which variables hold a token for it.
#[derive(Debug, Clone, PartialEq)]
pub struct GithubConfig {
    /// API of github.com.
    pub api_url: String,
    /// Variables that may hold the token for github.com, first one set wins.
    pub token_env: Vec<String>,
    /// Other hosts, by name. A token never goes to another host than its own.
    pub hosts: BTreeMap<String, HostConfig>,
}

impl Default for GithubConfig {
    fn default() -> Self {
        Self {
            api_url: "https://api.github.com".into(),
            token_env: vec!["GITHUB_TOKEN".into(), "GH_TOKEN".into()],
            hosts: BTreeMap::new(),
        }
    }
}

impl Section for GithubConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("apiUrl", "API of github.com", |s: &mut Self| &mut s.api_url)
            .rule(Rule::Text(&rules::API_URL))
            .restart(),
        Key::new("tokenEnv", "variables that may hold its token; the first one set wins", |s: &mut Self| {
            &mut s.token_env
        })
        .rule(Rule::Text(&rules::VARIABLE))
        .restart(),
        Key::new("hosts", "GitHub Enterprise hosts by name, each with its own token", |s: &mut Self| &mut s.hosts)
            .names(&rules::HOST)
            .restart(),
    ];
}

/// One entry of `github.hosts`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostConfig {
    /// API of this host; empty means `https://<host>/api/v3`.
    pub api_url: String,
    /// Variables that may hold the token for this host; those of github.com are never used for it.
    pub token_env: Vec<String>,
}

impl Section for HostConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("apiUrl", "API of the host; empty means `https://<host>/api/v3`", |s: &mut Self| &mut s.api_url)
            .rule(Rule::Text(&rules::HOST_API_URL)),
        Key::new("tokenEnv", "variables that may hold its token; the first one set wins", |s: &mut Self| {
            &mut s.token_env
        })
        .rule(Rule::Text(&rules::VARIABLE)),
    ];
}

/// `webhooks`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WebhooksConfig {
    /// The GitHub receiver.
    pub gh_webhook: GhWebhookConfig,
}

impl Section for WebhooksConfig {
    const KEYS: &'static [Key<Self>] =
        &[Key::new("ghWebhook", "the receiver for GitHub", |s: &mut Self| &mut s.gh_webhook)];
}

/// `webhooks.ghWebhook`: the receiver.
#[derive(Debug, Clone, PartialEq)]
pub struct GhWebhookConfig {
    /// Whether it listens.
    pub enabled: bool,
    /// Host it listens on.
    pub host: String,
    /// Port it listens on; 0 takes a free one.
    pub port: u16,
    /// Path it answers.
    pub path: String,
    /// Variable with the secret; empty reads none.
    pub secret_env: String,
    /// File with the secret; empty reads none.
    pub secret_file: String,
    /// Whether unsigned deliveries are taken, on a loopback host only.
    pub allow_unsigned: bool,
    /// Events taken; empty takes all that are known.
    pub events: Vec<String>,
    /// Whether GitHub is asked for deliveries that failed, which are sent again.
    pub sweep: bool,
}

impl Default for GhWebhookConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            host: "127.0.0.1".into(),
            port: 8787,
            path: "/gh-webhook".into(),
            secret_env: "THE_LOOP_GH_WEBHOOK_SECRET".into(),
            secret_file: String::new(),
            allow_unsigned: false,
            events: Vec::new(),
            sweep: false,
        }
    }
}

impl Section for GhWebhookConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("enabled", "whether the receiver listens", |s: &mut Self| &mut s.enabled).restart(),
        Key::new("host", "host to listen on; one that others reach needs a secret", |s: &mut Self| &mut s.host)
            .rule(Rule::Text(&rules::BIND))
            .restart(),
        Key::new("port", "port to listen on; 0 takes a free one", |s: &mut Self| &mut s.port)
            .rule(Rule::Range(0, 65_535))
            .restart(),
        Key::new("path", "path that deliveries are posted to", |s: &mut Self| &mut s.path)
            .rule(Rule::Text(&rules::URL_PATH))
            .restart(),
        Key::new("secretEnv", "variable that holds the webhook's secret", |s: &mut Self| &mut s.secret_env)
            .rule(Rule::Text(&rules::VARIABLE_OR_NONE))
            .restart(),
        Key::new("secretFile", "file that holds the secret, when the variable is not set", |s: &mut Self| {
            &mut s.secret_file
        })
        .rule(Rule::Text(&rules::FILE))
        .restart(),
        Key::new("allowUnsigned", "take unsigned deliveries, on a loopback host only", |s: &mut Self| {
            &mut s.allow_unsigned
        })
        .restart(),
        Key::new("events", "events to take; empty takes all that are known", |s: &mut Self| &mut s.events)
            .rule(Rule::Text(&rules::EVENT)),
        Key::new("sweep", "ask GitHub for deliveries that failed, and have them sent again", |s: &mut Self| {
            &mut s.sweep
        }),
    ];
}

/// `polling`: asking GitHub at intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct PollingConfig {
    /// Whether it polls.
    pub enabled: bool,
    /// Seconds between cycles.
    pub interval_seconds: u32,
    /// Failed tries of an effect before it is given up.
    pub max_retries: u32,
    /// What is watched.
    pub sources: Vec<SourceConfig>,
}

impl Default for PollingConfig {
    fn default() -> Self {
        Self { enabled: false, interval_seconds: 60, max_retries: 8, sources: Vec::new() }
    }
}

impl Section for PollingConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("enabled", "whether GitHub is asked at intervals", |s: &mut Self| &mut s.enabled),
        Key::new("intervalSeconds", "seconds between two cycles", |s: &mut Self| &mut s.interval_seconds)
            .rule(Rule::Range(1, 86_400)),
        Key::new("maxRetries", "failed tries before something is given up", |s: &mut Self| &mut s.max_retries)
            .rule(Rule::Range(1, 100)),
        Key::new("sources", "what is watched", |s: &mut Self| &mut s.sources),
    ];
}

/// Where work items are polled from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Provider {
    /// GitHub or GitHub Enterprise.
    #[default]
    Github,
}

words!(Provider: "github" => Provider::Github);

/// One entry of `polling.sources`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SourceConfig {
    /// Who hosts the repositories.
    pub provider: Provider,
    /// The repositories.
    pub repos: Vec<RepoRef>,
    /// Label that makes an item watched; empty means `routing.autoExecuteLabel`.
    pub label: String,
    /// Kinds of items.
    pub monitor: MonitorConfig,
}

impl Section for SourceConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("provider", "who hosts the repositories", |s: &mut Self| &mut s.provider),
        Key::new("repos", "repositories, `owner/repo` or `host/owner/repo`", |s: &mut Self| &mut s.repos).required(),
        Key::new(
            "label",
            "label that makes an item watched; empty means `routing.autoExecuteLabel`",
            |s: &mut Self| &mut s.label,
        )
        .rule(Rule::Text(&rules::LINE)),
        Key::new("monitor", "kinds of items", |s: &mut Self| &mut s.monitor),
    ];
}

/// `monitor` of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct MonitorConfig {
    /// Whether issues are watched.
    pub issues: bool,
    /// Whether pull requests are watched.
    pub pull_requests: bool,
}

impl Default for MonitorConfig {
    fn default() -> Self {
        Self { issues: true, pull_requests: true }
    }
}

impl Section for MonitorConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("issues", "watch issues", |s: &mut Self| &mut s.issues),
        Key::new("pullRequests", "watch pull requests", |s: &mut Self| &mut s.pull_requests),
    ];
}

/// `eventLog`.
#[derive(Debug, Clone, PartialEq)]
pub struct EventLogConfig {
    /// Whether it is written.
    pub enabled: bool,
    /// The file; empty means `<state.root>/logs/events.jsonl`.
    pub path: String,
    /// Size in bytes at which a new file begins.
    pub max_bytes: u64,
    /// Full files kept.
    pub keep: u32,
}

impl Default for EventLogConfig {
    fn default() -> Self {
        Self { enabled: true, path: String::new(), max_bytes: 64 * 1024 * 1024, keep: 5 }
    }
}

impl Section for EventLogConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("enabled", "whether the event log is written", |s: &mut Self| &mut s.enabled).restart(),
        Key::new("path", "the file; empty means `<state.root>/logs/events.jsonl`", |s: &mut Self| &mut s.path)
            .rule(Rule::Text(&rules::FILE))
            .restart(),
        Key::new("maxBytes", "size at which a new file begins, bytes", |s: &mut Self| &mut s.max_bytes)
            .rule(Rule::Range(4_096, 1 << 40))
            .restart(),
        Key::new("keep", "full files kept", |s: &mut Self| &mut s.keep).rule(Rule::Range(0, 1_000)).restart(),
    ];
}
