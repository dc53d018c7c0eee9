//! Which requests may still be sent in the window of a rate limit: quiet polling leaves a reserve for people's words.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Limit;
use crate::domain::time::Time;

/// Most requests that are kept in reserve: control words and the permission checks they need.
const RESERVE: u64 = 100;

/// The longest that a window is believed to last, seconds: GitHub's last an hour. A host whose word about its next window
/// is wrong is asked once an hour.
const WINDOW: i64 = 3600;

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
    seen: BTreeMap<String, Window>,
}

/// The window of a limit, as last seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Window {
    limit: Limit,
    /// When it ends by our clock: a reset is a time of the host's.
    until: Time,
}

impl Budget {
    /// Takes note of the limit that came with an answer: of the host's clock, `date`, when ours showed `now`. Answers of
    /// requests in parallel come in any order: within a window the least remaining is the truth.
    pub fn note(&mut self, limit: &Limit, date: Option<Time>, now: Time) {
        let newer = |seen: &Window| {
            seen.until <= now || (limit.reset, seen.limit.remaining) > (seen.limit.reset, limit.remaining)
        };
        if self.seen.get(&limit.resource).is_none_or(newer) {
            // The span is the same on every clock.
            let span = limit.reset.as_millis().saturating_sub(date.unwrap_or(now).as_millis());
            let until = now.plus_millis(span.clamp(0, WINDOW * 1000));
            self.seen.insert(limit.resource.clone(), Window { limit: limit.clone(), until });
        }
    }

    /// Until when no request for `resource` may be sent, by our clock, which shows `now`. `None` when one may: no limit
    /// was seen, enough is left, or the window is over.
    pub fn holds(&self, resource: &str, purpose: Purpose, now: Time) -> Option<Time> {
        let Window { limit, until } = self.seen.get(resource)?;
        let is_left = match purpose {
            Purpose::Background => limit.remaining > reserve(limit),
            Purpose::Person => limit.remaining > 0,
        };
        Some(*until).filter(|until| *until > now && !is_left)
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

    fn at(millis: i64) -> Time {
        Time::from_millis(millis)
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
        budget.note(&limit(most, remaining, 10), None, at(0));
        let allows = |purpose, now| budget.holds("core", purpose, at(now)).is_none();
        assert_eq!((allows(Purpose::Background, 9), allows(Purpose::Person, 9)), (background, person));
        assert!(allows(Purpose::Background, 10), "the window is over");
        assert_eq!(budget.holds("graphql", Purpose::Background, at(0)), None, "another resource");
    }

    #[test]
    fn answers_that_come_late_do_not_raise_what_remains() {
        let mut budget = Budget::default();
        let remaining = |budget: &Budget| budget.seen["core"].limit.remaining;
        for seen in [limit(5000, 50, 10), limit(5000, 60, 10), limit(5000, 5000, 9)] {
            budget.note(&seen, None, at(0));
        }
        assert_eq!(remaining(&budget), 50);
        budget.note(&limit(5000, 4999, 20), None, at(0));
        assert_eq!(remaining(&budget), 4999);
        budget.note(&limit(5000, 7, 15), None, at(21));
        assert_eq!(remaining(&budget), 7, "the one before is over, whatever it said of itself");
    }

    #[test]
    fn a_window_is_measured_by_the_hosts_clock_and_is_never_longer_than_one_is() {
        let (hour, day) = (3_600_000, 86_400_000);
        for (reset, date, now, until) in [
            (hour, Some(0), 0, hour),
            (hour, Some(0), 7 * day, 7 * day + hour),
            (7 * day + hour, Some(7 * day), 0, hour),
            (900 * 365 * day, Some(0), 0, hour),
            (i64::MAX, Some(i64::MIN), 5, 5 + hour),
            (i64::MAX, None, 5, 5 + hour),
        ] {
            let mut budget = Budget::default();
            budget.note(&limit(5000, 0, reset), date.map(at), at(now));
            let held = |now| budget.holds("core", Purpose::Background, at(now));
            assert_eq!((held(now), held(until)), (Some(at(until)), None), "{reset} {date:?} {now}");
        }
        let mut budget = Budget::default();
        budget.note(&limit(5000, 0, 5), Some(at(6)), at(0));
        assert_eq!(budget.holds("core", Purpose::Background, at(0)), None, "it was over when it was told");
    }
}
