//! The merge driver as git calls it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::{Ground, Tree};
use crate::support::wait_for;

const FOLDER: &str = ".the-loop/portable";
const FILE: &str = ".the-loop/portable/github-octo-hello-7.json";

fn record(word: &str, second: u32, more: &str) -> String {
    format!(
        "{{\n  \"ref\": \"github:octo/hello#7\",\n  \"url\": \"https://github.com/octo/hello/issues/7\",\n  \"control\": \
         {{\n    \"ref\": \"github:octo/hello#7\",\n    \"command\": \"{word}\",\n    \"source\": \"comment\",\n    \
         \"actor\": \"mona\",\n    \"requestedAt\": \"2026-03-02T08:15:{second:02}Z\"\n  }}{more}\n}}\n"
    )
}

/// Two clones that were set up, the second not yet pulled: each with a commit on the same base.
fn two(base: &str, ours: &str, theirs: &str) -> (Ground, Tree, Tree) {
    let ground = Ground::new();
    let a = ground.clone("a");
    a.done("init");
    if !base.is_empty() {
        a.write(FILE, base);
    }
    a.commit("base");
    a.git(&["push", "-q", "-u", "origin", "main"]);
    let b = ground.clone("my clone's folder");
    b.git(&["reset", "-q", "--hard", "origin/main"]);
    b.done("init");
    for (tree, text) in [(&a, theirs), (&b, ours)] {
        tree.write(FILE, text);
        tree.commit("work");
    }
    a.git(&["push", "-q"]);
    (ground, a, b)
}

fn pull(tree: &Tree) -> (bool, String) {
    let output = tree.try_git(&["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]);
    (
        output.status.success(),
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)),
    )
}

#[test]
fn two_machines_that_both_worked_an_item_merge_without_a_hand_on_the_file() {
    let (start, pause, stop) = (record("start", 10, ""), record("pause", 20, ""), record("stop", 30, ""));
    for (base, ours, theirs) in
        [(start.as_str(), pause.as_str(), stop.as_str()), ("", &stop, &start), (&start, &stop, &pause)]
    {
        let (_ground, _, b) = two(base, ours, theirs);
        let (done, said) = pull(&b);
        assert!(done, "{said}");
        assert!(b.text(FILE).contains("\"command\": \"stop\""), "{}", b.text(FILE));
        assert_eq!(b.status(), "");
    }
}

#[test]
fn an_ending_beats_an_older_start_and_git_shows_that() {
    let ended = "{\"ref\": \"github:octo/hello#7\", \"control\": null, \"ended\": {\"at\": \"2026-03-02T09:00:00Z\", \"reason\": \"closed\"}}\n";
    let (_ground, _, b) = two(&record("start", 10, ""), &record("resume", 40, ""), ended);
    let (done, said) = pull(&b);
    assert!(done && said.contains("note: ") && said.contains("resume"), "{said}");
    assert!(b.text(FILE).contains("\"control\": null"), "{}", b.text(FILE));
}

#[test]
fn a_conflict_stands_between_markers_is_refused_by_everybody_and_is_resolved_like_any_other() {
    let with = |value: u8| record("start", 10, &format!(",\n  \"graph\": {value}"));
    let (_ground, _, b) = two(&record("start", 10, ""), &with(1), &with(2));
    let (done, said) = pull(&b);
    assert!(!done && said.contains("changed on both sides: `graph`"), "{said}");
    assert!(b.status().contains("AA") || b.status().contains("UU"), "{}", b.status());
    let text = b.text(FILE);
    assert_eq!(text.matches("<<<<<<< ").count(), 1, "{text}");
    assert!(text.contains("\"graph\": 1") && text.contains("\"graph\": 2") && text.contains("\"start\""), "{text}");
    // A file that was changed a moment ago may still be being written.
    let is_told = || b.run("doctor").stdout.contains("unresolved merge conflict");
    wait_for("doctor to name the markers", Duration::from_secs(20), is_told);
    let ours: String = with(1);
    b.write(FILE, ours);
    b.git(&["add", "-A"]);
    b.git(&["commit", "-q", "--no-edit"]);
    assert!(!is_told());
}

