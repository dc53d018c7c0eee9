//! What answers about single effects hold.

use serde::{Deserialize, Serialize};

use crate::domain::message::Message;

/// One line of `dispatch list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchEntry {
    /// Its short name.
    pub id: String,
    /// `running`, `waiting`, `dead`, or `undecidable` for an event that a bug kept from being decided.
    pub state: String,
    /// The item in whose lane it is; none for an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_item: Option<String>,
    /// The pull request whose conversation it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// `deliver`, `spawn`, `end`, or the event's name.
    pub what: String,
    /// Tries so far that failed.
    pub attempts: u32,
    /// When it was decided, or kept, UTC.
    pub since: String,
    /// Not before this, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// For dead ones `retries-exhausted` or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was found, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// When it was given up, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up_at: Option<String>,
    /// The delivery that brought it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<String>,
}

/// Everything `dispatch show` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchDetail {
    /// The line of the list.
    pub entry: DispatchEntry,
    /// The message, whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// The payload of an event, as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// What a person can do about it, one sentence each.
    #[serde(default)]
    pub advice: Vec<String>,
}

/// What a person's word about one entry did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dispatched {
    /// The entry.
    pub id: String,
    /// `retry` or `drop`.
    pub verb: String,
    /// The item; none for an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_item: Option<String>,
    /// Whether anything changed.
    pub acted: bool,
    /// Whether it may now have been done twice: nobody knew whether it was done before.
    pub may_repeat: bool,
    /// What it is by now: `done`, or its state as in the list.
    pub state: String,
}
