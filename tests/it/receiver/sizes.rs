//! The cap, exactly, however the body comes.

use std::fmt::Write as _;

use the_loop::daemon::receiver::Limits;

use super::client::{Client, once, post, post_with};
use super::server::{FakeDoor, Server};

const JSON: &str = "Content-Type: application/json\r\n";
const FORM: &str = "Content-Type: application/x-www-form-urlencoded; charset=utf-8\r\n";

/// A delivery in chunks of `size`.
fn chunked(headers: &str, body: &[u8], size: usize) -> Vec<u8> {
    let mut head = format!("POST /gh-webhook HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n{headers}\r\n");
    let mut bytes = std::mem::take(&mut head).into_bytes();
    for chunk in body.chunks(size) {
        let mut length = String::new();
        write!(length, "{:x}", chunk.len()).unwrap();
        bytes.extend_from_slice(length.as_bytes());
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

#[test]
fn w12_bodies_up_to_25_mib_are_taken_whole_and_one_byte_more_is_413() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    let largest = vec![b'x'; 26_214_401];
    for (n, size) in [2_097_153, 8_388_608, 26_214_400].into_iter().enumerate() {
        assert_eq!(once(server.address, &post(&largest[..size])).status, 202, "{size}");
        let seen = door.seen.lock().unwrap();
        assert_eq!((seen.len(), seen[n].body.len()), (n + 1, size));
    }
    for request in [post(&largest), chunked(JSON, &largest, 1 << 20), post_with("", &largest)] {
        let mut client = Client::connect(server.address);
        client.try_send(&request);
        let reply = client.reply();
        assert_eq!((reply.status, reply.word().as_str()), (413, "too-large"));
        client.end().closed();
    }
    assert_eq!(door.count(), 3);
    assert_eq!(once(server.address, &chunked(JSON, &largest[..26_214_400], 1 << 20)).status, 202);
}

#[test]
fn w12_a_length_over_the_cap_is_refused_before_the_body_comes() {
    let server = Server::start(FakeDoor::open(), Limits::default());
    for length in ["26214401", "99999999999", "18446744073709551615"] {
        let mut client = Client::connect(server.address);
        client.send(format!("POST /gh-webhook HTTP/1.1\r\nHost: h\r\n{JSON}Content-Length: {length}\r\n\r\n"));
        let reply = client.reply();
        assert!(matches!(reply.status, 413 | 431), "{length}: {reply:?}");
        assert_eq!(reply.word(), "too-large");
    }
}

#[test]
fn w03_a_form_may_be_three_times_as_long_on_the_wire() {
    let limits = Limits { json_bytes: 1000, form_bytes: 3000, ..Limits::default() };
    let server = Server::start(FakeDoor::open(), limits);
    for (headers, size, status) in
        [(JSON, 1000, 202), (JSON, 1001, 413), (FORM, 3000, 202), (FORM, 3001, 413), ("", 1001, 413)]
    {
        let body = vec![b'x'; size];
        assert_eq!(once(server.address, &post_with(headers, &body)).status, status, "{headers} {size}");
        for chunk in [1, 7, 4096] {
            assert_eq!(
                once(server.address, &chunked(headers, &body, chunk)).status,
                status,
                "{headers} {size} {chunk}"
            );
        }
    }
}

#[test]
fn chunks_arrive_as_one_body() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    let body: Vec<u8> = (0..=255).collect();
    let mut client = Client::connect(server.address);
    for byte in chunked(JSON, &body, 3) {
        client.send([byte]);
    }
    assert_eq!(client.reply().status, 202);
    assert_eq!(door.only().body.as_ref(), body);
}

#[test]
fn expect_continue_is_answered_and_refused_before_the_body_is_sent() {
    let server = Server::start(FakeDoor::open(), Limits::default());
    let head = |length| {
        format!("POST /gh-webhook HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n")
    };
    let mut client = Client::connect(server.address);
    assert_eq!(client.send(head(2)).reply().status, 100);
    assert_eq!(client.send("{}").reply().status, 202);
    let mut client = Client::connect(server.address);
    assert_eq!(client.send(head(26_214_401)).reply().status, 413);
}
