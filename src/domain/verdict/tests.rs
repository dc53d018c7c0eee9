//! Every row of the table of verdicts, and what may be recorded.

use serde_json::Value;

use super::*;
use crate::domain::run::{Corrupt, TaskId};
use crate::domain::time::Time;

const TASK: &str = "task-0123456789abcdef";

fn at(seconds: i64) -> Time {
    Time::from_millis(1_772_439_330_000 + seconds * 1000)
}

fn criterion(id: &str, level: Level) -> Entry {
    Entry::Criterion(Criterion { id: id.into(), level, text: "it works".into(), artifacts: Vec::new() })
}

fn exec(id: &str, command: &str, exit_code: i64, tree: &str, changed_tree: bool) -> Entry {
    let exec = Exec {
        argv: vec![command.into()],
        exit_code,
        duration_ms: 1,
        output_digest: String::new(),
        output_tail: String::new(),
        changed_tree,
    };
    let proof = Proof::Exec(exec);
    Entry::Evidence(Evidence { criterion: id.into(), at: at(1), head: None, tree: Some(tree.into()), proof })
}

fn passed(id: &str) -> Entry {
    exec(id, "test", 0, "now", false)
}

fn claim(id: &str) -> Entry {
    let proof = Proof::Advisory("I looked".into());
    Entry::Evidence(Evidence { criterion: id.into(), at: at(1), head: None, tree: Some("now".into()), proof })
}

fn finding(severity: Severity, is_open: bool) -> Entry {
    Entry::Finding(Finding { id: "F".into(), severity, text: "a hole".into(), is_open })
}

fn blocker(is_open: bool) -> Entry {
    Entry::Blocker(OpenBlocker { id: "B".into(), text: "a key".into(), is_open })
}

fn manifest(entries: Vec<Entry>) -> Manifest {
    let empty = Manifest::new(TaskId::parse(TASK).unwrap(), "p".into(), at(0));
    entries.into_iter().fold(empty, |manifest, entry| append(&manifest, entry, at(2)).unwrap())
}

fn today<'t>() -> Today<'t> {
    Today { task: TASK, project: "p", tree: Some("now"), missing: Vec::new() }
}

fn verdict(entries: Vec<Entry>) -> Verdict {
    judge(Some(&Ok(manifest(entries))), &today()).verdict
}

#[test]
fn each_row_of_the_table() {
    use Level::{Could, Must, Should};
    let must = || criterion("C1", Must);
    for (what, entries, want) in [
        ("shown", vec![must(), passed("C1")], Verdict::Pass),
        ("no criteria", vec![], Verdict::Blocked),
        ("no evidence", vec![must()], Verdict::Blocked),
        ("a failure", vec![must(), exec("C1", "test", 1, "now", false)], Verdict::Fail),
        ("an early failure", vec![must(), exec("C1", "test", 1, "old", false), passed("C1")], Verdict::Pass),
        ("a late failure", vec![must(), passed("C1"), exec("C1", "test", 1, "now", false)], Verdict::Fail),
        ("another command fails", vec![must(), passed("C1"), exec("C1", "lint", 1, "now", false)], Verdict::Fail),
        ("a failure wins over a blocker", vec![must(), exec("C1", "t", 1, "now", false), blocker(true)], Verdict::Fail),
        ("a blocker", vec![must(), passed("C1"), blocker(true)], Verdict::Blocked),
        ("a blocker that is gone", vec![must(), passed("C1"), blocker(true), blocker(false)], Verdict::Pass),
        ("a grave finding", vec![must(), passed("C1"), finding(Severity::High, true)], Verdict::Blocked),
        (
            "closed",
            vec![must(), passed("C1"), finding(Severity::Critical, true), finding(Severity::Critical, false)],
            Verdict::Pass,
        ),
        (
            "reopened",
            vec![must(), passed("C1"), finding(Severity::High, false), finding(Severity::High, true)],
            Verdict::Blocked,
        ),
        ("a small finding", vec![must(), passed("C1"), finding(Severity::Medium, true)], Verdict::Pass),
        ("a claim only", vec![must(), claim("C1")], Verdict::NeedsReview),
        ("a command that changed the tree", vec![must(), exec("C1", "t", 0, "now", true)], Verdict::NeedsReview),
        ("a should without evidence", vec![must(), passed("C1"), criterion("C2", Should)], Verdict::NeedsReview),
        (
            "a should that failed",
            vec![must(), passed("C1"), criterion("C2", Should), exec("C2", "t", 1, "now", false)],
            Verdict::NeedsReview,
        ),
        ("a should that is claimed", vec![must(), passed("C1"), criterion("C2", Should), claim("C2")], Verdict::Pass),
        ("a could without evidence", vec![must(), passed("C1"), criterion("C2", Could)], Verdict::Pass),
        ("old evidence", vec![must(), exec("C1", "test", 0, "old", false)], Verdict::NeedsReview),
    ] {
        assert_eq!(verdict(entries), want, "{what}");
    }
}

