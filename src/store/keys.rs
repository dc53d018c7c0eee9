//! Keys as bytes: texts, pairs of texts with a NUL between, and big-endian numbers, so that order of keys is the order
//! that is meant.

use crate::domain::decide::Urgency;
use crate::domain::effect::{Class, Place};
use crate::domain::reference::RefKey;

/// A stretch of keys: from here (included) up to there (excluded), or to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// First key.
    pub from: Vec<u8>,
    /// First key no longer in it.
    pub to: Option<Vec<u8>>,
}

impl Span {
    /// Every key.
    pub fn all() -> Self {
        Self { from: Vec::new(), to: None }
    }

    /// Every key that begins with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { from: prefix.to_vec(), to: successor(prefix) }
    }

    /// Every key from `from` on.
    pub fn starting(from: Vec<u8>) -> Self {
        Self { from, to: None }
    }
}

/// The first key behind everything that begins with `prefix`.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

/// `first`, NUL, `second`. `first` never holds a NUL: it is a reference, or a directory's name.
pub fn pair(first: &str, second: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(first.len() + 1 + second.len());
    key.extend_from_slice(first.as_bytes());
    key.push(0);
    key.extend_from_slice(second.as_bytes());
    key
}

/// The two texts of a pair.
pub fn split(key: &[u8]) -> Option<(&str, &str)> {
    let at = key.iter().position(|byte| *byte == 0)?;
    Some((std::str::from_utf8(&key[..at]).ok()?, std::str::from_utf8(&key[at + 1..]).ok()?))
}

/// A number.
pub fn number(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

/// A number back.
pub fn read_number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

/// A repository by GitHub's own id on its host.
pub fn repository(host: &str, id: u64) -> Vec<u8> {
    format!("{host}/{id}").to_ascii_lowercase().into_bytes()
}

/// A mark's place among those that are due, the urgent ones first.
pub fn due(urgency: Urgency, n: u64) -> Vec<u8> {
    let class = match urgency {
        Urgency::Now => 0,
        Urgency::Cycle => 1,
    };
    [&[class], number(n).as_slice()].concat()
}

/// The marks that are due with at least this urgency.
pub fn due_span(at_least: Urgency) -> Span {
    match at_least {
        Urgency::Now => Span::prefix(&[0]),
        Urgency::Cycle => Span::all(),
    }
}

/// All of one lane.
pub fn lane(lane: &RefKey) -> Vec<u8> {
    pair(lane.as_str(), "")
}

/// One class of a lane.
pub fn lane_class(of: &RefKey, class: Class) -> Vec<u8> {
    let mut key = lane(of);
    key.push(class_byte(class));
    key
}

/// One effect's place in its lane.
pub fn place(of: &RefKey, place: Place) -> Vec<u8> {
    let mut key = lane_class(of, place.class);
    key.extend_from_slice(&number(place.seq));
    key
}

/// Lane and place of an effect's key.
pub fn read_place(key: &[u8]) -> Option<(&str, Place)> {
    let at = key.iter().position(|byte| *byte == 0)?;
    let (class, seq) = key[at + 1..].split_first()?;
    let place = Place { class: read_class(*class)?, seq: read_number(seq)? };
    Some((std::str::from_utf8(&key[..at]).ok()?, place))
}

/// A number in the queue of an item.
pub fn numbered(item: &RefKey, n: u64) -> Vec<u8> {
    let mut key = lane(item);
    key.extend_from_slice(&number(n));
    key
}

/// Item and number of such a key.
pub fn read_numbered(key: &[u8]) -> Option<(&str, u64)> {
    let at = key.iter().position(|byte| *byte == 0)?;
    Some((std::str::from_utf8(&key[..at]).ok()?, read_number(&key[at + 1..])?))
}

/// A key for people.
pub fn show(key: &[u8]) -> String {
    match read_place(key) {
        Some((lane, place)) => format!("{lane} {:?} {}", place.class, place.seq),
        None => match read_number(key) {
            Some(number) if key[0] == 0 => number.to_string(),
            _ => String::from_utf8_lossy(key).replace('\0', " "),
        },
    }
}

const fn class_byte(class: Class) -> u8 {
    match class {
        Class::Overtaking => 0,
        Class::Preparing => 1,
        Class::Ordinary => 2,
    }
}

const fn read_class(byte: u8) -> Option<Class> {
    match byte {
        0 => Some(Class::Overtaking),
        1 => Some(Class::Preparing),
        2 => Some(Class::Ordinary),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::reference::WorkItemRef;

    #[test]
    fn places_sort_by_class_then_number() {
        let lane = WorkItemRef::parse("github:octo/repo#1").unwrap().key();
        let key = |class, seq| place(&lane, Place { class, seq });
        let order = [
            key(Class::Overtaking, 900),
            key(Class::Preparing, 300),
            key(Class::Ordinary, 2),
            key(Class::Ordinary, 256),
        ];
        assert!(order.is_sorted());
        assert_eq!(read_place(&order[3]), Some((lane.as_str(), Place { class: Class::Ordinary, seq: 256 })));
    }

    #[test]
    fn k05_a_lane_is_not_the_beginning_of_another() {
        let one = WorkItemRef::parse("github:octo/repo#1").unwrap().key();
        let fifteen = WorkItemRef::parse("github:octo/repo#15").unwrap().key();
        let span = Span::prefix(&lane(&one));
        let other = place(&fifteen, Place { class: Class::Ordinary, seq: 1 });
        assert!(!(span.from <= other && span.to.is_some_and(|to| other < to)));
    }

    #[test]
    fn a_prefix_ends_where_the_next_one_begins() {
        assert_eq!(Span::prefix(b"ab").to, Some(b"ac".to_vec()));
        assert_eq!(Span::prefix(&[7, 255]).to, Some(vec![8]));
        assert_eq!(Span::prefix(&[255]).to, None);
    }
}
