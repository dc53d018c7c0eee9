//! What follows from how work went, as tables.

use rstest::rstest;

use super::fixtures::*;
use super::*;
use crate::domain::effect::{Class, DeadReason, EffectBody};
use crate::domain::log::EventName;
use crate::domain::session::SessionState;
use crate::domain::workspace::{Keep, Tidied};

fn spawning() -> LaneView {
    view(SessionState::Starting).and(Class::Ordinary, 1, spawn(EndpointRef::Item, 3))
}

#[rstest]
#[case::stopped(SessionState::Closed { at: NOW, reason: EndReason::Closed }, EndReason::Closed)]
#[case::begun_anew(SessionState::Starting, EndReason::Stopped)]
fn k22_a_spawn_that_completes_after_a_stop_ends_at_once(#[case] state: SessionState, #[case] why: EndReason) {
    let mut lane = spawning();
    let claimed = work(&lane);
    lane.own().state = state.clone();
    lane.own().generation += 1;
    let settlement = settled(&lane, &claimed, &spawned(9));
    assert_eq!((&settlement.item, settlement.over.len()), (&None, 1), "the record is not the spawn's any more");
    let [ended] = settlement.new.as_slice() else { panic!("{:?}", settlement.new) };
    let body = EffectBody::End { endpoint: EndpointRef::Item, life: Some(life(9)), reason: why, keep_pane: None };
    assert_eq!((ended.class, &ended.body), (Class::Overtaking, &body));
    lane.effects.clear();
    let lane = lane.and(Class::Overtaking, 2, body);
    assert!(matches!(work(&lane), Work::End { life: ended, .. } if ended == life(9)));
}

#[test]
fn k48_a_spawn_that_completes_is_live_and_neither_pause_nor_creation_time_is_touched() {
    let mut lane = spawning();
    lane.own().created_at = NOW.plus_seconds(-5000);
    let claimed = work(&lane);
    let settlement = settled(&lane, &claimed, &spawned(9));
    assert_eq!(after(&settlement).state, SessionState::Live(life(9)));
    assert_eq!(after(&settlement).created_at, NOW.plus_seconds(-5000));
    assert_eq!(settlement.over, [(lane.effects[0].place, "spawned")]);
    lane.own().state = SessionState::Paused(None);
    assert_eq!(after(&settled(&lane, &claimed, &spawned(9))).state, SessionState::Paused(Some(life(9))));
}

#[test]
fn k43_a_first_spawn_that_dies_delivers_nothing_and_is_tried_again() {
    let lane = spawning().with_deliveries(&EndpointRef::Item, 2..=2);
    let settlement = settled(&lane, &work(&lane), &failed());
    assert!(settlement.over.is_empty() && settlement.dead.is_empty() && !settlement.keep_claim);
    let [again] = settlement.again.as_slice() else { panic!() };
    assert_eq!((again.place.seq, again.attempts), (1, 1));
    assert!(again.not_before > Some(NOW) && again.trouble.is_some(), "what went wrong is shown while it waits");
    assert_eq!((after(&settlement).failed_spawns, &after(&settlement).state), (1, &SessionState::Starting));
    // A conversation that could not be resumed is tried fresh.
    let mut lane = lane;
    lane.effects[0].attempts = 1;
    assert!(matches!(work(&lane), Work::Spawn { resume: false, .. }));
}

#[rstest]
#[case::tries_are_used_up(3, false)]
#[case::a_setting_is_missing(0, true)]
fn a_record_that_cannot_start_is_closed_and_buried_once(#[case] tries: u32, #[case] permanent: bool) {
    let mut lane = spawning();
    lane.own().failed_spawns = tries;
    let done = Done::SpawnFailed { detail: "no-workspace".into(), permanent };
    let settlement = settled(&lane, &work(&lane), &done);
    assert_eq!(after(&settlement).state, SessionState::Closed { at: NOW, reason: EndReason::SpawnFailed });
    assert_eq!((settlement.dead.len(), settlement.again.len(), settlement.over.len()), (1, 0, 0));
    assert_eq!(settlement.dead[0].1, DeadReason::RetriesExhausted);
    assert_eq!(settlement.dead[0].2, "no-workspace");
}

#[rstest]
#[case::stopped(SessionState::Closed { at: NOW, reason: EndReason::Stopped })]
#[case::begun_anew(SessionState::Starting)]
fn k22_a_spawn_that_fails_after_a_stop_changes_nothing_of_the_next_life(#[case] state: SessionState) {
    let mut lane = spawning();
    let claimed = work(&lane);
    lane.own().state = state;
    lane.own().generation += 1;
    lane.own().failed_spawns = 3;
    let settlement = settled(&lane, &claimed, &failed());
    assert_eq!((&settlement.item, settlement.over.len(), settlement.dead.len()), (&None, 1, 0));
}

