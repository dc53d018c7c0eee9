//! Answers as they come over a bad line: cut, in pieces, with more or less in front of them than there should be.

use std::time::Duration;

use rstest::rstest;
use the_loop::adapters::github::Bounds;
use the_loop::app::asking::pages;
use the_loop::domain::github::{GitHub as _, Request, Trouble, Validators};

use super::client::client;
use super::door::{Door, Says, answer};

/// What a list comes to whose only page is these bytes: its numbers, or the trouble.
fn listed(bytes: Vec<u8>) -> Result<Vec<u64>, Trouble> {
    let door = Door::new(move |_, _| Says::Bytes(bytes.clone()));
    let bounds = Bounds { whole: Duration::from_secs(5), ..Bounds::default() };
    let github = client(&format!("  apiUrl: {}\n  tokenEnv: [DOT_COM]", door.url()), &[], bounds);
    let listing = pages::list(&github, "github.com", "/list", &Validators::default())?;
    Ok(listing.items.iter().filter_map(serde_json::Value::as_u64).collect())
}

#[rstest]
#[case::early_hints(
    "HTTP/1.1 103 Early Hints\r\nLink: </style>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[7]"
)]
#[case::continues("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[7]")]
#[case::chunked("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n2;x=y\r\n7]\r\n0\r\n\r\n")]
#[case::until_it_closes("HTTP/1.0 200 OK\r\n\r\n[7]")]
fn an_answer_in_pieces_is_read_whole(#[case] bytes: &str) {
    assert_eq!(listed(bytes.into()), Ok(vec![7]));
}

#[rstest]
#[case::too_short("HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n[]")]
#[case::chunk_cut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[]")]
#[case::no_last_chunk("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n")]
#[case::no_gzip("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n[]")]
#[case::empty("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
#[case::nothing_to_say("HTTP/1.1 204 No Content\r\n\r\n")]
#[case::unasked("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n")]
#[case::no_http("SSH-2.0-OpenSSH_9.2\r\n")]
#[case::head_cut("HTTP/1.1 200 OK\r\nContent-Le")]
#[case::closed("")]
#[case::null("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull")]
fn what_is_cut_or_says_nothing_is_no_empty_list(#[case] bytes: &str) {
    let found = listed(bytes.into());
    assert!(found.is_err(), "{found:?}");
}

/// `[7]`, compressed, without its last bytes.
#[test]
fn an_answer_whose_compression_is_cut_is_no_answer() {
    let packed: [u8; 23] = [31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 139, 54, 143, 5, 0, 62, 149, 117, 26, 3, 0, 0, 0];
    let said = |cut: usize| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {cut}\r\n\r\n");
        listed([head.as_bytes(), &packed[..cut]].concat())
    };
    assert_eq!(said(packed.len()), Ok(vec![7]));
    for cut in 10..packed.len() {
        let found = said(cut);
        assert!(found.is_err(), "{cut}: {found:?}");
    }
}

#[test]
fn q11_a_link_of_somebody_elses_hides_no_next_page() {
    let door = Door::new(|asked, before| {
        let next = format!("Link: <http://{}/list?page=2>; rel=\"next\"\r\n", asked.header("host").unwrap());
        let other = "Link: </style.css>; rel=preload; as=style\r\n";
        match before {
            0 => answer("200 OK", &format!("{other}{next}"), "[1]"),
            1 => answer("200 OK", "Link: <http://x/\u{fc}>; rel=prev\r\n", "[2]"),
            _ => answer("500 No", "", ""),
        }
    });
    let github = client(&format!("  apiUrl: {}\n  tokenEnv: [DOT_COM]", door.url()), &[], Bounds::default());
    let listing = pages::list(&github, "github.com", "/list", &Validators::default()).unwrap();
    assert_eq!((listing.items.len(), door.paths()), (2, vec!["/list".to_owned(), "/list?page=2".to_owned()]));
}

#[rstest]
#[case::to_itself("/x")]
#[case::round_and_round("/y")]
fn redirects_in_a_circle_end(#[case] to: &'static str) {
    let door = Door::new(move |asked, _| {
        let there = if asked.path() == to { "/x" } else { to };
        answer("302 Found", &format!("Location: {there}\r\n"), "")
    });
    let github = client(&format!("  apiUrl: {}\n  tokenEnv: [DOT_COM]", door.url()), &[], Bounds::default());
    let found = github.send(&Request::get("github.com", "/x"));
    assert!(found.is_ok_and(|answer| answer.status == 302), "it is shown as it is");
    assert!(door.paths().len() < 10);
}
