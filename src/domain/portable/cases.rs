//! Known faults and cases of the portable record, each by its name.

use rstest::rstest;
use serde_json::{Value, json};

use super::samples::{EXAMPLE, at, cleared, commanded, control, item, over, text_with};
use super::*;
use crate::domain::item::Item;
use crate::domain::reference::WorkItemRef;

fn read(text: &str) -> Record {
    parse(text.as_bytes()).unwrap()
}

fn refused(bytes: &[u8]) -> String {
    parse(bytes).unwrap_err().to_string()
}

fn one(a: &Record, b: &Record) -> Joined {
    join(a, b, None).unwrap()
}

#[test]
fn s08_a_secret_in_a_note_is_withheld_and_holds_nothing_back() {
    let token = ["gh", "p_", &"a1B2".repeat(9)].concat();
    let note = "https://github.com/octo/repo/issues/15#issuecomment-77";
    let theirs = EXAMPLE.replace(note, &format!("see {token}"));
    let text = render(&read(&theirs));
    assert_eq!(text, EXAMPLE.replace(note, "see [withheld]"), "the command, its time and what was seen are written");
    assert!(super::compare::says_all(&read(&text), &read(&theirs)), "what is withheld is no reason to write again");
    let kept = theirs.replacen('{', &format!("{{\n  \"later\": \"{token}\","), 1);
    assert!(render(&read(&kept)).contains(&token), "keys of other versions are carried as they are");
}

#[test]
fn the_example_reads_and_renders_byte_for_byte() {
    let record = read(EXAMPLE);
    assert_eq!(render(&record), EXAMPLE);
    assert!(record.is_armed());
    assert_eq!(record.requested_at().unwrap().to_string(), "2026-03-02T08:15:30Z");
}

#[test]
fn every_key_has_its_place() {
    let record = read(
        r#"{"zeta":1,"sealed":true,"Alpha":{"b":1,"a":{"d":[],"c":{}}},"commandedAt":"2026-03-02T08:00:00Z",
            "ended":{"x":2,"reason":"closed","at":"2026-03-02T09:00:00+01:00"},"ref":"github:ghe.x:8443/o/r#1",
            "poll":{"gaveUp":{"version":"1"},"x-team":"octo","seenComments":["b","a","b"]},"control":null}"#,
    );
    let expected = r#"{
  "ref": "github:ghe.x:8443/o/r#1",
  "url": "https://ghe.x:8443/o/r/issues/1",
  "control": null,
  "poll": {
    "seenComments": [
      "a",
      "b"
    ],
    "commentAttempts": {},
    "spawn": {},
    "gaveUp": {
      "version": "1"
    },
    "x-team": "octo"
  },
  "ended": {
    "at": "2026-03-02T08:00:00Z",
    "reason": "closed",
    "x": 2
  },
  "commandedAt": "2026-03-02T08:00:00Z",
  "Alpha": {
    "a": {
      "c": {},
      "d": []
    },
    "b": 1
  },
  "sealed": true,
  "zeta": 1
}
"#;
    assert_eq!(render(&record), expected);
}

