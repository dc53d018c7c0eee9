//! Tests: the rules of sections 3 to 7 one by one, where the main table does not reach.

use rstest::rstest;

use super::fixtures::*;
use super::{Decision, DropReason, Learnt, MissingFact, Outcome, Verdict, decide};
use crate::domain::effect::{Class, EffectBody, EndpointRef};
use crate::domain::event::{Content, Event, Fact, Form, ItemFact, Subject};
use crate::domain::ids::{ConversationId, Login};
use crate::domain::log::EventName;
use crate::domain::policy::SpawnPolicy;
use crate::domain::session::{EndReason, SessionState};

fn verbs(outcome: &Outcome) -> Vec<&'static str> {
    outcome.effects.iter().map(|effect| effect.body.verb()).collect()
}

fn to(outcome: &Outcome) -> Vec<EndpointRef> {
    outcome.effects.iter().map(|effect| effect.body.endpoint().clone()).collect()
}

fn closed(number: u64, second: i64) -> Event {
    let subject =
        Subject { open: Some(false), closed_at: Some(at(second)), updated_at: Some(at(second)), ..subject(number) };
    fact(&format!("closed-{number}-{second}"), subject, ItemFact::Closed { merged: false })
}

fn reopened(number: u64, second: i64) -> Event {
    let subject = Subject { updated_at: Some(at(second)), ..subject(number) };
    fact(&format!("reopened-{number}-{second}"), subject, ItemFact::Reopened)
}

#[test]
fn k20_deleting_a_comment_is_noted_and_does_nothing() {
    let mut rows = Rows::new().with_live(7);
    let gone = Content::Fact(Box::new(Fact::Withdrawn { subject: subject(7) }));
    let outcome = rows.take(&event("issue_comment", "w", Some("mona"), gone), 9);
    assert_eq!(outcome.verdict, Verdict::Dropped(DropReason::Withdrawn));
    assert!(outcome.effects.is_empty());
    assert!(outcome.log.iter().any(|entry| entry.fields["reason"] == "withdrawn"));
}

#[test]
fn k26_closing_ends_the_session_and_asks_for_nothing_more() {
    let mut rows = Rows::new().with_live(7);
    let outcome = rows.take(&closed(7, 9), 9);
    assert_eq!(verbs(&outcome), ["end"]);
}

#[rstest]
#[case::start("the-loop start\nand look here", &["deliver"])]
#[case::start_alone("the-loop start", &[])]
#[case::stop("the-loop stop\nand look here", &["end"])]
#[case::pause("the-loop pause\nand look here", &[])]
fn what_comes_with_an_arming_word_is_delivered(#[case] text: &str, #[case] effects: &[&str]) {
    let mut rows = Rows::new().with_live(7);
    let outcome = rows.take(&comment(70, subject(7), "mona", 9, text), 9);
    assert_eq!((outcome.verdict, verbs(&outcome).as_slice()), (Verdict::Accepted, effects));
}

#[test]
fn a_resume_with_text_delivers_it_behind_what_was_held() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&comment(70, subject(7), "mona", 9, "the-loop pause"), 9);
    let outcome = rows.take(&comment(71, subject(7), "mona", 10, "the-loop resume\ngo on"), 10);
    let EffectBody::Deliver { message, .. } = &outcome.effects[0].body else { panic!() };
    assert_eq!(message.text.trim(), "go on");
}

#[rstest]
#[case::keyword(pull_request(16, Some(7)), 7)]
#[case::nothing(pull_request(16, None), 16)]
fn a_word_on_a_pull_request_without_a_live_record_acts_on_the_first_reference(
    #[case] about: Subject,
    #[case] number: u64,
) {
    let mut rows = Rows::new();
    rows.take(&comment(70, about.clone(), "mona", 9, "the-loop stop"), 9);
    assert_eq!(rows.known(number).item.sections.control.as_ref().unwrap().command.as_str(), "stop");
    assert_eq!(rows.view.items.len(), 1);
    let labelled = Subject { labels: vec![LABEL.into()], ..about };
    let outcome = rows.take(&comment(71, labelled, "mona", 10, "the-loop start"), 10);
    assert_eq!(verbs(&outcome), ["spawn", "deliver"]);
    assert!(rows.known(number).item.live_session().is_some());
}