fn pull_spawning() -> LaneView {
    view(live()).with_pull(SessionState::Starting).and(Class::Preparing, 1, spawn(to_pull(), 3))
}

#[test]
fn a_pull_request_falls_back_after_two_failed_spawns() {
    let mut lane = pull_spawning().with_deliveries(&to_pull(), 2..=2);
    let first = settled(&lane, &work(&lane), &failed());
    assert_eq!((after(&first).failed_spawns, first.again.len()), (1, 1));
    lane.endpoints[0] = *first.endpoint.unwrap();
    let second = settled(&lane, &work(&lane), &failed());
    assert_eq!((second.over.len(), second.dead.len()), (1, 0), "nothing is given up: the event has another way");
    lane.endpoints[0] = *second.endpoint.unwrap();
    lane.effects.remove(0);
    assert_eq!(work(&lane).endpoint(), &EndpointRef::Item);
}

#[test]
fn a_pull_request_closed_while_its_spawn_failed_stays_closed() {
    let mut lane = pull_spawning();
    let claimed = work(&lane);
    lane.endpoints[0].failed_spawns = 1;
    lane.endpoints[0].generation += 1;
    lane.endpoints[0].state = SessionState::Closed { at: NOW, reason: EndReason::Merged };
    assert_eq!(settled(&lane, &claimed, &failed()).endpoint, None);
    let late = settled(&lane, &claimed, &spawned(9));
    assert_eq!((late.endpoint, late.new.len()), (None, 1));
}

fn delivering() -> LaneView {
    view(live()).with_deliveries(&EndpointRef::Item, 1..=3)
}

#[test]
fn submitted_is_over_for_every_member() {
    let lane = delivering();
    let settlement = settled(&lane, &work(&lane), &Done::Submitted);
    assert_eq!(
        settlement.over.iter().map(|(place, how)| (place.seq, *how)).collect::<Vec<_>>(),
        [(1, "submitted"), (2, "submitted"), (3, "submitted"),]
    );
    assert!(settlement.again.is_empty() && !settlement.keep_claim);
}

#[rstest]
#[case::a_transcript_shows_it(Done::Confirmed, "confirmed")]
#[case::its_process_ended_well(Done::Finished { conversation: None }, "finished")]
fn what_is_known_of_a_delivery_has_its_word(#[case] done: Done, #[case] word: &str) {
    let lane = delivering();
    let settlement = settled(&lane, &work(&lane), &done);
    assert!(settlement.over.iter().all(|(_, how)| *how == word) && settlement.over.len() == 3);
}

#[test]
fn a_conversation_that_a_process_named_is_kept() {
    let mut lane = delivering();
    lane.own().introduced = true;
    let named = crate::domain::ids::ConversationId::parse("0199").unwrap();
    let done = Done::Finished { conversation: Some(named.clone()) };
    let settlement = settled(&lane, &work(&lane), &done);
    assert_eq!(after(&settlement).conversation, Some(named));
    lane.item = *settlement.item.unwrap();
    assert_eq!(settled(&lane, &work(&lane), &done).item, None, "no write for what is known");
    let unnamed = Done::Finished { conversation: None };
    assert_eq!(settled(&lane, &work(&lane), &unnamed).item, None, "silence forgets nothing");
}

#[test]
fn a_process_that_runs_keeps_its_claim() {
    let mut lane = delivering();
    assert!(!work(&lane).is_slow());
    lane.own().state = SessionState::Live(Life::without_terminal("loop-7"));
    assert!(work(&lane).is_slow(), "a command leaves it to a daemon, which can watch it");
    let settlement = settled(&lane, &work(&lane), &Done::Running);
    assert!(settlement.keep_claim && settlement.until > Some(NOW));
    assert!(settlement.over.is_empty() && settlement.again.is_empty() && settlement.dead.is_empty());
}

#[test]
fn a_process_that_fails_is_tried_again_and_given_up_once() {
    let mut lane = view(live()).with_deliveries(&EndpointRef::Item, 1..=2);
    let claimed = work(&lane);
    for tries in 0..policy().max_retries {
        let settlement = settled(&lane, &claimed, &Done::Failed("status 1".into()));
        assert_eq!((settlement.again.len(), settlement.dead.len(), settlement.keep_claim), (2, 0, false));
        assert!(settlement.again.iter().all(|again| again.attempts == tries + 1 && again.not_before > Some(NOW)));
        assert!(settlement.item.is_none(), "between deliveries nothing runs, and that is not dead");
        lane.effects = settlement.again;
    }
    let settlement = settled(&lane, &claimed, &Done::Failed("status 1".into()));
    assert_eq!((settlement.again.len(), settlement.dead.len()), (0, 2));
    assert!(settlement.dead.iter().all(|dead| dead.1 == DeadReason::RetriesExhausted && dead.2 == "status 1"));
}

