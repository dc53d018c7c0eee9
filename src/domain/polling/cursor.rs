//! A place in a list that is ordered by `updated_at`: the latest time seen, and what was seen around it.
//!
//! GitHub's times have steps of a second, and its replicas lag. So a list is asked for again from some time before the
//! latest one, and what was handled is known by its id and its time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::time::Time;

/// How far a list is read again, seconds: what a lagging replica shows late is still found.
pub const OVERLAP_SECONDS: i64 = 300;

/// A place in a list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cursor {
    /// The latest time seen; absent before the first cycle.
    at: Option<Time>,
    /// What was handled of the overlap, with the time it had then.
    seen: BTreeMap<u64, Time>,
    /// Whether the overlap was read again after every replica had to know it: only the latest second is asked for again.
    rests: bool,
}

impl Cursor {
    /// A list that is read from `at` on.
    pub fn beginning(at: Time) -> Self {
        Self { at: Some(at.whole_seconds()), ..Self::default() }
    }

    /// The latest time seen.
    pub const fn at(&self) -> Option<Time> {
        self.at
    }

    /// From when the list is asked for next.
    pub fn since(&self) -> Option<Time> {
        if self.rests { self.at } else { self.overlap() }
    }

    fn overlap(&self) -> Option<Time> {
        self.at.map(|at| at.plus_seconds(-OVERLAP_SECONDS))
    }

    /// The list was read to its end at `now`, GitHub's time, and everything in it is handled.
    pub fn read_whole(&mut self, now: Time) {
        self.rests = self.at.is_some_and(|at| at.plus_seconds(OVERLAP_SECONDS) <= now);
    }

    /// Whether an entry was not handled yet as it is now.
    pub fn is_news(&self, id: u64, updated_at: Time) -> bool {
        self.seen.get(&id).is_none_or(|seen| *seen < updated_at)
    }

    /// An entry is handled. What lies before the overlap is forgotten: nobody asks for it again. A time after `clock`,
    /// GitHub's own, leads nobody past what is still to come.
    pub fn handled(&mut self, id: u64, updated_at: Time, clock: Option<Time>) {
        let seen = clock.map_or(updated_at, |clock| updated_at.min(clock.whole_seconds()));
        self.rests &= self.at >= Some(seen);
        self.at = self.at.max(Some(seen));
        self.seen.insert(id, updated_at);
        if let Some(since) = self.overlap() {
            self.seen.retain(|_, at| *at >= since);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Time {
        Time::from_millis(1_700_000_000_000).plus_seconds(second)
    }

    #[test]
    fn q01_entries_of_one_second_are_told_apart_by_their_ids() {
        let mut cursor = Cursor::beginning(at(0));
        cursor.handled(1, at(5), None);
        assert!(cursor.is_news(2, at(5)) && cursor.is_news(3, at(5)) && !cursor.is_news(1, at(5)));
        assert!(cursor.since() < Some(at(5)), "the same second is asked for again");
    }

    #[test]
    fn a_list_that_rests_is_asked_for_its_latest_second_only() {
        let mut cursor = Cursor::beginning(at(0));
        cursor.handled(1, at(5), None);
        cursor.read_whole(at(4 + OVERLAP_SECONDS));
        assert_eq!(cursor.since(), Some(at(5 - OVERLAP_SECONDS)), "a replica may still lag");
        cursor.read_whole(at(5 + OVERLAP_SECONDS));
        assert_eq!(cursor.since(), Some(at(5)));
        cursor.handled(2, at(5), None);
        assert_eq!(cursor.since(), Some(at(5)), "in the same second");
        cursor.handled(3, at(1000), None);
        assert_eq!(cursor.since(), Some(at(1000 - OVERLAP_SECONDS)));
    }

    #[test]
    fn what_changed_again_is_news() {
        let mut cursor = Cursor::beginning(at(0));
        cursor.handled(1, at(5), None);
        assert!(cursor.is_news(1, at(6)));
        assert!(!cursor.is_news(1, at(4)), "a replica that lags shows what was handled before");
    }

    #[test]
    fn an_entry_of_the_far_future_does_not_lead_past_what_is_still_to_come() {
        let mut cursor = Cursor::beginning(at(0));
        let clock = Some(at(10));
        cursor.handled(1, at(1_000_000_000), clock);
        assert_eq!(cursor.at(), Some(at(10)));
        assert!(!cursor.is_news(1, at(1_000_000_000)) && cursor.is_news(2, at(11)));
        cursor.handled(2, at(11), Some(at(12)));
        cursor.read_whole(at(11 + OVERLAP_SECONDS));
        assert_eq!(cursor.since(), Some(at(11)), "it rests all the same");
        assert!(!cursor.is_news(1, at(1_000_000_000)), "and is not handled again");
    }

    proptest! {
        /// Whatever comes in whatever order within the overlap is handled once.
        #[test]
        fn k15_nothing_within_the_overlap_is_lost_or_seen_twice(times in prop::collection::vec(0..OVERLAP_SECONDS, 1..40)) {
            let mut cursor = Cursor::beginning(at(0));
            for (id, second) in (1..).zip(&times) {
                prop_assert!(cursor.since() <= Some(at(*second)));
                prop_assert!(cursor.is_news(id, at(*second)));
                cursor.handled(id, at(*second), None);
            }
            for (id, second) in (1..).zip(&times) {
                prop_assert!(!cursor.is_news(id, at(*second)));
            }
        }
    }
}
