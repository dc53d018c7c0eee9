//! Old trees as the earlier system wrote them, and as they may look after years.

use std::collections::BTreeMap;

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::domain::ids::{Login, StoreId};
use crate::domain::item::Item;
use crate::domain::policy::Policy;
use crate::domain::portable::{Command, Ended, Section};
use crate::domain::session::{Life, SessionState};
use crate::domain::time::Time;

const REF: &str = "github:octo/repo#15";
const NAME: &str = "github-octo-repo-15.json";

fn item() -> WorkItemRef {
    WorkItemRef::parse(REF).unwrap()
}

fn at(text: &str) -> Time {
    Time::parse(text).unwrap()
}

fn tree(files: &[(Kind, &str, &str)]) -> Tree {
    let mut tree = Tree::default();
    for (kind, path, text) in files {
        read(*kind, path, text.as_bytes(), &mut tree);
    }
    tree
}

fn control(command: &str, requested_at: &str) -> String {
    json!({ "ref": REF, "command": command, "source": "comment", "actor": "mona", "requestedAt": requested_at,
        "note": "https://github.com/octo/repo/issues/15#issuecomment-77" })
    .to_string()
}

fn polled(seen: &[&str]) -> String {
    json!({ "items": { REF: { "seenComments": seen, "commentAttempts": { "IC_b": 2 },
        "spawn": { "attempts": 1, "deliveryId": "poll-1", "gaveUp": false },
        "lastPolledAt": "2026-03-02T08:16:00Z" } } })
    .to_string()
}

fn session(more: &Value) -> String {
    let mut record = json!({
        "workItem": { "ref": REF, "provider": "github", "owner": "octo", "repo": "repo", "number": 15 },
        "harness": "claude", "harnessSessionId": "c0ffee-1", "cwd": "/srv/repo", "status": "active",
        "createdAt": "2026-03-01T10:00:00Z", "lastEventAt": "2026-03-02T10:00:00Z",
        "tmuxTarget": "loop-github-octo-repo-15", "recentDeliveries": ["d-1", "d-2"],
        "url": "https://github.com/octo/repo/issues/15",
    });
    for (key, value) in more.as_object().unwrap() {
        record[key] = value.clone();
    }
    record.to_string()
}

/// What is known of an item of which nothing is known but what a test says.
struct World {
    item: Item,
    seen: Vec<String>,
    endpoints: Vec<crate::domain::session::Session>,
    said: Said,
    lives: BTreeMap<String, Life>,
}

impl World {
    fn new() -> Self {
        let item = Item::new(item());
        Self { item, seen: Vec::new(), endpoints: Vec::new(), said: Said::default(), lives: BTreeMap::new() }
    }

    fn plan(&self, tree: &Tree) -> Plan {
        let record = crate::domain::portable::Record::from_store(&self.item, self.seen.iter().cloned().collect());
        let policy = Policy { authorized_users: Login::parse("mona").into_iter().collect(), ..Policy::default() };
        let known = Known {
            item: &self.item,
            record: &record,
            endpoints: &self.endpoints,
            said: self.said,
            lives: &self.lives,
            store: &StoreId("store".into()),
            policy: &policy,
            now: at("2026-04-01T00:00:00Z"),
        };
        plan(&tree.found, &known).unwrap()
    }
}

fn is_armed(item: &Item) -> bool {
    item.sections.control.as_ref().is_some_and(|control| control.arms_after(item.sections.ended.as_ref()))
}

#[test]
fn absent_sections_are_read_from_the_old_tree_each_for_itself() {
    let all = tree(&[
        (Kind::Control, &format!("sessions/control/{NAME}"), &control("start", "2026-03-02T08:15:30Z")),
        (Kind::PollList, "sessions/poll-state.json", &polled(&["IC_a"])),
        (Kind::PollList, "poll-state.json", &polled(&["IC_older"])),
    ]);
    assert_eq!(all.refused, []);
    for (control, poll) in [(false, false), (true, false), (false, true), (true, true)] {
        let world = World { said: Said { control, poll }, ..World::new() };
        let plan = world.plan(&all);
        let armed = plan.item.as_ref().is_some_and(is_armed);
        assert_eq!(armed, !control, "a present section wins, and no other");
        let seen: Vec<&str> = plan.comments.iter().map(String::as_str).collect();
        assert_eq!(seen, if poll { vec![] } else { vec!["IC_a"] }, "of two lists the newer is read");
        assert_eq!(plan.ledger.is_some(), !poll);
        assert_eq!(plan.judged.len(), 3, "what was passed over is never asked again either");
        assert_eq!(
            plan.export,
            [Some(true), Some(false), Some(true), None][usize::from(control) + 2 * usize::from(poll)]
        );
    }
}

