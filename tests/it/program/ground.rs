//! What is taken away beneath a running daemon: its store, its socket; and a socket that leads elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Stdio;

use super::life::Background;
use super::world::{PATIENCE, Ran, World};
use crate::support::wait_for;

fn store(world: &World) -> PathBuf {
    world.path("repo/.the-loop/local/state.redb")
}

fn socket(world: &World) -> PathBuf {
    world.path("repo/.the-loop/local/daemon.sock")
}

fn start(world: &World) -> Background {
    Background::of(&world.done("start --json"))
}

/// Waits until `status` says what was done to the store.
fn wait_until_told(world: &World) {
    wait_for("status to say it", PATIENCE, || {
        let ran = world.run("status");
        ran.code == Some(1) && ran.stdout.contains("state.redb") && ran.stdout.contains("removed or replaced")
    });
}

#[test]
fn k69_a_daemon_whose_store_was_taken_away_says_so_and_ends() {
    for replaced in [false, true] {
        let world = World::asleep("");
        let daemon = start(&world);
        fs::remove_file(store(&world)).unwrap();
        if replaced {
            fs::write(store(&world), "not this daemon's").unwrap();
        } else {
            wait_until_told(&world);
        }
        wait_for("the daemon to end", PATIENCE, || !daemon.lives());
        let said = fs::read_to_string(world.path("repo/.the-loop/logs/daemon.log")).unwrap();
        let last: Vec<&str> = said.lines().rev().take(2).collect();
        assert!(last[1].starts_with("error: ") && last[1].contains("state.redb"), "{said}");
        assert!(last[0].starts_with("hint: put the file back"), "{said}");
        let log = fs::read_to_string(world.path("repo/.the-loop/logs/events.jsonl")).unwrap();
        let told = |line: &&str| line.contains("server.trouble") && line.contains("removed or replaced");
        assert_eq!(log.lines().filter(told).count(), 1, "{log}");
        assert_eq!(fs::read(world.path("repo/.the-loop/the-loop.pid")).unwrap(), b"");
        if replaced {
            assert_eq!(fs::read(store(&world)).unwrap(), b"not this daemon's");
        } else {
            // What was armed lies in the portable files; the next start has a store of its own.
            let next = start(&world);
            assert!(next.lives());
            world.done("stop");
        }
    }
}

#[test]
fn k69_in_the_foreground_it_ends_with_the_exit_code_of_the_store() {
    let world = World::asleep("");
    let mut command = world.command("start --foreground");
    let daemon = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the daemon to serve", PATIENCE, || world.run("status").code == Some(0));
    fs::remove_dir_all(world.path("repo/.the-loop/local")).unwrap();
    let ran = Ran::of(daemon.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("its store is gone") && ran.stderr.contains("\nhint: "), "{ran:?}");
}

#[test]
fn k69_a_store_that_is_put_back_in_time_is_served_on() {
    let world = World::asleep("");
    let daemon = start(&world);
    let (store, away) = (store(&world), world.path("away.redb"));
    fs::rename(&store, &away).unwrap();
    wait_until_told(&world);
    fs::rename(&away, &store).unwrap();
    wait_for("all to be well", PATIENCE, || world.run("status").code == Some(0));
    world.done("sessions pause octo/hello#69");
    assert!(daemon.lives());
    assert_eq!(world.done("stop").stdout, format!("stopped: pid {}\n", daemon.pid));
}

#[test]
fn k69_a_socket_that_was_removed_is_bound_anew() {
    let world = World::asleep("");
    let daemon = start(&world);
    for round in 0..2 {
        fs::remove_file(socket(&world)).unwrap();
        wait_for("the daemon to be reached again", PATIENCE, || world.run("status").code == Some(0));
        let pid = world.done("status --json").json()["daemon"]["daemon"]["pid"].clone();
        assert_eq!(pid, daemon.pid, "round {round}");
    }
    world.done("sessions pause octo/hello#69");
    assert_eq!(world.done("stop").stdout, format!("stopped: pid {}\n", daemon.pid));
    assert!(!socket(&world).exists());
}

#[test]
fn k30_a_socket_that_leads_to_another_stores_daemon_is_refused_by_name() {
    let (world, other) = (World::asleep(""), World::asleep(""));
    let (own, stranger) = (start(&world), start(&other));
    // In one step, so that the daemon does not bind between two.
    let link = world.path("link");
    symlink(socket(&other), &link).unwrap();
    fs::rename(&link, socket(&world)).unwrap();
    for line in ["status", "sessions pause octo/hello#30", "export", "sessions reset --all"] {
        let ran = world.run(line);
        assert_eq!(ran.code, Some(3), "{line}: {ran:?}");
        let names = |pid: u32| ran.stderr.contains(&format!("pid {pid}"));
        assert!(names(own.pid) && names(stranger.pid) && ran.stderr.contains("\nhint: "), "{line}: {ran:?}");
    }
    // Without the owner's file there is nobody to compare with, and a link is not followed.
    let owner = world.path("repo/.the-loop/local/owner.json");
    let text = fs::read(&owner).unwrap();
    fs::remove_file(&owner).unwrap();
    assert_ne!(world.run("status --json").json()["daemon"]["daemon"]["pid"], stranger.pid);
    fs::write(&owner, text).unwrap();
    assert!(!other.path("repo/.the-loop/portable").exists(), "the other store was asked nothing");
    world.wait_logged("server.trouble", "is not a socket");
    fs::remove_file(socket(&world)).unwrap();
    wait_for("the daemon to be reached again", PATIENCE, || world.run("status").code == Some(0));
    world.done("stop");
    other.done("stop");
    assert!(!own.lives() && !stranger.lives());
}

impl World {
    /// Waits until a line of the log's file has both.
    fn wait_logged(&self, name: &str, words: &str) {
        wait_for(&format!("{name} with {words}"), PATIENCE, || {
            let log = fs::read_to_string(self.path("repo/.the-loop/logs/events.jsonl")).unwrap_or_default();
            log.lines().any(|line| line.contains(name) && line.contains(words))
        });
    }
}
