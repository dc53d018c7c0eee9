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
            if item.facts.open != Some(false) =>
        {
            Standing::Wanted
        }
        SessionState::Closed { .. } => Standing::Ended,
        _ => Standing::Wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::StoreId;
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
}
