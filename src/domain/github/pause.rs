//! When a repository may be asked again after trouble. Plain data, kept with the repository's cursor.

use serde::{Deserialize, Serialize};

use super::{Refusal, Trouble, Unsent};
use crate::domain::time::Time;

/// First and longest wait after a limit whose end is not said, seconds. GitHub asks for at least a minute.
const LIMIT: (i64, i64) = (60, 3600);
/// First and longest wait after an outage, seconds.
const OUTAGE: (i64, i64) = (10, 900);
/// The longest that a host can make us wait, seconds: its windows last an hour, and a wrong clock or a broken proxy must
/// not silence a repository for ever.
const LONGEST: i64 = 24 * 3600;

/// When a repository may be asked again, and what went wrong last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pause {
    /// Not to be asked before.
    pub until: Option<Time>,
    /// Limits since the last success.
    pub limits: u32,
    /// Outages since the last success, and times that the repository was not seen.
    pub outages: u32,
    /// What went wrong last, until the next success.
    pub last: Option<LastTrouble>,
}

/// What went wrong, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastTrouble {
    /// When.
    pub at: Time,
    /// Whether it is a limit: `status` then says until when.
    pub is_limit: bool,
    /// What.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Pause {
    /// Until when nothing is to be asked; `None` when it may be asked now. A pause longer than any we make is of a clock
    /// that was set back since, and holds nothing.
    pub fn holds(&self, now: Time) -> Option<Time> {
        self.until.filter(|until| now < *until && *until <= now.plus_seconds(LONGEST))
    }

    /// Until when a person who asks for a cycle has to wait, too: the host said so. An outage may be over, and what a
    /// token may not see may be allowed by now.
    pub fn holds_people(&self, now: Time) -> Option<Time> {
        self.holds(now).filter(|_| self.limits > 0)
    }

    /// Everything was answered.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Something went wrong at `now`. `jitter` is 0 to 999 and lengthens a wait by up to a quarter, within its longest,
    /// so that what failed together does not come back together.
    pub fn met(&mut self, trouble: &Trouble, now: Time, jitter: u64) {
        self.note(Kind::of(trouble), trouble, now, jitter);
    }

    /// As [`Pause::met`], where only a part was not answered: the rest of what is not seen is asked for all the same.
    pub fn met_in_part(&mut self, trouble: &Trouble, now: Time, jitter: u64) {
        let kind = match trouble {
            Trouble::Refused { .. } => Kind::NoWait,
            trouble => Kind::of(trouble),
        };
        self.note(kind, trouble, now, jitter);
    }

    fn note(&mut self, kind: Kind, trouble: &Trouble, now: Time, jitter: u64) {
        let wait = match kind {
            Kind::Limit { said } => {
                self.limits = self.limits.saturating_add(1);
                match said.map(|said| said.at(now)) {
                    // Not before what was said; and when that is no time at all, like an outage.
                    Some(Some(until)) => until.max(now.plus_millis(backoff(OUTAGE, self.limits, jitter))),
                    _ => now.plus_millis(backoff(LIMIT, self.limits, jitter)),
                }
            }
            Kind::Outage => {
                self.outages = self.outages.saturating_add(1);
                now.plus_millis(backoff(OUTAGE, self.outages, jitter))
            }
            Kind::NoWait => now,
        };
        let until = (wait > now).then(|| wait.min(now.plus_seconds(LONGEST)));
        // A pause that is already longer stays.
        self.until = until.max(self.holds(now));
        self.last = Some(LastTrouble {
            at: now,
            is_limit: matches!(kind, Kind::Limit { .. }),
            what: trouble.to_string(),
            hint: trouble.hint(),
        });
    }
}

/// What follows from trouble.
#[derive(Clone, Copy)]
enum Kind {
    Limit {
        said: Option<super::Until>,
    },
    Outage,
    /// Waiting changes nothing, or nothing was sent.
    NoWait,
}

impl Kind {
    fn of(trouble: &Trouble) -> Self {
        match trouble {
            Trouble::Limited { until: super::Until::Unsaid, .. } => Self::Limit { said: None },
            Trouble::Limited { until, .. } => Self::Limit { said: Some(*until) },
            // P22: it may have been deleted, and nobody will ever say so.
            Trouble::Refused { why: Refusal::Invisible, .. }
            | Trouble::Outage { .. }
            | Trouble::Odd { .. }
            | Trouble::Unsent(Unsent::Unreachable { .. } | Unsent::TooLarge { .. }) => Self::Outage,
            Trouble::Refused { .. }
            | Trouble::Gone { .. }
            | Trouble::Unsent(Unsent::NoToken { .. } | Unsent::UnknownHost { .. } | Unsent::Elsewhere { .. }) => {
                Self::NoWait
            }
        }
    }
}

