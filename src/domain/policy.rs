//! The part of the configuration that decisions read; replaced whole on reload.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::github::Permission;
use super::ids::Login;
use super::reference::RepoRef;

/// What the operator allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Event names taken; empty takes all that have a row.
    pub events: BTreeSet<String>,
    /// Repositories taken; empty takes whatever arrives signed.
    pub repositories: Vec<RepoRef>,
    /// Who may speak, start and stop; empty admits nobody.
    pub authorized_users: Vec<Login>,
    /// Who speaks is admitted too when GitHub says that they may do at least this; asked for each of them.
    pub authorize_permission: Option<Permission>,
    /// Whose command line may arm an item from another machine, by login or user name.
    pub trusted_operators: Vec<String>,
    /// When an event without a session may make one.
    pub spawn: SpawnPolicy,
    /// The label `SpawnPolicy::Labeled` asks for; compared without ASCII case, as GitHub does.
    pub label: String,
    /// Whether only an armed item may spawn.
    pub require_start: bool,
    /// The control words.
    pub keywords: Keywords,
    /// Whether pull requests get conversations of their own.
    pub session_per_pr: bool,
    /// Harness of new sessions.
    pub harness: String,
    /// Comments in a row that trip the breaker; 0 is off.
    pub breaker_deliveries: u32,
    /// The window the breaker counts in, minutes.
    pub breaker_minutes: u32,
    /// Failed tries of an effect before it is a dead letter.
    pub max_retries: u32,
    /// How long an effect may run, seconds.
    pub dispatch_timeout_seconds: u32,
    /// Whether the checkout of an item that ends goes when it is clean and pushed.
    pub tidies_checkouts: bool,
    /// How comments that spoke are reacted to.
    pub reactions: Reactions,
    /// Whether new sessions, and words of the command line, are told on the ticket.
    pub announces: bool,
}

/// Reactions on a comment that spoke; an absent one is not posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reactions {
    /// It was accepted.
    pub started: Option<Reaction>,
    /// It was handed over, or its word was obeyed.
    pub completed: Option<Reaction>,
    /// It was given up.
    pub error: Option<Reaction>,
}

impl Default for Reactions {
    fn default() -> Self {
        Self { started: Some(Reaction::Eyes), completed: Some(Reaction::Hooray), error: Some(Reaction::Confused) }
    }
}

/// GitHub's reactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reaction {
    /// Thumbs up.
    #[serde(rename = "+1")]
    PlusOne,
    /// Thumbs down.
    #[serde(rename = "-1")]
    MinusOne,
    /// Laughing.
    #[serde(rename = "laugh")]
    Laugh,
    /// Confused.
    #[serde(rename = "confused")]
    Confused,
    /// A heart.
    #[serde(rename = "heart")]
    Heart,
    /// A party popper.
    #[serde(rename = "hooray")]
    Hooray,
    /// A rocket.
    #[serde(rename = "rocket")]
    Rocket,
    /// Eyes.
    #[serde(rename = "eyes")]
    Eyes,
}

impl Reaction {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::PlusOne,
        Self::MinusOne,
        Self::Laugh,
        Self::Confused,
        Self::Heart,
        Self::Hooray,
        Self::Rocket,
        Self::Eyes,
    ];

    /// GitHub's word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PlusOne => "+1",
            Self::MinusOne => "-1",
            Self::Laugh => "laugh",
            Self::Confused => "confused",
            Self::Heart => "heart",
            Self::Hooray => "hooray",
            Self::Rocket => "rocket",
            Self::Eyes => "eyes",
        }
    }

    /// The reaction of this word; `None` for the empty one, which stands for no reaction.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reaction| reaction.as_str() == word)
    }
}

/// When an event without a session may make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpawnPolicy {
    /// Only the command line.
    Never,
    /// When an entity the event names carries the label.
    Labeled,
    /// Always.
    Always,
}

impl SpawnPolicy {
    /// The word in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Labeled => "labeled",
            Self::Always => "always",
        }
    }
}

/// The control words as configured; an empty one is disabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keywords {
    /// Whether words are read at all.
    pub enabled: bool,
    /// Default `the-loop start`.
    pub start: String,
    /// Default `the-loop stop`.
    pub stop: String,
    /// Default `the-loop pause`.
    pub pause: String,
    /// Default `the-loop resume`.
    pub resume: String,
}

impl Default for Keywords {
    fn default() -> Self {
        Self {
            enabled: true,
            start: "the-loop start".into(),
            stop: "the-loop stop".into(),
            pause: "the-loop pause".into(),
            resume: "the-loop resume".into(),
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            events: BTreeSet::new(),
            repositories: Vec::new(),
            authorized_users: Vec::new(),
            authorize_permission: None,
            trusted_operators: Vec::new(),
            spawn: SpawnPolicy::Labeled,
            label: "the-loop: auto-execute".into(),
            require_start: true,
            keywords: Keywords::default(),
            session_per_pr: true,
            harness: "claude".into(),
            breaker_deliveries: 60,
            breaker_minutes: 10,
            max_retries: 8,
            dispatch_timeout_seconds: 1800,
            tidies_checkouts: true,
            reactions: Reactions::default(),
            announces: true,
        }
    }
}

impl Policy {
    /// Whether `login` may speak: listed by name, case ignored. Nobody is nobody.
    pub fn admits(&self, login: Option<&Login>) -> bool {
        login.is_some_and(|login| self.authorized_users.contains(login))
    }
}
