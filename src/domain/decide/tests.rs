//! The rules of decisions, one test per rule or known fault.

use rstest::rstest;

use super::fixtures::*;
use super::{Change, DropReason, IdentityState, Outcome, Verdict};
use crate::domain::effect::{Class, EffectBody, EndpointRef};
use crate::domain::event::{Content, Fact, ItemFact, RepositoryFact};
use crate::domain::ids::DeliveryId;
use crate::domain::log::EventName;
use crate::domain::portable::Command;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{EndReason, SessionState};

fn verbs(outcome: &Outcome) -> Vec<&'static str> {
    outcome.effects.iter().map(|effect| effect.body.verb()).collect()
}

fn logged(outcome: &Outcome, name: EventName) -> usize {
    outcome.log.iter().filter(|entry| entry.event == name).count()
}

fn endpoints(outcome: &Outcome) -> Vec<(WorkItemRef, EndpointRef)> {
    let lane = |key: &crate::domain::reference::RefKey| WorkItemRef::parse(key.as_str()).unwrap();
    outcome.effects.iter().map(|effect| (lane(&effect.lane), effect.body.endpoint().clone())).collect()
}

#[test]
fn a_start_comment_on_a_labelled_issue_records_spawns_and_prompts() {
    let mut rows = Rows::new();
    let outcome = rows.take(&comment(7, subject(7), "mona", 5, "the-loop start\r\n\nbegin with the tests"), 9);
    assert_eq!(outcome.verdict, Verdict::Accepted);
    assert_eq!(verbs(&outcome), ["spawn", "deliver", "deliver"]);
    let item = &rows.known(7).item;
    let control = item.sections.control.as_ref().unwrap();
    assert_eq!((control.command.as_str(), control.actor.as_str(), control.at()), ("start", "mona", Some(at(5))));
    assert_eq!(item.session.as_ref().unwrap().state, SessionState::Starting);
    assert_eq!(item.baseline, Some(at(5)));
    assert_eq!(rows.seen, ["IC_7"]);
    let EffectBody::Deliver { message, .. } = &outcome.effects[2].body else { panic!() };
    assert_eq!(message.text.trim(), "begin with the tests");
}

#[test]
fn a_comment_goes_to_the_live_record_and_only_there() {
    let mut rows = Rows::new().with_live(7).with_live(8);
    let outcome = rows.take(&comment(70, subject(7), "mona", 10, "look here"), 10);
    assert_eq!(endpoints(&outcome), [(issue(7), EndpointRef::Item)]);
}

#[test]
fn a_label_starts_an_armed_item_and_awaits_the_start_of_another() {
    let mut rows = Rows::new();
    let labelled = |delivery: &str| fact(delivery, subject(7), ItemFact::Labeled(Some(LABEL.into())));
    assert_eq!(rows.take(&labelled("l1"), 1).verdict, Verdict::Refused(DropReason::AwaitingStart));
    // Armed on another machine: the record came by git.
    let armed = comment(1, subject(9), "mona", 0, "the-loop start");
    rows.take(&armed, 0);
    let control = rows.known(9).item.sections.control.clone();
    let mut item = crate::domain::item::Item::new(issue(7));
    item.sections.control = control;
    rows.view.items.insert(issue(7).key(), super::Known { item, endpoints: Vec::new() });
    // The same delivery id decides a refused one again.
    let outcome = rows.take(&labelled("l1"), 2);
    assert_eq!(outcome.verdict, Verdict::Accepted);
    assert_eq!(verbs(&outcome), ["spawn", "deliver"]);
}