#[test]
fn refused_comments_are_seen_where_the_item_is_followed() {
    let mut rows = Rows::new().with_live(7);
    rows.seen.clear();
    rows.take(&comment(70, subject(7), "eve", 9, "hello"), 9);
    rows.take(&comment(71, subject(8), "eve", 9, "hello"), 9);
    assert_eq!(rows.seen, ["IC_70"]);
    rows.take(&comment(72, pull_request(16, Some(7)), "mona", 10, "x"), 10);
    // On a pull request of the record, whose author nobody admitted: the owner's section holds it.
    let theirs = Subject { author: Login::parse("eve"), ..pull_request(16, None) };
    rows.take(&comment(73, theirs, "eve", 11, "y"), 11);
    assert_eq!(rows.seen, ["IC_70", "IC_72", "IC_73"]);
}

#[test]
fn filters_of_events_and_repositories_come_first() {
    let mut rows = Rows::new().with_live(7);
    rows.policy.events = ["issues".to_owned()].into();
    let outcome = rows.take(&comment(70, subject(7), "mona", 9, "x"), 9);
    assert_eq!(outcome.verdict, Verdict::Dropped(DropReason::DisabledEvent));
    rows.policy.events.clear();
    rows.policy.repositories = vec![crate::domain::reference::RepoRef::parse("OCTO/Hello").unwrap()];
    assert_eq!(rows.take(&comment(71, subject(7), "mona", 9, "x"), 9).verdict, Verdict::Accepted);
    rows.policy.repositories = vec![crate::domain::reference::RepoRef::parse("octo/other").unwrap()];
    let outcome = rows.take(&comment(72, subject(7), "mona", 9, "x"), 9);
    assert_eq!(outcome.verdict, Verdict::Dropped(DropReason::OtherRepository));
    let mut nowhere = comment(73, subject(7), "mona", 9, "x");
    nowhere.repository = None;
    assert_eq!(rows.take(&nowhere, 9).verdict, Verdict::Dropped(DropReason::OtherRepository));
}

#[test]
fn k12_a_relinked_pull_request_reaches_every_live_record() {
    let mut rows = Rows::new().with_live(7).with_live(8);
    rows.take(&comment(70, pull_request(16, Some(7)), "mona", 9, "x"), 9);
    let outcome = rows.take(&comment(71, pull_request(16, Some(8)), "mona", 10, "y"), 10);
    assert_eq!(to(&outcome), [EndpointRef::Item, EndpointRef::PullRequest(issue(16))]);
    assert_eq!(outcome.effects[0].lane, issue(8).key());
    // The first record is over: its conversation is free for the second.
    rows.take(&comment(72, subject(7), "mona", 11, "the-loop stop"), 11);
    let outcome = rows.take(&comment(73, pull_request(16, Some(8)), "mona", 12, "z"), 12);
    assert_eq!(to(&outcome), [EndpointRef::PullRequest(issue(16))]);
}

fn workflow_run(branch: Option<&str>, sha: &str) -> Event {
    let mut run = failed_check(900, sha);
    run.delivery = crate::domain::ids::DeliveryId::parse(&format!("run-{sha}")).unwrap();
    let Content::Speech(speech) = &mut run.content else { panic!() };
    speech.identity = crate::domain::event::Identity::new("github.com", 101, "check", &format!("run-{sha}"));
    let Form::Check(check) = &mut speech.form else { panic!() };
    (check.is_workflow_run, check.own_branch) = (true, branch.map(str::to_owned));
    check.pull_requests.clear();
    run
}

