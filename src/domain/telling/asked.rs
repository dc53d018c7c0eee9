//! What is asked of GitHub to tell something, and what its answers mean for that.

use serde_json::{Value, json};

use super::{Spot, What};
use crate::domain::github::{Answer, Reading, Request, Seen, Trouble, Unsent, read, repo_path};
use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

/// How long before a tell was decided its comment is looked for, seconds: clocks differ, and so may stores of one id.
const BEFORE: i64 = 24 * 3600;

/// The first page of the comments on `about` among which one that was decided at `decided` would be.
pub fn look_up(about: &WorkItemRef, decided: Time) -> Request {
    let since = decided.plus_seconds(-BEFORE);
    let path = format!("{}/issues/{}/comments?since={since}&per_page=100", repo_path(about.repo()), about.number());
    Request::get(about.repo().host(), path)
}

/// The request that tells; `body` is the comment as it is posted, where it is one.
pub fn put(about: &WorkItemRef, what: &What, body: &str) -> Request {
    let repo = repo_path(about.repo());
    let (path, json) = match what {
        What::Reaction { on, content } => {
            let path = match on {
                Spot::Comment(id) => format!("{repo}/issues/comments/{id}/reactions"),
                Spot::ReviewComment(id) => format!("{repo}/pulls/comments/{id}/reactions"),
            };
            (path, json!({ "content": content.as_str() }))
        }
        What::Words { .. } => (format!("{repo}/issues/{}/comments", about.number()), json!({ "body": body })),
    };
    Request::post(about.repo().host(), path, json)
}

/// Node id of the comment with `marker` on a page; empty when it is there without one.
pub fn found(page: &Value, marker: &str) -> Option<String> {
    let ours = |comment: &&Value| comment["body"].as_str().is_some_and(|body| body.contains(marker));
    page.as_array()?.iter().find(ours).map(node_id)
}

/// Node id and page of a comment that was just posted; empty where GitHub names none.
pub fn posted(comment: &Value) -> (String, String) {
    (node_id(comment), comment["html_url"].as_str().unwrap_or_default().to_owned())
}

fn node_id(comment: &Value) -> String {
    comment["node_id"].as_str().unwrap_or_default().to_owned()
}

/// Why something was not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Untold {
    /// GitHub asks to wait; this is no failure.
    Limited {
        /// Until when.
        until: Time,
        /// What was said.
        trouble: Trouble,
    },
    /// It may work later; whether it was done, nobody knows.
    Outage(Trouble),
    /// It will never work: no permission, or what it is about is gone.
    Never(Trouble),
    /// There is nobody to ask at this host.
    Nobody(Trouble),
}

/// Wait where GitHub names none, seconds.
const WAIT: i64 = 60;
/// Longest wait that is believed, seconds: windows last an hour, and clocks differ.
const LONGEST: i64 = 3 * 3600;

/// What `host` answered to what was told or looked up.
///
/// # Errors
/// It was not done, or nobody knows.
pub fn heard(host: &str, answer: &Result<Answer, Unsent>, now: Time) -> Result<Value, Untold> {
    let answer = answer.as_ref().map_err(|unsent| Trouble::from(unsent.clone()));
    match answer.and_then(|answer| read(host, answer)) {
        Ok(Reading::Fresh(document)) => Ok(document),
        // Nothing was asked conditionally, so something between here and there answered.
        Ok(Reading::Unchanged) => Err(Untold::Outage(odd(host, 304, "nothing was asked conditionally"))),
        Err(trouble) => Err(untold(trouble, now)),
    }
}

/// As [`heard`], of a list of comments: what is none says nothing of what is there.
///
/// # Errors
/// As [`heard`].
pub fn heard_page(host: &str, answer: &Result<Answer, Unsent>, now: Time) -> Result<Value, Untold> {
    let page = heard(host, answer, now)?;
    let status = answer.as_ref().map_or(0, |answer| answer.status);
    if page.is_array() { Ok(page) } else { Err(Untold::Outage(odd(host, status, "the page is no list"))) }
}

/// As [`heard`], of a comment that was posted: only a comment shows that it stands there.
///
/// # Errors
/// As [`heard`].
pub fn heard_comment(host: &str, answer: &Result<Answer, Unsent>, now: Time) -> Result<Value, Untold> {
    let made = heard(host, answer, now)?;
    let status = answer.as_ref().map_or(0, |answer| answer.status);
    if made["id"].is_u64() || made["node_id"].is_string() {
        Ok(made)
    } else {
        Err(Untold::Outage(odd(host, status, "it is no comment")))
    }
}

fn odd(host: &str, status: u16, what: &str) -> Trouble {
    Trouble::Odd { host: host.to_owned(), what: what.to_owned(), seen: Seen { status, request_id: None } }
}

fn untold(trouble: Trouble, now: Time) -> Untold {
    match trouble {
        Trouble::Limited { until, .. } => {
            let until = until.at(now).unwrap_or_else(|| now.plus_seconds(WAIT));
            Untold::Limited { until: until.clamp(now.plus_seconds(1), now.plus_seconds(LONGEST)), trouble }
        }
        trouble @ (Trouble::Outage { .. } | Trouble::Unsent(Unsent::Unreachable { .. } | Unsent::TooLarge { .. })) => {
            Untold::Outage(trouble)
        }
        trouble @ Trouble::Unsent(Unsent::NoToken { .. } | Unsent::UnknownHost { .. }) => Untold::Nobody(trouble),
        trouble => Untold::Never(trouble),
    }
}
