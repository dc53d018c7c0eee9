//! Payloads as GitHub sends them, and as it sends them on its bad days.

use bytes::Bytes;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::domain::event::body::{self, MediaType};
use crate::domain::event::words::{self, Words};
use crate::domain::event::{Fact, Form, Head, Identity, ItemFact, RepositoryFact, Speech, Subject};
use crate::domain::policy::Keywords;
use crate::domain::reference::RepoRef;
use crate::domain::signature::TrustedBody;
use crate::domain::time::Time;

mod checks;
mod properties;

macro_rules! data {
    ($name:literal) => {
        include_str!(concat!("../../../../../tests/data/", $name))
    };
}

const P01: &str = data!("P01-pull_request.closed-no-sender.json");
const P03: &str = data!("P03-pull_request.synchronize-head-repo-null.json");
const P05: &str = data!("P05-issues.unlabeled-no-label.json");
const P06: &str = data!("P06-ping-app-no-repository.json");
const P08: &str = data!("P08-issue_comment.created-on-pr.json");
const P10A: &str = data!("P10a-issues.transferred.json");
const P10B: &str = data!("P10b-issues.opened-on-destination.json");
const P14: &str = data!("P14-issue_comment-crlf.json");
const P17: &str = data!("P17-comment-tag-characters.json");
const J05: &str = data!("J05-lone-surrogate.json");

/// The event of a text, which is the same with and without an index of its members.
fn event(name: &str, text: &str) -> Event {
    let body = TrustedBody::from_own_request(Bytes::copy_from_slice(text.as_bytes()));
    let json = body::read(MediaType::Json, &body).unwrap();
    let normalised = |json: &CheckedJson<'_>| normalise(name, DeliveryId::parse("d-1").unwrap(), json);
    let event = normalised(&json);
    assert_eq!(normalised(&json.without_index()), event);
    event
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The payload with the value at a JSON pointer replaced, or removed for `None`.
fn with(text: &str, pointer: &str, value: Option<Value>) -> String {
    let mut payload = parsed(text);
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = payload.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => drop(parent.insert(key.to_owned(), value)),
        None => drop(parent.remove(key)),
    }
    payload.to_string()
}

fn speech(event: &Event) -> &Speech {
    match &event.content {
        Content::Speech(speech) => speech,
        other => panic!("no speech: {other:?}"),
    }
}

fn item_fact(event: &Event) -> (&Subject, &ItemFact) {
    match &event.content {
        Content::Fact(fact) => match fact.as_ref() {
            Fact::Item { subject, change } => (subject, change),
            other => panic!("another fact: {other:?}"),
        },
        other => panic!("no fact: {other:?}"),
    }
}

fn ignored(event: &Event) -> Ignored {
    match event.content {
        Content::Ignored(reason) => reason,
        ref other => panic!("not ignored: {other:?}"),
    }
}

fn item(text: &str) -> WorkItemRef {
    WorkItemRef::parse(text).unwrap()
}

fn repository() -> Value {
    json!({"id": 101, "name": "hello", "full_name": "octo/hello", "owner": {"login": "octo"}})
}

fn review(state: &str, body: Value, submitted_at: Value) -> String {
    json!({
        "action": "submitted", "repository": repository(), "sender": {"login": "mona"},
        "pull_request": {"number": 7, "head": {"ref": "fix", "sha": "ABCDEF0", "repo": {"id": 101}}},
        "review": {"id": 5, "state": state, "body": body, "submitted_at": submitted_at, "user": {"login": "mona"}},
    })
    .to_string()
}

#[test]
fn p01_a_missing_sender_is_nobody() {
    let event = event("pull_request", P01);
    assert_eq!(event.sender, None);
    let (subject, change) = item_fact(&event);
    assert_eq!((&subject.reference, subject.kind), (&item("github:octo/hello#7"), SubjectKind::PullRequest));
    assert_eq!(subject.author, None, "ghost is nobody");
    assert_eq!(*change, ItemFact::Closed { merged: false });
    assert_eq!(subject.open, Some(false));
}