#[rstest]
#[case::no_label("labeled", Vec::new(), DropReason::SpawnPolicy)]
#[case::never("never", vec![LABEL.to_owned()], DropReason::SpawnPolicy)]
fn a_start_that_policy_refuses_records_nothing(
    #[case] spawn: &str,
    #[case] labels: Vec<String>,
    #[case] reason: DropReason,
) {
    let mut rows = Rows::new();
    if spawn == "never" {
        rows.policy.spawn = crate::domain::policy::SpawnPolicy::Never;
    }
    let unlabelled = crate::domain::event::Subject { labels, ..subject(7) };
    let outcome = rows.take(&comment(7, unlabelled, "mona", 1, "the-loop start"), 1);
    assert_eq!(outcome.verdict, Verdict::Refused(reason));
    assert!(rows.view.items.is_empty(), "nothing recorded");
    assert!(outcome.effects.is_empty());
    assert!(outcome.log.iter().any(|entry| entry.event == crate::domain::log::EventName::ControlRejected));
}

#[test]
fn k12_two_matched_records_are_one_decision() {
    let mut rows = Rows::new().with_live(7).with_live(8);
    let mut both = pull_request(16, Some(7));
    both.body = "Fixes #7, fixes #8".into();
    let outcome = rows.take(&comment(70, both, "mona", 10, "see this"), 10);
    // One conversation per pull request: the second record keeps using its own, and says so.
    let to = EndpointRef::PullRequest(issue(16));
    assert_eq!(endpoints(&outcome), [(issue(7), to.clone()), (issue(8), EndpointRef::Item)]);
    assert_eq!(logged(&outcome, EventName::SessionLinkFailed), 1);
    let outcome = rows.take(&comment(71, pull_request(16, None), "mona", 11, "again"), 11);
    assert_eq!(endpoints(&outcome), [(issue(7), to), (issue(8), EndpointRef::Item)]);
}

#[test]
fn k13_an_event_for_a_paused_session_is_kept_for_it() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&comment(70, subject(7), "mona", 10, "the-loop pause"), 10);
    assert!(matches!(rows.known(7).item.session.as_ref().unwrap().state, SessionState::Paused(Some(_))));
    let outcome = rows.take(&comment(71, subject(7), "mona", 11, "while you sleep"), 11);
    assert_eq!((outcome.verdict, verbs(&outcome)), (Verdict::Accepted, vec!["deliver"]));
    rows.take(&comment(72, subject(7), "mona", 12, "the-loop resume"), 12);
    let session = rows.known(7).item.session.as_ref().unwrap();
    assert!(matches!(session.state, SessionState::Live(_)));
    assert_eq!(session.resumed_at, Some(at(12)));
}

#[test]
fn resume_without_a_paused_session_is_refused() {
    let mut rows = Rows::new().with_live(7);
    let outcome = rows.take(&comment(70, subject(7), "mona", 10, "the-loop resume"), 10);
    assert_eq!(outcome.verdict, Verdict::Refused(DropReason::NotApplicable));
    let outcome = Rows::new().take(&comment(71, subject(8), "mona", 10, "the-loop resume"), 10);
    assert_eq!(outcome.verdict, Verdict::Refused(DropReason::NotApplicable));
}

#[test]
fn k16_pull_request_events_go_to_its_own_conversation() {
    let mut rows = Rows::new().with_live(7);
    let outcome = rows.take(&comment(70, pull_request(16, Some(7)), "mona", 10, "a review"), 10);
    let to = (issue(7), EndpointRef::PullRequest(issue(16)));
    assert_eq!(endpoints(&outcome), std::slice::from_ref(&to));
    // The linkage is written down: it outlives the text.
    let outcome = rows.take(&comment(71, pull_request(16, None), "mona", 11, "again"), 11);
    assert_eq!(endpoints(&outcome), std::slice::from_ref(&to));
    let outcome = rows.take(&failed_check(16, "abc"), 12);
    assert_eq!(endpoints(&outcome), [to]);
}

#[test]
fn collapsed_mode_sends_everything_to_the_record() {
    let mut rows = Rows::new().with_live(7);
    rows.policy.session_per_pr = false;
    let outcome = rows.take(&comment(70, pull_request(16, Some(7)), "mona", 10, "a review"), 10);
    assert_eq!(endpoints(&outcome), [(issue(7), EndpointRef::Item)]);
    assert_eq!(rows.known(7).endpoints.len(), 1, "still recorded");
}

