//! What is answered to whom, and when.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use the_loop::daemon::receiver::{Answer, DoorHeaders, HookPath, Limits, Settings};

use super::client::{Client, bare, once, post, post_with};
use super::server::{FakeDoor, Server, until};

#[test]
fn w17_header_names_and_media_types_come_through_in_any_spelling() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    let headers = "content-type: Application/JSON; charset=UTF-8\r\nx-github-event: ping\r\nX-GITHUB-DELIVERY: 72d3\r\n\
                   x-hub-signature-256: sha256=ab\r\nX-Hub-Signature: sha1=cd\r\nx-github-hook-id: 42\r\n";
    assert_eq!(once(server.address, &post_with(headers, b"{}")).status, 202);
    let seen = door.only();
    let expected = DoorHeaders {
        content_type: Some("Application/JSON; charset=UTF-8".to_owned()),
        signatures: vec!["sha256=ab".to_owned()],
        sha1_present: true,
        event: Some("ping".to_owned()),
        delivery: Some("72d3".to_owned()),
        hook: Some("42".to_owned()),
    };
    assert_eq!((seen.headers, seen.body.as_ref(), seen.loopback_peer), (expected, b"{}".as_ref(), true));
}

#[test]
fn w17_a_request_without_headers_reaches_the_door_as_it_is() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    once(server.address, &post_with("", b"{}"));
    assert_eq!(door.only().headers, DoorHeaders::default());
}

#[test]
fn several_signature_lines_and_several_ids_are_all_seen_by_the_door() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    let headers = "X-Hub-Signature-256: sha256=aa\r\nX-GitHub-Delivery: one\r\nx-hub-signature-256: sha256=bb\r\n\
                   X-GitHub-Delivery: two\r\nX-GitHub-Event:\r\n";
    once(server.address, &post_with(headers, b"{}"));
    let seen = door.only().headers;
    assert_eq!(seen.signatures, ["sha256=aa", "sha256=bb"]);
    assert_eq!(seen.delivery.as_deref(), Some("one, two"));
    assert_eq!(seen.event.as_deref(), Some(""));
}

#[test]
fn the_hook_is_found_with_slash_and_query() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    let targets =
        ["/gh-webhook", "/gh-webhook/", "/gh-webhook?a=b", "/gh-webhook/?a", "http://loop.example/gh-webhook"];
    for (n, target) in targets.iter().enumerate() {
        let request = format!("POST {target} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{{}}");
        assert_eq!(once(server.address, request.as_bytes()).word(), "accepted", "{target}");
        assert_eq!(door.count(), n + 1);
    }
}

#[test]
fn other_methods_are_405_and_say_what_is_allowed() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    for method in ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "post"] {
        let mut client = Client::connect(server.address);
        let reply = client.send(bare(method, "/gh-webhook")).reply_to(method);
        assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")), "{method}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    let reply = once(server.address, &bare("POST", "/healthz"));
    assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, HEAD")));
    assert_eq!(door.count(), 0);
}

#[test]
fn k30_nothing_else_is_on_this_listener() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    let paths = [
        "/",
        "/api",
        "/sessions",
        "/gh-webhookx",
        "/gh-webhook/x",
        "/GH-WEBHOOK",
        "/healthz/x",
        "//",
        "/%67h-webhook",
        "*",
    ];
    for path in paths {
        for method in ["GET", "POST", "OPTIONS"] {
            let reply = once(server.address, &bare(method, path));
            let expected = if path == "*" && method != "OPTIONS" { [400, 404] } else { [404, 404] };
            assert!(expected.contains(&reply.status), "{method} {path}: {reply:?}");
            reply.word();
        }
    }
    assert_eq!(door.count(), 0);
}

#[test]
fn k30_without_a_secret_only_names_of_this_machine_are_answered() {
    let door = FakeDoor::open();
    let path = HookPath::parse("/gh-webhook").unwrap();
    let server = Server::with(door.clone(), Settings { path, loopback_host_only: true, limits: Limits::default() });
    for host in ["Host: evil.example\r\n", "", "Host: localhost\r\nHost: evil.example\r\n"] {
        let request = format!("POST /gh-webhook HTTP/1.1\r\n{host}Content-Length: 2\r\n\r\n{{}}");
        assert_eq!(once(server.address, request.as_bytes()).word(), "misdirected", "{host}");
    }
    assert_eq!(door.count(), 0);
    assert_eq!(once(server.address, &post(b"{}")).word(), "accepted");
}

