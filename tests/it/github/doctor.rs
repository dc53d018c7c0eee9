//! What `doctor` says about GitHub, and which way the program goes there.

use std::fs;
use std::time::SystemTime;

use serde_json::Value as Json;
use the_loop::domain::time::Time;

use super::client::TOKEN;
use super::door::{Door, Says, answer};
use crate::program::world::{Ran, World};

/// A machine that polls two repositories; its github.com is at `api`.
fn polls(api: &str) -> World {
    let world = World::asleep("");
    let path = world.path("repo/.the-loop/cli-config.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let more = format!(
        "{text}\ngithub:\n  apiUrl: {api}\n  hosts: {{ghe.example: {{tokenEnv: [GHE]}}}}\n\
         polling: {{enabled: true, sources: [{{repos: [octo/hello, ghe.example/octo/hello]}}]}}\n"
    );
    fs::write(path, more).unwrap();
    world
}

fn doctor(world: &World, variables: &[(&str, &str)]) -> Ran {
    let mut command = world.command("doctor --json");
    Ran::of(command.envs(variables.iter().copied()).output().unwrap())
}

/// Kind and severity of what is said about GitHub.
fn said(ran: &Ran) -> Vec<(String, String)> {
    let document = ran.json();
    let findings = document["findings"].as_array().unwrap().iter();
    let text = |finding: &Json, key: &str| finding[key].as_str().unwrap().to_owned();
    let about = findings.filter(|finding| finding["area"] == "github");
    about.map(|finding| (text(finding, "id"), text(finding, "severity"))).collect()
}

fn pairs(said: &[(String, String)]) -> Vec<(&str, &str)> {
    said.iter().map(|(id, severity)| (id.as_str(), severity.as_str())).collect()
}

/// `Date` so many seconds from now.
fn date(offset: i64) -> String {
    let now = i64::try_from(SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap();
    let at = jiff::Timestamp::from_second(now + offset).unwrap();
    format!("Date: {}\r\n", at.strftime("%a, %d %b %Y %H:%M:%S GMT"))
}

const RATE: &str = r#"{"resources":{"core":{"limit":5000,"remaining":4871,"reset":4102444800}}}"#;

#[test]
fn doctor_asks_each_host_that_has_a_token_once() {
    let door = Door::new(|_, _| answer("200 OK", &date(0), RATE));
    let world = polls(&door.url());
    let without = said(&doctor(&world, &[]));
    assert_eq!(pairs(&without), [("github.no-token", "error"), ("github.no-token", "error")]);
    assert_eq!(door.asked(), []);
    let ran = doctor(&world, &[("GH_TOKEN", TOKEN)]);
    assert_eq!(pairs(&said(&ran)), [("github.no-token", "error"), ("github.answers", "ok")]);
    assert_eq!(door.paths(), ["/rate_limit"]);
    assert!(!ran.stdout.contains(TOKEN) && !ran.stderr.contains(TOKEN));
}

#[test]
fn doctor_names_a_wrong_clock_a_small_token_and_a_spent_budget() {
    let door = Door::new(|_, before| match before {
        0 => answer("200 OK", &(date(-300) + "X-OAuth-Scopes: gist\r\n"), &RATE.replace("4871", "7")),
        1 => Says::Bytes(include_bytes!("../../data/Q10-403-permission.http").to_vec()),
        2 => Says::Bytes(include_bytes!("../../data/Q13-502-html.http").to_vec()),
        3 => Says::Bytes(include_bytes!("../../data/Q08-403-secondary-no-headers.http").to_vec()),
        _ => answer("302 Found", "Location: https://evil.example/\r\n", ""),
    });
    let world = polls(&door.url());
    for want in [
        vec![
            ("github.answers", "ok"),
            ("github.budget", "warning"),
            ("github.scopes", "warning"),
            ("github.clock", "error"),
        ],
        vec![("github.refused", "error")],
        vec![("github.unreachable", "warning")],
        vec![("github.limited", "warning")],
        vec![("github.odd", "warning")],
    ] {
        let ran = doctor(&world, &[("GITHUB_TOKEN", TOKEN)]);
        let found = said(&ran);
        assert_eq!(pairs(&found)[1..], want);
        assert_eq!(ran.code, Some(1));
        assert!(!ran.stdout.contains("Unicorn") && !ran.stdout.contains(TOKEN), "{}", ran.stdout);
    }
}

#[test]
fn a_proxy_is_asked_for_other_machines_and_never_for_this_one() {
    let proxy = Door::new(|_, _| answer("403 Forbidden", "", ""));
    let api = Door::new(|_, _| answer("200 OK", &date(0), RATE));
    let address = proxy.url();
    let variables = [
        ("GITHUB_TOKEN", TOKEN),
        ("GHE", "ghp_of_the_enterprise"),
        ("HTTPS_PROXY", &address),
        ("HTTP_PROXY", &address),
    ];
    let ran = doctor(&polls(&api.url()), &variables);
    assert_eq!(pairs(&said(&ran)), [("github.unreachable", "warning"), ("github.answers", "ok")]);
    let asked = proxy.asked();
    assert_eq!(asked.iter().map(|asked| asked.line.as_str()).collect::<Vec<_>>(), ["CONNECT ghe.example:443 HTTP/1.1"]);
    assert!(!format!("{asked:?}").contains("ghp_"), "{asked:?}");
    assert_eq!(api.paths(), ["/rate_limit"]);
}

#[test]
fn the_clock_of_these_tests_is_read_as_a_date_of_http() {
    let text = date(0);
    let read = the_loop::domain::github::http_date(text.trim().trim_start_matches("Date: "));
    assert!(read.is_some_and(|read| read > Time::from_millis(0)), "{text}");
}
