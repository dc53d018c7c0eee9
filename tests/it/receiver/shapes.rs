//! The payloads tests, benches and the demonstration send: complete, and signed as GitHub signs.

use serde_json::Value;
use the_loop::daemon::receiver::Limits;

use crate::payloads::{Item, Repo, Said, sign};

use super::client::{once, post_with};
use super::server::{FakeDoor, Server};

const AT: &str = "2026-01-02T03:04:05Z";

/// One of each, with its event's name.
fn one_of_each() -> Vec<(&'static str, Value)> {
    let repo = Repo::new("octo/hello", 186_853_002);
    let issue = Item::issue(15, "mona", AT).labeled(&["bug", "the-loop: auto-execute"]);
    let pull = Item::pull(&repo, 16, "issue-15", "mona", AT);
    let said = |id| Said::new(id, "mona", "please look again", AT);
    let mut merged = pull.clone().closed("2026-01-03T03:04:05Z");
    if let Some(pull) = &mut merged.pull {
        (pull.merged, pull.head_repo) = (true, None);
    }
    vec![
        ("issues", repo.issues("opened", &issue, "mona")),
        ("issues", repo.issues_label("labeled", &issue, "bug", "mona")),
        ("issue_comment", repo.issue_comment_created(&issue, &said(1))),
        ("issue_comment", repo.issue_comment_created(&pull, &said(2))),
        ("pull_request", repo.pull_request("opened", &pull, "mona")),
        ("pull_request", repo.pull_request("closed", &merged, "mona")),
        ("pull_request_review", repo.review_submitted(&pull, "changes_requested", &said(3))),
        ("pull_request_review_comment", repo.review_comment_created(&pull, "sum.py", 3, &said(4))),
        ("check_run", repo.check_run_completed(5, "test", "failure", &format!("{:040x}", 16), &[16], AT)),
        ("ping", repo.ping("mona")),
    ]
}

#[test]
fn shapes_have_what_githubs_have() {
    for (name, body) in one_of_each() {
        assert_eq!(body["repository"]["full_name"], "octo/hello", "{name}");
        assert!(body["sender"]["login"].is_string(), "{name}");
        assert!(body["repository"]["archive_url"].as_str().unwrap().ends_with("{archive_format}{/ref}"), "{name}");
        assert!(body["repository"]["issues_url"].as_str().unwrap().ends_with("/issues{/number}"), "{name}");
        let size = body.to_string().len();
        assert!((4_000..40_000).contains(&size), "{name}: {size}");
    }
    let on_pull = &one_of_each()[3].1;
    assert!(on_pull["issue"]["pull_request"]["url"].is_string());
    assert_eq!(one_of_each()[5].1["pull_request"]["head"]["repo"], Value::Null);
}

#[test]
fn w01_signatures_are_githubs() {
    let secret = b"It's a Secret to Everybody";
    let expected = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    assert_eq!(sign(secret, b"Hello, World!"), expected);
}

#[test]
fn every_shape_arrives_byte_for_byte() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    for (name, body) in one_of_each() {
        let body = body.to_string().into_bytes();
        let headers = format!("X-GitHub-Event: {name}\r\nX-Hub-Signature-256: {}\r\n", sign(b"secret", &body));
        assert_eq!(once(server.address, &post_with(&headers, &body)).status, 202, "{name}");
        let seen = door.seen.lock().unwrap().pop().unwrap();
        assert_eq!(seen.headers.signatures, [sign(b"secret", &seen.body)]);
        assert_eq!((seen.headers.event.as_deref(), seen.body.as_ref()), (Some(name), body.as_ref()));
    }
}
