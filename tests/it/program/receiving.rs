//! What the receiver of a running daemon takes in: once whatever its id, and nothing that is not signed and whole.

use std::io::Write as _;

use super::hub::{Answer, Connection, Delivery, LABEL, hello, reference, signed};
use super::world::{Ran, World};
use crate::payloads::Item;

#[test]
fn k08_51_redeliveries_are_one_effect_and_so_are_51_other_ids() {
    let world = World::shared();
    world.arm(&[80]);
    let comment = world.comment(80, "said once, heard once");
    world.send(&comment);
    for _ in 0..51 {
        assert_eq!(world.post(&comment).word(), "duplicate");
    }
    for n in 0..51 {
        world.send(&comment.again_as(&format!("other-{n}")));
    }
    assert_eq!(world.post(&comment).word(), "duplicate", "still known after all the others");
    world.say(80, "the last word on 80");
    world.wait_heard(&reference(80), "the last word on 80");
    assert_eq!(world.times(&reference(80), "said once, heard once"), 1);
    let dropped = world.events("routing.dropped");
    let same = dropped.iter().filter(|event| event["reason"] == "same-event");
    assert_eq!(same.filter(|event| event["delivery"].as_str().unwrap().starts_with("other-")).count(), 51);
}

#[test]
fn a_redelivery_of_what_is_nothing_to_us_is_a_duplicate_too() {
    let world = World::shared();
    let edited = world.comment(81, "edited").changed(|body| body["action"] = "edited".into());
    let starred = Delivery::new("star", &serde_json::json!({ "action": "created" }));
    for delivery in [edited, starred] {
        world.send(&delivery);
        for _ in 0..2 {
            let answer = world.post(&delivery);
            assert_eq!((answer.status, answer.word().as_str()), (202, "duplicate"), "{answer:?}");
        }
        world.send(&delivery.again_as(&format!("{}-2", delivery.id)));
    }
}

#[test]
fn k10_r10_a_missing_or_odd_delivery_id_is_refused_and_never_shared() {
    let world = World::shared();
    world.arm(&[10]);
    let comments: Vec<Delivery> = (0..5).map(|n| world.comment(10, &format!("without an id {n}"))).collect();
    let long = "1".repeat(10_000);
    let headers = [None, Some(""), Some(long.as_str()), Some("../x"), Some("a b")];
    for (comment, id) in comments.iter().zip(headers) {
        let id = id.map(|id| format!("X-GitHub-Delivery: {id}\r\n")).unwrap_or_default();
        let headers = format!("{id}X-GitHub-Event: issue_comment\r\n");
        for _ in 0..2 {
            let answer = world.ask(&signed(&headers, &comment.body, &world.secret));
            assert!(matches!(answer.status, 400 | 431), "{id:.40}: {answer:?}");
        }
    }
    for comment in &comments {
        world.send(comment);
    }
    for n in 0..5 {
        let line = format!("without an id {n}");
        world.wait_heard(&reference(10), &line);
        assert_eq!(world.times(&reference(10), &line), 1);
    }
}

#[test]
fn r03_a_forged_request_does_not_burn_the_id() {
    let world = World::shared();
    world.arm(&[3]);
    let comment = world.comment(3, "the real one");
    let refused = world.ask(&comment.request("a guess"));
    assert_eq!(refused.status, 401);
    let unsigned = String::from_utf8(comment.request("a guess")).unwrap().replace("X-Hub-Signature-256", "X-Other");
    assert_eq!(world.ask(unsigned.as_bytes()), refused, "every refusal is the same answer");
    world.send(&comment);
    world.wait_heard(&reference(3), "the real one");
    assert_eq!(world.times(&reference(3), "the real one"), 1);
    world.wait_event("webhook.rejected", &[("delivery", &comment.id)]);
}

#[test]
fn r01_a_redelivery_keeps_its_id_and_is_one_event_across_a_restart() {
    let world = World::new("");
    world.arm(&[7]);
    let comment = world.comment(7, "three arrivals, one event").again_as("11111111-2222-3333-4444-555555555555");
    world.send(&comment);
    assert_eq!(world.post(&comment).word(), "duplicate");
    world.wait_heard(&reference(7), "three arrivals, one event");
    world.kill_9();
    world.start();
    let third = world.post(&comment);
    assert_eq!((third.status, third.word().as_str()), (202, "duplicate"));
    world.say(7, "afterwards");
    world.wait_heard(&reference(7), "afterwards");
    assert_eq!(world.times(&reference(7), "three arrivals, one event"), 1);
    let arrivals = world.events("webhook.received").into_iter().filter(|event| event["delivery"] == comment.id);
    let seen: Vec<bool> = arrivals.map(|event| event["seenBefore"] == true).collect();
    assert_eq!(seen, [false, true, true]);
}

