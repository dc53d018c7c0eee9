//! One exchange over HTTP: an address, its headers, what came back. Redirects are left to the caller, who knows where
//! a token may go.

use std::time::{Duration, Instant};

use ureq::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, IF_NONE_MATCH, LINK, LOCATION};
use ureq::http::{HeaderMap, Response};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, RequestBuilder, Timeout};

use super::address::Address;
use super::{Bounds, Host, Token};
use crate::domain::github::{Answer, Method, Request, Unsent};

const AGENT: &str = concat!("the-loop/", env!("CARGO_PKG_VERSION"));

/// Connections, kept open between requests.
pub(super) struct Client {
    /// Straight there: for this machine's own addresses, where a proxy would be another machine.
    direct: Agent,
    /// Through the proxy that the environment names, if any (`HTTPS_PROXY`, `NO_PROXY`).
    outward: Agent,
    bounds: Bounds,
}

impl Client {
    pub fn new(bounds: Bounds) -> Self {
        // The platform's verifier knows a company's own authority.
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = || {
            Agent::config_builder()
                .http_status_as_error(false)
                .max_redirects(0)
                .max_redirects_will_error(false)
                .user_agent(AGENT)
                .timeout_resolve(Some(bounds.connect))
                .timeout_connect(Some(bounds.connect))
                .tls_config(tls.clone())
        };
        Self { direct: config().proxy(None).build().new_agent(), outward: config().build().new_agent(), bounds }
    }

    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Sends `request` to `address` and reads the answer until `ends`; with it, where a redirect leads.
    pub fn exchange(
        &self,
        host: &Host,
        token: &Token,
        address: &Address,
        request: &Request,
        ends: Instant,
    ) -> Result<(Answer, Option<String>), Unsent> {
        let left = ends.saturating_duration_since(Instant::now());
        let agent = if host.base.is_local() { &self.direct } else { &self.outward };
        let answered = match request.method {
            Method::Get => with_headers(agent.get(address.as_str()), request, token, left).call(),
            Method::Post => {
                let body = request.body.as_ref().map(ToString::to_string).unwrap_or_default();
                let asked = with_headers(agent.post(address.as_str()), request, token, left);
                asked.header(CONTENT_TYPE, "application/json").send(body)
            }
        };
        let failed = |error: ureq::Error| self.failed(host, &error);
        let mut response = answered.map_err(failed)?;
        let body = response.body_mut().with_config().limit(self.bounds.body).read_to_vec().map_err(failed)?;
        let is_error = response.status().is_client_error() || response.status().is_server_error();
        let body = if is_error { token.kept_from(body) } else { body };
        Ok((answer(&response, body), text(response.headers(), LOCATION.as_str()).map(str::to_owned)))
    }

    fn failed(&self, host: &Host, error: &ureq::Error) -> Unsent {
        host.unreachable(match error {
            ureq::Error::BodyExceedsLimit(limit) => {
                return Unsent::TooLarge { host: host.name.clone(), limit: *limit };
            }
            ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                format!("no connection within {}", seconds(self.bounds.connect))
            }
            ureq::Error::Timeout(_) => format!("no whole answer within {}", seconds(self.bounds.whole)),
            ureq::Error::HostNotFound => "its name is not known".to_owned(),
            ureq::Error::Io(error) => error.to_string(),
            // These show an address, which is the caller's to show.
            ureq::Error::BadUri(_) | ureq::Error::RequireHttpsOnly(_) => "the address is none".to_owned(),
            other => other.to_string(),
        })
    }
}

fn with_headers<B>(asked: RequestBuilder<B>, request: &Request, token: &Token, left: Duration) -> RequestBuilder<B> {
    let mut asked = asked.header(ACCEPT, "application/vnd.github+json").header("X-GitHub-Api-Version", "2022-11-28");
    if let Some(value) = token.header() {
        asked = asked.header(AUTHORIZATION, value);
    }
    if let Some(etag) = &request.etag {
        asked = asked.header(IF_NONE_MATCH, etag);
    }
    asked.config().timeout_global(Some(left)).build()
}

fn answer(response: &Response<Body>, body: Vec<u8>) -> Answer {
    let answer = Answer::of(response.status().as_u16(), |name| text(response.headers(), name), body);
    Answer { link: links(response.headers()), ..answer }
}

/// All fields of `Link` as the one list that they are (RFC 9110, section 5.3): a proxy may add one of its own, and where
/// the next page is must not be overlooked, however it is spelled.
fn links(headers: &HeaderMap) -> Option<String> {
    let fields: Vec<_> =
        headers.get_all(LINK).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    (!fields.is_empty()).then(|| fields.join(", "))
}

/// A header's text; what is not ASCII is no header we know.
fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn seconds(span: Duration) -> String {
    format!("{} s", span.as_secs_f32())
}