#[test]
fn k21_k31_old_words_do_not_act_again() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&comment(70, subject(7), "mona", 20, "the-loop stop"), 20);
    rows.take(&comment(71, subject(7), "mona", 30, "the-loop start"), 30);
    rows.spawned(7, 8);
    let outcome = rows.take(&comment(69, subject(7), "mona", 15, "the-loop stop"), 31);
    assert_eq!(outcome.verdict, Verdict::Dropped(DropReason::OlderCommand));
    assert!(rows.known(7).item.live_session().is_some());
    let mut closed = subject(7);
    (closed.open, closed.closed_at, closed.updated_at) = (Some(false), Some(at(40)), Some(at(40)));
    rows.take(&fact("close", closed, ItemFact::Closed { merged: false }), 40);
    let outcome = rows.take(&comment(72, subject(7), "mona", 35, "the-loop start"), 50);
    assert_eq!(outcome.verdict, Verdict::Dropped(DropReason::OlderCommand));
    assert!(rows.known(7).item.live_session().is_none());
    assert!(outcome.log.iter().any(|entry| entry.fields.contains_key("lostTo")), "it says what it lost to");
}

#[test]
fn a_stop_in_the_same_second_as_the_start_acts() {
    let mut rows = Rows::new().with_live(7);
    let outcome = rows.take(&comment(70, subject(7), "mona", 0, "the-loop stop"), 1);
    assert_eq!(outcome.verdict, Verdict::Accepted);
    assert!(rows.known(7).item.live_session().is_none());
}

#[test]
fn k22_a_stop_during_a_spawn_ends_what_the_spawn_will_bring() {
    let mut rows = Rows::new();
    rows.take(&comment(7, subject(7), "mona", 1, "the-loop start"), 1);
    let before = rows.known(7).item.session.as_ref().unwrap().generation;
    let outcome = rows.take(&comment(8, subject(7), "mona", 2, "the-loop stop"), 2);
    let session = rows.known(7).item.session.as_ref().unwrap();
    assert!(session.generation > before);
    assert!(matches!(session.state, SessionState::Closed { reason: EndReason::Stopped, .. }));
    assert!(outcome.effects.is_empty(), "no life yet: the spawn finds its generation gone");
}

#[test]
fn stop_ends_the_session_and_all_its_pull_requests() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&comment(70, pull_request(16, Some(7)), "mona", 10, "x"), 10);
    rows.view.items.get_mut(&issue(7).key()).unwrap().endpoints[0].state = SessionState::Live(life(16));
    let outcome = rows.take(&comment(71, pull_request(16, None), "mona", 11, "the-loop stop"), 11);
    assert_eq!(verbs(&outcome), ["end", "end"]);
    assert!(outcome.effects.iter().all(|effect| effect.class == Class::Overtaking));
    let control = rows.known(7).item.sections.control.clone().unwrap();
    assert_eq!(control.command, Command::Stop, "a word on a pull request acts on its owner");
}

#[rstest]
#[case::missing(None)]
#[case::ghost(Some("ghost"))]
#[case::stranger(Some("eve"))]
#[case::any_bot(Some("mona[bot]"))]
fn k23_k36_who_is_not_listed_is_nobody(#[case] sender: Option<&str>) {
    let mut rows = Rows::new().with_live(7);
    let mut said = comment(70, subject(7), "mona", 10, "the-loop stop");
    said.sender = sender.and_then(crate::domain::ids::Login::parse);
    let outcome = rows.take(&said, 10);
    assert_eq!(outcome.verdict, Verdict::Refused(DropReason::UnauthorizedActor));
    assert!(rows.known(7).item.live_session().is_some());
}

