//! The fake GitHub answers as GitHub documents: shapes, pages, validators, `since`, limits, faults.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value as Json, json};

use crate::fake_github::{Answered, Asked, FakeGitHub, Fault};

pub const REPO: &str = "octo/hello";
pub const NOON: i64 = 1_767_268_800;

/// A repository with issue 1 (two comments), pull request 2 (a review, a review comment, a check, a status) and the
/// token `t` of `loop`, who may do everything.
pub fn small() -> FakeGitHub {
    let mut fake = FakeGitHub::new(NOON);
    fake.add_repository(REPO, 7);
    fake.add_token("t", "loop", Some("repo"));
    for (login, role) in [("loop", "admin"), ("mona", "maintain"), ("nora", "triage"), ("gone", "none")] {
        fake.allow(REPO, login, role);
    }
    fake.open_issue(REPO, "mona", "Totals are wrong", "see the mean");
    fake.comment(REPO, 1, "mona", "first");
    fake.advance(5);
    fake.comment(REPO, 1, "hubot", "second");
    fake.open_pull(REPO, "mona", "issue-1", "Skip empty lines", "Closes #1");
    fake.review(REPO, 2, "nora", "changes_requested", "not yet");
    fake.review_comment(REPO, 2, "nora", ("sum.py", 3), "why?");
    let sha = fake.repo(REPO).head(2).to_owned();
    fake.check(REPO, &sha, "test", "success");
    fake.check(REPO, &sha, "test", "failure");
    fake.set_status(REPO, &sha, "mona", "ci/build", "error");
    fake
}

fn ask(fake: &mut FakeGitHub, method: &str, path: &str, body: Json, etag: Option<&str>) -> Answered {
    let mut headers = vec![("authorization".to_owned(), "Bearer t".to_owned())];
    headers.extend(etag.map(|etag| ("If-None-Match".to_owned(), etag.to_owned())));
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    fake.answer(&Asked { method: method.to_owned(), path_and_query: path.to_owned(), headers, body })
}

pub fn get(fake: &mut FakeGitHub, path: &str) -> Answered {
    ask(fake, "GET", path, Json::Null, None)
}

pub fn post(fake: &mut FakeGitHub, path: &str, body: Json) -> Answered {
    ask(fake, "POST", path, body, None)
}

pub fn read(answered: &Answered) -> Json {
    serde_json::from_slice(&answered.body).unwrap()
}

/// What `get` answers with, each item reduced to one key.
fn list(fake: &mut FakeGitHub, path: &str, key: &str) -> Vec<Json> {
    read(&get(fake, path)).as_array().unwrap().iter().map(|item| item[key].clone()).collect()
}

#[rstest]
#[case::repository("/repos/octo/hello", "full_name", json!("octo/hello"))]
#[case::case_is_ignored("/repos/Octo/HELLO", "id", json!(7))]
#[case::by_id("/repositories/7", "html_url", json!("https://github.com/octo/hello"))]
#[case::issue("/repos/octo/hello/issues/1", "comments", json!(2))]
#[case::issue_by_id("/repositories/7/issues/1", "url", json!("https://api.github.com/repos/octo/hello/issues/1"))]
#[case::updated("/repos/octo/hello/issues/1", "updated_at", json!("2026-01-01T12:00:05Z"))]
#[case::pull("/repos/octo/hello/pulls/2", "merged", json!(false))]
#[case::permission("/repos/octo/hello/collaborators/MONA/permission", "role_name", json!("maintain"))]
#[case::legacy("/repos/octo/hello/collaborators/mona/permission", "permission", json!("write"))]
#[case::triage("/repos/octo/hello/collaborators/nora/permission", "permission", json!("read"))]
#[case::stranger("/repos/octo/hello/collaborators/hubot/permission", "role_name", json!("read"))]
#[case::nobody("/repos/octo/hello/collaborators/gone/permission", "permission", json!("none"))]
fn objects_are_githubs(#[case] path: &str, #[case] key: &str, #[case] value: Json) {
    let mut fake = small();
    let answered = get(&mut fake, path);
    assert_eq!((answered.status, &read(&answered)[key]), (200, &value), "{path}");
    assert_eq!(answered.header("date"), Some("Thu, 01 Jan 2026 12:00:05 GMT"));
    assert_eq!(answered.header("x-oauth-scopes"), Some("repo"));
    assert_eq!(answered.header("x-ratelimit-remaining"), Some("4999"));
    assert!(answered.header("x-github-request-id").is_some());
}