#[test]
fn r05_labeled_before_opened_is_one_session_and_the_late_fact_resets_nothing() {
    let world = World::new("  control: {requireStartCommand: false}\n");
    let (opened, labeled) = (world.later(1), world.later(5));
    let mut item = Item { updated_at: labeled, ..Item::issue(12, "mona", &opened).labeled(&[LABEL]) };
    let label = hello().issues_label("labeled", &item, LABEL, "mona");
    world.send(&Delivery::new("issues", &label));
    world.wait_prompted(&reference(12));
    item.updated_at = opened;
    item.labels.clear();
    world.send(&Delivery::new("issues", &hello().issues("opened", &item, "mona")));
    world.say(12, "after both");
    world.wait_heard(&reference(12), "after both");
    assert_eq!(world.agents(&reference(12)).len(), 1, "one session");
    assert_eq!(world.state(&reference(12)), "live");
}

#[test]
fn k02_a_refused_delivery_acts_when_it_is_redelivered_after_the_configuration_was_fixed() {
    let world = World::new("  authorizedUsers: [somebody-else]\n");
    let start = world.comment(2, "the-loop start");
    for _ in 0..2 {
        world.send(&start);
    }
    let dropped = world.events("routing.dropped");
    assert_eq!(dropped.iter().filter(|event| event["reason"] == "unauthorized-actor").count(), 2, "{dropped:?}");
    assert!(world.agents(&reference(2)).is_empty());
    world.stop();
    world.configure("");
    world.start();
    world.send(&start);
    world.wait_prompted(&reference(2));
    assert_eq!(world.post(&start).word(), "duplicate", "and once only");
}

#[test]
fn k67_odd_and_oversize_requests_are_answered_and_harm_nothing() {
    let world = World::shared();
    let comment = world.comment(67, "whole");
    let headers = |id: &str| format!("X-GitHub-Delivery: {id}\r\nX-GitHub-Event: issue_comment\r\n");
    let ask = |id: &str, body: &[u8]| world.ask(&signed(&headers(id), body, &world.secret)).status;
    for (id, body) in [
        ("odd-1", &b"{\"a\":\"\xff\"}"[..]),
        ("odd-2", b""),
        ("odd-3", b"{"),
        ("odd-4", b"[1]"),
        ("odd-5", br#"{"a":1,"a":2}"#),
        ("odd-6", "[".repeat(100_000).as_bytes()),
    ] {
        assert_eq!(ask(id, body), 400, "{id}");
        world.wait_event("webhook.rejected", &[("delivery", id)]);
    }
    let request = String::from_utf8(comment.request(&world.secret)).unwrap();
    for (from, to, status) in [
        ("application/json", "text/plain", 415),
        ("Content-Type", "X-Type", 415),
        ("POST", "PUT", 405),
        ("/gh-webhook", "/other", 404),
        ("X-GitHub-Event: issue_comment", "X-GitHub-Event: ", 400),
    ] {
        assert_eq!(world.ask(request.replacen(from, to, 1).as_bytes()).status, status, "{to}");
    }
    // One byte more than is taken, said beforehand; the answer comes without the body.
    let cap = 25 * 1024 * 1024;
    let (head, _) = request.split_once("Content-Length").unwrap();
    let oversize = format!("{head}Content-Length: {}\r\n\r\n", cap + 1);
    assert_eq!(world.ask(oversize.as_bytes()).status, 413);
    assert_eq!(chunked(&world, head, cap + 1).status, 413);
    world.send(&comment);
}

/// Sends blanks in chunks until more than the cap went out, and reads the answer.
fn chunked(world: &World, head: &str, bytes: usize) -> Answer {
    let mut stream = std::net::TcpStream::connect(world.address().unwrap()).unwrap();
    let mut taken = write!(stream, "{head}Transfer-Encoding: chunked\r\n\r\n").is_ok();
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    for _ in 0..bytes.div_ceil(0x10000) {
        // The receiver may answer and close before everything went out.
        taken = taken && stream.write_all(chunk.as_bytes()).is_ok();
    }
    Connection::over(stream).and_then(|mut connection| connection.answer()).unwrap()
}

#[test]
fn k27_without_a_secret_the_daemon_does_not_start_and_says_what_to_do() {
    let world = World::asleep("");
    for secret in [None, Some("")] {
        let mut command = world.command("start --foreground");
        command.env_remove("THE_LOOP_GH_WEBHOOK_SECRET");
        command.envs(secret.map(|secret| ("THE_LOOP_GH_WEBHOOK_SECRET", secret)));
        let ran = command.output().map(Ran::of).unwrap();
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("\nhint: "), "{ran:?}");
        assert!(ran.stderr.contains("secret"), "{ran:?}");
    }
    // Nothing is left behind that would keep the next start from working.
    world.start();
}