#[test]
fn k23_the_sender_has_to_be_the_author() {
    let mut rows = Rows::new().with_live(7);
    let mut said = comment(70, subject(7), "eve", 10, "the-loop stop");
    said.sender = crate::domain::ids::Login::parse("MONA");
    assert_eq!(rows.take(&said, 10).verdict, Verdict::Refused(DropReason::UnauthorizedActor));
    let mut own = comment(71, subject(7), "Mona", 11, "hello");
    own.sender = crate::domain::ids::Login::parse("mONA");
    assert_eq!(rows.take(&own, 11).verdict, Verdict::Accepted, "logins have no case");
}

#[test]
fn k23_an_empty_list_admits_nobody() {
    let mut rows = Rows::new();
    rows.policy.authorized_users.clear();
    let outcome = rows.take(&comment(7, subject(7), "mona", 1, "the-loop start"), 1);
    assert_eq!(outcome.verdict, Verdict::Refused(DropReason::UnauthorizedActor));
}

#[test]
fn p16_our_own_words_are_dropped_and_a_listed_bot_is_not() {
    let mut rows = Rows::new().with_live(7);
    let marked = comment(70, subject(7), "mona", 10, "done <!-- the-loop:agent-comment -->");
    assert_eq!(rows.take(&marked, 10).verdict, Verdict::Dropped(DropReason::SelfAuthored));
    let bot = comment(71, subject(7), "dependabot[bot]", 11, "bump");
    assert_eq!(rows.take(&bot, 11).verdict, Verdict::Refused(DropReason::UnauthorizedActor));
    rows.policy.authorized_users.push(crate::domain::ids::Login::parse("dependabot[bot]").unwrap());
    let bot = comment(72, subject(7), "dependabot[bot]", 12, "bump");
    assert_eq!(rows.take(&bot, 12).verdict, Verdict::Accepted);
}

#[test]
fn p16_a_login_that_talks_alone_trips_the_breaker() {
    let mut rows = Rows::new().with_live(7);
    for n in 0..60 {
        rows.take(&comment(100 + n, subject(7), "mona", 10, "again"), 10 + n as i64);
    }
    assert!(!rows.known(7).item.session.as_ref().unwrap().breaker.tripped);
    let outcome = rows.take(&comment(200, subject(7), "mona", 71, "again"), 71);
    assert_eq!(logged(&outcome, EventName::SessionBreakerTripped), 1);
    let outcome = rows.take(&comment(202, subject(7), "mona", 71, "again"), 71);
    assert_eq!((outcome.verdict, logged(&outcome, EventName::SessionBreakerTripped)), (Verdict::Accepted, 0));
    assert!(rows.known(7).item.session.as_ref().unwrap().breaker.tripped);
    rows.take(&comment(201, subject(7), "mona", 72, "the-loop resume"), 72);
    assert!(!rows.known(7).item.session.as_ref().unwrap().breaker.tripped);
}

#[test]
fn k25_the_breaker_counts_one_login_alone_within_its_window() {
    // Comments as (login, second); the limit is three within a minute.
    let trips = |comments: &[(&str, i64)], (deliveries, minutes): (u32, u32)| {
        let mut rows = Rows::new().with_live(7);
        rows.policy.authorized_users.push(crate::domain::ids::Login::parse("lisa").unwrap());
        (rows.policy.breaker_deliveries, rows.policy.breaker_minutes) = (deliveries, minutes);
        for (n, (login, second)) in (300..).zip(comments) {
            rows.take(&comment(n, subject(7), login, 10, "again"), *second);
        }
        let breaker = rows.known(7).item.session.as_ref().unwrap().breaker.clone();
        assert!(breaker.times.len() <= deliveries as usize, "what is kept is bounded: {breaker:?}");
        breaker.tripped
    };
    let alone: Vec<(&str, i64)> = (0..5).map(|n| ("mona", 10 + n)).collect();
    assert!(trips(&alone, (3, 1)) && trips(&alone[..4], (3, 1)) && !trips(&alone[..3], (3, 1)));
    let cased = [("mona", 10), ("Mona", 11), ("MONA", 12), ("mona", 13)];
    assert!(trips(&cased, (3, 1)), "one login however it is spelt");
    let between = [("mona", 10), ("mona", 11), ("lisa", 12), ("mona", 13), ("mona", 14)];
    assert!(!trips(&between, (3, 1)), "somebody else spoke between");
    let slow: Vec<(&str, i64)> = (0..9).map(|n| ("mona", 10 + 30 * n)).collect();
    assert!(!trips(&slow, (3, 1)), "never four within a minute");
    assert!(!trips(&alone, (0, 1)), "off");
    let after = [&alone[..], &[("lisa", 20)]].concat();
    assert!(trips(&after, (3, 1)), "a tripped one waits for `resume`, whoever speaks");
}

