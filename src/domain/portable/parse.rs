//! A file's bytes to a record, at the door: refused, never guessed at.

use serde_json::{Map, Value};

use crate::domain::json;
use crate::domain::reference::WorkItemRef;

use super::place::line_of;
use super::shape::Fields;
use super::{Command, Control, Ended, Poll, Record, Refusal, RefusalKind, Section, Source};

/// The largest file that is read: 4 MiB.
pub const MAX_BYTES: usize = 4 << 20;

const BOM: &str = "\u{feff}";

/// The key `serde_json` wraps long numbers in on the way to a value; an object that uses it would turn into a number.
const RESERVED_KEY: &str = "$serde_json::private";

/// Reads a record; one byte-order mark is tolerated.
///
/// # Errors
/// What is wrong and on which line: not UTF-8, not one unambiguous JSON object, conflict markers, no valid `ref`, over
/// [`MAX_BYTES`], or a known key in another shape than it can have.
pub fn parse(bytes: &[u8]) -> Result<Record, Refusal> {
    let fields = object_within(bytes, MAX_BYTES)?;
    let text = text(bytes)?;
    record_of(fields).map_err(|kind| {
        let line = match &kind {
            RefusalKind::Shape { at, .. } => line_of(text, &at.split('.').collect::<Vec<_>>()),
            RefusalKind::RefMismatch { .. } => line_of(text, &["control", "ref"]),
            _ => line_of(text, &["ref"]),
        };
        Refusal::at(kind, line)
    })
}

/// Reads the record of `expected`, ASCII case aside.
///
/// # Errors
/// As [`parse`], and `RefMismatch` when the file is about another item.
pub fn parse_for(bytes: &[u8], expected: &WorkItemRef) -> Result<Record, Refusal> {
    let record = parse(bytes)?;
    if record.reference.key() == expected.key() {
        return Ok(record);
    }
    let line = text(bytes).map_or(1, |text| line_of(text, &["ref"]));
    Err(Refusal::at(
        RefusalKind::RefMismatch { found: Box::new(record.reference), expected: expected.to_string() },
        line,
    ))
}

/// The one unambiguous JSON object that a file of at most `limit` bytes holds.
///
/// # Errors
/// As [`parse`], of a file's text alone.
pub(in crate::domain) fn object_within(bytes: &[u8], limit: usize) -> Result<Map<String, Value>, Refusal> {
    if bytes.len() > limit {
        return Err(Refusal::new(RefusalKind::TooLarge));
    }
    let text = text(bytes)?;
    match conflict_marker(text) {
        Some(line) => Err(Refusal::at(RefusalKind::MergeConflict, line)),
        None => object(text),
    }
}

/// The text without its byte-order mark.
fn text(bytes: &[u8]) -> Result<&str, Refusal> {
    if !bytes.is_empty() && bytes.iter().all(|&byte| byte == 0) {
        return Err(Refusal::new(RefusalKind::Nul));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        Refusal::at(RefusalKind::NotUtf8, 1 + before.iter().filter(|&&byte| byte == b'\n').count())
    })?;
    let text = text.strip_prefix(BOM).unwrap_or(text);
    match text.trim().is_empty() {
        true => Err(Refusal::new(RefusalKind::Empty)),
        false if text.starts_with(BOM) => Err(json_fault("more than one byte-order mark", 1)),
        false => Ok(text),
    }
}

fn json_fault(reason: &str, line: usize) -> Refusal {
    Refusal::at(RefusalKind::Json(reason.to_owned()), line)
}

/// The line of git's first marker. No line of valid JSON begins like one, since texts in it cannot hold a line end.
fn conflict_marker(text: &str) -> Option<usize> {
    let is_marker = |line: &str| {
        ["<<<<<<<", "|||||||", ">>>>>>>"].iter().any(|marker| line.starts_with(marker))
            || line.trim_end().len() >= 7 && line.trim_end().bytes().all(|byte| byte == b'=')
    };
    text.lines().position(is_marker).map(|index| index + 1)
}

fn object(text: &str) -> Result<Map<String, Value>, Refusal> {
    json::check(text).map_err(|error| {
        let reason = format!("column {}: {}", error.column, error.reason);
        json_fault(&reason, error.line)
    })?;
    if text.contains(RESERVED_KEY) {
        return Err(json_fault("a key that is reserved for numbers", 1));
    }
    match super::spelling::read(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Refusal::at(RefusalKind::NotAnObject, 1)),
        Err(error) => Err(json_fault(&error.to_string(), error.line())),
    }
}

