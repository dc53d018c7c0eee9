//! Which lanes a decision leaves as they are.

use std::collections::BTreeSet;

use crate::domain::decide::{Change, Outcome, View};
use crate::domain::effect::Class;
use crate::domain::lane;
use crate::domain::reference::RefKey;

/// The lanes that are held after the decision as they were before it: looking at one would only find that it waits. An
/// end overtakes what is held, and a record under another name is another lane.
pub(super) fn still_held(view: &View, outcome: &Outcome) -> BTreeSet<RefKey> {
    let mut held = BTreeSet::new();
    for change in &outcome.changes {
        let Change::Item(item) = change else { continue };
        let key = item.reference.key();
        let was_held = view.items.get(&key).is_some_and(|known| lane::is_held(&known.item));
        if was_held && lane::is_held(item) {
            held.insert(key);
        }
    }
    for effect in outcome.effects.iter().filter(|effect| effect.class != Class::Ordinary) {
        held.remove(&effect.lane);
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::decide::{Known, Verdict};
    use crate::domain::effect::{EffectBody, EndpointRef, NewEffect};
    use crate::domain::ids::StoreId;
    use crate::domain::item::Item;
    use crate::domain::reference::WorkItemRef;
    use crate::domain::session::{EndReason, PaneKey, Session, SessionState};
    use crate::domain::time::Time;

    fn item(state: SessionState) -> Item {
        let reference = WorkItemRef::parse("github:octo/hello#7").unwrap();
        let key = PaneKey::new(&StoreId("s".into()), &reference, &reference);
        let session = Session::recorded(reference.clone(), key, "claude".into(), Time::from_millis(1));
        Item { session: Some(Session { state, ..session }), ..Item::new(reference) }
    }

    fn is_left_alone(before: Option<SessionState>, after: SessionState, class: Class) -> bool {
        let after = item(after);
        let lane = after.reference.key();
        let mut view = View::empty(StoreId("s".into()));
        view.items = before
            .map(|state| (lane.clone(), Known { item: item(state), endpoints: Vec::new() }))
            .into_iter()
            .collect();
        let body =
            EffectBody::End { endpoint: EndpointRef::Item, life: None, reason: EndReason::Stopped, keep_pane: None };
        let effects = vec![NewEffect { lane: lane.clone(), class, body }];
        let changes = vec![Change::Item(Box::new(after))];
        still_held(&view, &Outcome { verdict: Verdict::Accepted, changes, effects, log: Vec::new(), tells: Vec::new() })
            .contains(&lane)
    }

    #[test]
    fn k13_what_a_pause_held_is_looked_at_when_it_is_released_and_not_before() {
        use SessionState::{Paused, Starting};
        let closed = SessionState::Closed { at: Time::from_millis(2), reason: EndReason::Stopped };
        let table = [
            (Some(Paused(None)), Paused(None), Class::Ordinary, true),
            (Some(Paused(None)), Paused(None), Class::Overtaking, false),
            (Some(Paused(None)), Starting, Class::Ordinary, false),
            (Some(Paused(None)), closed, Class::Ordinary, false),
            (Some(Starting), Paused(None), Class::Ordinary, false),
            (Some(Starting), Starting, Class::Ordinary, false),
            // It came under this name just now.
            (None, Paused(None), Class::Ordinary, false),
        ];
        for (before, after, class, expected) in table {
            assert_eq!(is_left_alone(before.clone(), after.clone(), class), expected, "{before:?} {after:?} {class:?}");
        }
    }
}
