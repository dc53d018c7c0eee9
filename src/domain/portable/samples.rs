//! Records for tests: the example of the documentation, and generators.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;
use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

/// The record of the documentation, byte for byte.
pub const EXAMPLE: &str = r#"{
  "ref": "github:octo/repo#15",
  "url": "https://github.com/octo/repo/issues/15",
  "control": {
    "ref": "github:octo/repo#15",
    "command": "start",
    "source": "comment",
    "actor": "mona",
    "requestedAt": "2026-03-02T08:15:30Z",
    "note": "https://github.com/octo/repo/issues/15#issuecomment-77"
  },
  "poll": {
    "seenComments": [
      "IC_a1"
    ],
    "commentAttempts": {},
    "spawn": {},
    "lastPolledAt": "2026-03-02T08:16:00Z"
  }
}
"#;

/// The example's reference.
pub fn item() -> WorkItemRef {
    WorkItemRef::parse("github:octo/repo#15").unwrap()
}

/// A time `seconds` after an hour of the example's day.
pub fn at(seconds: i64) -> Time {
    Time::parse("2026-03-02T08:00:00Z").unwrap().plus_seconds(seconds)
}

/// A command.
pub fn control(command: Command, seconds: i64) -> Control {
    Control {
        command,
        source: Source::Comment,
        actor: "mona".into(),
        requested_at: RequestedAt::At(at(seconds)),
        note: None,
        extra: Map::new(),
    }
}

/// A record that holds a command.
pub fn commanded(command: Command, seconds: i64) -> Record {
    Record { control: Section::Present(control(command, seconds)), ..Record::new(item()) }
}

/// A record that holds an ending, dated.
pub fn over(seconds: i64, reason: &str) -> Record {
    let ended = Some(Ended { at: at(seconds), reason: reason.into() });
    Record { control: Section::Tombstone, ended, ..Record::new(item()) }
}

/// A record the earlier system cleared: `null`, no date.
pub fn cleared() -> Record {
    Record { control: Section::Tombstone, ..Record::new(item()) }
}

/// The example with some lines of it replaced.
pub fn text_with(from: &str, to: &str) -> String {
    assert!(EXAMPLE.contains(from), "{from}");
    EXAMPLE.replace(from, to)
}

fn word() -> impl Strategy<Value = Command> {
    prop_oneof![
        4 => Just(Command::Start),
        2 => Just(Command::Stop),
        1 => Just(Command::Pause),
        1 => Just(Command::Resume),
        1 => prop_oneof![Just("hold"), Just("")].prop_map(|word| Command::Other(word.into())),
    ]
}

fn requested_at() -> impl Strategy<Value = RequestedAt> {
    prop_oneof![
        8 => (0..6_i64).prop_map(|n| RequestedAt::At(at(n))),
        1 => Just(RequestedAt::Unreadable(None)),
        1 => Just(RequestedAt::Unreadable(Some("\"yesterday\"".into()))),
        1 => Just(RequestedAt::Unreadable(Some("{\"b\":1E5}".into()))),
    ]
}

/// A JSON value as other versions might write.
pub fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        prop_oneof![Just("0"), Just("2"), Just("10"), Just("-1.50"), Just("9007199254740993"), Just("1E400")]
            .prop_map(|text| spelling::read(text).unwrap()),
        prop_oneof![Just(""), Just("a"), Just("é\n\u{1}")].prop_map(|text| Value::String(text.to_owned())),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            map_of(inner).prop_map(Value::Object)
        ]
    })
}

fn map_of(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof![Just("graph"), Just("x-team"), Just("Ä")].prop_map(str::to_owned);
    prop::collection::vec((key, value), 0..3).prop_map(|entries| entries.into_iter().collect())
}

fn seldom(map: impl Strategy<Value = Map<String, Value>>) -> impl Strategy<Value = Map<String, Value>> {
    prop::option::weighted(0.3, map).prop_map(Option::unwrap_or_default)
}

fn controls() -> impl Strategy<Value = Control> {
    let source = prop_oneof![Just(Source::Comment), Just(Source::Cli), Just(Source::Other("api".into()))];
    let actor = prop_oneof![Just("mona"), Just("hubot"), Just("")];
    let note = prop::option::of(prop_oneof![Just(String::new()), Just("n".to_owned())]);
    (word(), source, actor, requested_at(), note, seldom(map_of(value()))).prop_map(
        |(command, source, actor, requested_at, note, extra)| Control {
            command,
            source,
            actor: actor.into(),
            requested_at,
            note,
            extra,
        },
    )
}

fn polls(keys: bool) -> impl Strategy<Value = Poll> {
    let seen = prop::collection::btree_set(prop_oneof![Just("IC_a"), Just("IC_b"), Just("IC_c"), Just("IC_d")], 0..4);
    let ledger = || seldom(map_of(value()));
    let polled = prop::option::of((0..6_i64).prop_map(at));
    (seen, ledger(), ledger(), ledger(), polled, extras(keys)).prop_map(
        |(seen, comment_attempts, spawn, gave_up, last_polled_at, extra)| Poll {
            seen_comments: seen.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(),
            comment_attempts,
            spawn,
            gave_up,
            last_polled_at,
            extra,
        },
    )
}

fn extras(keys: bool) -> BoxedStrategy<Map<String, Value>> {
    if keys { seldom(map_of(value())).boxed() } else { Just(Map::new()).boxed() }
}

fn sections<T: Clone + std::fmt::Debug + 'static>(
    present: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Section<T>> {
    prop_oneof![3 => present.prop_map(Section::Present), 1 => Just(Section::Tombstone), 1 => Just(Section::Absent)]
}

/// Any record of the example's item that a file can hold. With `keys`, other versions wrote into it as well.
pub fn records(keys: bool) -> impl Strategy<Value = Record> {
    let reason = prop_oneof![Just("closed"), Just("cleared"), Just("")];
    let ended = prop::option::of((0..6_i64, reason).prop_map(|(n, reason)| Ended { at: at(n), reason: reason.into() }));
    let spelling = prop_oneof![4 => Just("github:octo/repo#15"), 1 => Just("github:Octo/Repo#15")];
    let commanded_at = prop::option::weighted(0.4, (0..6_i64).prop_map(at));
    let sealed = prop::bool::weighted(0.15);
    (
        spelling,
        sections(controls()),
        sections(polls(keys)),
        ended,
        seldom(map_of(value())),
        commanded_at,
        sealed,
        extras(keys),
    )
        .prop_map(|(spelling, control, poll, ended, ended_extra, commanded_at, sealed, extra)| Record {
            reference: WorkItemRef::parse(spelling).unwrap(),
            control,
            poll,
            ended_extra: if ended.is_some() { ended_extra } else { Map::new() },
            ended,
            commanded_at,
            sealed,
            extra,
        })
}

/// A record that needs no other to be dated, as [`date::dated`] leaves it.
pub fn dated_records(keys: bool) -> impl Strategy<Value = Record> {
    records(keys)
        .prop_map(|record| date::dated(&record, None, None))
        .prop_filter("undated", |record| !date::is_undated(record))
}
