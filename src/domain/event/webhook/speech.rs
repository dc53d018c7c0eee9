//! Comments, review comments and reviews: what people say.

use super::payload::{Comment, Payload, User};
use super::{Row, item, place};
use crate::domain::event::{Content, Fact, Form, Ignored, Repository, Speech, Subject};

/// `issue_comment`: on an issue, or in a pull request's conversation.
pub(super) fn comment(payload: &Payload, repository: &Repository) -> Row {
    said_or_withdrawn(
        payload,
        || item::of_issue(payload, repository),
        |subject, comment| speech(comment, "comment", Form::Comment, subject, repository),
    )
}

/// `pull_request_review_comment`: on a line of a diff.
pub(super) fn review_comment(payload: &Payload, repository: &Repository) -> Row {
    said_or_withdrawn(
        payload,
        || item::of_pull_request(payload, repository),
        |subject, comment| {
            let form = Form::ReviewComment {
                path: comment.path.clone().unwrap_or_default(),
                line: comment.line,
                hunk: comment.diff_hunk.clone().unwrap_or_default(),
            };
            speech(comment, "review_comment", form, subject, repository)
        },
    )
}

/// Only what was just created speaks: an edit may neither run its command again nor burn the identity.
fn said_or_withdrawn(
    payload: &Payload,
    subject: impl Fn() -> Result<Subject, Ignored>,
    said: impl Fn(Subject, &Comment) -> Row,
) -> Row {
    match payload.action.as_deref() {
        Some("created") => said(subject()?, payload.comment.as_ref().ok_or(Ignored::Incomplete)?),
        Some("deleted") => withdrawn(subject()?),
        _ => Err(Ignored::UnlistedAction),
    }
}

fn speech(comment: &Comment, kind: &str, form: Form, subject: Subject, repository: &Repository) -> Row {
    let id = comment.id.ok_or(Ignored::Incomplete)?;
    Ok(Content::Speech(Box::new(Speech {
        identity: place::identity(repository, kind, &id.to_string()),
        node_id: node_id(comment.node_id.as_deref()),
        author: User::login(comment.user.as_ref()),
        text: comment.body.clone().unwrap_or_default(),
        created_at: comment.created_at,
        link: comment.html_url.clone(),
        form,
        subject: Some(subject),
    })))
}

/// `pull_request_review`: submitted with words or a verdict. One without `submitted_at` is still being written.
pub(super) fn review(payload: &Payload, repository: &Repository) -> Row {
    match payload.action.as_deref() {
        Some("submitted") => {}
        Some("dismissed") => return withdrawn(item::of_pull_request(payload, repository)?),
        _ => return Err(Ignored::UnlistedAction),
    }
    let review = payload.review.as_ref().ok_or(Ignored::Incomplete)?;
    let state = review.state.as_deref().unwrap_or("commented").to_ascii_lowercase();
    let text = review.body.clone().unwrap_or_default();
    let speaks = !text.trim().is_empty() || matches!(state.as_str(), "approved" | "changes_requested");
    if review.submitted_at.is_none() || state == "pending" || !speaks {
        return Err(Ignored::EmptyReview);
    }
    let id = review.id.ok_or(Ignored::Incomplete)?;
    Ok(Content::Speech(Box::new(Speech {
        identity: place::identity(repository, "review", &id.to_string()),
        node_id: node_id(review.node_id.as_deref()),
        author: User::login(review.user.as_ref()),
        text,
        created_at: review.submitted_at,
        link: review.html_url.clone(),
        form: Form::Review { state },
        subject: Some(item::of_pull_request(payload, repository)?),
    })))
}

fn withdrawn(subject: Subject) -> Row {
    Ok(Content::Fact(Box::new(Fact::Withdrawn { subject })))
}

/// GitHub's node id; what cannot be one is left out, since it would stand in a tracked file.
fn node_id(text: Option<&str>) -> Option<String> {
    let is_one = |text: &&str| (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    text.filter(is_one).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::node_id;

    #[test]
    fn what_is_no_node_id_does_not_come_into_a_tracked_file() {
        assert_eq!(node_id(Some("IC_kwDO9001==")).as_deref(), Some("IC_kwDO9001=="));
        for odd in [None, Some(""), Some("a b"), Some("\u{1b}[2J"), Some("ü"), Some("x".repeat(129).as_str())] {
            assert_eq!(node_id(odd), None, "{odd:?}");
        }
    }
}