#[rstest]
#[case::ours("loop/github-octo-hello-7")]
#[case::named("issue-7")]
#[case::folder("feature/issue/7")]
fn a_workflow_run_reaches_the_record_of_its_branch(#[case] branch: &str) {
    let mut rows = Rows::new().with_live(7);
    assert_eq!(to(&rows.take(&workflow_run(Some(branch), "ab1"), 9)), [EndpointRef::Item]);
    assert_eq!(rows.take(&workflow_run(None, "ab2"), 9).verdict, Verdict::Dropped(DropReason::NoWorkItem));
    assert_eq!(rows.take(&workflow_run(Some("main"), "ab3"), 9).verdict, Verdict::Dropped(DropReason::NoWorkItem));
}

#[test]
fn a_workflow_run_is_silent_when_a_check_of_its_head_spoke() {
    let mut rows = Rows::new().with_live(7);
    rows.view.head_checked = true;
    let outcome = rows.take(&workflow_run(Some("issue-7"), "ab1"), 9);
    assert_eq!(outcome.verdict, Verdict::Dropped(DropReason::IgnoredAction));
}

#[test]
fn a_check_is_about_the_pull_request_that_is_ours() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&comment(70, pull_request(16, Some(7)), "mona", 9, "x"), 9);
    let mut check = failed_check(5, "abc");
    let Content::Speech(speech) = &mut check.content else { panic!() };
    let Form::Check(form) = &mut speech.form else { panic!() };
    form.pull_requests = vec![5, 16];
    let outcome = rows.take(&check, 10);
    let EffectBody::Deliver { message, .. } = &outcome.effects[0].body else { panic!() };
    assert_eq!(message.about, issue(16));
}

#[test]
fn a_branch_hint_counts_when_its_issue_is_known_and_is_asked_for_when_not() {
    let mut hinted = pull_request(16, None);
    hinted.head.as_mut().unwrap().branch = "feature/issue-7".into();
    let said = comment(70, hinted.clone(), "mona", 9, "x");
    let rows = Rows::new();
    let asked = decide(&said, &rows.view, &rows.policy, at(9));
    assert_eq!(asked, Decision::Needs(MissingFact::IssueExists(issue(7))));
    let mut view = rows.view.clone();
    for fact in [MissingFact::IssueExists(issue(7)), MissingFact::Linkage(issue(16))] {
        view.told.add(Learnt::Nothing(fact));
    }
    let Decision::Decided(outcome) = decide(&said, &view, &rows.policy, at(9)) else { panic!() };
    assert_eq!(outcome.verdict, Verdict::Refused(DropReason::SpawnPolicy), "the hint does not count");
    // A stop is decided at once.
    let stop = comment(71, hinted, "mona", 10, "the-loop stop");
    assert!(matches!(decide(&stop, &rows.view, &rows.policy, at(10)), Decision::Decided(_)));
    let mut rows = Rows::new().with_live(7);
    assert_eq!(to(&rows.take(&said, 10)), [EndpointRef::PullRequest(issue(16))]);
}

#[test]
fn a_close_of_an_unknown_item_is_remembered_and_not_exported() {
    let mut rows = Rows::new();
    let outcome = rows.take(&closed(7, 20), 21);
    assert_eq!(outcome.verdict, Verdict::Accepted);
    assert!(rows.marked.is_empty());
    let old = rows.take(&comment(70, subject(7), "mona", 10, "the-loop start"), 22);
    assert_eq!((old.verdict, verbs(&old).len()), (Verdict::Dropped(DropReason::OlderCommand), 0));
    assert!(
        old.log.iter().any(|entry| entry.event == EventName::ControlRejected && entry.fields.contains_key("lostTo"))
    );
    rows.take(&reopened(7, 30), 31);
    assert_eq!(rows.take(&comment(71, subject(7), "mona", 32, "the-loop start"), 32).verdict, Verdict::Accepted);
}

#[rstest]
#[case::case_aside("THE-LOOP: Auto-Execute", true)]
#[case::exact(LABEL, true)]
#[case::prefix("the-loop: auto", false)]
#[case::longer("the-loop: auto-execute-not", false)]
fn labels_are_compared_whole_and_without_case(#[case] label: &str, #[case] starts: bool) {
    let mut rows = Rows::new();
    let labelled = Subject { labels: vec!["bug".into(), label.into()], ..subject(7) };
    let outcome = rows.take(&comment(70, labelled, "mona", 9, "the-loop start"), 9);
    assert_eq!(outcome.verdict == Verdict::Accepted, starts);
}

