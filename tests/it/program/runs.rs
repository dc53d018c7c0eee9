//! Runs of agents beside the daemon: put aside with their item, marked when their agent ended, told to the next one.

use std::fs;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value as Json;

use super::hub::reference;
use super::world::{PATIENCE, Ran, World};
use crate::support::tmux::signal;
use crate::support::wait_for;

impl World {
    /// A git repository where agents work.
    fn with_repository(self) -> Self {
        for line in ["init -q", "remote add origin https://github.com/octo/hello.git"] {
            let made = Command::new("git").args(line.split(' ')).current_dir(self.path("repo")).status();
            assert!(made.is_ok_and(|status| status.success()), "git {line}");
        }
        self
    }

    /// A command as the agent of an endpoint gives it.
    fn as_agent(&self, item: &str, endpoint: &str, line: &str) -> Ran {
        let mut command = self.command(line);
        command.env("THE_LOOP_WORK_ITEM", item).env("THE_LOOP_ENDPOINT", endpoint);
        command.output().map(Ran::of).unwrap()
    }

    fn live_run(&self) -> Json {
        let text = fs::read(self.path("repo/.loop/continuity.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn wait_run(&self, status: &str) {
        wait_for(&format!("the run to be {status}"), PATIENCE, || self.live_run()["status"] == status);
    }

    /// Passes the gates as a person does.
    fn approve(&self) {
        let refused = self.run("run resume --json").json();
        let digest = refused["error"]["digest"].as_str().unwrap_or_else(|| panic!("{refused}"));
        self.done(&format!("run resume --approve {digest}"));
    }

    fn run_findings(&self) -> Vec<String> {
        let findings = self.run("doctor --json").json()["findings"].as_array().unwrap().clone();
        let ids = findings.iter().filter_map(|finding| finding["id"].as_str());
        ids.filter(|id| id.starts_with("runs.")).map(str::to_owned).collect()
    }
}

#[test]
fn a_pause_and_a_stop_on_the_ticket_put_the_run_aside_and_nothing_resumes_it() {
    let world = World::new("").with_repository();
    let mine = reference(7);
    world.arm(&[7]);
    assert_eq!(world.as_agent(&mine, &mine, "run start --objective build").code, Some(0));
    world.say(7, "the-loop pause");
    world.wait_run("PAUSED");
    assert_eq!(world.live_run()["lastEndpoint"], "the-loop");
    let shown = world.done("sessions show 7");
    assert!(shown.stdout.contains("\nRun         task-") && shown.stdout.contains("PAUSED"), "{}", shown.stdout);
    assert_eq!(world.done("sessions show 7 --json").json()["run"]["status"], "PAUSED");
    assert_eq!(world.run_findings(), ["runs.sound"]);
    world.say(7, "the-loop resume");
    world.wait_state(&mine, "live");
    world.say(7, "go on");
    world.wait_heard(&mine, "go on");
    assert_eq!(world.live_run()["status"], "PAUSED", "nothing resumes by itself");
    world.approve();
    world.say(7, "the-loop stop");
    world.wait_state(&mine, "closed");
    world.wait_run("PAUSED");
    world.say(7, "the-loop start");
    let told = "PAUSED, stage 0 of 8. Look at it with `the-loop run status` and begin no second one.";
    wait_for("the next agent to hear of the run", PATIENCE, || world.heard(&mine).contains(told));
    fs::write(world.path("repo/.loop/continuity.json"), "{").unwrap();
    assert_eq!(world.run_findings(), ["runs.corrupt"]);
    assert!(world.done("sessions show 7").stdout.contains("CORRUPT"));
}

#[test]
fn the_run_of_an_agent_that_died_is_marked_and_the_next_one_is_told_of_the_gates() {
    let world = World::new("").with_repository();
    let mine = reference(7);
    world.arm(&[7]);
    world.wait_prompted(&mine);
    let die = || {
        let agent = world.living_agents(&mine);
        agent.iter().for_each(|pid| signal(*pid, Signal::KILL));
        wait_for("the agent to be gone", PATIENCE, || world.living_agents(&mine).is_empty());
    };
    assert_eq!(world.as_agent(&mine, &mine, "run start --objective build").code, Some(0));
    // A person wrote last: it is not the agent's work that was cut off.
    world.done("run checkpoint --stage 2");
    die();
    world.say(7, "are you there?");
    world.wait_heard(&mine, "are you there?");
    assert_eq!(world.live_run()["status"], "ACTIVE");
    assert_eq!(world.as_agent(&mine, &mine, "run checkpoint --stage 3").code, Some(0));
    die();
    world.say(7, "and now?");
    world.wait_heard(&mine, "and now?");
    let run = world.live_run();
    assert_eq!((&run["status"], &run["recovery"]["interruptedStage"]), (&"RECOVERY_REQUIRED".into(), &3.into()));
    wait_for("the gates to be told", PATIENCE, || {
        world.heard(&mine).contains("interrupted in stage 3 of 8") && world.heard(&mine).contains("the gates of")
    });
    world.wait_event("session.run_interrupted", &[("workItem", &mine)]);
}

#[test]
fn another_endpoint_takes_a_run_over_once_its_owner_has_ended() {
    let world = World::asleep("").with_repository();
    let (mine, pull_request) = (reference(7), reference(16));
    world.done("sessions start 7");
    assert_eq!(world.as_agent(&mine, &mine, "run start --objective build").code, Some(0));
    let refused = world.as_agent(&mine, &pull_request, "run cancel --reason over");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("has not ended"), "{refused:?}");
    assert_eq!(world.as_agent(&mine, &mine, "run pause").code, Some(0));
    world.done("sessions stop 7");
    assert_eq!(world.as_agent(&mine, &pull_request, "run block --reason x").code, Some(1), "that stays the owner's");
    let report = world.as_agent(&mine, &pull_request, "run resume --json").json();
    let digest = report["error"]["digest"].as_str().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(world.as_agent(&mine, &pull_request, &format!("run resume --approve {digest}")).code, Some(0));
    assert_eq!(world.live_run()["lastEndpoint"], pull_request.as_str());
    assert_eq!(world.as_agent(&mine, &pull_request, "run cancel --reason over").code, Some(0));
}
