//! `the-loop webhook send`.

use std::net::TcpListener;

use super::receiver::Receiver;
use super::{Place, Ran};

/// GitHub's own test vector: this secret, this body, this digest.
const SECRET: &str = "It's a Secret to Everybody";
const BODY: &str = "Hello, World!";
const DIGEST: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

fn send(place: &Place, line: &str) -> Ran {
    let mut command = place.command(&format!("webhook send {line}"));
    command.env("THE_LOOP_GH_WEBHOOK_SECRET", SECRET).output().map(Ran::of).expect("the binary runs")
}

#[test]
fn w01_a_payload_is_signed_as_github_does_and_posted_byte_for_byte() {
    let place = Place::new();
    place.write("p.json", BODY);
    let receiver = Receiver::answering("HTTP/1.1 202 Accepted\r\nContent-Length: 17\r\n\r\n{\"taken\": \"once\"}");
    place.configure(&format!("webhooks: {{ghWebhook: {{port: {}, path: /hook}}}}\n", receiver.port));
    let ran = send(&place, "p.json --event push --delivery abc-1 --json");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let document = ran.json();
    assert_eq!((&document["status"], &document["answer"]["taken"]), (&202.into(), &"once".into()));
    let (head, body) = receiver.request();
    assert_eq!(body, BODY.as_bytes());
    assert!(head.starts_with("POST /hook HTTP/1.1\r\n"), "{head}");
    for line in ["X-GitHub-Event: push", "X-GitHub-Delivery: abc-1", &format!("X-Hub-Signature-256: sha256={DIGEST}")] {
        assert!(head.lines().any(|found| found == line), "{line} in {head}");
    }
}

#[test]
fn an_answer_that_is_no_success_is_exit_code_1() {
    let place = Place::new();
    place.write("p.json", r#"{"issue":{},"comment":{}}"#);
    let receiver = Receiver::answering("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\nno");
    let ran = send(&place, &format!("p.json --url http://127.0.0.1:{}/x", receiver.port));
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("401 Unauthorized\nno\n"), "{}", ran.stdout);
    assert!(receiver.request().0.contains("X-GitHub-Event: issue_comment"));
}

#[test]
fn nobody_there_and_no_answer_are_exit_code_3_with_a_hint() {
    let place = Place::new();
    place.write("p.json", "{}");
    let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a port").port();
    let silent = Receiver::answering("");
    let strange = Receiver::answering("SSH-2.0-x\r\n\r\n");
    for port in [free, silent.port, strange.port] {
        let ran = send(&place, &format!("p.json --event push --url http://127.0.0.1:{port}/"));
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(&port.to_string()) && ran.stderr.contains("\nhint: "), "{}", ran.stderr);
    }
}

#[test]
fn without_a_secret_nothing_is_sent_unless_the_receiver_takes_it_so() {
    let place = Place::new();
    place.write("p.json", "{}");
    let ran = place.run("webhook send p.json --event push");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("THE_LOOP_GH_WEBHOOK_SECRET"), "{}", ran.stderr);
    let receiver = Receiver::answering("HTTP/1.1 202 Accepted\r\n\r\n");
    place.configure(&format!("webhooks: {{ghWebhook: {{port: {}, allowUnsigned: true}}}}\n", receiver.port));
    let ran = place.run("webhook send p.json --event push -q");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(!receiver.request().0.contains("X-Hub-Signature"));
}

#[test]
fn what_was_written_wrongly_is_exit_code_2() {
    let place = Place::new();
    place.write("p.json", "{}");
    for line in [
        "p.json",
        "p.json --event Push",
        "p.json --event push --url https://127.0.0.1/",
        "p.json --event push --delivery ../x",
    ] {
        let ran = send(&place, line);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}: {}", ran.stderr);
    }
    let ran = send(&place, "gone.json --event push");
    assert!(ran.code == 1 && ran.stderr.contains("gone.json"), "{}", ran.stderr);
}
