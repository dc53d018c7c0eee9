//! What doctor says of a repository, and what `--fix` does about it.

use std::collections::BTreeSet;
use std::fs;

use super::{Ground, Tree};

/// The ids of doctor's findings about git, and what it says.
fn findings(tree: &Tree) -> (BTreeSet<String>, String) {
    let ran = tree.run("doctor --json");
    let findings = ran.json()["findings"].as_array().unwrap().clone();
    let of_git = findings.iter().filter(|finding| finding["area"] == "git");
    let text = of_git.clone().map(|finding| format!("{finding}\n")).collect();
    (of_git.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect(), text)
}

fn assert_found(tree: &Tree, wanted: &[&str]) -> String {
    let (ids, text) = findings(tree);
    assert_eq!(ids, wanted.iter().map(|id| (*id).to_owned()).collect(), "{text}");
    text
}

fn set_up() -> (Ground, Tree) {
    let (ground, tree) = Ground::repository("repo");
    tree.done("init");
    tree.commit("init");
    (ground, tree)
}

#[test]
fn a_repository_in_order_is_sound_and_one_that_was_never_set_up_is_told_whole() {
    let (_ground, tree) = Ground::repository("repo");
    tree.write(".the-loop/cli-config.yaml", "version: \"0.4.0\"\n");
    let whole = ["git.local-open", "git.temporary-open", "git.no-attribute", "git.no-driver"];
    assert_found(&tree, &whole);
    let preview = tree.run("doctor --fix");
    assert!(preview.stdout.contains("would put `.the-loop/local/`"), "{preview:?}");
    assert!(preview.stdout.contains("would set `merge.the-loop.driver`"), "{preview:?}");
    assert_found(&tree, &whole);
    let fixed = tree.run("doctor --fix --yes");
    assert!(fixed.stdout.contains("fixed"), "{fixed:?}");
    assert_found(&tree, &["git.sound"]);
    // The name of the driver is for people; the rest is what `init` writes.
    assert_eq!(tree.run("init --check").stdout.lines().filter(|line| line.starts_with("would")).count(), 1);
}

#[test]
fn g01_g02_g03_recipes_that_git_reads_otherwise_than_they_look_are_rejected_and_mended() {
    for (text, wanted) in [
        (".the-loop/\n!.the-loop/portable/\n", vec!["git.portable-ignored"]),
        ("!/.the-loop/portable/\n/.the-loop/*\n", vec!["git.portable-ignored"]),
        (".the-loop/**\n!.the-loop/portable/**\n", vec!["git.portable-ignored"]),
        // These two are right; only the exporter's temporaries are not in them.
        (".the-loop/**\n!.the-loop/portable/\n!.the-loop/portable/**\n", vec!["git.temporary-open"]),
        ("/.the-loop/*\n!/.the-loop/portable/\n", vec!["git.temporary-open"]),
        ("# nothing\n", vec!["git.local-open", "git.temporary-open"]),
    ] {
        let (_ground, tree) = set_up();
        tree.write(".gitignore", text);
        let said = assert_found(&tree, &wanted);
        if wanted == ["git.portable-ignored"] {
            assert!(said.contains(text.lines().find(|line| !line.starts_with('!')).unwrap()), "{said}");
        }
        tree.run("doctor --fix --yes");
        assert_found(&tree, &["git.sound"]);
        assert!(text.lines().all(|line| !line.starts_with('!') || tree.text(".gitignore").contains(line)));
    }
}

#[test]
fn g06_a_tracked_store_is_named_and_the_files_stay() {
    let (_ground, tree) = Ground::repository("repo");
    tree.write(".the-loop/cli-config.yaml", "version: \"0.4.0\"\n");
    tree.write(".the-loop/local/state.redb", "x");
    tree.write(".the-loop/local/more", "x");
    tree.commit("a mistake");
    let ran = tree.run("init");
    assert_eq!(ran.code, Some(1), "what is tracked goes on being committed: {ran:?}");
    assert!(ran.stderr.contains("git tracks `.the-loop/local/"), "{ran:?}");
    let said = assert_found(&tree, &["git.local-tracked"]);
    assert!(said.contains("git rm --cached") && said.contains("state.redb"), "{said}");
    tree.git(&["rm", "-q", "-r", "--cached", ".the-loop/local"]);
    assert_found(&tree, &["git.sound"]);
}