#[test]
fn k19_a_lane_that_waits_for_a_person_is_told_once() {
    let mut lane = delivering();
    let level = |settlement: &Settlement| format!("{:?}", settlement.log[0].level);
    let busy = Done::Busy("a dialog waits".into());
    let first = settled(&lane, &work(&lane), &busy);
    assert_eq!(level(&first), "Warn");
    let claimed = work(&lane);
    lane.effects[0] = first.again[0].clone();
    assert_eq!(level(&settled(&lane, &claimed, &busy)), "Debug");
}

#[test]
fn the_first_message_introduces_and_a_fresh_conversation_is_introduced_again() {
    let mut lane = delivering();
    let first = settled(&lane, &work(&lane), &Done::Submitted);
    assert!(after(&first).introduced);
    lane.own().introduced = true;
    assert_eq!(settled(&lane, &work(&lane), &Done::Submitted).item, None, "no write for what is known");
    let mut again = spawning();
    again.own().introduced = true;
    assert!(!after(&settled(&again, &work(&again), &spawned(9))).introduced);
}

#[rstest]
#[case::pasted(Done::PastedOnly)]
#[case::unsure(Done::Unsure("the answer was lost".into()))]
fn k11_what_was_pasted_keeps_its_claim_and_is_never_pasted_again(#[case] done: Done) {
    let lane = delivering();
    let settlement = settled(&lane, &work(&lane), &done);
    assert!(settlement.keep_claim && settlement.until > Some(NOW));
    assert!(settlement.over.is_empty() && settlement.again.is_empty() && settlement.dead.is_empty());
}

#[test]
fn unknown_is_a_dead_letter_of_its_own_kind_for_every_member() {
    let lane = delivering();
    let settlement = settled(&lane, &work(&lane), &Done::Unknown("another life".into()));
    assert_eq!(settlement.dead.iter().filter(|dead| dead.1 == DeadReason::Unknown).count(), 3);
    assert!(settlement.again.is_empty() && settlement.over.is_empty() && !settlement.keep_claim);
}

#[rstest]
#[case::a_dialog(Done::Busy("a dialog waits".into()))]
#[case::k46_no_answer(Done::Unreachable("tmux does not answer".into()))]
fn k46_waiting_is_no_failure_and_nobody_is_dead(#[case] done: Done) {
    let mut lane = delivering();
    for _ in 0..20 {
        let settlement = settled(&lane, &work(&lane), &done);
        assert!(settlement.item.is_none() && settlement.dead.is_empty() && settlement.new.is_empty());
        let [again] = settlement.again.as_slice() else { panic!() };
        assert_eq!((again.place.seq, again.attempts), (1, 0));
        assert!(again.trouble.is_some() && again.not_before == settlement.until);
        lane.effects[0] = Effect { not_before: None, ..again.clone() };
    }
}

#[test]
fn k22_k46_a_spawn_without_an_answer_may_have_begun_and_keeps_its_claim() {
    let mut lane = spawning();
    let claimed = work(&lane);
    let settlement = settled(&lane, &claimed, &Done::Unreachable("tmux does not answer".into()));
    assert!(settlement.keep_claim && settlement.until > Some(NOW));
    assert!(settlement.item.is_none() && settlement.dead.is_empty() && settlement.again.is_empty());
    // Stopped meanwhile: what the key finds in the end is ended.
    lane.own().state = SessionState::Closed { at: NOW, reason: EndReason::Stopped };
    lane.own().generation += 1;
    assert_eq!(settled(&lane, &claimed, &spawned(9)).new.len(), 1);
}

#[rstest]
#[case::live(live(), SessionState::Starting)]
#[case::paused(SessionState::Paused(Some(life(7))), SessionState::Paused(None))]
fn k48_a_respawn_keeps_the_pause_and_the_creation_time(#[case] state: SessionState, #[case] lost: SessionState) {
    let mut lane = delivering();
    let claimed = work(&lane);
    lane.own().created_at = NOW.plus_seconds(-5000);
    lane.own().state = state.clone();
    let settlement = settled(&lane, &claimed, &Done::HarnessGone { named: None });
    let session = after(&settlement);
    assert_eq!((&session.state, session.created_at, session.generation), (&lost, NOW.plus_seconds(-5000), 3));
    assert_eq!(settlement.again.iter().map(|effect| effect.attempts).collect::<Vec<_>>(), [1, 1, 1]);
    lane.item = *settlement.item.unwrap();
    match state {
        SessionState::Live(_) => assert_eq!(next(&lane, NOW), Next::Prepare { endpoint: EndpointRef::Item }),
        _ => assert!(matches!(next(&lane, NOW), Next::Wait { why: "paused", .. })),
    }
}

