//! Tests: what decisions tell on the ticket, and that strangers get no answer.

use rstest::rstest;

use super::fixtures::*;
use super::operator::{OperatorCommand, decide_command};
use super::{DropReason, Outcome, Verdict};
use crate::domain::event::marker::MARKER;
use crate::domain::event::{Content, Form};
use crate::domain::ids::DeliveryId;
use crate::domain::policy::{Policy, Reactions, SpawnPolicy};
use crate::domain::portable::Command;
use crate::domain::telling::{Spot, What};

/// What an outcome tells, in a few words each.
fn told(outcome: &Outcome) -> Vec<String> {
    let one = |tell: &super::Tell| match &tell.what {
        What::Reaction { on: Spot::Comment(id), content } => format!("{} {id}", content.as_str()),
        What::Reaction { on: Spot::ReviewComment(id), content } => format!("{} line {id}", content.as_str()),
        What::Words { kind, .. } => kind.as_str().to_owned(),
    };
    outcome.tells.iter().map(one).collect()
}

fn text(outcome: &Outcome) -> &str {
    let mut texts = outcome.tells.iter().filter_map(|tell| match &tell.what {
        What::Words { text, .. } => Some(text.as_str()),
        What::Reaction { .. } => None,
    });
    texts.next_back().unwrap_or_default()
}

#[rstest]
#[case::comment("hello", &["eyes 9"])]
#[case::pause("the-loop pause", &["hooray 9"])]
#[case::stop("the-loop stop", &["hooray 9"])]
#[case::start_again("the-loop start", &["hooray 9"])]
#[case::start_with_words("the-loop start\nand look", &["eyes 9"])]
#[case::resume_of_nothing("the-loop resume", &["refusal"])]
#[case::two_words("the-loop start\nthe-loop stop", &["refusal"])]
fn what_is_said_to_a_live_session_is_told(#[case] said: &str, #[case] expected: &[&str]) {
    let mut rows = Rows::new().with_live(7);
    assert_eq!(told(&rows.take(&comment(9, subject(7), "mona", 60, said), 60)), expected);
}

#[test]
fn a_start_is_seen_and_its_spawn_knows_whom_to_tell() {
    for (said, asked) in [("the-loop start", true), ("the-loop start\nplease", false)] {
        let outcome = Rows::new().take(&comment(9, subject(7), "mona", 5, said), 5);
        assert_eq!(told(&outcome), ["eyes 9"], "{said}");
        assert_eq!(outcome.effects[0].body.verb(), "spawn");
        assert_eq!(outcome.effects[0].body.asked_by().is_some(), asked, "{said}");
    }
}

#[test]
fn a_refused_start_names_the_setting() {
    let mut rows = Rows::new();
    let mut unlabelled = subject(7);
    unlabelled.labels.clear();
    let outcome = rows.take(&comment(9, unlabelled.clone(), "mona", 5, "the-loop start"), 5);
    assert_eq!((outcome.verdict, told(&outcome)), (Verdict::Refused(DropReason::SpawnPolicy), vec!["refusal".into()]));
    assert!(text(&outcome).contains("`labeled`"), "{}", text(&outcome));
    rows.policy.spawn = SpawnPolicy::Never;
    let outcome = rows.take(&comment(10, unlabelled.clone(), "mona", 6, "the-loop start"), 6);
    assert!(text(&outcome).contains("`never`"), "{}", text(&outcome));
    // A comment that is no command is nobody's question.
    assert_eq!(told(&rows.take(&comment(11, unlabelled, "mona", 7, "hello"), 7)), Vec::<String>::new());
}

#[test]
fn k31_a_word_that_came_too_late_is_answered_with_what_it_lost_to() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&comment(9, subject(7), "mona", 60, "the-loop stop"), 60);
    let outcome = rows.take(&comment(8, subject(7), "mona", 30, "the-loop start"), 61);
    assert_eq!(outcome.verdict, Verdict::Dropped(DropReason::OlderCommand));
    assert_eq!(told(&outcome), ["refusal"]);
    assert!(text(&outcome).contains(&format!("`stop` of {}", at(60))), "{}", text(&outcome));
}