#[rstest]
#[case("/repos/octo/other", 404)]
#[case("/repos/octo/hello/issues/9", 404)]
#[case("/repos/octo/hello/issues/comments/9", 404)]
#[case("/repos/octo/hello/pulls/1", 404)]
#[case("/repos/octo/hello/commits/beef/check-runs", 422)]
#[case("/repos/octo/hello/collaborators/ghost/permission", 404)]
#[case("/api/v3/repos/octo/hello", 404)]
#[case("/elsewhere", 404)]
fn what_is_not_there_is_refused_in_json(#[case] path: &str, #[case] status: u16) {
    let answered = get(&mut small(), path);
    assert_eq!(answered.status, status, "{path}");
    assert!(read(&answered)["message"].is_string());
}

#[test]
fn issues_are_listed_with_pull_requests_in_the_order_asked_for() {
    let mut fake = small();
    fake.advance(10);
    fake.label(REPO, 1, "mona", "bug");
    fake.open_issue(REPO, "mona", "Another", "");
    fake.close(REPO, 3, "mona");
    for (query, numbers) in [
        ("", json!([2, 1])),
        ("?state=all", json!([3, 2, 1])),
        ("?state=closed", json!([3])),
        ("?state=all&sort=updated&direction=asc", json!([2, 1, 3])),
        ("?state=all&sort=comments", json!([1, 2, 3])),
        ("?labels=Bug", json!([1])),
        ("?labels=bug,other", json!([])),
        ("?state=all&since=2026-01-01T12:00:15Z&direction=asc", json!([1, 3])),
        ("?state=all&since=2026-01-01T12:00:16Z", json!([])),
        ("?state=all&since=2026-01-01T13:00:15%2B01:00&direction=asc", json!([1, 3])),
    ] {
        assert_eq!(json!(list(&mut fake, &format!("/repos/octo/hello/issues{query}"), "number")), numbers, "{query}");
    }
    let issues = read(&get(&mut fake, "/repos/octo/hello/issues"));
    assert!(issues[0]["pull_request"]["url"].as_str().unwrap().ends_with("/pulls/2"));
    assert!(issues[1].get("pull_request").is_none());
    assert_eq!(list(&mut fake, "/repos/octo/hello/pulls?head=octo:issue-1", "number"), [json!(2)]);
    assert!(list(&mut fake, "/repos/octo/hello/pulls?head=octo:other", "number").is_empty());
}

