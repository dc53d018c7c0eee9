//! tmux and harnesses that fail in the middle of the work.

use rustix::process::Signal;
use serde_json::Value as Json;

use super::hub::{hello, reference};
use super::world::{PATIENCE, World};
use crate::support::tmux::signal;
use crate::support::wait_for;

impl World {
    /// What `doctor` says about tmux that is an error or a warning; it must exit 1 then.
    fn tmux_findings(&self) -> Vec<String> {
        let ran = self.run("doctor --json");
        let findings = ran.json()["findings"].as_array().unwrap().clone();
        let bad = |finding: &&Json| finding["severity"] == "error" || finding["severity"] == "warning";
        let found: Vec<&Json> = findings.iter().filter(|f| f["area"] == "tmux").filter(bad).collect();
        assert!(found.is_empty() || ran.code == Some(1), "{ran:?}");
        found.iter().map(|finding| finding["what"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn k03_k43_a_harness_that_exits_at_once_took_nothing_and_is_tried_again() {
    let world = World::asleep("");
    // tmux 3.3a loses what a program wrote in its very last moment, once in a hundred times; this one lingers.
    world.write_agent("#!/bin/sh\necho this harness is not installed\nsleep 0.3\nexit 7\n");
    world.start();
    let start = world.comment(43, "the-loop start\nthe first words");
    world.send(&start);
    world.wait_event("session.spawn_failed", &[("workItem", &reference(43))]);
    let failed = world.events("session.spawn_failed");
    assert!(failed[0]["detail"].as_str().unwrap().contains("this harness is not installed"), "{failed:?}");
    assert_eq!(world.events("dispatch.succeeded"), Vec::<Json>::new(), "nothing counts as delivered");
    let show = world.done("sessions show octo/hello#43 --json").json();
    assert!(show["detail"]["waiting"].as_u64().is_some_and(|waiting| waiting > 0), "{show}");
    world.write_listening_agent();
    world.wait_heard(&reference(43), "the first words");
    assert_eq!(world.times(&reference(43), "the first words"), 1);
    world.wait_event("session.spawned", &[("workItem", &reference(43))]);
}

#[test]
fn k66_r11_a_stopped_tmux_delays_the_delivery_and_never_the_answer() {
    let world = World::new("");
    world.arm(&[66]);
    let servers = world.server.pids();
    assert_eq!(servers.len(), 1);
    signal(servers[0], Signal::STOP);
    // Answered while tmux cannot answer anything: `send` returns before it goes on.
    for n in 0..30 {
        world.say(66, &format!("while tmux is stopped {n}"));
    }
    wait_for("the delivery to be under way", PATIENCE, || world.done("status --json").json()["status"]["claimed"] == 1);
    // Nor do looks wait for it, but for the one that asks tmux.
    assert_eq!(world.state(&reference(66)), "live");
    assert_eq!(world.times(&reference(66), "while tmux is stopped 0"), 0);
    signal(servers[0], Signal::CONT);
    world.wait_heard(&reference(66), "while tmux is stopped 29");
    let heard = world.heard(&reference(66));
    let heard: Vec<&str> = heard.lines().filter(|line| line.starts_with("while tmux is stopped")).collect();
    assert_eq!(heard, (0..30).map(|n| format!("while tmux is stopped {n}")).collect::<Vec<_>>());
}

#[test]
fn k39_t13_t18_a_lost_socket_starts_no_second_server_and_a_lost_server_is_started_again() {
    let world = World::new("");
    world.arm(&[39]);
    let servers = world.server.pids();
    std::fs::remove_file(world.server.socket_file()).unwrap();
    world.say(39, "without a socket");
    wait_for("doctor to say that tmux cannot be asked", PATIENCE, || !world.tmux_findings().is_empty());
    assert_eq!(world.state(&reference(39)), "live", "nothing is taken for dead");
    // Another item wants a new session: it waits as well.
    world.start_item(&hello(), &world.issue(40));
    // A spawn without an answer keeps its claim: only asking again tells whether something was started.
    wait_for("the spawn to be claimed beside the waiting delivery", PATIENCE, || {
        let status = world.done("status --json").json();
        status["status"]["lanes"] == 2 && status["status"]["claimed"] == 1
    });
    assert_eq!(world.server.pids(), servers, "no second server");
    assert_eq!(world.agents(&reference(40)), Vec::<u32>::new());
    signal(servers[0], Signal::USR1);
    world.wait_heard(&reference(39), "without a socket");
    world.wait_prompted(&reference(40));
    assert_eq!(world.times(&reference(39), "without a socket"), 1);
    assert_eq!(world.living_agents(&reference(39)).len(), 1);
    assert_eq!(world.server.pids(), servers, "no second server was started meanwhile: it would still be there");

    world.server.raw(&["kill-server"]);
    wait_for("the server to end", PATIENCE, || world.server.pids().is_empty());
    let findings = world.tmux_findings();
    assert!(findings[0].contains("no tmux server runs; sessions recorded as live: 2"), "{findings:?}");
    assert_eq!(world.state(&reference(39)), "live", "the handle is kept");
    world.say(39, "after tmux was gone");
    world.wait_heard(&reference(39), "after tmux was gone");
    world.wait_event("session.respawned", &[("workItem", &reference(39))]);
    assert_eq!(world.times(&reference(39), "after tmux was gone"), 1);
    assert_eq!(world.agents(&reference(40)).len(), 1, "the other waits for its next event");
}
