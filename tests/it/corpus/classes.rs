//! What every example is to us: the item it is about, what it says, and why the rest is nothing.

use serde_json::Value as Json;
use the_loop::domain::event::body::MediaType;
use the_loop::domain::event::{Content, Event, Form, Ignored, SubjectKind};

use super::examples::{Example, corpus, digest, item_named, normalised};
use super::routing::{Row, rows};

/// The table goes by the `issue` and `pull_request` objects of a payload. Of these sixteen the events rules, section 4,
/// say something else. Checks name pull requests by number (of those only the ones we own hear of it, and only when it
/// failed: section 3); a review thread has no row in section 3, so it names nothing.
const EXCEPTIONS: [(&str, usize, &[u64], Option<Ignored>); 16] = [
    ("check_run", 0, &[2], Some(Ignored::NotAFailure)),
    ("check_run", 1, &[2], None),
    ("check_run", 2, &[2], Some(Ignored::NotAFailure)),
    ("check_run", 3, &[2], Some(Ignored::NotAFailure)),
    ("check_run", 4, &[2], Some(Ignored::NotAFailure)),
    ("check_run", 5, &[2], Some(Ignored::NotAFailure)),
    ("check_run", 6, &[26764], Some(Ignored::UnlistedAction)),
    ("check_suite", 0, &[2], Some(Ignored::UnknownEvent)),
    ("check_suite", 2, &[2], Some(Ignored::UnknownEvent)),
    ("check_suite", 3, &[2], Some(Ignored::UnknownEvent)),
    ("check_suite", 7, &[2], Some(Ignored::UnknownEvent)),
    ("check_suite", 8, &[2], Some(Ignored::UnknownEvent)),
    ("pull_request_review_thread", 0, &[], Some(Ignored::UnknownEvent)),
    ("pull_request_review_thread", 1, &[], Some(Ignored::UnknownEvent)),
    ("pull_request_review_thread", 2, &[], Some(Ignored::UnknownEvent)),
    ("workflow_run", 2, &[2], Some(Ignored::NotAFailure)),
];