#[test]
fn a_url_is_derived_for_github_and_kept_elsewhere() {
    let record = read(&text_with("issues/15\",\n  \"control", "pull/15\",\n  \"control"));
    assert_eq!(render(&record), EXAMPLE);
    assert!(!render(&read(r#"{"ref":"gitlab:o/r#1"}"#)).contains("url"));
    let kept = render(&read(r#"{"ref":"gitlab:o/r#1","a":1,"url":"https://gitlab.com/o/r/-/issues/1"}"#));
    assert!(kept.starts_with("{\n  \"ref\": \"gitlab:o/r#1\",\n  \"url\": \"https://gitlab.com"), "{kept}");
    assert_eq!(render(&read(&kept)), kept);
}

#[test]
fn k56_f04_conflict_markers_and_duplicate_keys_are_named_by_line() {
    let f04 = "{\n  \"control\": {\n<<<<<<< HEAD\n    \"phase\": \"review\"\n=======\n    \"phase\": \"build\"\n>>>>>>> b1\n  },\n  \"poll\": {\n    \"since\": \"2026-01-01T00:00:00Z\"\n  }\n}\n";
    assert_eq!(refused(f04.as_bytes()), "line 3: unresolved merge conflict");
    assert_eq!(refused(f04.replace('\n', "\r\n").as_bytes()), "line 3: unresolved merge conflict");
    let diff3 = text_with("  \"poll\": {\n", "||||||| base\n  \"poll\": {\n");
    assert_eq!(refused(diff3.as_bytes()), "line 12: unresolved merge conflict");
    let half_resolved = text_with("  \"poll\": {\n", "=======\n  \"poll\": {\n");
    assert_eq!(refused(half_resolved.as_bytes()), "line 12: unresolved merge conflict");
    // Two branches added one key each, and a textual merge kept both.
    let twice = text_with("\"command\": \"start\",\n", "\"command\": \"stop\",\n    \"command\": \"start\",\n");
    assert_eq!(refused(twice.as_bytes()), "line 7: column 13: duplicate key");
}

#[rstest]
#[case::empty("", "the file is empty")]
#[case::blank(" \r\n\t", "the file is empty")]
#[case::bom_only("\u{feff}\n", "the file is empty")]
#[case::two_boms("\u{feff}\u{feff}{}", "line 1: more than one byte-order mark")]
#[case::list("[]", "line 1: not a JSON object")]
#[case::text("\"github:octo/repo#15\"", "line 1: not a JSON object")]
#[case::two_values("{} {}", "line 1: column 4: trailing characters")]
#[case::cut("{\n\"ref\": \"gith", "line 2: column 12: EOF while parsing a string")]
#[case::no_ref("{}", "line 1: no valid `ref`: it is missing")]
#[case::null_ref("{\"ref\":null}", "line 1: no valid `ref`: it is missing")]
#[case::number_ref("{\n\"ref\":15}", "line 2: no valid `ref`: it is not text")]
#[case::reserved(
    "{\"ref\":\"github:o/r#1\",\"x\":{\"$serde_json::private::Number\":\"1\"}}",
    "line 1: a key that is reserved for numbers"
)]
#[case::lone_surrogate(
    "{\"ref\":\"github:o/r#1\",\"x\":\"cut \\ud83d\"}",
    "line 1: column 38: unexpected end of hex escape"
)]
fn what_is_no_record_is_refused_with_its_reason(#[case] text: &str, #[case] reason: &str) {
    assert_eq!(refused(text.as_bytes()), reason);
}

#[rstest]
#[case::control("\"control\": {", "\"control\": 5, \"was\": {", "line 4: `control` is not an object or null")]
#[case::control_text(
    "\"control\": {",
    "\"control\": \"start\", \"was\": {",
    "line 4: `control` is not an object or null"
)]
#[case::command("\"command\": \"start\"", "\"command\": [\"start\"]", "line 6: `control.command` is not text")]
#[case::actor("\"actor\": \"mona\"", "\"actor\": {}", "line 8: `control.actor` is not text")]
#[case::poll("\"poll\": {", "\"poll\": [], \"was\": {", "line 12: `poll` is not an object or null")]
#[case::seen("\"IC_a1\"", "7", "line 13: `poll.seenComments` is not a list of texts")]
#[case::spawn("\"spawn\": {}", "\"spawn\": 3", "line 17: `poll.spawn` is not an object")]
#[case::polled(
    "2026-03-02T08:16:00Z",
    "noon",
    "line 18: `poll.lastPolledAt` is not a UTC time such as `2026-03-02T08:15:30Z`"
)]
#[case::ended(
    "  \"poll\"",
    "  \"ended\": {\"reason\": \"closed\"},\n  \"poll\"",
    "line 12: `ended.at` is not a time: it is missing"
)]
#[case::sealed("  \"poll\"", "  \"sealed\": 1,\n  \"poll\"", "line 12: `sealed` is not true or false")]
fn wrong_shapes_in_known_sections_are_refused_never_lost(#[case] from: &str, #[case] to: &str, #[case] reason: &str) {
    assert_eq!(refused(text_with(from, to).as_bytes()), reason);
}

