//! Checks, statuses and workflow runs.

use serde_json::json;

use super::*;
use crate::domain::event::Check;

/// A check of each of the three kinds that ended as `conclusion`.
fn check(name: &str, conclusion: &str) -> Event {
    let sha = "A".repeat(40);
    let named = json!([
        {"number": 7, "base": {"repo": {"id": 101}}}, {"number": 8, "base": {"repo": {"id": 999}}},
        {"number": 9, "base": {"repo": {"url": "https://api.github.com/repos/octo/hello", "name": "hello"}}}, {"number": null},
    ]);
    let payload = match name {
        "status" => json!({"id": 1, "sha": sha, "context": "ci/x", "state": conclusion, "description": "bad\r\nluck",
            "repository": repository(), "updated_at": "2026-01-01T00:00:00Z", "target_url": "https://ci/1"}),
        "check_run" => json!({"action": "completed", "repository": repository(), "check_run": {"id": 4, "name": "ci/x",
            "head_sha": sha, "status": "completed", "conclusion": conclusion, "completed_at": "2026-01-01T00:00:00Z",
            "html_url": "https://ci/1", "pull_requests": named, "output": {"title": "3 failed"}}}),
        _ => json!({"action": "completed", "repository": repository(), "workflow_run": {"id": 4, "name": "ci/x",
            "head_sha": sha, "head_branch": "fix", "head_repository": {"id": 101}, "conclusion": conclusion,
            "run_attempt": 2, "html_url": "https://ci/1", "pull_requests": named}}),
    };
    event(name, &payload.to_string())
}

#[test]
fn failed_checks_speak_and_name_only_pull_requests_of_this_repository() {
    for (name, run, text, pull_requests, own_branch) in [
        ("check_run", "2026-01-01t00:00:00z", "3 failed", vec![7], None),
        ("status", "2026-01-01t00:00:00z", "bad\nluck", vec![], None),
        ("workflow_run", "4.2", "", vec![7], Some("fix".to_owned())),
    ] {
        let event = check(name, "failure");
        let speech = speech(&event);
        let head_sha = "a".repeat(40);
        assert_eq!(speech.identity.as_str(), format!("github.com/101/check/{head_sha}/ci/x/{run}"));
        assert_eq!((speech.text.as_str(), &speech.author, &speech.subject), (text, &None, &None));
        assert_eq!(speech.link.as_deref(), Some("https://ci/1"));
        let is_workflow_run = name == "workflow_run";
        let (name, conclusion) = ("ci/x".to_owned(), "failure".to_owned());
        let expected = Check { name, conclusion, head_sha, pull_requests, own_branch, is_workflow_run };
        assert_eq!(speech.form, Form::Check(expected));
    }
}

#[test]
fn only_bad_ends_of_checks_speak() {
    for (name, bad, fine) in [
        (
            "check_run",
            &["failure", "timed_out", "action_required"][..],
            &["success", "neutral", "cancelled", "skipped", ""][..],
        ),
        ("workflow_run", &["failure", "timed_out", "action_required"], &["success", "cancelled", "stale"]),
        ("status", &["failure", "error"], &["success", "pending"]),
    ] {
        for conclusion in bad {
            assert!(matches!(check(name, conclusion).content, Content::Speech(_)), "{name} {conclusion}");
        }
        for conclusion in fine {
            assert_eq!(ignored(&check(name, conclusion)), Ignored::NotAFailure, "{name} {conclusion}");
        }
    }
}

#[test]
fn checks_that_run_or_are_asked_again_are_silent() {
    let of = |name: &str, action: &str, status: &str| {
        let run = json!({"name": "x", "head_sha": "a".repeat(40), "status": status, "conclusion": "failure", "id": 1});
        event(name, &json!({"action": action, "repository": repository(), "check_run": run}).to_string())
    };
    assert_eq!(ignored(&of("check_run", "created", "in_progress")), Ignored::NotAFailure);
    assert!(matches!(of("check_run", "created", "completed").content, Content::Speech(_)));
    assert_eq!(ignored(&of("check_run", "rerequested", "completed")), Ignored::UnlistedAction);
    assert_eq!(ignored(&of("workflow_run", "in_progress", "")), Ignored::NotAFailure);
    let no_commit = json!({"state": "error", "context": "x", "id": 1, "sha": "../x", "repository": repository()});
    assert_eq!(ignored(&event("status", &no_commit.to_string())), Ignored::Incomplete);
}

#[test]
fn a_foreign_head_names_no_branch() {
    let run = json!({"id": 4, "name": "ci", "head_sha": "a".repeat(40), "head_branch": "issue-3", "run_attempt": 1,
        "head_repository": {"id": 5, "full_name": "mallory/hello"}, "conclusion": "failure"});
    let payload = json!({"action": "completed", "repository": repository(), "workflow_run": run});
    let event = event("workflow_run", &payload.to_string());
    let Form::Check(check) = &speech(&event).form else { panic!("{event:?}") };
    assert_eq!(check.own_branch, None);
}