#[test]
fn what_cannot_be_trusted_is_blocked_and_absence_is_no_pass() {
    let good = || manifest(vec![criterion("C1", Level::Must), passed("C1")]);
    let said = |manifest: Option<Result<Manifest, Corrupt>>, today: &Today<'_>| judge(manifest.as_ref(), today).verdict;
    assert_eq!(said(None, &today()), Verdict::Blocked);
    assert_eq!(said(Some(Err(Corrupt::Invalid("x".into()))), &today()), Verdict::Blocked);
    assert_eq!(said(Some(Ok(good())), &Today { task: "task-0000000000000000", ..today() }), Verdict::Blocked);
    assert_eq!(said(Some(Ok(good())), &Today { project: "q", ..today() }), Verdict::Blocked);
    assert_eq!(said(Some(Ok(good())), &Today { missing: vec!["a".into()], ..today() }), Verdict::Blocked);
    assert_eq!(said(Some(Ok(good())), &Today { tree: None, ..today() }), Verdict::NeedsReview, "nobody can say");
    assert_eq!(said(Some(Ok(good())), &today()), Verdict::Pass);
}

#[test]
fn a_recorded_pass_that_fails_today_is_exposed_and_a_recorded_failure_stays() {
    let recorded = manifest(vec![criterion("C1", Level::Must), passed("C1"), exec("C1", "lint", 1, "now", false)]);
    let mut again = Vec::new();
    let (fresh, exposed) = rerun(&recorded, |evidence| {
        again.push(evidence.subject().unwrap().to_vec());
        match exec("C1", "test", 3, "now", false) {
            Entry::Evidence(evidence) => evidence,
            _ => unreachable!(),
        }
    });
    assert_eq!(again, [["test"]], "a failure is not tried until it passes");
    assert_eq!(exposed, ["`C1`: `test` was recorded as passed and ends with exit code 3"]);
    assert_eq!(judge(Some(&Ok(fresh)), &today()).verdict, Verdict::Fail);
}

#[test]
fn a_recorded_pass_that_passes_again_is_not_exposed() {
    let old = exec("C1", "test", 0, "old", false);
    let recorded = manifest(vec![criterion("C1", Level::Must), old]);
    assert_eq!(judge(Some(&Ok(recorded.clone())), &today()).verdict, Verdict::NeedsReview);
    let (fresh, exposed) = rerun(&recorded, |evidence| Evidence { tree: Some("now".into()), ..evidence.clone() });
    assert_eq!((exposed, judge(Some(&Ok(fresh)), &today()).verdict), (Vec::new(), Verdict::Pass));
}

#[test]
fn each_verdict_says_every_reason() {
    use Level::{Must, Should};
    let must = || criterion("C1", Must);
    for (entries, want) in [
        (vec![must(), passed("C1")], "PASS"),
        (vec![must(), exec("C1", "t", 1, "now", false)], "FAIL `C1`: `t` ended with exit code 1"),
        (vec![], "BLOCKED no criteria are declared"),
        (
            vec![must(), blocker(true), finding(Severity::High, true)],
            "BLOCKED blocker `B` is open: a key; finding `F` is open (HIGH): a hole; `C1` (MUST) has no evidence",
        ),
        (vec![must(), claim("C1")], "NEEDS_REVIEW `C1` (MUST) is covered by claims only"),
        (
            vec![must(), exec("C1", "t", 0, "old", false), criterion("C2", Should)],
            "NEEDS_REVIEW `C1`: evidence is older than the last change of the tree; `C2` (SHOULD) has no evidence",
        ),
        (
            vec![must(), passed("C1"), criterion("C2", Should), exec("C2", "t", 1, "now", false)],
            "NEEDS_REVIEW `C2` (SHOULD) is not met",
        ),
    ] {
        let Judgement { verdict, reasons } = judge(Some(&Ok(manifest(entries))), &today());
        assert_eq!(format!("{verdict} {}", reasons.join("; ")).trim_end(), want);
    }
}

#[test]
fn words_are_read_as_they_are_written() {
    assert!(Level::ALL.into_iter().all(|level| Level::by_word(level.word()) == Some(level)));
    assert!(Severity::ALL.into_iter().all(|severity| Severity::by_word(severity.word()) == Some(severity)));
    assert_eq!((Level::by_word("must"), Severity::by_word("high")), (None, None));
    for (error, words) in [
        (EntryError::Twice("C1".into()), "the criterion `C1` is declared already, and never changes"),
        (EntryError::NoCriterion("C2".into()), "there is no criterion `C2`"),
    ] {
        assert_eq!(error.to_string(), words);
    }
}

