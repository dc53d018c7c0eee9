//! Tests: the scenarios of recorded linkage. Each of them holds, and each breaks where what was recorded is ignored and
//! every event's linkage is derived anew: otherwise it would prove nothing.

use std::fmt::Debug;

use rstest::rstest;

use super::fixtures::*;
use super::{Act, ByHand, OperatorCommand, Outcome, Verdict, decide_by_hand, decide_command};
use crate::domain::effect::{EffectBody, EndpointRef};
use crate::domain::event::{Event, ItemFact, Subject};
use crate::domain::ids::{ConversationId, DeliveryId};
use crate::domain::log::EventName;
use crate::domain::portable::Command;
use crate::domain::session::{EndReason, SessionState};

type Scenario = fn(&mut Rows) -> Result<(), String>;

fn same<T: PartialEq + Debug>(got: T, wanted: T) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("{got:?} instead of {wanted:?}")) }
}

/// Pull request 16 of issue 15 as it is shown once its text and its branch name nothing.
fn unlinked(second: i64) -> Subject {
    Subject { head: None, updated_at: Some(at(second)), ..pull_request(16, None) }
}

fn said(second: i64, text: &str) -> Event {
    comment(1600 + second.unsigned_abs(), unlinked(second), "mona", second, text)
}

fn opened(closes: u64, second: i64) -> Event {
    let shown = Subject { updated_at: Some(at(second)), ..pull_request(16, Some(closes)) };
    fact(&format!("d-opened-{closes}"), shown, ItemFact::Opened { transferred_from: None })
}

fn changed(second: i64, change: ItemFact) -> Event {
    let mut shown = unlinked(second);
    if matches!(change, ItemFact::Closed { .. }) {
        (shown.open, shown.closed_at) = (Some(false), Some(at(second)));
    }
    fact(&format!("d-changed-{second}"), shown, change)
}

/// Where an outcome delivers to: the record's number, and whether it goes to the pull request's conversation there.
fn deliveries(outcome: &Outcome) -> Vec<(u64, bool)> {
    let deliver = outcome.effects.iter().filter_map(|effect| match &effect.body {
        EffectBody::Deliver { endpoint, .. } => {
            let owner = [15, 17].into_iter().find(|number| issue(*number).key() == effect.lane)?;
            Some((owner, *endpoint == EndpointRef::PullRequest(issue(16))))
        }
        _ => None,
    });
    deliver.collect()
}

fn endpoint(rows: &mut Rows) -> Result<&mut crate::domain::session::Session, String> {
    let known = rows.view.items.get_mut(&issue(15).key()).ok_or("there is no record")?;
    known.endpoints.first_mut().ok_or("nothing is listed".into())
}

fn logged(outcome: &Outcome, name: EventName) -> usize {
    outcome.log.iter().filter(|entry| entry.event == name).count()
}

fn present_then_gone(rows: &mut Rows) -> Result<(), String> {
    rows.take(&opened(15, 10), 10);
    let first = rows.take(&comment(1, pull_request(16, Some(15)), "mona", 11, "with its linkage"), 11);
    same(deliveries(&first), vec![(15, true)])?;
    same(deliveries(&rows.take(&said(12, "without it"), 12)), vec![(15, true)])
}

fn told_once_per_endpoint(rows: &mut Rows) -> Result<(), String> {
    rows.take(&opened(15, 10), 10);
    rows.take(&opened(17, 11), 11);
    let mut both = deliveries(&rows.take(&said(12, "for both"), 12));
    both.sort_unstable();
    same(both, vec![(15, true), (17, false)])?;
    let mut again = said(12, "for both");
    same(deliveries(&rows.take(&again, 13)), vec![])?;
    again.delivery = DeliveryId::parse("d-other").unwrap();
    same(deliveries(&rows.take(&again, 14)), vec![])
}

fn falls_back_when_closed(rows: &mut Rows) -> Result<(), String> {
    rows.take(&opened(15, 10), 10);
    rows.take(&changed(11, ItemFact::Closed { merged: true }), 11);
    same(deliveries(&rows.take(&said(12, "late"), 12)), vec![(15, false)])
}

fn close_keeps_and_reopen_revives(rows: &mut Rows) -> Result<(), String> {
    rows.take(&opened(15, 10), 10);
    let session = endpoint(rows)?;
    session.state = SessionState::Live(life(16));
    session.conversation = ConversationId::parse("c-16").ok();
    let closed = rows.take(&changed(11, ItemFact::Closed { merged: false }), 11);
    same((logged(&closed, EventName::SessionPrClosed), logged(&closed, EventName::SessionKeptOpen)), (1, 1))?;
    same(endpoint(rows)?.state.clone(), SessionState::Closing(EndReason::Closed))?;
    same(rows.known(15).item.live_session().is_some(), true)?;
    rows.take(&changed(12, ItemFact::Reopened), 12);
    let revived = endpoint(rows)?;
    same(revived.state.clone(), SessionState::Recorded)?;
    same(revived.conversation.as_ref().map(ConversationId::as_str), Some("c-16"))?;
    same(deliveries(&rows.take(&said(13, "once more"), 13)), vec![(15, true)])
}