#[test]
fn k53_files_that_are_no_records_conflict_whole_and_lose_nothing() {
    let (_ground, _, b) = two(&record("start", 10, ""), "{\"ref\": ", &record("stop", 30, ""));
    let (done, said) = pull(&b);
    assert!(!done && said.contains("ours cannot be read"), "{said}");
    let text = b.text(FILE);
    assert!(text.contains("{\"ref\": \n=======") && text.contains(&record("stop", 30, "")), "{text}");
}

#[test]
fn the_index_of_the_earlier_system_is_ours() {
    let (_ground, a, b) = two("", "{}", "{}");
    for (tree, text) in [(&a, "[1]"), (&b, "[2]")] {
        tree.write(&format!("{FOLDER}/index.json"), text);
        tree.commit("index");
    }
    a.git(&["push", "-q"]);
    let (done, said) = pull(&b);
    assert!(done, "{said}");
    assert_eq!(b.text(&format!("{FOLDER}/index.json")), "[2]");
}

#[test]
fn without_the_program_git_merges_itself_and_loses_no_side() {
    let (_ground, _, b) = two(&record("start", 10, ""), &record("pause", 20, ""), &record("stop", 30, ""));
    let driver = b.git(&["config", "merge.the-loop.driver"]);
    b.git(&["config", "merge.the-loop.driver", &driver.replacen("the-loop ", "no-such-program ", 1)]);
    let (done, _) = pull(&b);
    assert!(!done);
    let text = b.text(FILE);
    assert!(text.contains("<<<<<<<") && text.contains("\"pause\"") && text.contains("\"stop\""), "{text}");
    // And init sets it right again.
    b.git(&["merge", "--abort"]);
    assert!(b.done("init").stdout.contains("set `merge.the-loop.driver`"));
    assert!(pull(&b).0);
}

#[test]
fn a_program_that_path_does_not_find_is_called_by_its_own_path_blanks_and_all() {
    let (_ground, a, b) = two(&record("start", 10, ""), &record("pause", 20, ""), &record("stop", 30, ""));
    let tools = a.path.parent().unwrap().join("my tool's place");
    fs::create_dir(&tools).unwrap();
    let program = tools.join("the-loop");
    fs::hard_link(env!("CARGO_BIN_EXE_the-loop"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_the-loop"), &program).map(drop))
        .unwrap();
    b.git(&["config", "--unset", "merge.the-loop.driver"]);
    let path: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let path = std::env::join_paths(path.into_iter().filter(|dir| !dir.join("the-loop").exists())).unwrap();
    let mut init = std::process::Command::new(&program);
    init.arg("init").current_dir(&b.path).env_clear().env("HOME", &b.home).env("PATH", path);
    let output = init.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(b.git(&["config", "merge.the-loop.driver"]).contains("my tool'\\''s place/the-loop' merge-driver"));
    let (done, said) = pull(&b);
    assert!(done && b.text(FILE).contains("\"stop\""), "{said}");
}

#[test]
fn it_needs_no_repository_no_configuration_and_no_store() {
    let ground = Ground::new();
    let tree = ground.at("user");
    tree.write(".the-loop/cli-config.yaml", "routing: [");
    tree.write("o", record("start", 10, ""));
    tree.write("t", record("stop", 20, ""));
    tree.write("b", "");
    let ran = tree.done("merge-driver b o t some/where.json --json");
    assert_eq!((ran.json()["merged"].as_bool(), ran.stderr.as_str()), (Some(true), ""));
    assert_eq!(
        tree.text("o"),
        record("stop", 20, "").replace("\n}\n", ",\n  \"commandedAt\": \"2026-03-02T08:15:20Z\"\n}\n")
    );
    assert_eq!(fs::read_dir(&tree.path).unwrap().count(), 4, "nothing is left beside them");
}
