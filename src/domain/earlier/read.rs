//! From the bytes of an old file to what it says: refused, never guessed at.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::session::EarlierSession;
use super::{Found, Refused, Tree, What};
use crate::domain::portable::parse::{object_within, record_of};
use crate::domain::portable::{MAX_BYTES, Refusal, RefusalKind};
use crate::domain::reference::{WorkItemRef, hex};

/// The largest list of polled items that is read: 64 MiB. It holds every item in one file.
pub const MAX_LIST_BYTES: usize = 64 << 20;

/// What an old file is, by the folder it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One session per file.
    Session,
    /// One command per file.
    Control,
    /// What polling knew of every item, under `items`.
    PollList,
}

impl Kind {
    /// The largest file of this kind that is read, bytes.
    pub const fn limit(self) -> usize {
        match self {
            Self::Session | Self::Control => MAX_BYTES,
            Self::PollList => MAX_LIST_BYTES,
        }
    }
}

/// Whether a file of this name can be one item's: `<slug>.json`, and a slug ends in its item's number.
pub fn is_record_name(name: &str) -> bool {
    let Some((slug, number)) = name.strip_suffix(".json").and_then(|stem| stem.rsplit_once('-')) else { return false };
    let is_slug = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !slug.is_empty()
        && slug.bytes().all(is_slug)
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads the file at `path` (relative to the state root) and adds what it says to `tree`.
pub fn read(kind: Kind, path: &str, bytes: &[u8], tree: &mut Tree) {
    let added = match kind {
        Kind::PollList => polled(path, bytes, tree),
        Kind::Session => one(path, bytes, |map| {
            let session = EarlierSession::parse(map)?;
            Ok((session.reference.clone(), What::Session(Box::new(session))))
        })
        .map(|found| tree.found.push(found)),
        Kind::Control => one(path, bytes, |map| {
            let record = record_of(section("control", map.get("ref").cloned(), Value::Object(map)))?;
            Ok((record.reference.clone(), What::Control(Box::new(record))))
        })
        .map(|found| tree.found.push(found)),
    };
    if let Err(refusal) = added {
        tree.refused.push(Refused { path: path.to_owned(), reason: refusal.to_string() });
    }
}

/// A file about one item, which its name has to fit: one of two items with one slug has it, and the reference inside
/// says which.
fn one(
    path: &str,
    bytes: &[u8],
    read: impl FnOnce(Map<String, Value>) -> Result<(WorkItemRef, What), RefusalKind>,
) -> Result<Found, Refusal> {
    let (item, what) = read(object_within(bytes, MAX_BYTES)?).map_err(Refusal::new)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    if !item.slug().file_name().eq_ignore_ascii_case(name) {
        let found = Box::new(item);
        return Err(Refusal::new(RefusalKind::RefMismatch { found, expected: name.to_owned() }));
    }
    Ok(Found { item, path: path.to_owned(), digest: digest(bytes), what })
}

/// Every entry for itself: one that cannot be read is refused alone.
fn polled(path: &str, bytes: &[u8], tree: &mut Tree) -> Result<(), Refusal> {
    if bytes.len() > MAX_LIST_BYTES {
        return Err(Refusal::new(RefusalKind::Json("the file is larger than 64 MiB".into())));
    }
    let mut map = object_within(bytes, MAX_LIST_BYTES)?;
    let items = match map.remove("items") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Object(items)) => items,
        Some(_) => return Err(Refusal::new(RefusalKind::Shape { at: "items".into(), wanted: "an object" })),
    };
    for (reference, entry) in items {
        let path = format!("{path}#{reference}");
        let digest = digest(entry.to_string().as_bytes());
        match record_of(section("poll", Some(reference.into()), entry)) {
            Ok(record) => {
                let item = record.reference.clone();
                tree.found.push(Found { item, path, digest, what: What::Poll(Box::new(record)) });
            }
            Err(kind) => tree.refused.push(Refused { path, reason: kind.to_string() }),
        }
    }
    Ok(())
}

/// A record with one section.
fn section(name: &str, reference: Option<Value>, section: Value) -> Map<String, Value> {
    let reference = reference.map(|reference| ("ref".to_owned(), reference));
    reference.into_iter().chain([(name.to_owned(), section)]).collect()
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
