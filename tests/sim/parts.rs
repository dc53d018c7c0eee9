//! What every simulated app is made of: a clock, ids and a configuration.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use the_loop::app::{Settings, settings::Workspace};
use the_loop::domain::harness::Harness;
use the_loop::domain::ids::Login;
use the_loop::domain::policy::Policy;
use the_loop::domain::ports::{Clock, Ids};
use the_loop::domain::time::Time;

/// A clock that is turned by hand, milliseconds.
pub struct HandClock(pub AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Time {
        Time::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Ids that count from 1, another series for every salt.
pub struct CountedIds {
    pub salt: u64,
    pub next: AtomicU64,
}

impl Ids for CountedIds {
    fn uuid(&self) -> String {
        let n = self.next.fetch_add(1, Ordering::SeqCst);
        format!("{:08x}-0000-4000-8000-{n:012x}", self.salt as u32)
    }

    fn below(&self, bound: u64) -> u64 {
        self.next.fetch_add(1, Ordering::SeqCst) % bound.max(1)
    }
}

/// The configuration; `session_per_pr` as in it.
pub fn settings(session_per_pr: bool) -> Settings {
    let policy = Policy {
        authorized_users: vec![Login::parse("mona").expect("a login")],
        harness: "agent".into(),
        breaker_deliveries: 0,
        max_retries: 4,
        session_per_pr,
        ..Policy::default()
    };
    let agent = Harness::command("agent", "agent", Vec::new(), Vec::new());
    Settings {
        policy,
        harnesses: [("agent".to_owned(), agent)].into(),
        harness_args: Default::default(),
        workspace: Workspace::Shared("/".into()),
        trust: the_loop::domain::trust::Trust::Off,
        session_env: Vec::new(),
        kill_grace_ms: 0,
        keep_session_on_close: true,
        resume_on_respawn: true,
        templates: Default::default(),
        polling: Default::default(),
        sweep: None,
    }
}
