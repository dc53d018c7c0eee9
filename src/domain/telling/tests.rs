//! Tables and properties of what is told.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;
use crate::domain::decide::DropReason;
use crate::domain::event::marker::is_marked;
use crate::domain::event::words::{Word, Words, find};
use crate::domain::github::{Answer, Limit, Unsent};
use crate::domain::policy::{Keywords, Policy, SpawnPolicy};
use crate::domain::portable::Command;
use crate::domain::time::Time;

const NOW: Time = Time::from_millis(1_772_439_330_000);

fn item() -> WorkItemRef {
    WorkItemRef::parse("github:ghe.example/Octo/Hello#7").unwrap()
}

fn store(id: &str) -> StoreId {
    StoreId(id.into())
}

fn token() -> String {
    ["gh", "p_", &"a1B2".repeat(9)].concat()
}

#[rstest]
#[case::comment("comment", "9", Some(Spot::Comment(9)))]
#[case::line("review_comment", "9", Some(Spot::ReviewComment(9)))]
#[case::review("review", "9", None)]
#[case::check("check", "ab/ci/9", None)]
#[case::without_repository_id("comment", "octo/hello/9", Some(Spot::Comment(9)))]
#[case::no_number("comment", "x", None)]
fn reactions_go_where_github_takes_them(#[case] kind: &str, #[case] id: &str, #[case] spot: Option<Spot>) {
    assert_eq!(Spot::of(&Identity::new("github.com", 101, kind, id)), spot);
}

proptest! {
    #[test]
    fn what_is_decided_twice_has_one_marker_and_nothing_else_has_it(
        id in "[a-z]{1,4}", cause in ".{0,20}", other in ".{0,20}", text in ".{0,20}",
    ) {
        let words = |kind, cause: &str, text: &str| Tell::words(&item(), kind, cause, text);
        let marker = words(Kind::Refusal, &cause, &text).marker(&store(&id)).unwrap();
        prop_assert_eq!(words(Kind::Refusal, &cause, "").marker(&store(&id)).unwrap(), marker.clone());
        prop_assert_ne!(words(Kind::Echo, &cause, &text).marker(&store(&id)).unwrap(), marker.clone());
        prop_assert_ne!(words(Kind::Refusal, &cause, &text).marker(&store(&format!("{id}x"))).unwrap(), marker.clone());
        if cause != other {
            prop_assert_ne!(words(Kind::Refusal, &other, &text).marker(&store(&id)).unwrap(), marker);
        }
    }

    #[test]
    fn p16_no_comment_of_ours_is_taken_for_somebody_elses(text in "(.|\n){0,80}") {
        prop_assert!(is_marked(&comment(&text, "<!-- m -->").unwrap()));
        if let Ok(body) = CommentBody::parse(&text) {
            prop_assert!(is_marked(body.as_str()));
        }
    }
}

#[test]
fn s06_what_looks_like_a_secret_is_withheld_from_what_is_told() {
    let said = comment(&format!("it said {}", token()), "<!-- m -->").unwrap();
    assert!(said.starts_with("it said [withheld]\n\n") && said.ends_with("\n<!-- m -->"), "{said}");
}

#[test]
fn a_body_is_refused_with_rule_and_place_and_without_its_words() {
    let parse = |text: &str| CommentBody::parse(text).map(|body| body.as_str().to_owned());
    for empty in ["", " \n\t", MARKER, &format!("\n{MARKER}\n")] {
        assert_eq!(parse(empty), Err(BodyProblem::Empty), "{empty:?}");
    }
    assert_eq!(parse("done\n\n"), Ok(format!("done\n\n{MARKER}")));
    assert_eq!(parse(&format!("done\n{MARKER}\n")), Ok(format!("done\n{MARKER}")), "marked once");
    let long = MAX_CHARACTERS - MARKER.len() - 2;
    assert!(parse(&"ü".repeat(long)).is_ok());
    assert_eq!(parse(&"ü".repeat(long + 1)), Err(BodyProblem::TooLong { characters: MAX_CHARACTERS + 1 }));
    let problem = parse(&format!("one\ntwo {}", token())).unwrap_err();
    assert!(matches!(problem, BodyProblem::Secret { line: 2, .. }), "{problem:?}");
    assert!(!problem.to_string().contains("a1B2"), "{problem}");
}

