//! Limits, outages, missing permissions, things that are gone: what fails is asked again, and holds up nothing else
//! (cases Q08 to Q14, faults K68, K69, K72).

use std::sync::{Arc, Mutex};

use rstest::rstest;
use the_loop::domain::findings;
use the_loop::domain::log::EventName;
use the_loop::domain::polling::Progress;
use the_loop::domain::reference::RepoRef;

use crate::fake_github::port::Hosts;
use crate::fake_github::{FakeGitHub, Fault};
use crate::lists::list;
use crate::world::{LABEL, Machine, REPO, TOKEN, add_repository, fake, source};

/// Another repository at the same host.
const OTHER: &str = "octo/world";

/// A machine that polls two repositories, with an issue that runs in each.
fn two() -> (Machine, u64, u64) {
    let fake = Arc::new(Mutex::new(fake()));
    add_repository(&mut fake.lock().unwrap(), OTHER, 202);
    let hosts = Hosts::default().with("github.com", &fake, Some(TOKEN));
    let machine = Machine::at(&fake, hosts, vec![source(REPO), source(OTHER)]);
    let here = machine.issue();
    let there = machine.github().open_issue(OTHER, "mona", "There", "");
    machine.github().label(OTHER, there, "mona", LABEL);
    machine.next();
    machine.says(here, "mona", "the-loop start");
    machine.github().comment(OTHER, there, "mona", "the-loop start");
    machine.next();
    assert_eq!(machine.terminal.started().len(), 2);
    (machine, here, there)
}

/// What a cycle that was not answered leaves as it was.
fn place(progress: Progress) -> Progress {
    Progress { pause: Default::default(), cycled_at: None, requests: 0, unchanged: 0, ..progress }
}

#[test]
fn q08_a_limit_without_an_end_is_waited_out_longer_each_time_and_loses_nothing() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.says(issue, "mona", "said during the limit");
    machine.github().fail_next(3, list("/issues"), Fault::SecondaryLimit(None));
    let before = place(machine.progress());
    for least in [60, 120, 240] {
        let row = machine.next();
        let until = row.paused_until.clone().unwrap();
        assert!(row.trouble_text().unwrap().contains("limit"), "{row:?}");
        let until: jiff::Timestamp = until.parse().unwrap();
        let wait = until.as_second() - machine.app.now().as_millis() / 1000;
        assert!((least..=least * 5 / 4 + 1).contains(&wait), "{least}: {wait}");
        let state = machine.poll_state();
        assert!(state.is_limited && state.paused_until == row.paused_until, "{state:?}");
        assert_eq!(place(machine.progress()), before);
        // Until then nobody asks.
        machine.later(wait - 2);
        let asked = machine.github().requests().len();
        let row = machine.next();
        assert_eq!((row.requests, row.paused_until.is_some()), (0, true));
        assert_eq!(machine.github().requests().len(), asked);
        machine.later(2);
    }
    machine.next();
    assert_eq!(machine.heard("said during the limit").len(), 1);
    assert_eq!(machine.poll_state().trouble, None);
}

#[test]
fn q10_k68_a_missing_permission_is_no_limit_and_others_go_on() {
    let (machine, here, there) = two();
    machine.says(here, "mona", "in the forbidden one");
    machine.github().comment(OTHER, there, "mona", "in the other one");
    machine.github().fail_next(2, list("/issues"), Fault::Forbidden);
    machine.later(1);
    for _ in 0..2 {
        let rows = machine.cycle().repositories;
        let text = rows[0].trouble_text().unwrap();
        assert!(text.contains("Resource not accessible by integration"), "{text}");
        assert_eq!((rows[0].paused_until.clone(), rows[1].trouble.clone()), (None, None));
    }
    assert_eq!(machine.heard("in the other one"), [format!("{OTHER}#{there}")]);
    let progress = machine.progress();
    let polling = machine.app.settings().polling.clone();
    let name = RepoRef::parse(REPO).unwrap();
    let found = findings::polling::repository(&name, Some(&progress), &polling, true, machine.app.now());
    assert!(found[0].what.contains("Resource not accessible"), "doctor names it: {found:?}");
    machine.next();
    assert_eq!(machine.heard("in the forbidden one"), [format!("#{here}")]);
}

