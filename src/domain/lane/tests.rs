//! What a lane does next, as tables.

use rstest::rstest;

use super::fixtures::*;
use super::*;
use crate::domain::effect::{Class, DeadReason, EffectBody};
use crate::domain::session::SessionState;

#[test]
fn an_empty_lane_is_idle() {
    assert_eq!(next(&view(live()), NOW), Next::Idle);
}

#[test]
fn ends_come_first_then_what_others_wait_for_then_the_order_of_arrival() {
    let full = view(live())
        .with_deliveries(&EndpointRef::Item, 1..=2)
        .and(Class::Preparing, 5, spawn(EndpointRef::Item, 3))
        .and(Class::Overtaking, 9, end(Some(life(7))));
    assert!(matches!(work(&full), Work::End { .. }));
    let mut starting = view(SessionState::Starting).with_deliveries(&EndpointRef::Item, 1..=2).and(
        Class::Preparing,
        5,
        spawn(EndpointRef::Item, 3),
    );
    assert!(matches!(work(&starting), Work::Spawn { place: Place { seq: 5, .. }, .. }));
    starting.effects.remove(0);
    starting.own().state = live();
    assert_eq!(seqs(&work(&starting).members()), [1, 2]);
}

#[rstest]
#[case::paused(SessionState::Paused(Some(life(7))), false, "paused")]
#[case::paused_before_it_ran(SessionState::Paused(None), false, "paused")]
#[case::adopted(live(), true, "disarmed-elsewhere")]
fn k13_a_hold_keeps_deliveries_and_spawns_and_lets_ends_through(
    #[case] state: SessionState,
    #[case] adopted: bool,
    #[case] why: &'static str,
) {
    let mut held = view(state).with_deliveries(&EndpointRef::Item, 1..=3);
    held.item.held_by_adoption = adopted;
    assert_eq!(next(&held, NOW), Next::Wait { until: None, why });
    assert_eq!(held.effects.len(), 3, "what waits is kept");
    let spawning = held.clone().and(Class::Preparing, 4, spawn(EndpointRef::Item, 3));
    assert_eq!(next(&spawning, NOW), Next::Wait { until: None, why });
    assert!(matches!(work(&held.and(Class::Overtaking, 5, end(Some(life(7))))), Work::End { .. }));
}

#[test]
fn k25_a_tripped_breaker_holds_its_own_conversation_only() {
    let mut held = view(live()).with_pull(SessionState::Live(life(16))).with_deliveries(&EndpointRef::Item, 1..=2);
    held.own().breaker.tripped = true;
    assert_eq!(next(&held, NOW), Next::Wait { until: None, why: HELD_BY_BREAKER });
    let other = held.with_deliveries(&to_pull(), 3..=4);
    assert_eq!((work(&other).endpoint(), seqs(&work(&other).members())), (&to_pull(), vec![3, 4]));
}

#[test]
fn deliveries_that_wait_together_go_together_up_to_the_first_of_another_conversation() {
    let lane = view(live())
        .with_pull(SessionState::Live(life(16)))
        .with_deliveries(&EndpointRef::Item, 1..=3)
        .with_deliveries(&to_pull(), 4..=4)
        .with_deliveries(&EndpointRef::Item, 5..=5);
    let Work::Deliver { members, messages, .. } = work(&lane) else { panic!() };
    assert_eq!(seqs(&members), [1, 2, 3]);
    let delivered: Vec<_> = messages.iter().map(|message| message.delivery.as_str()).collect();
    assert_eq!(delivered, ["d-1", "d-2", "d-3"]);
}