#[test]
fn refusals_say_which_setting_and_what_it_lost_to_and_repeat_nothing() {
    let policy = |spawn| Policy { spawn, ..Policy::default() };
    let start = |reason, spawn| refusal(&Command::Start, reason, None, &policy(spawn));
    let never = start(DropReason::SpawnPolicy, SpawnPolicy::Never);
    assert!(never.contains("`routing.spawnOnUnmatched` is `never`"), "{never}");
    let labeled = start(DropReason::SpawnPolicy, SpawnPolicy::Labeled);
    assert!(labeled.contains("label `the-loop: auto-execute` is missing"), "{labeled}");
    assert!(start(DropReason::ItemClosed, SpawnPolicy::Labeled).contains("Reopen it first"));
    let lost = |what: &str| Lost { what: what.into(), at: Some(NOW) };
    let older = |lost: &Lost| refusal(&Command::Start, DropReason::OlderCommand, Some(lost), &Policy::default());
    assert!(older(&lost("stop")).contains("not newer than `stop` of 2026-03-02T08:15:30Z"), "{}", older(&lost("stop")));
    let odd = older(&lost("@everyone <img>"));
    assert!(!odd.contains('@') && odd.contains("what is recorded"), "{odd}");
    let both = two_words(&[Word::Start, Word::Stop]);
    assert!(both.contains("`start` and `stop`"), "{both}");
}

#[test]
fn what_we_say_commands_nothing_mentions_nobody_and_tells_no_path() {
    let policy = Policy::default();
    let keywords = &policy.keywords;
    let off = Keywords { enabled: false, ..Keywords::default() };
    let mut said = vec![
        announcement(&item(), true, keywords),
        announcement(&item(), false, keywords),
        announcement(&item(), true, &off),
        two_words(&[Word::Pause, Word::Resume]),
    ];
    let reasons =
        [DropReason::OlderCommand, DropReason::NotApplicable, DropReason::ItemClosed, DropReason::AwaitingStart];
    for command in [Command::Start, Command::Stop, Command::Pause, Command::Resume] {
        said.extend(reasons.map(|reason| refusal(&command, reason, None, &policy)));
        said.push(echo(&command, keywords));
    }
    for text in said {
        assert_eq!(find(&text, keywords), Words::None, "{text}");
        assert!(!text.contains('@') && !text.contains(" /") && !text.contains("null"), "{text}");
    }
    let attach = "`the-loop sessions attach github:ghe.example/Octo/Hello#7`";
    assert!(announcement(&item(), true, keywords).contains(attach));
    assert!(!announcement(&item(), false, keywords).contains("attach"));
    assert!(echo(&Command::Stop, keywords).starts_with("`the-loop stop` was said on the operator's command line"));
    assert!(echo(&Command::Stop, &off).starts_with("`stop` was said"));
}

#[test]
fn k72_requests_name_the_host_of_the_item_and_nothing_else() {
    let words = Tell::words(&item(), Kind::Echo, "c", "t");
    let paths = [
        (look_up(&item(), NOW), "/repos/Octo/Hello/issues/7/comments?since=2026-03-01T08:15:30Z&per_page=100"),
        (put(&item(), &words.what, "b"), "/repos/Octo/Hello/issues/7/comments"),
        (
            put(&item(), &What::Reaction { on: Spot::Comment(9), content: Reaction::PlusOne }, ""),
            "/repos/Octo/Hello/issues/comments/9/reactions",
        ),
        (
            put(&item(), &What::Reaction { on: Spot::ReviewComment(9), content: Reaction::Eyes }, ""),
            "/repos/Octo/Hello/pulls/comments/9/reactions",
        ),
    ];
    for (request, path) in paths {
        assert_eq!(
            (request.host.as_str(), request.target),
            ("ghe.example", crate::domain::github::Target::Path(path.into()))
        );
    }
    let reaction = put(&item(), &What::Reaction { on: Spot::Comment(9), content: Reaction::PlusOne }, "");
    assert_eq!(reaction.body.unwrap()["content"], "+1");
}

