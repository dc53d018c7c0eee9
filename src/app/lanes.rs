//! Which lanes have something to do after a decision.

use std::collections::BTreeSet;

use crate::domain::decide::{Change, Outcome, View};
use crate::domain::effect::Class;
use crate::domain::item::Item;
use crate::domain::lane;
use crate::domain::reference::RefKey;

/// The lanes with new effects, and those whose session changed its state or was released. A held lane is left alone, as
/// looking at it would only find that it waits; an end overtakes what is held.
pub(super) fn to_look_at(view: &View, outcome: &Outcome) -> Vec<RefKey> {
    let mut lanes: BTreeSet<RefKey> = outcome.effects.iter().map(|effect| effect.lane.clone()).collect();
    for change in &outcome.changes {
        let Change::Item(item) = change else { continue };
        let key = item.reference.key();
        let overtakes = outcome.effects.iter().any(|effect| effect.lane == key && effect.class == Class::Overtaking);
        let before = view.items.get(&key).map(|known| &known.item);
        if lane::is_held(item) && !overtakes {
            lanes.remove(&key);
        } else if before.is_some_and(|before| moved(before, item)) {
            lanes.insert(key);
        }
    }
    lanes.into_iter().collect()
}

/// Whether what held the lane, or where it delivers to, is another now.
fn moved(before: &Item, after: &Item) -> bool {
    let state = |item: &Item| item.session.as_ref().map(|session| (session.state.clone(), session.resumed_at));
    lane::is_held(before) || state(before) != state(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::decide::{Known, Verdict};
    use crate::domain::effect::{EffectBody, EndpointRef, NewEffect};
    use crate::domain::ids::StoreId;
    use crate::domain::reference::WorkItemRef;
    use crate::domain::session::{EndReason, PaneKey, Session, SessionState};
    use crate::domain::time::Time;

    fn item(state: SessionState) -> Item {
        let reference = WorkItemRef::parse("github:octo/hello#7").unwrap();
        let key = PaneKey::new(&StoreId("s".into()), &reference, &reference);
        let session = Session::recorded(reference.clone(), key, "claude".into(), Time::from_millis(1));
        Item { session: Some(Session { state, ..session }), ..Item::new(reference) }
    }

    fn lanes(before: SessionState, after: SessionState, class: Option<Class>) -> usize {
        let (before, after) = (item(before), item(after));
        let mut view = View::empty(StoreId("s".into()));
        let lane = before.reference.key();
        view.items.insert(lane.clone(), Known { item: before, endpoints: Vec::new() });
        let body = EffectBody::End { endpoint: EndpointRef::Item, life: None, reason: EndReason::Stopped };
        let effects = class.map(|class| NewEffect { lane, class, body }).into_iter().collect();
        let changes = vec![Change::Item(Box::new(after))];
        to_look_at(&view, &Outcome { verdict: Verdict::Accepted, changes, effects, log: Vec::new() }).len()
    }

    #[test]
    fn k13_what_a_pause_held_is_looked_at_when_it_is_released_and_not_before() {
        use SessionState::{Closed, Paused, Starting};
        let closed = Closed { at: Time::from_millis(2), reason: EndReason::Stopped };
        let table = [
            // An event for a paused session waits; nobody needs to look.
            (Paused(None), Paused(None), Some(Class::Ordinary), 0),
            // A resume brings no effect of its own, and what waited has to go on.
            (Paused(None), Starting, None, 1),
            // So has what waits for a session that ended.
            (Paused(None), closed.clone(), None, 1),
            (Starting, closed, None, 1),
            // An end overtakes a pause.
            (Paused(None), Paused(None), Some(Class::Overtaking), 1),
            (Starting, Starting, Some(Class::Ordinary), 1),
            (Starting, Starting, None, 0),
        ];
        for (before, after, class, expected) in table {
            assert_eq!(lanes(before.clone(), after.clone(), class), expected, "{before:?} {after:?} {class:?}");
        }
    }
}
