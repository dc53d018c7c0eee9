//! From a request to its answer: faults, tokens, limits, validators, headers; each request is recorded.

use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::faults::Fault;
use super::pages::{Call, Reply};
use super::state::Seconds;
use super::{Answered, Asked, FakeGitHub, Seen, reads};

/// Length of a window of the primary limit.
const WINDOW: Seconds = 3600;
const UNICORN: &str = "<!DOCTYPE html>\n<html><head><title>Unicorn!</title></head><body>down</body></html>\n";
const SECONDARY: &str = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";

/// Whose a token is, and what it has used.
pub(super) struct Holder {
    login: String,
    scopes: Option<String>,
    core: Window,
    graphql: Window,
}

/// One counted limit.
struct Window {
    limit: u64,
    used: u64,
    reset: Seconds,
}

impl Window {
    fn new(limit: u64, now: Seconds) -> Self {
        Self { limit, used: 0, reset: now + WINDOW }
    }

    fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }

    fn renew(&mut self, now: Seconds) {
        if now >= self.reset {
            *self = Self::new(self.limit, now);
        }
    }

    fn headers(&self, resource: &str) -> Vec<(String, String)> {
        let values = [("Limit", self.limit), ("Remaining", self.left()), ("Used", self.used.min(self.limit))];
        let mut headers: Vec<_> = values.map(|(name, value)| (format!("X-RateLimit-{name}"), value.to_string())).into();
        headers.push(("X-RateLimit-Reset".to_owned(), self.reset.to_string()));
        headers.push(("X-RateLimit-Resource".to_owned(), resource.to_owned()));
        headers
    }

    fn object(&self) -> Value {
        json!({"limit": self.limit, "used": self.used, "remaining": self.left(), "reset": self.reset})
    }
}

impl FakeGitHub {
    /// Makes a token known. Classic tokens have scopes (`repo, read:org`), fine-grained ones none.
    pub fn add_token(&mut self, token: &str, login: &str, scopes: Option<&str>) {
        let window = || Window::new(5000, self.now());
        let (core, graphql) = (window(), window());
        let holder = Holder { login: login.to_owned(), scopes: scopes.map(str::to_owned), core, graphql };
        self.holders.insert(token.to_owned(), holder);
    }

    /// The token is known no more.
    pub fn revoke(&mut self, token: &str) {
        self.holders.remove(token);
    }

    /// Leaves so many requests of the REST API to the token until its window ends.
    pub fn leave_requests(&mut self, token: &str, left: u64) {
        let core = &mut self.holders.get_mut(token).expect("a known token").core;
        core.used = core.limit.saturating_sub(left);
    }

    /// Answers a request, does what it asks for, and writes it down.
    pub fn answer(&mut self, asked: &Asked) -> Answered {
        let fault = self.faults.take(asked);
        let mut answered = match fault.as_ref().and_then(|fault| self.instead(fault)) {
            Some(answered) => answered,
            None => {
                let ago = if let Some(Fault::Stale(ago)) = fault { ago } else { 0 };
                self.serve(asked, ago)
            }
        };
        match fault {
            Some(Fault::Close | Fault::AnswerLost) => answered.is_lost = true,
            Some(Fault::Delay(delay)) => answered.delay = delay,
            _ => {}
        }
        self.sign(&mut answered);
        self.requests.push(Seen {
            method: asked.method.clone(),
            path: asked.path_and_query.clone(),
            token: token(asked).map(str::to_owned),
            status: answered.status,
        });
        if let Some(action) = self.faults.take_after(asked) {
            action(self);
        }
        answered
    }

    /// The answer a fault puts in the place of the true one.
    fn instead(&self, fault: &Fault) -> Option<Answered> {
        let refused = |status, message| Some(answered(&Reply::refused(status, message)));
        match fault {
            Fault::BadGateway => {
                let headers = vec![("Content-Type".to_owned(), "text/html".to_owned())];
                Some(Answered { status: 502, headers, body: UNICORN.into(), ..Answered::default() })
            }
            Fault::SecondaryLimit(after) => {
                let mut answered = answered(&Reply::refused(403, SECONDARY));
                answered.headers.extend(after.map(|after| ("Retry-After".to_owned(), after.to_string())));
                Some(answered)
            }
            Fault::PrimaryLimit(status, seconds) => {
                let mut answered = answered(&Reply::refused(*status, "API rate limit exceeded for user ID 1."));
                let spent = Window { limit: 5000, used: 5000, reset: self.now() + seconds };
                answered.headers.extend(spent.headers("core"));
                Some(answered)
            }
            Fault::Forbidden => {
                let mut answered = answered(&Reply::refused(403, "Resource not accessible by integration"));
                let ample = Window { limit: 5000, used: 129, reset: self.now() + WINDOW };
                answered.headers.extend(ample.headers("core"));
                Some(answered)
            }
            Fault::NotFound => refused(404, "Not Found"),
            Fault::Gone => refused(410, "Gone"),
            Fault::Close => Some(Answered::default()),
            Fault::AnswerLost | Fault::Delay(_) | Fault::Stale(_) => None,
        }
    }

