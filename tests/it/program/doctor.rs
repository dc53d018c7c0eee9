//! `doctor` on machines that are broken in many ways, and what `--fix` does and does not.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use rustix::process::Signal;
use serde_json::Value as Json;

use super::hub::reference;
use super::world::{PATIENCE, Ran, World};
use crate::support::tmux::signal;
use crate::support::wait_for;

fn findings(ran: &Ran) -> Vec<Json> {
    ran.json()["findings"].as_array().unwrap().clone()
}

fn ids(ran: &Ran) -> Vec<String> {
    findings(ran).iter().map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

fn assert_found(ran: &Ran, wanted: &[&str]) {
    let ids = ids(ran);
    let missing: Vec<_> = wanted.iter().filter(|id| !ids.iter().any(|found| found == *id)).collect();
    assert!(missing.is_empty(), "{missing:?} of {ids:?}");
}

/// Everything below a folder: modes and contents. Sockets and the tmux options, written by every look, aside.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, meta) = (entry.path(), entry.metadata().unwrap());
        if meta.is_dir() {
            found.extend(tree(&path));
        }
        found.insert(path.clone(), (meta.mode(), fs::read(&path).unwrap_or_default()));
    }
    found
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A machine after a bad day: nothing runs, and much lies about.
fn broken() -> World {
    let world = World::asleep("  authorizedUsers: []\n");
    for number in 1..4 {
        world.done(&format!("sessions stop octo/hello#{number}"));
    }
    let root = world.path("repo/.the-loop");
    let config = root.join("cli-config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    let text = text
        .replace("{port: 0}", "{port: 0, host: 0.0.0.0, secretEnv: NOWHERE, secretFile: secret}")
        .replace("agent: {binary:", "agent: {binary: /nowhere/agent} #");
    fs::write(&config, text).unwrap();
    fs::write(world.path("repo/secret"), "changeme\n").unwrap();
    fs::create_dir_all(root.join("logs/events.jsonl")).unwrap();
    set_mode(&root.join("logs"), 0o755);
    set_mode(&root.join("local"), 0o755);
    set_mode(&root.join("local/state.redb"), 0o644);
    let owner = r#"{"pid": 4194000, "started": 7, "kind": "daemon", "version": "0.0.1"}"#;
    fs::write(root.join("local/owner.json"), owner).unwrap();
    fs::write(root.join("the-loop.pid"), "4194000\nversion 0.0.1\nstarted 7\n").unwrap();
    let portable = root.join("portable");
    fs::write(portable.join("github-octo-hello-1.json"), "<<<<<<< HEAD\n{}\n=======\n").unwrap();
    fs::copy(portable.join("github-octo-hello-2.json"), portable.join("copy.json")).unwrap();
    fs::copy(portable.join("github-octo-hello-3.json"), portable.join("github-octo-hello-3.json.1-2.tmp")).unwrap();
    fs::write(portable.join("github-octo-hello-2.json.1-2.tmp"), "{\"ref\": \"git").unwrap();
    // Files that were changed a moment ago may still be being written.
    wait_for("the files to be old enough", PATIENCE, || {
        fs::read_dir(&portable).unwrap().flatten().all(|entry| {
            let changed = entry.metadata().unwrap().ctime();
            i64::try_from(SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap() > changed + 2
        })
    });
    world
}

#[test]
fn a_broken_machine_is_told_whole_and_looking_changes_nothing() {
    let world = broken();
    let root = world.path("repo/.the-loop");
    let before = tree(&root);
    let ran = world.run("doctor --json");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""));
    assert_found(
        &ran,
        &[
            "configuration.nobody-authorized",
            "configuration.no-harness",
            "receiver.known-secret",
            "receiver.line-end",
            "receiver.public",
            "state.open",
            "log.unwritable",
            "daemon.none",
            "daemon.stale-owner",
            "daemon.stale-pid",
            "store.sound",
            "portable.refused",
            "portable.wrong-name",
            "portable.leftover",
            "portable.leftover-unreadable",
        ],
    );
    for finding in findings(&ran) {
        let bad = finding["severity"] == "error" || finding["severity"] == "warning";
        assert!(!bad || finding["why"].is_string() && finding["todo"].is_string(), "{finding}");
        assert!(finding["id"].as_str().unwrap().starts_with(&format!("{}.", finding["area"].as_str().unwrap())));
    }
    let text = world.run("doctor");
    assert_eq!(text.code, Some(1));
    assert!(text.stdout.contains("github-octo-hello-1.json, line 1: unresolved merge conflict"), "{}", text.stdout);
    assert!(!text.stdout.contains("changeme"), "the secret is not told");
    assert!(tree(&root) == before, "looking changed something");
}

