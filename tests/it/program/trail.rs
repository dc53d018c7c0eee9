//! The event log as an operator and his tools meet it: moved, emptied, rotated, unwritable, cut off by a crash, followed.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc;

use rustix::process::Signal;
use serde_json::Value as Json;

use super::world::{PATIENCE, World};
use crate::support::tmux::signal;
use crate::support::wait_for;

fn log(world: &World) -> PathBuf {
    world.path("repo/.the-loop/logs/events.jsonl")
}

/// Says something and waits until the log's file has it.
fn say_and_see(world: &World, number: u64) {
    let said = world.comment(7, &format!("word {number}"));
    world.send(&said);
    let has = || fs::read_to_string(log(world)).is_ok_and(|text| text.contains(&said.id));
    wait_for("the log to have it", PATIENCE, has);
}

/// The numbers in the trail, as `events` shows them: each once, none left out.
fn whole_trail(world: &World) -> Vec<u64> {
    let document = world.done("events --json --limit 100000").json();
    let numbers: Vec<u64> =
        document["events"].as_array().unwrap().iter().filter_map(|event| event["seq"].as_u64()).collect();
    let first = numbers.first().copied().unwrap_or(1);
    assert_eq!(numbers, (first..first + numbers.len() as u64).collect::<Vec<_>>());
    numbers
}

#[test]
fn l08_a_moved_log_is_left_and_sighup_does_not_end_the_daemon() {
    let world = World::new("");
    say_and_see(&world, 1);
    let moved = world.path("repo/.the-loop/logs/moved.jsonl");
    fs::rename(log(&world), &moved).unwrap();
    let before = fs::read(&moved).unwrap();
    say_and_see(&world, 2);
    signal(world.pid(), Signal::HUP);
    world.wait_event("server.reloaded", &[]);
    fs::rename(log(&world), world.path("repo/.the-loop/logs/again.jsonl")).unwrap();
    say_and_see(&world, 3);
    assert_eq!(fs::read(&moved).unwrap(), before, "nothing was written into the moved file");
    let mode = |path: &str| fs::metadata(world.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("repo/.the-loop/logs"), mode("repo/.the-loop/logs/events.jsonl")), (0o700, 0o600));
    world.stop();
}

#[test]
fn l12_an_emptied_log_goes_on_without_a_hole() {
    let world = World::new("");
    for number in 0..5 {
        say_and_see(&world, number);
    }
    fs::OpenOptions::new().write(true).open(log(&world)).unwrap().set_len(0).unwrap();
    say_and_see(&world, 9);
    let text = fs::read(log(&world)).unwrap();
    assert!(!text.contains(&0) && text.starts_with(b"{"), "no hole of NUL bytes");
    assert!(text.len() < 5000, "{}", text.len());
}

#[test]
fn a_full_log_is_rotated_kept_and_read_as_one() {
    let world = World::asleep("");
    let config = world.path("repo/.the-loop/cli-config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}eventLog: {{maxBytes: 65536, keep: 3}}\n")).unwrap();
    world.start();
    let mut said = 0;
    wait_for("a rotation", PATIENCE, || {
        for _ in 0..50 {
            said += 1;
            world.send(&world.comment(7, &format!("word {said}")));
        }
        fs::metadata(log(&world).with_extension("jsonl.1")).is_ok()
    });
    assert_eq!(whole_trail(&world).first(), Some(&1));
    let sizes = ["jsonl", "jsonl.1"].map(|end| fs::metadata(log(&world).with_extension(end)).map_or(0, |m| m.len()));
    assert!(sizes[1] >= 65536 && sizes[0] < sizes[1] + 65536, "{sizes:?}");
}

#[test]
fn d07_k01_after_kill_9_every_event_is_in_the_trail_once() {
    let world = World::new("");
    let mut ids = Vec::new();
    for round in 0..4 {
        for number in 0..10 {
            let said = world.comment(7, &format!("word {round} {number}"));
            world.send(&said);
            ids.push(said.id.clone());
        }
        if round == 2 {
            // As if it had been killed between the file and the store: the lines are written and not yet removed.
            world.kill_9();
            let text = fs::read_to_string(log(&world)).unwrap_or_default();
            let again: String = text.lines().rev().take(3).map(|line| format!("{line}\n")).collect();
            fs::write(log(&world), format!("{text}{again}{{\"half\": ")).unwrap();
        } else {
            world.kill_9();
        }
        whole_trail(&world);
        world.start();
    }
    world.stop();
    let trail = whole_trail(&world);
    assert!(trail.len() >= ids.len());
    let received = world.events("webhook.received");
    for id in &ids {
        assert_eq!(received.iter().filter(|event| event["delivery"] == **id).count(), 1, "{id}");
    }
    // What was repeated is passed over by its number alone.
    let numbers = received.iter().filter(|event| event["seq"].is_u64()).count();
    assert_eq!(numbers, received.len());
}

