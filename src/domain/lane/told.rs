//! Tests: what people are told of how work went.

use super::fixtures::*;
use super::*;
use crate::domain::effect::{Class, DeadReason, EffectBody};
use crate::domain::event::Identity;
use crate::domain::policy::{Policy, Reactions};
use crate::domain::session::SessionState;
use crate::domain::telling::{Kind, Spot, Tell, What};

/// What a settlement tells, in a few words each.
fn told(settlement: &Settlement) -> Vec<String> {
    let one = |tell: &Tell| match &tell.what {
        What::Reaction { on: Spot::Comment(id) | Spot::ReviewComment(id), content } => {
            format!("{} {id}", content.as_str())
        }
        What::Words { kind, .. } => kind.as_str().to_owned(),
    };
    settlement.tells.iter().map(one).collect()
}

/// A session that starts because of comment 9.
fn asked_for() -> LaneView {
    let asked_by = Some(Identity::new("github.com", 1, "comment", "9"));
    let body = EffectBody::Spawn { endpoint: EndpointRef::Item, generation: 3, resume: true, asked_by };
    view(SessionState::Starting).and(Class::Ordinary, 1, body)
}

#[test]
fn what_was_handed_over_is_told_on_each_comment_and_what_waits_is_not() {
    let lane = view(live()).with_deliveries(&EndpointRef::Item, 1..=2);
    let all = work(&lane);
    for done in [Done::Submitted, Done::Confirmed, Done::Finished { conversation: None }] {
        assert_eq!(told(&settled(&lane, &all, &done)), ["hooray 1", "hooray 2"], "{done:?}");
    }
    let why = || "x".to_owned();
    let silent = [Done::Running, Done::PastedOnly, Done::Busy(why()), Done::Unreachable(why()), Done::Failed(why())];
    for done in silent.into_iter().chain([Done::HarnessGone { named: None }, Done::Unsure(why())]) {
        assert_eq!(told(&settled(&lane, &all, &done)), Vec::<String>::new(), "{done:?}");
    }
}

#[test]
fn what_is_given_up_together_is_told_once_and_on_each_comment() {
    let lane = view(live()).with_deliveries(&EndpointRef::Item, 1..=2);
    let settlement = settled(&lane, &work(&lane), &Done::Unknown("secret screen".into()));
    assert_eq!(told(&settlement), ["confused 1", "confused 2", "given-up"]);
    let What::Words { kind: Kind::GivenUp, cause, text } = &settlement.tells[2].what else { panic!() };
    assert_eq!(cause, "e1 e2");
    assert!(text.contains("may have arrived") && !text.contains("secret"), "{text}");
    // Those behind a start that was given up are part of what was told then.
    let behind = give_up(&item_ref(), &lane.effects[0], "no session", &policy());
    assert_eq!((told(&behind), behind.dead[0].1), (vec!["confused 1".to_owned()], DeadReason::RetriesExhausted));
}

#[test]
fn a_session_that_begins_is_announced_once_and_whoever_asked_is_told() {
    let lane = asked_for();
    let settlement = settled(&lane, &work(&lane), &spawned(9));
    assert_eq!(told(&settlement), ["hooray 9", "announcement"]);
    let again = settled(&lane, &work(&lane), &spawned(10));
    let marker = |settlement: &Settlement| settlement.tells[1].marker(&crate::domain::ids::StoreId("s".into()));
    assert_eq!(marker(&settlement), marker(&again), "a spawn that is recovered tells no second time");
    let mut later = lane;
    later.own().generation += 1;
    let other = EffectBody::Spawn { endpoint: EndpointRef::Item, generation: 4, resume: true, asked_by: None };
    later.effects.clear();
    let later = later.and(Class::Ordinary, 2, other);
    let next_life = settled(&later, &work(&later), &spawned(11));
    assert_eq!(told(&next_life), ["announcement"]);
    assert_ne!(next_life.tells[0].marker(&crate::domain::ids::StoreId("s".into())), marker(&settlement));
}

#[test]
fn a_respawn_and_a_spawn_that_is_not_wanted_any_more_are_not_announced() {
    let lane = view(SessionState::Starting).and(Class::Preparing, 1, spawn(EndpointRef::Item, 3));
    assert_eq!(told(&settled(&lane, &work(&lane), &spawned(9))), Vec::<String>::new());
    let mut lane = asked_for();
    let claimed = work(&lane);
    lane.own().generation += 1;
    assert_eq!(told(&settled(&lane, &claimed, &spawned(9))), Vec::<String>::new());
}

#[test]
fn a_start_that_is_given_up_is_told() {
    let lane = asked_for();
    let done = Done::SpawnFailed { detail: "no directory".into(), permanent: true };
    let settlement = settled(&lane, &work(&lane), &done);
    assert_eq!(told(&settlement), ["confused 9", "given-up"]);
    let What::Words { text, .. } = &settlement.tells[1].what else { panic!() };
    assert!(text.starts_with("The agent could not be started"), "{text}");
}

#[test]
fn the_settings_turn_it_off() {
    let reactions = Reactions { started: None, completed: None, error: None };
    let policy = Policy { reactions, announces: false, ..policy() };
    let lane = asked_for();
    assert_eq!(told(&settle(&lane, &work(&lane), &spawned(9), &policy, NOW, 0)), Vec::<String>::new());
    let lane = view(live()).with_deliveries(&EndpointRef::Item, 1..=1);
    let lost = settle(&lane, &work(&lane), &Done::Unknown("x".into()), &policy, NOW, 0);
    assert_eq!(told(&lost), ["given-up"], "what is lost is told all the same");
}