#[test]
fn what_is_said_is_listed_where_it_was_said() {
    let mut fake = small();
    let first = fake.repo(REPO).comments.keys().next().copied().unwrap();
    fake.advance(5);
    fake.edit_comment(REPO, first, "mona", "first, better");
    for (path, key, values) in [
        ("/issues/comments", "body", json!(["first, better", "second"])),
        ("/issues/comments?sort=updated&direction=asc", "body", json!(["second", "first, better"])),
        ("/issues/comments?sort=created&direction=desc", "body", json!(["second", "first, better"])),
        ("/issues/comments?direction=desc", "body", json!(["first, better", "second"])),
        ("/issues/comments?since=2026-01-01T12:00:10Z", "updated_at", json!(["2026-01-01T12:00:10Z"])),
        ("/issues/1/comments?since=2026-01-01T12:00:10Z", "created_at", json!(["2026-01-01T12:00:00Z"])),
        ("/issues/2/comments", "body", json!([])),
        ("/pulls/comments", "path", json!(["sum.py"])),
        ("/pulls/2/comments", "line", json!([3])),
        ("/pulls/2/reviews", "state", json!(["CHANGES_REQUESTED"])),
    ] {
        let path = format!("/repos/octo/hello{path}");
        assert_eq!(json!(list(&mut fake, &path, key)), values, "{path}");
    }
    let sha = fake.repo(REPO).head(2).to_owned();
    let checks = read(&get(&mut fake, &format!("/repos/octo/hello/commits/{sha}/check-runs")));
    assert_eq!((&checks["total_count"], &checks["check_runs"][0]["conclusion"]), (&json!(1), &json!("failure")));
    assert_eq!(checks["check_runs"][0]["pull_requests"][0]["number"], 2);
    let all = read(&get(&mut fake, &format!("/repos/octo/hello/commits/{sha}/check-runs?filter=all")));
    assert_eq!(all["total_count"], 2);
    let status = read(&get(&mut fake, &format!("/repos/octo/hello/commits/{sha}/status")));
    assert_eq!((&status["state"], &status["statuses"][0]["context"]), (&json!("failure"), &json!("ci/build")));
}

#[test]
fn pages_are_linked_by_absolute_addresses() {
    let mut fake = small();
    for nth in 0..5 {
        fake.comment(REPO, 1, "mona", &format!("more {nth}"));
    }
    let base = "https://api.github.com/repositories/7/issues/comments?sort=created&per_page=3";
    let page = |n: u32, rel: &str| format!("<{base}&page={n}>; rel=\"{rel}\"");
    for (at, bodies, link) in [
        ("", 3, [page(2, "next"), page(3, "last")].join(", ")),
        ("&page=2", 3, [page(1, "prev"), page(3, "next"), page(3, "last"), page(1, "first")].join(", ")),
        ("&page=3", 1, [page(2, "prev"), page(1, "first")].join(", ")),
        ("&page=9", 0, [page(3, "prev"), page(1, "first")].join(", ")),
    ] {
        let answered = get(&mut fake, &format!("/repos/octo/hello/issues/comments?sort=created&per_page=3{at}"));
        assert_eq!(read(&answered).as_array().unwrap().len(), bodies, "{at}");
        assert_eq!(answered.header("link"), Some(link.as_str()), "{at}");
    }
    for _ in 0..120 {
        fake.comment(REPO, 2, "mona", "much");
    }
    for (query, length) in [("", 30), ("?per_page=100", 100), ("?per_page=500", 100)] {
        assert_eq!(list(&mut fake, &format!("/repos/octo/hello/issues/2/comments{query}"), "id").len(), length);
    }
}

#[test]
fn an_unchanged_page_is_304_with_its_fresh_link_and_costs_nothing() {
    let mut fake = small();
    let path = "/repos/octo/hello/issues/comments?per_page=2";
    let first = get(&mut fake, path);
    let etag = first.header("etag").unwrap().to_owned();
    assert!(etag.starts_with("W/\"") && first.header("link").is_none());
    fake.comment(REPO, 1, "mona", "on page two");
    let same = ask(&mut fake, "GET", path, Json::Null, Some(&etag));
    assert_eq!((same.status, same.body.len()), (304, 0));
    assert_eq!(same.header("etag"), Some(etag.as_str()));
    assert!(same.header("link").unwrap().contains("page=2>; rel=\"next\""));
    assert!(same.header("date").is_some());
    assert_eq!(same.header("x-ratelimit-remaining"), Some("4999"));
    let first = fake.repo(REPO).comments.keys().next().copied().unwrap();
    fake.edit_comment(REPO, first, "mona", "changed");
    assert_eq!(ask(&mut fake, "GET", path, Json::Null, Some(&etag)).status, 200);
}

