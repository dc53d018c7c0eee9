//! The fake GitHub on a socket and behind the product's port: what is answered is the same.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use the_loop::domain::github::{GitHub, Request, Target, Unsent, repo_path};
use the_loop::domain::reference::RepoRef;

use super::fake::{NOON, REPO, read, small};
use crate::fake_github::port::Hosts;
use crate::fake_github::server::Server;
use crate::fake_github::{Answered, FakeGitHub, Fault};
use crate::receiver::client::Client;

fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
}

#[test]
fn one_connection_carries_many_requests() {
    let server = Server::start(small());
    let base = server.api_url();
    let mut client = Client::connect(server.address());
    let first = client.send(request("GET", "/repos/octo/hello/issues?per_page=1", "", "")).reply();
    assert_eq!(first.status, 200);
    assert!(first.header("link").unwrap().starts_with(&format!("<{base}/repositories/7/issues?")), "{first:?}");
    let posted =
        client.send(request("POST", "/repos/octo/hello/issues/1/comments", "", "{\"body\":\"grüße\"}")).reply();
    assert_eq!(posted.status, 201);
    assert!(posted.body.contains("grüße"));
    let chunked = "POST /repos/octo/hello/issues/1/comments HTTP/1.1\r\nAuthorization: Bearer t\r\n\
        Transfer-Encoding: chunked\r\n\r\n8\r\n{\"body\":\r\n4\r\n\"x\"}\r\n0\r\n\r\n";
    assert_eq!(client.send(chunked).reply().status, 201);
    let last = client.send(request("GET", "/repos/octo/hello", "Connection: close\r\n", "")).reply();
    assert_eq!((last.status, last.header("connection")), (200, Some("close")));
    client.closed();
    assert_eq!(server.github().requests().len(), 4);
}

#[test]
fn an_unchanged_page_has_no_body_on_the_wire() {
    let server = Server::start(small());
    let mut client = Client::connect(server.address());
    let etag = client.send(request("GET", "/repos/octo/hello", "", "")).reply().header("etag").unwrap().to_owned();
    let known = format!("If-None-Match: {etag}\r\n");
    client.send(request("GET", "/repos/octo/hello", &known, ""));
    // 304 has no body and no length: like an answer to HEAD, as far as the bytes go.
    assert_eq!(client.reply_to("HEAD").status, 304);
    assert_eq!(client.send(request("GET", "/repos/octo/hello", "", "")).reply().status, 200);
}

#[test]
fn a_lost_answer_closes_the_connection_and_the_end_interrupts_a_delay() {
    let server = Server::start(small());
    server.github().fail_next(1, |_| true, Fault::AnswerLost);
    let mut client = Client::connect(server.address());
    client.send(request("GET", "/repos/octo/hello", "", "")).closed();
    server.github().fail_next(1, |_| true, Fault::Delay(Duration::from_secs(600)));
    let mut waiting = Client::connect(server.address());
    waiting.send(request("GET", "/repos/octo/hello", "", ""));
    crate::support::wait_for("the request", Duration::from_secs(10), || server.github().requests().len() == 2);
    let began = Instant::now();
    drop(server);
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(waiting.reply_or_end().is_none());
}

#[test]
fn a_running_clock_is_as_far_from_the_machines_as_it_was_set() {
    let seconds = || jiff::Timestamp::now().as_second();
    for offset in [-300, 0, 300] {
        let mut fake = FakeGitHub::running(offset);
        fake.add_repository_without_hook(REPO, 7);
        fake.add_token("t", "octo", None);
        let before = seconds();
        let number = fake.open_issue(REPO, "mona", "One", "");
        let after = seconds();
        assert!((before + offset..=after + offset).contains(&fake.repo(REPO).ticket(number).created_at), "{offset}");
        assert!(fake.take_deliveries().is_empty());
    }
}

