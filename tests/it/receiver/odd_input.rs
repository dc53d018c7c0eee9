//! K67: odd input gets an answer, always the same complete kind, and harms nobody.

use proptest::prelude::*;
use the_loop::daemon::receiver::Limits;

use super::client::{Client, once, post};
use super::server::{FakeDoor, Server};

/// Sends bytes, ends the sending side, and expects one whole answer with this status and then the end.
fn expect(server: &Server, what: &str, bytes: &[u8], statuses: &[u16]) {
    let mut client = Client::connect(server.address);
    client.try_send(bytes);
    client.end();
    let reply = client.reply();
    assert!(statuses.contains(&reply.status), "{what}: {reply:?}");
    assert_eq!(reply.header("content-type"), Some("application/json"), "{what}");
    reply.word();
    client.closed();
}

#[test]
fn k67_what_is_not_http_is_400() {
    let server = Server::start(FakeDoor::open(), Limits::default());
    let table: &[(&str, &[u8])] = &[
        ("words", b"hello\r\n\r\n"),
        ("a line without end", b"hello"),
        ("zero bytes", &[0; 64]),
        ("high bytes", &[0xff; 64]),
        ("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03abcdefgh"),
        ("the HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"),
        ("HTTP/0.9", b"GET /healthz\r\n\r\n"),
        ("HTTP/3", b"GET /healthz HTTP/3.0\r\n\r\n"),
        ("a bad header name", b"GET /healthz HTTP/1.1\r\nbad name: x\r\n\r\n"),
        ("a header without colon", b"GET /healthz HTTP/1.1\r\nnothing\r\n\r\n"),
        ("a control byte in a header", b"GET /healthz HTTP/1.1\r\nA: b\x00c\r\n\r\n"),
        ("a bad target", b"GET /a b HTTP/1.1\r\n\r\n"),
        ("a negative length", b"POST /gh-webhook HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        ("a length of words", b"POST /gh-webhook HTTP/1.1\r\nContent-Length: two\r\n\r\n{}"),
        ("an empty length", b"POST /gh-webhook HTTP/1.1\r\nContent-Length:\r\n\r\n{}"),
        ("two lengths", b"POST /gh-webhook HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}"),
        ("an unknown coding", b"POST /gh-webhook HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n{}"),
        ("a bad chunk length", b"POST /gh-webhook HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
        (
            "a huge chunk length",
            b"POST /gh-webhook HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        ),
        ("a chunk without its end", b"POST /gh-webhook HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}0\r\n\r\n"),
        ("a cut head", b"POST /gh-webhook HTTP/1.1\r\nHost: h\r\n"),
        ("a cut body", b"POST /gh-webhook HTTP/1.1\r\nContent-Length: 10\r\n\r\n{}"),
        ("a cut chunk", b"POST /gh-webhook HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}"),
        ("no last chunk", b"POST /gh-webhook HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"),
    ];
    for (what, bytes) in table {
        expect(&server, what, bytes, &[400]);
    }
    assert_eq!(once(server.address, &post(b"{}")).status, 202);
}

#[test]
fn k67_a_head_without_measure_is_431() {
    let server = Server::start(FakeDoor::open(), Limits::default());
    let long = "a".repeat(100_000);
    let many = "A: b\r\n".repeat(500);
    expect(&server, "a long header", format!("GET /healthz HTTP/1.1\r\nA: {long}\r\n\r\n").as_bytes(), &[431]);
    expect(&server, "many headers", format!("GET /healthz HTTP/1.1\r\n{many}\r\n").as_bytes(), &[431]);
    expect(&server, "a long target", format!("GET /{long} HTTP/1.1\r\n\r\n").as_bytes(), &[431]);
    expect(&server, "a head without end", "a".repeat(200_000).as_bytes(), &[400, 431]);
    assert_eq!(once(server.address, &post(b"{}")).status, 202);
}

#[test]
fn k67_a_client_that_ends_its_side_is_still_answered() {
    let server = Server::start(FakeDoor::open(), Limits::default());
    let mut client = Client::connect(server.address);
    assert_eq!(client.send(post(b"{}")).end().reply().status, 202);
    client.closed();
    expect(&server, "HTTP/1.0", b"GET /healthz HTTP/1.0\r\n\r\n", &[200]);
    expect(&server, "a proxy's CONNECT", b"CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n\r\n", &[404]);
    expect(&server, "an absolute target", b"GET http://h HTTP/1.1\r\n\r\n", &[404]);
    expect(&server, "an absolute probe", b"GET http://h/healthz HTTP/1.1\r\n\r\n", &[200]);
    expect(&server, "the whole server", b"OPTIONS * HTTP/1.1\r\n\r\n", &[404]);
    expect(&server, "an upgrade", b"GET /ws HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", &[404]);
}

#[test]
fn k67_a_malformed_request_does_not_swallow_the_answer_before_it() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    let mut client = Client::connect(server.address);
    client.send([post(b"{}"), b"odd\r\n\r\n".to_vec()].concat());
    assert_eq!(client.reply().status, 202);
    assert_eq!(client.reply().word(), "bad-request");
    client.end().closed();
    assert_eq!(door.count(), 1);
}

#[test]
fn k67_a_refusal_reaches_a_client_that_is_still_sending() {
    let server = Server::start(FakeDoor::open(), Limits::default());
    let mut client = Client::connect(server.address);
    client.send("POST /nothing HTTP/1.1\r\nHost: h\r\nContent-Length: 20000000\r\n\r\n");
    assert!(client.try_send(vec![b'x'; 20_000_000]), "the connection was reset while sending");
    assert_eq!(client.reply().status, 404);
    client.end().closed();
}

/// Requests that are nearly right, and bytes that are nothing.
fn nearly_http() -> impl Strategy<Value = Vec<u8>> {
    let method = prop::sample::select(vec!["GET", "POST", "CONNECT", "OPTIONS", "PRI", "", "post", "P\0"]);
    let targets = [
        "/gh-webhook",
        "/healthz/",
        "*",
        "h:80",
        "http://h",
        "//",
        "/?",
        "?a",
        "",
        "/%00",
        "/a#b",
        "http://[::1]:1/x?y",
    ];
    let version = prop::sample::select(vec!["HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/1.9", ""]);
    let lines = [
        "Host: h",
        "Content-Length: 3",
        "Content-Length: 0",
        "Transfer-Encoding: chunked",
        "Expect: 100-continue",
        "Connection: close",
        "Connection: upgrade",
        "Upgrade: h2c",
        "Content-Type: application/json",
        "A:",
        ":a",
        "\u{e4}: b",
        " folded",
    ];
    let lines = prop::collection::vec(prop::sample::select(lines.to_vec()), 0..5);
    let body = prop::sample::select(vec!["", "{}", "{}x", "3\r\n{}x\r\n0\r\n\r\n", "\r\n\r\n"]);
    let request = (method, prop::sample::select(targets.to_vec()), version, lines, body).prop_map(
        |(method, target, version, lines, body)| {
            let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
            format!("{method} {target} {version}\r\n{lines}\r\n{body}").into_bytes()
        },
    );
    prop_oneof![4 => request, 1 => prop::collection::vec(any::<u8>(), 0..64)]
}

#[test]
fn k67_whatever_comes_is_answered_in_json_to_its_end() {
    let server = Server::start(FakeDoor::open(), Limits::default());
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) }, |(bytes in nearly_http())| {
        let mut client = Client::connect(server.address);
        client.try_send(&bytes);
        client.end();
        let mut answers = 0;
        while let Some(reply) = client.reply_or_end() {
            if reply.status != 100 {
                reply.word();
                answers += 1;
            }
        }
        let asked = bytes.iter().any(|byte| !matches!(byte, b'\r' | b'\n'));
        prop_assert!(answers > 0 || !asked, "no answer to {:?}", String::from_utf8_lossy(&bytes));
    });
}
