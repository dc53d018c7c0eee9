//! What only changes state: issues, pull requests and repositories.

use super::payload::{Changes, Moved, Payload, Repo};
use super::{Row, item, place};
use crate::domain::event::{Content, Fact, Ignored, ItemFact, Repository, RepositoryFact, Subject};
use crate::domain::reference::WorkItemRef;

/// `issues`; about a pull request when the object says so.
pub(super) fn issue(payload: &Payload, repository: &Repository) -> Row {
    let merged = payload.issue.as_ref().is_some_and(item::merged);
    let change = match payload.action.as_deref() {
        Some("opened") => ItemFact::Opened { transferred_from: moved_from(payload, repository) },
        Some("transferred") => ItemFact::Transferred { to: moved_to(payload, repository) },
        Some("deleted") => ItemFact::Deleted,
        other => common(other, payload, merged).ok_or(Ignored::UnlistedAction)?,
    };
    fact(item::of_issue(payload, repository)?, change)
}

/// `pull_request`.
pub(super) fn pull_request(payload: &Payload, repository: &Repository) -> Row {
    let merged = payload.pull_request.as_ref().is_some_and(item::merged);
    let change = match payload.action.as_deref() {
        Some("opened") => ItemFact::Opened { transferred_from: None },
        Some("edited") => ItemFact::Edited,
        Some("ready_for_review") => ItemFact::ReadyForReview,
        other => common(other, payload, merged).ok_or(Ignored::UnlistedAction)?,
    };
    fact(item::of_pull_request(payload, repository)?, change)
}

/// An issue or pull request in the state that a list shows.
pub(super) fn shown(payload: &Payload, repository: &Repository) -> Row {
    let object = payload.issue.as_ref().or(payload.pull_request.as_ref());
    let merged = object.is_some_and(item::merged);
    fact(item::any_subject(payload, repository)?, ItemFact::Shown { merged })
}

/// The actions issues and pull requests share.
fn common(action: Option<&str>, payload: &Payload, merged: bool) -> Option<ItemFact> {
    let label = || payload.label.as_ref().and_then(|label| label.name.clone());
    match action? {
        "labeled" => Some(ItemFact::Labeled(label())),
        "unlabeled" => Some(ItemFact::Unlabeled(label())),
        "closed" => Some(ItemFact::Closed { merged }),
        "reopened" => Some(ItemFact::Reopened),
        _ => None,
    }
}

fn fact(subject: Subject, change: ItemFact) -> Row {
    Ok(Content::Fact(Box::new(Fact::Item { subject, change })))
}

fn moved_from(payload: &Payload, here: &Repository) -> Option<(WorkItemRef, u64)> {
    let Changes { old_issue, old_repository, .. } = payload.changes.as_ref()?;
    other_end(old_issue.as_ref()?, old_repository.as_ref()?, here)
}

fn moved_to(payload: &Payload, here: &Repository) -> Option<(WorkItemRef, u64)> {
    let Changes { new_issue, new_repository, .. } = payload.changes.as_ref()?;
    other_end(new_issue.as_ref()?, new_repository.as_ref()?, here)
}

fn other_end(issue: &Moved, repo: &Repo, here: &Repository) -> Option<(WorkItemRef, u64)> {
    let reference = place::beside(repo, here)?.item(issue.number?).ok()?;
    Some((reference, issue.id.unwrap_or(0)))
}

/// `repository`: renamed, transferred, deleted.
pub(super) fn repository(payload: &Payload, repository: &Repository) -> Row {
    let changes = payload.changes.as_ref();
    let change = match payload.action.as_deref() {
        Some("renamed") => {
            let name = changes.and_then(|c| c.repository.as_ref()?.name.as_ref()?.from.as_deref());
            RepositoryFact::Renamed { from: former(repository, None, name)? }
        }
        Some("transferred") => {
            let owner = changes.and_then(|c| c.owner.as_ref()?.from.as_ref());
            let owner = owner.and_then(|from| from.user.as_ref().or(from.organization.as_ref())?.login.as_deref());
            RepositoryFact::Transferred { from: former(repository, owner, None)? }
        }
        Some("deleted") => RepositoryFact::Deleted,
        _ => return Err(Ignored::UnlistedAction),
    };
    Ok(Content::Fact(Box::new(Fact::Repository(change))))
}

fn former(
    here: &Repository,
    owner: Option<&str>,
    name: Option<&str>,
) -> Result<crate::domain::reference::RepoRef, Ignored> {
    if owner.is_none() && name.is_none() {
        return Err(Ignored::Incomplete);
    }
    place::formerly(here, owner, name).ok_or(Ignored::Incomplete)
}
