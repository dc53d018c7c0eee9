//! Where the members of a checked document's objects stand, so that reading a few of them passes over the rest.
//!
//! The check walks every byte of a text anyway and notes on its way what it comes by ([`super::plain`]). A type is read
//! from that as `serde_json` would read it from the text; a member that nobody asks for costs one step, whatever its
//! length. Lists are read by `serde_json` itself, and so is everything that is no object.

use std::ops::Range;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Error;

/// The members of the objects of one text, but for those within lists, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index(pub(super) Vec<Member>);

/// One member of an object. Offsets are bytes of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// The key between its quotes; it has no escapes.
    pub key: Range<u32>,
    /// The value.
    pub value: Range<u32>,
    /// The number of the first member behind this one and everything in it.
    pub past: u32,
}

impl Index {
    /// Reads a `T` from `text`, which must be the one this was made of.
    ///
    /// # Errors
    /// As `serde_json::from_str` has them.
    pub fn read<'de, T: Deserialize<'de>>(&'de self, text: &'de str) -> Result<T, Error> {
        T::deserialize(Value { text, own: text.trim(), members: &self.0, first: 0 })
    }
}

/// A value of the text.
struct Value<'de> {
    text: &'de str,
    /// Its own part of the text.
    own: &'de str,
    /// When it is an object: its members and all in them, and the number of the first one.
    members: &'de [Member],
    first: u32,
}

impl<'de> Value<'de> {
    fn is_object(&self) -> bool {
        self.own.starts_with('{')
    }

    fn plainly(&self) -> serde_json::Deserializer<serde_json::de::StrRead<'de>> {
        serde_json::Deserializer::from_str(self.own)
    }
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.is_object() {
            true => visitor.visit_map(Members { text: self.text, left: self.members, first: self.first, value: None }),
            false => self.plainly().deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.is_object() {
            true => self.deserialize_any(visitor),
            false => self.plainly().deserialize_struct(name, fields, visitor),
        }
    }

    /// `serde_json` knows its own wrapped types, and takes a value's text for one of them.
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.plainly().deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.own == "null" { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map enum identifier
    }
}

/// The members of one object, one after the other.
struct Members<'de> {
    text: &'de str,
    left: &'de [Member],
    first: u32,
    value: Option<Value<'de>>,
}

impl<'de> Members<'de> {
    fn part(&self, of: &Range<u32>) -> &'de str {
        &self.text[of.start as usize..of.end as usize]
    }
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((member, behind)) = self.left.split_first() else { return Ok(None) };
        let own = (member.past - self.first - 1) as usize;
        let (members, left) = behind.split_at(own);
        self.value = Some(Value { text: self.text, own: self.part(&member.value), members, first: self.first + 1 });
        (self.left, self.first) = (left, member.past);
        seed.deserialize(BorrowedStrDeserializer::new(self.part(&member.key))).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(serde::de::Error::custom("a value was asked for before its key")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Json;
    use serde_json::value::RawValue;

    use super::super::plain;
    use super::*;
    use crate::domain::portable::samples::value;

    fn indexed(text: &str) -> Index {
        plain(text).unwrap().unwrap()
    }

    proptest! {
        #[test]
        fn what_is_read_by_the_index_is_what_the_text_says(value in value(), pretty in any::<bool>()) {
            let text = if pretty { format!(" {value:#}\n") } else { value.to_string() };
            prop_assert_eq!(indexed(&text).read::<Json>(&text).unwrap(), serde_json::from_str::<Json>(&text).unwrap());
        }
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(default)]
    struct Read {
        text: String,
        number: Option<i64>,
        inner: Option<Box<Read>>,
        list: Vec<Read>,
        #[serde(flatten)]
        others: std::collections::BTreeMap<String, Json>,
    }

    impl Default for Read {
        fn default() -> Self {
            Self { text: "none".into(), number: None, inner: None, list: Vec::new(), others: Default::default() }
        }
    }

    #[test]
    fn a_type_reads_as_from_the_text() {
        for text in [
            "{}",
            r#"{"text":"a\"b","number":-7,"inner":{"list":[{"text":"c"},{}],"x":{"y":[1.5e3,true]}},"z":null}"#,
            r#"{ "inner" : { "inner" : null , "number" : 3 } , "text" : "behind it" }"#,
        ] {
            assert_eq!(indexed(text).read::<Read>(text).unwrap(), serde_json::from_str(text).unwrap(), "{text}");
        }
        for text in [r#"{"text":1}"#, r#"{"inner":"no object"}"#, r#"{"list":{}}"#, "7"] {
            assert!(indexed(text).read::<Read>(text).is_err() && serde_json::from_str::<Read>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_text_of_a_value_is_had_as_it_stands() {
        #[derive(Deserialize)]
        struct Parts<'p> {
            #[serde(borrow)]
            object: &'p RawValue,
            #[serde(borrow)]
            text: &'p RawValue,
        }
        let text = r#"{"skipped":{"object":1},"object":{ "a":[{}] },"text":"b"}"#;
        let index = indexed(text);
        let parts: Parts<'_> = index.read(text).unwrap();
        assert_eq!((parts.object.get(), parts.text.get()), (r#"{ "a":[{}] }"#, "\"b\""));
    }

    #[test]
    fn a_text_of_very_many_members_has_no_index() {
        let members = |n: usize| {
            let part: Vec<String> = (0..200).map(|n| format!("\"k{n}\":{n}")).collect();
            let parts: Vec<String> = (0..n).map(|n| format!("\"p{n}\":{{{}}}", part.join(","))).collect();
            format!("{{{}}}", parts.join(","))
        };
        assert!(plain(&members(20)).unwrap().is_some());
        assert_eq!(plain(&members(21)).unwrap(), None);
        let listed = format!("{{\"list\":[{}]}}", members(21));
        assert_eq!(indexed(&listed).0.len(), 1, "what is in lists is not noted");
    }
}