#[test]
fn q10_a_part_that_may_not_be_read_leaves_the_rest() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.says(issue, "mona", "still heard");
    machine.github().fail_next(1, list("/pulls/comments"), Fault::Forbidden);
    let row = machine.next();
    assert!(row.trouble.is_some(), "{row:?}");
    assert_eq!(machine.heard("still heard").len(), 1);
}

#[test]
fn q13_an_outage_is_waited_out_and_the_log_holds_nothing_of_its_page() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.says(issue, "mona", "said during the outage");
    machine.github().fail_next(2, list("/issues/comments"), Fault::BadGateway);
    let before = place(machine.progress());
    for least in [10, 20] {
        let row = machine.next();
        assert!(row.trouble.as_ref().unwrap().contains("502"), "{row:?}");
        assert_eq!(place(machine.progress()), before);
        machine.later(least * 5 / 4 + 1);
    }
    machine.next();
    assert_eq!(machine.heard("said during the outage").len(), 1);
    let log = format!("{:?}", machine.journal(EventName::PollCycle));
    assert!(log.contains("502") && log.contains("F4KE:") && !log.contains("Unicorn"), "{log}");
}

#[rstest]
#[case::not_there(Fault::NotFound)]
#[case::gone(Fault::Gone)]
fn q14_a_comment_on_what_is_gone_is_passed_over_and_the_rest_is_heard(#[case] fault: Fault) {
    let machine = Machine::new();
    let (issue, gone) = (machine.running(), machine.issue());
    machine.next();
    let path = format!("/repos/{REPO}/issues/{gone}");
    let asked = path.clone();
    machine.github().fail_next(5, move |request| request.path() == asked, fault);
    // Said after the list of items was read, so that its item has to be asked for.
    machine.github().after_next(list("/issues"), move |fake| {
        fake.comment(REPO, gone, "mona", "on what is gone");
        fake.comment(REPO, issue, "mona", "on what is there");
    });
    machine.next();
    machine.cycles(3);
    assert_eq!(machine.heard("on what is there").len(), 1);
    assert!(machine.github().count(|seen| seen.path == path) <= 1, "what is gone is asked for again and again");
    assert_eq!(machine.poll_state().failing_items, 0);
}

#[test]
fn k68_one_item_that_fails_holds_up_no_other_and_is_asked_again() {
    let machine = Machine::new();
    let issue = machine.running();
    let pull = machine.pull(issue);
    let path = format!("/repos/{REPO}/pulls/{pull}");
    machine.github().fail_next(99, move |asked| asked.path() == path, Fault::BadGateway);
    machine.later(1);
    machine.github().review(REPO, pull, "mona", "commented", "on the one that fails");
    for round in 0..3 {
        machine.says(issue, "mona", &format!("round {round}."));
        machine.next();
        assert_eq!(machine.heard(&format!("round {round}.")).len(), 1, "{round}");
        assert!(machine.heard("on the one that fails").is_empty());
        assert_eq!(machine.poll_state().failing_items, 1);
    }
    machine.github().heal();
    machine.cycles(2);
    assert_eq!(machine.heard("on the one that fails"), [format!("#{pull}")]);
    assert_eq!(machine.poll_state().failing_items, 0);
    assert_eq!(machine.journal(EventName::PollItemError).len(), 3, "once in a cycle");
}

#[test]
fn k68_a_repository_that_is_out_of_sight_ends_nothing_and_goes_on_when_it_is_back() {
    let (machine, here, there) = two();
    machine.github().fail_next(3, |asked| asked.path().contains(&format!("/repos/{OTHER}")), Fault::NotFound);
    machine.says(here, "mona", "meanwhile in this one");
    machine.next();
    assert_eq!(machine.heard("meanwhile in this one").len(), 1);
    machine.github().heal();
    machine.github().comment(OTHER, there, "mona", "back again");
    machine.later(1000);
    machine.cycle();
    assert_eq!(machine.heard("back again"), [format!("{OTHER}#{there}")]);
    assert!(machine.terminal.ended().is_empty());
}

