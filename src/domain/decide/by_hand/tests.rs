//! Tests: what an operator does to a record by hand.

use super::super::fixtures::*;
use super::super::{Change, DropReason, Outcome, Verdict};
use super::*;
use crate::domain::effect::{Class, EffectBody, EndpointRef};
use crate::domain::event::ItemFact;
use crate::domain::event::Subject;
use crate::domain::lane::{self, LaneView, Next};
use crate::domain::portable::Command;

fn act(rows: &mut Rows, number: u64, act: Act, now: i64) -> Outcome {
    let by_hand = ByHand { item: issue(number), act, id: DeliveryId::parse("cli-1").unwrap() };
    let outcome = decide_by_hand(&by_hand, &rows.view, &rows.policy, at(now));
    rows.apply(&outcome);
    outcome
}

fn registration(conversation: &str, force: bool) -> Act {
    let conversation = ConversationId::parse(conversation).unwrap();
    Act::Register(Registration { harness: "claude".into(), conversation, cwd: "/srv/x".into(), force })
}

fn session(rows: &Rows, number: u64) -> &Session {
    rows.known(number).item.session.as_ref().unwrap()
}

fn names(outcome: &Outcome) -> Vec<&'static str> {
    let names = outcome.log.iter().map(|entry| entry.event.as_str());
    names.filter(|name| !name.starts_with("routing.")).collect()
}

/// Issue 7 that runs in pane 7, with pull request 16 that runs in pane 16.
fn with_pull_request() -> Rows {
    let mut rows = Rows::new().with_live(7);
    assert_eq!(act(&mut rows, 7, Act::LinkPr(issue(16)), 1).verdict, Verdict::Accepted);
    rows.view.items.get_mut(&issue(7).key()).unwrap().endpoints[0].state = SessionState::Live(life(16));
    rows
}

fn endings(outcome: &Outcome) -> Vec<(&EndpointRef, Option<&str>, EndReason, Option<bool>)> {
    let ends = outcome.effects.iter().filter_map(|effect| match &effect.body {
        EffectBody::End { endpoint, life, reason, keep_pane } => {
            assert_eq!(effect.class, Class::Overtaking);
            Some((endpoint, life.as_ref().map(|life| life.pane.as_str()), *reason, *keep_pane))
        }
        _ => None,
    });
    ends.collect()
}

#[test]
fn a_registered_conversation_hears_what_is_said_and_starts_nothing_by_itself() {
    let mut rows = Rows::new();
    let outcome = act(&mut rows, 7, registration("c1", false), 5);
    assert_eq!((outcome.verdict, outcome.effects.len()), (Verdict::Accepted, 0));
    assert_eq!(names(&outcome), ["session.registered"]);
    let registered = session(&rows, 7).clone();
    assert!(registered.is_live() && registered.life().is_none());
    assert_eq!(registered.conversation.as_ref().unwrap().as_str(), "c1");
    assert_eq!(registered.cwd.as_deref(), Some(std::path::Path::new("/srv/x")));
    assert_eq!(rows.known(7).item.sections.control, None, "nobody armed it");
    // Older than the registration: not new to this session. Later: delivered, after the spawn that its lane prepares.
    assert!(rows.take(&comment(70, subject(7), "mona", 4, "before"), 6).effects.is_empty());
    let said = rows.take(&comment(71, subject(7), "mona", 7, "after"), 7);
    let [effect] = said.effects.as_slice() else { panic!("{said:?}") };
    let effect = crate::domain::effect::Effect {
        lane: effect.lane.clone(),
        place: crate::domain::effect::Place { class: effect.class, seq: 1 },
        body: effect.body.clone(),
        attempts: 0,
        not_before: None,
        trouble: None,
        created_at: at(7),
    };
    let lane = LaneView { item: rows.known(7).item.clone(), endpoints: Vec::new(), effects: vec![effect] };
    assert_eq!(lane::next(&lane, at(8)), Next::Prepare { endpoint: EndpointRef::Item });
}

#[test]
fn k70_registering_twice_says_so_and_another_conversation_needs_force() {
    let mut rows = Rows::new();
    act(&mut rows, 7, registration("c1", false), 5);
    let again = act(&mut rows, 7, registration("c1", true), 6);
    assert_eq!((again.verdict, again.changes.len()), (Verdict::Dropped(DropReason::NothingToDo), 0));
    let other = act(&mut rows, 7, registration("c2", false), 7);
    assert_eq!((other.verdict, other.changes.len()), (Verdict::Refused(DropReason::OtherSession), 0));
    assert_eq!(act(&mut rows, 7, registration("c2", true), 8).verdict, Verdict::Accepted);
    assert_eq!(session(&rows, 7).conversation.as_ref().unwrap().as_str(), "c2");
    let closed = ItemFact::Closed { merged: false };
    let gone = fact("close", Subject { open: Some(false), closed_at: Some(at(20)), ..subject(8) }, closed);
    rows.take(&gone, 20);
    assert_eq!(act(&mut rows, 8, registration("c3", true), 21).verdict, Verdict::Refused(DropReason::ItemClosed));
}

