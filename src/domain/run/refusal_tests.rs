//! What is refused here although a caller has looked before: each guard holds alone.

use super::*;
use crate::domain::time::Time;

fn identity(origin: &str) -> Identity {
    let project = Project {
        root: "/p".into(),
        origin: Some(origin.into()),
        expanded: None,
        branch: Some("main".into()),
        head: Some("a".into()),
    };
    project.identity()
}

fn begun(objective: &str) -> Result<Run, Refusal> {
    let at = Time::from_millis(1_772_439_330_000);
    start(objective, None, identity("https://github.com/octo/hello"), &Actor::default(), at)
}

#[test]
fn a_run_for_nothing_is_not_begun() {
    for objective in ["", " ", "\n\t\u{a0}"] {
        assert_eq!(begun(objective), Err(Refusal::Empty("the objective")), "{objective:?}");
    }
    assert_eq!(begun(" x ").unwrap().objective, " x ");
}

/// What is found in the project today, with nothing to tell.
fn found(origin: &str) -> Reconciliation {
    Reconciliation {
        today: identity(origin),
        is_ancestor: Some(true),
        commits: (Vec::new(), 0),
        changes: (Vec::new(), 0),
        leftovers: Vec::new(),
        work_item: None,
    }
}

#[test]
fn the_gates_report_nothing_to_another_project() {
    let run = Run { status: Status::Paused, ..begun("build it").unwrap() };
    assert!(gates(&run, &found("https://github.com/octo/hello"), false).is_ok());
    let refused = gates(&run, &found("https://github.com/octo/other"), false).map(|report| report.text);
    assert!(matches!(refused, Err(Refusal::Identity(_))), "{refused:?}");
}

#[test]
fn the_gates_open_only_for_what_was_put_aside_or_interrupted() {
    let here = found("https://github.com/octo/hello");
    for (status, is_stale, opens) in [
        (Status::Paused, false, true),
        (Status::RecoveryRequired, false, true),
        (Status::Active, true, true),
        (Status::Active, false, false),
        (Status::Blocked, true, false),
        (Status::Completed, true, false),
        (Status::Cancelled, true, false),
    ] {
        let run = Run { status, ..begun("build it").unwrap() };
        let reported = gates(&run, &here, is_stale).map(drop);
        let wanted = if opens { Ok(()) } else { Err(Refusal::Transition { verb: "resume", from: status }) };
        assert_eq!(reported, wanted, "{status} {is_stale}");
    }
}

#[test]
fn a_digest_approves_one_generation_although_nothing_else_changed() {
    let run = Run { status: Status::Paused, ..begun("build it").unwrap() };
    let later = Run { generation: run.generation + 2, ..run.clone() };
    let here = found("https://github.com/octo/hello");
    let (then, now) = (gates(&run, &here, false).unwrap(), gates(&later, &here, false).unwrap());
    assert_eq!(then.text, now.text);
    assert_ne!(then.digest, now.digest);
}

#[test]
fn a_file_of_any_size_is_not_read() {
    let sized = |bytes: usize| {
        let (head, tail) = (r#"{"schemaVersion": 1, "text": ""#, r#""}"#);
        format!("{head}{}{tail}", "x".repeat(bytes - head.len() - tail.len())).into_bytes()
    };
    assert!(strict_json::<serde_json::Value>(&sized(LARGEST)).is_ok());
    let refused = strict_json::<serde_json::Value>(&sized(LARGEST + 1)).unwrap_err().to_string();
    assert!(refused.contains("it is larger than 1048576 bytes"), "{refused}");
}
