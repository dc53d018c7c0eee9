//! Facts that only GitHub has: permissions, linkage, whether an issue exists (events rules, sections 4 and 5).

use std::sync::{Arc, Mutex};

use rstest::rstest;
use the_loop::domain::github::Permission;
use the_loop::domain::log::EventName;

use crate::fake_github::port::Hosts;
use crate::fake_github::{Asked, Fault};
use crate::world::{LABEL, Machine, REPO, fake, source};

fn of_permission(asked: &Asked) -> bool {
    asked.path().ends_with("/permission")
}

fn of_linkage(asked: &Asked) -> bool {
    asked.path().ends_with("/graphql")
}

fn asking(least: Permission) -> Machine {
    let machine = Machine::new();
    machine.configure(|settings| settings.policy.authorize_permission = Some(least));
    machine.github().allow(REPO, "hubot[bot]", "admin");
    machine.github().allow(REPO, "wendy", "write");
    machine.github().allow(REPO, "theo", "triage");
    machine
}

#[rstest]
#[case::enough("wendy", Permission::Write, true)]
#[case::more_than_enough("wendy", Permission::Triage, true)]
#[case::too_little("theo", Permission::Write, false)]
#[case::nobody("eve", Permission::Triage, false)]
#[case::a_bot("hubot[bot]", Permission::Read, false)]
#[case::ghost("ghost", Permission::Read, false)]
fn a_permission_admits_who_has_it(#[case] login: &str, #[case] least: Permission, #[case] is_admitted: bool) {
    let machine = asking(least);
    let issue = machine.running();
    machine.says(issue, login, "may I?");
    machine.next();
    machine.says(issue, login, "the-loop stop");
    machine.deliver_webhooks();
    machine.next();
    assert_eq!(machine.heard("may I?").len(), usize::from(is_admitted), "{}", machine.terminal.all());
    assert_eq!(machine.lives(issue), !is_admitted);
    assert_eq!(machine.status().undecided, 0);
}

#[test]
fn a_permission_is_asked_once_in_a_while_and_taken_away_it_counts_no_more() {
    let machine = asking(Permission::Write);
    let issue = machine.running();
    let asked = || machine.github().count(|seen| seen.path.ends_with("/permission"));
    for round in 0..5 {
        machine.says(issue, "wendy", &format!("round {round}."));
        machine.next();
        assert_eq!(machine.heard(&format!("round {round}.")).len(), 1);
    }
    assert_eq!(asked(), 1);
    machine.github().allow(REPO, "wendy", "read");
    machine.later(3600);
    machine.says(issue, "wendy", "not any more");
    machine.next();
    assert_eq!((asked(), machine.heard("not any more").len()), (2, 0));
}

#[test]
fn later_events_wait_behind_the_first_in_order_and_a_stop_overtakes() {
    let machine = asking(Permission::Write);
    let issue = machine.running();
    machine.github().fail_next(2, of_permission, Fault::BadGateway);
    machine.says(issue, "wendy", "first");
    machine.next();
    machine.says(issue, "mona", "second");
    machine.next();
    machine.says(issue, "mona", "third");
    machine.next();
    assert!(machine.heard("second").is_empty() && machine.heard("third").is_empty());
    assert!(machine.status().undecided >= 3);
    // Nothing of this is lost by a restart.
    let machine = machine.restarted();
    for _ in 0..3 {
        machine.later(16);
        machine.settle();
    }
    let all = machine.terminal.all();
    let places = ["first", "second", "third"].map(|text| all.find(text).expect(text));
    assert!(places.is_sorted(), "{all}");
    machine.github().fail_next(1, of_permission, Fault::BadGateway);
    machine.says(issue, "wendy", "will it be heard?");
    machine.says(issue, "mona", "the-loop stop");
    machine.next();
    assert!(!machine.lives(issue), "a stop waits for nobody");
}

#[rstest]
#[case::a_stop(|machine: &Machine, issue: u64| machine.adds(issue, "the-loop stop"), false)]
#[case::a_pause(|machine: &Machine, issue: u64| machine.adds(issue, "the-loop pause"), true)]
#[case::a_close(|machine: &Machine, issue: u64| machine.github().close(REPO, issue, "mona"), false)]
fn what_ends_or_holds_overtakes_what_waits(#[case] act: fn(&Machine, u64), #[case] lives: bool) {
    let machine = asking(Permission::Write);
    let issue = machine.running();
    machine.github().fail_next(1, of_permission, Fault::BadGateway);
    machine.says(issue, "wendy", "I wait");
    machine.next();
    machine.later(1);
    act(&machine, issue);
    machine.next();
    assert!(machine.lives(issue) == lives && machine.status().undecided > 0);
    machine.later(20);
    machine.settle();
    assert_eq!(machine.status().undecided, 0);
    assert!(machine.heard("I wait").is_empty());
}

