//! What a host says of itself and cannot be relied on: its clock, its limits, whether something is there.

use std::sync::Arc;

use the_loop::domain::log::EventName;

use crate::fake_github::Fault;
use crate::lists::list;
use crate::world::{Machine, REPO};

fn seconds(time: &str) -> i64 {
    time.parse::<jiff::Timestamp>().unwrap().as_second()
}

/// How long the only repository is left alone after a cycle now, seconds; 0 when it is not.
fn left_alone(machine: &Machine) -> i64 {
    let until = machine.next().paused_until;
    until.map_or(0, |until| seconds(&until) - machine.app.now().as_millis() / 1000)
}

#[test]
fn p22_a_repository_that_is_never_seen_is_asked_for_less_and_less_and_a_person_may_ask_at_once() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.github().fail_next(99, |asked| asked.path().contains(REPO), Fault::NotFound);
    machine.says(issue, "mona", "said while nobody saw it");
    for least in [10, 20, 40, 80, 160, 320, 640, 900, 900] {
        let wait = left_alone(&machine);
        assert!((least..=least * 5 / 4 + 1).contains(&wait), "{least}: {wait}");
        machine.later(wait);
    }
    assert!(machine.poll_state().trouble.unwrap().contains("shows no such repository"));
    assert!(left_alone(&machine) > 600);
    machine.github().heal();
    let row = machine.app.poll_now().unwrap().repositories.remove(0);
    machine.settle();
    assert_eq!((row.trouble, row.paused_until), (None, None));
    assert_eq!(machine.heard("said while nobody saw it").len(), 1);
    assert!(machine.terminal.ended().is_empty());
}

#[test]
fn p22_a_list_that_is_not_seen_leaves_the_rest_of_the_repository_its_pace() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.github().fail_next(3, list("/pulls/comments"), Fault::NotFound);
    for round in 0..3 {
        machine.says(issue, "mona", &format!("round {round}."));
        assert_eq!(left_alone(&machine), 0);
        assert_eq!(machine.heard(&format!("round {round}.")).len(), 1);
    }
}

#[test]
fn a_limit_is_waited_for_by_people_too() {
    let machine = Machine::new();
    machine.running();
    machine.github().fail_next(1, list("/issues"), Fault::SecondaryLimit(Some(600)));
    assert!(left_alone(&machine) >= 599);
    let asked = machine.github().requests().len();
    let row = machine.app.poll_now().unwrap().repositories.remove(0);
    assert!(row.paused_until.is_some(), "{row:?}");
    assert_eq!(machine.github().requests().len(), asked);
}

#[test]
fn q02_a_window_ends_by_the_hosts_clock_however_wrong_ours_is() {
    for skew in [-30 * 86_400, 30 * 86_400] {
        let machine = Machine::new();
        machine.running();
        machine.clock.turn(skew);
        machine.github().leave_requests(crate::world::TOKEN, 50);
        machine.next();
        let wait = left_alone(&machine);
        assert!((1..=3600).contains(&wait), "{skew}: {wait}");
        machine.later(wait + 1);
        assert_eq!(left_alone(&machine), 0, "{skew}");
    }
}

#[test]
fn a_pause_of_a_clock_that_was_set_back_silences_nothing() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.clock.turn(3650 * 86_400);
    machine.github().fail_next(1, list("/issues"), Fault::SecondaryLimit(Some(600)));
    machine.next();
    machine.clock.turn(-3650 * 86_400);
    machine.says(issue, "mona", "after the clock was set");
    machine.next();
    assert_eq!(machine.heard("after the clock was set").len(), 1);
}

#[test]
fn a_slow_cycle_is_no_error_of_a_clock() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.says(issue, "mona", "hello");
    let clock = Arc::clone(&machine.clock);
    machine.github().after_next(list("/issues/comments"), move |github| {
        github.advance(400);
        clock.turn(400);
    });
    machine.next();
    assert_eq!(machine.progress().offset, Some(0));
}

#[test]
fn k68_one_item_that_is_never_answered_ends_no_cycle_and_a_second_one_does() {
    let machine = Machine::new();
    let (issue, pull) = (machine.running(), machine.running_pull());
    let path = format!("/repos/{REPO}/pulls/{pull}");
    machine.github().fail_next(99, move |asked| asked.path() == path, Fault::Close);
    for round in 0..3 {
        machine.later(1);
        machine.github().comment(REPO, pull, "mona", &format!("on the silent one {round}."));
        machine.says(issue, "mona", &format!("on another {round}."));
        assert_eq!(machine.next().paused_until, None);
        assert_eq!(machine.heard(&format!("on another {round}.")).len(), 1, "{round}");
    }
    assert!(!machine.journal(EventName::PollItemError).is_empty());
    machine.github().heal();
    machine.github().fail_next(99, |asked| asked.path().contains("/pulls/"), Fault::Close);
    machine.later(1);
    let other = machine.github().open_pull(REPO, "mona", "again", "Again", &format!("Fixes #{issue}"));
    machine.github().comment(REPO, other, "mona", "x");
    machine.github().comment(REPO, pull, "mona", "y");
    assert!(left_alone(&machine) > 0, "nobody answers");
}

#[test]
fn k70_without_a_token_nothing_is_said_to_be_asked() {
    let fake = Arc::new(std::sync::Mutex::new(crate::world::fake()));
    let hosts = crate::fake_github::port::Hosts::default().with("github.com", &fake, None);
    let machine = Machine::at(&fake, hosts, vec![crate::world::source(REPO)]);
    let row = machine.next();
    assert_eq!((row.requests, machine.github().requests().len()), (0, 0));
    assert!(row.trouble.unwrap().contains("no token"));
}