#[test]
fn k22_a_session_that_is_replaced_ends_and_its_spawn_is_of_an_older_generation() {
    let mut rows = Rows::new().with_live(7);
    let before = session(&rows, 7).clone();
    let outcome = act(&mut rows, 7, registration("c2", true), 5);
    assert_eq!(endings(&outcome), [(&EndpointRef::Item, Some("%7"), EndReason::Stopped, None)]);
    let after = session(&rows, 7);
    assert!(after.generation > before.generation && after.key == before.key, "its panes carry the same key");
    assert!(after.is_live() && after.life().is_none());
}

#[test]
fn k40_a_close_ends_the_record_and_its_pull_requests_and_a_start_brings_all_back() {
    for keep in [None, Some(true), Some(false)] {
        let mut rows = with_pull_request();
        let outcome = act(&mut rows, 7, Act::Close { keep_pane: keep }, 9);
        assert_eq!(outcome.verdict, Verdict::Accepted);
        let to_pull = EndpointRef::PullRequest(issue(16));
        let ended = |endpoint, pane| (endpoint, Some(pane), EndReason::Stopped, keep);
        assert_eq!(endings(&outcome), [ended(&to_pull, "%16"), ended(&EndpointRef::Item, "%7")]);
        assert_eq!(names(&outcome), ["session.closed"]);
        let sections = rows.known(7).item.sections.clone();
        assert_eq!((sections.control, sections.has_poll), (None, true));
        assert_eq!(sections.ended.map(|ended| (ended.at, ended.reason)), Some((at(9), "closed".into())));
        assert!(rows.marked.contains(&issue(7).key().as_str().to_owned()));
        let again = act(&mut rows, 7, Act::Close { keep_pane: None }, 10);
        assert_eq!((again.verdict, again.changes.len()), (Verdict::Dropped(DropReason::NothingToDo), 0));
        rows.take(&comment(90, subject(7), "mona", 20, "the-loop start"), 20);
        assert_eq!(rows.known(7).endpoints[0].state, SessionState::Recorded);
    }
}

#[test]
fn k40_a_close_tidies_the_checkout_as_githubs_own_does_and_a_reset_keeps_it() {
    for (verb, want) in [(Act::Close { keep_pane: None }, &["end", "tidy"][..]), (Act::Reset, &["end"][..])] {
        let mut rows = Rows::new().with_live(7);
        rows.policy.tidies_checkouts = true;
        let outcome = act(&mut rows, 7, verb, 9);
        assert_eq!(outcome.effects.iter().map(|effect| effect.body.verb()).collect::<Vec<_>>(), want);
    }
}

#[test]
fn an_item_without_a_session_is_not_closed_and_none_is_reached_through_its_pull_request() {
    let mut rows = with_pull_request();
    for number in [8, 16] {
        let closed = act(&mut rows, number, Act::Close { keep_pane: None }, 9);
        assert_eq!((closed.verdict, closed.changes.len()), (Verdict::Refused(DropReason::NoRecord), 0), "{number}");
        let reset = act(&mut rows, number, Act::Reset, 9);
        assert_eq!((reset.verdict, reset.changes.len()), (Verdict::Dropped(DropReason::NothingToDo), 0), "{number}");
    }
    assert!(session(&rows, 7).is_live());
}

#[test]
fn k58_a_reset_ends_everything_dates_it_and_what_came_before_arms_nothing() {
    let mut rows = with_pull_request();
    let outcome = act(&mut rows, 7, Act::Reset, 9);
    let to_pull = EndpointRef::PullRequest(issue(16));
    assert_eq!(
        endings(&outcome),
        [(&to_pull, Some("%16"), EndReason::Reset, None), (&EndpointRef::Item, Some("%7"), EndReason::Reset, None)]
    );
    assert_eq!(names(&outcome), ["session.closed", "session.reset"]);
    let item = &rows.known(7).item;
    let ended = item.sections.ended.as_ref().unwrap();
    assert_eq!((ended.at, ended.reason.as_str(), &item.sections.control), (at(9), "reset", &None));
    assert!(item.sections.has_poll, "what it has seen travels and stays");
    assert!(act(&mut rows, 7, Act::Reset, 10).changes.is_empty(), "once");
    // The command that was heard late, and a redelivered one.
    let late = rows.take(&comment(91, subject(7), "mona", 5, "the-loop start"), 30);
    assert_eq!(late.verdict, Verdict::Dropped(DropReason::OlderCommand));
    assert!(late.effects.is_empty());
}

#[test]
fn k58_a_reset_is_dated_not_before_a_command_from_a_clock_ahead() {
    let mut rows = Rows::new().with_live(7);
    act(&mut rows, 7, Act::Reset, -500);
    let item = &rows.known(7).item;
    assert_eq!(item.sections.ended.as_ref().unwrap().at, at(0), "the start was at 0");
}