#[test]
fn comments_and_reactions_are_added_once_and_by_whom_the_token_is() {
    let mut fake = small();
    let posted = post(&mut fake, "/repos/octo/hello/issues/1/comments", json!({"body": "from the loop"}));
    let comment = read(&posted);
    assert_eq!((posted.status, &comment["user"]["login"]), (201, &json!("loop")));
    assert_eq!(posted.header("location"), comment["url"].as_str());
    assert_eq!(read(&get(&mut fake, &format!("/repos/octo/hello/issues/comments/{}", comment["id"]))), comment);
    let on_diff = *fake.repo(REPO).review_comments.keys().next().unwrap();
    for path in [
        format!("issues/comments/{}", comment["id"]),
        format!("pulls/comments/{on_diff}"),
        "issues/1".to_owned(),
        "issues/2".to_owned(),
    ] {
        let path = format!("/repos/octo/hello/{path}/reactions");
        let eyes = || json!({"content": "eyes"});
        let (first, second) = (post(&mut fake, &path, eyes()), post(&mut fake, &path, eyes()));
        assert_eq!((first.status, second.status), (201, 200), "{path}");
        assert_eq!(read(&first), read(&second));
        assert_eq!(json!(list(&mut fake, &path, "content")), json!(["eyes"]));
        assert_eq!(post(&mut fake, &path, json!({"content": "shrug"})).status, 422);
    }
    assert_eq!(read(&get(&mut fake, "/repos/octo/hello/issues/1"))["reactions"]["eyes"], 1);
    for (path, body, status) in [
        ("/repos/octo/hello/issues/1/comments", json!({"body": ""}), 422),
        ("/repos/octo/hello/issues/1/comments", json!({"body": "x".repeat(65_537)}), 422),
        ("/repos/octo/hello/issues/9/comments", json!({"body": "x"}), 404),
        ("/repos/octo/hello/issues/9/reactions", json!({"content": "eyes"}), 404),
    ] {
        assert_eq!(post(&mut fake, path, body).status, status, "{path}");
    }
}

#[test]
fn a_locked_issue_takes_comments_of_collaborators_alone() {
    let mut fake = small();
    fake.lock(REPO, 1, "mona");
    let comment = json!({"body": "x"});
    assert_eq!(post(&mut fake, "/repos/octo/hello/issues/1/comments", comment.clone()).status, 201);
    fake.allow(REPO, "loop", "read");
    assert_eq!(post(&mut fake, "/repos/octo/hello/issues/1/comments", comment).status, 403);
    assert_eq!(get(&mut fake, "/repos/octo/hello/collaborators/mona/permission").status, 403);
    assert_eq!(get(&mut fake, "/repos/octo/hello/hooks").status, 404);
}

#[test]
fn what_went_elsewhere_redirects_and_what_was_deleted_is_gone() {
    let mut fake = small();
    fake.rename(REPO, "hallo", "octo");
    let old = get(&mut fake, "/repos/octo/hello/issues?state=all&page=2");
    assert_eq!(old.status, 301);
    assert_eq!(old.header("location"), Some("https://api.github.com/repositories/7/issues?state=all&page=2"));
    assert_eq!(post(&mut fake, "/repos/octo/hello/issues/1/comments", json!({"body": "x"})).status, 307);
    assert_eq!(read(&get(&mut fake, "/repositories/7"))["full_name"], "octo/hallo");

    fake.add_repository("octo/other", 8);
    fake.number_next("octo/other", 31);
    assert_eq!(fake.transfer("octo/hallo", 1, "octo/other", "octo"), 31);
    let moved = get(&mut fake, "/repos/octo/hallo/issues/1");
    assert_eq!(moved.status, 301);
    assert_eq!(moved.header("location"), Some("https://api.github.com/repositories/8/issues/31"));
    assert_eq!(list(&mut fake, "/repositories/8/issues/31/comments", "body").len(), 2);
    assert!(list(&mut fake, "/repositories/7/issues/comments", "body").is_empty());
    fake.delete_issue("octo/other", 31, "octo");
    assert_eq!(get(&mut fake, "/repositories/8/issues/31").status, 410);
    assert!(list(&mut fake, "/repositories/8/issues?state=all", "number").is_empty());
}

