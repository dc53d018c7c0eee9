//! Deliveries that GitHub could not hand over are asked for again.

use crate::fake_github::Fault;
use crate::world::{Machine, REPO};

#[test]
fn what_failed_is_redelivered_what_arrived_otherwise_is_not_and_three_times_at_most() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.deliver_webhooks();
    machine.says(issue, "mona", "by webhook");
    machine.deliver_webhooks();
    machine.says(issue, "mona", "lost on its way");
    let lost = machine.lose_webhooks();
    for round in 0..5 {
        machine.later(600);
        assert_eq!(machine.app.sweep().unwrap(), None);
        let again = machine.github().take_deliveries();
        let guids: Vec<&str> = again.iter().map(|delivery| delivery.guid.as_str()).collect();
        assert_eq!(guids, if round < 3 { vec![lost[0].guid.as_str()] } else { Vec::new() }, "{round}");
        again.iter().for_each(|delivery| machine.github().lose(delivery));
    }
    assert!(machine.heard("lost on its way").is_empty());
}

#[test]
fn a_redelivery_that_arrives_is_heard_once_beside_the_poll() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.deliver_webhooks();
    machine.says(issue, "mona", "heard by a sweep");
    machine.lose_webhooks();
    machine.app.sweep().unwrap();
    machine.deliver_webhooks();
    assert_eq!(machine.heard("heard by a sweep").len(), 1);
    machine.says(issue, "mona", "heard by a poll");
    machine.lose_webhooks();
    machine.next();
    machine.app.sweep().unwrap();
    machine.deliver_webhooks();
    machine.later(600);
    machine.app.sweep().unwrap();
    assert!(machine.github().take_deliveries().is_empty(), "it was taken at last");
    for text in ["heard by a sweep", "heard by a poll"] {
        assert_eq!(machine.heard(text).len(), 1, "{text}");
    }
}

#[test]
fn k68_a_delivery_that_cannot_be_asked_for_holds_up_no_other() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.deliver_webhooks();
    let says = |text: &str| {
        machine.says(issue, "mona", text);
        machine.lose_webhooks().remove(0)
    };
    let (first, second) = (says("never sent again"), says("sent again"));
    let guid = first.guid.clone();
    let refused = std::sync::atomic::AtomicUsize::new(0);
    // The oldest is asked for first.
    machine.github().fail_next(
        99,
        move |asked| {
            asked.path().ends_with("/attempts") && refused.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0
        },
        Fault::BadGateway,
    );
    let trouble = machine.app.sweep().unwrap().unwrap();
    assert!(trouble.contains("502"), "{trouble}");
    let again: Vec<String> = machine.github().take_deliveries().into_iter().map(|delivery| delivery.guid).collect();
    assert_eq!(again, [second.guid], "and not {guid}");
}

#[test]
fn it_is_opt_in_and_trouble_of_one_repository_is_told() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.says(issue, "mona", "lost");
    machine.lose_webhooks();
    machine.configure(|settings| settings.sweep = None);
    machine.github().forget_requests();
    assert_eq!(machine.app.sweep().unwrap(), None);
    assert!(machine.github().requests().is_empty());
    machine.configure(|settings| settings.sweep = Some("/gh-webhook".into()));
    machine.github().allow(REPO, "the-loop-bot", "write");
    let trouble = machine.app.sweep().unwrap().unwrap();
    assert!(trouble.contains(REPO), "{trouble}");
    assert!(machine.github().take_deliveries().is_empty());
}
