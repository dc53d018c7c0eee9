//! `init`: what it writes, that it writes it once, and what it never touches.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};

use the_loop::domain::layout::IGNORE_BLOCK;

use super::{Ground, Tree};

const RECORD: &str = ".the-loop/portable/octo-hello-7.json";
const LOCAL: [&str; 4] = [
    ".the-loop/local/state.redb",
    ".the-loop/logs/events.jsonl",
    ".the-loop/the-loop.pid",
    ".the-loop/portable/x.json.1-1.tmp",
];

/// What git itself says after an `init`.
fn assert_in_order(tree: &Tree) {
    assert!(!tree.ignores(RECORD), "{}", tree.text(".gitignore"));
    for path in LOCAL {
        assert!(tree.ignores(path), "{path}: {}", tree.text(".gitignore"));
    }
    let attributes = tree.git(&["check-attr", "merge", "text", "--", RECORD]);
    assert!(attributes.contains("merge: the-loop") && attributes.contains("text: unset"), "{attributes}");
    assert!(tree.git(&["config", "merge.the-loop.driver"]).contains("merge-driver %O %A %B %P"));
    let before = files(tree);
    assert!(tree.done("init --check").stdout.starts_with("nothing to do"));
    assert!(tree.done("init").stdout.starts_with("nothing to do"));
    assert_eq!(files(tree), before, "a second run changed something");
}

/// Inode and content of what `init` writes.
fn files(tree: &Tree) -> Vec<(u64, Vec<u8>)> {
    let names = [".gitignore", ".gitattributes", ".the-loop/cli-config.yaml", ".git/config"];
    let there = names.map(|name| tree.path.join(name)).into_iter().filter(|path| path.exists());
    there.map(|path| (fs::metadata(&path).unwrap().ino(), fs::read(&path).unwrap())).collect()
}

#[test]
fn a_fresh_repository_gets_everything_once_and_each_change_is_shown() {
    let (_ground, tree) = Ground::repository("my repo");
    tree.git(&["remote", "add", "origin", "git@github.com:octo/hello.git"]);
    let check = tree.run("init --check");
    assert_eq!(check.code, Some(1));
    assert!(check.stdout.contains("would change") && check.stdout.contains("+ .the-loop/local/"), "{check:?}");
    assert_eq!(
        (tree.status().as_str(), tree.try_git(&["config", "merge.the-loop.driver"]).status.success()),
        ("", false)
    );
    let ran = tree.done("init");
    for said in
        ["cli-config.yaml`", "  + .the-loop/portable/*.tmp\n", "merge=the-loop -text\n", "set `merge.the-loop.driver`"]
    {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    assert!(tree.text(".gitignore").starts_with(IGNORE_BLOCK), "byte for byte");
    assert!(tree.text(".gitignore").contains("\n.the-loop/sessions/\n.the-loop/poll-state.json\n"));
    assert!(tree.text(".the-loop/cli-config.yaml").contains("repositories: [octo/hello]"));
    assert!(tree.done("config check").stdout.contains("is good"));
    assert_in_order(&tree);
    tree.commit("init");
    assert_eq!(tree.git(&["ls-files"]), ".gitattributes\n.gitignore\n.the-loop/cli-config.yaml");
    let sub = Tree { path: tree.path.join(".the-loop"), home: tree.home.clone() };
    assert!(sub.done("init").stdout.starts_with("nothing to do"), "from any folder of it");
}

#[test]
fn g01_g02_g03_g05_an_existing_gitignore_is_brought_into_order_line_by_line() {
    for (text, kept) in [
        ("target/", "target/\n"),
        ("target/\r\n*.o\r\n", "target/\r\n*.o\r\n"),
        ("\u{feff}target/\r\n", "\u{feff}target/\r\n"),
        ("target/\n.the-loop/\n!.the-loop/portable/\n*.o\n", "target/\n!.the-loop/portable/\n*.o\n"),
        ("!/.the-loop/portable/\n/.the-loop/*\ntarget/\n", "!/.the-loop/portable/\ntarget/\n"),
        (".the-loop/**\n!.the-loop/portable/**\ntarget/\n", "!.the-loop/portable/**\ntarget/\n"),
        (".the-loop/**\n!.the-loop/portable/\n!.the-loop/portable/**\ntarget/\n", ""),
    ] {
        let (_ground, tree) = Ground::repository("repo");
        tree.write(".gitignore", text);
        tree.done("init");
        let kept = if kept.is_empty() { text } else { kept };
        assert!(tree.text(".gitignore").starts_with(kept), "{text:?}: {:?}", tree.text(".gitignore"));
        assert!(tree.ignores("target/x"), "{text:?}");
        assert_in_order(&tree);
    }
}

#[test]
fn what_only_a_person_can_mend_is_named_with_its_line_and_exit_code_1() {
    let (_ground, tree) = Ground::repository("repo");
    tree.write(".gitignore", "target/\n*.json\n");
    let ran = tree.run("init");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("`*.json` (line 2 of `.gitignore`)"), "{ran:?}");
    assert!(tree.text(".gitignore").starts_with("target/\n*.json\n"), "it is left");
    let said = tree.run("init -q").stderr;
    assert!(said.contains("error: ") && said.contains("`*.json`") && said.contains("hint: "), "{said}");
    assert_eq!(tree.run("init --check").code, Some(1));
    tree.write(".git/info/exclude", "/.the-loop\n");
    tree.write(".gitignore", tree.text(".gitignore").replace("*.json\n", ""));
    assert!(tree.run("init").stderr.contains("(line 1 of `.git/info/exclude`)"));
}