#[rstest]
#[case::ended_later("2026-03-02T08:15:30Z", "2026-03-02T08:15:30Z")]
#[case::ended_earlier("2026-03-02T08:15:30Z", "2026-03-01T00:00:00Z")]
fn k54_k58_an_item_that_ended_here_is_not_armed_by_its_old_tree(#[case] command: &str, #[case] ended: &str) {
    // A store that knows of an ending has a `null` for its command, which is a present section.
    let mut world = World::new();
    world.item.sections.ended = Some(Ended { at: at(ended), reason: "closed".into() });
    let old = tree(&[(Kind::Control, &format!("sessions/control/{NAME}"), &control("start", command))]);
    let plan = world.plan(&old);
    assert!(plan.item.is_none() && plan.export.is_none());
    assert_eq!(plan.judged.len(), 1);
}

#[test]
fn k54_k31_an_old_start_that_github_closed_since_is_ended() {
    let mut world = World::new();
    world.item.facts.closed_at = Some(at("2026-03-05T00:00:00Z"));
    let old = tree(&[(Kind::Control, &format!("sessions/control/{NAME}"), &control("start", "2026-03-02T08:15:30Z"))]);
    let item = world.plan(&old).item.unwrap();
    assert!(!is_armed(&item) && item.sections.ended.is_some());
}

#[test]
fn k37_an_old_command_of_nobody_this_machine_trusts_waits_and_the_rest_does_not() {
    let theirs = control("start", "2026-03-02T08:15:30Z").replace("mona", "stranger");
    let old = tree(&[
        (Kind::Control, &format!("sessions/control/{NAME}"), &theirs),
        (Kind::PollList, "sessions/poll-state.json", &polled(&["IC_a"])),
    ]);
    let plan = World::new().plan(&old);
    assert!(!is_armed(plan.item.as_ref().unwrap()) && plan.comments.len() == 1);
    assert!(plan.open.unwrap().contains("stranger"));
    assert_eq!(plan.judged.len(), 1, "the command is judged again when somebody is trusted");
}

#[test]
fn k45_k50_a_session_keeps_conversation_directory_times_and_pause() {
    for (status, life, want) in [("active", false, "starting"), ("active", true, "live"), ("paused", true, "paused")] {
        let mut world = World::new();
        let found = Life { session: "loop-github-octo-repo-15".into(), ..Life::without_terminal("x") };
        world.lives.extend(life.then(|| ("loop-github-octo-repo-15".to_owned(), found.clone())));
        let plan =
            world.plan(&tree(&[(Kind::Session, &format!("local/{NAME}"), &session(&json!({ "status": status })))]));
        let item = plan.item.unwrap();
        let session = item.session.as_ref().unwrap();
        let state = match &session.state {
            SessionState::Starting => "starting",
            SessionState::Live(life) if *life == found => "live",
            SessionState::Paused(Some(life)) if *life == found => "paused",
            other => panic!("{other:?}"),
        };
        assert_eq!(state, want);
        assert_eq!(session.conversation.as_ref().unwrap().as_str(), "c0ffee-1");
        assert_eq!(session.cwd.as_deref(), Some(std::path::Path::new("/srv/repo")));
        assert_eq!((session.created_at, session.introduced), (at("2026-03-01T10:00:00Z"), true));
        assert_eq!(item.baseline, Some(at("2026-03-02T10:00:00Z")), "without polling, all until then was heard");
        assert_eq!(plan.deliveries.len(), 2, "what was delivered there is not delivered here");
        assert_eq!(plan.export, None, "a session is nobody's business elsewhere");
    }
}

