//! One request over a real connection: its headers, its deadlines, its bounds, and answers that are out of order.

use std::time::{Duration, Instant};

use serde_json::json;
use the_loop::adapters::github::{Bounds, GitHubHttp};
use the_loop::app::asking::items;
use the_loop::app::asking::pages;
use the_loop::domain::config;
use the_loop::domain::github::{GitHub as _, Pause, Request, Trouble, Unsent, Validators};
use the_loop::domain::reference::WorkItemRef;
use the_loop::domain::time::Time;

use super::door::{Door, Says, answer};

/// The token for github.com in these tests.
pub const TOKEN: &str = "ghp_of_github_com";

/// A client of a configuration's `github` block, with the variable `DOT_COM` and others.
pub fn client(github: &str, variables: &[(&str, &str)], bounds: Bounds) -> GitHubHttp {
    let config = config::read(&format!("github:\n{github}\n")).unwrap().config.github;
    let own = [("DOT_COM", TOKEN)];
    let environment = own.iter().chain(variables);
    let environment: Vec<_> = environment.map(|(name, value)| (name.into(), value.into())).collect();
    GitHubHttp::new(&config, &environment, bounds).unwrap()
}

/// A client whose github.com is `door`.
fn of(door: &Door, bounds: Bounds) -> GitHubHttp {
    client(&format!("  apiUrl: {}/\n  tokenEnv: [DOT_COM]", door.url()), &[], bounds)
}

fn get(path: &str) -> Request {
    Request::get("GitHub.com", path)
}

#[test]
fn a_request_says_who_asks_and_for_what() {
    let door = Door::new(|asked, _| match asked.header("if-none-match") {
        Some(_) => answer("304 Not Modified", "Link: <x>; rel=\"next\"\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n", ""),
        None => answer("201 Created", "ETag: W/\"1\"\r\nX-GitHub-Request-Id: AB:1\r\nX-OAuth-Scopes: repo\r\n", "{}"),
    });
    let github = of(&door, Bounds::default());
    let made = github.send(&Request::post("github.com", "/x?y=1", json!({"body": "hé"}))).unwrap();
    assert_eq!((made.status, made.etag.as_deref(), made.body.as_slice()), (201, Some("W/\"1\""), b"{}".as_slice()));
    assert_eq!((made.request_id.as_deref(), made.scopes.as_deref()), (Some("AB:1"), Some("repo")));
    let same = github.send(&get("/x?y=1").unless(made.etag)).unwrap();
    assert_eq!((same.status, same.link.as_deref()), (304, Some("<x>; rel=\"next\"")));
    assert_eq!(same.date, Time::parse("2026-01-01T00:00:00Z").ok());
    let asked = door.asked();
    assert_eq!((asked[0].line.as_str(), asked[0].body.as_str()), ("POST /x?y=1 HTTP/1.1", "{\"body\":\"hé\"}"));
    assert_eq!((asked[1].line.as_str(), asked[1].header("if-none-match")), ("GET /x?y=1 HTTP/1.1", Some("W/\"1\"")));
    for asked in &asked {
        for (name, value) in [
            ("authorization", "Bearer ghp_of_github_com"),
            ("user-agent", concat!("the-loop/", env!("CARGO_PKG_VERSION"))),
            ("accept", "application/vnd.github+json"),
            ("x-github-api-version", "2022-11-28"),
            ("accept-encoding", "gzip"),
        ] {
            assert_eq!(asked.header(name), Some(value), "{name}");
        }
    }
    assert_eq!(asked[0].header("content-type"), Some("application/json"));
}

