//! Bounds and deadlines: who is slow, many or greedy gets an answer, and nobody else notices.

use std::time::Duration;

use the_loop::daemon::receiver::{Answer, Limits};

use super::client::{Client, bare, once, post};
use super::server::{FakeDoor, Server, until};

/// A deadline short enough to wait for.
const SHORT: Duration = Duration::from_millis(80);

#[test]
fn k67_a_slow_head_is_408_even_when_it_trickles() {
    let server = Server::start(FakeDoor::open(), Limits { head: SHORT, ..Limits::default() });
    let mut still = Client::connect(server.address);
    still.send("POST /gh-webhook HTTP/1.1\r\nHost:");
    let mut trickling = Client::connect(server.address);
    trickling.send("POST /gh-webhook HTTP/1.1\r\nX-A: ");
    // Each byte alone would renew a deadline that is counted from the last one.
    while trickling.is_silent_for(Duration::from_millis(5)) {
        trickling.try_send("a");
    }
    for client in [&mut still, &mut trickling] {
        assert_eq!(client.reply().word(), "timeout");
        client.end().closed();
    }
    let mut second = Client::connect(server.address);
    assert_eq!(second.send(post(b"{}")).reply().status, 202);
    assert_eq!(second.send("POST /gh").reply().status, 408);
}

#[test]
fn k67_a_slow_body_is_408() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits { body: SHORT, ..Limits::default() });
    for head in ["Content-Length: 10\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"] {
        let mut client = Client::connect(server.address);
        client.send(format!("POST /gh-webhook HTTP/1.1\r\nHost: h\r\n{head}"));
        let reply = client.reply();
        assert_eq!((reply.status, reply.word().as_str()), (408, "timeout"));
        client.end().closed();
    }
    assert_eq!(door.count(), 0);
}

#[test]
fn a_silent_connection_is_closed_after_the_idle_time_and_not_before() {
    let limits = Limits { head: Duration::from_millis(20), idle: Duration::from_millis(400), ..Limits::default() };
    let server = Server::start(FakeDoor::open(), limits);
    let mut client = Client::connect(server.address);
    assert_eq!(client.send(post(b"{}")).reply().status, 202);
    // Longer than a head may take: silence between requests is no head.
    assert!(client.is_silent_for(Duration::from_millis(100)));
    assert_eq!(client.send(post(b"{}")).reply().status, 202);
    client.closed();
}

#[test]
fn k67_a_connection_that_never_begins_has_no_longer_than_a_head() {
    let server = Server::start(FakeDoor::open(), Limits { head: SHORT, connections: 1, ..Limits::default() });
    let mut mute = Client::connect(server.address);
    mute.closed();
    drop(mute);
    assert_eq!(once(server.address, &post(b"{}")).status, 202);
}

#[test]
fn k67_connections_beyond_the_bound_wait_for_a_slot() {
    let server = Server::start(FakeDoor::open(), Limits { connections: 64, ..Limits::default() });
    let mut taken: Vec<_> = (0..64).map(|_| Client::connect(server.address)).collect();
    for client in &mut taken {
        assert_eq!(client.send(bare("GET", "/healthz")).reply().status, 200);
    }
    let mut waiting = Client::connect(server.address);
    waiting.send(post(b"{}"));
    assert!(waiting.is_silent_for(Duration::from_millis(100)), "a connection over the bound was served");
    drop(taken.pop());
    assert_eq!(waiting.reply().status, 202);
    for client in &mut taken {
        assert_eq!(client.send(bare("GET", "/healthz")).reply().status, 200);
    }
}

#[test]
fn k67_k65_slots_of_ended_connections_are_given_back() {
    let server = Server::start(FakeDoor::open(), Limits { connections: 2, ..Limits::default() });
    for n in 0..100 {
        let mut client = Client::connect(server.address);
        match n % 4 {
            0 => drop(client),
            1 => drop(client.send("POST /gh-web")),
            2 => assert_eq!(client.send("odd\r\n\r\n").reply().status, 400),
            _ => assert_eq!(client.send(post(b"{}")).reply().status, 202),
        }
    }
}

#[test]
fn k67_the_budget_of_unread_bodies_is_shared_and_given_back() {
    let (door, held) = FakeDoor::holding();
    let server = Server::start(door, Limits { budget_bytes: 1000, ..Limits::default() });
    let mut first = Client::connect(server.address);
    first.send(post(&[b'x'; 900]));
    until("the first is with the door", || held.lock().unwrap().len() == 1);
    let reply = once(server.address, &post(&[b'x'; 101]));
    assert_eq!((reply.status, reply.word().as_str()), (503, "busy"));
    assert!(reply.header("retry-after").is_some());
    let mut small = Client::connect(server.address);
    small.send(post(&[b'x'; 100]));
    until("a small one still fits", || held.lock().unwrap().len() == 2);
    for done in held.lock().unwrap().drain(..) {
        done(Answer::Accepted);
    }
    assert_eq!((first.reply().status, small.reply().status), (202, 202));
    let mut again = Client::connect(server.address);
    again.send(post(&[b'x'; 1000]));
    until("all of it is free again", || held.lock().unwrap().len() == 1);
}

#[test]
fn k67_promised_bytes_take_nothing_from_the_budget_and_broken_bodies_give_theirs_back() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits { budget_bytes: 1000, ..Limits::default() });
    let promise = "POST /gh-webhook HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n";
    let mut promised: Vec<_> = (0..20).map(|_| Client::connect(server.address)).collect();
    for client in &mut promised {
        client.send(promise);
    }
    assert_eq!(once(server.address, &post(&[b'x'; 1000])).status, 202);
    for client in &mut promised {
        assert_eq!(client.send([b'x'; 40]).end().reply().status, 400);
    }
    assert_eq!(once(server.address, &post(&[b'x'; 1000])).status, 202);
    assert_eq!(door.count(), 2);
}

#[test]
fn a_client_that_never_reads_is_let_go() {
    let limits = Limits { idle: SHORT, linger: SHORT, connections: 1, ..Limits::default() };
    let server = Server::start(FakeDoor::open(), limits);
    let mut deaf = Client::connect(server.address);
    let many: Vec<u8> = (0..1000).flat_map(|_| bare("GET", "/nothing")).collect();
    while deaf.try_send(&many) {}
    assert_eq!(once(server.address, &post(b"{}")).status, 202);
}
