//! A client that counts what a cycle asks and keeps what the answers say of limits and of the host's clock.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::github::{Answer, GitHub, Limit, Request, Unsent};
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
    /// The limits of the last answers.
    pub limits: Vec<Limit>,
}

/// Counts over another client.
pub struct Counted<'g> {
    inner: &'g dyn GitHub,
    count: Mutex<Count>,
}

impl<'g> Counted<'g> {
    /// Counts from zero.
    pub fn new(inner: &'g dyn GitHub) -> Self {
        Self { inner, count: Mutex::default() }
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
        self.lock().requests += 1;
        let answer = self.inner.send(request)?;
        let mut count = self.lock();
        count.unchanged += u32::from(answer.status == 304);
        count.date = count.date.or(answer.date);
        count.limits.extend(answer.limit.clone());
        Ok(answer)
    }

    fn can_ask(&self, host: &str) -> Result<(), Unsent> {
        self.inner.can_ask(host)
    }
}
