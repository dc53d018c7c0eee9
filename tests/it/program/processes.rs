//! The daemon without tmux: each delivery is a process of its own.

use std::fs;

use super::hub::{hello, reference};
use super::world::{PATIENCE, World};
use crate::support::wait_for;

impl World {
    /// Waits until a process that ran is accounted for, with this word.
    fn wait_over(&self, count: usize, how: &str) {
        wait_for(&format!("{count} deliveries {how}"), PATIENCE, || {
            let delivered = |event: &&serde_json::Value| event["verb"] == "deliver" && event["how"] == how;
            self.events("dispatch.succeeded").iter().filter(delivered).count() >= count
        });
    }
}

#[test]
fn k28_claude_without_tmux_goes_on_with_one_conversation_and_shows_no_prompt() {
    let world = World::with_claude("  runner: process\n");
    let mine = reference(1);
    world.arm(&[1]);
    world.wait_prompted(&mine);
    world.wait_over(1, "finished");
    assert_eq!(world.state(&mine), "live", "between deliveries nothing runs, and that is not dead");
    assert!(world.living_agents(&mine).is_empty());
    world.say(1, "take long and tell nobody");
    world.wait_heard(&mine, "take long and tell nobody");
    let lines = the_loop::adapters::processes::own_command_lines().unwrap();
    let leaks = lines.iter().filter(|(_, words)| words.iter().any(|word| word.contains("tell nobody"))).count();
    assert_eq!(leaks, 0);
    assert!(!world.agent_environment(&mine).contains(&world.secret));
    // A word meanwhile waits for the process to end; never two of one conversation.
    world.say(1, "meanwhile");
    assert_eq!(world.living_agents(&mine).len(), 1);
    fs::write(world.path("go"), "").unwrap();
    world.wait_heard(&mine, "meanwhile");
    world.wait_over(3, "finished");
    let starts = world.starts(1);
    let id = starts[0].strip_prefix("-p --session-id ").unwrap().to_owned();
    assert_eq!(starts[1..], [format!("-p --resume {id}"), format!("-p --resume {id}")]);
    for line in ["take long and tell nobody", "meanwhile"] {
        assert_eq!(world.times(&mine, line), 1, "{line}");
    }
    assert_eq!(world.heard(&mine).matches("You are the agent of").count(), 1);
    let logs = fs::read_dir(world.path("repo/.the-loop/logs/commands")).unwrap();
    let printed: Vec<_> = logs.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    assert_eq!(printed, ["Done.\n", "Done.\n"], "the present one and the one before");
    assert!(!world.server.socket_file().exists(), "no tmux server was started");
    let attach = world.run("sessions attach octo/hello#1");
    assert_eq!(attach.code, Some(1));
    assert!(attach.stderr.contains("logs/commands"), "{attach:?}");

    world.say(1, "fail now");
    world.wait_heard(&mine, "fail now");
    wait_for("the failure to be told", PATIENCE, || {
        let told = |event: &serde_json::Value| event["detail"].as_str().is_some_and(|why| why.contains("status 3"));
        world.events("dispatch.failed").iter().any(told)
    });
    assert_eq!(world.state(&mine), "live");
}

#[test]
fn k11_a_process_that_outlives_a_killed_daemon_is_not_run_again() {
    let world = World::with_claude("  runner: process\n");
    let mine = reference(2);
    world.arm(&[2]);
    world.wait_prompted(&mine);
    world.wait_over(1, "finished");
    world.say(2, "take long");
    world.wait_heard(&mine, "take long");
    let running = world.living_agents(&mine);
    world.kill_9();
    assert_eq!(world.living_agents(&mine), running, "it lives on");
    world.start_claude();
    world.say(2, "after the restart");
    assert_eq!(world.living_agents(&mine), running);
    fs::write(world.path("go"), "").unwrap();
    // Nobody saw how it ended, but its transcript shows that it took the text.
    world.wait_over(1, "confirmed");
    world.wait_heard(&mine, "after the restart");
    assert_eq!((world.times(&mine, "take long"), world.starts(2).len()), (1, 3));
}

#[test]
fn k11_without_a_transcript_it_is_unknown_and_a_person_decides() {
    let world = World::asleep("  runner: process\n");
    world.write_agent(&format!(
        "#!/bin/sh\ncat >> {0}/heard-once; echo $$ > {0}/once.pid; while [ ! -e {0}/go ]; do sleep 0.05; done\n",
        world.path("").display()
    ));
    world.start();
    world.start_item(&hello(), &world.issue(3));
    let pid = || fs::read_to_string(world.path("once.pid")).ok()?.trim().parse::<u32>().ok();
    wait_for("the process", PATIENCE, || pid().is_some());
    world.kill_9();
    fs::write(world.path("go"), "").unwrap();
    let gone = || pid().is_some_and(|pid| the_loop::adapters::processes::start_time(pid).is_none());
    wait_for("the process to end while nobody looks", PATIENCE, gone);
    world.start();
    wait_for("the dead letter", PATIENCE, || {
        let gave_up = |event: &serde_json::Value| event["gaveUp"] == true && event["verb"] == "deliver";
        world.events("dispatch.failed").iter().any(gave_up)
    });
    assert_eq!(fs::read_to_string(world.path("heard-once")).unwrap().matches("You are the agent of").count(), 1);
}

#[test]
fn k22_a_stop_ends_the_process_that_runs() {
    let world = World::with_claude("  runner: process\n");
    let mine = reference(4);
    world.arm(&[4]);
    world.wait_prompted(&mine);
    world.wait_over(1, "finished");
    world.say(4, "take long");
    world.wait_heard(&mine, "take long");
    assert_eq!(world.living_agents(&mine).len(), 1);
    world.say(4, "the-loop stop");
    world.wait_state(&mine, "closed");
    wait_for("the process to be gone", PATIENCE, || world.living_agents(&mine).is_empty());
    wait_for("the lane to be empty", PATIENCE, || {
        let detail = &world.done("sessions show octo/hello#4 --json").json()["detail"];
        detail["waiting"] == 0 && detail["doing"].is_null()
    });
    assert_eq!(world.times(&mine, "take long"), 1);
}
