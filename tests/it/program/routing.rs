//! Which conversation hears what.

use super::hub::{Delivery, LABEL, hello, reference};
use super::world::{PATIENCE, World};
use crate::payloads::{Item, Repo, Said};
use crate::support::wait_for;

#[test]
fn k05_items_1_and_15_hear_their_own_and_closing_1_leaves_15_alive() {
    let world = World::shared();
    world.arm(&[1, 15]);
    world.say(1, "for one only");
    world.say(15, "for fifteen only");
    world.wait_heard(&reference(1), "for one only");
    world.wait_heard(&reference(15), "for fifteen only");
    let closed = world.issue(1).closed(&world.tick());
    world.send(&Delivery::new("issues", &hello().issues("closed", &closed, "mona")));
    world.wait_state(&reference(1), "closed");
    assert!(world.living_agents(&reference(1)).is_empty(), "1 ended");
    world.say(1, "too late for one");
    world.say(15, "still there, fifteen?");
    world.wait_heard(&reference(15), "still there, fifteen?");
    assert_eq!(world.living_agents(&reference(15)).len(), 1);
    for (item, line) in [(1, "for fifteen only"), (15, "for one only"), (15, "too late for one")] {
        assert_eq!(world.times(&reference(item), line), 0, "{item}: {line}");
    }
}