#[test]
fn an_entry_of_the_largest_size_is_read_and_a_larger_one_is_not() {
    let mut entry = br#"{"blocker": {"id": "B1", "text": "t", "open": true}}"#.to_vec();
    entry.resize(crate::domain::run::LARGEST, b' ');
    assert!(parse_entry(&entry, at(0), None, None).is_ok());
    entry.push(b' ');
    assert_eq!(parse_entry(&entry, at(0), None, None), Err("it is larger than 1048576 bytes".into()));
}

#[test]
fn what_was_recorded_never_changes() {
    let declared = manifest(vec![criterion("C1", Level::Must)]);
    let weaker = append(&declared, criterion("C1", Level::Could), at(3));
    assert_eq!(weaker, Err(EntryError::Twice("C1".into())));
    assert_eq!(append(&declared, passed("C2"), at(3)), Err(EntryError::NoCriterion("C2".into())));
    let next = append(&declared, passed("C1"), at(3)).unwrap();
    assert_eq!((next.generation, next.updated_at), (2, at(3)));
    let text = crate::domain::json::pretty(&document(&next));
    assert_eq!(parse(text.as_bytes()), Ok(next));
}

#[test]
fn an_entry_is_read_strictly_and_a_typed_one_is_never_more_than_a_claim() {
    let read = |text: &str| parse_entry(text.as_bytes(), at(0), None, None);
    for good in [
        r#"{"criterion": {"id": "C1", "level": "MUST", "text": "t", "artifacts": ["a/b"]}}"#,
        r#"{"evidence": {"criterion": "C1", "claim": "I looked"}}"#,
        r#"{"finding": {"id": "F1", "severity": "LOW", "text": "t", "open": true}}"#,
        r#"{"blocker": {"id": "B1", "text": "t", "open": false}}"#,
    ] {
        assert!(read(good).is_ok(), "{good}: {:?}", read(good));
    }
    for bad in [
        "",
        "[]",
        "{}",
        r#"{"criterion": {"id": "", "level": "MUST", "text": "t"}}"#,
        r#"{"criterion": {"id": "C1", "level": "must", "text": "t"}}"#,
        r#"{"criterion": {"id": "C1", "level": "MUST", "text": "t", "artifacts": ["../x"]}}"#,
        r#"{"criterion": {"id": "C1", "level": "MUST", "text": "t", "artifacts": ["/x"]}}"#,
        r#"{"criterion": {"id": "C1", "level": "MUST", "text": "t"}, "blocker": {"id": "B", "text": "t", "open": true}}"#,
        r#"{"evidence": {"criterion": "C1", "exec": {"argv": ["true"], "exitCode": 0}}}"#,
        r#"{"finding": {"id": "F1", "severity": "LOW", "text": "t", "open": true, "more": 1}}"#,
        r#"{"blocker": {"id": "B1", "id": "B2", "text": "t", "open": true}}"#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn everything_of_a_manifest_comes_back_and_what_is_not_exactly_one_is_refused() {
    let entries = vec![
        criterion("C1", Level::Should),
        criterion("C2", Level::Must),
        passed("C1"),
        claim("C2"),
        finding(Severity::Low, true),
        blocker(false),
    ];
    let whole = manifest(entries);
    let file = document(&whole);
    assert_eq!(parse(file.to_string().as_bytes()), Ok(whole));
    let empty = || Value::from(" ");
    for (place, value, why) in [
        ("/taskId", Value::from("task-0"), "`taskId` has no value `task-0`"),
        ("/updatedAt", Value::from("today"), "`updatedAt` is not a UTC time"),
        ("/criteria/0/level", Value::from("must"), "`level` has no value `must`"),
        ("/criteria/1/id", Value::from("C1"), "the criterion `C1` stands there twice"),
        ("/criteria/0/text", empty(), "`criterion.text` is empty"),
        ("/criteria/0/artifacts", Value::from(vec!["a/./b"]), "`artifacts` holds `a/./b`, which is no path below"),
        ("/evidence/0/criterion", Value::from("C9"), "evidence names `C9`, which is no criterion"),
        ("/evidence/0/exec/argv", Value::Array(Vec::new()), "`exec.argv` is empty"),
        ("/evidence/0/exec", Value::Null, "evidence is either `exec` or `advisory`"),
        ("/evidence/1/at", Value::from("today"), "`evidence.at` is not a UTC time"),
        ("/findings/0/severity", Value::from("SMALL"), "`severity` has no value `SMALL`"),
        ("/findings/0/id", empty(), "`finding.id` is empty"),
        ("/blockers/0/text", empty(), "`blocker.text` is empty"),
    ] {
        let mut changed = file.clone();
        *changed.pointer_mut(place).unwrap() = value;
        let said = parse(changed.to_string().as_bytes()).unwrap_err().to_string();
        assert!(said.starts_with(why), "{place}: {said}");
    }
}
