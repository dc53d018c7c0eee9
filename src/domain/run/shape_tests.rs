//! The file of a run: every field comes back as it was, and nothing else is taken for one.

use super::super::command::{Actor, Command, apply, start};
use super::super::identity::Project;
use super::*;

/// With everything that a file can hold.
fn full() -> Run {
    let at = Time::from_millis(1_772_439_330_000);
    let identity = Project { root: "/p".into(), origin: None, expanded: None, branch: None, head: None }.identity();
    let actor = Actor { endpoint: Some("github:o/r#2".into()), ..Actor::program("github:o/r#1") };
    let run = start("build it", ProfileName::parse("careful"), identity.clone(), &actor, at).unwrap();
    let settings = ["text", "12", "true"].map(|typed| (format!("a {typed}"), Setting::typed(typed)));
    let note = Some("half".to_owned());
    let commands = [
        Command::Checkpoint { stage: Stage::new(3), note, settings: settings.into_iter().collect() },
        Command::Recover { reason: "killed".into() },
        Command::Block { reason: "a key".into() },
        Command::Cancel { reason: "no".into() },
    ];
    commands.iter().fold(run, |run, command| apply(&run, command, &identity, &actor, true, at).unwrap())
}

#[test]
fn everything_of_a_run_comes_back_as_it_was_written() {
    let run = full();
    assert_eq!(parse(render(&run).as_bytes()), Ok(run.clone()));
    let file = document(&run);
    for (at, word) in [
        ("/status", "CANCELLED"),
        ("/integrity", "SUSPECTED_STALE"),
        ("/identity/remote/kind", "path"),
        ("/profile", "careful"),
        ("/settings/a text", "text"),
        ("/recovery/reason", "killed"),
        ("/blockers/0/since", "2026-03-02T08:15:30Z"),
    ] {
        assert_eq!(file.pointer(at).and_then(Value::as_str), Some(word), "{at}");
    }
    assert_eq!((&file["settings"]["a 12"], &file["settings"]["a true"]), (&Value::from(12), &Value::from(true)));
}

#[test]
fn what_is_not_exactly_a_run_is_refused_with_its_reason() {
    let digest = |digit: &str, count| Value::from(digit.repeat(count));
    for (at, value, why) in [
        ("/taskId", Value::from("task-0123456789abcdef"), "`taskId` does not follow from `objective` and `createdAt`"),
        ("/updatedAt", Value::from("2026-03-02T08:15:30.000Z"), "`updatedAt` is not a UTC time such as"),
        ("/updatedAt", Value::from("today"), "`updatedAt` is not a UTC time such as"),
        ("/status", Value::from("active"), "`status` has no value `active`"),
        ("/integrity", Value::from("CORRUPT"), "`integrity` has no value `CORRUPT`"),
        ("/stage", Value::from(9), "`stage` is 9; there are the stages 0 to 8"),
        ("/profile", Value::from("No Name"), "`profile` has no value `No Name`"),
        ("/identity/remote/kind", Value::from("other"), "`identity.remote.kind` has no value `other`"),
        ("/identity/remote/fingerprint", digest("0", 63), "`identity.remote.fingerprint` is no SHA-256"),
        ("/identity/remote/fingerprint", digest("F", 64), "`identity.remote.fingerprint` is no SHA-256"),
        ("/settings/a text", Value::Null, "`settings.a text` is no text, number or boolean"),
        ("/schemaVersion", Value::from(2), "it is of schema 2, this program reads 1: it needs another version"),
    ] {
        let mut file = document(&full());
        *file.pointer_mut(at).unwrap() = value;
        let said = parse(file.to_string().as_bytes()).unwrap_err().to_string();
        assert!(said.starts_with(why), "{at}: {said}");
    }
}

#[test]
fn a_file_of_the_largest_size_is_read_and_a_larger_one_is_not() {
    let mut file = render(&full()).into_bytes();
    file.resize(LARGEST, b' ');
    assert_eq!(parse(&file), Ok(full()));
    file.push(b' ');
    assert_eq!(parse(&file), Err(Corrupt::Invalid("it is larger than 1048576 bytes".into())));
}
