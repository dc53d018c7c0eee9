//! Two texts of one portable file and their common ancestor made one: what `the-loop merge-driver` answers git.
//!
//! It has no clock: what adoption would judge by the time of day is kept for adoption. Nothing is ever lost: what does
//! not make one record stands in the result twice, between git's own markers.

use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::keys::KeyConflict;
use super::{Beaten, Conflict, Joined, Record, Section, join, parse, render};

/// The earlier system's list of the folder: never read, written or joined.
const INDEX: &str = "index.json";

/// What came of a merge.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The file's new content; with a conflict, markers stand in it.
    pub bytes: Vec<u8>,
    /// Why a person has to look at it.
    pub conflict: Option<Unmerged>,
    /// A command that an ending of the other side beat.
    pub beaten: Option<Beaten>,
}

/// Why two texts do not make one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unmerged {
    /// A side is no record; both stand whole between markers.
    #[error("{side} cannot be read: {refusal}")]
    Unreadable {
        /// `ours` or `theirs`.
        side: &'static str,
        /// What is wrong with it.
        refusal: String,
    },
    /// They are about different items, or keys of other versions differ.
    #[error("{0}")]
    Differ(Box<Conflict>),
}

/// Merges the file called `name`. `base` is empty when both sides added it; one that is no record is no ancestor.
pub fn merge(name: &str, base: &[u8], ours: &[u8], theirs: &[u8]) -> Merged {
    if name == INDEX || ours == theirs {
        return clean(ours.to_owned(), None);
    }
    let (a, b) = match (parse(ours), parse(theirs)) {
        (Ok(a), Ok(b)) => (a, b),
        // Where one side is as it was, git itself takes the other one, whatever it is.
        _ if theirs == base => return clean(ours.to_owned(), None),
        _ if ours == base => return clean(theirs.to_owned(), None),
        (a, b) => {
            let side = if a.is_err() { "ours" } else { "theirs" };
            let refusal = a.err().or_else(|| b.err()).map(|refusal| refusal.to_string()).unwrap_or_default();
            return whole(ours, theirs, Unmerged::Unreadable { side, refusal });
        }
    };
    match join(&a, &b, parse(base).ok().as_ref()) {
        Ok(Joined { record, beaten }) => clean(render(&record).into_bytes(), beaten),
        Err(Conflict::Keys { keys, rest }) => {
            let side = |value: fn(&KeyConflict) -> &Option<Value>| render(&with_keys(&rest.record, &keys, value));
            let text = marked(&side(|key| &key.ours), &side(|key| &key.theirs));
            let beaten = rest.beaten.clone();
            let conflict = Some(Unmerged::Differ(Box::new(Conflict::Keys { keys, rest })));
            Merged { bytes: text.into_bytes(), conflict, beaten }
        }
        Err(conflict) => whole(ours, theirs, Unmerged::Differ(Box::new(conflict))),
    }
}

const fn clean(bytes: Vec<u8>, beaten: Option<Beaten>) -> Merged {
    Merged { bytes, conflict: None, beaten }
}

/// Both sides whole, byte for byte, between markers.
fn whole(ours: &[u8], theirs: &[u8], why: Unmerged) -> Merged {
    let mut bytes = Vec::with_capacity(ours.len() + theirs.len() + 64);
    for (marker, side) in [(OURS, ours), (MIDDLE, theirs)] {
        bytes.extend_from_slice(marker.as_bytes());
        bytes.extend_from_slice(side);
        if !side.is_empty() && !side.ends_with(b"\n") {
            bytes.push(b'\n');
        }
    }
    bytes.extend_from_slice(THEIRS.as_bytes());
    Merged { bytes, conflict: Some(why), beaten: None }
}

const OURS: &str = "<<<<<<< ours\n";
const MIDDLE: &str = "=======\n";
const THEIRS: &str = ">>>>>>> theirs\n";

