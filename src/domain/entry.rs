//! Short names for what waits, runs or was given up: what a person types to see it, to try it again or to forget it.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ids::DeliveryId;
use super::reference::hex;

/// Digits that stand for a delivery.
const DIGITS: usize = 8;

/// The name of one entry; it stays the same whatever becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EntryId {
    /// An effect by its number, which no other ever has: `e12`.
    Effect(u64),
    /// A delivery that a bug kept from being decided: `u` and the first digits of the digest of its id.
    Event(String),
}

/// Why a text is no name of an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of an entry: `e` and a number, or `u` and {DIGITS} hexadecimal digits")]
pub struct EntryIdError(String);

impl EntryId {
    /// The name of a delivery.
    pub fn of_delivery(delivery: &DeliveryId) -> Self {
        let digest = hex(&Sha256::digest(delivery.as_str().as_bytes()));
        Self::Event(digest.chars().take(DIGITS).collect())
    }

    /// Reads a name.
    ///
    /// # Errors
    /// It is of neither form.
    pub fn parse(text: &str) -> Result<Self, EntryIdError> {
        let text = text.trim();
        let wrong = || EntryIdError(text.to_owned());
        let (kind, rest) = text.split_at_checked(1).ok_or_else(wrong)?;
        match kind {
            "e" if rest.bytes().all(|b| b.is_ascii_digit()) => rest.parse().map(Self::Effect).map_err(|_| wrong()),
            "u" if rest.len() == DIGITS && rest.bytes().all(|b| b.is_ascii_hexdigit()) => {
                Ok(Self::Event(rest.to_ascii_lowercase()))
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Effect(number) => write!(f, "e{number}"),
            Self::Event(digits) => write!(f, "u{digits}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let delivery = EntryId::of_delivery(&DeliveryId::parse("11111111-2222").unwrap());
        for id in [EntryId::Effect(12), EntryId::Effect(u64::MAX), delivery] {
            assert_eq!(EntryId::parse(&id.to_string()), Ok(id));
        }
        assert_eq!(EntryId::parse(" e7 "), Ok(EntryId::Effect(7)));
        for wrong in ["", "e", "7", "e-1", "e1x", "u", "u123", "uxxxxxxxx", "é", "e99999999999999999999"] {
            assert!(EntryId::parse(wrong).is_err(), "{wrong}");
        }
    }
}
