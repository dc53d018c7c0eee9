//! A person's word about single effects: tried again, or forgotten. Pure.

use crate::domain::effect::{DeadLetter, Effect, EffectBody, EndpointRef};
use crate::domain::item::Item;
use crate::domain::policy::Policy;
use crate::domain::portable::Control;
use crate::domain::session::{EndReason, Session, SessionState};

/// A dead letter on its way back into its lane, at the place it had: what was said first arrives first.
#[derive(Debug, Clone, PartialEq)]
pub struct Again {
    /// The effect, as if it had never been tried.
    pub effect: Effect,
    /// The item's row, when its session begins again with it.
    pub item: Option<Box<Item>>,
}

/// Why a person's word about an effect cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Nothing could receive it.
    #[error("its item has no session that could take it")]
    NoSession,
    /// A spawn that succeeded meanwhile, or of a session that ended.
    #[error("the session it would start runs already, or is over")]
    NotWanted,
    /// The agent is gone.
    #[error("there is nothing left to end")]
    NothingToEnd,
    /// Dropped alone, it would leave a session that never ends or never begins.
    #[error("a session depends on it")]
    SessionDepends,
}

/// Puts a dead letter back. What is delivered goes to the session as it is by now; a session that could not be started
/// begins again, if its item is still to be worked on.
///
/// # Errors
/// The lane would only drop it again.
pub fn again(letter: &DeadLetter, item: &Item, policy: &Policy) -> Result<Again, Unfit> {
    let effect = Effect { attempts: 0, not_before: None, trouble: None, ..letter.effect.clone() };
    match &letter.effect.body {
        EffectBody::Deliver { .. } => deliver(effect, item, policy),
        EffectBody::Spawn { endpoint: EndpointRef::Item, generation, .. } => {
            let revived = revived(item, policy).filter(|(_, begun)| begun == generation).ok_or(Unfit::NotWanted)?;
            Ok(Again { effect, item: Some(revived.0) })
        }
        EffectBody::Spawn { .. } => Err(Unfit::NotWanted),
        EffectBody::Tidy { generation } => {
            let same = |session: &&Session| !session.is_live() && session.generation == *generation;
            item.session.as_ref().filter(same).map(|_| Again { effect, item: None }).ok_or(Unfit::NotWanted)
        }
        EffectBody::End { .. } if item.session.is_some() => Ok(Again { effect, item: None }),
        EffectBody::End { .. } => Err(Unfit::NothingToEnd),
        EffectBody::PauseRun => Err(Unfit::NotWanted),
    }
}

/// Whether a waiting effect can be forgotten alone: what is said can, and a checkout can stay; a spawn or an end is
/// a session's own.
///
/// # Errors
/// A session depends on it.
pub const fn may_drop(effect: &Effect) -> Result<(), Unfit> {
    match effect.body {
        EffectBody::Deliver { .. } | EffectBody::Tidy { .. } | EffectBody::PauseRun => Ok(()),
        EffectBody::Spawn { .. } | EffectBody::End { .. } => Err(Unfit::SessionDepends),
    }
}

fn deliver(mut effect: Effect, item: &Item, policy: &Policy) -> Result<Again, Unfit> {
    let (revived, present) = match item.live_session() {
        Some(session) => (None, session.generation),
        None => revived(item, policy).map(|(item, begun)| (Some(item), begun)).ok_or(Unfit::NoSession)?,
    };
    if let EffectBody::Deliver { generation, .. } = &mut effect.body {
        *generation = present;
    }
    Ok(Again { effect, item: revived })
}

/// The item with a session that could not be started, beginning again, and its generation.
fn revived(item: &Item, policy: &Policy) -> Option<(Box<Item>, u64)> {
    let failed =
        |session: &&Session| matches!(session.state, SessionState::Closed { reason: EndReason::SpawnFailed, .. });
    let session = item.session.as_ref().filter(failed).filter(|_| is_to_be_worked_on(item, policy))?;
    let begun = Session { state: SessionState::Starting, failed_spawns: 0, ..session.clone() };
    let generation = begun.generation;
    Some((Box::new(Item { session: Some(begun), ..item.clone() }), generation))
}

