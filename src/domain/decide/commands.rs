//! Tests: the operator's own words.

use super::fixtures::*;
use super::{Act, ByHand, Change, DropReason, OperatorCommand, Outcome, Verdict, decide_by_hand, decide_command};
use crate::domain::ids::DeliveryId;
use crate::domain::portable::Command;
use crate::domain::reference::RepoRef;

fn verbs(outcome: &Outcome) -> Vec<&'static str> {
    outcome.effects.iter().map(|effect| effect.body.verb()).collect()
}

fn command(word: Command) -> OperatorCommand {
    let id = DeliveryId::parse("cli-1").unwrap();
    OperatorCommand { item: issue(7), word, actor: "operator".into(), id }
}

#[test]
fn an_operators_word_is_later_than_everything_recorded() {
    let rows = Rows::new().with_live(7);
    let outcome = decide_command(&command(Command::Stop), &rows.view, &rows.policy, at(-3600));
    assert_eq!(outcome.verdict, Verdict::Accepted);
    let Some(Change::Item(item)) = outcome.changes.first() else { panic!() };
    assert_eq!(item.sections.control.as_ref().unwrap().at(), Some(at(1)), "a second after the start");
}

/// Issue 7 as a wrong clock left it: stopped and, with `ended`, reset years ahead of everything.
fn dated_by_a_wrong_clock(ended: bool) -> (Rows, i64) {
    let (mut rows, ahead) = (Rows::new().with_live(7), 5 * 365 * 24 * 3600);
    let outcome = decide_command(&command(Command::Stop), &rows.view, &rows.policy, at(ahead));
    assert_eq!(outcome.verdict, Verdict::Accepted);
    rows.apply(&outcome);
    if ended {
        let by_hand = ByHand { item: issue(7), act: Act::Reset, id: DeliveryId::parse("cli-2").unwrap() };
        rows.apply(&decide_by_hand(&by_hand, &rows.view, &rows.policy, at(ahead)));
    }
    (rows, ahead)
}

#[test]
fn k31_what_a_wrong_clock_dated_years_ahead_stands_over_no_later_word() {
    for ended in [false, true] {
        let (mut rows, ahead) = dated_by_a_wrong_clock(ended);
        let at_the_line = decide_command(&command(Command::Start), &rows.view, &rows.policy, at(60));
        assert_eq!(at_the_line.verdict, Verdict::Accepted, "{ended}");
        let on_the_ticket = rows.take(&comment(71, subject(7), "mona", 61, "the-loop start"), 61);
        assert_eq!(on_the_ticket.verdict, Verdict::Accepted, "{ended}");
        for (outcome, second) in [(at_the_line, 60), (on_the_ticket, 61)] {
            let item = outcome.changes.iter().find_map(|change| match change {
                Change::Item(item) => Some(item),
                _ => None,
            });
            let sections = &item.unwrap().sections;
            let control = sections.control.as_ref().unwrap();
            assert_eq!((control.at(), sections.commanded_at), (Some(at(second)), Some(at(second))), "now is used");
            assert!(control.arms_after(sections.ended.as_ref()), "{ended}: {sections:?}");
        }
        // Older words still lose, and a right clock that comes near the date obeys it.
        let older = rows.take(&comment(72, subject(7), "mona", 59, "the-loop stop"), 62);
        assert_eq!(older.verdict, Verdict::Dropped(DropReason::OlderCommand), "{ended}");
        let (mut rows, _) = dated_by_a_wrong_clock(ended);
        let near = rows.take(&comment(73, subject(7), "mona", ahead - 60, "the-loop start"), ahead - 60);
        assert_eq!(near.verdict, Verdict::Dropped(DropReason::OlderCommand), "{ended}");
    }
}

#[test]
fn an_operators_word_that_changes_nothing_says_so() {
    let rows = Rows::new().with_live(7);
    let outcome = decide_command(&command(Command::Start), &rows.view, &rows.policy, at(9));
    assert_eq!(outcome.verdict, Verdict::Dropped(DropReason::NothingToDo));
    assert!(outcome.changes.is_empty());
    let outcome = decide_command(&command(Command::Resume), &rows.view, &rows.policy, at(9));
    assert_eq!(outcome.verdict, Verdict::Refused(DropReason::NotApplicable));
}

#[test]
fn an_operators_start_needs_no_label() {
    let rows = Rows::new();
    let outcome = decide_command(&command(Command::Start), &rows.view, &rows.policy, at(9));
    assert_eq!((outcome.verdict, verbs(&outcome)), (Verdict::Accepted, vec!["spawn", "deliver"]));
}

#[test]
fn an_operators_start_in_a_repository_that_is_not_served_is_refused() {
    let mut rows = Rows::new();
    rows.policy.repositories = vec![RepoRef::parse("octo/other").unwrap()];
    let outcome = decide_command(&command(Command::Start), &rows.view, &rows.policy, at(9));
    assert_eq!(outcome.verdict, Verdict::Refused(DropReason::OtherRepository));
    assert!(outcome.changes.is_empty() && outcome.effects.is_empty());
    // What runs already is ours, whatever its repository is called by now.
    let mut rows = Rows::new().with_live(7);
    rows.policy.repositories = vec![RepoRef::parse("octo/other").unwrap()];
    let outcome = decide_command(&command(Command::Stop), &rows.view, &rows.policy, at(9));
    assert_eq!(outcome.verdict, Verdict::Accepted);
}
