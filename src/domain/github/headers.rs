//! From the headers of an answer to an [`Answer`]. What does not read is absent: no header is worth an answer.

use super::{Answer, Limit};
use crate::domain::time::Time;

impl Answer {
    /// An answer out of its parts; `header` gives the text of a header by its lower-case name.
    pub fn of<'h>(status: u16, header: impl Fn(&str) -> Option<&'h str>, body: Vec<u8>) -> Self {
        let text = |name: &str| header(name).map(str::to_owned);
        let date = header("date").and_then(http_date);
        Self {
            status,
            etag: text("etag").filter(|etag| is_validator(etag)),
            link: text("link"),
            date,
            retry_after: header("retry-after").and_then(|value| seconds(value, date)),
            limit: limit(&header),
            request_id: text("x-github-request-id"),
            scopes: text("x-oauth-scopes"),
            body,
        }
    }
}

/// A date of HTTP (`Sun, 06 Nov 1994 08:49:37 GMT`).
pub fn http_date(text: &str) -> Option<Time> {
    let parsed = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.trim());
    parsed.ok().map(|at| Time::from_millis(at.as_millisecond()))
}

/// `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3), which says something only beside the host's own date.
fn seconds(value: &str, date: Option<Time>) -> Option<u64> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More than can be counted is long enough.
        return Some(value.parse().unwrap_or(u64::MAX));
    }
    None.or_else(|| {
        let wait = http_date(value)?.as_millis() - date?.as_millis();
        Some(u64::try_from(wait).unwrap_or(0).div_ceil(1000))
    })
}

fn limit<'h>(header: &impl Fn(&str) -> Option<&'h str>) -> Option<Limit> {
    let number = |name: &str| header(name)?.trim().parse::<u64>().ok();
    let remaining = number("x-ratelimit-remaining")?;
    let reset = number("x-ratelimit-reset").and_then(|reset| i64::try_from(reset).ok()?.checked_mul(1000));
    // That nothing remains is said all the same when nobody can read until when.
    let reset = reset.or((remaining == 0).then_some(0))?;
    Some(Limit {
        limit: number("x-ratelimit-limit").unwrap_or(remaining),
        remaining,
        reset: Time::from_millis(reset),
        resource: header("x-ratelimit-resource").unwrap_or("core").to_owned(),
    })
}

/// Whether an `ETag` can be sent back as `If-None-Match`: an entity tag (RFC 9110, section 8.8.3). An empty one says
/// nothing, and `*` would have everything answered as unchanged.
fn is_validator(etag: &str) -> bool {
    let tag = etag.strip_prefix("W/").unwrap_or(etag);
    tag.len() >= 2 && tag.starts_with('"') && tag.ends_with('"') && tag.matches('"').count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(headers: &[(&str, &'static str)]) -> Answer {
        Answer::of(200, |name| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value), Vec::new())
    }

    #[test]
    fn headers_are_read_and_nonsense_is_absent() {
        let read = answer(&[
            ("date", "Wed, 31 Dec 2025 23:59:59 GMT"),
            ("etag", "W/\"abc\""),
            ("retry-after", "Thu, 01 Jan 2026 00:01:00 GMT"),
            ("x-ratelimit-limit", "5000"),
            ("x-ratelimit-remaining", "4871"),
            ("x-ratelimit-reset", "1767229200"),
            ("x-ratelimit-resource", "graphql"),
        ]);
        assert_eq!(read.date.unwrap().to_string(), "2025-12-31T23:59:59Z");
        assert_eq!((read.etag.as_deref(), read.retry_after), (Some("W/\"abc\""), Some(61)));
        let limit = read.limit.unwrap();
        assert_eq!((limit.limit, limit.remaining, limit.resource.as_str()), (5000, 4871, "graphql"));
        assert_eq!(limit.reset.to_string(), "2026-01-01T01:00:00Z");
        for headers in [
            [("date", "yesterday"), ("retry-after", "-1"), ("x-ratelimit-remaining", "many")],
            [("date", ""), ("retry-after", "Thu, 01 Jan 2026 00:01:00 GMT"), ("x-ratelimit-remaining", "1")],
        ] {
            let read = answer(&headers);
            assert_eq!((read.date, read.retry_after, read.limit), (None, None, None), "{headers:?}");
        }
    }

    #[test]
    fn a_wait_too_long_to_count_is_long_and_a_window_without_a_readable_end_is_spent_all_the_same() {
        assert_eq!(answer(&[("retry-after", "99999999999999999999999")]).retry_after, Some(u64::MAX));
        for value in ["", "+30", "1.5", "-1", "0x10"] {
            assert_eq!(answer(&[("retry-after", value)]).retry_after, None, "{value}");
        }
        for reset in ["-5", "", "99999999999999999999999", "9223372036854775807", "soon"] {
            let spent = answer(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset)]).limit.unwrap();
            assert_eq!((spent.remaining, spent.reset), (0, Time::from_millis(0)), "{reset}");
            assert_eq!(answer(&[("x-ratelimit-remaining", "1"), ("x-ratelimit-reset", reset)]).limit, None);
        }
    }

    #[test]
    fn an_etag_that_is_no_entity_tag_is_not_sent_back() {
        for etag in ["\"\"", "\"abc\"", "W/\"abc\""] {
            assert_eq!(answer(&[("etag", etag)]).etag.as_deref(), Some(etag));
        }
        for etag in ["", "*", "abc", "\"", "W/", "W/\"", "\"a\", \"b\"", "w/\"a\""] {
            assert_eq!(answer(&[("etag", etag)]).etag, None, "{etag}");
        }
    }
}