#[test]
fn k23_k36_strangers_nobodies_and_bots_get_no_answer() {
    for login in ["eve", "ghost", "", "dependabot[bot]"] {
        for said in ["hello", "the-loop start", "the-loop start\nthe-loop stop", "the-loop resume"] {
            let outcome = Rows::new().take(&comment(9, subject(7), login, 5, said), 5);
            assert_eq!(
                (outcome.verdict, outcome.tells),
                (Verdict::Refused(DropReason::UnauthorizedActor), vec![]),
                "{login}"
            );
            let outcome = Rows::new().with_live(7).take(&comment(9, subject(7), login, 60, said), 60);
            assert!(outcome.tells.is_empty(), "{login} {said}");
        }
    }
    // Somebody else's text under an admitted name is a stranger's.
    let mut event = comment(9, subject(7), "eve", 60, "the-loop stop");
    event.sender = crate::domain::ids::Login::parse("mona");
    assert!(Rows::new().with_live(7).take(&event, 60).tells.is_empty());
}

#[test]
fn k25_our_own_words_get_no_answer_with_and_without_their_marker() {
    let mut rows = Rows::new().with_live(7);
    let marked = comment(9, subject(7), "mona", 60, &format!("the-loop resume\n{MARKER}"));
    assert!(rows.take(&marked, 60).tells.is_empty());
    rows.view.posted_by_us = true;
    let outcome = rows.take(&comment(10, subject(7), "mona", 61, "the-loop resume"), 61);
    assert_eq!((outcome.verdict, outcome.tells), (Verdict::Dropped(DropReason::SelfAuthored), vec![]));
    assert!(outcome.effects.is_empty());
}

#[test]
fn what_happened_before_is_told_once_and_a_check_gets_no_reaction() {
    let mut rows = Rows::new().with_live(7);
    let event = comment(9, subject(7), "mona", 60, "hello");
    assert_eq!(told(&rows.take(&event, 60)), ["eyes 9"]);
    let mut other = event.clone();
    other.delivery = DeliveryId::parse("another").unwrap();
    assert!(rows.take(&event, 61).tells.is_empty() && rows.take(&other, 62).tells.is_empty());
    let mut line = comment(12, subject(7), "mona", 63, "here");
    if let Content::Speech(speech) = &mut line.content {
        speech.identity = crate::domain::event::Identity::new("github.com", 101, "review_comment", "12");
        speech.form = Form::ReviewComment { path: "a".into(), line: None, hunk: String::new() };
    }
    assert_eq!(told(&rows.take(&line, 63)), ["eyes line 12"]);
    rows.take(&comment(13, pull_request(16, Some(7)), "mona", 64, "see"), 64);
    let check = rows.take(&failed_check(16, &format!("{:040x}", 16)), 65);
    assert_eq!((check.verdict, check.tells), (Verdict::Accepted, vec![]));
}

#[test]
fn what_is_decided_twice_tells_the_same() {
    let event = comment(9, subject(7), "mona", 60, "the-loop resume");
    let [once, again] = [(); 2].map(|()| Rows::new().with_live(7).take(&event, 60).tells);
    let marker = |tells: &[super::Tell]| tells[0].marker(&crate::domain::ids::StoreId("s".into()));
    assert_eq!(marker(&once), marker(&again));
    assert!(marker(&once).is_some());
}

#[test]
fn a_word_of_the_command_line_is_echoed_and_one_that_changes_nothing_is_not() {
    let say = |rows: &Rows, word: Command| {
        let id = DeliveryId::parse("cli-1").unwrap();
        let command = OperatorCommand { item: issue(7), word, actor: "operator".into(), id };
        decide_command(&command, &rows.view, &rows.policy, at(90))
    };
    let mut rows = Rows::new().with_live(7);
    let stop = say(&rows, Command::Stop);
    assert_eq!(told(&stop), ["echo"]);
    assert!(text(&stop).starts_with("`the-loop stop`") && !text(&stop).contains("operator:"), "{}", text(&stop));
    for quiet in [Command::Start, Command::Resume] {
        assert!(say(&rows, quiet).tells.is_empty());
    }
    rows.policy.announces = false;
    assert!(say(&rows, Command::Stop).tells.is_empty());
}

#[test]
fn reactions_are_as_configured_and_can_be_off() {
    let mut rows = Rows::new().with_live(7);
    rows.policy = Policy { reactions: Reactions { started: None, completed: None, error: None }, ..rows.policy };
    assert!(rows.take(&comment(9, subject(7), "mona", 60, "hello"), 60).tells.is_empty());
    // An answer is no reaction.
    assert_eq!(told(&rows.take(&comment(10, subject(7), "mona", 61, "the-loop resume"), 61)), ["refusal"]);
}
