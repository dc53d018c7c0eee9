//! What an answer means: something new, nothing new, or trouble, and which.

use std::borrow::Cow;

use serde_json::Value;

use super::trouble::said;
use super::{Answer, Refusal, Seen, Trouble, Until};
use crate::domain::event::body::without_lone_surrogates;
use crate::domain::json;

/// What a usable answer says.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// The document; `null` where the host has nothing to say (204).
    Fresh(Value),
    /// Nothing changed since the answer whose validator went along (304).
    Unchanged,
}

/// What `answer` of `host` means. A 404 is [`Trouble::Gone`]; whoever asked for a whole repository or one of its lists
/// makes it [`Trouble::of_repository`].
///
/// # Errors
/// Everything that is no usable answer.
pub fn read(host: &str, answer: &Answer) -> Result<Reading, Trouble> {
    match answer.status {
        304 => Ok(Reading::Unchanged),
        200..=299 if answer.body.is_empty() => Ok(Reading::Fresh(Value::Null)),
        // A page of a proxy, a portal or an outage comes as success, too.
        200..=299 => document(&answer.body).map(Reading::Fresh).ok_or_else(|| outage(host, answer)),
        _ => Err(trouble(host, answer)),
    }
}

/// The JSON of a body; a lone surrogate in it becomes U+FFFD, as in a delivery.
fn document(body: &[u8]) -> Option<Value> {
    let text = without_lone_surrogates(Cow::Borrowed(std::str::from_utf8(body).ok()?));
    json::check(&text).ok()?;
    serde_json::from_str(&text).ok()
}

fn trouble(host: &str, answer: &Answer) -> Trouble {
    let (host_name, seen) = (host.to_owned(), Seen::of(answer));
    let message = message(answer);
    match answer.status {
        403 | 429 => match limited(answer, &message) {
            Some(until) => Trouble::Limited { host: host_name, until, seen },
            None => Trouble::Refused { host: host_name, why: Refusal::Permission(said(&message)), seen },
        },
        401 => Trouble::Refused { host: host_name, why: Refusal::Token, seen },
        // Out of order for as long as it says.
        503 if answer.retry_after.is_some_and(|seconds| seconds > 0) => {
            let until = Until::In(answer.retry_after.unwrap_or(0));
            Trouble::Limited { host: host_name, until, seen }
        }
        // 451: taken down for legal reasons.
        404 | 410 | 451 => Trouble::Gone { host: host_name, seen },
        408 | 500..=599 => outage(host, answer),
        _ => {
            let what = if message.is_empty() { "nothing is said about it".to_owned() } else { said(&message) };
            Trouble::Odd { host: host_name, what, seen }
        }
    }
}

/// How long a 403 or 429 limits; `None` when it is no limit but a permission that is missing (Q10).
fn limited(answer: &Answer, message: &str) -> Option<Until> {
    if let Some(seconds) = answer.retry_after {
        return Some(Until::In(seconds));
    }
    if let Some(until) = spent(answer) {
        return Some(until);
    }
    // Without any header only the words tell (Q08).
    let message = message.to_ascii_lowercase();
    let speaks_of_one =
        ["secondary rate limit", "abuse", "rate limit exceeded"].iter().any(|word| message.contains(word));
    (answer.status == 429 || speaks_of_one).then_some(Until::Unsaid)
}

/// When the window ends of which nothing remains; `None` while something does.
pub(super) fn spent(answer: &Answer) -> Option<Until> {
    let limit = answer.limit.as_ref().filter(|limit| limit.remaining == 0)?;
    Some(match answer.date {
        // An end that nobody could read.
        _ if limit.reset.as_millis() == 0 => Until::Unsaid,
        // The span is the same on every clock.
        Some(date) => Until::In(u64::try_from(limit.reset.as_millis() - date.as_millis()).unwrap_or(0).div_ceil(1000)),
        None => Until::At(limit.reset),
    })
}

pub(super) fn outage(host: &str, answer: &Answer) -> Trouble {
    Trouble::Outage { host: host.to_owned(), seen: Seen::of(answer) }
}