#[test]
fn k31_a_late_comment_or_fact_does_not_begin_what_was_closed_since() {
    let mut rows = Rows::new();
    rows.policy.require_start = false;
    rows.policy.spawn = SpawnPolicy::Always;
    assert_eq!(verbs(&rows.take(&comment(70, subject(7), "mona", 1, "please"), 1)), ["spawn", "deliver", "deliver"]);
    rows.take(&closed(7, 10), 10);
    let mut open = reopened(7, 20);
    open.sender = Login::parse("eve");
    assert!(rows.take(&open, 20).effects.is_empty(), "a stranger's reopening starts nothing");
    let late = rows.take(&comment(71, subject(7), "mona", 5, "late"), 21);
    assert_eq!(late.verdict, Verdict::Dropped(DropReason::NotNew));
    let labelled = Subject { updated_at: Some(at(6)), ..subject(7) };
    let late = rows.take(&fact("l", labelled, ItemFact::Labeled(Some(LABEL.into()))), 22);
    assert_eq!(late.verdict, Verdict::Dropped(DropReason::OlderFact));
    assert_eq!(rows.take(&comment(72, subject(7), "mona", 23, "again"), 23).verdict, Verdict::Accepted);
}

#[test]
fn k40_k41_closed_reopened_closed_again_ends_every_time() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&comment(70, pull_request(16, Some(7)), "mona", 9, "x"), 9);
    rows.view.items.get_mut(&issue(7).key()).unwrap().endpoints[0].state = SessionState::Live(life(16));
    assert_eq!(verbs(&rows.take(&closed(7, 10), 10)), ["end", "end"]);
    rows.take(&reopened(7, 20), 20);
    rows.take(&comment(71, subject(7), "mona", 30, "the-loop start"), 30);
    rows.spawned(7, 8);
    rows.take(&comment(72, subject(7), "mona", 31, "the-loop pause"), 31);
    assert_eq!(verbs(&rows.take(&closed(7, 40), 40)), ["end"], "a paused one ends too");
    assert!(rows.known(7).item.live_session().is_none());
}

#[test]
fn k22_a_close_heard_after_a_later_resume_ends_the_life_it_was_said_of() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&comment(70, subject(7), "mona", 5, "the-loop pause"), 5);
    rows.take(&comment(71, subject(7), "mona", 20, "the-loop resume"), 20);
    assert_eq!(verbs(&rows.take(&closed(7, 10), 21)), ["end"]);
    assert!(rows.known(7).item.live_session().is_none());
}

#[test]
fn k42_a_close_from_before_the_reopening_undoes_nothing() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&comment(70, pull_request(16, Some(7)), "mona", 9, "x"), 9);
    let open = Subject { updated_at: Some(at(30)), ..pull_request(16, None) };
    rows.take(&fact("r", open, ItemFact::Reopened), 30);
    let over =
        Subject { open: Some(false), updated_at: Some(at(20)), closed_at: Some(at(20)), ..pull_request(16, None) };
    rows.take(&fact("c", over, ItemFact::Closed { merged: true }), 31);
    assert_eq!(rows.known(7).endpoints[0].state, SessionState::Recorded);
}