#[test]
fn another_items_reference_is_a_mismatch() {
    let other = WorkItemRef::parse("github:octo/other#1").unwrap();
    let refusal = parse_for(EXAMPLE.as_bytes(), &other).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "line 2: `ref` is `github:octo/repo#15`, but this file is for `github:octo/other#1`"
    );
    assert!(!refusal.may_be_half_written());
    assert!(parse_for(EXAMPLE.as_bytes(), &WorkItemRef::parse("github:OCTO/Repo#15").unwrap()).is_ok());
    let inside = text_with("    \"ref\": \"github:octo/repo#15\"", "    \"ref\": \"github:octo/other#15\"");
    assert!(refused(inside.as_bytes()).starts_with("line 5: `ref` is `github:octo/other#15`"));
}

#[test]
fn f07_one_byte_order_mark_is_read_and_never_written() {
    let record = read(&format!("\u{feff}{EXAMPLE}"));
    assert_eq!(render(&record), EXAMPLE);
    assert_eq!(refused("\u{feff}{\"control\":{},\"poll\":{}}".as_bytes()), "line 1: no valid `ref`: it is missing");
}

#[test]
fn f10_all_nul_and_non_utf8_are_refused() {
    assert_eq!(refused(&[0; 1879]), "the file holds only NUL bytes");
    assert_eq!(refused(b"{\n\"ref\": \"\xff\"}"), "line 2: not UTF-8");
    assert_eq!(refused(b"\xff\xfe{\0}\0"), "line 1: not UTF-8");
    let half = [EXAMPLE.as_bytes(), &[0; 40]].concat();
    assert!(parse(&half).unwrap_err().may_be_half_written());
}

#[test]
fn over_four_mebibytes_is_refused() {
    let padded = format!("{EXAMPLE}{}", " ".repeat(MAX_BYTES - EXAMPLE.len()));
    assert!(parse(padded.as_bytes()).is_ok());
    assert_eq!(refused(format!("{padded} ").as_bytes()), "the file is larger than 4 MiB");
}

