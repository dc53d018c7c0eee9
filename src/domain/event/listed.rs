//! What GitHub's lists hold, in the shape of its webhooks: one reader for both, and so one identity.

use serde_json::{Map, Value, json};

use crate::domain::time::Time;

/// Something listed, as a webhook would have told it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// GitHub's event name.
    pub name: &'static str,
    /// The payload.
    pub payload: Value,
}

/// The action that stands for the state a list shows; no webhook has it.
pub const SHOWN: &str = "listed";

/// A comment in the conversation of `issue`, which may be a pull request. Whoever wrote it sent it. One that was edited
/// is no longer what was said: who edited it is not told.
pub fn comment(repository: &Value, issue: &Value, comment: &Value) -> Listed {
    said("issue_comment", repository, ("issue", issue), comment)
}

/// A comment on a line of a diff.
pub fn review_comment(repository: &Value, pull_request: &Value, comment: &Value) -> Listed {
    said("pull_request_review_comment", repository, ("pull_request", pull_request), comment)
}

fn said(name: &'static str, repository: &Value, about: (&str, &Value), comment: &Value) -> Listed {
    let (created, updated) = (comment.get("created_at"), comment.get("updated_at").filter(|at| !at.is_null()));
    let action = if updated.is_none() || updated == created { "created" } else { "edited" };
    let mut payload = payload(action, repository, comment.get("user"));
    payload.insert(about.0.to_owned(), about.1.clone());
    payload.insert("comment".into(), comment.clone());
    Listed { name, payload: payload.into() }
}

/// A review; `None` for one that is not submitted, or no longer what was submitted.
pub fn review(repository: &Value, pull_request: &Value, review: &Value) -> Option<Listed> {
    let state = review.get("state").and_then(Value::as_str).unwrap_or_default();
    if state.eq_ignore_ascii_case("pending") || state.eq_ignore_ascii_case("dismissed") {
        return None;
    }
    let mut payload = payload("submitted", repository, review.get("user"));
    payload.insert("pull_request".into(), pull_request.clone());
    payload.insert("review".into(), review.clone());
    Some(Listed { name: "pull_request_review", payload: payload.into() })
}

/// A check run that has ended; `None` for one that has not.
pub fn check_run(repository: &Value, run: &Value) -> Option<Listed> {
    let ended = run.get("status").and_then(Value::as_str) == Some("completed");
    let mut payload = payload("completed", repository, None);
    payload.insert("check_run".into(), run.clone());
    ended.then(|| Listed { name: "check_run", payload: payload.into() })
}

/// A status of the commit `sha`.
pub fn status(repository: &Value, sha: &str, status: &Value) -> Listed {
    let mut payload = status.as_object().cloned().unwrap_or_default();
    payload.insert("sha".into(), sha.into());
    payload.insert("repository".into(), repository.clone());
    Listed { name: "status", payload: payload.into() }
}

/// An issue or pull request in the state it has now. Nobody in particular did that; where a rule asks who, it is whoever
/// opened it.
pub fn shown(repository: &Value, object: &Value) -> Listed {
    let mut payload = payload(SHOWN, repository, object.get("user"));
    // An object of the list of issues has no head even where it is a pull request.
    let (name, key) = match object.get("head").is_some() {
        true => ("pull_request", "pull_request"),
        false => ("issues", "issue"),
    };
    payload.insert(key.into(), object.clone());
    Listed { name, payload: payload.into() }
}

/// The repository a payload names.
pub fn repository(host: &str, full_name: &str, id: u64) -> Value {
    json!({"id": id, "full_name": full_name, "html_url": format!("https://{host}/{full_name}")})
}

fn payload(action: &str, repository: &Value, sender: Option<&Value>) -> Map<String, Value> {
    let mut payload = Map::new();
    payload.insert("action".into(), action.into());
    payload.insert("repository".into(), repository.clone());
    payload.insert("sender".into(), sender.cloned().unwrap_or(Value::Null));
    payload
}

/// Whether what a list of issues shows is a pull request.
pub fn is_pull(object: &Value) -> bool {
    object.get("pull_request").is_some_and(|mark| !mark.is_null())
}

/// When something listed changed last; what does not say so has not changed since it was made.
pub fn changed_at(entry: &Value) -> Option<Time> {
    let time = |key: &str| Time::parse(entry.get(key)?.as_str()?).ok();
    time("updated_at").or_else(|| time("created_at"))
}

/// The number of the issue or pull request that a listed comment belongs to: the end of its `issue_url` or
/// `pull_request_url`.
pub fn number_of(comment: &Value) -> Option<u64> {
    let url = ["issue_url", "pull_request_url"].iter().find_map(|key| comment.get(key)?.as_str())?;
    url.rsplit('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_without_a_value_says_no_more_than_none() {
        assert!(!is_pull(&json!({"number": 7})) && !is_pull(&json!({"number": 7, "pull_request": null})));
        assert!(is_pull(&json!({"number": 7, "pull_request": {}})));
        let changed = |entry: Value| changed_at(&entry).map(|at| at.to_string());
        let (made, later) = ("2026-03-02T08:15:30Z", "2026-03-02T08:15:31Z");
        assert_eq!(changed(json!({"created_at": made, "updated_at": null})).as_deref(), Some(made));
        assert_eq!(changed(json!({"created_at": made, "updated_at": later})).as_deref(), Some(later));
        assert_eq!(changed(json!({"created_at": null})), None);
        let action = |said: Value| comment(&Value::Null, &Value::Null, &said).payload["action"].clone();
        assert_eq!(action(json!({"created_at": "a", "updated_at": null})), "created");
        assert_eq!(action(json!({"created_at": "a", "updated_at": "a"})), "created");
        assert_eq!(action(json!({"created_at": "a", "updated_at": "b"})), "edited");
    }
}
