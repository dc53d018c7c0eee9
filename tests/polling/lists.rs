//! Cursors, pages, clocks: nothing is lost and nothing comes twice (cases Q01 to Q06).

use rstest::rstest;
use the_loop::domain::event::SubjectKind;

use crate::fake_github::{Asked, FakeGitHub, Fault};
use crate::world::{LABEL, Machine, REPO, fake_at};

/// Whether a request is for this list of the usual repository.
pub fn list(name: &'static str) -> impl Fn(&Asked) -> bool + Send + 'static {
    move |asked| asked.path() == format!("/repos/{REPO}{name}")
}

fn once(machine: &Machine, text: &str, issue: u64) {
    assert_eq!(machine.heard(text), [format!("#{issue}")], "{text}: {}", machine.terminal.all());
}

/// Items and comments of `Q01-equal-updated_at.scenario.json`: the second, and of each comment its id and its item.
fn scenario() -> (i64, Vec<(u64, u64)>) {
    let scenario: serde_json::Value =
        serde_json::from_str(include_str!("../data/Q01-equal-updated_at.scenario.json")).unwrap();
    let last = scenario["poll2"].as_array().unwrap();
    let mut entries: Vec<(u64, u64)> =
        last.iter().map(|entry| (entry["id"].as_u64().unwrap(), entry["number"].as_u64().unwrap())).collect();
    entries.sort_unstable();
    let second: jiff::Timestamp = last[0]["updated_at"].as_str().unwrap().parse().unwrap();
    (second.as_second(), entries)
}

/// Whether the machine got through its cycle, and what was heard afterwards.
fn q01_with_a_crash_at(change: u64) -> bool {
    let (second, entries) = scenario();
    let machine = Machine::over(fake_at(second - 60));
    for (_, number) in &entries {
        machine.github().number_next(REPO, *number);
        machine.issue();
    }
    machine.next();
    entries.iter().for_each(|(_, number)| machine.adds(*number, "the-loop start"));
    machine.next();
    let now = machine.github().now();
    machine.later(second - now);
    let say = |machine: &Machine, (id, number): (u64, u64)| {
        machine.github().comment(REPO, number, "mona", &format!("comment {id}."));
    };
    entries[..2].iter().for_each(|entry| say(&machine, *entry));
    machine.dies_after(change);
    let survived = machine.survives_a_cycle();
    let machine = machine.restarted();
    say(&machine, entries[2]);
    machine.cycle();
    machine.next();
    entries.iter().for_each(|(id, number)| once(&machine, &format!("comment {id}."), *number));
    survived
}

#[test]
fn q01_entries_of_one_second_come_once_whenever_the_machine_dies_between_them() {
    let crashes = (0..).step_by(7).take_while(|change| !q01_with_a_crash_at(*change)).count();
    assert!(crashes > 3, "it died {crashes} times");
}

#[rstest]
#[case::behind(300)]
#[case::ahead(-300)]
fn q02_the_cursor_is_githubs_own_time_however_wrong_ours_is(#[case] ahead: i64) {
    let machine = Machine::new();
    machine.clock.turn(ahead);
    let issue = machine.running();
    assert_eq!(machine.poll_state().clock_offset_seconds, Some(ahead));
    // Something is said between a request and its answer, and between two requests.
    for (round, name) in ["/issues", "/issues/comments", "/pulls/comments"].into_iter().enumerate() {
        let say = move |fake: &mut FakeGitHub| {
            fake.comment(REPO, issue, "mona", &format!("said {round}."));
        };
        machine.github().after_next(list(name), say);
        machine.next();
    }
    machine.next();
    (0..3).for_each(|round| once(&machine, &format!("said {round}."), issue));
}

#[test]
fn q03_a_pull_request_in_both_lists_is_one_item() {
    let machine = Machine::new();
    let pull = machine.github().open_pull(REPO, "mona", "fix", "Skip empty lines", "");
    machine.github().label(REPO, pull, "mona", LABEL);
    machine.next();
    machine.says(pull, "mona", "the-loop start");
    machine.next();
    machine.says(pull, "mona", "only once");
    machine.next();
    machine.next();
    assert_eq!(machine.terminal.started(), [format!("#{pull}")]);
    once(&machine, "only once", pull);
    assert_eq!(machine.item(pull).unwrap().facts.kind, Some(SubjectKind::PullRequest));
}

/// What happens between the first page and the second.
type Shift = fn(&mut FakeGitHub, u64);

#[rstest]
#[case::one_leaves(|fake: &mut FakeGitHub, first: u64| fake.delete_comment(REPO, first, "mona"))]
#[case::one_moves_behind_the_others(|fake: &mut FakeGitHub, first: u64| fake.edit_comment(REPO, first, "mona", "changed"))]
fn q05_k15_a_list_that_shifts_while_it_is_read_loses_nothing(#[case] shift: Shift) {
    let machine = Machine::new();
    let issue = machine.running();
    machine.later(1);
    let first = machine.github().comment(REPO, issue, "mona", "note 000.");
    (1..130).for_each(|note| machine.adds(issue, &format!("note {note:03}.")));
    machine.later(1);
    machine.github().after_next(list("/issues/comments"), move |fake| shift(fake, first));
    machine.next();
    machine.next();
    (1..130).for_each(|note| once(&machine, &format!("note {note:03}."), issue));
}

#[test]
fn q05_the_first_list_of_what_is_labelled_shifts_and_loses_nothing() {
    let machine = Machine::new();
    let issues: Vec<u64> = (0..103).map(|_| machine.issue()).collect();
    issues.iter().for_each(|issue| machine.adds(*issue, "the-loop start"));
    let first = issues[0];
    machine.later(1);
    machine.github().after_next(list("/issues"), move |fake| fake.unlabel(REPO, first, "mona", LABEL));
    // A hundred threads are read in a cycle.
    machine.cycles(3);
    let started = machine.terminal.started();
    let missing: Vec<&u64> = issues[1..].iter().filter(|issue| !started.contains(&format!("#{issue}"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn q06_a_page_that_did_not_change_hides_neither_a_change_behind_it_nor_a_new_page() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.later(1);
    let say = |note: u64| machine.adds(issue, &format!("note {note:03}."));
    let pages = |status: u16| {
        let is_such = |seen: &crate::fake_github::Seen| seen.path.contains("issues/comments?") && seen.status == status;
        machine.github().count(is_such)
    };
    (0..150).for_each(say);
    machine.cycle();
    // All in one second, so the same addresses are asked for.
    for (notes, unchanged) in [(150..151, 1), (151..200, 1), (200..201, 2)] {
        machine.cycle();
        machine.github().forget_requests();
        notes.for_each(say);
        machine.cycle();
        assert!(pages(304) >= unchanged && pages(200) >= 1, "{:?}", machine.github().requests());
    }
    (0..201).for_each(|note| once(&machine, &format!("note {note:03}."), issue));
}

#[test]
fn k15_a_replica_that_lags_loses_nothing_and_shows_nothing_twice() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.github().remember(60);
    for note in 0..6 {
        machine.says(issue, "mona", &format!("note {note}."));
        if note % 2 == 0 {
            machine.github().fail_next(3, |asked| asked.method == "GET", Fault::Stale(4));
        }
        machine.next();
    }
    machine.next();
    (0..6).for_each(|note| once(&machine, &format!("note {note}."), issue));
}

#[test]
fn k14_six_hundred_comments_are_heard_once_also_after_a_restart_and_another_life() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.later(1);
    let say = |note: u64| machine.adds(issue, &format!("note {note:03}."));
    (0..600).for_each(say);
    machine.next();
    let machine = machine.restarted();
    for word in ["the-loop stop", "the-loop start"] {
        machine.says(issue, "mona", word);
        machine.next();
        machine.next();
    }
    (0..600).for_each(|note| once(&machine, &format!("note {note:03}."), issue));
    assert_eq!(machine.terminal.started().len(), 2);
}