#[test]
fn f11_a_linked_gitignore_is_refused_and_its_target_left() {
    let (ground, tree) = Ground::repository("repo");
    let target = ground.path("elsewhere");
    fs::write(&target, "target/\n").unwrap();
    symlink(&target, tree.path.join(".gitignore")).unwrap();
    let ran = tree.run("init");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("symbolic link"), "{ran:?}");
    assert_eq!(fs::read_to_string(&target).unwrap(), "target/\n");
    assert!(fs::symlink_metadata(tree.path.join(".gitignore")).unwrap().is_symlink());
}

#[test]
fn another_root_its_folder_and_moved_places_are_followed() {
    let (_ground, tree) = Ground::repository("repo");
    tree.write(
        "sub/.the-loop/cli-config.yaml",
        "state: {root: var}\nrouting: {registryDir: reg}\neventLog: {path: trail.jsonl}\n",
    );
    let sub = Tree { path: tree.path.join("sub"), home: tree.home.clone() };
    sub.done("init");
    assert!(!tree.path.join(".gitignore").exists() && !tree.path.join(".the-loop").exists());
    for (path, ignored) in [
        ("sub/var/local/x", true),
        ("sub/var/logs/x", true),
        ("sub/var/portable/a.json", false),
        ("sub/var/portable/a.json.1-1.tmp", true),
        ("sub/reg/state.redb", true),
        ("sub/trail.jsonl.1", true),
        ("sub/.the-loop/cli-config.yaml", false),
    ] {
        assert_eq!(tree.ignores(path), ignored, "{path}: {}", sub.text(".gitignore"));
    }
    assert!(tree.git(&["check-attr", "merge", "--", "sub/var/portable/a.json"]).ends_with("merge: the-loop"));
    assert!(sub.done("init").stdout.starts_with("nothing to do"));
}

#[test]
fn outside_a_working_tree_it_refuses_and_in_linked_ones_the_configuration_is_shared() {
    let (ground, tree) = Ground::repository("repo");
    for (place, said) in [("user", "is in no git repository"), ("hub.git", "is a bare git repository")] {
        let ran = ground.at(place).run("init");
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(said) && ran.stderr.contains("hint: "), "{ran:?}");
        assert!(!ground.path(place).join(".the-loop").exists());
    }
    tree.done("init");
    tree.commit("init");
    tree.git(&["worktree", "add", "-q", "../linked"]);
    let linked = ground.at("linked");
    assert!(linked.done("init").stdout.starts_with("nothing to do"));
    // A submodule is a repository of its own.
    tree.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        ground.path("linked").to_str().unwrap(),
        "module",
    ]);
    let module = Tree { path: tree.path.join("module"), home: tree.home.clone() };
    assert!(module.done("init").stdout.contains("set `merge.the-loop.driver`"));
    assert!(tree.text(".git/modules/module/config").contains("merge-driver"));
}

#[test]
fn what_a_hook_or_an_outer_git_set_leads_nowhere_else() {
    let (ground, tree) = Ground::repository("repo");
    let other = ground.at("other");
    fs::create_dir(&other.path).unwrap();
    other.git(&["init", "-q"]);
    let mut command = tree.command(&["init"]);
    command.env("GIT_DIR", other.path.join(".git")).env("GIT_WORK_TREE", &other.path).env("GIT_INDEX_FILE", "nowhere");
    assert!(command.output().unwrap().status.success());
    assert_in_order(&tree);
    assert!(!other.path.join(".gitignore").exists() && !other.text(".git/config").contains("the-loop"));
}

#[test]
fn a_state_root_behind_a_link_or_beside_the_repository_is_where_it_leads() {
    let (_ground, tree) = Ground::repository("repo");
    std::fs::create_dir(tree.path.join("state")).unwrap();
    std::os::unix::fs::symlink("state", tree.path.join(".the-loop")).unwrap();
    tree.done("init");
    assert!(tree.ignores("state/local/state.redb") && !tree.ignores("state/portable/x.json"));
    assert!(tree.git(&["check-attr", "merge", "--", "state/portable/x.json"]).contains("the-loop"));
    assert!(tree.done("init --check").stdout.starts_with("nothing to do"));
    tree.write(".the-loop/cli-config.yaml", "state: {root: ../beside}\n");
    let ran = tree.run("init");
    assert_eq!((ran.code, ran.stderr.contains("outside")), (Some(0), true), "{ran:?}");
}
