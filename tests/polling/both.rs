//! Webhook and poll together: one identity (faults K07 to K09, cases R01 to R08).

use std::sync::Barrier;

use the_loop::domain::decide::Verdict;

use crate::fake_github::Fault;
use crate::lists::list;
use crate::world::{LABEL, Machine, REPO, arrival};

#[test]
fn k07_r08_what_a_webhook_and_a_poll_bring_is_heard_once_whichever_comes_first() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.deliver_webhooks();
    machine.says(issue, "mona", "by webhook first");
    machine.deliver_webhooks();
    machine.next();
    machine.says(issue, "mona", "by poll first");
    machine.next();
    machine.deliver_webhooks();
    // The issue changes for reasons of its own, and so its list shows it again.
    machine.later(1);
    machine.github().edit_title(REPO, issue, "mona", "Another title");
    machine.next();
    machine.later(400);
    machine.github().edit_title(REPO, issue, "mona", "And another");
    machine.next();
    for text in ["by webhook first", "by poll first"] {
        assert_eq!(machine.heard(text).len(), 1, "{text}");
    }
}

#[test]
fn k07_a_word_that_comes_twice_acts_once() {
    let machine = Machine::new();
    let issue = machine.running();
    for word in ["the-loop stop", "the-loop start"] {
        machine.says(issue, "mona", word);
        let late = machine.github().take_deliveries();
        machine.next();
        late.iter().for_each(|delivery| drop(machine.hears(delivery)));
        machine.settle();
    }
    machine.next();
    assert!(machine.lives(issue));
    assert_eq!((machine.terminal.started().len(), machine.terminal.ended().len()), (2, 1));
}

#[test]
fn k07_reviews_lines_and_checks_have_one_identity_too() {
    let machine = Machine::new();
    let issue = machine.running();
    let pull = machine.pull(issue);
    machine.next();
    machine.next();
    machine.lose_webhooks();
    machine.later(1);
    {
        let mut github = machine.github();
        github.review(REPO, pull, "mona", "changes_requested", "review words");
        github.review_comment(REPO, pull, "mona", ("src/lib.rs", 3), "line words");
        let sha = github.repo(REPO).head(pull).to_owned();
        github.check(REPO, &sha, "unit-tests", "failure");
        github.set_status(REPO, &sha, "ci", "lint-status", "failure");
    }
    let deliveries = machine.github().take_deliveries();
    machine.next();
    machine.next();
    for delivery in &deliveries {
        machine.hears(delivery);
    }
    machine.next();
    for text in ["review words", "line words"] {
        assert_eq!(machine.heard(text), [format!("#{pull}")], "{text}: {}", machine.terminal.all());
    }
    let speaks = |name: &str| machine.terminal.times_typed(name);
    assert_eq!((speaks("unit-tests"), speaks("lint-status")), (1, 1), "{}", machine.terminal.all());
}

#[test]
fn k08_neither_the_51st_nor_the_2000th_copy_acts_again() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.lose_webhooks();
    machine.says(issue, "mona", "said once");
    let delivery = machine.github().take_deliveries().remove(0);
    for copy in 0..2000 {
        // Under its own id, and under others.
        let mut copied = delivery.clone();
        if copy % 2 == 1 {
            copied.guid = format!("copy-{copy}");
        }
        machine.app.ingest(&arrival(&copied)).unwrap();
    }
    for _ in 0..60 {
        machine.later(400);
        machine.github().edit_title(REPO, issue, "mona", "Again");
        machine.cycle();
    }
    assert_eq!(machine.heard("said once").len(), 1);
}

#[test]
fn k09_a_webhook_and_a_poll_at_the_same_moment_are_heard_once() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.lose_webhooks();
    for round in 0..20 {
        machine.says(issue, "mona", &format!("round {round}."));
        let delivery = arrival(&machine.github().take_deliveries()[0]);
        let (both, app) = (Barrier::new(2), machine.app.clone());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                both.wait();
                app.poll_all().unwrap();
            });
            scope.spawn(|| {
                both.wait();
                machine.app.ingest(&delivery).unwrap();
            });
        });
        machine.settle();
        assert_eq!(machine.heard(&format!("round {round}.")).len(), 1);
    }
}

#[test]
fn r01_a_redelivery_after_a_restart_and_a_poll_is_a_duplicate() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.lose_webhooks();
    machine.says(issue, "mona", "once");
    let delivery = machine.github().take_deliveries().remove(0);
    machine.hears(&delivery);
    let machine = machine.restarted();
    machine.next();
    let again = machine.hears(&delivery);
    assert!(matches!(again.verdict, Verdict::Dropped(_)), "{again:?}");
    machine.next();
    assert_eq!(machine.heard("once").len(), 1);
}

#[test]
fn r05_a_late_opened_and_a_list_do_not_reset_what_a_label_started() {
    let machine = Machine::new();
    machine.configure(|settings| settings.policy.require_start = false);
    machine.next();
    machine.later(1);
    let issue = machine.issue();
    let deliveries = machine.github().take_deliveries();
    assert_eq!(deliveries.len(), 2);
    machine.hears(&deliveries[1]);
    machine.settle();
    let began = machine.item(issue).unwrap().session.unwrap();
    machine.next();
    machine.hears(&deliveries[0]);
    machine.next();
    assert_eq!(machine.terminal.started(), [format!("#{issue}")]);
    assert_eq!(machine.item(issue).unwrap().session.unwrap().generation, began.generation);
}

#[test]
fn r06_an_older_state_in_a_list_never_reopens_what_is_closed() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.github().remember(60);
    machine.later(1);
    machine.github().edit_title(REPO, issue, "mona", "Edited in the second of its close");
    machine.lose_webhooks();
    machine.github().close(REPO, issue, "mona");
    machine.deliver_webhooks();
    assert!(!machine.lives(issue));
    // A replica still shows it open, at an older time.
    machine.github().fail_next(1, list("/issues"), Fault::Stale(1));
    machine.later(0);
    machine.cycle();
    machine.next();
    assert_eq!(machine.item(issue).unwrap().facts.open, Some(false));
    assert_eq!(machine.terminal.started().len(), 1);
}

#[test]
fn both_ingresses_start_an_item_once() {
    let machine = Machine::new();
    machine.next();
    machine.later(1);
    let issue = machine.github().open_issue(REPO, "mona", "Totals", "");
    machine.says(issue, "mona", "the-loop start");
    machine.deliver_webhooks();
    assert!(!machine.lives(issue), "it has no label yet");
    machine.later(1);
    machine.github().label(REPO, issue, "mona", LABEL);
    machine.deliver_webhooks();
    machine.next();
    // The word was refused and answered: it is not said again by a list.
    assert!(!machine.lives(issue));
    machine.says(issue, "mona", "the-loop start");
    machine.deliver_webhooks();
    machine.next();
    assert_eq!(machine.terminal.started(), [format!("#{issue}")]);
}
