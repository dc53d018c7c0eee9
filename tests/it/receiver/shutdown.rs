//! K60: an end in order, within its time.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use the_loop::daemon::receiver::{Answer, Closed, Limits};

use super::client::{Client, bare, post};
use super::server::{FakeDoor, Server, until};

#[test]
fn k60_a_request_in_hand_is_answered_and_the_port_is_free_at_once() {
    let (door, held) = FakeDoor::holding();
    let server = Server::start(door, Limits::default());
    let mut idle = Client::connect(server.address);
    assert_eq!(idle.send(bare("GET", "/healthz")).reply().status, 200);
    let mut fresh = Client::connect(server.address);
    let mut working = Client::connect(server.address);
    working.send(post(b"{}"));
    until("the door is asked", || held.lock().unwrap().len() == 1);
    server.ask_to_stop();
    idle.closed();
    fresh.closed();
    until("the port is free", || TcpListener::bind(server.address).is_ok());
    assert!(working.is_silent());
    let done = held.lock().unwrap().pop().unwrap();
    done(Answer::Accepted);
    let reply = working.reply();
    assert_eq!((reply.status, reply.header("connection")), (202, Some("close")));
    working.end().closed();
    drop((idle, fresh));
    assert_eq!(server.stop(), Closed { cut: 0 });
}

#[test]
fn k60_what_does_not_end_is_cut_at_the_deadline() {
    let (door, held) = FakeDoor::holding();
    let server = Server::start(door, Limits { shutdown: Duration::from_millis(100), ..Limits::default() });
    let mut working = Client::connect(server.address);
    working.send(post(b"{}"));
    until("the door is asked", || held.lock().unwrap().len() == 1);
    let began = Instant::now();
    assert_eq!(server.stop(), Closed { cut: 1 });
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    working.closed();
}

#[test]
fn k60_a_body_that_is_still_coming_is_read_to_its_end() {
    let server = Server::start(FakeDoor::open(), Limits::default());
    let mut client = Client::connect(server.address);
    client.send("POST /gh-webhook HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.reply().status, 100);
    server.ask_to_stop();
    until("the port is free", || TcpListener::bind(server.address).is_ok());
    assert_eq!(client.send("{}").end().reply().status, 202);
    assert_eq!(server.stop(), Closed { cut: 0 });
}

#[test]
fn k60_a_vanished_daemon_stops_its_receiver() {
    let server = Server::start(FakeDoor::open(), Limits::default());
    let mut idle = Client::connect(server.address);
    assert_eq!(idle.send(bare("GET", "/healthz")).reply().status, 200);
    idle.end();
    assert_eq!(server.abandon(), Closed { cut: 0 });
}
