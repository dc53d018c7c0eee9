//! A record to the bytes of its file: the same content gives the same bytes on every machine.

use serde_json::{Map, Value};

use crate::domain::reference::WorkItemRef;
use crate::domain::secrets::redact;

use super::{Control, Ended, Poll, Record, RequestedAt, Section, Source};

/// The text of a record's file: two spaces, LF, one final newline, keys in their order.
pub fn render(record: &Record) -> String {
    let mut out = Map::new();
    put(&mut out, "ref", record.reference.to_string());
    if has_url(&record.reference) {
        put(&mut out, "url", record.reference.url());
    } else if let Some(url) = record.extra.get("url") {
        put(&mut out, "url", url.clone());
    }
    section(&mut out, "control", &record.control, |control| control_value(control, &record.reference));
    section(&mut out, "poll", &record.poll, poll_value);
    if let Some(ended) = &record.ended {
        put(&mut out, "ended", ended_value(ended, &record.ended_extra));
    }
    if let Some(at) = record.commanded_at {
        put(&mut out, "commandedAt", at.to_string());
    }
    let mut rest = record.extra.clone();
    rest.remove("url");
    if record.sealed {
        rest.insert("sealed".to_owned(), Value::Bool(true));
    }
    put_rest(&mut out, &rest);
    format!("{:#}\n", Value::Object(out))
}

/// Whether the address of an item follows from its reference; only for GitHub do we know how.
pub(super) fn has_url(reference: &WorkItemRef) -> bool {
    reference.to_string().starts_with("github:")
}

/// A value as compact JSON with the keys of every object in byte order: equal values have equal texts.
pub(super) fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

/// Everything a control says, in one text: decides between two of the same time and rank.
pub(super) fn control_text(control: &Control, reference: &WorkItemRef) -> String {
    canonical(&control_value(control, reference))
}

fn put(out: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    out.insert(key.to_owned(), value.into());
}

/// Keys of other versions, in byte order at every depth: objects have no order, files of equal content do.
fn put_rest(out: &mut Map<String, Value>, rest: &Map<String, Value>) {
    let mut keys: Vec<&String> = rest.keys().collect();
    keys.sort();
    for key in keys {
        out.insert(key.clone(), sorted(&rest[key]));
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(sorted_map(map)),
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn sorted_map(map: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    put_rest(&mut out, map);
    out
}

fn section<T>(out: &mut Map<String, Value>, key: &str, section: &Section<T>, value: impl FnOnce(&T) -> Value) {
    match section {
        Section::Present(content) => put(out, key, value(content)),
        Section::Tombstone => put(out, key, Value::Null),
        Section::Absent => {}
    }
}

fn control_value(control: &Control, reference: &WorkItemRef) -> Value {
    let mut out = Map::new();
    let source = match &control.source {
        Source::Comment => "comment",
        Source::Cli => "cli",
        Source::Other(word) => word,
    };
    put(&mut out, "ref", reference.to_string());
    for (key, text) in [("command", control.command.as_str()), ("source", source), ("actor", &control.actor)] {
        if !text.is_empty() {
            put(&mut out, key, text);
        }
    }
    match &control.requested_at {
        RequestedAt::At(at) => put(&mut out, "requestedAt", at.to_string()),
        RequestedAt::Unreadable(Some(text)) => put(&mut out, "requestedAt", unreadable(text)),
        RequestedAt::Unreadable(None) => {}
    }
    if let Some(note) = &control.note {
        // The file travels; a false alarm withholds a word of the note, and never the command.
        put(&mut out, "note", redact(note).into_owned());
    }
    put_rest(&mut out, &control.extra);
    Value::Object(out)
}

/// What stood in a time's place; text that is no JSON (only our own tests could make it) is written as text.
fn unreadable(text: &str) -> Value {
    super::spelling::read(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn poll_value(poll: &Poll) -> Value {
    let mut out = Map::new();
    put(&mut out, "seenComments", poll.seen_comments.iter().cloned().collect::<Vec<_>>());
    put(&mut out, "commentAttempts", sorted_map(&poll.comment_attempts));
    put(&mut out, "spawn", sorted_map(&poll.spawn));
    if !poll.gave_up.is_empty() {
        put(&mut out, "gaveUp", sorted_map(&poll.gave_up));
    }
    if let Some(at) = poll.last_polled_at {
        put(&mut out, "lastPolledAt", at.to_string());
    }
    put_rest(&mut out, &poll.extra);
    Value::Object(out)
}

fn ended_value(ended: &Ended, extra: &Map<String, Value>) -> Value {
    let mut out = Map::new();
    put(&mut out, "at", ended.at.to_string());
    if !ended.reason.is_empty() {
        put(&mut out, "reason", ended.reason.clone());
    }
    put_rest(&mut out, extra);
    Value::Object(out)
}