#[test]
fn k22_a_reset_during_a_spawn_leaves_the_row_until_the_lane_is_empty() {
    let mut rows = Rows::new();
    rows.take(&comment(1, subject(7), "mona", 0, "the-loop start"), 0);
    let spawning = session(&rows, 7).generation;
    let outcome = act(&mut rows, 7, Act::Reset, 9);
    assert!(endings(&outcome).is_empty(), "there is no life to end yet");
    let session = session(&rows, 7);
    assert!(session.was_reset() && session.generation > spawning, "the spawn in flight ends by its generation");
    let lane = |effects| LaneView { item: rows.known(7).item.clone(), endpoints: Vec::new(), effects };
    assert_eq!(lane::next(&lane(Vec::new()), at(10)), Next::Forget { record: true, pull_requests: Vec::new() });
}

#[test]
fn what_begins_right_after_a_reset_has_nothing_of_what_was_before() {
    let mut rows = with_pull_request();
    rows.view.items.get_mut(&issue(7).key()).unwrap().item.session.as_mut().unwrap().conversation =
        ConversationId::parse("old").ok();
    let before = session(&rows, 7).clone();
    act(&mut rows, 7, Act::Reset, 9);
    assert!(matches!(session(&rows, 7).state, SessionState::Closing(EndReason::Reset)));
    let started = rows.take(&comment(92, subject(7), "mona", 20, "the-loop start"), 20);
    assert_eq!(started.verdict, Verdict::Accepted);
    let after = session(&rows, 7);
    assert_eq!((&after.conversation, after.created_at), (&None, at(20)));
    assert!(after.generation > before.generation && after.key == before.key);
    assert!(rows.known(7).endpoints[0].was_reset(), "and its pull request is forgotten with an empty lane");
    assert!(rows.known(7).item.sections.control.as_ref().is_some_and(|control| control.command == Command::Start));
}

#[test]
fn a_stopped_session_is_forgotten_too() {
    let mut rows = with_pull_request();
    rows.take(&comment(93, subject(7), "mona", 5, "the-loop stop"), 5);
    let outcome = act(&mut rows, 7, Act::Reset, 9);
    assert_eq!((outcome.verdict, endings(&outcome).len()), (Verdict::Accepted, 0), "its ends wait in the lane already");
    assert!(session(&rows, 7).was_reset() && rows.known(7).endpoints[0].was_reset());
}

#[test]
fn a_pull_request_is_listed_once_and_never_on_itself() {
    let mut rows = Rows::new().with_live(7);
    let linked = act(&mut rows, 7, Act::LinkPr(issue(16)), 1);
    assert_eq!((linked.verdict, names(&linked)), (Verdict::Accepted, vec!["session.pr_linked"]));
    let added = linked.changes.iter().filter(|change| matches!(change, Change::Endpoint { .. })).count();
    assert_eq!((added, rows.view.owners[&issue(16).key()].len()), (1, 1));
    let again = act(&mut rows, 7, Act::LinkPr(issue(16)), 2);
    assert_eq!((again.verdict, again.changes.len()), (Verdict::Dropped(DropReason::NothingToDo), 0));
    rows.take(&comment(94, subject(9), "mona", 3, "the-loop stop"), 3);
    rows.view.items.get_mut(&issue(9).key()).unwrap().item.facts.kind = Some(SubjectKind::Issue);
    for (item, pull_request, reason) in [
        (7, 7, DropReason::OwnPullRequest),
        (8, 16, DropReason::NoRecord),
        // A pull request has no record of its own only because a record lists it.
        (16, 17, DropReason::NoRecord),
        (7, 9, DropReason::NotAPullRequest),
    ] {
        let refused = act(&mut rows, item, Act::LinkPr(issue(pull_request)), 4);
        assert_eq!((refused.verdict, refused.changes.len()), (Verdict::Refused(reason), 0));
        assert_eq!(names(&refused), ["session.link_failed"]);
    }
}

#[test]
fn what_is_done_by_hand_in_a_repository_that_is_not_served_is_refused() {
    let elsewhere = |number| WorkItemRef::parse(&format!("github:octo/elsewhere#{number}")).unwrap();
    let mut rows = Rows::new().with_live(7);
    rows.policy.repositories = vec![issue(7).repo().clone()];
    let by_hand = |rows: &Rows, item: WorkItemRef, act: Act| {
        let by_hand = ByHand { item, act, id: DeliveryId::parse("cli-1").unwrap() };
        decide_by_hand(&by_hand, &rows.view, &rows.policy, at(9))
    };
    for outcome in
        [by_hand(&rows, elsewhere(1), registration("c1", false)), by_hand(&rows, issue(7), Act::LinkPr(elsewhere(16)))]
    {
        assert_eq!((outcome.verdict, outcome.changes.len()), (Verdict::Refused(DropReason::OtherRepository), 0));
    }
    // What has a record is ours, whatever its repository is called by now.
    rows.policy.repositories = vec![elsewhere(1).repo().clone()];
    let outcome = by_hand(&rows, issue(7), registration("c1", true));
    assert_eq!(outcome.verdict, Verdict::Accepted);
}