#[test]
fn k06_items_with_equal_slugs_are_two_sessions_before_and_after_a_restart() {
    let world = World::new("");
    // Equal as slugs, and equal after tmux turned `.` into `_`.
    let names = ["a/b-c", "a-b/c", "octo/hello.js", "octo/hello_js"];
    let repos: Vec<Repo> = names.iter().zip(201..).map(|(name, id)| Repo::new(name, id)).collect();
    let endpoint = |repo: &Repo| format!("github:{}#1", repo.full_name);
    for repo in &repos {
        world.start_item(repo, &world.issue(1));
    }
    let panes = || {
        for repo in &repos {
            world.wait_prompted(&endpoint(repo));
        }
        let rows = world.sessions();
        let mut names: Vec<String> = rows.iter().map(|row| row["tmux"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names.dedup();
        names
    };
    let before = panes();
    assert_eq!(before.len(), 4, "{before:?}");
    world.kill_9();
    world.start();
    for repo in &repos {
        world.send(&world.comment_in(repo, &world.issue(1), &format!("for {}", repo.full_name)));
    }
    for repo in &repos {
        world.wait_heard(&endpoint(repo), &format!("for {}", repo.full_name));
        assert_eq!(world.agents(&endpoint(repo)).len(), 1);
        for other in repos.iter().filter(|other| other.full_name != repo.full_name) {
            assert_eq!(world.times(&endpoint(repo), &format!("for {}", other.full_name)), 0);
        }
    }
    assert_eq!(panes(), before);
    let files = || std::fs::read_dir(world.path("repo/.the-loop/portable")).map_or(0, Iterator::count);
    wait_for("a portable file for each of them", PATIENCE, || files() == 4);
}

#[test]
fn p08_a_comment_on_a_pull_request_goes_where_its_reviews_go() {
    let world = World::shared();
    let pull = world.pull(8, "a-branch").labeled(&[LABEL]);
    world.start_item(&hello(), &pull);
    world.wait_prompted(&reference(8));
    world.send(&world.comment_in(&hello(), &pull, "a comment on the pull request"));
    let review = Said::new(world.next_id(), "mona", "a review of the pull request", &world.tick());
    world.send(&Delivery::new("pull_request_review", &hello().review_submitted(&pull, "changes_requested", &review)));
    let line = Said::new(world.next_id(), "mona", "a word on line 3", &world.tick());
    let line = hello().review_comment_created(&pull, "src/total.py", 3, &line);
    world.send(&Delivery::new("pull_request_review_comment", &line));
    for line in ["a comment on the pull request", "a review of the pull request", "a word on line 3"] {
        world.wait_heard(&reference(8), line);
        assert_eq!(world.times(&reference(8), line), 1);
    }
    assert_eq!(world.agents(&reference(8)).len(), 1);
}

#[test]
fn k16_a_pull_request_gets_its_own_pane_when_spoken_to_and_falls_back_when_closed() {
    let world = World::shared();
    world.arm(&[20]);
    let pull = world.pull(21, "issue-20");
    world.send(&Delivery::new("pull_request", &hello().pull_request("opened", &pull, "mona")));
    world.wait_event("session.pr_linked", &[("workItem", &reference(20))]);
    assert!(world.agents(&reference(21)).is_empty(), "a fact spawns no endpoint");
    let sha = &pull.pull.as_ref().unwrap().sha;
    let check = hello().check_run_completed(world.next_id(), "lint and test", "failure", sha, &[21], &world.tick());
    world.send(&Delivery::new("check_run", &check));
    world.wait_heard(&reference(21), "check: lint and test");
    world.send(&world.comment_in(&hello(), &pull, "about the pull request"));
    world.wait_heard(&reference(21), "about the pull request");
    world.say(20, "about the issue");
    world.wait_heard(&reference(20), "about the issue");
    for (item, line) in [(20, "check: lint and test"), (20, "about the pull request"), (21, "about the issue")] {
        assert_eq!(world.times(&reference(item), line), 0, "{item}: {line}");
    }
    assert_eq!(rows(&world), [(reference(20), false), (reference(21), true)]);

    let closed = pull.clone().closed(&world.tick());
    world.send(&Delivery::new("pull_request", &hello().pull_request("closed", &closed, "mona")));
    wait_for("the endpoint to end", PATIENCE, || world.living_agents(&reference(21)).is_empty());
    world.send(&world.comment_in(&hello(), &closed, "after the close"));
    world.wait_heard(&reference(20), "after the close");
    assert_eq!(world.times(&reference(21), "after the close"), 0);
    assert_eq!(world.agents(&reference(20)).len(), 1, "the record's agent lived through it");
}

/// Rows of items 20 and 21, and whether each is a pull request's.
fn rows(world: &World) -> Vec<(String, bool)> {
    let rows = world.sessions().into_iter();
    let rows = rows.map(|row| (row["workItem"].as_str().unwrap().to_owned(), row["isPullRequest"] == true));
    rows.filter(|(item, _)| [reference(20), reference(21)].contains(item)).collect()
}

#[test]
fn k20_editing_or_deleting_a_comment_runs_no_command_and_burns_no_created() {
    let world = World::shared();
    world.arm(&[22]);
    let (stop, said) = (world.comment(22, "the-loop stop"), world.comment(22, "edited before it arrived"));
    for action in ["edited", "deleted"] {
        world.send(&stop.changed(|body| body["action"] = action.into()));
    }
    let edited = said.changed(|body| body["action"] = "edited".into());
    world.send(&edited);
    world.wait_event("routing.dropped", &[("delivery", &edited.id), ("reason", "ignored-action")]);
    world.send(&said);
    world.wait_heard(&reference(22), "edited before it arrived");
    assert_eq!(world.times(&reference(22), "edited before it arrived"), 1);
    assert_eq!(world.state(&reference(22)), "live");
    assert_eq!(world.living_agents(&reference(22)).len(), 1);
}

#[test]
fn k13_what_arrives_during_a_pause_is_delivered_once_in_order_many_as_a_digest() {
    let world = World::shared();
    world.arm(&[13, 14]);
    let held = |item: u64, count: u64| -> Vec<String> { (1..=count).map(|n| format!("held {item}-{n}")).collect() };
    for (item, count) in [(13, 3), (14, 6)] {
        world.say(item, "the-loop pause");
        for line in held(item, count) {
            world.say(item, &line);
        }
        assert_eq!(world.state(&reference(item)), "paused");
    }
    // The lanes were looked at and hold everything.
    let show = world.done("sessions show octo/hello#14 --json").json();
    assert_eq!(show["detail"]["waiting"], 6, "{show}");
    for (item, count) in [(13, 3), (14, 6)] {
        world.say(item, "the-loop resume");
        world.wait_heard(&reference(item), &format!("held {item}-{count}"));
        let heard = world.heard(&reference(item));
        let arrived: Vec<&str> = heard.lines().filter(|line| line.starts_with("held ")).collect();
        assert_eq!(arrived, held(item, count));
        let digests = usize::from(count > 5);
        assert_eq!(world.times(&reference(item), "Held and delivered together:"), digests, "{item}");
    }
}

#[test]
fn k22_a_stop_during_a_spawn_leaves_nothing_alive() {
    let world = World::shared();
    let item: Item = world.issue(220);
    world.start_item(&hello(), &item);
    // The harness runs and the spawn is still being watched.
    wait_for("the harness to be started", PATIENCE, || !world.agents(&reference(220)).is_empty());
    assert_eq!(world.state(&reference(220)), "starting");
    world.send(&world.comment_in(&hello(), &item, "words that come too late"));
    world.send(&world.comment_in(&hello(), &item, "the-loop stop"));
    world.wait_state(&reference(220), "closed");
    wait_for("the lane to be empty", PATIENCE, || {
        let detail = &world.done("sessions show octo/hello#220 --json").json()["detail"];
        detail["waiting"] == 0 && detail["doing"].is_null()
    });
    assert!(world.living_agents(&reference(220)).is_empty());
    assert_eq!(world.heard(&reference(220)), "", "nothing was said to it");
    let panes = world.server.raw(&["list-panes", "-a", "-F", "#{@the-loop-ref} dead=#{pane_dead}"]).1;
    assert!(!panes.contains(&format!("{} dead=0", reference(220))), "{panes}");
}
