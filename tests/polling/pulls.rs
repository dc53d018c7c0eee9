//! What is said of pull requests reaches their own conversations (fault K16), also when only a list shows it.

use crate::world::{LABEL, Machine, REPO};

#[test]
fn k16_what_is_polled_of_a_pull_request_reaches_its_own_conversation() {
    let machine = Machine::new();
    let issue = machine.running();
    let pull = machine.pull(issue);
    let own = [format!("#{pull}")];
    machine.next();
    machine.later(1);
    let sha = machine.github().repo(REPO).head(pull).to_owned();
    machine.github().review_comment(REPO, pull, "mona", ("src/lib.rs", 3), "about a line");
    machine.github().review(REPO, pull, "mona", "commented", "about it all");
    machine.github().check(REPO, &sha, "unit-tests", "failure");
    machine.says(pull, "mona", "in its conversation");
    machine.says(issue, "mona", "on the issue");
    machine.next();
    machine.next();
    for text in ["about a line", "about it all", "in its conversation"] {
        assert_eq!(machine.heard(text), own, "{text}: {}", machine.terminal.all());
    }
    assert_eq!(machine.terminal.hearers("unit-tests"), own);
    assert_eq!(machine.heard("on the issue"), [format!("#{issue}")]);
}

#[test]
fn k16_checks_alone_are_heard_also_of_a_new_head_and_of_a_reopened_pull_request() {
    let machine = Machine::new();
    let issue = machine.running();
    let pull = machine.pull(issue);
    machine.next();
    machine.next();
    let fails = |name: &str| {
        machine.later(1);
        let sha = machine.github().repo(REPO).head(pull).to_owned();
        machine.github().check(REPO, &sha, name, "failure");
        // Nothing else changes.
        machine.cycles(3);
        assert_eq!(machine.terminal.hearers(name), [format!("#{pull}")], "{}", machine.terminal.all());
    };
    fails("first-check");
    machine.later(1);
    machine.github().push(REPO, pull, "mona");
    fails("second-check");
    machine.later(1);
    machine.github().close(REPO, pull, "mona");
    machine.next();
    machine.later(1);
    machine.github().reopen(REPO, pull, "mona");
    machine.next();
    fails("third-check");
}

#[test]
fn k16_a_check_of_a_pull_request_with_a_record_of_its_own_is_heard() {
    let machine = Machine::new();
    machine.next();
    machine.later(1);
    let pull = machine.github().open_pull(REPO, "mona", "fix", "Skip empty lines", "");
    machine.github().label(REPO, pull, "mona", LABEL);
    machine.says(pull, "mona", "the-loop start");
    machine.next();
    assert!(machine.lives(pull));
    machine.later(1);
    let sha = machine.github().repo(REPO).head(pull).to_owned();
    machine.github().check(REPO, &sha, "unit-tests", "failure");
    machine.cycles(3);
    assert_eq!(machine.terminal.hearers("unit-tests"), [format!("#{pull}")]);
}

#[test]
fn a_check_that_passes_and_a_review_without_words_say_nothing() {
    let machine = Machine::new();
    let issue = machine.running();
    let pull = machine.pull(issue);
    machine.next();
    machine.later(1);
    let sha = machine.github().repo(REPO).head(pull).to_owned();
    machine.github().check(REPO, &sha, "unit-tests", "success");
    machine.github().set_status(REPO, &sha, "ci", "lint-status", "pending");
    machine.github().review(REPO, pull, "mona", "commented", "");
    machine.cycles(3);
    assert_eq!(machine.terminal.started(), [format!("#{issue}")], "nobody spoke to the pull request");
    machine.later(1);
    machine.github().set_status(REPO, &sha, "ci", "lint-status", "failure");
    machine.cycles(3);
    assert_eq!(machine.terminal.hearers("lint-status"), [format!("#{pull}")]);
}

#[test]
fn a_dismissed_review_from_before_anybody_saw_it_says_nothing() {
    let machine = Machine::new();
    let issue = machine.running();
    let pull = machine.pull(issue);
    machine.next();
    machine.later(1);
    let review = machine.github().review(REPO, pull, "mona", "changes_requested", "taken back");
    machine.github().dismiss(REPO, review, "mona");
    machine.next();
    machine.next();
    assert!(machine.heard("taken back").is_empty());
}