/// Numbers of the items a payload names by section 4, read without the product.
fn named_by_the_rule(example: &Example) -> Vec<u64> {
    let number = |object: &str| example.json[object]["number"].as_u64().into_iter().collect();
    match example.event.as_str() {
        "issues" | "issue_comment" => number("issue"),
        "pull_request" | "pull_request_review" | "pull_request_review_comment" => number("pull_request"),
        check @ ("check_run" | "check_suite" | "workflow_run") => {
            let named = example.json[check]["pull_requests"].as_array().into_iter().flatten();
            named.filter_map(|named| named["number"].as_u64()).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn every_example_is_about_what_the_table_says() {
    let Some(corpus) = corpus("every_example_is_about_what_the_table_says") else { return };
    let rows = rows(corpus);
    for (example, row) in &rows {
        let (event, item) = (example.event(), item_named(MediaType::Json, &example.body));
        let named = item.as_ref().map(|(reference, kind)| (*kind, reference.number()));
        assert_eq!(named, row.item, "{}", example.name);
        assert_eq!(event.action.as_deref(), row.action, "{}", example.name);
        assert_eq!(event.sender.is_some(), row.has_sender, "{}", example.name);
        let repository = event.repository.as_ref().map(|repository| &repository.reference);
        let full_name = |repo: &the_loop::domain::reference::RepoRef| format!("{}/{}", repo.owner(), repo.name());
        let hashed = repository.map(|repo| digest(full_name(repo).as_bytes(), 12));
        assert_eq!(hashed.as_deref(), row.repository, "{}", example.name);
        assert!(repository.is_none_or(|repo| repo.host() == "github.com"), "{}", example.name);
        assert!(item.is_none_or(|(item, _)| repository.is_some_and(|repo| item.repo().is_same(repo))));
    }
    let count = |kind| rows.iter().filter(|(_, row)| row.item.map(|(kind, _)| kind) == kind).count();
    let counts = [Some(SubjectKind::Issue), Some(SubjectKind::PullRequest), None].map(count);
    assert_eq!(counts, [34, 45, 250]);
}

#[test]
fn sixteen_examples_name_by_the_rule_what_the_table_does_not() {
    let Some(corpus) = corpus("sixteen_examples_name_by_the_rule_what_the_table_does_not") else { return };
    let differs = |(example, row): &(&Example, Row)| {
        let listed: Vec<u64> = row.item.iter().map(|(_, number)| *number).collect();
        named_by_the_rule(example) != listed
    };
    let mut found: Vec<(&Example, Row)> = rows(corpus).into_iter().filter(differs).collect();
    found.sort_by_key(|(_, row)| (row.event, row.index));
    let keys: Vec<_> = found.iter().map(|(_, row)| (row.event, row.index)).collect();
    assert_eq!(keys, EXCEPTIONS.map(|(event, index, ..)| (event, index)));
    for ((example, _), (event, index, names, ignored)) in found.into_iter().zip(EXCEPTIONS) {
        assert_eq!(named_by_the_rule(example), names, "{event} {index}");
        match (example.event().content, ignored) {
            (Content::Ignored(found), Some(right)) => assert_eq!(found, right, "{event} {index}"),
            (content, None) => assert_eq!(checked(&content), names, "{event} {index}"),
            (content, _) => panic!("{event} {index}: {content:?}"),
        }
        match event {
            "check_run" => assert_eq!(checked(&failed(example).content), names, "{event} {index}, had it failed"),
            // A run of another repository: what it names is not here.
            "workflow_run" => assert!(checked(&failed(example).content).is_empty(), "{event} {index}, had it failed"),
            _ => {}
        }
    }
}

/// The pull requests that a failed check names, as the product reads it.
fn checked(content: &Content) -> Vec<u64> {
    let Content::Speech(speech) = content else { panic!("{content:?}") };
    let Form::Check(check) = &speech.form else { panic!("{speech:?}") };
    check.pull_requests.clone()
}

/// The same check, ended badly.
fn failed(example: &Example) -> Event {
    let mut json = example.json.clone();
    json["action"] = "completed".into();
    json[&example.event]["status"] = "completed".into();
    json[&example.event]["conclusion"] = "failure".into();
    normalised(&example.event, MediaType::Json, json.to_string().as_bytes(), "failed")
}

/// What section 3 says an example is: it speaks, it is a fact, or it is nothing.
fn kind_by_the_rule(event: &str, json: &Json) -> &'static str {
    let filled = |text: &Json| text.as_str().is_some_and(|text| !text.trim().is_empty());
    let verdict = |state: &Json| matches!(state.as_str(), Some("approved" | "changes_requested"));
    let bad = |end: &Json| matches!(end.as_str(), Some("failure" | "timed_out" | "action_required"));
    match (event, json["action"].as_str().unwrap_or_default()) {
        ("issue_comment" | "pull_request_review_comment", "created") => "speech",
        ("pull_request_review", "submitted") => {
            let review = &json["review"];
            let speaks = filled(&review["body"]) || verdict(&review["state"]);
            if speaks { "speech" } else { "nothing" }
        }
        ("check_run" | "workflow_run", "completed") if bad(&json[event]["conclusion"]) => "speech",
        ("issue_comment" | "pull_request_review_comment", "deleted") | ("pull_request_review", "dismissed") => "fact",
        ("issues", "transferred" | "deleted") | ("pull_request", "edited" | "ready_for_review") => "fact",
        ("issues" | "pull_request", "opened" | "labeled" | "unlabeled" | "closed" | "reopened") => "fact",
        ("repository", "renamed" | "transferred" | "deleted") => "fact",
        _ => "nothing",
    }
}

#[test]
fn every_example_speaks_or_is_a_fact_or_nothing_as_section_3_says() {
    let Some(corpus) = corpus("every_example_speaks_or_is_a_fact_or_nothing_as_section_3_says") else { return };
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for example in corpus.public.iter().chain(&corpus.enterprise) {
        let event = example.event();
        let kind = match &event.content {
            Content::Speech(_) => "speech",
            Content::Fact(_) => "fact",
            Content::Ignored(reason) => {
                // What GitHub really sends always has what a row needs.
                assert_ne!(*reason, Ignored::Incomplete, "{}", example.name);
                "nothing"
            }
        };
        assert_eq!(kind, kind_by_the_rule(&example.event, &example.json), "{}", example.name);
        *counts.entry(kind).or_default() += 1;
    }
    assert!(counts["speech"] > 10 && counts["fact"] > 30, "{counts:?}");
}

#[test]
fn examples_of_an_enterprise_server_are_on_its_host() {
    let Some(corpus) = corpus("examples_of_an_enterprise_server_are_on_its_host") else { return };
    let mut elsewhere = 0;
    for example in &corpus.enterprise {
        let page = example.json["repository"]["html_url"].as_str();
        let host = page.map(|page| page.split_once("://").unwrap().1.split('/').next().unwrap());
        let repository = example.event().repository;
        assert_eq!(repository.as_ref().map(|repo| repo.reference.host()), host, "{}", example.name);
        elsewhere += usize::from(host.is_some_and(|host| host != "github.com"));
    }
    assert!(elsewhere > 50, "{elsewhere}");
}
