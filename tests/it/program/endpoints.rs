//! The record owns its pull requests: what was recorded decides, whatever an event's own linkage says.
//!
//! Every scenario here fails where the recorded linkage is ignored; `src/domain/decide/linkage.rs` shows that of the
//! decisions behind them.

use std::fs;

use super::hub::{Delivery, hello, reference};
use super::world::{PATIENCE, World};
use crate::payloads::{Item, Said};
use crate::support::wait_for;

impl World {
    /// Pull request `pull` of issue `issue` is opened and recorded.
    fn link(&self, issue: u64, pull: u64) {
        let opened = self.pull(pull, &format!("issue-{issue}"));
        self.send(&Delivery::new("pull_request", &hello().pull_request("opened", &opened, "mona")));
        let fields = [("workItem", reference(issue)), ("pullRequest", reference(pull))];
        self.wait_event("session.pr_linked", &fields.each_ref().map(|(key, value)| (*key, value.as_str())));
    }

    /// The pull request as it is shown once neither branch nor text names its issue.
    fn unlinked(&self, pull: u64) -> Item {
        self.pull(pull, "another-branch")
    }

    /// A review of the pull request, whose payload has its branch and its text: they name nothing.
    fn review(&self, pull: u64, text: &str) -> Delivery {
        let said = Said::new(self.next_id(), "mona", text, &self.tick());
        Delivery::new(
            "pull_request_review",
            &hello().review_submitted(&self.unlinked(pull), "changes_requested", &said),
        )
    }

    fn pull_request(&self, action: &'static str, item: &Item) {
        self.send(&Delivery::new("pull_request", &hello().pull_request(action, item, "mona")));
    }

    /// Says this on the pull request and sees it in the conversation of `at`, and in no other of these.
    fn hears(&self, pull: u64, text: &str, at: u64, others: &[u64]) {
        self.send(&self.review(pull, text));
        self.wait_heard(&reference(at), text);
        for other in others {
            assert_eq!(self.times(&reference(*other), text), 0, "{other} heard: {text}");
        }
    }
}

#[test]
fn a_pull_request_whose_linkage_is_gone_keeps_its_conversation() {
    let world = World::shared();
    world.arm(&[31]);
    world.link(31, 131);
    let linked = world.pull(131, "issue-31");
    let said = Said::new(world.next_id(), "mona", "with its linkage", &world.tick());
    world.send(&Delivery::new("pull_request_review", &hello().review_submitted(&linked, "approved", &said)));
    world.wait_heard(&reference(131), "with its linkage");
    world.hears(131, "and without it", 131, &[31]);
    assert_eq!(world.agents(&reference(131)).len(), 1);
    assert_eq!(world.events("session.pr_linked").iter().filter(|e| e["pullRequest"] == reference(131)).count(), 1);
}

#[test]
fn what_one_conversation_had_is_not_taken_for_had_by_another() {
    let world = World::shared();
    world.arm(&[32, 33]);
    world.link(32, 132);
    // Linked anew: its text names the other issue now.
    let relinked = Item { body: "Closes #33".into(), ..world.unlinked(132) };
    world.pull_request("edited", &relinked);
    world.wait_event("session.link_failed", &[("workItem", &reference(33)), ("pullRequest", &reference(132))]);
    let review = world.review(132, "for both of them");
    world.send(&review);
    world.wait_heard(&reference(132), "for both of them");
    world.wait_heard(&reference(33), "for both of them");
    assert_eq!(world.post(&review).word(), "duplicate");
    world.send(&review.again_as("ffffffff-0000-0000-0000-000000000132"));
    // Behind it in the same lanes: had it been queued again, it would be heard by now.
    world.hears(132, "the next for both", 132, &[32]);
    world.wait_heard(&reference(33), "the next for both");
    for heard in [132, 33] {
        assert_eq!(world.times(&reference(heard), "for both of them"), 1, "{heard}");
    }
    assert_eq!(world.times(&reference(32), "for both of them"), 0);
}

