//! A small GitHub for tests: issues, pull requests, what people say about them, checks, hooks, and the REST API that
//! shows it, with pages, validators, limits and faults.
//!
//! [`FakeGitHub`] is state and a pure [`FakeGitHub::answer`]; [`server`] puts it on a socket of the loopback, [`port`]
//! behind the product's own trait without one. What people do are methods (`people`, `speech`, `moves`); each is dated
//! by GitHub's own clock, changes what GitHub would change, and queues the webhook delivery. The crate that uses it
//! also has `mod payloads`.

use std::collections::BTreeMap;
use std::sync::Arc;

mod answer;
mod deliveries;
mod faults;
mod lists;
mod moves;
mod pages;
mod people;
pub mod port;
mod reads;
pub mod server;
mod shapes;
mod speech;
pub mod state;
mod writes;

pub use deliveries::{Delivery, post_signed};
pub use faults::Fault;

use answer::Holder;
use faults::Faults;
use shapes::{Places, Show};
use state::{Named, Repository, Seconds, World};

/// What a reaction may be.
pub const REACTIONS: [&str; 8] = ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"];

/// A request, as it came.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// `GET`, `POST`.
    pub method: String,
    /// `/repos/octo/hello/issues?state=all`.
    pub path_and_query: String,
    /// Names in any case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Asked {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The path without the query.
    pub fn path(&self) -> &str {
        self.path_and_query.split('?').next().unwrap_or_default()
    }
}

/// An answer.
#[derive(Debug, Clone, Default)]
pub struct Answered {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The connection is closed instead: the asker never sees this.
    pub is_lost: bool,
    /// How long it takes.
    pub delay: std::time::Duration,
}

impl Answered {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// A request that was made, for tests that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// `GET`, `POST`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The token that came along.
    pub token: Option<String>,
    /// The status of the answer; 0 when the connection was closed before anything was done.
    pub status: u16,
}

/// GitHub's clock.
#[derive(Debug, Clone, Copy)]
enum Clock {
    /// Turned by the test.
    Hand(Seconds),
    /// The machine's, and this many seconds.
    Machine(Seconds),
}

/// A whole GitHub.
pub struct FakeGitHub {
    clock: Clock,
    world: World,
    /// What was true at the end of earlier seconds, oldest first, as far back as `remembers`.
    history: Vec<(Seconds, World)>,
    remembers: Seconds,
    places: Places,
    /// `/api/v3` of an Enterprise server.
    prefix: &'static str,
    holders: BTreeMap<String, Holder>,
    last_id: u64,
    queue: Vec<Delivery>,
    faults: Faults,
    requests: Vec<Seen>,
}

impl FakeGitHub {
    /// An empty github.com whose clock stands at `now`, seconds since 1970, until it is turned.
    pub fn new(now: Seconds) -> Self {
        Self {
            clock: Clock::Hand(now),
            world: World::default(),
            history: Vec::new(),
            remembers: 0,
            places: Places { api: "https://api.github.com".to_owned(), web: "https://github.com".to_owned() },
            prefix: "",
            holders: BTreeMap::new(),
            last_id: 1_000_000,
            queue: Vec::new(),
            faults: Faults::default(),
            requests: Vec::new(),
        }
    }

    /// An empty github.com whose clock is `offset` seconds ahead of the machine's.
    pub fn running(offset: Seconds) -> Self {
        Self { clock: Clock::Machine(offset), ..Self::new(0) }
    }

    /// Makes it an Enterprise server: its API lives below `/api/v3` and `/api/graphql`, its pages are at `web`.
    #[must_use]
    pub fn enterprise(mut self, web: &str) -> Self {
        self.prefix = "/api/v3";
        self.places = Places { api: format!("{web}/api/v3"), web: web.to_owned() };
        self
    }

    /// Says at which origin the API is reached: `http://127.0.0.1:4711`. Pages of github.com stay where they are; those
    /// of an Enterprise server are there too.
    pub fn set_origin(&mut self, origin: &str) {
        self.places.api = format!("{origin}{}", self.prefix);
        if !self.prefix.is_empty() {
            self.places.web = origin.to_owned();
        }
    }