/// `message` of an error's document; empty when it is none.
fn message(answer: &Answer) -> String {
    let document = document(&answer.body).unwrap_or_default();
    document.get("message").and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::github::{Limit, http_date};
    use crate::domain::time::Time;

    /// An answer as a file of the cases holds it.
    pub(in crate::domain::github) fn recorded(text: &'static str) -> Answer {
        let text = text.replace("\r\n", "\n");
        let (head, body) = text.split_once("\n\n").unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, &str)> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect();
        let header = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        Answer::of(status, header, body.as_bytes().to_vec())
    }

    fn answer(status: u16, body: &str) -> Answer {
        Answer { status, body: body.as_bytes().to_vec(), request_id: Some("AB:12".into()), ..Answer::default() }
    }

    fn kind(read: &Result<Reading, Trouble>) -> String {
        match read {
            Ok(Reading::Fresh(value)) => value.to_string(),
            Ok(Reading::Unchanged) => "unchanged".into(),
            Err(Trouble::Limited { until, .. }) => format!("limited {until:?}"),
            Err(Trouble::Refused { why, .. }) => format!("refused {why:?}"),
            Err(Trouble::Gone { .. }) => "gone".into(),
            Err(Trouble::Outage { .. }) => "outage".into(),
            Err(Trouble::Odd { what, .. }) => format!("odd {what}"),
            Err(Trouble::Unsent(unsent)) => format!("{unsent:?}"),
        }
    }

    #[rstest]
    #[case(200, "[1]", "[1]")]
    #[case(201, "{\"id\":9007199254740993}", "{\"id\":9007199254740993}")]
    #[case(204, "", "null")]
    #[case(304, "", "unchanged")]
    #[case(200, "<html>down</html>", "outage")]
    #[case(200, "{\"a\":1,\"a\":2}", "outage")]
    #[case(200, "{\"a\":\"cut \\ud83d\"}", "{\"a\":\"cut \u{fffd}\"}")]
    #[case(500, "{\"message\":\"x\"}", "outage")]
    #[case(504, "", "outage")]
    #[case(408, "", "outage")]
    #[case(401, "{\"message\":\"Bad credentials\"}", "refused Token")]
    #[case(403, "<html>", "refused Permission(\"\")")]
    #[case(403, "{\"message\":\"API rate limit exceeded for user ID 1.\"}", "limited Unsaid")]
    #[case(403, "{\"message\":\"You have triggered an abuse detection mechanism.\"}", "limited Unsaid")]
    #[case(429, "", "limited Unsaid")]
    #[case(422, "{\"message\":\"Validation\\nFailed\"}", "odd Validation Failed")]
    #[case(301, "", "odd nothing is said about it")]
    fn what_an_answer_means(#[case] status: u16, #[case] body: &str, #[case] want: &str) {
        assert_eq!(kind(&read("h", &answer(status, body))), want);
    }

    #[rstest]
    #[case(404)]
    #[case(410)]
    #[case(451)]
    fn q14_what_is_not_there_is_gone_and_a_repository_is_only_out_of_sight(#[case] status: u16) {
        let trouble = read("h", &answer(status, "{\"message\":\"Not Found\"}")).unwrap_err();
        assert_eq!(kind(&Err(trouble.clone())), "gone");
        assert_eq!(kind(&Err(trouble.of_repository())), "refused Invisible");
    }

    #[test]
    fn q08_a_secondary_limit_is_known_by_its_words() {
        let limited = recorded(include_str!("../../../tests/data/Q08-403-secondary-no-headers.http"));
        assert_eq!(kind(&read("h", &limited)), "limited Unsaid");
    }

    #[test]
    fn q10_a_missing_permission_is_no_limit() {
        let refused = recorded(include_str!("../../../tests/data/Q10-403-permission.http"));
        assert_eq!(kind(&read("h", &refused)), "refused Permission(\"Resource not accessible by integration\")");
    }

    #[test]
    fn q13_words_about_an_outage_hold_status_and_request_and_nothing_of_the_page() {
        let page = recorded(include_str!("../../../tests/data/Q13-502-html.http"));
        let trouble = read("h", &Answer { request_id: Some("AB12:7".into()), ..page }).unwrap_err();
        assert_eq!(trouble.to_string(), "`h` is out of order (status 502, request `AB12:7`)");
        assert!(!format!("{trouble:?}").contains("Unicorn"));
        let forged = Answer { request_id: Some("<html>Unicorn".into()), ..answer(502, "") };
        assert_eq!(read("h", &forged).unwrap_err().to_string(), "`h` is out of order (status 502)");
    }

    #[test]
    fn a_limit_lasts_as_long_as_the_host_says() {
        let date = http_date("Thu, 01 Jan 2026 00:00:00 GMT");
        let reset = Time::parse("2026-01-01T01:00:00Z").unwrap();
        let limit = |remaining| Some(Limit { limit: 5000, remaining, reset, resource: "core".into() });
        let refused = || answer(403, "{\"message\":\"no\"}");
        let unread = limit(0).map(|limit| Limit { reset: Time::from_millis(0), ..limit });
        for (answer, want) in [
            (Answer { retry_after: Some(7), limit: limit(0), ..refused() }, "limited In(7)"),
            (Answer { limit: limit(0), date, ..refused() }, "limited In(3600)"),
            (Answer { limit: limit(0), ..refused() }, "limited At(Time(1767229200000))"),
            (Answer { limit: limit(1), date, ..refused() }, "refused Permission(\"no\")"),
            (Answer { retry_after: Some(600), ..answer(503, "<html>") }, "limited In(600)"),
            (Answer { retry_after: Some(0), ..answer(503, "<html>") }, "outage"),
            (Answer { retry_after: Some(600), ..answer(502, "<html>") }, "outage"),
            (Answer { limit: unread, date, ..refused() }, "limited Unsaid"),
        ] {
            assert_eq!(kind(&read("h", &answer)), want);
        }
        let now = Time::from_millis(500);
        assert_eq!(Until::In(7).at(now), Some(Time::from_millis(7500)));
        assert_eq!(Until::In(u64::MAX).at(now), Some(Time::from_millis(i64::MAX)));
    }
}
