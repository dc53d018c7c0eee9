//! Sessions and endpoints: one agent conversation each, and the state it is in.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ids::{ConversationId, StoreId};
use super::reference::{WorkItemRef, hex};
use super::time::Time;

/// One addressable agent conversation: a work item's own, or one per pull request that delivers it.
///
/// One type for both, so that deliver, respawn, resume and close need not know which they have.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// The item or pull request this conversation is for.
    pub reference: WorkItemRef,
    /// What its panes carry; made once, kept over respawns and over renames of the item.
    pub key: PaneKey,
    /// Name of the harness that runs it.
    pub harness: String,
    /// The harness's conversation, once known.
    pub conversation: Option<ConversationId>,
    /// Whether this conversation was told what it is for; a fresh one is told with its first message.
    pub introduced: bool,
    /// Working directory, once spawned.
    pub cwd: Option<PathBuf>,
    /// Where it is in its life.
    pub state: SessionState,
    /// Raised by every start, stop and close; a spawn that completes under an older one ends at once.
    pub generation: u64,
    /// Failed spawns since the last success.
    pub failed_spawns: u32,
    /// Made; kept over every respawn.
    pub created_at: Time,
    /// Last message accepted for it.
    pub last_event_at: Option<Time>,
    /// Last time held deliveries were released; what waited since before it may arrive as one digest.
    pub resumed_at: Option<Time>,
    /// Comments of one login in a row, for the breaker.
    pub breaker: Breaker,
}

/// Where a session is in its life, with the data each state has and no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionState {
    /// A pull request's endpoint that nothing has spoken to yet: recorded, costing nothing.
    Recorded,
    /// A spawn is stored and not settled.
    Starting,
    /// Runs, as far as was last seen.
    Live(Life),
    /// Deliveries are held. The life is absent when it was paused before its spawn settled.
    Paused(Option<Life>),
    /// Told to end; the effect that ends it is stored.
    Closing(EndReason),
    /// Ended.
    Closed {
        /// When.
        at: Time,
        /// Why.
        reason: EndReason,
    },
}

/// Why a session or an item ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// A person said stop.
    Stopped,
    /// The issue or pull request was closed.
    Closed,
    /// The pull request was merged.
    Merged,
    /// Moved to another repository.
    Transferred,
    /// Its repository changed its name; the item lives under the new one.
    Renamed,
    /// Deleted on GitHub.
    Deleted,
    /// The operator's `reset`.
    Reset,
    /// A tombstone of another version.
    Cleared,
    /// It could not be spawned.
    SpawnFailed,
}

impl EndReason {
    /// The word used in files and in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Closed => "closed",
            Self::Merged => "merged",
            Self::Transferred => "transferred",
            Self::Renamed => "renamed",
            Self::Deleted => "deleted",
            Self::Reset => "reset",
            Self::Cleared => "cleared",
            Self::SpawnFailed => "spawn-failed",
        }
    }
}

/// One life of a pane: a respawned pane keeps its id and its options, so its process belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    /// tmux socket name (`-L`), empty for the user's own server.
    pub socket: String,
    /// Process id of the tmux server.
    pub server_pid: u32,
    /// `#{start_time}` of the server, seconds since the epoch.
    pub server_started: i64,
    /// Session name as tmux reports it; for people, never an address.
    pub session: String,
    /// `%N`; the only address.
    pub pane: String,
    /// The harness's process, leader of its group.
    pub pane_pid: u32,
}

impl Life {
    /// No tmux socket can have this name.
    const WITHOUT_TERMINAL: &str = "(process)";

    /// The life of a session whose deliveries are processes of their own: between them nothing runs, and that is not
    /// dead. `session` is its name for people.
    pub fn without_terminal(session: &str) -> Self {
        Self {
            socket: Self::WITHOUT_TERMINAL.to_owned(),
            server_pid: 0,
            server_started: 0,
            session: session.to_owned(),
            pane: String::new(),
            pane_pid: 0,
        }
    }

    /// Whether its deliveries are processes of their own.
    pub fn is_without_terminal(&self) -> bool {
        self.socket == Self::WITHOUT_TERMINAL
    }
}

/// Comments of one login into an endpoint with nobody else between.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Breaker {
    /// Who, lower case.
    pub login: Option<String>,
    /// When each of the counted ones was accepted, oldest first; bounded by the configured count.
    pub times: Vec<Time>,
    /// Tripped: deliveries are held until `resume`.
    pub tripped: bool,
}

/// What tmux panes of ours carry in `@the-loop-key`: a digest of store, reference and endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PaneKey(String);

impl PaneKey {
    /// The key of an endpoint of `owner` (the item itself, or one of its pull requests) in the store `store`.
    pub fn new(store: &StoreId, owner: &WorkItemRef, endpoint: &WorkItemRef) -> Self {
        let text = format!("{}\n{}\n{}", store.0, owner.key(), endpoint.key());
        Self(format!("k{}", &hex(&Sha256::digest(text.as_bytes()))[..31]))
    }

    /// The key as text, `[a-z0-9]` only.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Three answers everywhere: what did not answer is not dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// Seen running.
    Live,
    /// Seen gone.
    Dead,
    /// Nobody could say.
    Unknown,
}

impl Session {
    /// A conversation that does not run yet: `Recorded` for a pull request, until something speaks to it.
    pub fn recorded(reference: WorkItemRef, key: PaneKey, harness: String, now: Time) -> Self {
        Self {
            reference,
            key,
            harness,
            conversation: None,
            introduced: false,
            cwd: None,
            state: SessionState::Recorded,
            generation: 0,
            failed_spawns: 0,
            created_at: now,
            last_event_at: None,
            resumed_at: None,
            breaker: Breaker::default(),
        }
    }

    /// Whether events can be delivered or held for it: starting, live or paused.
    pub fn is_live(&self) -> bool {
        matches!(self.state, SessionState::Starting | SessionState::Live(_) | SessionState::Paused(_))
    }

    /// Whether it ended, or is ending.
    pub fn is_over(&self) -> bool {
        matches!(self.state, SessionState::Closing(_) | SessionState::Closed { .. })
    }

    /// Whether a reset ended it, or is ending it: its row goes once its lane is empty, and nothing of it comes back.
    pub fn was_reset(&self) -> bool {
        matches!(
            self.state,
            SessionState::Closing(EndReason::Reset) | SessionState::Closed { reason: EndReason::Reset, .. }
        )
    }

    /// Whether deliveries are held by a pause.
    pub fn is_paused(&self) -> bool {
        matches!(self.state, SessionState::Paused(_))
    }

    /// A pause ends.
    pub fn unpause(&mut self) {
        if let SessionState::Paused(life) = &self.state {
            self.state = life.clone().map_or(SessionState::Starting, SessionState::Live);
        }
    }

    /// The life last recorded for it, when it has a pane.
    pub fn in_terminal(&self) -> Option<&Life> {
        self.life().filter(|life| !life.is_without_terminal())
    }

    /// Its harness or pane is surely gone: without a life the next delivery asks for a spawn first. A pause is kept.
    pub fn lose_life(&mut self) {
        match &self.state {
            SessionState::Paused(_) => self.state = SessionState::Paused(None),
            SessionState::Live(_) => self.state = SessionState::Starting,
            _ => {}
        }
    }

    /// The life last recorded for it.
    pub fn life(&self) -> Option<&Life> {
        match &self.state {
            SessionState::Live(life) | SessionState::Paused(Some(life)) => Some(life),
            _ => None,
        }
    }
}
