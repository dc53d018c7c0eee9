//! Which profile the text of a task chooses. Only the flag is taken out; every other byte of the text stays.

use std::ops::Range;

use super::{Profile, by_name};

const FLAG: &str = "--profile";

/// What a text says about profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Nothing: the generic loop.
    None,
    /// One that there is.
    Profile(&'static Profile),
    /// The flag without a name behind it, or with one that there is not: the run goes on as the generic loop.
    Refused,
}

/// What was chosen, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// What.
    pub choice: Choice,
    /// The name as it was typed; empty without one.
    pub typed: String,
    /// How often the flag stands there; the last one counts.
    pub count: usize,
}

/// One flag with its value, and the bytes of both.
struct Flag<'t> {
    range: Range<usize>,
    value: &'t str,
}

/// Reads what a text chooses.
pub fn choose(text: &str) -> Chosen {
    let flags = flags(text);
    let typed = flags.last().map_or("", |flag| flag.value);
    let choice = match (flags.is_empty(), by_name(typed)) {
        (true, _) => Choice::None,
        (false, Some(profile)) => Choice::Profile(profile),
        (false, None) => Choice::Refused,
    };
    Chosen { choice, typed: typed.to_owned(), count: flags.len() }
}

/// The text without the flags and their values; every other byte as it was.
pub fn strip(text: &str) -> String {
    let (mut rest, mut from) = (String::with_capacity(text.len()), 0);
    for flag in flags(text) {
        rest.push_str(&text[from..flag.range.start]);
        from = flag.range.end;
    }
    rest.push_str(&text[from..]);
    rest
}

/// Every `--profile NAME`, `--profile=NAME` and `--profile` without a name that stands as a word of its own.
fn flags(text: &str) -> Vec<Flag<'_>> {
    let mut found: Vec<Flag<'_>> = Vec::new();
    let starts = text.as_bytes().windows(FLAG.len()).enumerate();
    let starts = starts.filter(|(_, word)| word.eq_ignore_ascii_case(FLAG.as_bytes())).map(|(at, _)| at);
    for start in starts {
        let (before, after) = (&text[..start], &text[start + FLAG.len()..]);
        let is_in_value = found.last().is_some_and(|flag| flag.range.end > start);
        if is_in_value || !(before.is_empty() || before.ends_with(char::is_whitespace)) {
            continue;
        }
        let (gap, value) = match after.chars().next() {
            Some('=') => (1, word(&after[1..])),
            Some(c) if c.is_whitespace() => value_behind(after),
            None => (0, ""),
            // `--profiles` is another flag.
            Some(_) => continue,
        };
        found.push(Flag { range: start..start + FLAG.len() + gap + value.len(), value });
    }
    found
}

/// The value on the same line, with the length of the gap before it; another flag is no value.
fn value_behind(after: &str) -> (usize, &str) {
    let gap = after.find(|c: char| !matches!(c, ' ' | '\t')).unwrap_or(after.len());
    match word(&after[gap..]) {
        value if value.is_empty() || value.starts_with('-') => (0, ""),
        value => (gap, value),
    }
}

fn word(text: &str) -> &str {
    text.split(char::is_whitespace).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(chosen: &Chosen) -> &str {
        match chosen.choice {
            Choice::None => "none",
            Choice::Refused => "refused",
            Choice::Profile(profile) => profile.name,
        }
    }

    #[test]
    fn only_the_flag_chooses_and_only_the_flag_goes() {
        for (text, want, rest) in [
            ("fix it", "none", "fix it"),
            ("--profile debug fix it", "debug", " fix it"),
            ("fix it --profile   Debug", "debug", "fix it "),
            ("fix it --PROFILE=AUDIT now", "audit", "fix it  now"),
            ("a --profile build b --profile migrate c", "migrate", "a  b  c"),
            ("fix --profile nope it", "refused", "fix  it"),
            ("fix it --profile", "refused", "fix it "),
            ("fix it --profile\ndebug", "refused", "fix it \ndebug"),
            ("fix --profile --verbose it", "refused", "fix  --verbose it"),
            ("fix --profile= it", "refused", "fix  it"),
            ("--profiles debug x--profile debug", "none", "--profiles debug x--profile debug"),
            ("a\t\t--other=1\r\n\n  --profile build\u{a0}ü  ", "build", "a\t\t--other=1\r\n\n  \u{a0}ü  "),
            ("build the audit", "none", "build the audit"),
        ] {
            assert_eq!((name(&choose(text)), strip(text).as_str()), (want, rest), "{text:?}");
        }
        assert_eq!(choose("--profile a --profile debug").count, 2);
    }

    proptest! {
        #[test]
        fn every_other_byte_stays(before in "[^-]{0,40}", after in "[^-]{0,40}", which in 0..5_usize) {
            let flag = format!("--profile {}", super::super::names()[which]);
            let text = format!("{before} {flag} {after}");
            prop_assert_eq!(strip(&text), format!("{before}  {after}"));
            prop_assert_eq!(strip(&strip(&text)), strip(&text));
            let plain = format!("{before}{after}");
            prop_assert_eq!(strip(&plain), plain);
        }
    }
}
