//! The examples, signed and posted to the real daemon.

use std::collections::HashMap;

use serde_json::Value as Json;
use the_loop::domain::event::Content;
use the_loop::domain::event::body::MediaType;

use super::examples::{Corpus, Example, corpus, fresh_id, logins};
use crate::payloads::sign;
use crate::program::hub::{Answer, Connection};
use crate::program::world::{PATIENCE, World};
use crate::support::wait_for;

/// One signed request.
pub struct Request<'a> {
    pub id: &'a str,
    pub event: &'a str,
    pub media: MediaType,
    pub body: &'a [u8],
    /// What the signature is made over.
    pub signed: &'a [u8],
}

impl<'a> Request<'a> {
    pub fn of(example: &'a Example, id: &'a str) -> Self {
        let body = &example.body;
        Self { id, event: &example.event, media: MediaType::Json, body, signed: body }
    }

    fn bytes(&self, secret: &str) -> Vec<u8> {
        let media = match self.media {
            MediaType::Json => "application/json",
            MediaType::Form => "application/x-www-form-urlencoded",
        };
        let head = format!(
            "POST /gh-webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media}\r\nX-GitHub-Delivery: {}\r\n\
             X-GitHub-Event: {}\r\nX-Hub-Signature-256: {}\r\nContent-Length: {}\r\n\r\n",
            self.id,
            self.event,
            sign(secret.as_bytes(), self.signed),
            self.body.len()
        );
        [head.as_bytes(), self.body].concat()
    }
}

/// Posts everything over connections that stay open, one after the other on each; the answers, in the order of the
/// requests.
pub fn post_all(world: &World, connections: usize, requests: &[Request<'_>]) -> Vec<Answer> {
    let address = world.address().expect("a running daemon");
    let post = |part: &[Request<'_>]| -> Vec<Answer> {
        let mut connection = Connection::open(address).unwrap();
        part.iter().map(|request| connection.ask(&request.bytes(&world.secret)).unwrap()).collect()
    };
    let parts = requests.chunks(requests.len().div_ceil(connections));
    std::thread::scope(|scope| {
        let posting: Vec<_> = parts.map(|part| scope.spawn(move || post(part))).collect();
        posting.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

/// What the trail says became of each delivery: `routed`, or the reason it was dropped.
pub fn became(world: &World, deliveries: usize) -> HashMap<String, String> {
    let mut became = HashMap::new();
    wait_for("the trail of all deliveries", PATIENCE, || {
        let dropped = world.events("routing.dropped").into_iter().chain(world.events("routing.routed"));
        became = dropped
            .map(|event| {
                let reason = event["reason"].as_str().unwrap_or("routed");
                (event["delivery"].as_str().unwrap().to_owned(), reason.to_owned())
            })
            .collect();
        became.len() >= deliveries
    });
    assert_eq!(became.len(), deliveries);
    became
}

/// Nothing panicked, nothing is kept back, and a comment still reaches its agent.
pub fn is_well(world: &World, number: u64) {
    let status = world.done("status --json").json()["status"].clone();
    assert_eq!((&status["undecidable"], &status["deadLetters"]), (&0.into(), &0.into()), "{status}");
    let said = std::fs::read_to_string(world.path("daemon.log")).unwrap();
    assert!(!said.contains("panicked"), "{said}");
    world.arm(&[number]);
}

/// A daemon that admits everybody in the examples and starts whatever they speak of.
pub fn open_world(corpus: &Corpus) -> World {
    let mut logins = logins(corpus);
    logins.push("mona");
    let users = serde_json::to_string(&logins).unwrap();
    World::new(&format!(
        "  authorizedUsers: {users}\n  spawnOnUnmatched: always\n  control: {{requireStartCommand: false}}\n"
    ))
}

/// Everything that is left once nothing is under way any more.
pub fn settled(world: &World) -> (Json, Vec<Json>) {
    let mut status = Json::Null;
    wait_for("everything to be done", PATIENCE, || {
        status = world.done("status --json").json()["status"].clone();
        ["waiting", "claimed", "marks"].iter().all(|count| status[count] == 0)
    });
    (status, world.sessions())
}

#[test]
fn every_example_is_taken_once_and_is_a_duplicate_after_that() {
    let Some(corpus) = corpus("every_example_is_taken_once_and_is_a_duplicate_after_that") else { return };
    let world = open_world(corpus);
    let examples: Vec<(&Example, String)> =
        corpus.public.iter().chain(&corpus.enterprise).map(|example| (example, fresh_id())).collect();
    let requests: Vec<Request<'_>> = examples.iter().map(|(example, id)| Request::of(example, id)).collect();
    for ((example, _), answer) in examples.iter().zip(post_all(&world, 1, &requests)) {
        let right = if example.event == "ping" { (200, "pong") } else { (202, "accepted") };
        assert_eq!((answer.status, answer.word().as_str()), right, "{}", example.name);
    }
    // A ping is answered and noted, and that is all.
    let decided = || examples.iter().filter(|(example, _)| example.event != "ping");
    let became = became(&world, decided().count());
    for (example, id) in decided() {
        let is_nothing = matches!(example.event().content, Content::Ignored(_));
        assert_eq!(became[id] == "ignored-action", is_nothing, "{}: {}", example.name, became[id]);
    }
    let left = settled(&world);
    assert!(!left.1.is_empty(), "something was started");
    for ((example, _), answer) in examples.iter().zip(post_all(&world, 4, &requests)) {
        let right = if example.event == "ping" { (200, "pong") } else { (202, "duplicate") };
        assert_eq!((answer.status, answer.word().as_str()), right, "{}", example.name);
    }
    assert_eq!(settled(&world), left, "duplicates change nothing");
    is_well(&world, 1);
}