#[rstest]
#[case(None)]
#[case(Some(Value::Null))]
#[case(Some(json!({"login": null})))]
#[case(Some(json!({"login": "ghost"})))]
#[case(Some(json!({"login": " "})))]
#[case(Some(json!({})))]
#[case(Some(json!("mona")))]
#[case(Some(json!([{"login": "mona"}])))]
fn k23_p02_whoever_is_not_named_is_nobody(#[case] user: Option<Value>) {
    let event_of = |pointer| event("issue_comment", &with(P08, pointer, user.clone()));
    assert_eq!(event_of("/sender").sender, None);
    assert_eq!(speech(&event_of("/comment/user")).author, None);
    assert_eq!(speech(&event_of("/issue/user")).subject.as_ref().unwrap().author, None);
    assert_eq!(event_of("/issue/user").sender.unwrap().as_str(), "mona");
}

#[test]
fn p03_the_base_decides_and_a_deleted_fork_is_no_error() {
    let event = event("pull_request", &P03.replace("synchronize", "reopened"));
    let (subject, _) = item_fact(&event);
    assert_eq!(subject.reference, item("github:octo/hello#7"));
    let head = Head { branch: "fix".into(), sha: "a".repeat(40), in_base_repository: false };
    assert_eq!(subject.head, Some(head));
    let of_head = |repo: Value| {
        let text = with(&P03.replace("synchronize", "opened"), "/pull_request/head/repo", Some(repo));
        let event = self::event("pull_request", &text);
        let (subject, _) = item_fact(&event);
        assert_eq!(subject.reference, item("github:octo/hello#7"), "never the head's");
        subject.head.clone().unwrap().in_base_repository
    };
    assert!(of_head(json!({"id": 101, "full_name": "octo/hello"})));
    assert!(of_head(json!({"full_name": "Octo/Hello"})));
    assert!(!of_head(json!({"id": 102, "full_name": "octo/hello"})));
    assert!(!of_head(json!({"full_name": "mona/hello"})));
    assert_eq!(ignored(&self::event("pull_request", P03)), Ignored::UnlistedAction);
}

/// Of another type is absent, and the rest is read all the same.
#[rstest]
fn p04_a_value_of_another_type_loses_no_other(
    #[values(
        "null",
        "7",
        "-7",
        "1.5",
        "1e400",
        "99999999999999999999",
        "true",
        "\"a\"",
        "[{\"login\":\"x\"}]",
        "[7]",
        "{}"
    )]
    value: &str,
    #[values(
        "/enterprise",
        "/sender",
        "/label",
        "/issue/labels",
        "/issue/title",
        "/comment/user",
        "/comment/created_at"
    )]
    place: &str,
) {
    let commented = event("issue_comment", &with(P14, place, Some(parsed(value))));
    assert_eq!(speech(&commented).subject.as_ref().unwrap().reference, item("github:octo/hello#7"));
}

#[rstest]
#[case(Some(Value::Null))]
#[case(Some(json!("")))]
#[case(Some(json!(7)))]
#[case(None)]
fn p04_an_empty_description_is_an_empty_text(#[case] body: Option<Value>) {
    let opened = event("issues", &with(P10B, "/issue/body", body.clone()));
    assert_eq!(item_fact(&opened).0.body, "");
    assert_eq!(speech(&event("issue_comment", &with(P08, "/comment/body", body))).text, "");
}

#[test]
fn p05_a_label_may_be_missing() {
    assert_eq!(*item_fact(&event("issues", P05)).1, ItemFact::Unlabeled(None));
    let named = with(P05, "/label", Some(json!({"name": "bug"})));
    assert_eq!(*item_fact(&event("issues", &named)).1, ItemFact::Unlabeled(Some("bug".into())));
    let labeled =
        with(&named.replace("unlabeled", "labeled"), "/issue/labels", Some(json!([{"name": "bug"}, null, 7, {}])));
    let event = event("issues", &labeled);
    assert_eq!(*item_fact(&event).1, ItemFact::Labeled(Some("bug".into())));
    assert_eq!(item_fact(&event).0.labels, ["bug"]);
}

#[test]
fn p06_a_ping_without_a_repository_is_a_ping() {
    let event = event("ping", P06);
    assert_eq!((ignored(&event), event.repository), (Ignored::Ping, None));
}