#[test]
fn k47_a_pull_request_entry_that_does_not_parse_is_skipped_and_nesting_is_dropped() {
    let entry = |reference: &str| {
        let mut entry: Value = serde_json::from_str(&session(&json!({ "status": "closed" }))).unwrap();
        entry["workItem"]["ref"] = reference.into();
        entry
    };
    let mut nested = entry("github:octo/repo#20");
    nested["pullRequests"] = json!([entry("github:octo/repo#99")]);
    let mut broken = entry("github:octo/repo#22");
    broken["harness"] = 7.into();
    let pulls = json!([nested, "no entry", null, broken, entry("github:octo/repo#20"), entry(REF), entry("nowhere")]);
    let old = tree(&[(Kind::Session, &format!("local/{NAME}"), &session(&json!({ "pullRequests": pulls })))]);
    let plan = World::new().plan(&old);
    let listed: Vec<String> = plan.endpoints.iter().map(|endpoint| endpoint.reference.to_string()).collect();
    assert_eq!(listed, ["github:octo/repo#20"]);
    assert!(matches!(plan.endpoints[0].state, SessionState::Closed { .. }));
    for odd in [json!(null), json!({}), json!("x")] {
        let old = tree(&[(Kind::Session, &format!("local/{NAME}"), &session(&json!({ "pullRequests": odd })))]);
        assert!(old.refused.is_empty() && World::new().plan(&old).item.is_some(), "the record lives");
    }
}

#[test]
fn k58_a_reset_later_than_the_session_brings_nothing_back_and_a_close_keeps_the_conversation() {
    let old = tree(&[(Kind::Session, &format!("local/{NAME}"), &session(&json!({})))]);
    for (reason, ended, want) in [
        ("reset", "2026-03-03T00:00:00Z", None),
        ("closed", "2026-03-03T00:00:00Z", Some(true)),
        ("reset", "2026-03-02T09:00:00Z", Some(false)),
    ] {
        let mut world = World::new();
        world.item.sections.ended = Some(Ended { at: at(ended), reason: reason.into() });
        let plan = world.plan(&old);
        let session = plan.item.as_ref().and_then(|item| item.session.as_ref());
        assert_eq!(
            session.map(|session| matches!(session.state, SessionState::Closed { .. })),
            want,
            "{reason} {ended}"
        );
        assert_eq!(plan.judged.len(), 1);
    }
    let mut world = World::new();
    world.item = world.plan(&old).item.unwrap();
    let again = world.plan(&tree(&[(Kind::Session, &format!("sessions/{NAME}"), &session(&json!({ "cwd": "/old" })))]));
    assert!(again.item.is_none() && again.deliveries.is_empty(), "a session that is there wins");
}

#[test]
fn k14_a_full_list_of_comments_does_not_make_older_ones_new() {
    let comments = |many: usize| (0..many).map(|at| format!("IC_{at}")).collect::<Vec<_>>();
    for (many, want) in [(499, "2026-03-01T10:00:00Z"), (500, "2026-03-02T10:00:00Z")] {
        let seen = comments(many);
        let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
        let old = tree(&[
            (Kind::PollList, "sessions/poll-state.json", &polled(&seen)),
            (Kind::Session, &format!("local/{NAME}"), &session(&json!({}))),
        ]);
        let plan = World::new().plan(&old);
        assert_eq!(plan.item.unwrap().baseline, Some(at(want)), "{many}");
        assert_eq!(plan.comments.len(), many);
    }
}

#[test]
fn tmux_names_are_read_as_tmux_keeps_them() {
    let target = json!({ "tmuxTarget": "loop-github-ghe.corp.example:8443-octo-foo.js-15" });
    let old = tree(&[(Kind::Session, &format!("local/{NAME}"), &session(&target))]);
    let What::Session(session) = &old.found[0].what else { panic!("{old:?}") };
    assert_eq!(session.tmux_session.as_deref(), Some("loop-github-ghe_corp_example_8443-octo-foo_js-15"));
}