#[test]
fn k70_fix_without_a_yes_changes_nothing_and_says_so_and_with_it_does_what_it_listed() {
    let world = broken();
    let root = world.path("repo/.the-loop");
    let before = tree(&root);
    let asked = world.run("doctor --fix");
    assert_eq!(asked.code, Some(1));
    assert!(asked.stderr.contains("nothing was changed") && asked.stderr.contains("--yes"), "{}", asked.stderr);
    assert!(asked.stdout.lines().all(|line| line.starts_with("would ")), "{}", asked.stdout);
    let listed = world.run("doctor --fix --json").json();
    assert!(listed["fixes"].as_array().unwrap().iter().all(|fix| fix["done"] == false));
    let offer = format!("can mend safely ({})", listed["fixes"].as_array().unwrap().len());
    assert!(world.run("doctor").stdout.contains(&offer), "as many are offered as are listed");
    assert!(tree(&root) == before, "a preview changed something");

    let bad = fs::read(root.join("portable/github-octo-hello-1.json")).unwrap();
    let fixed = world.run("doctor --fix --yes --json");
    assert_eq!(fixed.code, Some(1), "a log and a secret are left to people: {}", fixed.stdout);
    let fixes = fixed.json()["fixes"].as_array().unwrap().clone();
    assert_eq!(fixes.len(), listed["fixes"].as_array().unwrap().len());
    assert!(fixes.iter().all(|fix| fix["done"] == true), "{fixes:#?}");
    for gone in [
        "state.open",
        "daemon.stale-owner",
        "daemon.stale-pid",
        "portable.refused",
        "portable.leftover",
        "portable.leftover-unreadable",
    ] {
        assert!(!ids(&fixed).iter().any(|id| id == gone), "{gone} is still there");
    }
    let mode = |path: &str| fs::metadata(root.join(path)).unwrap().mode() & 0o777;
    assert_eq!((mode("local"), mode("local/state.redb"), mode("logs")), (0o700, 0o600, 0o700));
    assert_eq!(fs::read(root.join("local/owner.json")).unwrap(), b"");
    assert_eq!(fs::read(root.join("the-loop.pid")).unwrap(), b"");
    assert_eq!(fs::read(root.join("local/set-aside/github-octo-hello-1.json")).unwrap(), bad, "kept as it was");
    assert_eq!(fs::read(root.join("local/set-aside/github-octo-hello-2.json.1-2.tmp")).unwrap(), b"{\"ref\": \"git");
    let written = fs::read_to_string(root.join("portable/github-octo-hello-1.json")).unwrap();
    assert!(written.contains("\"stop\""), "written again from the store: {written}");
    assert!(root.join("portable/copy.json").exists(), "what is somebody's own is left to him");
    assert!(world.run("doctor --fix --yes").stdout.contains("nothing to fix"));
}