#[test]
fn linked_issues_are_told_by_graphql() {
    let mut fake = small();
    fake.add_repository("octo/other", 8);
    fake.open_issue("octo/other", "mona", "There too", "");
    fake.link(REPO, 2, REPO, 1);
    fake.link(REPO, 2, "octo/other", 1);
    let mut asked = |owner: &str, number: u64| {
        let variables = json!({"owner": owner, "name": "hello", "number": number});
        let answered =
            post(&mut fake, "/graphql", json!({"query": "{ closingIssuesReferences }", "variables": variables}));
        assert_eq!((answered.status, answered.header("x-ratelimit-resource")), (200, Some("graphql")));
        read(&answered)
    };
    let linked = asked("octo", 2);
    let nodes = &linked["data"]["repository"]["pullRequest"]["closingIssuesReferences"]["nodes"];
    assert_eq!((&nodes[0]["number"], &nodes[0]["repository"]["nameWithOwner"]), (&json!(1), &json!("octo/hello")));
    assert_eq!(nodes[1]["repository"]["nameWithOwner"], "octo/other");
    assert_eq!(asked("nobody", 2)["errors"][0]["type"], "NOT_FOUND");
    assert_eq!(asked("octo", 1)["data"]["repository"]["pullRequest"], Json::Null);
}

#[test]
fn enterprise_lives_below_its_base() {
    let mut fake = FakeGitHub::new(NOON).enterprise("https://ghe.example");
    fake.add_token("t", "octo", None);
    fake.add_repository(REPO, 101);
    fake.open_issue(REPO, "mona", "One", "see https://github.com/octo/hello");
    fake.open_issue(REPO, "mona", "Two", "");
    let answered = get(&mut fake, "/api/v3/repos/octo/hello/issues?per_page=1&direction=asc");
    assert!(answered.header("x-oauth-scopes").is_none());
    let next = "<https://ghe.example/api/v3/repositories/101/issues?per_page=1&direction=asc&page=2>; rel=\"next\"";
    assert!(answered.header("link").unwrap().starts_with(next), "{answered:?}");
    let issue = &read(&answered)[0];
    assert_eq!(issue["html_url"], "https://ghe.example/octo/hello/issues/1");
    assert_eq!(issue["url"], "https://ghe.example/api/v3/repos/octo/hello/issues/1");
    assert_eq!(issue["body"], "see https://github.com/octo/hello");
    assert_eq!(get(&mut fake, "/repos/octo/hello").status, 404);
    assert_eq!(
        post(&mut fake, "/api/graphql", json!({"query": "{ x }"})).header("x-ratelimit-resource"),
        Some("graphql")
    );
}

#[test]
fn tokens_and_limits_are_counted_per_token() {
    let mut fake = small();
    let bare = |authorization: Option<&str>| Asked {
        method: "GET".into(),
        path_and_query: "/repos/octo/hello".into(),
        headers: authorization.map(|value| ("Authorization".to_owned(), value.to_owned())).into_iter().collect(),
        body: Vec::new(),
    };
    assert_eq!(fake.answer(&bare(None)).status, 401);
    assert_eq!(fake.answer(&bare(Some("Bearer other"))).status, 401);
    fake.leave_requests("t", 1);
    assert_eq!(get(&mut fake, "/repos/octo/hello").header("x-ratelimit-remaining"), Some("0"));
    let refused = get(&mut fake, "/repos/octo/hello");
    assert_eq!((refused.status, refused.header("x-ratelimit-remaining")), (403, Some("0")));
    assert_eq!(read(&get(&mut fake, "/rate_limit"))["rate"]["remaining"], 0);
    let reset: i64 = refused.header("x-ratelimit-reset").unwrap().parse().unwrap();
    fake.advance(reset - fake.now());
    assert_eq!(get(&mut fake, "/repos/octo/hello").header("x-ratelimit-remaining"), Some("4999"));
    assert_eq!(fake.count(|seen| seen.token.as_deref() == Some("t") && seen.status == 200), 3);
    assert_eq!(fake.requests()[0].status, 401);
    fake.forget_requests();
    fake.revoke("t");
    assert_eq!(get(&mut fake, "/rate_limit").status, 401);
    assert_eq!(fake.requests().len(), 1);
}