#[test]
fn a_start_after_a_stop_gives_open_pull_requests_their_conversations_back() {
    let mut rows = Rows::new().with_live(7);
    for number in [16, 17] {
        rows.take(&comment(number, pull_request(number, Some(7)), "mona", 9, "x"), 9);
    }
    for endpoint in &mut rows.view.items.get_mut(&issue(7).key()).unwrap().endpoints {
        endpoint.state = SessionState::Live(life(20));
        endpoint.conversation = ConversationId::parse("c").ok();
    }
    assert_eq!(verbs(&rows.take(&comment(70, subject(7), "mona", 10, "the-loop stop"), 10)), ["end"; 3]);
    let merged =
        Subject { open: Some(false), updated_at: Some(at(11)), closed_at: Some(at(11)), ..pull_request(17, None) };
    rows.take(&fact("c", merged, ItemFact::Closed { merged: true }), 11);
    rows.take(&comment(71, subject(7), "mona", 12, "the-loop start"), 12);
    let states: Vec<_> = rows.known(7).endpoints.iter().map(|e| (e.reference.number(), e.state.clone())).collect();
    assert!(states.contains(&(16, SessionState::Recorded)), "{states:?}");
    assert!(states.contains(&(17, SessionState::Closing(EndReason::Merged))), "{states:?}");
}

#[test]
fn k32_a_strangers_pull_request_is_started_only_as_itself() {
    let mut rows = Rows::new();
    let theirs = Subject { author: Login::parse("eve"), labels: vec![LABEL.into()], ..pull_request(66, Some(7)) };
    rows.take(&comment(70, theirs, "mona", 9, "the-loop start"), 9);
    assert_eq!(rows.view.items.keys().map(|key| key.as_str().to_owned()).collect::<Vec<_>>(), ["github:octo/hello#66"]);
}

#[test]
fn a_close_links_nothing_and_a_paused_record_spawns_no_endpoint() {
    let mut rows = Rows::new().with_live(7);
    let over =
        Subject { open: Some(false), updated_at: Some(at(9)), closed_at: Some(at(9)), ..pull_request(16, Some(7)) };
    rows.take(&fact("c", over, ItemFact::Closed { merged: true }), 9);
    assert!(rows.known(7).endpoints.is_empty());
    rows.take(&comment(70, subject(7), "mona", 10, "the-loop pause"), 10);
    let outcome = rows.take(&comment(71, pull_request(17, Some(7)), "mona", 11, "x"), 11);
    assert_eq!(verbs(&outcome), ["deliver"]);
    assert_eq!(rows.known(7).endpoints[0].state, SessionState::Recorded);
}

#[test]
fn already_listed_is_no_write_and_no_event() {
    let mut rows = Rows::new().with_live(7);
    let opened = |id: &str| fact(id, pull_request(16, Some(7)), ItemFact::Opened { transferred_from: None });
    let first = rows.take(&opened("o1"), 9);
    assert!(first.log.iter().any(|entry| entry.event == EventName::SessionPrLinked));
    let again = rows.take(&opened("o2"), 10);
    assert!(!again.log.iter().any(|entry| entry.event == EventName::SessionPrLinked));
    assert!(
        !again.changes.iter().any(|change| matches!(change, super::Change::Endpoint { .. } | super::Change::Item(_)))
    );
}

/// The generation that a tidying of the only record was decided for, when one was.
fn tidied(outcome: &Outcome) -> Option<u64> {
    outcome.effects.iter().find_map(|effect| match (&effect.body, effect.class) {
        (EffectBody::Tidy { generation }, Class::Ordinary) => Some(*generation),
        _ => None,
    })
}

#[test]
fn k40_the_checkout_of_what_closes_is_tidied_behind_all_that_still_ends() {
    let mut rows = Rows::new().with_live(7);
    rows.policy.tidies_checkouts = true;
    let own = |rows: &Rows| rows.known(7).item.session.as_ref().unwrap().generation;
    rows.take(&comment(70, pull_request(16, Some(7)), "mona", 9, "x"), 9);
    let stopped = rows.take(&comment(71, subject(7), "mona", 10, "the-loop stop"), 10);
    assert_eq!(tidied(&stopped), None, "a start may follow");
    let outcome = rows.take(&closed(7, 20), 20);
    assert_eq!(tidied(&outcome), Some(own(&rows)), "also when its session ended before");
    let mut rows = Rows::new().with_live(7);
    rows.policy.tidies_checkouts = true;
    let outcome = rows.take(&closed(7, 20), 20);
    assert_eq!(verbs(&outcome), ["end", "tidy"]);
    assert_eq!(tidied(&outcome), Some(own(&rows)));
    let nobody = rows.take(&closed(8, 20), 20);
    assert_eq!(tidied(&nobody), None, "it never had a session");
    rows.policy.tidies_checkouts = false;
    rows.take(&comment(72, subject(7), "mona", 30, "the-loop start"), 30);
    assert_eq!(tidied(&rows.take(&closed(7, 40), 40)), None, "`keepCheckoutOnClose`");
}

