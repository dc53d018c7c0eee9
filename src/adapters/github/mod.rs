//! GitHub's API over HTTP: one blocking request, under deadlines, to the host it is for and nowhere else.

mod address;
mod exchange;
mod token;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::time::{Duration, Instant};

use address::{Base, Outside};
use exchange::Client;
use token::Source;
pub use token::Token;

use crate::domain::config::GithubConfig;
use crate::domain::github::{Answer, GitHub, Method, Request, Unsent};
use crate::domain::reference::DEFAULT_HOST;

/// Most redirects that are followed for one request.
const REDIRECTS: usize = 3;

/// How long things may take and how large they may be.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Until a connection stands, its proxy and TLS included.
    pub connect: Duration,
    /// Until the last byte of the answer, redirects included.
    pub whole: Duration,
    /// Largest body of an answer, bytes, uncompressed.
    pub body: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), whole: Duration::from_secs(30), body: 32 * 1024 * 1024 }
    }
}

/// An `apiUrl` that no token may be sent to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the API of `{host}` is at no `https://` address (`http://` only on this machine)")]
pub struct BadApiUrl {
    host: String,
}

/// The configured hosts, each with its own address and its own token.
pub struct GitHubHttp {
    /// By lower-case name.
    hosts: BTreeMap<String, Host>,
    client: Client,
}

struct Host {
    /// As it is configured, for people.
    name: String,
    base: Base,
    source: Source,
}

impl GitHubHttp {
    /// The hosts of `config`, with tokens out of `environment`. Asks nobody yet.
    ///
    /// # Errors
    /// An address that a token must not go to.
    pub fn new(config: &GithubConfig, environment: &[(OsString, OsString)], bounds: Bounds) -> Result<Self, BadApiUrl> {
        let host = |name: &str, api_url: &str, variables: &[String]| {
            let usual = format!("https://{name}/api/v3");
            let base = Base::parse(if api_url.is_empty() { &usual } else { api_url });
            let base = base.ok_or_else(|| BadApiUrl { host: name.to_owned() })?;
            let source = Source::of(name, variables, environment);
            Ok((name.to_ascii_lowercase(), Host { name: name.to_owned(), base, source }))
        };
        let own = std::iter::once(host(DEFAULT_HOST, &config.api_url, &config.token_env));
        let others = config.hosts.iter().map(|(name, other)| host(name, &other.api_url, &other.token_env));
        Ok(Self { hosts: own.chain(others).collect::<Result<_, _>>()?, client: Client::new(bounds) })
    }

    fn host(&self, name: &str) -> Result<(&Host, Token), Unsent> {
        let host = self.hosts.get(&name.to_ascii_lowercase());
        let host = host.ok_or_else(|| Unsent::UnknownHost { host: name.to_owned() })?;
        let none = || Unsent::NoToken { host: host.name.clone(), unusable: host.source.unusable().map(str::to_owned) };
        let token = host.source.token().ok_or_else(none)?;
        Ok((host, token))
    }
}

impl Host {
    fn elsewhere(&self, outside: Outside) -> Unsent {
        Unsent::Elsewhere { host: self.name.clone(), origin: outside.0 }
    }

    fn unreachable(&self, why: impl Into<String>) -> Unsent {
        Unsent::Unreachable { host: self.name.clone(), why: why.into() }
    }
}

impl GitHub for GitHubHttp {
    fn send(&self, request: &Request) -> Result<Answer, Unsent> {
        let (host, token) = self.host(&request.host)?;
        let ends = Instant::now() + self.client.bounds().whole;
        let mut address = host.base.address(&request.target).map_err(|outside| host.elsewhere(outside))?;
        let mut redirects = 0;
        loop {
            let (answer, location) = self.client.exchange(host, &token, &address, request, ends)?;
            let next = location.filter(|_| redirects < REDIRECTS && is_followed(request.method, answer.status));
            match next.and_then(|location| host.base.redirect(&location)) {
                Some(next) => address = next.map_err(|outside| host.elsewhere(outside))?,
                None => {
                    if answer.status == 401 {
                        host.source.refused(&token);
                    }
                    return Ok(answer);
                }
            }
            redirects += 1;
        }
    }

    fn can_ask(&self, host: &str) -> Result<(), Unsent> {
        self.host(host).map(drop)
    }

    fn may_ask(&self, host: &str) -> bool {
        self.hosts.get(&host.to_ascii_lowercase()).is_some_and(|host| host.source.has_token())
    }
}

/// Whether a redirect with this status is followed by the same request. After 301 and 302 clients differ on what
/// becomes of a `POST`, so none is sent twice.
const fn is_followed(method: Method, status: u16) -> bool {
    matches!((method, status), (Method::Get, 301 | 302 | 307 | 308) | (Method::Post, 307 | 308))
}

impl fmt::Debug for GitHubHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitHubHttp").field("hosts", &self.hosts.keys()).finish_non_exhaustive()
    }
}