/// What both sides agree on, with the keys in conflict as one side has them.
fn with_keys(rest: &Record, keys: &[KeyConflict], side: fn(&KeyConflict) -> &Option<Value>) -> Record {
    let mut record = rest.clone();
    for key in keys {
        let Some(value) = side(key).clone() else { continue };
        match (key.section, &mut record.poll) {
            ("poll", Section::Present(poll)) => drop(poll.extra.insert(key.key.clone(), value)),
            _ => drop(record.extra.insert(key.key.clone(), value)),
        }
    }
    record
}

/// Two texts as one, what differs between markers. No line of a record looks like a marker.
fn marked(ours: &str, theirs: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (ours.split_inclusive('\n').collect(), theirs.split_inclusive('\n').collect());
    let mut text = String::new();
    for op in capture_diff_slices(Algorithm::Myers, &a, &b) {
        let (mine, other) = (a[op.old_range()].concat(), b[op.new_range()].concat());
        match op {
            DiffOp::Equal { .. } => text.push_str(&mine),
            _ => [OURS, &mine, MIDDLE, &other, THEIRS].iter().for_each(|part| text.push_str(part)),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::date::dated;
    use super::super::samples::{EXAMPLE, cleared, commanded, dated_records, over, records, text_with};
    use super::super::{Command, Volatile, same_meaning};
    use super::*;

    /// The text with one side of every conflict.
    fn side(text: &str, ours: bool) -> String {
        let (mut out, mut keep) = (String::new(), true);
        for line in text.split_inclusive('\n') {
            match line {
                OURS => keep = ours,
                MIDDLE => keep = !ours,
                THEIRS => keep = true,
                _ if keep => out.push_str(line),
                _ => {}
            }
        }
        out
    }

    fn merged(base: &str, ours: &str, theirs: &str) -> Merged {
        merge("github-octo-repo-15.json", base.as_bytes(), ours.as_bytes(), theirs.as_bytes())
    }

    #[test]
    fn what_both_sides_did_becomes_one_record() {
        let start = render(&commanded(Command::Start, 10));
        let (pause, stop) = (render(&commanded(Command::Pause, 20)), render(&commanded(Command::Stop, 30)));
        for (base, ours, theirs, want) in [
            (start.as_str(), pause.as_str(), stop.as_str(), stop.as_str()),
            (&start, &stop, &pause, &stop),
            ("", &start, &pause, &pause),
            ("no record", &start, &pause, &pause),
            // CR LF and a byte-order mark are layout.
            (&start, &format!("\u{feff}{}", pause.replace('\n', "\r\n")), &start, &pause),
        ] {
            let merged = merged(base, ours, theirs);
            let want = render(&dated(&parse(want.as_bytes()).unwrap(), None, None));
            assert_eq!((merged.conflict, String::from_utf8(merged.bytes).unwrap()), (None, want));
        }
    }

    #[test]
    fn k54_an_ending_beats_an_older_start_and_says_so() {
        let (start, ended) = (render(&commanded(Command::Start, 10)), render(&over(20, "closed")));
        let done = merged(&start, &render(&commanded(Command::Start, 15)), &ended);
        let record = parse(&done.bytes).unwrap();
        assert!(!record.is_armed() && done.conflict.is_none());
        assert_eq!(done.beaten.unwrap().control.command, Command::Start);
        // An undated tombstone is dated by what the three texts know; nothing is armed.
        let done = merged(&start, &render(&cleared()), &render(&commanded(Command::Resume, 15)));
        assert!(!parse(&done.bytes).unwrap().is_armed() && done.conflict.is_none());
    }

    #[test]
    fn the_index_is_ours_and_equal_texts_stay() {
        assert_eq!(merge("index.json", b"a", b"b", b"c"), clean(b"b".to_vec(), None));
        assert_eq!(merged("a", "same", "same"), clean(b"same".to_vec(), None));
        assert_eq!(merged("base", "base", "theirs, no record"), clean(b"theirs, no record".to_vec(), None));
        assert_eq!(merged("base", "ours, no record", "base"), clean(b"ours, no record".to_vec(), None));
    }

    #[test]
    fn k53_f04_what_cannot_be_read_is_kept_whole_on_both_sides() {
        let conflicted = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other";
        for (ours, theirs, side, reason) in [
            (conflicted, EXAMPLE, "ours", "line 1: unresolved merge conflict"),
            (EXAMPLE, "", "theirs", "the file is empty"),
            (EXAMPLE, "{\"ref\": 1}", "theirs", "`ref`"),
            ("[", "]", "ours", "line 1"),
        ] {
            let done = merged("{}", ours, theirs);
            let text = String::from_utf8(done.bytes).unwrap();
            assert!(text.contains(ours) && text.contains(theirs), "{text}");
            assert!(text.starts_with(OURS) && text.ends_with(THEIRS) && text.contains(MIDDLE), "{text}");
            let why = done.conflict.unwrap().to_string();
            assert!(why.starts_with(side) && why.contains(reason), "{why}");
        }
        let bytes = merge("x.json", b"", b"\xff\xfe", EXAMPLE.as_bytes()).bytes;
        assert!(bytes.windows(2).any(|pair| pair == b"\xff\xfe"), "bytes that are no text are kept");
    }

    #[test]
    fn two_references_for_one_path_are_a_conflict_never_a_choice() {
        let other = EXAMPLE.replace("octo/repo", "octo-repo/x");
        let done = merged("", EXAMPLE, &other);
        let text = String::from_utf8(done.bytes).unwrap();
        assert!(text.contains(EXAMPLE) && text.contains(&other));
        assert!(done.conflict.unwrap().to_string().contains("the other about `github:octo-repo/x#15`"));
    }

    #[test]
    fn only_the_keys_that_differ_stand_between_markers() {
        let with = |graph: &str, more: &str| {
            text_with("\"poll\": {\n", &format!("\"graph\": {graph},\n  \"poll\": {{\n{more}"))
        };
        let (base, ours, theirs) =
            (with("1", ""), with("[2]", "    \"cursor\": 5,\n"), with("3", "    \"cursor\": 6,\n"));
        let done = merged(&base, &ours, &theirs);
        let text = String::from_utf8(done.bytes).unwrap();
        assert_eq!(done.conflict.unwrap().to_string(), "changed on both sides: `poll.cursor`, `graph`");
        assert_eq!(text.matches(OURS).count(), 2, "{text}");
        assert_eq!(text.matches("\"command\": \"start\"").count(), 1, "what agrees stands once: {text}");
        let (mine, other) =
            (parse(side(&text, true).as_bytes()).unwrap(), parse(side(&text, false).as_bytes()).unwrap());
        assert!(same_meaning(&mine, &parse(ours.as_bytes()).unwrap(), Volatile::Compared));
        assert!(same_meaning(&other, &parse(theirs.as_bytes()).unwrap(), Volatile::Compared));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn it_says_what_the_join_says_and_either_side_of_a_conflict_is_a_record(
            a in records(true),
            b in records(true),
            base in prop::option::of(records(true)),
        ) {
            let text = |record: &Record| render(record);
            let done = merged(&base.as_ref().map(text).unwrap_or_default(), &text(&a), &text(&b));
            let out = String::from_utf8(done.bytes).unwrap();
            match join(&a, &b, base.as_ref()) {
                _ if text(&a) == text(&b) => prop_assert_eq!(out, text(&a)),
                Ok(joined) => {
                    prop_assert!(done.conflict.is_none());
                    prop_assert_eq!(out, render(&joined.record));
                }
                Err(Conflict::Keys { keys, rest }) => {
                    prop_assert!(done.conflict.is_some() && parse(out.as_bytes()).is_err());
                    for (ours, value) in [(true, (|key| &key.ours) as fn(&KeyConflict) -> &Option<Value>), (false, |key| &key.theirs)] {
                        prop_assert_eq!(side(&out, ours), render(&with_keys(&rest.record, &keys, value)));
                        prop_assert!(parse(side(&out, ours).as_bytes()).is_ok());
                    }
                }
                Err(Conflict::References { .. }) => unreachable!(),
            }
        }

        #[test]
        fn both_directions_give_the_same_bytes(a in dated_records(false), b in dated_records(false)) {
            let (a, b) = (render(&a), render(&b));
            prop_assert_eq!(merged("", &a, &b).bytes, merged("", &b, &a).bytes);
        }
    }
}