#[rstest]
#[case::bad_gateway(Fault::BadGateway, 502, "x-ratelimit-limit", None)]
#[case::secondary(Fault::SecondaryLimit(None), 403, "x-ratelimit-remaining", None)]
#[case::retry_after(Fault::SecondaryLimit(Some(9)), 403, "retry-after", Some("9"))]
#[case::primary(Fault::PrimaryLimit(429, 60), 429, "x-ratelimit-remaining", Some("0"))]
#[case::permission(Fault::Forbidden, 403, "x-ratelimit-remaining", Some("4871"))]
#[case::not_found(Fault::NotFound, 404, "link", None)]
#[case::gone(Fault::Gone, 410, "link", None)]
fn faults_take_the_place_of_the_answer(
    #[case] fault: Fault,
    #[case] status: u16,
    #[case] header: &str,
    #[case] value: Option<&str>,
) {
    let mut fake = small();
    fake.fail_next(2, |asked| asked.path().ends_with("/issues/1"), fault);
    assert_eq!(get(&mut fake, "/repos/octo/hello").status, 200);
    for _ in 0..2 {
        let answered = get(&mut fake, "/repos/octo/hello/issues/1");
        assert_eq!((answered.status, answered.header(header)), (status, value));
    }
    assert_eq!(get(&mut fake, "/repos/octo/hello/issues/1").status, 200);
}

#[test]
fn a_lost_answer_is_done_and_a_closed_connection_is_not() {
    let mut fake = small();
    let path = "/repos/octo/hello/issues/2/comments";
    for (fault, comments, status) in [(Fault::Close, 0, 0), (Fault::AnswerLost, 1, 201)] {
        fake.fail_next(1, |asked| asked.method == "POST", fault.clone());
        assert!(post(&mut fake, path, json!({"body": "x"})).is_lost, "{fault:?}");
        assert_eq!(list(&mut fake, path, "body").len(), comments, "{fault:?}");
        assert_eq!(fake.count(|seen| seen.method == "POST" && seen.status == status), 1, "{fault:?}");
    }
    fake.fail_next(1, |_| true, Fault::Delay(Duration::from_secs(3)));
    assert_eq!(get(&mut fake, path).delay, Duration::from_secs(3));
}

#[test]
fn replicas_lag_and_lists_shift_between_pages() {
    let mut fake = small();
    fake.remember(60);
    let path = "/repos/octo/hello/issues/1/comments";
    fake.advance(10);
    fake.comment(REPO, 1, "mona", "third");
    fake.advance(2);
    fake.fail_next(2, |_| true, Fault::Stale(5));
    assert_eq!(list(&mut fake, path, "body").len(), 2);
    assert_eq!(post(&mut fake, path, json!({"body": "fourth"})).status, 201);
    assert_eq!(list(&mut fake, path, "body").len(), 4);

    let open = "/repos/octo/hello/issues?sort=updated&direction=asc&per_page=1";
    fake.after_next(|asked| !asked.path_and_query.contains("page=2"), |fake| fake.close(REPO, 2, "mona"));
    let first = list(&mut fake, open, "number");
    assert!(list(&mut fake, &format!("{open}&page=2"), "number").is_empty(), "{first:?} then nothing");
}

#[test]
fn chances_follow_from_the_seed() {
    let run = |seed: u64| -> Vec<u16> {
        let mut fake = small();
        fake.fail_sometimes(30, seed, |_| true, Fault::BadGateway);
        let answers = (0..200).map(|_| get(&mut fake, "/repos/octo/hello").status).collect();
        fake.heal();
        assert_eq!(get(&mut fake, "/repos/octo/hello").status, 200);
        answers
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    assert!((30..90).contains(&run(1).iter().filter(|status| **status == 502).count()));
}
