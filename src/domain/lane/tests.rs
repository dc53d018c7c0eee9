//! The rules of lanes, as tables.

use rstest::rstest;

use super::*;
use crate::domain::effect::{Class, DeadReason, EffectBody};
use crate::domain::event::Identity;
use crate::domain::ids::{DeliveryId, StoreId};
use crate::domain::message::MessageKind;
use crate::domain::policy::Policy;
use crate::domain::session::{PaneKey, SessionState};

const NOW: Time = Time::from_millis(1_780_000_000_000);

fn item_ref() -> WorkItemRef {
    WorkItemRef::parse("github:octo/hello#7").unwrap()
}

fn pull_ref() -> WorkItemRef {
    WorkItemRef::parse("github:octo/hello#16").unwrap()
}

fn to_pull() -> EndpointRef {
    EndpointRef::PullRequest(pull_ref())
}

fn life(pane: u32) -> Life {
    Life {
        socket: "test".into(),
        server_pid: 1,
        server_started: 1,
        session: "loop".into(),
        pane: format!("%{pane}"),
        pane_pid: pane,
    }
}

fn session(reference: &WorkItemRef, state: SessionState) -> Session {
    let key = PaneKey::new(&StoreId("s".into()), &item_ref(), reference);
    Session { state, generation: 3, ..Session::recorded(reference.clone(), key, "claude".into(), NOW) }
}

/// A record in `state` with an empty lane.
fn view(state: SessionState) -> LaneView {
    let item = Item { session: Some(session(&item_ref(), state)), ..Item::new(item_ref()) };
    LaneView { item, endpoints: Vec::new(), effects: Vec::new() }
}

fn live() -> SessionState {
    SessionState::Live(life(7))
}

impl LaneView {
    fn and(mut self, class: Class, seq: u64, body: EffectBody) -> Self {
        let place = Place { class, seq };
        let lane = item_ref().key();
        self.effects.push(Effect { lane, place, body, attempts: 0, not_before: None, created_at: NOW });
        self.effects.sort_by_key(|effect| effect.place);
        self
    }

    fn with_deliveries(self, endpoint: &EndpointRef, seqs: std::ops::RangeInclusive<u64>) -> Self {
        seqs.fold(self, |view, seq| view.and(Class::Ordinary, seq, deliver(endpoint.clone(), seq, "a remark")))
    }

    fn with_pull(mut self, state: SessionState) -> Self {
        self.endpoints.push(session(&pull_ref(), state));
        self
    }

    fn own(&mut self) -> &mut Session {
        self.item.session.as_mut().unwrap()
    }
}

fn deliver(endpoint: EndpointRef, seq: u64, text: &str) -> EffectBody {
    let message = Message {
        kind: MessageKind::Comment,
        about: item_ref(),
        delivery: DeliveryId::parse(&format!("d-{seq}")).unwrap(),
        author: Some("mona".into()),
        title: String::new(),
        link: None,
        text: text.into(),
    };
    let identity = Some(Identity::new("github.com", 1, "comment", &seq.to_string()));
    EffectBody::Deliver { endpoint, identity, message: Box::new(message), generation: 3 }
}

fn spawn(endpoint: EndpointRef, generation: u64) -> EffectBody {
    EffectBody::Spawn { endpoint, generation, resume: true }
}

fn end(life: Option<Life>) -> EffectBody {
    EffectBody::End { endpoint: EndpointRef::Item, life, reason: EndReason::Stopped }
}

fn work(view: &LaneView) -> Work {
    match next(view, NOW) {
        Next::Do(work) => work,
        other => panic!("{other:?}"),
    }
}

fn seqs(places: &[Place]) -> Vec<u64> {
    places.iter().map(|place| place.seq).collect()
}

fn policy() -> Policy {
    Policy { max_retries: 3, ..Policy::default() }
}

fn settled(view: &LaneView, work: &Work, done: &Done) -> Settlement {
    settle(view, work, done, &policy(), NOW, 0)
}

fn spawned(pane: u32) -> Done {
    Done::Spawned { life: life(pane), conversation: None, cwd: "/srv".into() }
}

fn failed() -> Done {
    Done::SpawnFailed { detail: "exit 1".into(), permanent: false }
}

/// The session after a settlement.
fn after(settlement: &Settlement) -> &Session {
    match (&settlement.item, &settlement.endpoint) {
        (Some(item), _) => item.session.as_ref().unwrap(),
        (None, Some(endpoint)) => endpoint,
        (None, None) => panic!("no session changed"),
    }
}

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
    let settlement = give_up(&lane.effects[0], &detail);
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
    let body = EffectBody::End { endpoint: EndpointRef::Item, life: Some(life(9)), reason: why };
    assert_eq!((ended.class, &ended.body), (Class::Overtaking, &body));
    lane.effects.clear();
    let lane = lane.and(Class::Overtaking, 2, body);
    assert!(matches!(work(&lane), Work::End { life: ended, .. } if ended == life(9)));
}

#[test]
fn a_spawn_that_completes_is_live_and_a_pause_meanwhile_stays() {
    let mut lane = spawning();
    let claimed = work(&lane);
    let settlement = settled(&lane, &claimed, &spawned(9));
    assert_eq!(after(&settlement).state, SessionState::Live(life(9)));
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
    assert!(again.not_before > Some(NOW));
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
        [(1, "delivered"), (2, "delivered"), (3, "delivered"),]
    );
    assert!(settlement.item.is_none() && settlement.again.is_empty() && !settlement.keep_claim);
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
        assert_eq!(again.not_before, settlement.until);
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
    let settlement = settled(&lane, &claimed, &Done::HarnessGone);
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
    let settlement = settled(&lane, &claimed, &Done::HarnessGone);
    assert_eq!((&settlement.item, settlement.again.len()), (&None, 3));
}

#[test]
fn a_harness_that_dies_again_and_again_is_a_dead_letter_once() {
    let mut lane = view(live()).with_deliveries(&EndpointRef::Item, 1..=1);
    let mut dead = 0;
    for _ in 0..=policy().max_retries {
        let settlement = settled(&lane, &work(&lane), &Done::HarnessGone);
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
