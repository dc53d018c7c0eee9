//! Fake GitHubs behind the product's port, without a socket: for the simulation and for tests of use cases.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use the_loop::domain::github::{Answer, GitHub, Limit, Method, Request, Target, Unsent};
use the_loop::domain::time::Time;

use super::{Answered, Asked, FakeGitHub};

/// Redirects followed for one request.
const REDIRECTS: usize = 3;

/// Hosts by name, each with its GitHub and the token we have for it.
#[derive(Clone, Default)]
pub struct Hosts {
    hosts: BTreeMap<String, (Arc<Mutex<FakeGitHub>>, Option<String>)>,
}

impl Hosts {
    /// `host` is `fake`, and we have this token for it.
    #[must_use]
    pub fn with(mut self, host: &str, fake: &Arc<Mutex<FakeGitHub>>, token: Option<&str>) -> Self {
        self.hosts.insert(host.to_owned(), (Arc::clone(fake), token.map(str::to_owned)));
        self
    }

    fn host(&self, host: &str) -> Result<(&Arc<Mutex<FakeGitHub>>, &str), Unsent> {
        let unknown = || Unsent::UnknownHost { host: host.to_owned() };
        let (fake, token) = self.hosts.get(host).ok_or_else(unknown)?;
        Ok((fake, token.as_deref().ok_or_else(|| Unsent::NoToken { host: host.to_owned(), unusable: None })?))
    }
}

impl GitHub for Hosts {
    fn send(&self, request: &Request) -> Result<Answer, Unsent> {
        let (fake, token) = self.host(&request.host)?;
        let mut fake = fake.lock().unwrap_or_else(PoisonError::into_inner);
        let mut asked = asked(request, token, &fake)?;
        for _ in 0..REDIRECTS {
            let answered = fake.answer(&asked);
            if answered.is_lost {
                let why = "the connection was closed".to_owned();
                return Err(Unsent::Unreachable { host: request.host.clone(), why });
            }
            match answered.header("Location").filter(|_| matches!(answered.status, 301 | 307)) {
                Some(to) => asked.path_and_query = below(to, &request.host, &fake)?,
                None => return Ok(answer(answered)),
            }
        }
        Err(Unsent::Unreachable { host: request.host.clone(), why: "it redirects in circles".to_owned() })
    }

    fn can_ask(&self, host: &str) -> Result<(), Unsent> {
        self.host(host).map(|_| ())
    }
}

fn asked(request: &Request, token: &str, fake: &FakeGitHub) -> Result<Asked, Unsent> {
    let base = below(fake.api(), &request.host, fake)?;
    let base = base.trim_end_matches('/');
    let path_and_query = match &request.target {
        Target::Path(path) => format!("{base}{path}"),
        Target::Link(link) => below(link, &request.host, fake)?,
        Target::GraphQl if base.is_empty() => "/graphql".to_owned(),
        Target::GraphQl => "/api/graphql".to_owned(),
    };
    let mut headers = vec![("Authorization".to_owned(), format!("Bearer {token}"))];
    headers.extend(request.etag.clone().map(|etag| ("If-None-Match".to_owned(), etag)));
    Ok(Asked {
        method: if request.method == Method::Get { "GET" } else { "POST" }.to_owned(),
        path_and_query,
        headers,
        body: request.body.as_ref().map(|body| body.to_string().into_bytes()).unwrap_or_default(),
    })
}

/// Path and query of an address of this GitHub's API.
fn below(url: &str, host: &str, fake: &FakeGitHub) -> Result<String, Unsent> {
    let origin = |url: &str| url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    let theirs = origin(url);
    if theirs != origin(fake.api()) {
        return Err(Unsent::Elsewhere { host: host.to_owned(), origin: theirs });
    }
    let rest = &url[theirs.len()..];
    Ok(if rest.is_empty() { "/".to_owned() } else { rest.to_owned() })
}

fn answer(answered: Answered) -> Answer {
    let text = |name: &str| answered.header(name).map(str::to_owned);
    let number = |name: &str| answered.header(name).and_then(|text| text.parse::<u64>().ok());
    let seconds = |at: u64| Time::from_millis(i64::try_from(at).unwrap_or(0) * 1000);
    let limit = match (number("X-RateLimit-Limit"), number("X-RateLimit-Remaining"), number("X-RateLimit-Reset")) {
        (Some(limit), Some(remaining), Some(reset)) => {
            let resource = text("X-RateLimit-Resource").unwrap_or_default();
            Some(Limit { limit, remaining, reset: seconds(reset), resource })
        }
        _ => None,
    };
    let date = answered.header("Date").and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
    Answer {
        status: answered.status,
        etag: text("ETag"),
        link: text("Link"),
        date: date.map(|date| Time::from_millis(date.timestamp().as_millisecond())),
        retry_after: number("Retry-After"),
        limit,
        request_id: text("X-GitHub-Request-Id"),
        scopes: text("X-OAuth-Scopes"),
        body: answered.body,
    }
}
