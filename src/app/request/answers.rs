//! What answers hold, as `--json` prints it and as it crosses the control socket.

use serde::{Deserialize, Serialize};

use super::PollState;

/// How the store stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Items with a record that is not closed.
    pub sessions: usize,
    /// Of these, held by a tripped breaker or by a portable change that disarmed the item; a pause is not counted.
    pub held: usize,
    /// Lanes with something waiting.
    pub lanes: usize,
    /// Effects waiting in all lanes.
    pub waiting: usize,
    /// Age of the oldest waiting effect, seconds.
    pub oldest_waiting_seconds: Option<i64>,
    /// Effects being done.
    pub claimed: usize,
    /// Effects given up.
    pub dead_letters: usize,
    /// Events kept whole because a bug kept them from being decided.
    pub undecidable: usize,
    /// Portable files still to be written.
    pub marks: usize,
    /// Events that wait for a fact only GitHub has.
    #[serde(default)]
    pub undecided: usize,
    /// How far repositories were polled.
    #[serde(default)]
    pub polling: Vec<PollState>,
    /// Reactions and comments that wait to be posted.
    pub tells: usize,
    /// Age of the oldest of them, seconds.
    pub oldest_tell_seconds: Option<i64>,
}

/// One line of `sessions list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    /// The item or pull request.
    pub work_item: String,
    /// Whether it is a pull request of the row above it.
    pub is_pull_request: bool,
    /// Name of the harness.
    pub harness: String,
    /// The harness's conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// tmux session name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tmux: Option<String>,
    /// `registered`, `recorded`, `starting`, `live`, `paused`, `closing`, `closed`; `held` when something else holds
    /// deliveries.
    pub status: String,
    /// The last control word, for items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// Last message accepted for it, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event: Option<String>,
}

/// Everything `sessions show` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionDetail {
    /// The record in the earlier system's shape.
    pub session: serde_json::Value,
    /// The row of the list.
    pub row: SessionRow,
    /// Rows of its pull requests.
    pub pull_requests: Vec<SessionRow>,
    /// Whether the item is armed.
    pub armed: bool,
    /// The item's ending, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Effects waiting in its lane.
    pub waiting: u64,
    /// What is being done right now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doing: Option<String>,
    /// The pane that is its only address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pane: Option<String>,
    /// Socket of the tmux server, when it has a pane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket: Option<String>,
    /// Where its agent works, or did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// What a control word did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Commanded {
    /// The item.
    pub work_item: String,
    /// The word.
    pub command: String,
    /// Whether anything changed.
    pub acted: bool,
    /// Why not, when it was refused or changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether it was refused.
    pub refused: bool,
    /// Effects it left for the daemon.
    pub waiting: u64,
}

/// A comment that was posted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Commented {
    /// The ticket it stands on.
    pub work_item: String,
    /// Its address.
    pub url: String,
}

/// What a reset forgot of one item, or would.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResetItem {
    /// The item.
    pub work_item: String,
    /// State of its session before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Pull requests its record listed.
    pub pull_requests: Vec<String>,
    /// Its last control word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// Whether there was anything to reset.
    pub reset: bool,
    /// Effects it left for the daemon.
    pub waiting: u64,
}

/// What an export did, or would do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    /// Files written, or that would be; names within the portable directory.
    pub written: Vec<String>,
    /// Files that cannot be written, with the reason.
    pub held: Vec<HeldFile>,
    /// Files of ended items that were taken out of the folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Files that were right already.
    pub unchanged: usize,
}

/// A portable file that cannot be written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldFile {
    /// The item.
    pub work_item: String,
    /// File, line and reason.
    pub reason: String,
}
