//! How items end and come back, and stops against work in flight, through the real daemon.

use std::fs;

use rstest::rstest;
use serde_json::{Value, json};

use super::hub::{Delivery, LABEL, hello, reference};
use super::world::{PATIENCE, World};
use crate::payloads::{Item, Repo, Said};
use crate::support::wait_for;

impl World {
    /// A fact about an issue of `repo`.
    fn issue_fact(&self, repo: &Repo, action: &str, item: &Item) {
        self.send(&Delivery::new("issues", &repo.issues(action, item, "mona")));
    }

    /// Waits until nothing is left to do for an item.
    fn wait_idle(&self, item: &str) {
        wait_for("the lane to be empty", PATIENCE, || {
            let detail = &self.done(&format!("sessions show {item} --json")).json()["detail"];
            detail["waiting"] == 0 && detail["doing"].is_null()
        });
    }

    /// Waits until no agent of an endpoint lives.
    fn wait_gone(&self, endpoint: &str) {
        wait_for("the agent to end", PATIENCE, || self.living_agents(endpoint).is_empty());
    }

    fn dead_letters(&self) -> Vec<Value> {
        let list = self.done("dispatch list --json").json();
        let entries = list["dispatch"].as_array().unwrap().clone();
        entries.into_iter().filter(|entry| entry["state"] == "dead").collect()
    }
}

/// The repository of another name and the same id.
fn world_repo() -> Repo {
    Repo::new("octo/world", 202)
}

#[rstest]
#[case::live(false)]
#[case::paused(true)]
fn k41_closed_reopened_and_closed_again_ends_each_time(#[case] paused: bool) {
    let world = World::new("");
    let mine = reference(41);
    world.arm(&[41]);
    for round in 1..=3 {
        if paused {
            world.say(41, "the-loop pause");
            world.wait_state(&mine, "paused");
        }
        let closed = world.issue(41).closed(&world.tick());
        world.issue_fact(&hello(), "closed", &closed);
        world.wait_state(&mine, "closed");
        world.wait_gone(&mine);
        let open = Item { open: true, updated_at: world.tick(), ..world.issue(41) };
        world.issue_fact(&hello(), "reopened", &open);
        world.say(41, "nobody is there");
        world.wait_idle("octo/hello#41");
        assert_eq!(world.state(&mine), "closed", "reopening does not arm again");
        world.say(41, "the-loop start");
        world.wait_state(&mine, "live");
        wait_for("a new agent", PATIENCE, || world.living_agents(&mine).len() == 1);
        assert_eq!(world.agents(&mine).len(), round + 1);
    }
    world.wait_idle("octo/hello#41");
    assert_eq!(world.times(&mine, "nobody is there"), 0);
}

#[test]
fn a_pull_request_that_was_its_own_item_is_linked_once_its_own_life_is_over() {
    let world = World::new("");
    let (issue, pull_ref) = (reference(50), reference(51));
    let pull = world.pull(51, "a-branch").labeled(&[LABEL]);
    world.start_item(&hello(), &pull);
    world.wait_prompted(&pull_ref);
    world.arm(&[50]);
    // It names the issue now, and has a life of its own.
    let linked = Item { body: "Fixes #50".into(), updated_at: world.tick(), ..pull };
    world.send(&Delivery::new("pull_request", &hello().pull_request("edited", &linked, "mona")));
    world.send(&world.comment_in(&hello(), &linked, "while it has its own life"));
    world.wait_heard(&pull_ref, "while it has its own life");
    // The issue it names hears of it in its own conversation.
    world.wait_heard(&issue, "while it has its own life");
    assert_eq!((world.agents(&pull_ref).len(), world.times(&pull_ref, "while it has its own life")), (1, 1));
    world.send(&world.comment_in(&hello(), &linked, "the-loop stop"));
    world.wait_state(&pull_ref, "closed");
    world.wait_gone(&pull_ref);
    assert_eq!(world.living_agents(&issue).len(), 1, "a stop of one is no stop of the other");
    // From here on it is the issue's.
    world.send(&world.comment_in(&hello(), &linked, "as the issue's pull request"));
    world.wait_heard(&pull_ref, "as the issue's pull request");
    assert_eq!((world.agents(&pull_ref).len(), world.times(&issue, "as the issue's pull request")), (2, 0));
    world.wait_event("session.pr_spawned", &[("workItem", &issue), ("endpoint", &pull_ref)]);
    let closed = world.issue(50).closed(&world.tick());
    world.issue_fact(&hello(), "closed", &closed);
    for endpoint in [&issue, &pull_ref] {
        world.wait_gone(endpoint);
    }
    assert!(world.dead_letters().is_empty());
}