#[test]
fn k32_checks_of_a_pull_request_that_is_not_ours_are_nothing() {
    let mut rows = Rows::new().with_live(7);
    assert_eq!(rows.take(&failed_check(66, "abc"), 10).verdict, Verdict::Dropped(DropReason::NoWorkItem));
}

#[test]
fn k32_an_outsiders_pull_request_is_linked_by_nothing_it_says() {
    let mut rows = Rows::new().with_live(7);
    let mut stranger = pull_request(66, Some(7));
    stranger.author = crate::domain::ids::Login::parse("eve");
    stranger.head.as_mut().unwrap().branch = "issue-7".into();
    let opened = fact("o", stranger.clone(), ItemFact::Opened { transferred_from: None });
    rows.take(&opened, 10);
    assert!(rows.known(7).endpoints.is_empty());
    let outcome = rows.take(&comment(70, stranger, "mona", 11, "thanks"), 11);
    assert_ne!(outcome.verdict, Verdict::Accepted);
    assert!(outcome.effects.is_empty());
}

#[test]
fn k34_the_agents_own_push_prompts_nobody() {
    // `push` and `synchronize` are rows of the table that are ignored.
    let mut rows = Rows::new().with_live(7);
    let ignored = Content::Ignored(crate::domain::event::Ignored::UnlistedAction);
    let outcome = rows.take(&event("pull_request", "sync", Some("mona"), ignored), 10);
    assert_eq!(outcome.verdict, Verdict::Dropped(DropReason::IgnoredAction));
    assert!(outcome.effects.is_empty());
}

#[test]
fn k36_an_outsiders_item_starts_nothing_on_the_outsiders_word() {
    let mut rows = Rows::new();
    rows.policy.require_start = false;
    let mut theirs = subject(9);
    theirs.author = crate::domain::ids::Login::parse("eve");
    let opened = fact("o", theirs, ItemFact::Opened { transferred_from: None });
    assert_eq!(rows.take(&opened, 1).verdict, Verdict::Refused(DropReason::UnauthorizedActor));
    let ours = fact("o2", subject(10), ItemFact::Opened { transferred_from: None });
    assert_eq!(rows.take(&ours, 1).verdict, Verdict::Accepted);
}

#[test]
fn k42_a_reopened_pull_request_gets_its_conversation_back() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&comment(70, pull_request(16, Some(7)), "mona", 10, "x"), 10);
    let conversation = crate::domain::ids::ConversationId::parse("conv-16").unwrap();
    {
        let endpoint = &mut rows.view.items.get_mut(&issue(7).key()).unwrap().endpoints[0];
        endpoint.state = SessionState::Live(life(16));
        endpoint.conversation = Some(conversation.clone());
    }
    let outcome = rows.take(&fact("c", pull_request(16, None), ItemFact::Closed { merged: false }), 11);
    assert_eq!(verbs(&outcome), ["end"]);
    assert!(rows.known(7).item.live_session().is_some(), "the record lives on");
    let late = rows.take(&comment(71, pull_request(16, None), "mona", 12, "late"), 12);
    assert!(late.effects.is_empty() || endpoints(&late)[0].1 == EndpointRef::Item, "a late event falls back");
    rows.take(&fact("r", pull_request(16, None), ItemFact::Reopened), 13);
    let endpoint = &rows.known(7).endpoints[0];
    assert_eq!((&endpoint.state, &endpoint.conversation), (&SessionState::Recorded, &Some(conversation)));
}

