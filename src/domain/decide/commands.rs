//! Tests: the operator's own words.

use super::fixtures::*;
use super::{Change, DropReason, OperatorCommand, Outcome, Verdict, decide_command};
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
