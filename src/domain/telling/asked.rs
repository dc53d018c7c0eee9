//! What is asked of GitHub to tell something, and what its answers mean for that.

use serde_json::{Value, json};

use super::{Spot, What};
use crate::domain::github::{Answer, Request, Unsent, repo_path};
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

/// Node ids of the comment with `marker` on a page; empty when it is there without one.
pub fn found(page: &Answer, marker: &str) -> Option<String> {
    let comments: Vec<Value> = serde_json::from_slice(&page.body).ok()?;
    let ours = |comment: &&Value| comment["body"].as_str().is_some_and(|body| body.contains(marker));
    comments.iter().find(ours).map(node_id)
}

/// Node id and page of a comment that was just posted; empty where GitHub names none.
pub fn posted(answer: &Answer) -> (String, String) {
    let comment: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    (node_id(&comment), comment["html_url"].as_str().unwrap_or_default().to_owned())
}

fn node_id(comment: &Value) -> String {
    comment["node_id"].as_str().unwrap_or_default().to_owned()
}

/// The address of the page behind this one.
pub fn more(page: &Answer) -> Option<String> {
    let next = page.link.as_deref()?.split(',').find(|link| link.contains("rel=\"next\""))?;
    let (_, rest) = next.split_once('<')?;
    rest.split_once('>').map(|(address, _)| address.to_owned())
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// It was done.
    Done,
    /// GitHub asks to wait; this is no failure.
    Limited {
        /// Until when.
        until: Time,
    },
    /// It may work later; whether it was done, nobody knows.
    Outage(String),
    /// It will never work: no permission, or what it is about is gone.
    Never(String),
    /// There is nobody to ask at this host.
    Nobody(String),
}

/// Shortest wait where GitHub names none, seconds.
const WAIT: u64 = 60;
/// Longest wait that is believed, seconds.
const LONGEST: u64 = 3 * 3600;

/// Reads an answer, by its status alone.
///
/// This is the one place of telling that reads statuses; where answers of GitHub are read for everybody, it goes there.
pub fn read(answer: &Result<Answer, Unsent>, now: Time) -> Heard {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error @ (Unsent::NoToken { .. } | Unsent::UnknownHost { .. })) => return Heard::Nobody(error.to_string()),
        Err(error @ Unsent::Elsewhere { .. }) => return Heard::Never(error.to_string()),
        Err(error @ (Unsent::Unreachable { .. } | Unsent::TooLarge { .. })) => return Heard::Outage(error.to_string()),
    };
    match answer.status {
        200..=299 => Heard::Done,
        429 => Heard::Limited { until: until(answer, now) },
        403 if is_limit(answer) => Heard::Limited { until: until(answer, now) },
        status @ (408 | 409 | 500..=599) => Heard::Outage(format!("GitHub answered {status}")),
        401 => Heard::Never("GitHub answered 401: the token is not good".to_owned()),
        403 => Heard::Never("GitHub answered 403: the token may not do this here".to_owned()),
        status @ (404 | 410) => {
            Heard::Never(format!("GitHub answered {status}: it is gone, or the token may not see it"))
        }
        status => Heard::Never(format!("GitHub answered {status}")),
    }
}

fn is_limit(answer: &Answer) -> bool {
    let spent = answer.limit.as_ref().is_some_and(|limit| limit.remaining == 0);
    let text = String::from_utf8_lossy(&answer.body).to_ascii_lowercase();
    spent || answer.retry_after.is_some() || text.contains("rate limit")
}

fn until(answer: &Answer, now: Time) -> Time {
    let seconds = |seconds: u64| now.plus_seconds(i64::try_from(seconds.min(LONGEST)).unwrap_or(0));
    let reset = answer.limit.as_ref().filter(|limit| limit.remaining == 0).map(|limit| limit.reset);
    let named = answer.retry_after.map(seconds).or(reset).unwrap_or_else(|| seconds(WAIT));
    named.clamp(now.plus_seconds(1), seconds(LONGEST))
}