/// Milliseconds to wait after the `times`th failure in a row.
fn backoff((first, longest): (i64, i64), times: u32, jitter: u64) -> i64 {
    let wait = first.saturating_mul(1 << times.saturating_sub(1).min(20)).min(longest) * 1000;
    let extra = wait / 4 * i64::try_from(jitter % 1000).unwrap_or(0) / 1000;
    (wait + extra).min(longest * 1000)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::meaning::tests::recorded;
    use super::super::{Until, read};
    use super::*;

    fn trouble(text: &'static str) -> Trouble {
        read("ghe.example", &recorded(text)).unwrap_err()
    }

    fn limited(until: Until) -> Trouble {
        let secondary = trouble(include_str!("../../../tests/data/Q08-403-secondary-no-headers.http"));
        let Trouble::Limited { host, seen, .. } = secondary else { panic!("{secondary}") };
        Trouble::Limited { host, until, seen }
    }

    /// The waits of so many failures in a row, seconds; each failure comes when the pause is over.
    fn waits(trouble: &Trouble, times: usize, jitter: u64) -> Vec<i64> {
        let (mut pause, mut now) = (Pause::default(), Time::from_millis(1_000_000));
        let mut wait = || {
            pause.met(trouble, now, jitter);
            let until = pause.holds(now)?;
            let wait = (until.as_millis() - now.as_millis()) / 1000;
            now = until;
            assert_eq!(pause.holds(now), None, "at its end it may be asked");
            Some(wait)
        };
        (0..times).map(|_| wait().unwrap_or(0)).collect()
    }

    #[test]
    fn q08_three_secondary_limits_wait_at_least_a_minute_and_longer_each_time() {
        let limit = trouble(include_str!("../../../tests/data/Q08-403-secondary-no-headers.http"));
        assert_eq!(waits(&limit, 8, 0), [60, 120, 240, 480, 960, 1920, 3600, 3600]);
        assert_eq!(waits(&limit, 8, 999).last(), Some(&3600));
        assert_eq!(waits(&limit, 1, 999), [74]);
        // Then 200: all is forgotten.
        let mut pause = Pause::default();
        pause.met(&limit, Time::from_millis(0), 0);
        assert!(pause.last.as_ref().unwrap().is_limit);
        pause.succeeded();
        assert_eq!(pause, Pause::default());
    }

    #[test]
    fn q10_a_missing_permission_pauses_nothing_and_is_remembered() {
        let refused = trouble(include_str!("../../../tests/data/Q10-403-permission.http"));
        assert_eq!(waits(&refused, 3, 500), [0, 0, 0]);
        let mut pause = Pause::default();
        pause.met(&refused, Time::from_millis(0), 0);
        let last = pause.last.unwrap();
        assert!(last.what.contains("Resource not accessible by integration") && !last.is_limit, "{last:?}");
        assert!(last.hint.is_some());
    }

    #[test]
    fn q13_outages_double_up_to_a_quarter_of_an_hour() {
        let outage = trouble(include_str!("../../../tests/data/Q13-502-html.http"));
        assert_eq!(waits(&outage, 9, 0), [10, 20, 40, 80, 160, 320, 640, 900, 900]);
        let unreachable = Trouble::Unsent(Unsent::Unreachable { host: "h".into(), why: "timed out".into() });
        assert_eq!(waits(&unreachable, 2, 0), [10, 20]);
    }

    #[rstest]
    #[case(Until::In(300), &[300, 300])]
    #[case(Until::In(0), &[10, 20])]
    #[case(Until::In(u64::MAX), &[LONGEST, LONGEST])]
    #[case(Until::At(Time::from_millis(4_600_000)), &[3600, 20])]
    #[case(Until::At(Time::from_millis(0)), &[10, 20])]
    fn nothing_is_asked_before_a_limit_ends(#[case] until: Until, #[case] want: &[i64]) {
        assert_eq!(waits(&limited(until), 2, 0), want);
    }

    #[test]
    fn a_shorter_trouble_does_not_end_a_longer_pause() {
        let (mut pause, now) = (Pause::default(), Time::from_millis(0));
        pause.met(&limited(Until::In(600)), now, 0);
        pause.met(&trouble(include_str!("../../../tests/data/Q13-502-html.http")), now, 0);
        pause.met(&trouble(include_str!("../../../tests/data/Q10-403-permission.http")), now, 0);
        assert_eq!(pause.holds(now), Some(Time::from_millis(600_000)));
    }

    #[test]
    fn p22_a_repository_that_is_not_seen_is_asked_for_less_and_less_and_a_part_of_one_is_no_pause() {
        let gone = trouble("HTTP/1.1 404 Not Found\n\n{\"message\":\"Not Found\"}").of_repository();
        assert_eq!(waits(&gone, 9, 0), [10, 20, 40, 80, 160, 320, 640, 900, 900]);
        let (mut pause, now) = (Pause::default(), Time::from_millis(0));
        pause.met_in_part(&gone, now, 0);
        assert_eq!((pause.holds(now), pause.last.is_some()), (None, true));
        pause.met_in_part(&limited(Until::In(600)), now, 0);
        assert_eq!(pause.holds(now), Some(Time::from_millis(600_000)));
    }

    #[test]
    fn a_person_waits_for_a_limit_and_for_nothing_else() {
        let (mut pause, now) = (Pause::default(), Time::from_millis(0));
        pause.met(&trouble(include_str!("../../../tests/data/Q13-502-html.http")), now, 0);
        assert!(pause.holds(now).is_some() && pause.holds_people(now).is_none());
        pause.met(&limited(Until::In(600)), now, 0);
        assert_eq!(pause.holds_people(now), Some(Time::from_millis(600_000)));
    }

    #[test]
    fn a_pause_of_a_clock_that_was_set_back_holds_nothing() {
        let (mut pause, ahead) = (Pause::default(), Time::from_millis(0).plus_seconds(10 * LONGEST));
        pause.met(&limited(Until::In(u64::MAX)), ahead, 0);
        assert!(pause.holds(ahead).is_some());
        assert_eq!(pause.holds(Time::from_millis(0)), None);
    }

    #[test]
    fn it_is_plain_data() {
        let mut pause = Pause::default();
        pause.met(&limited(Until::In(600)), Time::from_millis(5), 0);
        let text = serde_json::to_string(&pause).unwrap();
        assert_eq!(serde_json::from_str::<Pause>(&text).unwrap(), pause);
        assert_eq!(serde_json::from_str::<Pause>("{}").unwrap(), Pause::default());
    }
}