#[test]
fn p08_a_comment_on_a_pull_request_is_about_the_pull_request() {
    let event = event("issue_comment", P08);
    let speech = speech(&event);
    let subject = speech.subject.as_ref().unwrap();
    assert_eq!((&subject.reference, subject.kind), (&item("github:octo/hello#7"), SubjectKind::PullRequest));
    assert_eq!(speech.identity, Identity::new("github.com", 101, "comment", "9001"));
    assert_eq!((speech.text.as_str(), &speech.form), ("ship it", &Form::Comment));
    assert_eq!(speech.created_at, Time::parse("2026-01-01T00:00:00Z").ok());
    let on_issue = self::event("issue_comment", &with(P08, "/issue/pull_request", Some(Value::Null)));
    assert_eq!(self::speech(&on_issue).subject.as_ref().unwrap().kind, SubjectKind::Issue);
    let issues = self::event("issues", &with(P08, "/action", Some(json!("reopened"))));
    assert_eq!(item_fact(&issues).0.kind, SubjectKind::PullRequest);
}

#[test]
fn p10_a_transfer_names_both_ends() {
    let left = event("issues", P10A);
    assert_eq!(*item_fact(&left).1, ItemFact::Transferred { to: Some((item("github:octo/world#31"), 5999)) });
    let arrived = event("issues", P10B);
    assert_eq!(item_fact(&arrived).0.reference, item("github:octo/world#31"));
    assert_eq!(
        *item_fact(&arrived).1,
        ItemFact::Opened { transferred_from: Some((item("github:octo/hello#7"), 5001)) }
    );
    let unknown = event("issues", &with(P10A, "/changes", None));
    assert_eq!(*item_fact(&unknown).1, ItemFact::Transferred { to: None });
    let ghe = with(P10A, "/repository/html_url", Some(json!("https://ghe.example/octo/hello")));
    let moved = event("issues", &ghe);
    assert_eq!(
        *item_fact(&moved).1,
        ItemFact::Transferred { to: Some((item("github:ghe.example/octo/world#31"), 5999)) }
    );
}

#[test]
fn p12_p22_a_repository_changes_its_name_or_goes() {
    let of = |action: &str, changes: Value| {
        let payload = json!({"action": action, "repository": repository(), "changes": changes});
        event("repository", &payload.to_string())
    };
    let fact = |event: Event| match event.content {
        Content::Fact(fact) => *fact,
        other => panic!("{other:?}"),
    };
    let from = RepoRef::parse("octo/old").unwrap();
    let renamed = of("renamed", json!({"repository": {"name": {"from": "old"}}}));
    assert_eq!(renamed.repository.as_ref().unwrap().id, 101);
    assert_eq!(fact(renamed), Fact::Repository(RepositoryFact::Renamed { from }));
    for owner in ["user", "organization"] {
        let from = RepoRef::parse("mona/hello").unwrap();
        let moved = of("transferred", json!({"owner": {"from": {owner: {"login": "mona"}}}}));
        assert_eq!(fact(moved), Fact::Repository(RepositoryFact::Transferred { from }));
    }
    assert_eq!(fact(of("deleted", json!({}))), Fact::Repository(RepositoryFact::Deleted));
    assert_eq!(ignored(&of("renamed", json!({}))), Ignored::Incomplete);
    assert_eq!(ignored(&of("publicized", json!({}))), Ignored::UnlistedAction);
}

#[test]
fn p14_line_ends_are_lf_everywhere() {
    assert_eq!(speech(&event("issue_comment", P14)).text, "/loop fix\nPlease fix the null check.\n");
    let lone = with(P14, "/comment/body", Some(json!("a\rb\r\n\rc")));
    assert_eq!(speech(&event("issue_comment", &lone)).text, "a\nb\n\nc");
}

#[test]
fn p17_tag_characters_are_kept_here_and_removed_on_the_way_to_the_terminal() {
    let event = event("issue_comment", P17);
    let shown = crate::domain::text::safe(&speech(&event).text).into_owned();
    assert!(shown.starts_with("Looks good!\n[the-loop: 12 invisible"), "{shown}");
}

#[test]
fn p20_what_is_unknown_is_ignored_with_its_reason() {
    let frobnicated = with(P05, "/action", Some(json!("frobnicated")));
    assert_eq!(ignored(&event("issues", &frobnicated)), Ignored::UnlistedAction);
    for name in ["issue_dependencies", "push", "check_suite", "", "Issues"] {
        assert_eq!(ignored(&event(name, &with(P05, "/action", None))), Ignored::UnknownEvent, "{name}");
    }
    for action in [None, Some(Value::Null), Some(json!(7))] {
        assert_eq!(ignored(&event("issues", &with(P05, "/action", action))), Ignored::UnlistedAction);
    }
}

