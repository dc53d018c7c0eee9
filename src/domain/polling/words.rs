//! The newest control word of a thread that nobody listened to until now.

use serde_json::Value;

use crate::domain::event::marker;
use crate::domain::event::words::{self, Words};
use crate::domain::ids::Login;
use crate::domain::policy::Policy;
use crate::domain::time::Time;

/// The newest comment that is a control word: not edited, by somebody who is authorised by name, and not our own words.
/// What somebody may do by permission is asked live, when they speak; not for what they said long ago.
pub fn newest_word<'c>(comments: &'c [Value], policy: &Policy) -> Option<&'c Value> {
    let words = comments.iter().filter(|comment| is_word(comment, policy));
    words.max_by_key(|comment| (time(comment, "created_at"), comment.get("id").and_then(Value::as_u64)))
}

fn is_word(comment: &Value, policy: &Policy) -> bool {
    let text = comment.get("body").and_then(Value::as_str).unwrap_or_default();
    let author = comment.pointer("/user/login").and_then(Value::as_str).and_then(Login::parse);
    let created = time(comment, "created_at");
    let unedited = created.is_some() && time(comment, "updated_at").is_none_or(|updated| Some(updated) == created);
    unedited
        && policy.admits(author.as_ref())
        && !marker::is_marked(text)
        && matches!(words::find(text, &policy.keywords), Words::One { .. })
}

fn time(value: &Value, key: &str) -> Option<Time> {
    Time::parse(value.get(key)?.as_str()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn comment(id: u64, login: &str, second: u32, text: &str) -> Value {
        let at = format!("2026-03-02T08:15:{second:02}Z");
        json!({"id": id, "user": {"login": login}, "created_at": at, "updated_at": at, "body": text})
    }

    fn newest(comments: &[Value]) -> Option<u64> {
        let policy = Policy { authorized_users: Login::parse("mona").into_iter().collect(), ..Policy::default() };
        newest_word(comments, &policy)?["id"].as_u64()
    }

    #[test]
    fn k21_of_old_words_only_the_newest_of_an_authorised_login_counts() {
        let mut thread = vec![
            comment(1, "mona", 1, "the-loop start"),
            comment(3, "Mona", 9, "the-loop stop"),
            comment(2, "mona", 9, "the-loop pause"),
        ];
        assert_eq!(newest(&thread), Some(3), "at a tie the larger id");
        let edited = json!({"id": 4, "user": {"login": "mona"}, "created_at": "2026-03-02T08:15:20Z",
                            "updated_at": "2026-03-02T08:15:21Z", "body": "the-loop start"});
        thread.extend([
            edited,
            comment(5, "stranger", 21, "the-loop start"),
            comment(6, "mona", 22, "> the-loop start"),
            comment(7, "mona", 23, "the-loop start\nthe-loop stop"),
            comment(8, "mona", 24, "hello"),
            comment(9, "mona", 25, &format!("the-loop start\n{}", marker::MARKER)),
            json!({"id": 10, "body": "the-loop start"}),
        ]);
        assert_eq!(newest(&thread), Some(3));
        assert_eq!(newest(&[]), None);
    }
}
