//! What answers say of polling.

use serde::{Deserialize, Serialize};

/// One cycle of one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolledRow {
    /// The repository.
    pub repository: String,
    /// Requests that were sent.
    pub requests: u32,
    /// How many of them were answered with 304.
    pub unchanged: u32,
    /// Events that were decided.
    pub events: usize,
    /// Until when it is left alone, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl PolledRow {
    /// What went wrong, with the repository and until when it is left alone; `None` when nothing did.
    pub fn trouble_text(&self) -> Option<String> {
        let what = match (&self.trouble, &self.paused_until) {
            (None, None) => return None,
            (Some(trouble), _) => trouble.clone(),
            (None, Some(_)) => "only the reserve of the rate limit is left".to_owned(),
        };
        let until =
            self.paused_until.as_ref().map_or_else(String::new, |until| format!(", not asked again before {until}"));
        Some(format!("{}: {what}{until}", self.repository))
    }
}

/// How far one repository was polled, from the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PollState {
    /// The repository, by its lower-case key.
    pub repository: String,
    /// When the last cycle ended, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycled_at: Option<String>,
    /// Requests of that cycle.
    pub requests: u32,
    /// How many of them were answered with 304.
    pub unchanged: u32,
    /// Until when it is left alone, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<String>,
    /// Whether that is for a limit.
    pub is_limited: bool,
    /// What went wrong last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Items that could not be read and are asked for again.
    pub failing_items: usize,
    /// How far our clock is ahead of GitHub's, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_seconds: Option<i64>,
}