#[test]
fn closing_ends_everything_clears_control_and_reopening_does_not_arm() {
    let mut rows = Rows::new().with_live(7);
    let mut closed = subject(7);
    (closed.open, closed.closed_at, closed.updated_at) = (Some(false), Some(at(20)), Some(at(20)));
    let outcome = rows.take(&fact("c", closed, ItemFact::Closed { merged: false }), 21);
    assert_eq!(verbs(&outcome), ["end"]);
    let sections = &rows.known(7).item.sections;
    assert_eq!((sections.control.as_ref(), sections.ended.as_ref().unwrap().at), (None, at(20)));
    let mut open = subject(7);
    open.updated_at = Some(at(30));
    let outcome = rows.take(&fact("r", open, ItemFact::Reopened), 31);
    assert!(outcome.effects.is_empty());
    let outcome = rows.take(&comment(70, subject(7), "mona", 32, "the-loop start"), 32);
    assert_eq!(verbs(&outcome), ["spawn", "deliver"]);
}

#[test]
fn p01_a_close_without_a_sender_counts() {
    let mut rows = Rows::new().with_live(7);
    let mut event = fact("c", subject(7), ItemFact::Closed { merged: false });
    event.sender = None;
    assert_eq!(rows.take(&event, 9).verdict, Verdict::Accepted);
    assert!(rows.known(7).item.live_session().is_none());
}

#[test]
fn p08_a_comment_on_a_pull_request_reaches_the_owner_of_its_other_events() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&fact("o", pull_request(16, Some(7)), ItemFact::Opened { transferred_from: None }), 5);
    let mut bare = pull_request(16, None);
    bare.head = None;
    let outcome = rows.take(&comment(70, bare, "mona", 10, "ship it"), 10);
    assert_eq!(endpoints(&outcome), [(issue(7), EndpointRef::PullRequest(issue(16)))]);
}

#[test]
fn p22_a_deleted_repository_ends_its_items_and_kills_nobody() {
    let mut rows = Rows::new().with_live(7).with_live(8);
    let gone = Content::Fact(Box::new(Fact::Repository(RepositoryFact::Deleted)));
    let outcome = rows.take(&event("repository", "gone", Some("mona"), gone), 50);
    assert_eq!(outcome.verdict, Verdict::Accepted);
    for number in [7, 8] {
        let item = &rows.known(number).item;
        assert_eq!((&item.sections.control, item.sections.ended.as_ref().unwrap().reason.as_str()), (&None, "deleted"));
        assert!(item.live_session().is_some(), "an agent may still hold work that is nowhere else");
    }
    assert!(outcome.effects.is_empty());
    assert_eq!(logged(&outcome, EventName::SessionKeptOpen), 2);
    let gone = Content::Fact(Box::new(Fact::Repository(RepositoryFact::Deleted)));
    let again = rows.take(&event("repository", "gone-2", Some("mona"), gone), 60);
    assert_eq!(again.verdict, Verdict::Dropped(DropReason::NothingToDo), "told once");
}

#[test]
fn r01_r02_the_same_delivery_is_decided_once() {
    let mut rows = Rows::new().with_live(7);
    let said = comment(70, subject(7), "mona", 10, "once");
    assert_eq!(rows.take(&said, 10).verdict, Verdict::Accepted);
    let again = rows.take(&said, 11);
    assert_eq!(again.verdict, Verdict::Dropped(DropReason::DuplicateDelivery));
    assert!(again.effects.is_empty());
}

#[test]
fn k07_r08_the_same_comment_by_another_way_is_the_same_event() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&comment(70, subject(7), "mona", 10, "once"), 10);
    let mut polled = comment(70, subject(7), "mona", 10, "once");
    polled.delivery = DeliveryId::parse("poll-1").unwrap();
    let again = rows.take(&polled, 20);
    assert_eq!(again.verdict, Verdict::Dropped(DropReason::SameEvent));
    assert!(again.effects.is_empty());
}

