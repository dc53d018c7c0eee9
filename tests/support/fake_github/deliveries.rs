//! Webhook deliveries: made, taken by the test, posted or dropped, listed, made again.

use std::io::{BufRead, BufReader, Error, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::FakeGitHub;
use super::state::{Hook, Repository, Seconds, stamp};
use crate::payloads::sign;

/// One delivery of one event to one hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Numeric id of this attempt.
    pub id: u64,
    /// The hook.
    pub hook: u64,
    /// The repository.
    pub repository: u64,
    /// `X-GitHub-Delivery`; the same for every attempt.
    pub guid: String,
    /// `X-GitHub-Event`.
    pub event: String,
    /// The action, when the event has one.
    pub action: Option<String>,
    /// The payload.
    pub body: String,
    /// When it was made.
    pub at: Seconds,
    /// It is a further attempt.
    pub is_redelivery: bool,
}

impl FakeGitHub {
    /// Takes what has to be delivered, oldest first. What becomes of each is said with [`FakeGitHub::delivered`].
    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.queue)
    }

    /// Says what became of a delivery: the status of the receiver's answer, 502 for one that could not be reached.
    pub fn delivered(&mut self, delivery: &Delivery, status: u16) {
        let name = self.world.repositories[&delivery.repository].full_name.clone();
        let hook = self.repo_mut(&name).hooks.iter_mut().find(|hook| hook.id == delivery.hook);
        hook.expect("the hook of a delivery").past.push((delivery.clone(), status));
        self.changed();
    }

    /// Loses a delivery on its way: the hook lists it as failed.
    pub fn lose(&mut self, delivery: &Delivery) {
        self.delivered(delivery, 502);
    }

    /// Queues an event of the repository for each of its hooks: the parts, then repository and sender, as GitHub orders
    /// them. An empty action is none.
    pub(super) fn tell(
        &mut self,
        repo: &str,
        event: &str,
        action: &str,
        login: &str,
        parts: Vec<(&'static str, Value)>,
    ) {
        self.changed();
        let here = self.repo(repo);
        let (repository, hooks) = (here.id, here.hooks.iter().map(|hook| hook.id).collect::<Vec<_>>());
        if hooks.is_empty() {
            return;
        }
        let action = Some(action.to_owned()).filter(|action| !action.is_empty());
        let mut body = serde_json::Map::new();
        body.extend(action.iter().map(|action| ("action".to_owned(), json!(action))));
        body.extend(parts.into_iter().map(|(key, value)| (key.to_owned(), value)));
        body.insert("repository".to_owned(), self.show(here).repository());
        body.insert("sender".to_owned(), self.show(here).user(login));
        let body = Value::Object(body).to_string();
        // It names the event, so all hooks of the repository see the same.
        let guid = format!("{:08x}-0000-4000-8000-{repository:012x}", self.fresh_id());
        for hook in hooks {
            let (guid, event, action, body) = (guid.clone(), event.to_owned(), action.clone(), body.clone());
            let (id, at) = (self.fresh_id(), self.now());
            self.queue.push(Delivery { id, hook, repository, guid, event, action, body, at, is_redelivery: false });
        }
    }

    /// Makes a delivery again under its GUID; whether there is such a delivery.
    pub(super) fn redeliver(&mut self, repo: &str, hook: u64, delivery: u64) -> bool {
        let hook = self.repo(repo).hooks.iter().find(|there| there.id == hook);
        let past = hook.and_then(|hook| hook.past.iter().find(|(past, _)| past.id == delivery));
        let Some((past, _)) = past.cloned() else { return false };
        let (id, at) = (self.fresh_id(), self.now());
        self.queue.push(Delivery { id, at, is_redelivery: true, ..past });
        true
    }
}

/// A hook, as the API shows it.
pub(super) fn hook(repo: &Repository, hook: &Hook, api: &str) -> Value {
    let url = format!("{api}/repos/{}/hooks/{}", repo.full_name, hook.id);
    json!({
        "type": "Repository", "id": hook.id, "name": "web", "active": true, "events": ["*"],
        "config": {"content_type": "json", "insecure_ssl": "0", "url": "https://example.com/gh-webhook"},
        "updated_at": "2025-11-01T10:00:00Z", "created_at": "2025-11-01T10:00:00Z", "url": url,
        "test_url": format!("{url}/test"), "ping_url": format!("{url}/pings"),
        "deliveries_url": format!("{url}/deliveries"),
        "last_response": {"code": null, "status": "unused", "message": null},
    })
}

/// A past delivery, as the list of its hook shows it.
pub(super) fn listed((delivery, status): &(Delivery, u16)) -> Value {
    let words = match status {
        200..=299 => "OK".to_owned(),
        502 => "failed to connect".to_owned(),
        other => format!("Invalid HTTP Response: {other}"),
    };
    json!({
        "id": delivery.id, "guid": delivery.guid, "delivered_at": stamp(delivery.at),
        "redelivery": delivery.is_redelivery, "duration": 0.27, "status": words, "status_code": status,
        "event": delivery.event, "action": delivery.action, "installation_id": null,
        "repository_id": delivery.repository, "throttled_at": null,
    })
}

/// Posts a delivery as GitHub does, signed with `secret`; says the status of the answer.
pub fn post_signed(url: &str, delivery: &Delivery, secret: &[u8]) -> Result<u16, Error> {
    let rest = url.strip_prefix("http://").ok_or_else(|| Error::other(format!("{url} is not http://")))?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(authority)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let body = delivery.body.as_bytes();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: GitHub-Hookshot/fake\r\nConnection: close\r\n\
         Content-Type: application/json\r\nX-GitHub-Event: {}\r\nX-GitHub-Delivery: {}\r\nX-GitHub-Hook-ID: {}\r\n\
         X-Hub-Signature-256: {}\r\nContent-Length: {}\r\n\r\n",
        delivery.event,
        delivery.guid,
        delivery.hook,
        sign(secret, body),
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    let mut answer = BufReader::new(stream.take(1 << 20));
    let mut line = String::new();
    answer.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| Error::other(format!("no HTTP answer: {line:?}")))
}