/// Open as far as is known, and armed, or never disarmed where nobody has to say start.
fn is_to_be_worked_on(item: &Item, policy: &Policy) -> bool {
    let ended = item.sections.ended.as_ref();
    let arms = |control: &Control| control.arms_after(ended);
    let armed = item.sections.control.as_ref().map_or(!policy.require_start && ended.is_none(), arms);
    armed && item.facts.open != Some(false)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::fixtures::*;
    use super::*;
    use crate::domain::effect::DeadReason;
    use crate::domain::lane::{LaneView, Next, next};

    fn letter(body: EffectBody) -> DeadLetter {
        let lane = view(live()).and(crate::domain::effect::Class::Ordinary, 5, body);
        let effect = Effect { attempts: 8, not_before: Some(NOW.plus_seconds(900)), ..lane.effects[0].clone() };
        DeadLetter { effect, reason: DeadReason::Unknown, detail: "another life".into(), at: NOW }
    }

    fn open_policy() -> Policy {
        Policy { require_start: false, ..policy() }
    }

    fn failed_start() -> SessionState {
        SessionState::Closed { at: NOW, reason: EndReason::SpawnFailed }
    }

    /// What the lane does with an effect that was put back.
    fn followed(lane: &LaneView, again: Again) -> Next {
        let item = again.item.map_or_else(|| lane.item.clone(), |item| *item);
        next(&LaneView { item, endpoints: lane.endpoints.clone(), effects: vec![again.effect] }, NOW)
    }

    #[test]
    fn a_letter_goes_back_to_its_place_untried_and_to_the_session_as_it_is_now() {
        let mut lane = view(live());
        lane.own().generation = 9;
        let letter = letter(deliver_of(3));
        let again = again(&letter, &lane.item, &policy()).unwrap();
        assert_eq!(
            (again.effect.place, again.effect.attempts, again.effect.not_before),
            (letter.effect.place, 0, None)
        );
        assert_eq!(again.item, None);
        assert!(matches!(followed(&lane, again), Next::Do(_)), "with the old generation it would be dropped");
    }

    fn deliver_of(seq: u64) -> EffectBody {
        super::super::fixtures::deliver(EndpointRef::Item, seq, "a remark")
    }

    #[test]
    fn k43_what_could_not_start_begins_again_with_any_of_its_letters() {
        let lane = view(failed_start());
        let to_item = again(&letter(deliver_of(5)), &lane.item, &open_policy()).unwrap();
        assert_eq!(followed(&lane, to_item), Next::Prepare { endpoint: EndpointRef::Item });
        let start = again(&letter(spawn(EndpointRef::Item, 3)), &lane.item, &open_policy()).unwrap();
        assert!(matches!(followed(&lane, start), Next::Do(_)));
    }

    #[rstest]
    #[case::ended(view(SessionState::Closed { at: NOW, reason: EndReason::Stopped }), deliver_of(5), Unfit::NoSession)]
    #[case::spawn_of_what_runs(view(live()), spawn(EndpointRef::Item, 3), Unfit::NotWanted)]
    #[case::spawn_of_an_older_life(view(failed_start()), spawn(EndpointRef::Item, 2), Unfit::NotWanted)]
    #[case::spawn_for_a_pull_request(view(live()), spawn(to_pull(), 3), Unfit::NotWanted)]
    fn k70_what_the_lane_would_drop_again_is_refused(
        #[case] lane: LaneView,
        #[case] body: EffectBody,
        #[case] why: Unfit,
    ) {
        assert_eq!(again(&letter(body), &lane.item, &open_policy()), Err(why));
    }

    #[test]
    fn nothing_begins_again_that_nobody_wants_any_more() {
        let lane = view(failed_start());
        let letter = letter(deliver_of(5));
        assert_eq!(
            again(&letter, &lane.item, &policy()),
            Err(Unfit::NoSession),
            "a start is required and nobody said it"
        );
        let mut closed = lane.item.clone();
        closed.facts.open = Some(false);
        assert_eq!(again(&letter, &closed, &open_policy()), Err(Unfit::NoSession));
        let gone = Item { session: None, ..lane.item.clone() };
        assert_eq!(again(&letter, &gone, &open_policy()), Err(Unfit::NoSession));
    }

    #[test]
    fn k40_only_what_is_said_can_be_dropped_alone() {
        let effect = |body| letter(body).effect;
        assert_eq!(may_drop(&effect(deliver_of(5))), Ok(()));
        assert_eq!(may_drop(&effect(end(Some(life(7))))), Err(Unfit::SessionDepends));
        assert_eq!(may_drop(&effect(spawn(EndpointRef::Item, 3))), Err(Unfit::SessionDepends));
    }
}