#[test]
fn k65_a_log_that_cannot_be_written_blocks_nothing_and_loses_nothing() {
    let world = World::asleep("");
    // A folder in its place stands for a disk that refuses.
    fs::create_dir_all(log(&world)).unwrap();
    world.start();
    world.arm(&[65]);
    let said = world.comment(65, "while the log refuses");
    world.send(&said);
    world.wait_heard(&super::hub::reference(65), "while the log refuses");
    world.run("status");
    let status = || world.run("status --json").json();
    let parts = || status()["daemon"]["parts"].as_array().unwrap().clone();
    let troubled = || parts().iter().any(|part| part["name"] == "event log" && part["trouble"].is_string());
    wait_for("the trouble to be told", PATIENCE, troubled);
    let ids: Vec<String> = doctor(&world);
    assert!(["log.unwritable", "daemon.part"].iter().all(|id| ids.contains(&(*id).to_owned())), "{ids:?}");
    fs::remove_dir(log(&world)).unwrap();
    say_and_see(&world, 1);
    wait_for("the trouble to pass", PATIENCE, || !troubled());
    let text = fs::read_to_string(log(&world)).unwrap();
    for word in [said.id.as_str(), "server.started"] {
        assert!(text.contains(word), "{word} was kept until the log could be written");
    }
}

fn doctor(world: &World) -> Vec<String> {
    let findings = world.run("doctor --json").json()["findings"].as_array().unwrap().clone();
    findings.iter().map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

/// A follower and the lines it prints.
struct Follower {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Follower {
    fn new(world: &World, line: &str) -> Self {
        let mut child = world.command(line).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        Self { child, lines }
    }

    fn next(&self) -> Json {
        let line = self.lines.recv_timeout(PATIENCE).expect("another line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Waits for the end; its exit code.
    fn end(&mut self) -> Option<i32> {
        let mut status = None;
        wait_for("the follower to end", PATIENCE, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap().code()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // One that ended is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn events_are_followed_with_and_without_a_daemon_and_over_a_rotation() {
    let world = World::asleep("");
    let mut follower = Follower::new(&world, "events --follow --json --type control --limit 1");
    // Without a daemon the entries stay in the store.
    for number in [1, 2] {
        world.done(&format!("sessions stop octo/hello#{number}"));
        assert_eq!(follower.next()["workItem"], format!("github:octo/hello#{number}"));
    }
    world.start();
    world.done("sessions stop octo/hello#3");
    assert_eq!(follower.next()["workItem"], "github:octo/hello#3", "what is written to the file now is not repeated");
    wait_for("the log", PATIENCE, || fs::read_to_string(log(&world)).is_ok_and(|text| text.contains("hello#3")));
    fs::rename(log(&world), log(&world).with_extension("jsonl.1")).unwrap();
    world.done("sessions stop octo/hello#4");
    assert_eq!(follower.next()["workItem"], "github:octo/hello#4");
    world.stop();
    world.done("sessions stop octo/hello#5");
    assert_eq!(follower.next()["workItem"], "github:octo/hello#5");
    signal(follower.child.id(), Signal::INT);
    assert_eq!(follower.end(), Some(0), "an interrupt is a usual end");

    // A new one shows the newest first, then follows; filters hold for both.
    let mut follower = Follower::new(&world, "events --follow --json --work-item octo/hello#2 --since 2h --level info");
    assert_eq!(follower.next()["workItem"], "github:octo/hello#2");
    signal(follower.child.id(), Signal::TERM);
    assert_eq!(follower.end(), Some(0));
    assert_eq!(
        world.done("events --json --since 2000-01-01T00:00:00Z --type control").json()["events"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    assert_eq!(world.done("events --since 0s --type control").stdout, "");
}

#[test]
fn a_follower_whose_reader_went_away_ends_without_a_word() {
    let world = World::asleep("");
    let mut command = world.command("events --follow");
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut follower = Follower { child, lines: mpsc::channel().1 };
    drop(follower.child.stdout.take());
    assert_eq!(follower.end(), Some(0));
    let mut said = String::new();
    follower.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}