#[test]
fn a_pull_request_heard_of_after_its_close_gets_no_conversation_until_it_is_reopened() {
    let shown = |open: bool, second: i64| Subject {
        open: Some(open),
        closed_at: (!open).then(|| at(second)),
        updated_at: Some(at(second)),
        ..pull_request(16, Some(15))
    };
    let opened = fact("d-opened", shown(true, 5), ItemFact::Opened { transferred_from: None });
    let late = comment(20, shown(false, 12), "mona", 12, "was it merged?");
    // The close first, as a late delivery makes it; then what would have recorded it, in either way.
    for second in [&opened, &late] {
        let mut rows = Rows::new().with_live(15);
        rows.take(&fact("d-closed", shown(false, 10), ItemFact::Closed { merged: true }), 10);
        rows.take(second, 12);
        assert!(matches!(rows.known(15).endpoints[0].state, SessionState::Closed { .. }), "{second:?}");
        assert_eq!(to(&rows.take(&comment(21, shown(false, 13), "mona", 13, "hello?"), 13)), [EndpointRef::Item]);
        rows.take(&fact("d-reopened", shown(true, 14), ItemFact::Reopened), 14);
        let own = to(&rows.take(&comment(22, shown(true, 15), "mona", 15, "again"), 15));
        assert_eq!(own, [EndpointRef::PullRequest(issue(16))]);
    }
}

#[test]
fn k42_an_item_closed_and_begun_again_has_the_conversations_of_its_open_pull_requests() {
    let mut rows = Rows::new().with_live(15);
    for number in [16, 17] {
        let opened =
            fact(&format!("d-{number}"), pull_request(number, Some(15)), ItemFact::Opened { transferred_from: None });
        rows.take(&opened, 5);
    }
    rows.take(&closed(15, 10), 10);
    // One of them was merged meanwhile.
    let merged = Subject { open: Some(false), updated_at: Some(at(11)), ..pull_request(17, Some(15)) };
    rows.take(&fact("d-merged", merged, ItemFact::Closed { merged: true }), 11);
    rows.take(&reopened(15, 12), 12);
    rows.take(&comment(30, Subject { updated_at: Some(at(13)), ..subject(15) }, "mona", 13, "the-loop start"), 13);
    let state = |number| {
        let mut endpoints = rows.known(15).endpoints.iter();
        endpoints.find(|endpoint| endpoint.reference.number() == number).map(|endpoint| endpoint.state.clone())
    };
    assert_eq!(state(16), Some(SessionState::Recorded));
    assert!(matches!(state(17), Some(SessionState::Closed { reason: EndReason::Merged, .. })), "{:?}", state(17));
}

#[test]
fn a_pause_and_a_stop_put_the_run_aside_where_the_session_has_a_directory() {
    for (word, ends) in [("pause", &[][..]), ("stop", &["end"][..])] {
        for has_directory in [false, true] {
            let mut rows = Rows::new().with_live(7);
            let session = rows.view.items.get_mut(&issue(7).key()).and_then(|known| known.item.session.as_mut());
            session.unwrap().cwd = has_directory.then(|| "/w/7".into());
            let outcome = rows.take(&comment(70, subject(7), "mona", 60, &format!("the-loop {word}")), 60);
            let aside: &[&str] = if has_directory { &["pause-run"] } else { &[] };
            assert_eq!(verbs(&outcome), [ends, aside].concat(), "{word}");
            let again = rows.take(&comment(71, subject(7), "mona", 61, &format!("the-loop {word}")), 61);
            assert!(verbs(&again).is_empty(), "{word}: once");
        }
    }
}
