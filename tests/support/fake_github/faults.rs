//! What goes wrong, when a test says so.

use std::time::Duration;

use super::state::Seconds;
use super::{Asked, FakeGitHub};

/// What goes wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// 502 with a page of HTML.
    BadGateway,
    /// 403 that names a secondary limit, without any header of limits but `Retry-After`, when that is given.
    SecondaryLimit(Option<u64>),
    /// The primary limit is used up: this status (403 or 429), and it ends after so many seconds.
    PrimaryLimit(u16, Seconds),
    /// 403 that is a matter of permission.
    Forbidden,
    /// 404.
    NotFound,
    /// 410.
    Gone,
    /// The connection is closed; nothing was done.
    Close,
    /// It is done, but the connection is closed before the answer.
    AnswerLost,
    /// The answer takes a while.
    Delay(Duration),
    /// The answer is of what was true so many seconds ago ([`FakeGitHub::remember`]); writes are not concerned.
    Stale(Seconds),
}

type Matches = Box<dyn Fn(&Asked) -> bool + Send>;
type Action = Box<dyn FnOnce(&mut FakeGitHub) + Send>;

/// How long a rule holds.
enum Holds {
    /// For so many requests.
    Times(u32),
    /// For this part of all requests, in percent; the chance is drawn from the number beside it.
    Percent(u64, u64),
}

struct Rule {
    matches: Matches,
    fault: Fault,
    holds: Holds,
}

/// What was set by the test.
#[derive(Default)]
pub(super) struct Faults {
    rules: Vec<Rule>,
    after: Vec<(Matches, Action)>,
}

impl FakeGitHub {
    /// The next `times` requests that match go wrong.
    pub fn fail_next(&mut self, times: u32, matches: impl Fn(&Asked) -> bool + Send + 'static, fault: Fault) {
        self.faults.rules.push(Rule { matches: Box::new(matches), fault, holds: Holds::Times(times) });
    }

    /// Of the requests that match, so many percent go wrong; which ones follows from `seed`.
    pub fn fail_sometimes(
        &mut self,
        percent: u64,
        seed: u64,
        matches: impl Fn(&Asked) -> bool + Send + 'static,
        fault: Fault,
    ) {
        self.faults.rules.push(Rule { matches: Box::new(matches), fault, holds: Holds::Percent(percent, seed) });
    }

    /// Nothing goes wrong any more.
    pub fn heal(&mut self) {
        self.faults = Faults::default();
    }

    /// Right after the answer to the next request that matches, before anything else is answered, this happens: between
    /// two pages of a list, for one.
    pub fn after_next(
        &mut self,
        matches: impl Fn(&Asked) -> bool + Send + 'static,
        action: impl FnOnce(&mut FakeGitHub) + Send + 'static,
    ) {
        self.faults.after.push((Box::new(matches), Box::new(action)));
    }
}

impl Faults {
    /// What goes wrong with this request: the first rule that holds.
    pub(super) fn take(&mut self, asked: &Asked) -> Option<Fault> {
        let rule = self.rules.iter_mut().find_map(|rule| {
            let happens = (rule.matches)(asked) && rule.holds.now();
            happens.then(|| rule.fault.clone())
        });
        self.rules.retain(|rule| !matches!(rule.holds, Holds::Times(0)));
        rule
    }

    /// What is to happen after this request.
    pub(super) fn take_after(&mut self, asked: &Asked) -> Option<Action> {
        let at = self.after.iter().position(|(matches, _)| matches(asked))?;
        Some(self.after.remove(at).1)
    }
}

impl Holds {
    fn now(&mut self) -> bool {
        match self {
            Self::Times(left) => {
                let holds = *left > 0;
                *left = left.saturating_sub(1);
                holds
            }
            Self::Percent(percent, state) => {
                // SplitMix64.
                *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let mut z = *state;
                z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                (z ^ (z >> 31)) % 100 < *percent
            }
        }
    }
}