#[test]
fn one_text_holds_a_bounded_number_of_messages_and_bytes() {
    let many = view(live()).with_deliveries(&EndpointRef::Item, 1..=MAX_BATCH as u64 + 1);
    assert_eq!(work(&many).members().len(), MAX_BATCH);
    let half = "x".repeat(MAX_BATCH_BYTES / 2);
    let large =
        (1..=3).fold(view(live()), |view, seq| view.and(Class::Ordinary, seq, deliver(EndpointRef::Item, seq, &half)));
    assert_eq!(seqs(&work(&large).members()), [1, 2]);
    let huge = view(live())
        .and(Class::Ordinary, 1, deliver(EndpointRef::Item, 1, &"x".repeat(MAX_BATCH_BYTES + 1)))
        .with_deliveries(&EndpointRef::Item, 2..=2);
    assert_eq!(seqs(&work(&huge).members()), [1], "one alone may be larger");
}

#[test]
fn what_waited_through_a_hold_is_counted_for_the_digest() {
    let mut lane = view(live()).with_deliveries(&EndpointRef::Item, 1..=7);
    assert_eq!(work(&lane).held(), 0);
    lane.own().resumed_at = Some(NOW.plus_seconds(10));
    lane.effects[6].created_at = NOW.plus_seconds(11);
    assert_eq!((work(&lane).members().len(), work(&lane).held()), (7, 6));
}

#[test]
fn a_time_to_wait_for_holds_what_is_behind_it() {
    let mut lane = view(live()).with_deliveries(&EndpointRef::Item, 1..=2);
    let until = NOW.plus_seconds(30);
    lane.effects[0].not_before = Some(until);
    assert_eq!(next(&lane, NOW), Next::Wait { until: Some(until), why: "retry" });
    lane.effects[0].not_before = None;
    lane.effects[1].not_before = Some(until);
    assert_eq!(seqs(&work(&lane).members()), [1]);
    lane.effects[1].not_before = Some(NOW);
    assert_eq!(seqs(&work(&lane).members()), [1, 2]);
}

#[rstest]
#[case::lazily(SessionState::Recorded, 0, Some(to_pull()))]
#[case::again(SessionState::Starting, 1, Some(to_pull()))]
#[case::two_tries(SessionState::Recorded, ENDPOINT_SPAWN_TRIES, None)]
#[case::closing(SessionState::Closing(EndReason::Merged), 0, None)]
#[case::closed(SessionState::Closed { at: NOW, reason: EndReason::Merged }, 0, None)]
fn a_pull_request_that_cannot_have_its_own_conversation_uses_the_records(
    #[case] state: SessionState,
    #[case] tries: u32,
    #[case] prepares: Option<EndpointRef>,
) {
    let mut lane = view(live()).with_pull(state).with_deliveries(&to_pull(), 1..=1);
    lane.endpoints[0].failed_spawns = tries;
    match prepares {
        Some(endpoint) => assert_eq!(next(&lane, NOW), Next::Prepare { endpoint }),
        None => assert_eq!(work(&lane).endpoint(), &EndpointRef::Item),
    }
    lane.endpoints.clear();
    assert_eq!(work(&lane).endpoint(), &EndpointRef::Item, "never none");
}

#[rstest]
#[case::ended(SessionState::Closed { at: NOW, reason: EndReason::Stopped }, 3)]
#[case::ending(SessionState::Closing(EndReason::Closed), 3)]
#[case::another_life(live(), 4)]
fn what_was_said_to_an_ended_session_is_dropped(#[case] state: SessionState, #[case] generation: u64) {
    let mut lane = view(state).with_deliveries(&EndpointRef::Item, 1..=2);
    lane.own().generation = generation;
    let place = lane.effects[0].place;
    assert_eq!(next(&lane, NOW), Next::Drop { places: vec![place], reason: "session-ended" });
}

#[test]
fn what_waits_for_a_session_that_could_not_start_is_given_up_visibly() {
    let state = SessionState::Closed { at: NOW, reason: EndReason::SpawnFailed };
    let lane = view(state).with_deliveries(&EndpointRef::Item, 1..=1);
    let Next::Bury { place, detail } = next(&lane, NOW) else { panic!() };
    assert_eq!(place.seq, 1);
    let settlement = give_up(&lane.item.reference, &lane.effects[0], &detail, &policy());
    assert_eq!((settlement.dead.len(), settlement.dead[0].1), (1, DeadReason::RetriesExhausted));
}