#[test]
fn a_pull_request_that_cannot_start_is_heard_by_its_record() {
    let world = World::asleep("");
    let agent = fs::read_to_string(world.path("agent")).unwrap();
    let picky = "#!/bin/sh\ncase $THE_LOOP_ENDPOINT in *#134) echo not for me; sleep 0.3; exit 3;; esac\n";
    world.write_agent(&agent.replacen("#!/bin/sh\n", picky, 1));
    world.start();
    world.arm(&[34]);
    world.link(34, 134);
    world.hears(134, "somebody has to hear this", 34, &[134]);
    assert_eq!(world.times(&reference(34), "somebody has to hear this"), 1);
    let failed = world.events("session.spawn_failed");
    assert_eq!(failed.iter().filter(|event| event["endpoint"] == reference(134)).count(), 2, "{failed:?}");
    wait_for("everything to be settled", PATIENCE, || {
        world.done("dispatch list --json").json()["dispatch"].as_array().unwrap().is_empty()
    });
    world.stop();
}

#[test]
fn k42_a_closed_pull_request_keeps_its_record_and_goes_on_with_its_conversation_when_reopened() {
    let world = World::with_claude("");
    world.arm(&[35]);
    world.link(35, 135);
    world.hears(135, "before the close", 135, &[35]);
    let closed = world.unlinked(135).closed(&world.tick());
    world.pull_request("closed", &closed);
    world.wait_event("session.pr_closed", &[("workItem", &reference(35)), ("pullRequest", &reference(135))]);
    world.wait_event("session.kept_open", &[("workItem", &reference(35)), ("pullRequest", &reference(135))]);
    wait_for("its agent to end", PATIENCE, || world.living_agents(&reference(135)).is_empty());
    assert_eq!((world.state(&reference(35)), world.living_agents(&reference(35)).len()), ("live".into(), 1));
    world.hears(135, "while it is closed", 35, &[135]);
    world.pull_request("reopened", &world.unlinked(135));
    world.hears(135, "after the reopening", 135, &[35]);
    let starts = world.starts(135);
    let id = starts[0].strip_prefix("--session-id ").unwrap();
    assert_eq!(starts[1..], [format!("--resume {id}")]);
    assert_eq!(world.living_agents(&reference(35)).len(), 1);
    world.stop();
}

#[test]
fn k40_k41_the_end_of_a_record_ends_the_conversations_of_all_its_pull_requests_every_time() {
    let world = World::shared();
    world.arm(&[36]);
    for pull in [136, 236] {
        world.link(36, pull);
        world.hears(pull, &format!("begin {pull}"), pull, &[36]);
    }
    for round in 1..=2 {
        assert_eq!([36, 136, 236].map(|item| world.living_agents(&reference(item)).len()), [1, 1, 1], "{round}");
        let closed = world.issue(36).closed(&world.later(2));
        world.send(&Delivery::new("issues", &hello().issues("closed", &closed, "mona")));
        for item in [36, 136, 236] {
            let what = format!("the agent of {item} to end");
            wait_for(&what, PATIENCE, || world.living_agents(&reference(item)).is_empty());
            world.wait_state(&reference(item), "closed");
        }
        let late = format!("too late {round}");
        world.send(&world.review(136, &late));
        world.later(2);
        world.send(&Delivery::new("issues", &hello().issues("reopened", &world.issue(36), "mona")));
        world.later(2);
        world.say(36, &format!("the-loop start\nround {round}"));
        world.wait_heard(&reference(36), &format!("round {round}"));
        for pull in [136, 236] {
            world.hears(pull, &format!("{pull} again {round}"), pull, &[36]);
            assert_eq!(world.times(&reference(pull), &late), 0);
        }
    }
}

