//! What is asked of GitHub's API and what it answers, as values (events rules, sections 2, 4 and 12). Pure.
//!
//! An adapter carries a [`Request`] to the host it names and nowhere else; everything that an [`Answer`] means is read
//! here.

mod budget;
mod graphql;
mod headers;
mod links;
mod meaning;
mod pause;
mod permission;
mod trouble;
mod validators;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use budget::{Budget, Purpose, reserve};
pub use graphql::graphql;
pub use headers::http_date;
pub use links::next_link;
pub use meaning::{Reading, read};
pub use pause::{LastTrouble, Pause};
pub use permission::Permission;
pub use trouble::{Refusal, Seen, Trouble, Until};
pub use validators::{Validator, Validators};

use super::reference::RepoRef;
use super::time::Time;

/// One question to one host.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Whom it is for, as in a reference: `github.com`, `ghe.example:8443`. Decides the address and the token.
    pub host: String,
    /// How.
    pub method: Method,
    /// What.
    pub target: Target,
    /// The validator of an earlier answer: what did not change since is answered with 304.
    pub etag: Option<String>,
    /// The JSON that goes along.
    pub body: Option<Value>,
}

/// The methods we use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Adds.
    Post,
}

/// What is asked of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Below the REST API's base, beginning with `/`: `/repos/octo/hello/issues?state=all`.
    Path(String),
    /// A whole address out of a `Link` header. Sent only when it is of the origin of the host's own API.
    Link(String),
    /// The GraphQL endpoint of the host.
    GraphQl,
}

impl Request {
    /// Reads `path` of the API of `host`.
    pub fn get(host: &str, path: impl Into<String>) -> Self {
        Self { host: host.to_owned(), method: Method::Get, target: Target::Path(path.into()), etag: None, body: None }
    }

    /// Adds `body` at `path` of the API of `host`.
    pub fn post(host: &str, path: impl Into<String>, body: Value) -> Self {
        Self { method: Method::Post, body: Some(body), ..Self::get(host, path) }
    }

    /// Asks the GraphQL endpoint of `host`.
    pub fn graphql(host: &str, query: &str, variables: Value) -> Self {
        let body = serde_json::json!({"query": query, "variables": variables});
        Self { target: Target::GraphQl, ..Self::post(host, "", body) }
    }

    /// The same question, answered with 304 when nothing changed since the answer that carried `etag`.
    #[must_use]
    pub fn unless(self, etag: Option<String>) -> Self {
        Self { etag, ..self }
    }
}

/// `/repos/<owner>/<name>`.
pub fn repo_path(repository: &RepoRef) -> String {
    format!("/repos/{}/{}", repository.owner(), repository.name())
}

/// What a host answered, whatever its status.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// HTTP status; redirects within the host's own API were followed.
    pub status: u16,
    /// `ETag`.
    pub etag: Option<String>,
    /// `Link`, as it came.
    pub link: Option<String>,
    /// `Date`: the host's clock.
    pub date: Option<Time>,
    /// `Retry-After`, seconds.
    pub retry_after: Option<u64>,
    /// The rate limit, when the host counts.
    pub limit: Option<Limit>,
    /// `X-GitHub-Request-Id`.
    pub request_id: Option<String>,
    /// `X-OAuth-Scopes`, when the token has scopes.
    pub scopes: Option<String>,
    /// The body, as it came.
    pub body: Vec<u8>,
}

/// The `X-RateLimit-*` headers of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Requests per window.
    pub limit: u64,
    /// Requests left in this one.
    pub remaining: u64,
    /// When the next begins.
    pub reset: Time,
    /// `core`, `graphql`, …
    pub resource: String,
}

/// Why a request got no answer at all. Never holds a token, a body or a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsent {
    /// No token is configured or found for this host: nothing was sent.
    #[error("there is no token for `{host}`{}", unusable.as_ref().map_or_else(String::new, |name| format!(": what `{name}` holds is none")))]
    NoToken {
        /// The host.
        host: String,
        /// The variable that was to hold it and holds something else.
        unusable: Option<String>,
    },
    /// The host is neither github.com nor configured under `github.hosts`: nothing was sent.
    #[error("`{host}` is not configured under `github.hosts`")]
    UnknownHost {
        /// The host.
        host: String,
    },
    /// A link or a redirect leads to another origin, where the token must not go: nothing was sent there.
    #[error("`{host}` refers to another address, {origin}, where its token must not go")]
    Elsewhere {
        /// The host that was asked.
        host: String,
        /// Scheme, host and port it refers to; nothing else of the address.
        origin: String,
    },
    /// No connection, a time-out, or an answer cut short. Whether a `POST` was done, nobody knows.
    #[error("`{host}` does not answer: {why}")]
    Unreachable {
        /// The host.
        host: String,
        /// Why, for people.
        why: String,
    },
    /// The answer is larger than we read.
    #[error("`{host}` answered more than {limit} bytes")]
    TooLarge {
        /// The host.
        host: String,
        /// The most we read.
        limit: u64,
    },
}

/// Whoever can ask GitHub.
pub trait GitHub: Send + Sync {
    /// Sends one request and waits for its answer, bounded by deadlines.
    ///
    /// # Errors
    /// There was no answer; see [`Unsent`].
    fn send(&self, request: &Request) -> Result<Answer, Unsent>;

    /// Whether there is somebody to ask at `host`: it is known and has a token. Asks nobody over the network.
    ///
    /// # Errors
    /// [`Unsent::NoToken`] or [`Unsent::UnknownHost`].
    fn can_ask(&self, host: &str) -> Result<(), Unsent>;

    /// The same by what is known already, at once: looking for a token may take a moment, and a delivery waits for none.
    fn may_ask(&self, host: &str) -> bool {
        self.can_ask(host).is_ok()
    }
}

/// Where nobody can be asked: no token anywhere.
impl GitHub for () {
    fn send(&self, request: &Request) -> Result<Answer, Unsent> {
        Err(Unsent::NoToken { host: request.host.clone(), unusable: None })
    }

    fn can_ask(&self, host: &str) -> Result<(), Unsent> {
        Err(Unsent::NoToken { host: host.to_owned(), unusable: None })
    }
}