#[test]
fn a_harness_that_was_respawned_meanwhile_is_not_lost_again() {
    let mut lane = delivering();
    let claimed = work(&lane);
    lane.own().state = SessionState::Live(life(99));
    let settlement = settled(&lane, &claimed, &Done::HarnessGone { named: None });
    assert_eq!((&settlement.item, settlement.again.len()), (&None, 3));
}

#[test]
fn k42_the_conversation_that_a_harness_named_is_the_one_that_goes_on() {
    let named = || crate::domain::ids::ConversationId::parse("0199").unwrap();
    let mut lane = delivering();
    lane.own().introduced = true;
    let learnt = settled(&lane, &work(&lane), &Done::Learnt(named()));
    assert_eq!((after(&learnt).conversation.clone(), learnt.over[0].1), (Some(named()), "confirmed"));
    let gone = settled(&lane, &work(&lane), &Done::HarnessGone { named: Some(named()) });
    assert_eq!(after(&gone).conversation, Some(named()), "named when it ended");
    lane.own().conversation = crate::domain::ids::ConversationId::parse("known").ok();
    let gone = settled(&lane, &work(&lane), &Done::HarnessGone { named: Some(named()) });
    assert_eq!(after(&gone).conversation, lane.own().conversation, "what a transcript told stays");
}

#[test]
fn a_harness_that_dies_again_and_again_is_a_dead_letter_once() {
    let mut lane = view(live()).with_deliveries(&EndpointRef::Item, 1..=1);
    let mut dead = 0;
    for _ in 0..=policy().max_retries {
        let settlement = settled(&lane, &work(&lane), &Done::HarnessGone { named: None });
        dead += settlement.dead.len();
        if let Some(again) = settlement.again.first() {
            lane.effects[0] = again.clone();
        }
    }
    assert_eq!((dead, lane.effects[0].attempts), (1, policy().max_retries));
}

#[test]
fn an_end_closes_what_was_told_to_close_and_nothing_that_began_since() {
    let lane = view(SessionState::Closing(EndReason::Closed)).and(Class::Overtaking, 1, end(Some(life(7))));
    let claimed = work(&lane);
    let settlement = settled(&lane, &claimed, &Done::Ended);
    assert_eq!(after(&settlement).state, SessionState::Closed { at: NOW, reason: EndReason::Closed });
    let mut begun = lane.clone();
    begun.own().state = SessionState::Starting;
    let settlement = settled(&begun, &claimed, &Done::Ended);
    assert_eq!((&after(&settlement).state, settlement.over.len()), (&SessionState::Starting, 1));
    let nothing = view(live()).and(Class::Overtaking, 1, end(None));
    assert!(matches!(next(&nothing, NOW), Next::Drop { reason: "nothing-to-end", .. }));
}

#[test]
fn k40_what_became_of_a_checkout_is_told() {
    let closed = SessionState::Closed { at: NOW, reason: EndReason::Closed };
    let mut lane = view(closed).and(Class::Ordinary, 1, EffectBody::Tidy { generation: 3 });
    lane.own().cwd = Some("/w/7".into());
    let kept = Tidied::Kept { path: "/w/7".into(), why: Keep::Unpushed };
    for (tidied, how, event, gone) in [
        (Tidied::Removed("/w/7".into()), "removed", Some(EventName::SessionCheckoutRemoved), true),
        (kept, "kept", Some(EventName::SessionCheckoutKept), false),
        (Tidied::Nothing, "nothing-there", None, false),
    ] {
        let settlement = settled(&lane, &work(&lane), &Done::Tidied(tidied));
        assert_eq!(settlement.over, [(lane.effects[0].place, how)]);
        let told = settlement.log.iter().map(|entry| entry.event).find(|name| *name != EventName::DispatchSucceeded);
        assert_eq!(told, event);
        let cwd = settlement.item.as_ref().map(|item| item.session.as_ref().unwrap().cwd.is_none());
        assert_eq!(cwd, gone.then_some(true));
    }
    let failed = settled(&lane, &work(&lane), &Done::Failed("no git".into()));
    assert_eq!((failed.again.len(), failed.dead.len()), (1, 0), "tried again");
}