#[test]
fn a_word_on_a_pull_request_acts_on_its_owner() {
    let world = World::shared();
    world.arm(&[37]);
    world.link(37, 137);
    world.hears(137, "begin", 137, &[37]);
    world.send(&world.review(137, "the-loop pause"));
    world.wait_state(&reference(37), "paused");
    world.send(&world.review(137, "held by the pause"));
    world.send(&world.review(137, "the-loop resume"));
    world.wait_heard(&reference(137), "held by the pause");
    assert_eq!(world.state(&reference(37)), "live");
    world.send(&world.review(137, "the-loop stop"));
    for item in [37, 137] {
        world.wait_state(&reference(item), "closed");
        wait_for("its agent to end", PATIENCE, || world.living_agents(&reference(item)).is_empty());
    }
}

#[test]
fn a_verb_that_names_a_pull_request_acts_on_no_other_item() {
    let world = World::shared();
    world.arm(&[38]);
    world.link(38, 138);
    world.hears(138, "begin", 138, &[38]);
    for verb in ["pause", "resume", "stop", "close", "reset", "attach"] {
        let ran = world.run(&format!("sessions {verb} octo/hello#138"));
        assert!(!ran.stdout.contains("octo/hello#38"), "{verb}: {ran:?}");
        assert_eq!(world.state(&reference(38)), "live", "{verb}");
        assert_eq!(world.living_agents(&reference(138)).len(), 1, "{verb}: {ran:?}");
    }
    world.hears(138, "still there", 138, &[38]);
    assert_eq!((world.agents(&reference(38)).len(), world.agents(&reference(138)).len()), (1, 1));
}

#[test]
fn a_pull_request_linked_by_hand_is_heard_in_a_conversation_of_its_own() {
    let world = World::shared();
    world.arm(&[39]);
    let before = world.review(139, "nobody knows it yet");
    world.send(&before);
    world.wait_event("routing.dropped", &[("delivery", &before.id)]);
    assert!(world.done("sessions link-pr octo/hello#39 octo/hello#139").stdout.contains("linked"));
    world.later(2);
    world.hears(139, "now it is known", 139, &[39]);
    assert!(world.done("sessions link-pr octo/hello#39 octo/hello#139").stdout.contains("nothing to do"));
    assert_eq!(world.times(&reference(139), "nobody knows it yet"), 0);
}

#[test]
fn collapsed_a_pull_request_is_heard_by_its_record_and_closes_nothing() {
    let world = World::asleep("");
    let config = world.path("repo/.the-loop/cli-config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("  tmux: {", "  tmux: {sessionPerPr: false, ")).unwrap();
    world.start();
    world.arm(&[45]);
    world.link(45, 145);
    world.hears(145, "all in one", 45, &[145]);
    world.pull_request("closed", &world.unlinked(145).closed(&world.tick()));
    world.hears(145, "after its close", 45, &[145]);
    assert_eq!((world.agents(&reference(45)).len(), world.agents(&reference(145)).len()), (1, 0));
    world.stop();
}

#[test]
fn k45_links_from_four_threads_all_stay_and_a_pause_meanwhile_is_not_undone() {
    let world = World::shared();
    world.arm(&[46]);
    let pulls = 4600..4680;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (world, pulls) = (&world, pulls.clone());
            scope.spawn(move || {
                for pull in pulls.filter(|pull| pull % 4 == thread) {
                    world.pull_request("opened", &world.pull(pull, "issue-46"));
                }
            });
        }
        world.say(46, "the-loop pause");
        for n in 0..20 {
            world.say(46, &format!("a touch {n}"));
        }
    });
    let numbers = |rows: Vec<serde_json::Value>| -> Vec<String> {
        rows.iter().filter(|row| row["isPullRequest"] == true).map(|row| row["workItem"].to_string()).collect()
    };
    let linked = numbers(world.sessions());
    let missing: Vec<u64> = pulls.filter(|pull| !linked.contains(&format!("\"{}\"", reference(*pull)))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(world.state(&reference(46)), "paused");
    world.say(46, "the-loop resume");
    world.wait_heard(&reference(46), "a touch 19");
    assert_eq!((0..20).map(|n| world.times(&reference(46), &format!("a touch {n}"))).sum::<usize>(), 20);
}
