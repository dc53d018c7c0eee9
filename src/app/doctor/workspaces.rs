//! Directories of work items, compared with their records.

use crate::domain::findings::workspaces::Standing;
use crate::domain::item::Item;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{EndReason, SessionState};
use crate::store::{StoreError, View};

/// What the record of `item` says about its directory.
///
/// # Errors
/// The store did not answer.
pub fn standing(tx: &impl View, item: &WorkItemRef) -> Result<Standing, StoreError> {
    Ok(tx.item(&item.key())?.as_ref().map_or(Standing::Unknown, of))
}

fn of(item: &Item) -> Standing {
    let Some(session) = &item.session else { return Standing::Unknown };
    match session.state {
        SessionState::Closed { reason: EndReason::Stopped | EndReason::SpawnFailed, .. }
            if item.facts.open != Some(false) && !is_over(item) =>
        {
            Standing::Wanted
        }
        SessionState::Closed { .. } => Standing::Ended,
        _ => Standing::Wanted,
    }
}

/// Whether it was closed by hand: the command is cleared, as by GitHub's own close, and nobody started it since.
const fn is_over(item: &Item) -> bool {
    item.sections.control.is_none() && item.sections.ended.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::StoreId;
    use crate::domain::portable::Ended;
    use crate::domain::session::{PaneKey, Session};
    use crate::domain::time::Time;

    #[test]
    fn what_was_stopped_is_wanted_until_its_item_closes() {
        let reference = WorkItemRef::parse("github:octo/hello#7").unwrap();
        let key = PaneKey::new(&StoreId("s".into()), &reference, &reference);
        let closed = |reason| SessionState::Closed { at: Time::from_millis(1), reason };
        for (state, open, want) in [
            (SessionState::Starting, Some(true), Standing::Wanted),
            (SessionState::Closing(EndReason::Closed), Some(false), Standing::Wanted),
            (closed(EndReason::Stopped), Some(true), Standing::Wanted),
            (closed(EndReason::Stopped), Some(false), Standing::Ended),
            (closed(EndReason::Merged), None, Standing::Ended),
        ] {
            let session = Session::recorded(reference.clone(), key.clone(), "agent".into(), Time::from_millis(1));
            let mut item = Item { session: Some(Session { state, ..session }), ..Item::new(reference.clone()) };
            item.facts.open = open;
            assert_eq!(of(&item), want);
        }
        assert_eq!(of(&Item::new(reference)), Standing::Unknown);
    }

    #[test]
    fn what_was_closed_by_hand_is_over_although_its_issue_is_open() {
        let reference = WorkItemRef::parse("github:octo/hello#7").unwrap();
        let key = PaneKey::new(&StoreId("s".into()), &reference, &reference);
        let (at, reason) = (Time::from_millis(1), EndReason::Stopped);
        let session = Session::recorded(reference.clone(), key, "agent".into(), at);
        let session = Session { state: SessionState::Closed { at, reason }, ..session };
        let mut item = Item { session: Some(session), ..Item::new(reference) };
        item.facts.open = Some(true);
        assert_eq!(of(&item), Standing::Wanted);
        item.sections.ended = Some(Ended { at, reason: EndReason::Closed.as_str().to_owned() });
        assert_eq!(of(&item), Standing::Ended);
    }
}