#[rstest]
#[case::stopped(SessionState::Closed { at: NOW, reason: EndReason::Stopped }, 4)]
#[case::begun_anew(SessionState::Starting, 5)]
#[case::runs_already(live(), 3)]
fn k22_a_spawn_nobody_wants_any_more_is_not_begun(#[case] state: SessionState, #[case] generation: u64) {
    let mut lane = view(state).and(Class::Ordinary, 1, spawn(EndpointRef::Item, 3));
    lane.own().generation = generation;
    assert!(matches!(next(&lane, NOW), Next::Drop { reason: "no-longer-wanted", .. }));
}

#[test]
fn k22_an_endpoint_is_not_spawned_for_a_record_that_ended() {
    let closed = SessionState::Closed { at: NOW, reason: EndReason::Closed };
    let lane = view(closed).with_pull(SessionState::Starting).and(Class::Preparing, 1, spawn(to_pull(), 3));
    assert!(matches!(next(&lane, NOW), Next::Drop { reason: "no-longer-wanted", .. }));
}

fn closed() -> SessionState {
    SessionState::Closed { at: NOW, reason: EndReason::Closed }
}

#[rstest]
#[case::over(view(closed()).with_pull(closed()), None)]
#[case::a_pull_request_that_never_ran(view(closed()).with_pull(SessionState::Recorded), None)]
#[case::runs(view(live()), Some("no-longer-wanted"))]
#[case::a_pull_request_runs(view(closed()).with_pull(live()), Some("not-ended"))]
#[case::still_ends(view(SessionState::Closing(EndReason::Closed)), Some("not-ended"))]
fn k40_a_checkout_goes_only_when_nobody_works_in_it(#[case] lane: LaneView, #[case] dropped: Option<&str>) {
    let mut lane = lane.and(Class::Ordinary, 1, EffectBody::Tidy { generation: 3 });
    match (next(&lane, NOW), dropped) {
        (Next::Do(work @ Work::Tidy { .. }), None) => assert!(work.is_slow()),
        (Next::Drop { reason, .. }, Some(why)) => assert_eq!(reason, why),
        (other, _) => panic!("{other:?}"),
    }
    // It began again since, and does not wait until a failed try would be repeated.
    lane.own().generation += 1;
    lane.effects[0].not_before = Some(NOW.plus_seconds(900));
    assert!(matches!(next(&lane, NOW), Next::Drop { reason: "no-longer-wanted", .. }));
}

#[rstest]
#[case::paused(SessionState::Paused(Some(life(7))), true)]
#[case::stopped(closed(), true)]
#[case::still_ends(SessionState::Closing(EndReason::Stopped), true)]
#[case::resumed(live(), false)]
#[case::begun_anew(SessionState::Starting, false)]
fn a_run_is_put_aside_while_its_item_is_held_or_over(#[case] state: SessionState, #[case] wanted: bool) {
    let lane = view(state).and(Class::Overtaking, 1, EffectBody::PauseRun);
    match next(&lane, NOW) {
        Next::Do(work @ Work::PauseRun { .. }) => {
            assert!(wanted && !work.is_slow());
            let done = Done::RunPaused { how: "left-alone", why: Some("no git".into()) };
            let settlement = settle(&lane, &work, &done, &policy(), NOW, 0);
            assert_eq!(settlement.over, [(lane.effects[0].place, "left-alone")]);
            assert!(settlement.again.is_empty() && settlement.dead.is_empty(), "it is tried once");
        }
        Next::Drop { reason, .. } => assert_eq!((reason, wanted), ("no-longer-wanted", false)),
        other => panic!("{other:?}"),
    }
}
