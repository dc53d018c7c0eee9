//! JSON at the door: what is not plain, unambiguous JSON is refused with its place.
//!
//! Parsers differ on duplicate keys (RFC 8259, section 4), and `serde_json` keeps the last silently, so every text
//! from outside is checked here before it is read into a type. Nesting is limited to 127 levels by `serde_json`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

mod index;
mod plain;

pub use index::Index;

/// Why a text is not JSON we read; line and column begin at 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct JsonError {
    /// Line of the fault.
    pub line: usize,
    /// Column of the fault.
    pub column: usize,
    /// What is wrong, without quoting the text.
    pub reason: String,
}

impl JsonError {
    /// The error of `serde_json`, its place moved into fields.
    pub fn from_serde(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
        Self { line: error.line(), column: error.column(), reason: reason.to_owned() }
    }
}

/// A document as every file of this program is written: two spaces, one final newline.
pub fn pretty(document: &serde_json::Value) -> String {
    format!("{document:#}\n")
}

/// Checks that `text` is one JSON value without duplicate keys at any depth.
pub fn check(text: &str) -> Result<(), JsonError> {
    if plain(text).is_some() { Ok(()) } else { check_thoroughly(text) }
}

/// The same for a text that is plain: no escapes of surrogates or in keys, nothing very deep or wide. It is answered with
/// an index, unless that is too much to keep. `None` says nothing: [`check_thoroughly`] does.
pub fn plain(text: &str) -> Option<Option<Index>> {
    plain::look(text)
}

/// The check by `serde_json`'s own reading, which has the last word and knows the place of a fault.
pub fn check_thoroughly(text: &str) -> Result<(), JsonError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    Unambiguous.deserialize(&mut reader).and_then(|()| reader.end()).map_err(|error| JsonError::from_serde(&error))
}

/// Walks a value and keeps nothing of it.
#[derive(Clone, Copy)]
struct Unambiguous;

impl<'de> DeserializeSeed<'de> for Unambiguous {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unambiguous {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key_seed(Key)? {
            if !keys.insert(key) {
                return Err(A::Error::custom("duplicate key"));
            }
            entries.next_value_seed(self)?;
        }
        Ok(())
    }
}

/// Reads a key without copying it, unless it holds escapes (`Cow`'s own reading always copies).
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn j01_duplicate_keys_are_refused_at_any_depth() {
        for text in [r#"{"number":7,"number":8}"#, r#"[{"a":{"b":1,"b":1}}]"#, r#"{"a":1,"\u0061":2}"#] {
            assert_eq!(check(text).unwrap_err().reason, "duplicate key", "{text}");
        }
        let many: Vec<String> = (0..100).map(|n| format!("\"k{n}\":{n}")).collect();
        assert!(check(&format!("{{{}}}", many.join(","))).is_ok());
        assert!(check(&format!("{{{},\"k3\":1}}", many.join(","))).is_err());
    }

    #[test]
    fn j02_big_numbers_pass() {
        assert!(check(r#"{"id":9007199254740993,"x":123456789012345678901234567890.5e400}"#).is_ok());
    }

    #[test]
    fn j04_nan_is_an_error_with_its_place() {
        let error = check("{\"poll\":\n{\"interval\":NaN}}").unwrap_err();
        assert_eq!((error.line, error.column), (2, 13));
    }

    #[test]
    fn j06_deep_nesting_is_refused_without_a_crash() {
        let nest = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(check(&nest(127)).is_ok());
        for depth in [128, 100_000] {
            assert_eq!(check(&nest(depth)).unwrap_err().reason, "recursion limit exceeded");
        }
    }

    #[test]
    fn trailing_text_and_empty_text_are_refused() {
        for text in ["", "{} {}", "{,}", "nul"] {
            assert!(check(text).is_err(), "{text}");
        }
    }
}
