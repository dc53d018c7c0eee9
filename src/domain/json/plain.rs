//! A quick look that knows plain, unambiguous JSON when it sees it.
//!
//! Every request body is checked, and nearly all of them are plain: so this walks the bytes once, notes where the members
//! of objects stand and says yes only to what `serde_json` reads and whose keys differ. Whatever it is not sure of (escaped keys,
//! surrogates, deep nesting, objects of very many keys, every fault) is left to the thorough check.

use std::ops::Range;

use super::index::{Index, Member};

/// Deepest nesting it says yes to; `serde_json` reads 127.
const DEPTH: usize = 64;
/// Most keys of one object it compares with each other.
const KEYS: usize = 256;

/// Most members that are noted; a text with more is read without an index.
const MEMBERS: usize = 4096;

/// What is known of a text that is one JSON value without duplicate keys: where its members stand, unless they are very
/// many. `None` when it takes a closer look to tell.
pub(super) fn look(text: &str) -> Option<Option<Index>> {
    let members = Vec::with_capacity((text.len() / 48).min(512));
    let mut walk = Walk { bytes: text.as_bytes(), members, ..Walk::default() };
    walk.space();
    walk.value(0)?;
    walk.space();
    let noted = walk.members.len() < MEMBERS && u32::try_from(text.len()).is_ok();
    (walk.at == text.len()).then(|| noted.then_some(Index(walk.members)))
}

/// A walk over the bytes. Every step answers `None` when it is not sure.
#[derive(Default)]
struct Walk<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Members of objects that lie in no list.
    members: Vec<Member>,
    /// Lists that are open.
    lists: usize,
    /// A few bits of each key of the objects that are open: most keys are told apart by them.
    sketches: Vec<u32>,
    /// Where these keys stand.
    keys: Vec<Range<usize>>,
}

impl Walk<'_> {
    /// The value that begins right here.
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' => self.object(depth + 1),
            b'[' => self.array(depth + 1),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        let first = self.keys.len();
        self.at += 1;
        self.space();
        if depth > DEPTH {
            return None;
        }
        if self.eat(b'}') {
            return Some(());
        }
        loop {
            self.member(first, depth)?;
            self.space();
            if !self.eat(b',') {
                break;
            }
            self.space();
        }
        self.keys.truncate(first);
        self.sketches.truncate(first);
        self.expect(b'}')
    }

    /// A key, which differs from those since number `first`, and its value.
    fn member(&mut self, first: usize, depth: usize) -> Option<()> {
        let key = self.key(first)?;
        self.space();
        self.expect(b':')?;
        self.space();
        let noted = (self.lists == 0 && self.members.len() < MEMBERS).then(|| {
            self.members.push(Member { key: short(key), value: short(self.at..self.at), past: 0 });
            self.members.len() - 1
        });
        self.value(depth)?;
        if let Some(noted) = noted {
            let past = self.members.len() as u32;
            let member = &mut self.members[noted];
            (member.value.end, member.past) = (self.at as u32, past);
        }
        Some(())
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        self.space();
        if depth > DEPTH {
            return None;
        }
        if self.eat(b']') {
            return Some(());
        }
        self.lists += 1;
        loop {
            self.value(depth)?;
            self.space();
            if !self.eat(b',') {
                break;
            }
            self.space();
        }
        self.lists -= 1;
        self.expect(b']')
    }

    /// A key that differs from those of its object, which begin with number `first`.
    fn key(&mut self, first: usize) -> Option<Range<usize>> {
        let (key, escaped) = self.string()?;
        if escaped || self.keys.len() - first == KEYS {
            return None;
        }
        let sketch = sketch(&self.bytes[key.clone()]);
        // Without a way out in the middle, many are compared at once.
        let alike = self.sketches[first..].iter().fold(false, |alike, other| alike | (*other == sketch));
        if alike && self.keys[first..].iter().any(|other| self.bytes[other.clone()] == self.bytes[key.clone()]) {
            return None;
        }
        self.sketches.push(sketch);
        self.keys.push(key.clone());
        Some(key)
    }

    /// A string: what is between its quotes, and whether there are escapes in it.
    fn string(&mut self) -> Option<(Range<usize>, bool)> {
        self.expect(b'"')?;
        let (start, mut escaped) = (self.at, false);
        loop {
            self.at += plain_bytes(&self.bytes[self.at..]);
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some((start..self.at - 1, escaped));
                }
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let escape = self.bytes.get(self.at + 1)?;
        match escape {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                let surrogate = matches!(digits, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
                if surrogate || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                self.at += 6;
            }
            _ => return None,
        }
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        self.eat(b'-');
        // No digit follows a leading zero.
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _signed = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        let found = self.bytes[self.at..].starts_with(word);
        self.at += word.len();
        found.then_some(())
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.eat(byte).then_some(())
    }
}

