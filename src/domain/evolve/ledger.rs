//! The chain: each line `{"id":…,"entry":{…}}`, where the id is SHA-256 over the bytes of the entry, and the entry names
//! the id of the one before. Lines are read one by one; nothing of the ledger is kept.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::entry::{Entry, What};
use crate::domain::reference::hex;
use crate::domain::run::{Corrupt, SCHEMA, strict_json};
use crate::domain::secrets::{Leaks, Scanned};
use crate::domain::time::Time;

/// How far a ledger goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tip {
    /// Number of the last entry; 0 before the first.
    pub sequence: u64,
    /// Its id.
    pub id: String,
}

/// Where the ledger of a project begins: its first entry names this, so that it is nobody else's.
pub fn genesis(project: &str) -> Tip {
    Tip { sequence: 0, id: hex(&Sha256::digest(format!("the-loop evolution\n{project}").as_bytes())) }
}

/// Why a line does not belong where it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The first entry names the beginning of another project's ledger.
    #[error("it begins as the ledger of another project")]
    OtherProject,
    /// It was changed, moved, put in or left out.
    #[error("entry {sequence}: {why}")]
    At {
        /// Where, from 1.
        sequence: u64,
        /// What is wrong.
        why: String,
    },
}

/// The next line, with its line end, and the tip it makes.
///
/// # Errors
/// It would hold a secret.
pub fn link(tip: &Tip, at: Time, what: What) -> Result<(Tip, Scanned<String>), Leaks> {
    let sequence = tip.sequence + 1;
    let entry =
        Entry { schema_version: SCHEMA, sequence, previous: tip.id.clone(), at: at.whole_seconds().to_string(), what };
    // Texts, numbers and lists always make a document.
    let entry = serde_json::to_value(entry).unwrap_or_default();
    let id = hex(&Sha256::digest(entry.to_string().as_bytes()));
    let line = Scanned::json(json!({ "id": id, "entry": entry }))?.one_line();
    Ok((Tip { sequence, id }, line))
}

const BEFORE: &[u8] = b"{\"id\":\"";
const BETWEEN: &[u8] = b"\",\"entry\":";

/// Reads the next line, without its line end.
///
/// # Errors
/// It is not what was written behind `tip`.
pub fn read_line(tip: &Tip, line: &[u8]) -> Result<(Tip, Entry), Broken> {
    let sequence = tip.sequence + 1;
    let broken = |why: &str| Broken::At { sequence, why: why.to_owned() };
    let rest = line.strip_prefix(BEFORE).ok_or_else(|| broken("it does not begin with its id"))?;
    let (id, rest) = rest.split_at_checked(64).ok_or_else(|| broken("it is cut off"))?;
    let bytes = rest.strip_prefix(BETWEEN).and_then(|rest| rest.strip_suffix(b"}"));
    let bytes = bytes.ok_or_else(|| broken("it is no entry with an id"))?;
    if hex(&Sha256::digest(bytes)).as_bytes() != id {
        return Err(broken("it was changed: its id does not follow from its content"));
    }
    let entry: Entry = serde_json::from_slice(bytes).map_err(|error| broken(&error.to_string()))?;
    if entry.schema_version != SCHEMA {
        return Err(broken(&format!("it is of schema {}, this program reads {SCHEMA}", entry.schema_version)));
    }
    // Two keys of one name, or blanks between them, are read by others in another way than by us.
    if serde_json::to_vec(&entry).is_ok_and(|written| written != bytes) {
        return Err(broken("it is not as this program writes it"));
    }
    match (entry.previous == tip.id, entry.sequence == sequence) {
        (true, true) => Ok((Tip { sequence, id: String::from_utf8_lossy(id).into_owned() }, entry)),
        (false, true) if sequence == 1 => Err(Broken::OtherProject),
        _ => Err(broken("it does not follow the one before: an entry was put in, taken out or moved")),
    }
}

/// The file `.loop/evolution/head.json`: how far the ledger goes, so that entries that vanish from its end are missed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Head {
    schema_version: u64,
    /// Number of the last entry.
    pub sequence: u64,
    /// Its id.
    pub id: String,
}

impl Head {
    /// Of a ledger that goes so far.
    pub fn of(tip: &Tip) -> Self {
        Self { schema_version: SCHEMA, sequence: tip.sequence, id: tip.id.clone() }
    }

    /// Reads the file.
    ///
    /// # Errors
    /// Anything that is not exactly a head of this schema.
    pub fn parse(bytes: &[u8]) -> Result<Self, Corrupt> {
        strict_json(bytes)
    }

    /// As JSON.
    pub fn document(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
