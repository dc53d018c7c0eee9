//! How long to wait before the next try.

use crate::domain::time::Time;

/// First wait after a failure, seconds.
const FIRST: i64 = 15;
/// Longest wait, seconds; eight tries span about an hour.
const LONGEST: i64 = 900;

/// When to try again after `attempts` failures; `jitter` is 0 to 999 and adds up to a quarter.
pub fn after_failure(now: Time, attempts: u32, jitter: u64) -> Time {
    let wait = FIRST.saturating_mul(1 << attempts.saturating_sub(1).min(10)).min(LONGEST);
    let extra = wait * 1000 / 4 * i64::try_from(jitter % 1000).unwrap_or(0) / 1000;
    now.plus_seconds(wait).plus_millis(extra)
}

/// When to look again at a screen that shows a dialog.
pub(super) fn after_busy(now: Time) -> Time {
    now.plus_seconds(2)
}

/// When to ask again what does not answer; being silent is no failure of the effect.
pub(super) fn after_silence(now: Time) -> Time {
    now.plus_seconds(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_tries_span_about_an_hour_and_the_wait_is_capped() {
        let start = Time::from_millis(0);
        let total: i64 = (1..=8).map(|n| after_failure(start, n, 500).as_millis() / 1000).sum();
        assert!((2400..5400).contains(&total), "{total}");
        assert!(after_failure(start, 40, 999) <= start.plus_seconds(LONGEST + LONGEST / 4));
    }
}