#[test]
fn the_reserve_of_the_budget_is_left_for_people() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.github().leave_requests(TOKEN, 101);
    machine.says(issue, "mona", "the-loop pause");
    machine.next();
    machine.says(issue, "mona", "not heard yet");
    let row = machine.next();
    assert_eq!(row.requests, 0, "{row:?}");
    let text = row.trouble_text().unwrap();
    assert!(text.contains("reserve"), "{text}");
    machine.later(3600);
    machine.cycle();
    machine.says(issue, "mona", "the-loop resume");
    machine.next();
    assert_eq!(machine.heard("not heard yet").len(), 1);
}

#[test]
fn k69_a_poll_that_does_not_come_round_is_told() {
    let machine = Machine::new();
    machine.running();
    let name = RepoRef::parse(REPO).unwrap();
    let find = |machine: &Machine| {
        let polling = machine.app.settings().polling.clone();
        let found = findings::polling::repository(&name, Some(&machine.progress()), &polling, true, machine.app.now());
        found.iter().map(|finding| finding.id.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(find(&machine), ["polling.well"]);
    machine.later(3600);
    assert_eq!(find(&machine), ["polling.silent"]);
    machine.next();
    assert_eq!(find(&machine), ["polling.well"]);
}

#[test]
fn q11_k72_each_host_is_asked_with_its_own_token_and_its_pages_where_they_are() {
    let cloud = Arc::new(Mutex::new(fake()));
    let mut enterprise = FakeGitHub::new(cloud.lock().unwrap().now()).enterprise("https://ghe.example");
    enterprise.add_token("enterprise-token", "the-loop-bot", Some("repo"));
    add_repository(&mut enterprise, REPO, 101);
    let enterprise = Arc::new(Mutex::new(enterprise));
    let hosts = Hosts::default().with("github.com", &cloud, Some(TOKEN)).with(
        "ghe.example",
        &enterprise,
        Some("enterprise-token"),
    );
    let machine = Machine::at(&cloud, hosts, vec![source(REPO), source("ghe.example/octo/hello")]);
    let both = |act: fn(&mut FakeGitHub)| {
        machine.later(1);
        enterprise.lock().unwrap().advance(1);
        act(&mut machine.github());
        act(&mut enterprise.lock().unwrap());
        machine.later(1);
        enterprise.lock().unwrap().advance(1);
        machine.cycle();
    };
    both(|github| {
        let issue = github.open_issue(REPO, "mona", "Totals", "");
        github.label(REPO, issue, "mona", LABEL);
    });
    both(|github| {
        github.comment(REPO, 1, "mona", "the-loop start");
    });
    both(|github| {
        let web = if github.api().contains("ghe") { "enterprise" } else { "cloud" };
        for note in 0..130 {
            github.comment(REPO, 1, "mona", &format!("{web} {note:03}."));
        }
    });
    for note in 0..130 {
        assert_eq!(machine.heard(&format!("cloud {note:03}.")), ["#1"]);
        assert_eq!(machine.heard(&format!("enterprise {note:03}.")), ["ghe.example/octo/hello#1"]);
    }
    let is_right = |github: &FakeGitHub, token: &str, base: &str| {
        let right = |seen: &crate::fake_github::Seen| {
            seen.token.as_deref() == Some(token) && seen.path.starts_with(base) && !seen.path.contains("v3/api")
        };
        github.requests().iter().all(right) && github.count(|seen| seen.path.contains("page=2")) > 0
    };
    assert!(is_right(&machine.github(), TOKEN, "/"));
    assert!(is_right(&enterprise.lock().unwrap(), "enterprise-token", "/api/"));
}