#[test]
fn k53_d02_a_damaged_store_is_repaired_on_a_copy_or_left_and_what_was_there_is_kept() {
    let world = World::asleep("");
    for number in 1..6 {
        world.done(&format!("sessions start octo/hello#{number}"));
    }
    let local = world.path("repo/.the-loop/local");
    let store = local.join("state.redb");
    let whole = fs::read(&store).unwrap();
    let before = world.sessions();
    let (mut repaired, mut refused) = (0, 0);
    for page in 1..whole.len() / 4096 {
        let mut damaged = whole.clone();
        let part = &mut damaged[page * 4096 + 8..page * 4096 + 128];
        if repaired > 0 && refused > 0 || part.iter().all(|byte| *byte == 0) {
            continue;
        }
        part.fill(0xA5);
        fs::write(&store, &damaged).unwrap();
        let ran = world.run("doctor --json");
        let Some(finding) = findings(&ran).into_iter().find(|finding| finding["id"] == "store.damaged") else {
            continue;
        };
        assert!(finding["fix"]["repairStore"].is_object(), "{finding}");
        assert!(fs::read(&store).unwrap() == damaged, "page {page}: looking changed the file");
        let fixes = world.run("doctor --fix --yes --json").json()["fixes"].as_array().unwrap().clone();
        let repair = fixes.iter().find(|fix| fix["fix"]["repairStore"].is_object()).unwrap();
        let kept: Vec<_> = names(&local).into_iter().filter(|name| name.contains(".damaged-")).collect();
        if repair["done"] == true {
            assert_eq!(kept.len(), 1);
            assert!(fs::read(local.join(&kept[0])).unwrap() == damaged, "what was there is kept byte for byte");
            assert_eq!(world.sessions(), before, "page {page}");
            fs::remove_file(local.join(&kept[0])).unwrap();
            repaired += 1;
        } else {
            assert_eq!(kept.len(), 0);
            assert!(fs::read(&store).unwrap() == damaged, "page {page}: a failed repair changed the file");
            refused += 1;
        }
    }
    assert!(repaired > 0 && refused > 0, "{repaired} {refused}");
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn d10_d02_whatever_lies_in_the_stores_place_is_told_and_left() {
    let world = World::asleep("");
    world.done("sessions stop octo/hello#1");
    let store = world.path("repo/.the-loop/local/state.redb");
    let whole = fs::read(&store).unwrap();
    let cut = &whole[..whole.len() / 2];
    for (content, id) in [
        (b"{\"a\":1}".as_slice(), "store.foreign"),
        (&[0; 8192], "store.foreign"),
        (b"", "store.damaged"),
        (cut, "store.damaged"),
    ] {
        fs::write(&store, content).unwrap();
        set_mode(&store, 0o600);
        for line in ["doctor --json", "doctor --fix --yes --json"] {
            let ran = world.run(line);
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert_found(&ran, &[id]);
            assert!(fs::read(&store).unwrap() == content, "{line} changed what lies there");
        }
        assert!(!names(store.parent().unwrap()).iter().any(|name| name.contains("damaged-") || name.contains("new-")));
    }
    fs::remove_file(&store).unwrap();
    fs::create_dir(&store).unwrap();
    assert_found(&world.run("doctor --json"), &["store.foreign"]);
}

#[test]
fn k73_a_stopped_daemon_and_one_of_another_version_are_named() {
    let world = World::new("");
    let well = world.run("doctor --json");
    assert_eq!(well.code, Some(0), "{well:?}");
    assert_found(&well, &["daemon.runs", "receiver.reachable", "tmux.version", "sessions.sound"]);
    assert!(!ids(&well).iter().any(|id| id == "daemon.stale-owner"));
    signal(world.pid(), Signal::STOP);
    let ran = world.run("doctor --json");
    signal(world.pid(), Signal::CONT);
    assert_eq!(ran.code, Some(1));
    assert_found(&ran, &["daemon.stopped", "receiver.unreachable", "store.sound"]);
    let named = findings(&ran)
        .iter()
        .any(|f| f["id"] == "daemon.stopped" && f["what"].as_str().unwrap().contains(&format!("pid {}", world.pid())));
    assert!(named, "{ran:?}");
    let owner = world.path("repo/.the-loop/local/owner.json");
    let text = fs::read_to_string(&owner).unwrap();
    fs::write(&owner, text.replace(concat!("\"", env!("CARGO_PKG_VERSION"), "\""), "\"0.0.1\"")).unwrap();
    assert_found(&world.run("doctor --json"), &["daemon.version"]);
    fs::write(&owner, text).unwrap();
    let pidfile = world.path("repo/.the-loop/gh-webhook.pid");
    fs::write(&pidfile, "1").unwrap();
    let held = fs::File::open(&pidfile).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert_found(&world.run("doctor --json"), &["daemon.earlier-system"]);
}

#[test]
fn k49_fix_marks_what_is_gone_through_the_owner_and_ends_no_session() {
    let world = World::new("");
    world.arm(&[49, 50]);
    let (gone, living) = (reference(49), reference(50));
    // A pane of nobody's on our server, with our marks, and one that carries none.
    let (_, stranger) =
        world.server.raw(&["new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", "stranger", "sleep 600"]);
    let stranger: u32 = stranger.parse().unwrap();
    let key = ["set-option", "-p", "-t", "stranger", "@the-loop-key", "k0"];
    world.server.raw(&key);
    world.server.raw(&["set-option", "-p", "-t", "stranger", "@the-loop-ref", "github:octo/hello#99"]);
    let agents = world.living_agents(&living);
    let pane = world.done("sessions show octo/hello#49 --json").json()["detail"]["pane"].as_str().unwrap().to_owned();
    world.server.raw(&["kill-pane", "-t", &pane]);
    wait_for("its agent to end", PATIENCE, || world.living_agents(&gone).is_empty());
    let ran = world.run("doctor --json");
    assert_found(&ran, &["tmux.no-pane"]);
    assert!(ids(&ran).iter().any(|id| id == "tmux.no-record" || id == "tmux.other-store"), "{:?}", ids(&ran));
    let fixed = world.run("doctor --fix --yes --json");
    let fixes = fixed.json()["fixes"].as_array().unwrap().clone();
    assert_eq!(fixes.len(), 1, "{fixes:#?}");
    assert_eq!((&fixes[0]["done"], &fixes[0]["fix"]["markGone"]["item"]), (&true.into(), &Json::from(gone.as_str())));
    assert!(!ids(&fixed).iter().any(|id| id == "tmux.no-pane"));
    assert_eq!((world.state(&gone).as_str(), world.state(&living).as_str()), ("registered", "live"));
    world.wait_event("session.pane_gone", &[("workItem", &gone)]);
    assert_eq!(world.living_agents(&living), agents, "no agent was ended");
    assert!(the_loop::adapters::processes::start_time(stranger).is_some(), "nor anybody else's program");
    world.say(49, "after it was marked");
    world.wait_heard(&gone, "after it was marked");
    assert_eq!(world.times(&gone, "after it was marked"), 1);
    // Without a daemon the command does the same as the owner.
    let pane = world.done("sessions show octo/hello#49 --json").json()["detail"]["pane"].as_str().unwrap().to_owned();
    world.stop();
    world.server.raw(&["kill-pane", "-t", &pane]);
    wait_for("its agent to end", PATIENCE, || world.living_agents(&gone).is_empty());
    assert!(world.run("doctor --fix --yes").stdout.contains("fixed"));
    assert_eq!(world.state(&gone), "registered");
    assert_eq!(world.living_agents(&living), agents);
    signal(stranger, Signal::KILL);
}

#[test]
fn k62_a_configuration_of_another_version_is_told_with_its_way_out() {
    let world = World::asleep("");
    let config = world.path("repo/.the-loop/cli-config.yaml");
    for (text, id) in [
        ("version: \"0.1.0\"\n", "configuration.version"),
        ("version: \"9.0.0\"\n", "configuration.version"),
        ("polling: {stateFile: x}\n", "configuration.version"),
        ("routing: {runner: 7}\n", "configuration.invalid"),
        ("routing: [\n", "configuration.invalid"),
    ] {
        fs::write(&config, text).unwrap();
        let ran = world.run("doctor --json");
        assert_eq!((ran.code, ids(&ran)[0].as_str()), (Some(1), id), "{text}");
        assert_found(&ran, &["configuration.part", "state.disk", "daemon.none"]);
        assert!(findings(&ran)[0]["todo"].is_string());
    }
    fs::remove_file(&config).unwrap();
    fs::create_dir(&config).unwrap();
    assert_eq!(ids(&world.run("doctor --json"))[0], "configuration.unreadable");
}

/// Runs `line` as a user whom modes bind: as root they bind nobody, so everything is given to another one first.
fn unprivileged(world: &World, line: &str) -> Ran {
    const NOBODY: u32 = 65534;
    let command = world.command(line);
    if !rustix::process::geteuid().is_root() {
        return { command }.output().map(Ran::of).unwrap();
    }
    let binary = world.path("the-loop");
    if !binary.exists() {
        fs::copy(command.get_program(), &binary).unwrap();
    }
    give(&world.path(""), NOBODY);
    let mut as_nobody = Command::new(binary);
    as_nobody.args(command.get_args()).current_dir(world.path("repo")).env_clear().uid(NOBODY).gid(NOBODY);
    as_nobody.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    as_nobody.output().map(Ran::of).unwrap()
}

fn give(path: &Path, user: u32) {
    std::os::unix::fs::lchown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        fs::read_dir(path).unwrap().flatten().for_each(|entry| give(&entry.path(), user));
    }
}

#[test]
fn k70_a_folder_in_which_nothing_can_be_made_is_a_warning() {
    let world = World::asleep("");
    world.done("sessions pause octo/hello#7");
    let root = world.path("repo/.the-loop");
    let found = || {
        let ran = unprivileged(&world, "doctor --json");
        let found = findings(&ran).into_iter().find(|finding| finding["id"] == "state.unwritable");
        found.map(|finding| (ran.code, finding["severity"].clone(), finding["what"].to_string()))
    };
    assert_eq!(found(), None);
    for folder in [root.clone(), root.join("local"), root.join("portable")] {
        let mode = fs::metadata(&folder).unwrap().mode();
        set_mode(&folder, 0o500);
        let (code, severity, what) = found().expect("a finding");
        assert_eq!((code, severity), (Some(1), "warning".into()), "{what}");
        assert!(what.contains(&format!("`{}`", folder.display())), "{what}");
        set_mode(&folder, mode & 0o777);
    }
}
