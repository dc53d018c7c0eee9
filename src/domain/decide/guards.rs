//! The guards that need no work item: events rules, section 5, numbers 1 to 4.

use super::draft::Draft;
use super::view::DeliveryState;
use super::{DropReason, Verdict};
use crate::domain::event::Content;

/// Passes, or ends the decision.
pub(super) fn pass(draft: &Draft<'_>) -> Result<(), Verdict> {
    let (event, policy) = (draft.event, draft.policy);
    if !policy.events.is_empty() && !policy.events.contains(&event.name) {
        return Err(Verdict::Dropped(DropReason::DisabledEvent));
    }
    if matches!(event.content, Content::Ignored(_)) {
        return Err(Verdict::Dropped(DropReason::IgnoredAction));
    }
    if !serves_repository(draft) {
        return Err(Verdict::Dropped(DropReason::OtherRepository));
    }
    match draft.view.delivery {
        Some(DeliveryState::Decided) => Err(Verdict::Dropped(DropReason::DuplicateDelivery)),
        Some(DeliveryState::Refused | DeliveryState::Undecidable) | None => Ok(()),
    }
}

fn serves_repository(draft: &Draft<'_>) -> bool {
    let served = &draft.policy.repositories;
    served.is_empty()
        || draft
            .event
            .repository
            .as_ref()
            .is_some_and(|repository| served.iter().any(|candidate| candidate.is_same(&repository.reference)))
}
