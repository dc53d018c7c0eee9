//! Sessions and endpoints as stored.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::domain::ids::ConversationId;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{Breaker, EndReason, Life, PaneKey, Session, SessionState};
use crate::domain::time::Time;

/// One session or endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct SessionRow {
    reference: WorkItemRef,
    key: PaneKey,
    harness: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conversation: Option<ConversationId>,
    #[serde(default, skip_serializing_if = "is_false")]
    introduced: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<PathRow>,
    state: SessionStateRow,
    generation: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    failed_spawns: u32,
    created_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_event_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resumed_at: Option<Time>,
    #[serde(default, skip_serializing_if = "is_untouched")]
    breaker: Breaker,
}

/// A path: its text, or its bytes when it is not UTF-8.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PathRow {
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SessionStateRow {
    Recorded,
    Starting,
    Live(Life),
    Paused(Option<Life>),
    Closing(EndReason),
    Closed { at: Time, reason: EndReason },
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the shape serde asks for
fn is_false(value: &bool) -> bool {
    !*value
}

fn is_untouched(breaker: &Breaker) -> bool {
    *breaker == Breaker::default()
}

impl From<PathBuf> for PathRow {
    fn from(path: PathBuf) -> Self {
        match path.into_os_string().into_string() {
            Ok(text) => Self::Text(text),
            Err(bytes) => Self::Bytes(bytes.into_vec()),
        }
    }
}

impl From<PathRow> for PathBuf {
    fn from(row: PathRow) -> Self {
        match row {
            PathRow::Text(text) => text.into(),
            PathRow::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}

impl From<Session> for SessionRow {
    fn from(session: Session) -> Self {
        Self {
            reference: session.reference,
            key: session.key,
            harness: session.harness,
            conversation: session.conversation,
            introduced: session.introduced,
            cwd: session.cwd.map(PathRow::from),
            state: match session.state {
                SessionState::Recorded => SessionStateRow::Recorded,
                SessionState::Starting => SessionStateRow::Starting,
                SessionState::Live(life) => SessionStateRow::Live(life),
                SessionState::Paused(life) => SessionStateRow::Paused(life),
                SessionState::Closing(reason) => SessionStateRow::Closing(reason),
                SessionState::Closed { at, reason } => SessionStateRow::Closed { at, reason },
            },
            generation: session.generation,
            failed_spawns: session.failed_spawns,
            created_at: session.created_at,
            last_event_at: session.last_event_at,
            resumed_at: session.resumed_at,
            breaker: session.breaker,
        }
    }
}

impl From<SessionRow> for Session {
    fn from(row: SessionRow) -> Self {
        Self {
            reference: row.reference,
            key: row.key,
            harness: row.harness,
            conversation: row.conversation,
            introduced: row.introduced,
            cwd: row.cwd.map(Into::into),
            state: match row.state {
                SessionStateRow::Recorded => SessionState::Recorded,
                SessionStateRow::Starting => SessionState::Starting,
                SessionStateRow::Live(life) => SessionState::Live(life),
                SessionStateRow::Paused(life) => SessionState::Paused(life),
                SessionStateRow::Closing(reason) => SessionState::Closing(reason),
                SessionStateRow::Closed { at, reason } => SessionState::Closed { at, reason },
            },
            generation: row.generation,
            failed_spawns: row.failed_spawns,
            created_at: row.created_at,
            last_event_at: row.last_event_at,
            resumed_at: row.resumed_at,
            breaker: row.breaker,
        }
    }
}