#[test]
fn probes_tell_alive_from_ready() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    assert_eq!(once(server.address, &bare("GET", "/healthz")).body, r#"{"status":"alive"}"#);
    assert_eq!(once(server.address, &bare("GET", "/healthz/?x")).status, 200);
    assert_eq!(once(server.address, &bare("GET", "/readyz")).body, r#"{"status":"ready"}"#);
    assert_eq!(Client::connect(server.address).send(bare("HEAD", "/readyz")).reply_to("HEAD").status, 200);
    *door.ready.lock().unwrap() = Err("the store takes no writes".to_owned());
    let reply = once(server.address, &bare("GET", "/readyz"));
    assert_eq!((reply.status, reply.word()), (503, "not-ready".to_owned()));
    assert!(reply.body.contains("the store takes no writes"));
    assert_eq!(once(server.address, &bare("GET", "/healthz")).status, 200);
}

#[test]
fn every_word_of_the_door_reaches_the_client() {
    let answers = [
        (Answer::Accepted, 202, "accepted"),
        (Answer::Duplicate, 202, "duplicate"),
        (Answer::Pong, 200, "pong"),
        (Answer::BadSignature, 401, "unauthorized"),
        (Answer::Bad { reason: "empty body".to_owned() }, 400, "bad-request"),
        (Answer::Unsupported { reason: "`text/plain`".to_owned() }, 415, "unsupported-media-type"),
        (Answer::TooLarge, 413, "too-large"),
        (Answer::Busy { retry_after: 3 }, 503, "busy"),
    ];
    let next = Arc::new(Mutex::new(answers.clone().map(|(answer, ..)| answer).to_vec().into_iter()));
    let server =
        Server::start(FakeDoor::new(move |_, done| done(next.lock().unwrap().next().unwrap())), Limits::default());
    let mut client = Client::connect(server.address);
    for (answer, status, word) in answers {
        let reply = client.send(post(b"{}")).reply();
        assert_eq!((reply.status, reply.word().as_str()), (status, word), "{answer:?}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.header("retry-after"), (status == 503).then_some("3"));
    }
}

#[test]
fn requests_on_one_connection_are_answered_in_order() {
    let door = FakeDoor::new(|request, done| {
        let reason = String::from_utf8_lossy(&request.body).into_owned();
        done(Answer::Bad { reason });
    });
    let server = Server::start(door, Limits::default());
    let mut client = Client::connect(server.address);
    let pipelined: Vec<u8> = (0..40).flat_map(|n| post(format!("<{n}>").as_bytes())).collect();
    client.send(pipelined);
    for n in 0..40 {
        assert!(client.reply().body.contains(&format!("<{n}>")), "{n}");
    }
    assert!(client.send(post(b"<last>")).reply().body.contains("<last>"));
}

#[test]
fn k01_nothing_is_answered_before_the_commit() {
    let (door, held) = FakeDoor::holding();
    let server = Server::start(door, Limits::default());
    let mut client = Client::connect(server.address);
    client.send(post(b"{}"));
    until("the door is asked", || held.lock().unwrap().len() == 1);
    assert!(client.is_silent_for(Duration::from_millis(50)));
    let done = held.lock().unwrap().pop().unwrap();
    done(Answer::Accepted);
    assert_eq!(client.reply().status, 202);
}

#[test]
fn r11_k66_three_hundred_open_deliveries_hold_nobody_up() {
    let (door, held) = FakeDoor::holding();
    let server = Server::start(door, Limits::default());
    let mut clients: Vec<_> = (0..300).map(|_| Client::connect(server.address)).collect();
    for client in &mut clients {
        client.send(post(b"{}"));
    }
    until("all are with the door", || held.lock().unwrap().len() == 300);
    assert_eq!(once(server.address, &bare("GET", "/healthz")).status, 200);
    assert!(clients.iter().all(Client::is_silent));
    for done in held.lock().unwrap().drain(..) {
        done(Answer::Accepted);
    }
    for client in &mut clients {
        assert_eq!(client.reply().status, 202);
    }
}

#[test]
fn r11_a_silent_door_is_503_in_time_and_its_late_answer_harms_nobody() {
    let (door, held) = FakeDoor::holding();
    let server = Server::start(door, Limits { answer: Duration::from_millis(50), ..Limits::default() });
    let mut client = Client::connect(server.address);
    let reply = client.send(post(b"{}")).reply();
    assert_eq!((reply.status, reply.word().as_str()), (503, "busy"));
    assert!(reply.header("retry-after").is_some());
    let done = held.lock().unwrap().pop().unwrap();
    done(Answer::Accepted);
    assert_eq!(client.send(bare("GET", "/healthz")).reply().status, 200);
    assert!(Limits::default().answer < Duration::from_secs(10), "GitHub gives up at ten seconds");
}

#[test]
fn a_door_that_panics_or_forgets_is_500_and_the_process_lives() {
    let large = vec![b' '; 1024 * 1024];
    let door = FakeDoor::new(|request, done| match request.headers.event.as_deref() {
        Some("panic") => panic!("planted by the test"),
        Some("forget") => drop(done),
        _ => done(Answer::Accepted),
    });
    let server = Server::start(door, Limits::default());
    let mut client = Client::connect(server.address);
    for event in ["panic", "forget"] {
        for body in [b"{}".as_slice(), &large] {
            let reply = client.send(post_with(&format!("X-GitHub-Event: {event}\r\n"), body)).reply();
            assert_eq!((reply.status, reply.word().as_str()), (500, "error"), "{event}");
            assert_eq!(client.send(post(b"{}")).reply().status, 202);
        }
    }
}

#[test]
fn k75_large_bodies_are_checked_where_they_hold_nobody_up() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let door = FakeDoor::new(move |request, done| {
        if request.body.len() > 2 {
            // A check that takes long, until the test lets go.
            let _ = wait.lock().unwrap().recv();
        }
        done(Answer::Accepted);
    });
    let server = Server::start(door.clone(), Limits::default());
    let large = post(&vec![b' '; 1024 * 1024]);
    let mut slow: Vec<_> = (0..8).map(|_| Client::connect(server.address)).collect();
    for client in &mut slow {
        client.send(&large);
    }
    until("all are being checked", || door.count() == 8);
    assert_eq!(once(server.address, &post(b"{}")).status, 202);
    assert_eq!(once(server.address, &bare("GET", "/healthz")).status, 200);
    drop(go);
    for client in &mut slow {
        assert_eq!(client.reply().status, 202);
    }
}
