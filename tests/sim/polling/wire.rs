//! The way to GitHub: small pages, so that lists have several, and the faults that tests plant.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use the_loop::domain::github::{Answer, GitHub, Request, Target, Unsent};

use crate::fake_github::port::Hosts;

/// A bug of the product, as GitHub's side can imitate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    None,
    /// A list is asked for from two minutes after the latest time that was seen, as by a clock that is ahead (Q02).
    CursorAhead,
    /// What a poll lists has another identity than what a webhook brings.
    OtherIdentity,
}

/// Entries of a page.
const PAGE: &str = "per_page=20";

pub struct Wire {
    hosts: Hosts,
    bug: Bug,
    /// Requests so far.
    pub sent: AtomicU64,
}

impl Wire {
    pub fn new(hosts: Hosts, bug: Bug) -> Self {
        Self { hosts, bug, sent: AtomicU64::new(0) }
    }

    fn changed(&self, path: &str) -> String {
        let path = path.replace("per_page=100", PAGE);
        let Some((before, rest)) = path.split_once("?since=").filter(|_| self.bug == Bug::CursorAhead) else {
            return path;
        };
        let (since, rest) = rest.split_once('&').unwrap_or((rest, ""));
        let since: jiff::Timestamp = since.parse().expect("a time");
        let later = since + jiff::SignedDuration::from_secs(the_loop::domain::polling::OVERLAP_SECONDS + 120);
        format!("{before}?since={later}&{rest}")
    }
}

impl GitHub for Wire {
    fn send(&self, request: &Request) -> Result<Answer, Unsent> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        let mut request = request.clone();
        if let Target::Path(path) = &request.target {
            request.target = Target::Path(self.changed(path));
        }
        let mut answer = self.hosts.send(&request)?;
        if self.bug == Bug::OtherIdentity {
            answer.body = renumbered(&answer.body);
        }
        Ok(answer)
    }

    fn can_ask(&self, host: &str) -> Result<(), Unsent> {
        self.hosts.can_ask(host)
    }
}

/// A list in which everything that was said has another number.
fn renumbered(body: &[u8]) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else { return body.to_vec() };
    for entry in value.as_array_mut().into_iter().flatten() {
        let is_said = entry.get("body").is_some() && entry.get("title").is_none();
        if let (true, Some(id)) = (is_said, entry["id"].as_u64()) {
            (entry["id"], entry["node_id"]) = (json!(id + 900_000_000), json!(format!("XX_{id}")));
        }
    }
    value.to_string().into_bytes()
}