#[test]
fn j01_duplicate_keys_are_refused_at_any_depth() {
    for text in [r#"{"ref":"github:o/r#1","ref":"github:o/r#2"}"#, r#"{"ref":"github:o/r#1","x":[{"a":1,"\u0061":2}]}"#]
    {
        assert!(refused(text.as_bytes()).ends_with("duplicate key"), "{text}");
    }
}

#[test]
fn j02_numbers_of_other_versions_survive_byte_for_byte() {
    let numbers = "9007199254740993 50000000014435121 50000000014435122 123456789012345678901234567890 1.0 1.50 -0 -0.0 \
                   1e400 1E5 1e+05 0.1e-7 18446744073709551616";
    for number in numbers.split_whitespace() {
        let text = format!("{{\n  \"ref\": \"gitlab:o/r#1\",\n  \"graph\": {{\n    \"id\": {number}\n  }}\n}}\n");
        assert_eq!(render(&read(&text)), text, "{number}");
    }
}

#[test]
fn j04_nan_is_refused_with_its_place() {
    for word in ["NaN", "Infinity", "-Infinity"] {
        let text = format!("{{\"ref\":\"github:o/r#1\",\n\"poll\":{{\"interval\":{word}}}}}");
        assert!(refused(text.as_bytes()).starts_with("line 2: column "), "{word}");
    }
}

#[test]
fn j06_deep_nesting_is_refused_without_a_crash() {
    let nested = |n: usize| format!("{{\"ref\":\"github:o/r#1\",\"x\":{}{}}}", "[".repeat(n), "]".repeat(n));
    let deepest = read(&nested(126));
    assert_eq!(read(&render(&deepest)), deepest);
    for depth in [127, 100_000] {
        assert!(refused(nested(depth).as_bytes()).ends_with("recursion limit exceeded"), "{depth}");
    }
}

#[test]
fn c01_c02_what_other_versions_wrote_is_kept_through_every_rewrite() {
    let text = text_with("  \"poll\": {\n", "  \"poll\": {\n    \"x-team\": \"octo\",\n")
        .replace("\"command\": \"start\",", "\"command\": \"hibernate\",\n    \"depth\": 9007199254740993,")
        .replace("{\n  \"ref\"", "{\n  \"version\": 99,\n  \"channels\": {\"b\": [1.50, null]},\n  \"ref\"");
    let file = read(&text);
    assert!(!file.is_armed(), "a command of another version never arms");
    let store = Record { poll: Section::Present(Poll::default()), ..commanded(Command::Start, 0) };
    let written = read(&render(&one(&store, &file).record));
    assert_eq!(written.extra, *json!({"version": 99, "channels": file.extra["channels"]}).as_object().unwrap());
    assert_eq!(written.poll.present().unwrap().extra["x-team"], "octo");
    assert_eq!(written.control, file.control, "later than the store's, kept whole");
    assert!(render(&written).contains("9007199254740993"));
}

#[test]
fn what_a_command_lacks_is_kept_lacking() {
    for text in [r#"{}"#, r#"{"requestedAt":"yesterday"}"#, r#"{"requestedAt":{"b":1.50,"a":0},"actor":"x"}"#] {
        let record = read(&format!(r#"{{"ref":"github:o/r#1","control":{text}}}"#));
        assert!(!record.is_armed() && record.control.present().is_some_and(|control| control.at().is_none()));
        assert_eq!(read(&render(&record)), record);
    }
    let fraction = read(r#"{"ref":"github:o/r#1","control":{"requestedAt":"2026-03-02T08:15:30.9Z"}}"#);
    assert_eq!(fraction.requested_at().unwrap().to_string(), "2026-03-02T08:15:30Z");
}

#[test]
fn f09_layout_alone_is_no_difference() {
    let record = read(EXAMPLE);
    let compact = serde_json::to_string(&serde_json::from_str::<Value>(EXAMPLE).unwrap()).unwrap();
    let spelled = EXAMPLE.replace("octo/repo#15", "Octo/Repo#15").replace("08:15:30Z", "08:15:30.000+00:00");
    for text in [compact, EXAMPLE.replace('\n', "\r\n"), spelled] {
        assert!(same_meaning(&record, &read(&text), Volatile::Compared), "{text}");
    }
    // Our own store knows when it was commanded; a file of the earlier system that does not say so means the same.
    let known = Record { commanded_at: record.requested_at(), ..record.clone() };
    assert!(same_meaning(&record, &known, Volatile::Compared));
    for (from, to) in [("\"start\"", "\"stop\""), ("IC_a1", "IC_a2"), ("\"mona\"", "\"hubot\""), ("\"spawn\"", "\"y\"")]
    {
        assert!(!same_meaning(&record, &read(&text_with(from, to)), Volatile::Ignored), "{from}");
    }
}

#[test]
fn k52_the_clock_and_the_tries_are_volatile() {
    let record = read(EXAMPLE);
    for (from, to) in [
        ("08:16:00Z", "08:17:00Z"),
        ("\"commentAttempts\": {}", "\"commentAttempts\": {\"IC_a1\": 2}"),
        ("\"spawn\": {}", "\"spawn\": {\"attempts\": 1}"),
        (",\n    \"lastPolledAt\": \"2026-03-02T08:16:00Z\"", ""),
    ] {
        let other = read(&text_with(from, to));
        assert!(same_meaning(&record, &other, Volatile::Ignored), "{from}");
        assert!(!same_meaning(&record, &other, Volatile::Compared), "{from}");
    }
}

#[test]
fn k50_one_sections_news_leaves_the_other_alone() {
    let base = read(EXAMPLE);
    let mut polled = base.clone();
    polled.control = Section::Absent;
    if let Section::Present(poll) = &mut polled.poll {
        poll.seen_comments.insert("IC_b2".into());
    }
    let stopped = Record { poll: Section::Absent, ..commanded(Command::Stop, 3600) };
    let record = one(&one(&base, &polled).record, &stopped).record;
    assert_eq!(record.control, stopped.control);
    assert_eq!(record.seen_comments().unwrap().iter().collect::<Vec<_>>(), ["IC_a1", "IC_b2"]);
}

#[rstest]
#[case::later_start_wins(commanded(Command::Stop, 1), commanded(Command::Start, 2), true)]
#[case::stop_at_the_same_second(commanded(Command::Start, 1), commanded(Command::Stop, 1), false)]
#[case::unknown_at_the_same_second(commanded(Command::Resume, 1), commanded(Command::Other("hold".into()), 1), false)]
#[case::pause_at_the_same_second(commanded(Command::Start, 1), commanded(Command::Pause, 1), false)]
#[case::ended_in_the_same_second(commanded(Command::Start, 1), over(1, "closed"), false)]
#[case::ended_before(commanded(Command::Start, 2), over(1, "closed"), true)]
#[case::cleared_without_a_date(commanded(Command::Start, 1), cleared(), false)]
#[case::older_than_commanded(Record { commanded_at: Some(at(2)), ..commanded(Command::Start, 1) }, Record::new(item()), false)]
fn k31_k54_an_older_copy_never_arms_what_a_newer_fact_disarms(
    #[case] a: Record,
    #[case] b: Record,
    #[case] armed: bool,
) {
    assert_eq!(one(&a, &b).record.is_armed(), armed);
    assert_eq!(one(&a, &b), one(&b, &a));
}

#[test]
fn f16_an_ended_item_stays_ended_unless_something_newer_is_said() {
    let ended = Record { commanded_at: Some(at(1)), ..over(10, "closed") };
    let joined = one(&ended, &commanded(Command::Start, 5));
    assert_eq!((joined.record.is_armed(), joined.record.control), (false, Section::Tombstone));
    assert_eq!(joined.beaten.unwrap().control, control(Command::Start, 5));
    let joined = one(&ended, &commanded(Command::Start, 11));
    assert!(joined.record.is_armed() && joined.beaten.is_none());
    assert_eq!(joined.record.ended, ended.ended, "the ending stays, beside the later command");
}

#[test]
fn a_tombstone_is_dated_by_what_is_known() {
    // By the command the writer knew: cleared after it, whatever ended before.
    let by_itself = Record { commanded_at: Some(at(7)), ..over(3, "closed") };
    assert_eq!(date::dated(&by_itself, None, None).ended.unwrap(), Ended { at: at(7), reason: "cleared".into() });
    // By the ancestor's command, and by the other copy's.
    let ancestor = commanded(Command::Start, 4);
    let joined = join(&cleared(), &Record::new(item()), Some(&ancestor)).unwrap();
    assert_eq!(joined.record.ended.unwrap().at, at(4));
    let joined = one(&cleared(), &commanded(Command::Start, 9));
    assert_eq!(joined.record.ended.unwrap().at, at(9));
    assert_eq!(joined.beaten.unwrap().control, control(Command::Start, 9));
    // By nothing: the driver leaves it, adoption gives it its own time.
    assert_eq!(one(&cleared(), &cleared()).record, cleared());
    let adopted = adopt(&Record::new(item()), &cleared(), at(50)).unwrap();
    assert_eq!(adopted.record.ended.unwrap(), Ended { at: at(50), reason: "cleared".into() });
    // Absent reads as null in a sealed record, and beside `commandedAt`.
    let sealed = Record { sealed: true, ..Record::new(item()) };
    let beside = Record { commanded_at: Some(at(2)), ..Record::new(item()) };
    for copy in [sealed, beside] {
        assert!(!one(&copy, &commanded(Command::Start, 3)).record.is_armed());
    }
}

#[test]
fn unknown_keys_are_joined_three_ways() {
    let with = |value: Value| Record { extra: value.as_object().unwrap().clone(), ..Record::new(item()) };
    let base = with(json!({"graph": 1, "gone": 1, "channels": {"a": 1}}));
    let ours = with(json!({"graph": 2, "gone": 1, "channels": {"a": 1}, "ours": true}));
    let theirs = with(json!({"graph": 1, "channels": {"a": 1}, "theirs": true}));
    let joined = join(&ours, &theirs, Some(&base)).unwrap().record.extra;
    assert_eq!(joined, *json!({"channels": {"a": 1}, "graph": 2, "ours": true, "theirs": true}).as_object().unwrap());
    let conflict = join(&ours, &with(json!({"graph": 3, "gone": 1})), Some(&base)).unwrap_err();
    assert_eq!(conflict.to_string(), "changed on both sides: `graph`");
    let Conflict::Keys { keys, rest } = conflict else { panic!("{conflict}") };
    assert_eq!((keys[0].ours.clone(), keys[0].theirs.clone()), (Some(json!(2)), Some(json!(3))));
    assert!(!rest.record.extra.contains_key("graph") && !rest.record.extra.contains_key("channels"));
    // Removed here, changed there.
    assert!(join(&with(json!({})), &with(json!({"graph": 9})), Some(&with(json!({"graph": 1})))).is_err());
    // Without an ancestor what only one side has is new; a leftover never wins over the file.
    assert!(join(&ours, &base, None).is_err());
    assert_eq!(join::join_preferring_ours(&ours, &base).unwrap().record.extra["graph"], 2);
}

#[test]
fn two_references_for_one_path_are_a_conflict() {
    let other = Record::new(WorkItemRef::parse("github:octo/repo#16").unwrap());
    assert!(matches!(join(&cleared(), &other, None), Err(Conflict::References { .. })));
}

#[test]
fn poll_sections_unite_and_a_tombstone_gives_way() {
    let poll = |text: &str| read(&format!(r#"{{"ref":"github:octo/repo#15","poll":{text}}}"#));
    let a =
        poll(r#"{"seenComments":["b"],"spawn":{"attempts":3,"gaveUp":false},"lastPolledAt":"2026-03-02T08:16:00Z"}"#);
    let b = poll(r#"{"seenComments":["a"],"spawn":{"attempts":1,"gaveUp":true},"commentAttempts":{"c":1}}"#);
    let both = one(&a, &b).record;
    let expected = poll(
        r#"{"seenComments":["a","b"],"spawn":{"attempts":3,"gaveUp":true},"commentAttempts":{"c":1},"lastPolledAt":"2026-03-02T08:16:00Z"}"#,
    );
    assert_eq!(both, expected);
    assert_eq!(one(&poll("null"), &a).record.poll, a.poll);
    assert_eq!(one(&poll("null"), &Record::new(item())).record.poll, Section::Tombstone);
    // The old tree is not asked again when only one side was sealed.
    let sealed = Record { sealed: true, ended: over(1, "closed").ended, ..Record::new(item()) };
    let record = one(&sealed, &Record::new(item())).record;
    assert_eq!((record.sealed, record.poll, record.control), (false, Section::Tombstone, Section::Tombstone));
}

/// What the store would hold after starting the item of the example.
fn stored(text: &str) -> Item {
    let mut item = Item::new(item());
    item.sections = read(text).sections();
    item
}

#[test]
fn store_and_file_shapes_meet() {
    let item = stored(EXAMPLE);
    let record = Record::from_store(&item, ["IC_a1".to_owned()].into());
    assert!(same_meaning(&record, &read(EXAMPLE), Volatile::Compared));
    assert_eq!(record.commanded_at, record.requested_at(), "our writer always says what it knew");
    let mut ended = item.clone();
    ended.sections.ended = Some(Ended { at: at(3600).plus_millis(700), reason: "closed".into() });
    let record = Record::from_store(&ended, ["IC_a1".to_owned()].into());
    assert_eq!((&record.control, record.ended.as_ref().unwrap().at), (&Section::Tombstone, at(3600)));
    assert_eq!(record.seen_comments().unwrap().len(), 1, "a reopened item does not hear its old comments again");
    assert_eq!(Record::from_store(&Item::new(samples::item()), [].into()), Record::new(samples::item()));
}

#[test]
fn adoption_says_what_it_changes() {
    let store = Record::from_store(&stored(EXAMPLE), ["IC_a1".to_owned()].into());
    let same = adopt(&store, &read(EXAMPLE), at(7200)).unwrap();
    assert!(!same.changed && same.control.is_none() && same.reports.is_empty() && same.new_comments.is_empty());
    let mut news = read(&text_with("\"start\"", "\"stop\"").replace("08:15:30", "08:20:00").replace("IC_a1", "IC_n"));
    news.extra.insert("graph".into(), json!(1));
    let adopted = adopt(&store, &news, at(7200)).unwrap();
    let change = adopted.control.unwrap();
    assert!(adopted.changed && change.was_armed && !change.is_armed);
    assert_eq!(change.after, news.control);
    assert_eq!(adopted.new_comments.into_iter().collect::<Vec<_>>(), ["IC_n"]);
    assert_eq!(adopted.record.extra["graph"], 1);
}

#[test]
fn k37_k59_an_older_or_emptier_file_neither_arms_nor_disarms() {
    let running = Record::from_store(&stored(EXAMPLE), ["IC_a1".to_owned()].into());
    let older_stop = read(&text_with("\"start\"", "\"stop\"").replace("08:15:30", "08:00:00"));
    let empty = read(r#"{"ref":"github:octo/repo#15"}"#);
    for file in [older_stop, empty] {
        let adopted = adopt(&running, &file, at(7200)).unwrap();
        assert!(!adopted.changed && adopted.control.is_none() && adopted.record.is_armed());
    }
    let mut over = stored(EXAMPLE);
    over.sections.ended = Some(Ended { at: at(3600), reason: "closed".into() });
    let over = Record::from_store(&over, [].into());
    let adopted = adopt(&over, &read(EXAMPLE), at(7200)).unwrap();
    assert!(adopted.control.is_none() && !adopted.record.is_armed(), "an old start does not come back");
    assert_eq!(adopted.new_comments.len(), 1, "while its comments are still known");
    // The earlier system's undated tombstone acts once; checked out again later it is no news.
    let adopted = adopt(&running, &cleared(), at(7200)).unwrap();
    assert!(!adopted.record.is_armed() && matches!(adopted.reports[..], [Report::Beaten(_)]));
    let restarted = one(&adopted.record, &commanded(Command::Start, 7300)).record;
    assert!(one(&restarted, &date::without_undated(&cleared())).record.is_armed());
}

#[rstest]
#[case::command(commanded(Command::Start, 301), false, "control.requestedAt")]
#[case::ending(over(301, "closed"), true, "ended.at")]
#[case::both(Record { ended: over(301, "closed").ended, ..commanded(Command::Start, 5) }, true, "ended.at")]
#[case::known(Record { commanded_at: Some(at(301)), ..commanded(Command::Stop, 5) }, true, "commandedAt")]
fn times_more_than_five_minutes_ahead_do_not_act(#[case] file: Record, #[case] armed: bool, #[case] field: &str) {
    let store = if armed { commanded(Command::Start, -10) } else { Record::new(item()) };
    let adopted = adopt(&store, &file, at(0)).unwrap();
    assert_eq!(adopted.record.is_armed(), armed);
    assert!(!adopted.changed && adopted.control.is_none());
    assert_eq!(adopted.reports, [Report::Ahead { field: Box::leak(field.into()), at: at(301) }]);
    // When our clock comes near, it acts.
    let later = adopt(&store, &file, at(1)).unwrap();
    assert!(later.reports.iter().all(|report| matches!(report, Report::Beaten(_))));
    assert!(later.changed);
}
