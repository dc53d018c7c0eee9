//! The event log's vocabulary and one entry of it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::secrets::redact;

macro_rules! event_names {
    ($($(#[$doc:meta])* $variant:ident => $text:literal,)*) => {
        /// Every name the event log can hold; `events --types` prints them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum EventName {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)*
        }

        impl EventName {
            /// All names, in the order of the documentation.
            pub const ALL: &'static [EventName] = &[$(EventName::$variant,)*];

            /// The name as it stands in the log.
            pub const fn as_str(self) -> &'static str {
                match self { $(EventName::$variant => $text,)* }
            }
        }
    };
}

event_names! {
    /// A signed delivery was accepted.
    WebhookReceived => "webhook.received",
    /// A request was refused at the door.
    WebhookRejected => "webhook.rejected",
    /// Deliveries that GitHub could not hand over were asked for again.
    WebhookSwept => "webhook.swept",
    /// An event was given to endpoints.
    RoutingRouted => "routing.routed",
    /// An event was dropped, with the reason.
    RoutingDropped => "routing.dropped",
    /// An effect was stored.
    DispatchQueued => "dispatch.queued",
    /// An effect was done.
    DispatchSucceeded => "dispatch.succeeded",
    /// A try failed, or an effect was given up.
    DispatchFailed => "dispatch.failed",
    /// An effect no longer applied.
    DispatchDropped => "dispatch.dropped",
    /// A control word was obeyed.
    ControlCommand => "control.command",
    /// A control word was refused.
    ControlRejected => "control.rejected",
    /// Two different words in one comment.
    ControlAmbiguous => "control.ambiguous",
    /// A session was registered by hand.
    SessionRegistered => "session.registered",
    /// A harness was started.
    SessionSpawned => "session.spawned",
    /// A harness did not start.
    SessionSpawnFailed => "session.spawn_failed",
    /// A harness was made to trust a directory before it started.
    SessionTrusted => "session.trusted",
    /// It could not be; the harness asks a person.
    SessionTrustFailed => "session.trust_failed",
    /// The run of an agent that ended was marked as interrupted, before its agent is started again.
    SessionRunInterrupted => "session.run_interrupted",
    /// A pull request was recorded.
    SessionPrLinked => "session.pr_linked",
    /// A pull request could not be recorded.
    SessionLinkFailed => "session.link_failed",
    /// A pull request's own conversation was started.
    SessionPrSpawned => "session.pr_spawned",
    /// A pull request's conversation ended with it.
    SessionPrClosed => "session.pr_closed",
    /// The record lives on after one of its pull requests closed.
    SessionKeptOpen => "session.kept_open",
    /// A dead harness was started again.
    SessionRespawned => "session.respawned",
    /// The pane of a session was found gone; its next event starts it again.
    SessionPaneGone => "session.pane_gone",
    /// One login talked alone for too long: deliveries of a conversation are held.
    SessionBreakerTripped => "session.breaker_tripped",
    /// Deliveries are held.
    SessionPaused => "session.paused",
    /// Deliveries go on.
    SessionResumed => "session.resumed",
    /// A session was told to end by a person.
    SessionClosed => "session.closed",
    /// A session ended with its item.
    SessionAutoclosed => "session.autoclosed",
    /// The checkout of an item that ended was removed: everything in it was committed and pushed.
    SessionCheckoutRemoved => "session.checkout_removed",
    /// It was kept, with the reason.
    SessionCheckoutKept => "session.checkout_kept",
    /// An item was reset.
    SessionReset => "session.reset",
    /// An item goes on under another name.
    ItemMoved => "item.moved",
    /// A reaction or a comment of ours stands on its ticket.
    TellingPosted => "telling.posted",
    /// It could not be posted now, or was given up.
    TellingFailed => "telling.failed",
    /// Nobody can be asked at a host, so what was to be posted there is dropped; said once.
    TellingDropped => "telling.dropped",
    /// A portable file was written.
    ExportWritten => "export.written",
    /// A portable file cannot be written; the mark stays.
    ExportHeld => "export.held",
    /// A change from another machine was taken in.
    PortableAdopted => "portable.adopted",
    /// The daemon is ready.
    ServerStarted => "server.started",
    /// The daemon ends.
    ServerStopped => "server.stopped",
    /// The configuration was read again and holds from now on.
    ServerReloaded => "server.reloaded",
    /// The configuration changed and cannot be used; the one before holds on.
    ServerReloadFailed => "server.reload_failed",
    /// A part of the daemon does not get on.
    ServerTrouble => "server.trouble",
    /// One poll cycle.
    PollCycle => "poll.cycle",
    /// One item of a poll failed.
    PollItemError => "poll.item_error",
    /// A poll found an item closed.
    PollClosureDetected => "poll.closure_detected",
}

/// How much an entry matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Detail.
    Debug,
    /// Normal course.
    Info,
    /// Somebody should look.
    Warn,
    /// Something failed.
    Error,
}

/// One entry before it has a time; secrets and payload text never enter it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Its name.
    pub event: EventName,
    /// Its level.
    pub level: Level,
    /// Further fields in the order of writing; nulls are left out.
    pub fields: Map<String, Value>,
}

/// An entry that was written, on its way to the log: its fields are passed on as they stand.
#[derive(Debug, Clone, Deserialize)]
pub struct WrittenEntry {
    /// Its name.
    pub event: EventName,
    /// Its level.
    pub level: Level,
    /// Further fields: the text of one JSON object.
    pub fields: Box<RawValue>,
}

impl WrittenEntry {
    /// An entry as it would be read after it was written.
    pub fn of(entry: &LogEntry) -> Self {
        // Keys are texts, and so are values, or numbers: nothing that JSON cannot hold.
        let fields = serde_json::value::to_raw_value(&entry.fields).unwrap_or_default();
        Self { event: entry.event, level: entry.level, fields }
    }
}

impl LogEntry {
    /// An entry without fields.
    pub fn new(event: EventName, level: Level) -> Self {
        Self { event, level, fields: Map::new() }
    }

    /// An `info` entry.
    pub fn info(event: EventName) -> Self {
        Self::new(event, Level::Info)
    }

    /// A `warn` entry.
    pub fn warn(event: EventName) -> Self {
        Self::new(event, Level::Warn)
    }

    /// The entry with one more field; what looks like a secret in a text is withheld.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::Null => return self,
            Value::String(text) => Value::String(match redact(&text) {
                Cow::Borrowed(_) => text,
                Cow::Owned(safe) => safe,
            }),
            other => other,
        };
        self.fields.insert(key.to_owned(), value);
        self
    }

    /// The entry with one more field when there is a value.
    #[must_use]
    pub fn with_some(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s06_what_looks_like_a_secret_never_enters_the_log() {
        let token = ["gh", "p_", &"a1B2".repeat(9)].concat();
        let said = format!("fatal: unable to access 'https://{token}@github.com/octo/hello/'");
        let entry = LogEntry::info(EventName::DispatchFailed).with("detail", said).with("workItem", "github:o/r#1");
        assert_eq!(entry.fields["detail"], "fatal: unable to access 'https://[withheld]@github.com/octo/hello/'");
        assert_eq!(entry.fields["workItem"], "github:o/r#1");
    }
}
