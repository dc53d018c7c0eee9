//! Issues and pull requests as a payload shows them.

use super::payload::{HeadRef, Item, Payload, User};
use super::place;
use crate::domain::event::{Head, Ignored, Repository, Subject, SubjectKind};

/// The subject of events on an issue. Its kind comes from the object: pull requests have conversations too.
pub(super) fn of_issue(payload: &Payload, repository: &Repository) -> Result<Subject, Ignored> {
    let issue = payload.issue.as_ref().ok_or(Ignored::Incomplete)?;
    let kind = if issue.pull_request.is_some() { SubjectKind::PullRequest } else { SubjectKind::Issue };
    subject(issue, kind, issue.number, repository)
}

/// The subject of events on a pull request, by the base repository and its number, never by the head.
pub(super) fn of_pull_request(payload: &Payload, repository: &Repository) -> Result<Subject, Ignored> {
    let pull_request = payload.pull_request.as_ref().ok_or(Ignored::Incomplete)?;
    subject(pull_request, SubjectKind::PullRequest, pull_request.number.or(payload.number), repository)
}

/// The subject of a payload of any event.
pub(super) fn any_subject(payload: &Payload, repository: &Repository) -> Result<Subject, Ignored> {
    of_issue(payload, repository).or_else(|_| of_pull_request(payload, repository))
}

/// Whether a closed item was merged.
pub(super) fn merged(item: &Item) -> bool {
    let mark = item.pull_request.as_ref().and_then(|mark| mark.merged_at);
    item.merged.unwrap_or(item.merged_at.or(mark).is_some())
}

fn subject(item: &Item, kind: SubjectKind, number: Option<u64>, repository: &Repository) -> Result<Subject, Ignored> {
    let reference = number.and_then(|number| repository.reference.item(number).ok()).ok_or(Ignored::Incomplete)?;
    Ok(Subject {
        reference,
        kind,
        id: item.id.unwrap_or(0),
        title: item.title.clone().unwrap_or_default(),
        body: item.body.clone().unwrap_or_default(),
        author: User::login(item.user.as_ref()),
        labels: item.labels.iter().filter_map(|label| label.name.clone()).collect(),
        open: open(item.state.as_deref()),
        updated_at: item.updated_at,
        created_at: item.created_at,
        closed_at: item.closed_at,
        link: item.html_url.clone(),
        head: item.head.as_ref().and_then(|head| self::head(head, repository)),
    })
}

fn open(state: Option<&str>) -> Option<bool> {
    match state?.to_ascii_lowercase().as_str() {
        "open" => Some(true),
        "closed" => Some(false),
        _ => None,
    }
}

fn head(head: &HeadRef, repository: &Repository) -> Option<Head> {
    Some(Head {
        branch: head.branch.clone()?,
        sha: head.sha.as_deref()?.to_ascii_lowercase(),
        in_base_repository: head.repo.as_ref().is_some_and(|repo| place::is_here(repo, repository)),
    })
}