#[test]
fn p21_only_the_comment_is_an_instruction() {
    let payload = with(P08, "/issue/body", Some(json!("the-loop stop")));
    let event = event("issue_comment", &payload);
    assert_eq!(words::find(&speech(&event).text, &Keywords::default()), Words::None);
    assert_eq!(speech(&event).subject.as_ref().unwrap().body, "the-loop stop");
}

#[test]
fn k20_edits_never_speak_and_deletions_are_noted() {
    for name in ["issue_comment", "pull_request_review_comment", "pull_request_review"] {
        let of = |action: &str| {
            let mut payload = parsed(&with(P08, "/action", Some(json!(action))));
            payload["pull_request"] = json!({"number": 7});
            event(name, &payload.to_string())
        };
        assert_eq!(ignored(&of("edited")), Ignored::UnlistedAction, "{name}");
        let taken_back = of(if name == "pull_request_review" { "dismissed" } else { "deleted" });
        let Content::Fact(fact) = &taken_back.content else { panic!("{taken_back:?}") };
        assert!(matches!(fact.as_ref(), Fact::Withdrawn { subject } if subject.reference.number() == 7));
    }
}

#[test]
fn review_comments_know_their_line() {
    let payload = json!({
        "action": "created", "repository": repository(),
        "comment": {"id": 3, "node_id": "PRRC_3", "body": "why?", "path": "src/a.rs", "line": 9, "diff_hunk": "@@\r\n-a",
            "user": {"login": "mona"}, "html_url": "https://github.com/octo/hello/pull/7#discussion_r3"},
        "pull_request": {"number": 7},
    });
    let event = event("pull_request_review_comment", &payload.to_string());
    let speech = speech(&event);
    assert_eq!(speech.form, Form::ReviewComment { path: "src/a.rs".into(), line: Some(9), hunk: "@@\n-a".into() });
    assert_eq!(speech.identity.as_str(), "github.com/101/review_comment/3");
    assert_eq!((speech.node_id.as_deref(), speech.created_at), (Some("PRRC_3"), None));
}

#[rstest]
#[case("approved", json!(null), true)]
#[case("CHANGES_REQUESTED", json!(""), true)]
#[case("commented", json!("nice"), true)]
#[case("commented", json!(" \r\n"), false)]
#[case("commented", json!(null), false)]
#[case("pending", json!("nice"), false)]
fn reviews_speak_with_words_or_a_verdict(#[case] state: &str, #[case] body: Value, #[case] speaks: bool) {
    let submitted = event("pull_request_review", &review(state, body.clone(), json!("2026-01-01T00:00:00Z")));
    if speaks {
        let speech = speech(&submitted);
        assert_eq!(speech.form, Form::Review { state: state.to_ascii_lowercase() });
        assert_eq!(speech.identity.as_str(), "github.com/101/review/5");
        assert_eq!(speech.subject.as_ref().unwrap().head.as_ref().unwrap().sha, "abcdef0");
    } else {
        assert_eq!(ignored(&submitted), Ignored::EmptyReview);
    }
    assert_eq!(ignored(&event("pull_request_review", &review(state, body, json!(null)))), Ignored::EmptyReview);
}

#[test]
fn pull_request_facts_follow_the_table() {
    let of = |action: &str, merged_at: Value| {
        let text = with(P01, "/action", Some(json!(action)));
        event("pull_request", &with(&text, "/pull_request/merged_at", Some(merged_at)))
    };
    let now = json!("2026-01-01T00:00:00Z");
    for (action, change) in [
        ("opened", ItemFact::Opened { transferred_from: None }),
        ("closed", ItemFact::Closed { merged: true }),
        ("reopened", ItemFact::Reopened),
        ("edited", ItemFact::Edited),
        ("ready_for_review", ItemFact::ReadyForReview),
        ("labeled", ItemFact::Labeled(None)),
    ] {
        assert_eq!(*item_fact(&of(action, now.clone())).1, change);
    }
    for action in ["synchronize", "assigned", "converted_to_draft", "transferred"] {
        assert_eq!(ignored(&of(action, Value::Null)), Ignored::UnlistedAction, "{action}");
    }
    assert_eq!(ignored(&event("issues", &P10B.replace("opened", "edited"))), Ignored::UnlistedAction);
}