#[test]
fn of_two_items_with_one_slug_the_reference_inside_decides() {
    let name = "local/github-a-b-c-1.json";
    let of = |reference: &str| session(&json!({ "workItem": { "ref": reference } }));
    for reference in ["github:a/b-c#1", "github:a-b/c#1"] {
        assert_eq!(tree(&[(Kind::Session, name, &of(reference))]).found[0].item.to_string(), reference);
    }
    let other = tree(&[(Kind::Session, name, &of("github:a/b#1"))]);
    assert!(other.found.is_empty() && other.refused[0].reason.contains("github:a/b#1"), "{other:?}");
}

#[rstest]
#[case::half(r#"{"ref": "github:octo/repo#15", "command": "st"#, "EOF")]
#[case::f04_conflict("<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs\n", "merge conflict")]
#[case::j01_k56_duplicate(r#"{"ref":"github:octo/repo#15","command":"stop","command":"start"}"#, "duplicate")]
#[case::j04_nan(r#"{"ref":"github:octo/repo#15","command":"start","n":NaN}"#, "column")]
#[case::f10_nul("\0\0\0\0", "NUL")]
#[case::empty("", "empty")]
#[case::list("[]", "object")]
#[case::no_ref(r#"{"command":"start"}"#, "ref")]
#[case::other_ref(r#"{"ref":"github:octo/repo#16","command":"start"}"#, "#16")]
fn k53_what_cannot_be_read_is_named_and_never_guessed(#[case] text: &str, #[case] names: &str) {
    let path = format!("sessions/control/{NAME}");
    let old = tree(&[(Kind::Control, &path, text)]);
    assert!(old.found.is_empty());
    assert_eq!(old.refused[0].path, path);
    assert!(old.refused[0].reason.contains(names), "{:?}", old.refused);
}

#[test]
fn j02_j05_j06_odd_json_in_a_list_is_kept_or_refused_whole() {
    let big = r#"{"items":{"github:octo/repo#15":{"seenComments":[],"id":9007199254740993},"nowhere":{}}}"#;
    let old = tree(&[(Kind::PollList, "poll-state.json", big)]);
    let What::Poll(record) = &old.found[0].what else { panic!("{old:?}") };
    let Section::Present(poll) = &record.poll else { panic!("{record:?}") };
    assert_eq!(poll.extra["id"].to_string(), "9007199254740993");
    assert_eq!(old.refused[0].path, "poll-state.json#nowhere", "an entry for itself");
    let deep = format!("{{\"items\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    for text in [r#"{"items":{"a":"\ud83d"}}"#, deep.as_str(), r#"{"items":[]}"#] {
        let old = tree(&[(Kind::PollList, "poll-state.json", text)]);
        assert!(old.found.is_empty() && old.refused.len() == 1, "{old:?}");
    }
    let none =
        tree(&[(Kind::PollList, "poll-state.json", "{}"), (Kind::PollList, "poll-state.json", r#"{"items":null}"#)]);
    assert_eq!(none, Tree::default());
}

#[test]
fn f18_only_names_of_records_are_looked_at() {
    for (name, is) in [
        (NAME, true),
        ("github-ghe.example-8443-a-b-1.json", true),
        ("owner.json", false),
        ("poll-state.json", false),
        ("index.json", false),
        (".github-octo-repo-15.json.8f3.tmp", false),
        ("github-octo-repo-15.json~", false),
        ("github-octo-repo-15.json.orig", false),
        ("tmpab12cd.tmp", false),
        ("-1.json", false),
        ("a-.json", false),
        ("a b-1.json", false),
    ] {
        assert_eq!(is_record_name(name), is, "{name}");
    }
}

#[test]
fn commands_that_are_not_whole_arm_nothing() {
    for (text, command) in [
        (control("execute", "2026-03-02T08:15:30Z"), "execute"),
        (control("start", ""), "start"),
        (control("start", "yesterday"), "start"),
        (json!({ "ref": REF }).to_string(), ""),
    ] {
        let old = tree(&[(Kind::Control, &format!("sessions/control/{NAME}"), &text)]);
        let What::Control(record) = &old.found[0].what else { panic!("{old:?}") };
        let word = record.control.present().unwrap().command.as_str();
        assert_eq!(word, command);
        let plan = World::new().plan(&old);
        assert!(!plan.item.as_ref().is_some_and(is_armed), "{text}");
    }
    assert!(Command::Start.arms());
}