#[test]
fn after_three_tries_within_a_minute_it_is_decided_without() {
    let machine = asking(Permission::Write);
    let issue = machine.running();
    machine.github().fail_next(99, of_permission, Fault::BadGateway);
    machine.says(issue, "wendy", "nobody answers for me");
    machine.next();
    machine.says(issue, "mona", "behind it");
    machine.next();
    let mut waited = 0;
    while machine.status().undecided > 0 {
        machine.later(5);
        waited += 5;
        machine.settle();
        assert!(waited < 60, "it waits for ever");
    }
    assert!(machine.heard("nobody answers for me").is_empty());
    assert_eq!(machine.heard("behind it").len(), 1);
    assert_eq!(machine.github().count(|seen| seen.path.ends_with("/permission")), 3);
}

#[test]
fn without_a_token_it_is_decided_at_once_without() {
    let fake = Arc::new(Mutex::new(fake()));
    let machine = Machine::at(&fake, Hosts::default().with("github.com", &fake, None), vec![source(REPO)]);
    machine.configure(|settings| settings.policy.authorize_permission = Some(Permission::Read));
    let issue = machine.issue();
    machine.says(issue, "mona", "the-loop start");
    machine.deliver_webhooks();
    let pull = machine.pull(issue);
    machine.says(pull, "mona", "by its words");
    machine.says(issue, "wendy", "unknown");
    machine.deliver_webhooks();
    assert_eq!(machine.status().undecided, 0);
    assert_eq!(machine.heard("by its words"), [format!("#{pull}")]);
    assert!(machine.heard("unknown").is_empty() && fake.lock().unwrap().requests().is_empty());
}

#[rstest]
#[case::by_webhook(true)]
#[case::by_poll(false)]
fn a_linkage_that_only_github_knows_is_asked_for(#[case] by_webhook: bool) {
    let machine = Machine::new();
    let issue = machine.running();
    machine.lose_webhooks();
    machine.later(1);
    let pull = machine.github().open_pull(REPO, "mona", "some-branch", "Skip", "no words about it");
    machine.github().link(REPO, pull, REPO, issue);
    machine.github().fail_next(1, of_linkage, Fault::BadGateway);
    machine.says(pull, "mona", "first");
    machine.says(pull, "mona", "second");
    match by_webhook {
        true => machine.deliver_webhooks(),
        false => drop(machine.next()),
    }
    assert!(machine.heard("first").is_empty() && machine.status().undecided > 0);
    machine.later(16);
    machine.settle();
    for text in ["first", "second"] {
        assert_eq!(machine.heard(text), [format!("#{pull}")], "{}", machine.terminal.all());
    }
    assert_eq!(machine.status().undecided, 0);
    assert_eq!(machine.journal(EventName::SessionPrLinked).len(), 1);
}

#[test]
fn a_branch_that_names_an_unknown_issue_counts_when_there_is_one() {
    let machine = Machine::new();
    machine.configure(|settings| settings.policy.spawn = the_loop::domain::policy::SpawnPolicy::Always);
    machine.next();
    machine.later(1);
    let unknown = machine.github().open_issue(REPO, "eve", "Nobody's", "");
    machine.lose_webhooks();
    let start = |branch: String| {
        let pull = machine.github().open_pull(REPO, "mona", &branch, "Skip", "");
        machine.github().label(REPO, pull, "mona", LABEL);
        // A review shows the branch; a comment in the conversation does not.
        machine.later(1);
        machine.github().review(REPO, pull, "mona", "commented", "the-loop start");
        machine.deliver_webhooks();
        pull
    };
    start(format!("issue-{unknown}"));
    assert_eq!(machine.terminal.started(), [format!("#{unknown}")]);
    let alone = start("issue-999".to_owned());
    assert_eq!(machine.terminal.started(), [format!("#{unknown}"), format!("#{alone}")]);
}