fn the_records_end_ends_all(rows: &mut Rows) -> Result<(), String> {
    rows.take(&opened(15, 10), 10);
    same(deliveries(&rows.take(&said(11, "begin"), 11)), vec![(15, true)])?;
    endpoint(rows)?.state = SessionState::Live(life(16));
    let shown = Subject { open: Some(false), closed_at: Some(at(12)), updated_at: Some(at(12)), ..subject(15) };
    let closed = rows.take(&fact("d-closed", shown, ItemFact::Closed { merged: false }), 12);
    let ends = closed.effects.iter().filter(|effect| effect.body.verb() == "end").count();
    same(ends, 2)?;
    same(deliveries(&rows.take(&said(13, "too late"), 13)), vec![])
}

fn relinked_reaches_both(rows: &mut Rows) -> Result<(), String> {
    rows.take(&opened(15, 10), 10);
    let relinked = rows.take(&opened(17, 11), 11);
    same(logged(&relinked, EventName::SessionLinkFailed), 1)?;
    let mut both = deliveries(&rows.take(&said(12, "for both"), 12));
    both.sort_unstable();
    same(both, vec![(15, true), (17, false)])
}

fn words_act_on_the_owner(rows: &mut Rows) -> Result<(), String> {
    rows.take(&opened(15, 10), 10);
    let state = |rows: &Rows| rows.known(15).item.session.as_ref().map(|session| session.state.clone());
    rows.take(&said(11, "the-loop pause"), 11);
    same(state(rows), Some(SessionState::Paused(Some(life(15)))))?;
    rows.take(&said(12, "the-loop resume"), 12);
    same(state(rows), Some(SessionState::Live(life(15))))?;
    rows.take(&said(13, "the-loop stop"), 13);
    same(state(rows), Some(SessionState::Closing(EndReason::Stopped)))
}

fn explicit_verbs_do_not_resolve(rows: &mut Rows) -> Result<(), String> {
    rows.take(&opened(15, 10), 10);
    let id = || DeliveryId::parse("cli-1").unwrap();
    for word in [Command::Pause, Command::Stop, Command::Resume] {
        let command = OperatorCommand { item: issue(16), word, actor: "operator".into(), id: id() };
        rows.apply(&decide_command(&command, &rows.view, &rows.policy, at(11)));
    }
    for act in [Act::Close { keep_pane: None }, Act::Reset] {
        let by_hand = ByHand { item: issue(16), act, id: id() };
        rows.apply(&decide_by_hand(&by_hand, &rows.view, &rows.policy, at(12)));
    }
    same(rows.known(15).item.session.as_ref().map(|s| s.state.clone()), Some(SessionState::Live(life(15))))?;
    same(deliveries(&rows.take(&said(20, "still its own"), 20)), vec![(15, true)])
}

fn a_malformed_entry_degrades_alone(rows: &mut Rows) -> Result<(), String> {
    rows.take(&opened(15, 10), 10);
    // What cannot be read is left out of the list, and who lists it is known all the same.
    rows.view.items.get_mut(&issue(15).key()).ok_or("there is no record")?.endpoints.clear();
    let outcome = rows.take(&said(11, "where to?"), 11);
    same(deliveries(&outcome), vec![(15, false)])?;
    same(logged(&outcome, EventName::SessionLinkFailed), 1)?;
    same(rows.known(15).endpoints.len(), 0)?;
    same(deliveries(&rows.take(&comment(2, subject(15), "mona", 12, "and the issue"), 12)), vec![(15, false)])
}

fn linked_by_hand(rows: &mut Rows) -> Result<(), String> {
    let by_hand = ByHand { item: issue(15), act: Act::LinkPr(issue(16)), id: DeliveryId::parse("cli-1").unwrap() };
    let linked = decide_by_hand(&by_hand, &rows.view, &rows.policy, at(10));
    same(linked.verdict, Verdict::Accepted)?;
    rows.apply(&linked);
    same(deliveries(&rows.take(&said(11, "by hand"), 11)), vec![(15, true)])
}

#[rstest]
#[case::linkage_present_then_gone(present_then_gone)]
#[case::told_once_per_endpoint(told_once_per_endpoint)]
#[case::falls_back_when_closed(falls_back_when_closed)]
#[case::k42_close_keeps_and_reopen_revives(close_keeps_and_reopen_revives)]
#[case::k40_the_records_end_ends_all(the_records_end_ends_all)]
#[case::relinked_reaches_both(relinked_reaches_both)]
#[case::words_act_on_the_owner(words_act_on_the_owner)]
#[case::explicit_verbs_do_not_resolve(explicit_verbs_do_not_resolve)]
#[case::k47_a_malformed_entry_degrades_alone(a_malformed_entry_degrades_alone)]
#[case::linked_by_hand(linked_by_hand)]
fn what_is_recorded_decides_and_without_it_the_scenario_breaks(#[case] scenario: Scenario) {
    let rows = || Rows::new().with_live(17).with_live(15);
    assert_eq!(scenario(&mut rows()), Ok(()));
    let mut blind = rows();
    blind.ignores_linkage = true;
    let broken = scenario(&mut blind);
    assert!(broken.is_err(), "it holds although what was recorded is ignored");
}