#[test]
fn a_host_that_says_nothing_or_too_little_is_given_up_in_time() {
    let bounds = Bounds { whole: Duration::from_millis(300), ..Bounds::default() };
    for cut in [false, true] {
        let door = Door::new(move |_, _| match cut {
            true => Says::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n[1,".to_vec()),
            false => Says::Nothing,
        });
        let (github, began) = (of(&door, bounds), Instant::now());
        let found = github.send(&get("/x")).unwrap_err();
        assert!(matches!(&found, Unsent::Unreachable { .. }), "{found:?}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}

#[test]
fn a_host_that_is_not_there_is_unreachable() {
    let door = Door::new(|_, _| Says::Nothing);
    let github = of(&door, Bounds::default());
    drop(door);
    let found = github.send(&get("/x")).unwrap_err();
    assert!(matches!(&found, Unsent::Unreachable { host, .. } if host == "github.com"), "{found:?}");
    assert!(Trouble::from(found).hint().is_some());
}

/// `[`, 65,536 spaces, `1]`, compressed.
const PACKED: &str = "1f8b08000000000002ffedc1010d00000803a02a56781e67ff1a3e08b003000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000957b03364da503000100";

#[test]
fn an_answer_is_read_up_to_a_bound_that_holds_uncompressed() {
    let bounds = Bounds { body: 1024, ..Bounds::default() };
    let large = Door::new(|_, _| answer("200 OK", "", &"x".repeat(1025)));
    let packed = Door::new(|_, _| {
        let bytes = (0..PACKED.len()).step_by(2).map(|at| u8::from_str_radix(&PACKED[at..at + 2], 16).unwrap());
        let body: Vec<u8> = bytes.collect();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
        Says::Bytes([head.into_bytes(), body].concat())
    });
    for door in [&large, &packed] {
        let found = of(door, bounds).send(&get("/x")).unwrap_err();
        assert!(matches!(found, Unsent::TooLarge { limit: 1024, .. }), "{found:?}");
    }
    let whole = of(&packed, Bounds::default()).send(&get("/x")).unwrap();
    assert_eq!(whole.body.len(), 65_539);
}

#[test]
fn q13_an_outage_is_waited_out_and_shows_nothing_of_its_page() {
    let door = Door::new(|_, before| match before {
        0 | 1 => Says::Bytes(include_bytes!("../../data/Q13-502-html.http").to_vec()),
        _ => answer("200 OK", "ETag: \"1\"\r\n", "[{\"id\": 1}]"),
    });
    let github = of(&door, Bounds::default());
    let known = Validators::default();
    let (mut pause, mut now, mut words) = (Pause::default(), Time::from_millis(0), String::new());
    let listing = loop {
        match pages::list(&github, "github.com", "/list", &known) {
            Ok(listing) => break listing,
            Err(trouble) => {
                words += &format!("{trouble}\n{trouble:?}\n{:?}", trouble.hint());
                pause.met(&trouble, now, 0);
                let until = pause.holds(now).unwrap();
                assert!(until > now);
                now = until;
            }
        }
    };
    assert_eq!((listing.items.len(), door.asked().len(), now), (1, 3, Time::from_millis(30_000)));
    assert!(words.contains("status 502") && !words.contains("Unicorn") && !words.contains('<'), "{words}");
}

#[test]
fn q08_q10_a_limit_and_a_missing_permission_over_the_wire() {
    let door = Door::new(|_, before| match before {
        0 => Says::Bytes(include_bytes!("../../data/Q08-403-secondary-no-headers.http").to_vec()),
        _ => Says::Bytes(include_bytes!("../../data/Q10-403-permission.http").to_vec()),
    });
    let github = of(&door, Bounds::default());
    let ask = || pages::list(&github, "github.com", "/list", &Validators::default()).unwrap_err();
    assert!(matches!(ask(), Trouble::Limited { .. }));
    assert!(matches!(ask(), Trouble::Refused { .. }));
}

#[test]
fn q14_an_item_that_is_gone_is_not_asked_for_again() {
    let door = Door::new(|_, before| answer(["404 Not Found", "410 Gone"][before], "", "{\"message\":\"Not Found\"}"));
    let github = of(&door, Bounds::default());
    let item = WorkItemRef::parse("github:octo/hello#7").unwrap();
    for asked in 1..=2 {
        assert_eq!(items::issue(&github, &item), Ok(None));
        assert_eq!(door.asked().len(), asked);
    }
}
