//! Which requests may still be sent in the window of a rate limit: quiet polling leaves a reserve for people's words.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Limit;
use crate::domain::time::Time;

/// Most requests that are kept in reserve: control words and the permission checks they need.
const RESERVE: u64 = 100;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Looking whether something happened. Waits for the next window when only the reserve is left.
    Background,
    /// A person waits for it: a control word, its permission check, an answer on the ticket.
    Person,
}

/// The limits of one host as last seen, by resource (`core`, `graphql`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Budget {
    seen: BTreeMap<String, Limit>,
}

impl Budget {
    /// Takes note of the limit that came with an answer. Answers of requests in parallel come in any order: within a
    /// window the least remaining is the truth.
    pub fn note(&mut self, limit: &Limit) {
        let newer = |seen: &Limit| (limit.reset, seen.remaining) > (seen.reset, limit.remaining);
        if self.seen.get(&limit.resource).is_none_or(newer) {
            self.seen.insert(limit.resource.clone(), limit.clone());
        }
    }

    /// Whether a request for `resource` may be sent at `now`, best by the host's own clock. Where no limit was seen, or
    /// its window is over, it may.
    pub fn allows(&self, resource: &str, purpose: Purpose, now: Time) -> bool {
        self.seen.get(resource).is_none_or(|limit| {
            limit.reset <= now
                || match purpose {
                    Purpose::Background => limit.remaining > reserve(limit),
                    Purpose::Person => limit.remaining > 0,
                }
        })
    }

    /// The limits as last seen.
    pub fn limits(&self) -> impl Iterator<Item = &Limit> {
        self.seen.values()
    }
}

/// How many requests of a window background work leaves: a tenth, at most `RESERVE`.
pub fn reserve(limit: &Limit) -> u64 {
    (limit.limit / 10).min(RESERVE)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn limit(limit: u64, remaining: u64, reset: i64) -> Limit {
        Limit { limit, remaining, reset: Time::from_millis(reset), resource: "core".into() }
    }

    #[rstest]
    #[case(5000, 101, true, true)]
    #[case(5000, 100, false, true)]
    #[case(5000, 1, false, true)]
    #[case(5000, 0, false, false)]
    #[case(60, 7, true, true)]
    #[case(60, 6, false, true)]
    fn background_work_leaves_a_reserve(
        #[case] most: u64,
        #[case] remaining: u64,
        #[case] background: bool,
        #[case] person: bool,
    ) {
        let mut budget = Budget::default();
        budget.note(&limit(most, remaining, 10));
        let allows = |purpose, now| budget.allows("core", purpose, Time::from_millis(now));
        assert_eq!((allows(Purpose::Background, 9), allows(Purpose::Person, 9)), (background, person));
        assert!(allows(Purpose::Background, 10), "the window is over");
        assert!(budget.allows("graphql", Purpose::Background, Time::from_millis(0)), "another resource");
    }

    #[test]
    fn answers_that_come_late_do_not_raise_what_remains() {
        let mut budget = Budget::default();
        for seen in [limit(5000, 50, 10), limit(5000, 60, 10), limit(5000, 5000, 9)] {
            budget.note(&seen);
        }
        assert_eq!(budget.limits().collect::<Vec<_>>(), [&limit(5000, 50, 10)]);
        budget.note(&limit(5000, 4999, 20));
        assert_eq!(budget.limits().next().unwrap().remaining, 4999);
    }
}