    /// Serves a request from what was true `ago` seconds ago.
    fn serve(&mut self, asked: &Asked, ago: Seconds) -> Answered {
        let now = self.now();
        let Some(token) = token(asked) else { return answered(&Reply::refused(401, "Requires authentication")) };
        let Some(holder) = self.holders.get_mut(token) else {
            return answered(&Reply::refused(401, "Bad credentials"));
        };
        holder.core.renew(now);
        holder.graphql.renew(now);
        let is_graphql = asked.path() == if self.prefix.is_empty() { "/graphql" } else { "/api/graphql" };
        let (login, scopes) = (holder.login.clone(), holder.scopes.clone());
        let call = Call::parse(asked, self.prefix, &login);
        let is_free = call.path == ["rate_limit"];
        let mut answered = match if is_graphql { holder.graphql.left() } else { holder.core.left() } {
            0 if !is_free => answered(&Reply::refused(403, &format!("API rate limit exceeded for user {login}."))),
            _ if is_free => answered(&limits(holder)),
            _ if is_graphql => answered(&reads::graphql(self.as_of(ago), &self.places, &call)),
            _ if asked.method == "POST" => answered(&self.write(&call)),
            _ if asked.method == "GET" => conditional(asked, &reads::read(self.as_of(ago), &self.places, &call)),
            _ => answered(&Reply::not_found()),
        };
        let holder = self.holders.get_mut(token).expect("it was known before");
        let (window, resource) = if is_graphql { (&mut holder.graphql, "graphql") } else { (&mut holder.core, "core") };
        window.used += u64::from(answered.status != 304 && !is_free && window.left() > 0);
        answered.headers.extend(window.headers(resource));
        answered.headers.extend(scopes.map(|scopes| ("X-OAuth-Scopes".to_owned(), scopes)));
        answered
    }

    /// The headers every answer has.
    fn sign(&mut self, answered: &mut Answered) {
        let date = jiff::Timestamp::from_second(self.now()).expect("a time of our era");
        answered.headers.push(("Date".to_owned(), date.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()));
        let id = format!("F4KE:{:04X}:{:08X}", self.requests.len() % 0xFFFF, self.last_id);
        answered.headers.push(("X-GitHub-Request-Id".to_owned(), id));
        answered.headers.push(("Server".to_owned(), "GitHub.com".to_owned()));
    }
}

/// The bearer's token.
fn token(asked: &Asked) -> Option<&str> {
    asked.header("Authorization")?.strip_prefix("Bearer ")
}

fn limits(holder: &Holder) -> Reply {
    let core = holder.core.object();
    Reply::ok(json!({"resources": {"core": core, "graphql": holder.graphql.object()}, "rate": core}))
}

fn answered(reply: &Reply) -> Answered {
    let mut headers = vec![("Content-Type".to_owned(), "application/json; charset=utf-8".to_owned())];
    headers.extend(reply.link.clone().map(|link| ("Link".to_owned(), link)));
    headers.extend(reply.location.clone().map(|location| ("Location".to_owned(), location)));
    Answered {
        status: reply.status,
        headers,
        body: reply.body.to_string().into_bytes(),
        is_lost: false,
        delay: Duration::ZERO,
    }
}

/// With a weak validator made of the body alone (so that a page stays the same when a further one appears), and 304
/// when the asker has it already.
fn conditional(asked: &Asked, reply: &Reply) -> Answered {
    let mut answered = answered(reply);
    if answered.status != 200 {
        return answered;
    }
    let hex: String = Sha256::digest(&answered.body).iter().map(|byte| format!("{byte:02x}")).collect();
    let etag = format!("\"{hex}\"");
    let known = asked.header("If-None-Match").unwrap_or_default();
    let has_it = known.split(',').any(|known| known.trim().trim_start_matches("W/") == etag);
    answered.headers.push(("ETag".to_owned(), format!("W/{etag}")));
    answered.headers.push(("Cache-Control".to_owned(), "private, max-age=60, s-maxage=60".to_owned()));
    if has_it {
        answered.status = 304;
        answered.body.clear();
        answered.headers.retain(|(name, _)| name != "Content-Type");
    }
    answered
}
