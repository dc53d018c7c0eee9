//! Work handed from one machine to the next with the binary and git alone, the hook that goes with it, and a daemon that
//! leaves the tree clean.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::{Ground, Tree};
use crate::program::world::World;

const CONFIG: &str = "version: \"0.4.0\"\nrepositories: [octo/hello]\nrouting: {authorizedUsers: [mona]}\n";
const FILE: &str = ".the-loop/portable/github-octo-hello-7.json";

fn first(ground: &Ground) -> Tree {
    let tree = ground.clone("a");
    tree.write(".the-loop/cli-config.yaml", CONFIG);
    tree.done("init");
    tree.commit("the-loop");
    tree.git(&["push", "-q", "-u", "origin", "main"]);
    tree
}

fn second(ground: &Ground) -> Tree {
    ground.at("").git(&["clone", "-q", "-b", "main", "hub.git", "b"]);
    let tree = ground.at("b");
    tree.done("init");
    tree
}

fn hand_over(from: &Tree, to: &Tree) {
    from.done("export");
    from.commit("state");
    from.git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    from.git(&["push", "-q"]);
    to.commit("state");
    to.git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    to.done("export");
}

#[test]
fn work_is_handed_over_and_back_and_both_may_work_at_once() {
    let ground = Ground::new();
    let (a, b) = (first(&ground), second(&ground));
    a.done("sessions start 7");
    hand_over(&a, &b);
    assert!(b.text(FILE).contains("\"command\": \"start\""));
    assert_eq!(b.text(FILE), a.text(FILE));
    // Both go on without knowing of each other; the second of them is later.
    a.done("sessions pause 7");
    a.commit("paused");
    b.done("sessions stop 7");
    hand_over(&b, &a);
    hand_over(&a, &b);
    for tree in [&a, &b] {
        assert!(
            tree.text(FILE).contains("\"command\": \"stop\"") || tree.text(FILE).contains("\"ended\""),
            "{}",
            tree.text(FILE)
        );
        assert_eq!(tree.status(), "");
        tree.done("export --check");
    }
    assert_eq!(a.text(FILE), b.text(FILE));
}

/// The hook of the page on state, as it stands there.
fn hook() -> String {
    let page = include_str!("../../../docs/cli/state.md");
    let start = page.find("#!/bin/sh\n").expect("the hook on the page");
    page[start..].split("```").next().unwrap().to_owned()
}

#[test]
fn the_documented_hook_keeps_a_commit_from_leaving_state_behind() {
    let ground = Ground::new();
    let tree = first(&ground);
    let path = tree.path.join(".git/hooks/pre-commit");
    fs::write(&path, hook()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    tree.done("sessions start 7");
    tree.write("work", "1");
    tree.git(&["add", "work"]);
    // Up to date, and not part of the commit.
    let refused = tree.try_git(&["commit", "-q", "-m", "work"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("git add"), "{said}");
    tree.git(&["add", "-A"]);
    tree.git(&["commit", "-q", "-m", "work"]);
    // Not up to date: the file is older than the store.
    tree.git(&["rm", "-q", "-f", FILE]);
    let refused = tree.try_git(&["commit", "-q", "-m", "less"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("the-loop export"), "{said}");
    tree.done("export");
    tree.git(&["add", "-A"]);
    tree.write("work", "2");
    // From a folder below, with `-a`, where git sets an index of its own.
    fs::create_dir(tree.path.join("below")).unwrap();
    let below = Tree { path: tree.path.join("below"), home: tree.home.clone() };
    below.git(&["commit", "-q", "-a", "-m", "more"]);
    assert_eq!(tree.status(), "");
}

#[test]
fn k52_a_quiet_daemon_leaves_the_tree_clean() {
    let world = World::asleep("");
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(args).current_dir(world.path("repo")).env("HOME", world.path("user")).envs(super::IDENTITY);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    git(&["init", "-q"]);
    world.done("init");
    world.start();
    world.arm(&[52]);
    world.done("export");
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "state"]);
    let tracked = git(&["ls-files"]);
    assert!(tracked.contains("portable/github-octo-hello-52.json") && !tracked.contains("local/"), "{tracked}");
    world.done("export --check");
    for line in ["status", "doctor", "sessions list", "events", "export"] {
        world.run(line);
    }
    assert_eq!(git(&["status", "--porcelain"]), "");
    world.stop();
    world.start();
    world.stop();
    assert_eq!(git(&["status", "--porcelain"]), "");
}

#[test]
fn f01_items_whose_names_look_alike_have_files_of_their_own_and_never_merge_into_one() {
    let ground = Ground::new();
    let a = first(&ground);
    a.write(".the-loop/cli-config.yaml", CONFIG.replace("[octo/hello]", "[]"));
    a.commit("whatever arrives");
    a.git(&["push", "-q"]);
    let b = second(&ground);
    let of = |tree: &Tree, item: &str| {
        let folder = fs::read_dir(tree.path.join(".the-loop/portable")).unwrap();
        let texts = folder.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
        texts.filter(|text| text.contains(&format!("\"ref\": \"github:{item}\",\n  \"url\""))).count()
    };
    let alike = ["a/b-c#1", "a-b/c#1", "a/b_c#1"];
    for item in alike {
        a.done(&format!("sessions stop {item}"));
    }
    for item in alike {
        assert_eq!(of(&a, item), 1, "{item}");
    }
    hand_over(&a, &b);
    // Two machines that give the same name to different items: both are kept, and a person gives one another name.
    a.done("sessions stop a/x-y#1");
    b.done("sessions stop a-x/y#1");
    a.commit("one");
    a.git(&["push", "-q"]);
    b.commit("other");
    let pulled = b.try_git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    let said = String::from_utf8_lossy(&pulled.stderr).into_owned();
    assert!(!pulled.status.success() && said.contains("the other about `github:a/x-y#1`"), "{said}");
    assert_eq!((of(&b, "a/x-y#1"), of(&b, "a-x/y#1")), (1, 1));
}

#[test]
fn f11_a_committed_link_is_neither_followed_nor_replaced() {
    let ground = Ground::new();
    let (a, b) = (first(&ground), second(&ground));
    let outside = ground.path("outside.json");
    fs::write(&outside, "{\"ref\": \"github:octo/hello#7\"}").unwrap();
    fs::create_dir_all(a.path.join(".the-loop/portable")).unwrap();
    std::os::unix::fs::symlink(&outside, a.path.join(FILE)).unwrap();
    a.commit("a link");
    a.git(&["push", "-q"]);
    b.git(&["pull", "-q"]);
    b.run("sessions stop 7");
    let ran = b.run("export");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("symbolic link"), "{ran:?}");
    assert!(fs::symlink_metadata(b.path.join(FILE)).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{\"ref\": \"github:octo/hello#7\"}");
}
