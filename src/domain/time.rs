//! Instants as the product knows them: UTC, milliseconds inside, seconds with `Z` in portable files.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, UTC, as milliseconds since 1970-01-01T00:00:00Z.
///
/// Ordering is chronological. `Display` prints whole seconds (`2026-03-02T08:15:30Z`), the form of
/// portable files and of GitHub; [`Time::to_millis_string`] keeps the milliseconds for the event log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

/// Why a text is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a UTC time such as `2026-03-02T08:15:30Z`")]
pub struct TimeError {
    text: String,
}

impl Time {
    /// From milliseconds since the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Parses RFC 3339 with any offset; anything else is an error, never a guess.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        text.parse::<jiff::Timestamp>()
            .map(|at| Self(at.as_millisecond()))
            .map_err(|_| TimeError { text: text.to_owned() })
    }

    /// Parses a time as [`Time::parse`] does, or a duration such as `2h`, `30m`, `1d 12h` before `now`.
    pub fn parse_since(text: &str, now: Self) -> Result<Self, TimeError> {
        let ago = |span: jiff::Span| span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok();
        match text.parse().ok().and_then(ago) {
            Some(ago) => Ok(now.plus_millis(-i64::try_from(ago.abs().as_millis()).unwrap_or(i64::MAX))),
            None => Self::parse(text).map_err(|_| TimeError { text: text.to_owned() }),
        }
    }

    /// This time cut to whole seconds, as portable files and GitHub carry it.
    pub const fn whole_seconds(self) -> Self {
        Self(self.0.div_euclid(1000) * 1000)
    }

    /// This time moved by `seconds`, which may be negative.
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1000)))
    }

    /// This time moved by `millis`, which may be negative.
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// UTC with milliseconds: `2026-03-02T08:15:30.250Z`.
    pub fn to_millis_string(self) -> String {
        format!("{:.3}", self.timestamp())
    }

    fn timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}", self.whole_seconds().timestamp())
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_milliseconds_print_as_the_files_want_them() {
        let at = Time::parse("2026-03-02T08:15:30.250Z").unwrap();
        assert_eq!(at.to_string(), "2026-03-02T08:15:30Z");
        assert_eq!(at.to_millis_string(), "2026-03-02T08:15:30.250Z");
        assert_eq!(Time::parse("2026-03-02T10:15:30+02:00").unwrap().to_string(), "2026-03-02T08:15:30Z");
    }

    #[test]
    fn since_is_a_time_or_a_duration_before_now() {
        let now = Time::parse("2026-03-02T08:15:30Z").unwrap();
        for (text, want) in [
            ("2h", "2026-03-02T06:15:30Z"),
            ("90m", "2026-03-02T06:45:30Z"),
            ("45s", "2026-03-02T08:14:45Z"),
            ("1d 12h", "2026-02-28T20:15:30Z"),
            ("1w", "2026-02-23T08:15:30Z"),
            ("2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        ] {
            assert_eq!(Time::parse_since(text, now).unwrap().to_string(), want, "{text}");
        }
        for text in ["", "yesterday", "2", "1 month", "h"] {
            assert!(Time::parse_since(text, now).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_an_error() {
        for text in ["", "yesterday", "2026-03-02", "2026-13-02T00:00:00Z", "2026-03-02T08:15:30"] {
            assert!(Time::parse(text).is_err(), "{text}");
        }
    }
}
