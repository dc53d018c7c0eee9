//! When an item's portable file was last looked at and nothing new was found.
//!
//! A burst of comments on one item asks the file system once and not for each of them. What another machine changed is
//! seen a moment later at the most, which nobody can tell from a pull that came a moment later.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::domain::reference::RefKey;
use crate::domain::time::Time;

/// How long a look is good for, milliseconds.
const GOOD_FOR: i64 = 50;
/// Looks remembered; more are forgotten together, so that the memory they take is bounded.
const REMEMBERED: usize = 1024;

/// The looks of the last moment.
#[derive(Default)]
pub(super) struct Glances(Mutex<HashMap<RefKey, Time>>);

impl Glances {
    /// Whether the file of `item` was looked at a moment before `now`. A clock that went back knows no moment before.
    pub(super) fn is_fresh(&self, item: &RefKey, now: Time) -> bool {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.get(item).is_some_and(|at| (0..GOOD_FOR).contains(&(now.as_millis() - at.as_millis())))
    }

    /// The file was looked at from `at` on, and nothing was new.
    pub(super) fn note(&self, item: RefKey, at: Time) {
        let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if looks.len() >= REMEMBERED {
            looks.clear();
        }
        looks.insert(item, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::reference::WorkItemRef;

    #[test]
    fn a_look_is_good_for_a_moment_and_for_its_item() {
        let key = |number: u64| WorkItemRef::parse(&format!("github:octo/hello#{number}")).unwrap().key();
        let (glances, at) = (Glances::default(), Time::from_millis(1_000));
        glances.note(key(7), at);
        assert!(glances.is_fresh(&key(7), at) && glances.is_fresh(&key(7), at.plus_millis(GOOD_FOR - 1)));
        for (item, now) in [(7, at.plus_millis(GOOD_FOR)), (7, at.plus_millis(-1)), (8, at)] {
            assert!(!glances.is_fresh(&key(item), now), "{item} {now:?}");
        }
        (10..2 * REMEMBERED as u64).for_each(|number| glances.note(key(number), at));
        assert!(glances.0.lock().unwrap().len() <= REMEMBERED);
    }
}