fn answer(status: u16, body: &str) -> Answer {
    Answer { status, body: body.into(), ..Answer::default() }
}

#[test]
fn ours_is_found_by_its_marker() {
    let page = json!([{"body": null}, {"body": "x <!-- m --> y", "node_id": "IC_1"}]);
    assert_eq!(found(&page, "<!-- m -->").as_deref(), Some("IC_1"));
    assert_eq!((found(&page, "<!-- n -->"), found(&json!({"message": "m"}), "m")), (None, None));
    let made = json!({"node_id": "IC_2", "html_url": "https://github.com/x"});
    assert_eq!(posted(&made), ("IC_2".to_owned(), "https://github.com/x".to_owned()));
    assert_eq!(posted(&json!(null)), (String::new(), String::new()));
}

#[test]
fn an_answer_that_is_no_answer_to_what_was_asked_tells_nothing() {
    let outage = |heard: Result<serde_json::Value, Untold>| matches!(heard, Err(Untold::Outage(_)));
    for (status, body) in [(304, ""), (200, ""), (204, ""), (200, "{}"), (200, r#"{"message":"x"}"#), (200, "null")] {
        let answer = Ok(answer(status, body));
        assert!(outage(heard_page("h", &answer, NOW)), "{answer:?}");
        assert!(outage(heard_comment("h", &answer, NOW)), "{answer:?}");
    }
    assert!(outage(heard("h", &Ok(answer(304, "")), NOW)));
    assert!(outage(heard_comment("h", &Ok(answer(200, "[]")), NOW)));
    assert_eq!(heard_page("h", &Ok(answer(200, "[null]")), NOW), Ok(json!([null])));
    assert_eq!(found(&json!([null]), "m"), None);
    assert!(heard_comment("h", &Ok(answer(201, r#"{"id":1}"#)), NOW).is_ok());
}

#[test]
fn limits_wait_outages_are_tried_again_and_what_may_not_be_ends() {
    let limit = |remaining| Limit { limit: 5000, remaining, reset: NOW.plus_seconds(900), resource: "core".into() };
    let heard = |answer: Answer| heard("h", &Ok(answer), NOW);
    let waits = [
        (Answer { retry_after: Some(7), ..answer(403, "") }, 7),
        (Answer { retry_after: Some(0), ..answer(429, "") }, 1),
        (Answer { limit: Some(limit(0)), ..answer(403, "") }, 900),
        (answer(403, r#"{"message":"You have exceeded a secondary rate limit"}"#), 60),
        (Answer { retry_after: Some(u64::MAX), ..answer(429, "") }, 3 * 3600),
    ];
    for (answer, seconds) in waits {
        let Err(Untold::Limited { until, .. }) = heard(answer.clone()) else { panic!("{answer:?}") };
        assert_eq!(until, NOW.plus_seconds(seconds), "{answer:?}");
    }
    assert_eq!(heard(answer(201, r#"{"id":1}"#)), Ok(json!({"id": 1})));
    for outage in [answer(500, ""), answer(502, "<html>"), answer(201, "<html>a portal</html>")] {
        assert!(matches!(heard(outage.clone()), Err(Untold::Outage(_))), "{outage:?}");
    }
    let forbidden = Answer { limit: Some(limit(9)), ..answer(403, r#"{"message":"Resource not accessible"}"#) };
    for never in [forbidden, answer(401, ""), answer(404, ""), answer(410, ""), answer(422, "")] {
        assert!(matches!(heard(never.clone()), Err(Untold::Never(_))), "{never:?}");
    }
    let unsent = |unsent: Unsent| super::heard("h", &Err(unsent), NOW);
    let host = || "h".to_owned();
    assert!(matches!(unsent(Unsent::NoToken { host: host(), unusable: None }), Err(Untold::Nobody(_))));
    assert!(matches!(unsent(Unsent::UnknownHost { host: host() }), Err(Untold::Nobody(_))));
    assert!(matches!(unsent(Unsent::Elsewhere { host: host(), origin: host() }), Err(Untold::Never(_))));
    assert!(matches!(unsent(Unsent::Unreachable { host: host(), why: host() }), Err(Untold::Outage(_))));
}