    /// Base of the REST API, as links name it.
    pub fn api(&self) -> &str {
        &self.places.api
    }

    /// GitHub's time, seconds since 1970.
    pub fn now(&self) -> Seconds {
        match self.clock {
            Clock::Hand(now) => now,
            Clock::Machine(offset) => jiff::Timestamp::now().as_second() + offset,
        }
    }

    /// Turns the clock on by `seconds`.
    pub fn advance(&mut self, seconds: Seconds) {
        match &mut self.clock {
            Clock::Hand(at) | Clock::Machine(at) => *at += seconds,
        }
    }

    /// Keeps what was true for `seconds`, so that [`Fault::Stale`] has something to answer from.
    pub fn remember(&mut self, seconds: Seconds) {
        self.remembers = seconds;
        self.changed();
    }

    /// Adds a repository `owner/name` with one webhook. Its owner may do everything.
    pub fn add_repository(&mut self, full_name: &str, id: u64) {
        let owner = full_name.split('/').next().unwrap_or_default().to_ascii_lowercase();
        let repo = Repository {
            id,
            full_name: full_name.to_owned(),
            roles: [(owner, "admin".to_owned())].into(),
            hooks: vec![state::Hook { id: 1000 + id, past: Vec::new() }],
            ..Repository::default()
        };
        self.world.repositories.insert(id, Arc::new(repo));
        self.changed();
    }

    /// Adds a repository without any webhook, as behind a firewall.
    pub fn add_repository_without_hook(&mut self, full_name: &str, id: u64) {
        self.add_repository(full_name, id);
        self.repo_mut(full_name).hooks.clear();
    }

    /// Gives `login` a role: `read`, `triage`, `write`, `maintain`, `admin`; `none` for somebody who is no
    /// collaborator of a private repository.
    pub fn allow(&mut self, repo: &str, login: &str, role: &str) {
        self.repo_mut(repo).roles.insert(login.to_ascii_lowercase(), role.to_owned());
        self.changed();
    }

    /// Whatever the repository holds.
    pub fn repo(&self, full_name: &str) -> &Repository {
        match self.world.named(full_name) {
            Some(Named::Here(repo) | Named::Formerly(repo)) => repo,
            None => panic!("there is no repository {full_name}"),
        }
    }

    fn repo_mut(&mut self, full_name: &str) -> &mut Repository {
        let id = self.repo(full_name).id;
        Arc::make_mut(self.world.repositories.get_mut(&id).expect("it was looked up"))
    }

    fn show<'a>(&'a self, repo: &'a Repository) -> Show<'a> {
        Show::new(&self.places, repo)
    }

    fn fresh_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Writes down what is true now.
    fn changed(&mut self) {
        let now = self.now();
        if self.remembers == 0 {
            return;
        }
        self.history.retain(|(at, _)| *at < now);
        self.history.push((now, self.world.clone()));
        let oldest = now - self.remembers;
        let superseded = self.history.iter().filter(|(at, _)| *at <= oldest).count().saturating_sub(1);
        self.history.drain(..superseded);
    }

    /// What was true `seconds` ago, as far as that is remembered.
    fn as_of(&self, seconds: Seconds) -> &World {
        let then = self.now() - seconds;
        let known = self.history.iter().rev().find(|(at, _)| *at <= then).or(self.history.first());
        known.map_or(&self.world, |(_, world)| world)
    }

    /// Every request so far, oldest first.
    pub fn requests(&self) -> &[Seen] {
        &self.requests
    }

    /// How many requests were such.
    pub fn count(&self, is_such: impl Fn(&Seen) -> bool) -> usize {
        self.requests.iter().filter(|seen| is_such(seen)).count()
    }

    /// Begins to count anew.
    pub fn forget_requests(&mut self) {
        self.requests.clear();
    }
}