#[test]
fn j02_big_ids_keep_every_digit() {
    let id = |n: &str| {
        let text = P08.replace("9001", n);
        speech(&event("issue_comment", &text)).identity.as_str().to_owned()
    };
    assert_eq!(id("9007199254740993"), "github.com/101/comment/9007199254740993");
    assert_ne!(id("50000000014435121"), id("50000000014435122"));
    assert_eq!(ignored(&event("issue_comment", &P08.replace("9001", "9001.5"))), Ignored::Incomplete);
}

#[test]
fn j05_a_lone_surrogate_does_not_lose_the_event() {
    let event = event("issue_comment", J05);
    assert_eq!(speech(&event).text, "cut \u{fffd}");
    assert_eq!(speech(&event).subject.as_ref().unwrap().reference, item("github:octo/hello#7"));
}

#[test]
fn the_host_is_part_of_reference_and_identity() {
    for (pointer, value, reference) in [
        ("/repository/html_url", json!("https://ghe.example:8443/octo/hello"), "github:ghe.example:8443/octo/hello#7"),
        ("/repository/url", json!("https://ghe.example/api/v3/repos/octo/hello"), "github:ghe.example/octo/hello#7"),
        ("/enterprise", json!({"html_url": "https://ghe.example/enterprises/x"}), "github:ghe.example/octo/hello#7"),
        ("/repository/html_url", json!(null), "github:octo/hello#7"),
        ("/repository/url", json!("https://api.github.com/repos/octo/hello"), "github:octo/hello#7"),
    ] {
        let event = event("issue_comment", &with(P08, pointer, Some(value)));
        assert_eq!(speech(&event).subject.as_ref().unwrap().reference, item(reference));
        let host = event.repository.as_ref().unwrap().reference.host().to_owned();
        assert_eq!(speech(&event).identity, Identity::new(&host, 101, "comment", "9001"));
    }
}

#[test]
fn without_a_repository_id_names_keep_identities_apart() {
    let of = |full_name: &str| {
        let repository = json!({"full_name": full_name});
        let event = event("issue_comment", &with(P08, "/repository", Some(repository)));
        speech(&event).identity.clone()
    };
    assert_ne!(of("octo/hello"), of("octo/world"));
    assert_eq!(of("octo/hello"), of("Octo/Hello"));
}

#[test]
fn what_a_row_needs_and_misses_is_incomplete() {
    for (name, text, pointer) in [
        ("issue_comment", P08, "/repository"),
        ("issue_comment", P08, "/comment"),
        ("issue_comment", P08, "/comment/id"),
        ("issue_comment", P08, "/issue"),
        ("issue_comment", P08, "/issue/number"),
        ("issues", P05, "/issue"),
    ] {
        assert_eq!(ignored(&event(name, &with(text, pointer, None))), Ignored::Incomplete, "{pointer}");
    }
    let zero = with(P08, "/issue/number", Some(json!(0)));
    assert_eq!(ignored(&event("issue_comment", &zero)), Ignored::Incomplete);
    let spelled = with(P08, "/repository/full_name", Some(json!("octo/../x")));
    assert_eq!(ignored(&event("issue_comment", &spelled)), Ignored::Incomplete);
}

#[test]
fn the_item_is_named_for_the_log_whatever_happened() {
    let named = |text: &str| {
        let body = TrustedBody::from_own_request(Bytes::copy_from_slice(text.as_bytes()));
        item_named(&body::read(MediaType::Json, &body).unwrap())
    };
    assert_eq!(named(P03), Some((item("github:octo/hello#7"), SubjectKind::PullRequest)));
    assert_eq!(named(P05), Some((item("github:octo/hello#7"), SubjectKind::Issue)));
    assert_eq!(named(P06), None);
}

#[test]
fn k75_a_body_of_25_mib_is_read_in_linear_time() {
    for filler in ["x", "\\u0041"] {
        let text = P08.replace("ship it", &filler.repeat((body::MAX_JSON_BYTES - P08.len()) / filler.len()));
        assert!(speech(&event("issue_comment", &text)).text.len() > 4_000_000);
    }
    let many = format!("[{}7]", "{\"name\":\"x\"},".repeat(100_000));
    let text = P05.replace("\"labels\": []", &format!("\"labels\": {many}"));
    assert_eq!(item_fact(&event("issues", &text)).0.labels.len(), 100_000);
}
