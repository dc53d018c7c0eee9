//! A client that counts what a cycle asks and keeps what the answers say of limits and of the host's clock.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::github::{Answer, GitHub, Limit, Request, Unsent};
use crate::domain::ports::Clock;
use crate::domain::time::Time;

/// What a cycle asked for.
#[derive(Debug, Clone, Default)]
pub struct Count {
    /// Requests.
    pub requests: u32,
    /// Answers of 304.
    pub unchanged: u32,
    /// The host's clock, as first heard.
    pub date: Option<Time>,
    /// How far our clock was ahead of it then, seconds.
    pub offset: Option<i64>,
    /// The limits of the answers.
    pub limits: Vec<Counting>,
}

/// A limit, with the clocks as it came.
#[derive(Debug, Clone)]
pub struct Counting {
    /// What was said.
    pub limit: Limit,
    /// The host's clock.
    pub date: Option<Time>,
    /// Ours.
    pub now: Time,
}

/// Counts over another client.
pub struct Counted<'g> {
    inner: &'g dyn GitHub,
    clock: &'g dyn Clock,
    count: Mutex<Count>,
}

impl<'g> Counted<'g> {
    /// Counts from zero.
    pub fn new(inner: &'g dyn GitHub, clock: &'g dyn Clock) -> Self {
        Self { inner, clock, count: Mutex::default() }
    }

    /// What was counted until now.
    pub fn count(&self) -> Count {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GitHub for Counted<'_> {
    fn send(&self, request: &Request) -> Result<Answer, Unsent> {
        let answer = self.inner.send(request);
        // Without a token, or an address, nothing was sent.
        let is_sent = !matches!(answer, Err(Unsent::NoToken { .. } | Unsent::UnknownHost { .. }));
        self.lock().requests += u32::from(is_sent);
        let answer = answer?;
        let now = self.clock.now();
        let mut count = self.lock();
        count.unchanged += u32::from(answer.status == 304);
        if let Some(date) = answer.date.filter(|_| count.date.is_none()) {
            count.date = Some(date);
            // A cycle may take minutes, and they are no error of a clock.
            count.offset = Some(now.as_millis().saturating_sub(date.as_millis()) / 1000);
        }
        let counting = |limit: &Limit| Counting { limit: limit.clone(), date: answer.date, now };
        count.limits.extend(answer.limit.as_ref().map(counting));
        Ok(answer)
    }

    fn can_ask(&self, host: &str) -> Result<(), Unsent> {
        self.inner.can_ask(host)
    }
}