/// A place in a text whose length fits.
fn short(place: Range<usize>) -> Range<u32> {
    place.start as u32..place.end as u32
}

/// How many bytes come before a quote, a backslash or a control character; eight are looked at together.
fn plain_bytes(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    // The highest bit of each byte that is below `limit`; bytes above the first one found may be wrong.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & (ONES << 7);
    let same = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let ends = below(word, 0x20) | same(word, b'"') | same(word, b'\\');
        if ends != 0 {
            return at + (ends.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let ends = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    at + bytes[at..].iter().position(ends).unwrap_or(bytes.len() - at)
}

/// Length, first and last bytes of a key.
fn sketch(key: &[u8]) -> u32 {
    let byte = |at: usize| u32::from(key.get(at).copied().unwrap_or(0));
    let last = key.len().saturating_sub(1);
    let ends = byte(0) | byte(last) << 8 | byte(last.saturating_sub(2)) << 16 | byte(last / 2) << 24;
    ends ^ u32::try_from(key.len()).unwrap_or(0).rotate_left(5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::check_thoroughly;
    use super::*;

    fn is_plain(text: &str) -> bool {
        look(text).is_some()
    }

    #[test]
    fn plain_json_is_known() {
        for text in [
            "{}",
            " [ ] ",
            "\"a\\n\\u00e9\"",
            "-0.5e+7",
            "0",
            r#"{"a":{"a":[1,2,{"a":null}]},"b":true,"c":false,"d":"ä"}"#,
            "{\"id\":123456789012345678901234567890.5e400}\n",
        ] {
            assert!(is_plain(text) && check_thoroughly(text).is_ok(), "{text}");
        }
        let long = format!("{{\"{}\":\"{}\"}}", "k".repeat(100), "ü".repeat(1000));
        assert!(is_plain(&long));
    }

    #[test]
    fn what_is_no_json_or_says_two_things_is_not_plain() {
        for text in [
            "",
            " ",
            "{",
            "}",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "nul",
            "nulll",
            "truefalse",
            "01",
            "1.",
            ".5",
            "-",
            "+1",
            "1e",
            "--1",
            "\"",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u00g0\"",
            "\"\n\"",
            "[1 2]",
            "{} {}",
            "[",
            "\"\\ud800\"",
            "NaN",
            r#"{"a":1,"a":2}"#,
            r#"[{"a":{"b":1,"c":2,"b":1}}]"#,
        ] {
            assert!(!is_plain(text), "{text}");
        }
    }

    #[test]
    fn what_it_does_not_know_is_left_to_the_thorough_check() {
        let many: Vec<String> = (0..=KEYS).map(|n| format!("\"k{n}\":{n}")).collect();
        let deep = format!("{}{}", "[".repeat(DEPTH + 1), "]".repeat(DEPTH + 1));
        for text in [format!("{{{}}}", many.join(",")), deep, r#"{"\u0061":1}"#.into(), r#""\ud83d\ude00""#.into()] {
            assert!(!is_plain(&text) && check_thoroughly(&text).is_ok(), "{text}");
        }
        let most = format!("{{{}}}", many[1..].join(","));
        assert!(is_plain(&most));
        assert!(!is_plain(&most.replace("\"k7\"", "\"k200\"")), "a duplicate among many");
    }

    /// JSON and nearly JSON: parts that are cut, doubled and put together.
    fn nearly() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just("{"),
            Just("}"),
            Just("["),
            Just("]"),
            Just(","),
            Just(":"),
            Just("\"a\""),
            Just("\"b\""),
            Just("\"\\u0061\""),
            Just("1"),
            Just("-0"),
            Just("1.5e3"),
            Just("true"),
            Just("null"),
            Just(" "),
            Just("\"a\":1"),
            Just("\"b\":{}"),
            Just("\"c\":[\"x\",\"\\n\"]"),
            Just("\""),
            Just("\\"),
            Just("ü"),
            Just("0"),
        ];
        prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn a_string_ends_where_its_bytes_say(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let ends = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
            prop_assert_eq!(plain_bytes(&bytes), bytes.iter().position(ends).unwrap_or(bytes.len()));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn it_never_says_yes_where_the_thorough_check_says_no(text in nearly(), other in "[\\[{}\\]:,\"a0-9e.\\\\u -]{0,24}") {
            for text in [&text, &other, &format!("{{{text}}}"), &format!("[{text}]")] {
                prop_assert!(!is_plain(text) || check_thoroughly(text).is_ok(), "{text}");
            }
        }
    }
}
