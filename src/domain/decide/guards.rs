//! The guards that need no work item: events rules, section 5, numbers 1 to 4.

use super::draft::Draft;
use super::view::DeliveryState;
use super::{DropReason, Verdict, moves};
use crate::domain::event::{Content, Fact, Repository, RepositoryFact};
use crate::domain::names::Names;
use crate::domain::reference::RepoRef;

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
        _ if is_of_another_repository(draft) => Err(Verdict::Refused(DropReason::OtherRepository)),
        Some(DeliveryState::Refused | DeliveryState::Undecidable) | None => Ok(()),
    }
}

/// A repository is served when it is listed under any of its names: a rename upstream changes no configuration.
fn serves_repository(draft: &Draft<'_>) -> bool {
    let Some(repository) = &draft.event.repository else { return draft.policy.repositories.is_empty() };
    let former = draft.view.names.iter().flat_map(Names::all);
    let before = match &draft.event.content {
        Content::Fact(fact) => match fact.as_ref() {
            Fact::Repository(RepositoryFact::Renamed { from } | RepositoryFact::Transferred { from }) => Some(from),
            _ => None,
        },
        _ => None,
    };
    std::iter::once(&repository.reference).chain(former).chain(before).any(|name| serves(draft, name))
}

/// Whether `repository` is among those we serve.
pub(super) fn serves(draft: &Draft<'_>, repository: &RepoRef) -> bool {
    let served = &draft.policy.repositories;
    served.is_empty() || served.iter().any(|candidate| candidate.is_same(repository))
}

/// Whether the name belongs to another repository by now than the one whose live record it would reach. Where ours went
/// nobody said, so the record stays as it is and gets nothing that is not its own.
fn is_of_another_repository(draft: &Draft<'_>) -> bool {
    let Some(Repository { reference, id }) = &draft.event.repository else { return false };
    if matches!(&draft.event.content, Content::Fact(fact) if matches!(fact.as_ref(), Fact::Repository(_))) {
        return false;
    }
    draft.view.items.values().any(|known| {
        let item = &known.item;
        let here = item.reference.repo().is_same(reference);
        here && item.live_session().is_some() && !moves::is_of_repository(item, *id)
    })
}