#[test]
fn a_driver_that_is_not_found_or_older_and_attributes_taken_back_are_named() {
    let (_ground, tree) = set_up();
    let driver = tree.git(&["config", "merge.the-loop.driver"]);
    tree.git(&["config", "merge.the-loop.driver", &driver.replacen("the-loop ", "'/no such/the-loop' ", 1)]);
    assert!(assert_found(&tree, &["git.driver-missing"]).contains("/no such/the-loop"));
    tree.git(&["config", "merge.the-loop.driver", "the-loop merge-driver %O %A %B %P"]);
    assert_found(&tree, &["git.driver-missing"]);
    tree.run("doctor --fix --yes");
    assert_eq!(tree.git(&["config", "merge.the-loop.driver"]), driver);
    let attributes = tree.text(".gitattributes");
    tree.write(".gitattributes", format!("{attributes}*.json text eol=crlf\n"));
    assert_found(&tree, &["git.no-attribute"]);
    tree.run("doctor --fix --yes");
    assert_found(&tree, &["git.sound"]);
    tree.write(".git/info/attributes", "*.json merge=union\n");
    assert_found(&tree, &["git.no-attribute"]);
    assert_eq!(tree.run("init").code, Some(1), "nothing in the tree is stronger than that file");
}

#[test]
fn line_ends_stay_whatever_git_is_told_to_convert() {
    let ground = Ground::new();
    let a = ground.clone("a");
    a.write(".the-loop/cli-config.yaml", "version: \"0.4.0\"\nrepositories: [octo/hello]\n");
    a.git(&["config", "core.autocrlf", "true"]);
    let (ids, said) = findings(&a);
    assert!(ids.contains("git.no-attribute") && said.contains("`core.autocrlf` is `true`"), "{said}");
    a.done("init");
    a.done("sessions stop 7");
    a.write(".the-loop/portable/crlf.json", "{\r\n\"ref\": \"github:octo/hello#8\"}\r\n");
    a.commit("work");
    a.git(&["push", "-q", "origin", "main"]);
    ground.at("").git(&["clone", "-q", "-c", "core.autocrlf=true", "hub.git", "b"]);
    let b = ground.at("b");
    for name in ["github-octo-hello-7.json", "crlf.json"] {
        let path = format!(".the-loop/portable/{name}");
        assert_eq!(fs::read(b.path.join(&path)).unwrap(), fs::read(a.path.join(&path)).unwrap(), "{name}");
    }
    assert_eq!((a.status().as_str(), b.status().as_str()), ("", ""));
    let (ids, said) = findings(&b);
    assert!(ids.contains("git.line-ends") && said.contains("crlf.json") && !said.contains("hello-7"), "{said}");
}

#[test]
fn without_a_repository_nothing_is_wrong() {
    let ground = Ground::new();
    let tree = ground.at("user");
    tree.write(".the-loop/cli-config.yaml", "version: \"0.4.0\"\n");
    assert_found(&tree, &["git.none"]);
    let (_ground, tree) = Ground::repository("repo");
    let elsewhere = ground.path("state");
    tree.write(".the-loop/cli-config.yaml", format!("state: {{root: {}}}\n", elsewhere.display()));
    assert_found(&tree, &["git.elsewhere"]);
    assert!(tree.done("init").stderr.contains("lies outside the repository"));
}

#[test]
fn f04_a_merge_conflict_is_named_the_moment_it_is_there() {
    let (_ground, tree) = set_up();
    tree.write(".the-loop/portable/github-octo-hello-7.json", "{\n<<<<<<< ours\n");
    let said = tree.run("doctor --json").stdout;
    assert!(said.contains("portable.refused") && said.contains("line 2"), "{said}");
}
