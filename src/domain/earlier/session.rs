//! The earlier system's session record: one conversation, and one per pull request, one level deep.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::domain::ids::{ConversationId, DeliveryId, StoreId};
use crate::domain::portable::RefusalKind;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{EndReason, Life, PaneKey, Session, SessionState};
use crate::domain::time::Time;

/// What a record says of its conversation's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It runs, or is started again by its next event.
    Active,
    /// What arrives is held.
    Paused,
    /// It is over.
    Closed,
}

/// A session as the earlier system recorded it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierSession {
    /// Whom it is for.
    pub reference: WorkItemRef,
    /// Name of the harness.
    pub harness: String,
    /// The harness's own id of the conversation; one that no harness could have given is none.
    pub conversation: Option<ConversationId>,
    /// Where it works; only an absolute path says where that is.
    pub cwd: Option<PathBuf>,
    /// What its life was.
    pub status: Status,
    /// Made.
    pub created_at: Option<Time>,
    /// Last spoken to.
    pub last_event_at: Option<Time>,
    /// The tmux session, as tmux itself names it; on the user's own server.
    pub tmux_session: Option<String>,
    /// Deliveries it had; they are not made again.
    pub deliveries: Vec<DeliveryId>,
    /// Conversations of its pull requests; theirs are empty.
    pub pull_requests: Vec<EarlierSession>,
}

/// The name of a tmux session as tmux keeps it: it puts `_` for what begins another part of an address.
pub fn tmux_name(name: &str) -> String {
    name.replace(['.', ':'], "_")
}

impl EarlierSession {
    /// Reads a record. An entry of `pullRequests` that does not parse is left out, and what is nested in one is dropped.
    pub(super) fn parse(mut map: Map<String, Value>) -> Result<Self, RefusalKind> {
        let pull_requests = match map.remove("pullRequests") {
            Some(Value::Array(entries)) => entries,
            _ => Vec::new(),
        };
        let mut session = Self::parse_one(&map)?;
        for entry in pull_requests {
            let Value::Object(entry) = entry else { continue };
            let Ok(mut entry) = Self::parse_one(&entry) else { continue };
            session.tell_apart(&mut entry);
            let key = entry.reference.key();
            let is_listed = session.pull_requests.iter().any(|known| known.reference.key() == key);
            if key != session.reference.key() && !is_listed {
                session.pull_requests.push(entry);
            }
        }
        Ok(session)
    }

    /// Without sessions for pull requests an entry had the record's own; it is the record's.
    fn tell_apart(&self, entry: &mut Self) {
        if entry.tmux_session == self.tmux_session {
            entry.tmux_session = None;
        }
        if entry.conversation == self.conversation {
            entry.conversation = None;
        }
    }

    fn parse_one(map: &Map<String, Value>) -> Result<Self, RefusalKind> {
        let reference = match map.get("workItem").and_then(|item| item.get("ref")) {
            Some(Value::String(text)) => {
                WorkItemRef::parse(text).map_err(|error| RefusalKind::NoReference(error.to_string()))?
            }
            _ => return Err(RefusalKind::NoReference("`workItem.ref` is missing or no text".into())),
        };
        let tmux_session = optional(map, "tmuxTarget").filter(|name| !name.is_empty()).map(tmux_name);
        Ok(Self {
            reference,
            harness: required(map, "harness")?.to_owned(),
            conversation: ConversationId::parse(required(map, "harnessSessionId")?).ok(),
            cwd: Some(PathBuf::from(required(map, "cwd")?)).filter(|cwd| cwd.is_absolute()),
            status: status(map)?,
            created_at: time(map, "createdAt"),
            last_event_at: time(map, "lastEventAt"),
            tmux_session,
            deliveries: deliveries(map),
            pull_requests: Vec::new(),
        })
    }

    /// When it was last known to do something.
    pub fn last_active(&self) -> Option<Time> {
        self.last_event_at.max(self.created_at)
    }

    /// Whether something of it may run in tmux.
    pub fn may_run(&self) -> bool {
        self.status != Status::Closed && self.tmux_session.is_some()
    }

    /// The same conversation as this store keeps it, for an item of `owner`; `life` is where it was found running.
    /// Without one, its next event starts it again in its directory and with its conversation.
    pub(super) fn session(&self, store: &StoreId, owner: &WorkItemRef, life: Option<Life>, now: Time) -> Session {
        let key = PaneKey::new(store, owner, &self.reference);
        let created_at = self.created_at.or(self.last_event_at).unwrap_or(now);
        let is_pull_request = self.reference.key() != owner.key();
        let state = match (self.status, life) {
            (Status::Active, Some(life)) => SessionState::Live(life),
            // A pull request that nothing was said about yet.
            (Status::Active, None) if is_pull_request && self.conversation.is_none() => SessionState::Recorded,
            (Status::Active, None) => SessionState::Starting,
            (Status::Paused, life) => SessionState::Paused(life),
            (Status::Closed, _) => {
                SessionState::Closed { at: self.last_active().unwrap_or(now), reason: EndReason::Closed }
            }
        };
        Session {
            conversation: self.conversation.clone(),
            introduced: self.conversation.is_some(),
            cwd: self.cwd.clone(),
            state,
            generation: 1,
            last_event_at: self.last_event_at,
            ..Session::recorded(self.reference.clone(), key, self.harness.clone(), created_at)
        }
    }
}

fn optional<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    map.get(key).and_then(Value::as_str)
}

fn required<'m>(map: &'m Map<String, Value>, key: &str) -> Result<&'m str, RefusalKind> {
    optional(map, key).ok_or_else(|| RefusalKind::Shape { at: key.to_owned(), wanted: "text" })
}

fn status(map: &Map<String, Value>) -> Result<Status, RefusalKind> {
    match map.get("status") {
        None => Ok(Status::Active),
        Some(Value::String(word)) if word == "active" => Ok(Status::Active),
        Some(Value::String(word)) if word == "paused" => Ok(Status::Paused),
        Some(Value::String(word)) if word == "closed" => Ok(Status::Closed),
        Some(_) => Err(RefusalKind::Shape { at: "status".into(), wanted: "`active`, `paused` or `closed`" }),
    }
}

fn time(map: &Map<String, Value>, key: &str) -> Option<Time> {
    optional(map, key).and_then(|text| Time::parse(text).ok())
}

fn deliveries(map: &Map<String, Value>) -> Vec<DeliveryId> {
    let Some(Value::Array(ids)) = map.get("recentDeliveries") else { return Vec::new() };
    ids.iter().filter_map(|id| DeliveryId::parse(id.as_str()?).ok()).collect()
}