#[test]
fn p10_a_transferred_issue_keeps_its_agent_and_ends_under_its_new_name() {
    let world = World::new("");
    let (old, new) = (reference(7), "github:octo/world#31");
    world.arm(&[7]);
    let agents = world.agents(&old);
    let there = world_repo();
    let moved = Item { number: 31, ..world.issue(7) };
    let item = |repo: &Repo, item: &Item| repo.issues("x", item, "mona")["issue"].clone();
    let repo = |repo: &Repo| repo.issues("x", &moved, "mona")["repository"].clone();
    let out = Delivery::new("issues", &hello().issues("transferred", &world.issue(7), "mona"));
    let into = Delivery::new("issues", &there.issues("opened", &moved, "mona"));
    world.send(&out.changed(|body| {
        body["changes"] = json!({ "new_issue": item(&there, &moved), "new_repository": repo(&there) });
    }));
    world.send(&into.changed(|body| {
        body["changes"] = json!({ "old_issue": item(&hello(), &world.issue(7)), "old_repository": repo(&hello()) });
    }));
    world.wait_state(new, "live");
    world.send(&world.comment_in(&there, &moved, "said at the destination"));
    world.wait_heard(&old, "said at the destination");
    assert_eq!((world.agents(&old), world.agents(new)), (agents, Vec::new()), "one agent, which lived through it");
    world.issue_fact(&there, "closed", &moved.clone().closed(&world.tick()));
    world.wait_gone(&old);
    world.wait_state(new, "closed");
    let portable = |name: &str| fs::read_to_string(world.path(&format!("repo/.the-loop/portable/{name}")));
    let ended = |text: std::io::Result<String>, word: &str| text.is_ok_and(|text| text.contains(word));
    let names = || -> Vec<String> {
        let all = fs::read_dir(world.path("repo/.the-loop/portable")).unwrap();
        all.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    wait_for("both files to tell it", PATIENCE, || {
        let all = names();
        let tells = |part: &str, word: &str| all.iter().any(|name| name.contains(part) && ended(portable(name), word));
        tells("hello-7", "transferred") && tells("world-31", "closed")
    });
}

#[test]
fn p12_p22_a_renamed_repository_keeps_its_agents_and_a_deleted_one_kills_nobody() {
    let world = World::new("");
    let (old, new) = (reference(12), "github:octo/goodbye#12");
    world.arm(&[12]);
    let renamed = Repo::new("octo/goodbye", 101);
    let about = |action: &str| {
        let mut body = renamed.ping("mona");
        body["repository"] = renamed.issues("x", &world.issue(12), "mona")["repository"].clone();
        body["action"] = action.into();
        body
    };
    let rename = Delivery::new("repository", &about("renamed"));
    world.send(&rename.changed(|body| body["changes"] = json!({ "repository": { "name": { "from": "hello" } } })));
    world.wait_state(new, "live");
    world.send(&world.comment_in(&renamed, &world.issue(12), "under the new name"));
    world.wait_heard(&old, "under the new name");
    // A word that was on its way under the old name arrives too.
    world.say(12, "under the old name");
    world.wait_heard(&old, "under the old name");
    assert_eq!((world.agents(&old).len(), world.agents(new).len()), (1, 0));

    world.send(&Delivery::new("repository", &about("deleted")));
    world.wait_event("session.kept_open", &[("workItem", new)]);
    assert_eq!(world.living_agents(&old).len(), 1, "it may hold work that is nowhere else");
    world.done("sessions stop octo/goodbye#12");
    world.wait_gone(&old);
}

/// When a stop arrives, as seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    AtOnce,
    WhileItsScreenIsBusy,
    BetweenPasteAndSubmit,
    WhileItDies,
    AfterACrashOfTheDaemon,
}

#[rstest]
#[case(Step::AtOnce)]
#[case(Step::WhileItsScreenIsBusy)]
#[case(Step::BetweenPasteAndSubmit)]
#[case(Step::WhileItDies)]
#[case(Step::AfterACrashOfTheDaemon)]
fn k22_a_stop_at_any_step_of_a_spawn_leaves_nothing_alive_and_nothing_waiting(#[case] step: Step) {
    let world = World::asleep("");
    let config = world.path("repo/.the-loop/cli-config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    let heard = world.path("heard");
    let begin = format!(
        "#!/bin/sh\nname={}/$(printf %s \"$THE_LOOP_ENDPOINT\" | tr / _)\necho $$ >> \"$name.pids\"\n",
        heard.display()
    );
    match step {
        Step::WhileItsScreenIsBusy => world.write_agent(&format!(
            "{begin}n=0; while n=$((n + 1)); do echo step $n; [ $n = 40 ] && touch \"$name.old\"; sleep 0.1; done\n"
        )),
        Step::WhileItDies => world.write_agent(&format!("{begin}sleep 0.4\nexit 3\n")),
        Step::BetweenPasteAndSubmit => {
            fs::write(&config, text.replace("submitDelayMs: 50", "submitDelayMs: 2500")).unwrap();
        }
        Step::AtOnce | Step::AfterACrashOfTheDaemon => {}
    }
    world.start();
    let mine = reference(22);
    world.start_item(&hello(), &world.issue(22));
    if step != Step::AtOnce {
        wait_for("the agent to be started", PATIENCE, || !world.agents(&mine).is_empty());
    }
    match step {
        Step::WhileItsScreenIsBusy => {
            let old = heard.join(format!("{}.old", mine.replace('/', "_")));
            wait_for("it to be old enough to have started", PATIENCE, || old.exists());
            assert_eq!(world.state(&mine), "starting");
        }
        Step::BetweenPasteAndSubmit => wait_for("the first prompt to be pasted", PATIENCE, || {
            !world.server.raw(&["display", "-p", "-t", "%0", "#{@the-loop-pasted}"]).1.is_empty()
        }),
        Step::AfterACrashOfTheDaemon => {
            world.kill_9();
            world.start();
        }
        Step::AtOnce | Step::WhileItDies => {}
    }
    let said = Said::new(world.next_id(), "mona", "words that come too late", &world.tick());
    world.send(&Delivery::new("issue_comment", &hello().issue_comment_created(&world.issue(22), &said)));
    world.say(22, "the-loop stop");
    world.wait_state(&mine, "closed");
    world.wait_idle("octo/hello#22");
    world.wait_gone(&mine);
    assert_eq!(world.times(&mine, "words that come too late"), 0);
    assert!(world.dead_letters().is_empty(), "{:?}", world.dead_letters());
    let panes = world.server.raw(&["list-panes", "-a", "-F", "#{@the-loop-ref} dead=#{pane_dead}"]).1;
    assert!(!panes.contains("dead=0"), "{panes}");
}