#[test]
fn socket_and_port_show_one_github() {
    let server = Server::start(small());
    let hosts = Hosts::default().with("github.com", &server.shared(), Some("t"));
    let words = serde_json::json!({"body": "by the port"});
    assert_eq!(
        hosts.send(&Request::post("github.com", "/repos/octo/hello/issues/1/comments", words)).unwrap().status,
        201
    );
    let mut client = Client::connect(server.address());
    let listed = client.send(request("GET", "/repos/octo/hello/issues/1/comments", "", "")).reply();
    assert!(listed.body.contains("by the port"));
}

fn hosts() -> (Hosts, Arc<Mutex<FakeGitHub>>, Arc<Mutex<FakeGitHub>>) {
    let public = Arc::new(Mutex::new(small()));
    let mut enterprise = FakeGitHub::new(NOON).enterprise("https://ghe.example");
    enterprise.add_token("e", "octo", None);
    enterprise.add_repository(REPO, 101);
    let enterprise = Arc::new(Mutex::new(enterprise));
    let hosts = Hosts::default();
    let hosts = hosts.with("github.com", &public, Some("t")).with("ghe.example", &enterprise, Some("e"));
    (hosts.with("bare.example", &enterprise, None), public, enterprise)
}

#[test]
fn the_port_asks_the_host_of_the_request() {
    let (hosts, public, enterprise) = hosts();
    let path = repo_path(&RepoRef::parse(REPO).unwrap());
    let one = hosts.send(&Request::get("github.com", path.as_str())).unwrap();
    assert_eq!((one.status, one.date.map(|at| at.to_string())), (200, Some("2026-01-01T12:00:05Z".to_owned())));
    assert_eq!(one.limit.as_ref().map(|limit| (limit.remaining, limit.resource.as_str())), Some((4999, "core")));
    assert_eq!(hosts.send(&Request::get("github.com", path.as_str()).unless(one.etag)).unwrap().status, 304);
    let other = hosts.send(&Request::get("ghe.example", path.as_str())).unwrap();
    let other = read(&Answered { body: other.body, ..Answered::default() });
    assert_eq!(other["id"], 101);
    let query = "query { closingIssuesReferences }";
    assert_eq!(hosts.send(&Request::graphql("ghe.example", query, serde_json::json!({}))).unwrap().status, 200);
    let link = |url: &str| Request { target: Target::Link(url.to_owned()), ..Request::get("ghe.example", "") };
    assert_eq!(hosts.send(&link("https://ghe.example/api/v3/repositories/101/issues?page=2")).unwrap().status, 200);
    let elsewhere = hosts.send(&link("https://api.github.com/repositories/7"));
    assert!(matches!(elsewhere, Err(Unsent::Elsewhere { origin, .. }) if origin == "https://api.github.com"));
    assert!(matches!(hosts.can_ask("bare.example"), Err(Unsent::NoToken { .. })));
    assert!(matches!(hosts.can_ask("other.example"), Err(Unsent::UnknownHost { .. })));
    assert_eq!(public.lock().unwrap().requests().len(), 2);
    assert!(enterprise.lock().unwrap().requests().iter().all(|seen| seen.token.as_deref() == Some("e")));
}

#[test]
fn the_port_follows_a_renamed_repository_and_says_when_nobody_answers() {
    let (hosts, public, _) = hosts();
    public.lock().unwrap().rename(REPO, "hallo", "octo");
    let words = serde_json::json!({"body": "x"});
    let path = "/repos/octo/hello/issues/1/comments";
    assert_eq!(hosts.send(&Request::get("github.com", path)).unwrap().status, 200);
    assert_eq!(hosts.send(&Request::post("github.com", path, words.clone())).unwrap().status, 201);
    public.lock().unwrap().fail_next(1, |_| true, Fault::AnswerLost);
    let lost = hosts.send(&Request::post("github.com", "/repos/octo/hallo/issues/1/comments", words));
    assert!(matches!(lost, Err(Unsent::Unreachable { .. })));
    assert_eq!(public.lock().unwrap().repo(REPO).comments.len(), 4);
}
