//! Whatever arrives becomes an event.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Any JSON value, small.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(?s).{0,12}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        "[a-z_]{1,6}",
        prop::sample::select(vec!["action", "issue", "comment", "repository", "number", "id", "user", "full_name"])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// Every place in a value, as JSON pointers.
fn pointers(value: &Value, at: String, out: &mut Vec<String>) {
    if let Value::Object(map) = value {
        for (key, value) in map {
            let here = format!("{at}/{key}");
            pointers(value, here.clone(), out);
            out.push(here);
        }
    }
}

const NAMES: [&str; 10] = [
    "issue_comment",
    "pull_request_review_comment",
    "pull_request_review",
    "issues",
    "pull_request",
    "check_run",
    "status",
    "workflow_run",
    "repository",
    "ping",
];

proptest! {
    #[test]
    fn any_json_object_is_an_event(name in prop::sample::select(NAMES.to_vec()), value in any_json()) {
        let text = json!({"action": "created", "x": value.clone(), "issue": value.clone(), "comment": value.clone(),
            "repository": value.clone(), "check_run": value.clone(), "changes": value}).to_string();
        event(name, &text);
    }

    #[test]
    fn no_single_value_breaks_an_event(
        base in prop::sample::select(vec![P01, P03, P05, P08, P10A, P10B, P14]),
        name in prop::sample::select(NAMES.to_vec()),
        at in any::<prop::sample::Index>(),
        value in prop::option::of(any_json()),
    ) {
        let mut places = Vec::new();
        pointers(&parsed(base), String::new(), &mut places);
        let mutated = event(name, &with(base, at.get::<String>(&places), value));
        let subject = match &mutated.content {
            Content::Speech(speech) => speech.subject.as_ref(),
            Content::Fact(fact) => match fact.as_ref() {
                Fact::Item { subject, .. } | Fact::Withdrawn { subject } => Some(subject),
                Fact::Repository(_) => None,
            },
            Content::Ignored(_) => None,
        };
        // Whatever else was broken, what is routed is routed within the payload's own repository.
        if let Some(subject) = subject {
            prop_assert_eq!(subject.reference.repo(), &mutated.repository.unwrap().reference);
        }
    }
}