/// The record that an object is.
///
/// # Errors
/// No valid `ref`, or a known key in another shape than it can have.
pub(in crate::domain) fn record_of(map: Map<String, Value>) -> Result<Record, RefusalKind> {
    let mut fields = Fields::new("", map);
    let mut record = Record::new(reference(&mut fields)?);
    // Derived from the reference where it can be; elsewhere it is another version's key.
    let url = fields.text("url")?;
    record.control = section(&mut fields, "control", |map| control(map, &record.reference))?;
    record.poll = section(&mut fields, "poll", poll)?;
    match section(&mut fields, "ended", ended)? {
        Section::Present((ended, extra)) => (record.ended, record.ended_extra) = (Some(ended), extra),
        Section::Tombstone | Section::Absent => {}
    }
    record.commanded_at = fields.time("commandedAt")?;
    record.sealed = fields.flag("sealed")?;
    record.extra = fields.rest();
    if let Some(url) = url.filter(|_| !super::render::has_url(&record.reference)) {
        record.extra.insert("url".to_owned(), url.into());
    }
    Ok(record)
}

fn reference(fields: &mut Fields) -> Result<WorkItemRef, RefusalKind> {
    match fields.take("ref") {
        Some(Value::String(text)) => {
            WorkItemRef::parse(&text).map_err(|error| RefusalKind::NoReference(error.to_string()))
        }
        Some(_) => Err(RefusalKind::NoReference("it is not text".to_owned())),
        None => Err(RefusalKind::NoReference("it is missing".to_owned())),
    }
}

fn section<T>(
    fields: &mut Fields,
    name: &'static str,
    read: impl FnOnce(Fields) -> Result<T, RefusalKind>,
) -> Result<Section<T>, RefusalKind> {
    match fields.take_section(name) {
        None => Ok(Section::Absent),
        Some(Value::Null) => Ok(Section::Tombstone),
        Some(Value::Object(map)) => read(Fields::new(name, map)).map(Section::Present),
        Some(_) => Err(fields.wrong(name, "an object or null")),
    }
}

/// A control section. What it lacks is kept as lacking: without a word it arms nothing, and it is written back the same.
fn control(mut fields: Fields, owner: &WorkItemRef) -> Result<Control, RefusalKind> {
    if let Some(text) = fields.text("ref")? {
        match WorkItemRef::parse(&text) {
            Ok(found) if found.key() == owner.key() => {}
            Ok(found) => return Err(RefusalKind::RefMismatch { found: Box::new(found), expected: owner.to_string() }),
            Err(_) => return Err(fields.wrong("ref", "a work item reference")),
        }
    }
    Ok(Control {
        command: command(fields.text("command")?.unwrap_or_default()),
        source: source(fields.text("source")?.unwrap_or_default()),
        actor: fields.text("actor")?.unwrap_or_default(),
        requested_at: fields.requested_at("requestedAt"),
        note: fields.text("note")?,
        extra: fields.rest(),
    })
}

fn command(word: String) -> Command {
    match word.as_str() {
        "start" => Command::Start,
        "stop" => Command::Stop,
        "pause" => Command::Pause,
        "resume" => Command::Resume,
        _ => Command::Other(word),
    }
}

fn source(word: String) -> Source {
    match word.as_str() {
        "comment" => Source::Comment,
        "cli" => Source::Cli,
        _ => Source::Other(word),
    }
}

fn poll(mut fields: Fields) -> Result<Poll, RefusalKind> {
    Ok(Poll {
        seen_comments: fields.texts("seenComments")?.into_iter().collect(),
        comment_attempts: fields.object("commentAttempts")?,
        spawn: fields.object("spawn")?,
        gave_up: fields.object("gaveUp")?,
        last_polled_at: fields.time("lastPolledAt")?,
        extra: fields.rest(),
    })
}

fn ended(mut fields: Fields) -> Result<(Ended, Map<String, Value>), RefusalKind> {
    let at = fields.time("at")?.ok_or_else(|| fields.wrong("at", "a time: it is missing"))?;
    let reason = fields.text("reason")?.unwrap_or_default();
    Ok((Ended { at, reason }, fields.rest()))
}