#[test]
fn a_refused_comment_is_decided_again_only_under_its_own_delivery_id() {
    let mut rows = Rows::new().with_live(7);
    let said = comment(70, subject(7), "eve", 10, "hello");
    assert_eq!(rows.take(&said, 10).verdict, Verdict::Refused(DropReason::UnauthorizedActor));
    rows.policy.authorized_users.push(crate::domain::ids::Login::parse("eve").unwrap());
    let mut other = said.clone();
    other.delivery = DeliveryId::parse("poll-2").unwrap();
    assert_eq!(rows.take(&other, 11).verdict, Verdict::Dropped(DropReason::SameEvent));
    let outcome = rows.take(&said, 12);
    assert_eq!(outcome.verdict, Verdict::Accepted);
    assert!(
        outcome
            .changes
            .iter()
            .any(|change| { matches!(change, Change::Identity { state: IdentityState::Spoken, .. }) })
    );
}

#[test]
fn r05_a_late_opened_does_not_reset_what_a_label_started() {
    let mut rows = Rows::new().with_live(12);
    let mut opened = subject(12);
    opened.updated_at = Some(at(-100));
    let outcome = rows.take(&fact("o", opened, ItemFact::Opened { transferred_from: None }), 60);
    assert!(outcome.effects.is_empty());
    assert_eq!(rows.known(12).item.session.as_ref().unwrap().generation, 1);
}

#[test]
fn r06_at_the_same_second_closed_wins_either_way() {
    let closing = |rows: &mut Rows| {
        let mut closed = subject(7);
        (closed.open, closed.closed_at, closed.updated_at) = (Some(false), Some(at(20)), Some(at(20)));
        rows.take(&fact("c", closed, ItemFact::Closed { merged: false }), 21);
    };
    let reopening = |rows: &mut Rows| {
        let mut open = subject(7);
        open.updated_at = Some(at(20));
        rows.take(&fact("r", open, ItemFact::Reopened), 21);
    };
    let (mut first, mut second) = (Rows::new().with_live(7), Rows::new().with_live(7));
    closing(&mut first);
    reopening(&mut first);
    reopening(&mut second);
    closing(&mut second);
    for rows in [&first, &second] {
        assert_eq!(rows.known(7).item.facts.open, Some(false));
        assert!(rows.known(7).item.live_session().is_none());
    }
}

#[test]
fn a_comment_older_than_the_present_life_is_not_new() {
    let mut rows = Rows::new().with_live(7);
    let outcome = rows.take(&comment(70, subject(7), "mona", -5, "old"), 10);
    assert_eq!(outcome.verdict, Verdict::Dropped(DropReason::NotNew));
}

#[test]
fn different_words_in_one_comment_do_nothing() {
    let mut rows = Rows::new().with_live(7);
    let outcome = rows.take(&comment(70, subject(7), "mona", 10, "the-loop stop\nthe-loop start"), 10);
    assert_eq!(outcome.verdict, Verdict::Dropped(DropReason::AmbiguousCommand));
    assert!(rows.known(7).item.live_session().is_some());
}

#[test]
fn a_pull_request_with_a_record_of_its_own_keeps_its_events() {
    let mut rows = Rows::new().with_live(16).with_live(7);
    let outcome = rows.take(&comment(70, pull_request(16, Some(7)), "mona", 10, "both"), 10);
    assert_eq!(endpoints(&outcome), [(issue(16), EndpointRef::Item), (issue(7), EndpointRef::Item)]);
    assert!(rows.known(7).endpoints.is_empty());
    rows.take(&comment(71, pull_request(16, Some(7)), "mona", 11, "the-loop stop"), 11);
    assert!(rows.known(16).item.live_session().is_none());
    assert!(rows.known(7).item.live_session().is_some());
}
