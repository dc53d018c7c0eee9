//! What an answer of the GraphQL endpoint means: its errors come with status 200.

use serde_json::Value;

use super::meaning::outage;
use super::trouble::said;
use super::{Answer, Reading, Refusal, Seen, Trouble, Until, read};

/// The part of the data that `pointer` names (RFC 6901, below `data`). Errors about other parts do not matter.
///
/// # Errors
/// The part is not there: what the answer says about that, or what a REST answer would mean.
pub fn graphql(host: &str, answer: &Answer, pointer: &str) -> Result<Value, Trouble> {
    let Reading::Fresh(mut document) = read(host, answer)? else { return Err(outage(host, answer)) };
    let found = document.get_mut("data").and_then(|data| data.pointer_mut(pointer)).map(Value::take);
    found.filter(|value| !value.is_null()).ok_or_else(|| failed(host, answer, &document))
}

fn failed(host: &str, answer: &Answer, document: &Value) -> Trouble {
    let (host, seen) = (host.to_owned(), Seen::of(answer));
    let errors: Vec<&Value> = document.get("errors").and_then(Value::as_array).into_iter().flatten().collect();
    let text = |error: &Value, name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let message = errors.first().map(|error| said(&text(error, "message"))).unwrap_or_default();
    let is = |kinds: &[&str]| errors.iter().any(|error| kinds.contains(&text(error, "type").as_str()));
    if is(&["RATE_LIMITED", "RATE_LIMIT"]) {
        let until = answer.limit.as_ref().filter(|limit| limit.remaining == 0).map(|limit| Until::At(limit.reset));
        return Trouble::Limited { host, until: until.unwrap_or(Until::Unsaid), seen };
    }
    match () {
        () if is(&["NOT_FOUND"]) => Trouble::Gone { host, seen },
        () if is(&["FORBIDDEN", "INSUFFICIENT_SCOPES"]) => {
            Trouble::Refused { host, why: Refusal::Permission(message), seen }
        }
        () if message.is_empty() => Trouble::Odd { host, what: "the data is not there".into(), seen },
        () => Trouble::Odd { host, what: message, seen },
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r#"{"data":{"a":{"b":[1]}},"errors":[{"type":"FORBIDDEN"}]}"#, "Ok(Array [Number(1)])")]
    #[case(r#"{"data":{"a":null},"errors":[{"type":"NOT_FOUND","message":"no"}]}"#, "Gone")]
    #[case(r#"{"data":null,"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}"#, "Limited")]
    #[case(r#"{"errors":[{"type":"FORBIDDEN","message":"no"}]}"#, "Refused")]
    #[case(r#"{"errors":[{"message":"Something went wrong"}]}"#, "Odd")]
    #[case(r#"{"data":{}}"#, "Odd")]
    #[case("<html>", "Outage")]
    fn errors_come_with_status_200(#[case] body: &str, #[case] want: &str) {
        let answer = Answer { status: 200, body: body.as_bytes().to_vec(), ..Answer::default() };
        let found = format!("{:?}", graphql("h", &answer, "/a/b"));
        assert!(found.trim_start_matches("Err(").starts_with(want), "{found}");
    }
}
