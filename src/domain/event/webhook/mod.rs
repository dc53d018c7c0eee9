//! From GitHub's payloads to [`Event`]: the table of the events rules, section 3.
//!
//! `payload` reads the keys we need, `place` finds the repository, `item` shows issues and pull requests, `speech` and
//! `checks` make what is said, `facts` what only changes state. Whatever is unknown is ignored with a reason; nothing
//! here fails, since GitHub adds events, actions and keys without notice.

use super::body::CheckedJson;
use super::listed::SHOWN;
use super::{Content, Event, Ignored, Repository, SubjectKind};
use crate::domain::ids::DeliveryId;
use crate::domain::reference::WorkItemRef;

mod checks;
mod facts;
mod item;
mod payload;
mod place;
mod speech;
#[cfg(test)]
mod tests;

use payload::{Payload, User};

/// What a row makes of a payload.
type Row = Result<Content, Ignored>;

/// The event a payload is, under GitHub's event name `name`.
pub fn normalise(name: &str, delivery: DeliveryId, json: &CheckedJson<'_>) -> Event {
    event(name, delivery, read(json), content)
}

/// The event that something listed is: as [`normalise`], and it may show the state of an item.
pub fn normalise_listed(name: &str, delivery: DeliveryId, json: &CheckedJson<'_>) -> Event {
    event(name, delivery, read(json), |name, payload, repository| match (payload.action.as_deref(), repository) {
        (Some(SHOWN), Some(repository)) => facts::shown(payload, repository),
        _ => content(name, payload, repository),
    })
}

fn event(
    name: &str,
    delivery: DeliveryId,
    payload: Payload,
    content: impl Fn(&str, &Payload, Option<&Repository>) -> Row,
) -> Event {
    let repository = place::repository(&payload);
    let content = content(name, &payload, repository.as_ref()).unwrap_or_else(Content::Ignored);
    Event {
        name: name.to_owned(),
        sender: User::login(payload.sender.as_ref()),
        action: payload.action,
        delivery,
        repository,
        content,
    }
}

/// The issue or pull request a payload is about, whatever happened to it: for the log, ignored events included.
pub fn item_named(json: &CheckedJson<'_>) -> Option<(WorkItemRef, SubjectKind)> {
    let payload = read(json);
    let repository = place::repository(&payload)?;
    let subject = item::any_subject(&payload, &repository).ok()?;
    Some((subject.reference, subject.kind))
}

/// Every key is optional and of any type, so a text that is one JSON object can always be read.
fn read(json: &CheckedJson<'_>) -> Payload {
    json.parse().unwrap_or_default()
}

fn content(name: &str, payload: &Payload, repository: Option<&Repository>) -> Row {
    let row: fn(&Payload, &Repository) -> Row = match name {
        "ping" => return Err(Ignored::Ping),
        "issue_comment" => speech::comment,
        "pull_request_review_comment" => speech::review_comment,
        "pull_request_review" => speech::review,
        "issues" => facts::issue,
        "pull_request" => facts::pull_request,
        "check_run" => checks::check_run,
        "status" => checks::status,
        "workflow_run" => checks::workflow_run,
        "repository" => facts::repository,
        _ => return Err(Ignored::UnknownEvent),
    };
    match repository {
        Some(repository) => row(payload, repository),
        None => Err(Ignored::Incomplete),
    }
}
