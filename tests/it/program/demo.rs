//! The demonstration, as a person runs it.

use std::process::Command;

use serde_json::Value as Json;

use super::world::Ran;
use crate::support::tmux::Server;

#[test]
fn demo_shows_the_whole_path() {
    let home = Server::new();
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/run"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", home.path("")).env("TMUX_TMPDIR", home.path("")).env("TMPDIR", home.path(""));
    let ran = command.env("THE_LOOP", env!("CARGO_BIN_EXE_the-loop")).output().map(Ran::of).unwrap();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let part = |head: &str| -> &str {
        let (_, rest) = ran.stdout.split_once(&format!("== {head}")).unwrap_or_else(|| panic!("no {head}: {ran:?}"));
        let (_, rest) = rest.split_once('\n').unwrap();
        rest.split_once("\n\u{1b}[1m== ").map_or(rest, |(part, _)| part)
    };
    let pane = part("what arrived in the pane");
    let heard: Vec<&str> = pane.lines().filter_map(|line| line.strip_prefix("agent hears: ")).collect();
    assert!(heard[0].starts_with("You are the agent of github:octo/hello#7"), "{pane}");
    assert_eq!(heard.iter().filter(|line| line.contains("grüße an alle")).count(), 1, "{pane}");

    let portable: Json = serde_json::from_str(part("the portable record")).unwrap();
    assert_eq!(portable["control"]["command"], "start", "{portable}");
    assert!(portable["poll"]["seenComments"].as_array().is_some_and(|seen| !seen.is_empty()), "{portable}");

    let status = part("git status").trim();
    assert_eq!(status, "?? .the-loop/portable/github-octo-hello-7.json", "{ran:?}");
    assert!(part("the-loop sessions list").contains("github:octo/hello#7"), "{ran:?}");
    assert!(!part("the-loop doctor").contains("error"), "{ran:?}");
    let left = std::fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| !name.to_string_lossy().starts_with("tmux-")).collect();
    assert!(left.is_empty(), "the demonstration leaves nothing behind: {left:?}");
}
