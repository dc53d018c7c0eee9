//! The demonstrations, as a person runs them.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value as Json;

use super::world::Ran;
use crate::support::tmux::Server;

/// Runs a demonstration, with these variables beside the usual ones, and sees to it that nothing is left.
fn demo(script: &str, variables: &[(&str, PathBuf)]) -> Ran {
    let home = Server::new();
    let mut command = Command::new(format!("{}/demo/{script}", env!("CARGO_MANIFEST_DIR")));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", home.path("")).env("TMUX_TMPDIR", home.path("")).env("TMPDIR", home.path(""));
    command.envs(variables.iter().cloned());
    let ran = command.env("THE_LOOP", env!("CARGO_BIN_EXE_the-loop")).output().map(Ran::of).unwrap();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let left = std::fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| !name.to_string_lossy().starts_with("tmux-")).collect();
    assert!(left.is_empty(), "the demonstration leaves nothing behind: {left:?}");
    ran
}

/// What a demonstration prints below one of its heads.
fn part<'r>(ran: &'r Ran, head: &str) -> &'r str {
    let (_, rest) = ran.stdout.split_once(&format!("== {head}")).unwrap_or_else(|| panic!("no {head}: {ran:?}"));
    let (_, rest) = rest.split_once('\n').unwrap();
    rest.split_once("\n\u{1b}[1m== ").map_or(rest, |(part, _)| part)
}

/// What the agent heard, as its pane shows it: the first prompt, and once what mona said.
fn assert_heard(pane: &str, item: &str) {
    let heard: Vec<&str> = pane.lines().filter_map(|line| line.strip_prefix("agent hears: ")).collect();
    assert!(heard[0].starts_with(&format!("You are the agent of {item}")), "{pane}");
    assert_eq!(heard.iter().filter(|line| line.contains("grüße an alle")).count(), 1, "{pane}");
}

fn assert_followed(record: &str) {
    let portable: Json = serde_json::from_str(record).unwrap();
    assert_eq!(portable["control"]["command"], "start", "{portable}");
    assert!(portable["poll"]["seenComments"].as_array().is_some_and(|seen| !seen.is_empty()), "{portable}");
}

#[test]
fn demo_shows_the_whole_path() {
    let ran = demo("run", &[]);
    assert_heard(part(&ran, "what arrived in the pane"), "github:octo/hello#7");
    assert_followed(part(&ran, "the portable record"));
    let status = part(&ran, "git status").trim();
    assert_eq!(status, "?? .the-loop/portable/github-octo-hello-7.json", "{ran:?}");
    assert!(part(&ran, "the-loop sessions list").contains("github:octo/hello#7"), "{ran:?}");
    assert!(!part(&ran, "the-loop doctor").contains("error"), "{ran:?}");
}

/// The fake GitHub as a program: beside ours, where `cargo test` puts it.
fn fake_github() -> PathBuf {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_the-loop"));
    let fake = program.with_file_name("examples").join("fake_github");
    if !fake.exists() {
        let built =
            Command::new(env!("CARGO")).args(["build", "--quiet", "--example", "fake_github"]).status().unwrap();
        assert!(built.success());
    }
    fake
}

#[test]
fn demo_poll_shows_the_same_path_without_a_webhook() {
    let ran = demo("poll/run", &[("FAKE_GITHUB", fake_github())]);
    assert_heard(part(&ran, "what arrived in the pane"), "github:octo/hello#15");
    assert_followed(part(&ran, "the portable record"));
    let ticket = part(&ran, "the ticket");
    assert!(ticket.contains("the-loop-bot reacts eyes") && ticket.contains("sessions attach"), "{ticket}");
    let status = part(&ran, "the-loop status");
    assert!(status.contains("polling    1 repository, last cycle:") && status.contains("receiver   none"), "{status}");
    let cost = part(&ran, "what it cost");
    assert!(cost.trim().starts_with("requests "), "{cost}");
}
