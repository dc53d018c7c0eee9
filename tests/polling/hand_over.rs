//! A machine that takes over from another forwards nothing old and misses nothing new (events rules, section 2).

use std::collections::BTreeMap;
use std::fs;

use the_loop::domain::portable::{Command, parse};

use crate::fake_github::Fault;
use crate::world::{Machine, REPO, reference};

/// The files of a machine's folder.
fn files(machine: &Machine) -> BTreeMap<String, String> {
    let files = fs::read_dir(machine.folder()).unwrap().map(|file| file.unwrap().path());
    let text =
        |path: std::path::PathBuf| Some((path.file_name()?.to_str()?.to_owned(), fs::read_to_string(path).ok()?));
    files.filter_map(text).filter(|(name, _)| name.ends_with(".json")).collect()
}

fn last_polled(machine: &Machine, issue: u64) -> Option<i64> {
    let text = fs::read(machine.folder().join(reference(issue).slug().file_name())).unwrap();
    let record = parse(&text).unwrap();
    record.poll.present().and_then(|poll| poll.last_polled_at).map(|at| at.as_millis() / 1000)
}

/// An issue with a pull request on machine A, which has heard of both and is gone; what is said afterwards it misses.
fn left_behind() -> (Machine, u64, u64) {
    let a = Machine::new();
    let issue = a.running();
    let pull = a.pull(issue);
    a.says(issue, "mona", "old words.");
    a.says(pull, "mona", "old words there.");
    a.next();
    a.later(1);
    a.github().review(REPO, pull, "mona", "commented", "an old review.");
    a.next();
    a.next();
    a.later(300);
    a.next();
    a.export();
    assert_eq!(a.heard("old words").len(), 2);
    a.says(issue, "mona", "new words.");
    a.says(pull, "mona", "new words there.");
    a.later(1);
    a.github().review_comment(REPO, pull, "mona", ("src/lib.rs", 3), "a new line.");
    a.github().review(REPO, pull, "mona", "commented", "a new review.");
    a.later(600);
    (a, issue, pull)
}

fn has_taken_over(b: &Machine, issue: u64, pull: u64) {
    for old in ["old words", "an old review"] {
        assert!(b.heard(old).is_empty(), "{old}: {}", b.terminal.all());
    }
    assert_eq!(b.heard("new words."), [format!("#{issue}")], "{}", b.terminal.all());
    for new in ["new words there.", "a new line.", "a new review."] {
        assert_eq!(b.heard(new), [format!("#{pull}")], "{new}: {}", b.terminal.all());
    }
}

#[test]
fn a_machine_that_takes_over_forwards_nothing_old_and_misses_nothing_new() {
    let (a, issue, pull) = left_behind();
    let b = a.another();
    b.takes_files_of(&a);
    b.cycles(4);
    has_taken_over(&b, issue, pull);
    let b = b.restarted();
    b.cycles(2);
    has_taken_over(&b, issue, pull);
}

#[test]
fn a_machine_that_polled_the_repository_before_it_took_the_item_over_misses_nothing_either() {
    let b = Machine::new();
    let issue = b.issue();
    b.next();
    let a = b.another();
    a.next();
    // Armed on A's command line, of which no list tells B.
    a.later(1);
    a.app.command(&reference(issue), &Command::Start, "mona").unwrap();
    a.settle();
    let pull = a.pull(issue);
    a.says(issue, "mona", "old words.");
    a.cycles(2);
    a.export();
    a.says(issue, "mona", "new words.");
    a.says(pull, "mona", "new words there.");
    let behind = a.app.now().as_millis() - b.app.now().as_millis();
    b.clock.turn(behind / 1000);
    // B polls all the while, and the item is none of its own.
    b.cycles(2);
    assert!(b.terminal.started().is_empty());
    b.takes_files_of(&a);
    b.cycles(4);
    assert!(b.heard("old words").is_empty(), "{}", b.terminal.all());
    assert_eq!(b.heard("new words."), [format!("#{issue}")], "{}", b.terminal.all());
    assert_eq!(b.heard("new words there."), [format!("#{pull}")], "{}", b.terminal.all());
}

#[test]
fn a_thread_that_cannot_be_read_at_once_is_read_later() {
    for path in ["issues", "pulls"] {
        let (a, issue, pull) = left_behind();
        let b = a.another();
        b.takes_files_of(&a);
        let number = if path == "pulls" { pull } else { issue };
        let thread = format!("/repos/{REPO}/{path}/{number}/comments");
        b.github().fail_next(3, move |asked| asked.path() == thread, Fault::BadGateway);
        b.cycles(8);
        has_taken_over(&b, issue, pull);
    }
}

#[test]
fn a_written_file_carries_the_time_of_the_last_whole_cycle_and_quiet_polling_writes_none() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.next();
    machine.export();
    machine.says(issue, "mona", "something new");
    machine.next();
    let polled = machine.github().now();
    machine.export();
    assert_eq!(last_polled(&machine, issue), Some(polled));
    let before = files(&machine);
    for _ in 0..60 {
        machine.later(60);
        machine.cycle();
        assert_eq!(machine.export(), [""; 0]);
    }
    machine.app.export_all().unwrap();
    machine.app.adopt_folder().unwrap();
    machine.app.export_all().unwrap();
    assert_eq!(files(&machine), before, "an hour of quiet polling");
    machine.says(issue, "mona", "something newer");
    machine.next();
    let polled = machine.github().now();
    machine.export();
    assert_eq!(last_polled(&machine, issue), Some(polled));
}

#[test]
fn a_cycle_that_was_not_answered_whole_dates_no_file() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.next();
    machine.next();
    let polled = machine.github().now();
    machine.says(issue, "mona", "something new");
    let fault = Fault::Forbidden;
    machine.github().fail_next(1, |asked| asked.path().ends_with("/pulls/comments"), fault);
    machine.next();
    machine.export();
    assert_eq!(machine.heard("something new").len(), 1);
    assert_eq!(last_polled(&machine, issue), Some(polled));
}
