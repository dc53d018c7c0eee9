//! Evidence and verdicts by the real commands.

use std::fs;

use serde_json::Value as Json;

use super::Project;

const CRITERION: &str = r#"{"criterion": {"id": "C1", "level": "MUST", "text": "it works", "artifacts": ["file"]}}"#;

fn declared() -> Project {
    let project = Project::new();
    project.start();
    assert_eq!(project.record(CRITERION).code, 0);
    project
}

fn manifest(project: &Project) -> Json {
    serde_json::from_slice(&fs::read(project.path(".loop/verification.json")).unwrap()).unwrap()
}

#[test]
fn what_is_shown_passes_and_completes_and_is_archived_with_its_evidence() {
    let project = declared();
    project.expect("verify evaluate", 2);
    project.expect("verify exec --criterion C1 -- cat file", 0);
    assert_eq!(manifest(&project)["evidence"][0]["exec"]["outputTail"], "one");
    assert_eq!(project.expect("verify evaluate", 0).stdout, "PASS\n");
    project.expect("verify evaluate --fresh", 0);
    let done = project.expect("run complete", 0);
    assert!(done.stdout.contains("COMPLETED"), "{}", done.stdout);
    let task = done.stdout.split(' ').next().unwrap();
    let archived = |name: &str| fs::read_to_string(project.path(&format!(".loop/archive/{task}{name}"))).unwrap();
    assert!(archived(".json").contains("the evaluator said PASS"));
    assert!(archived(".verification.json").contains("\"argv\""));
    assert!(!project.live().exists() && !project.path(".loop/verification.json").exists());
    project.expect("verify evaluate", 2);
    project.start();
}

#[test]
fn a_change_of_the_tree_makes_evidence_old_and_a_commit_of_it_does_not() {
    let project = declared();
    fs::write(project.path("file"), "changed").unwrap();
    project.expect("verify exec --criterion C1 -- true", 0);
    project.git("commit -q -a -m two");
    project.expect("verify evaluate", 0);
    fs::write(project.path("new"), "untracked").unwrap();
    let review = project.expect("verify evaluate", 3);
    assert!(review.stdout.starts_with("NEEDS_REVIEW\n") && review.stdout.contains("older"), "{}", review.stdout);
    project.expect("run complete", 1);
    project.expect("verify exec --criterion C1 -- true", 0);
    project.expect("verify evaluate", 0);
}

#[test]
fn a_failure_is_decisive_until_the_same_command_passes() {
    let project = declared();
    let argv = ["verify", "exec", "--criterion", "C1", "--", "sh", "-c", "test -f ready"];
    assert_eq!(project.run_with(&argv, "", &[]).code, 1);
    let failed = project.expect("verify evaluate", 1);
    assert!(failed.stdout.starts_with("FAIL\n"), "{}", failed.stdout);
    project.expect("verify exec --criterion C1 -- true", 0);
    project.expect("verify evaluate", 1);
    fs::write(project.path("ready"), "").unwrap();
    assert_eq!(project.run_with(&argv, "", &[]).code, 0);
    project.expect("verify exec --criterion C1 -- true", 0);
    project.expect("verify evaluate", 0);
}

#[test]
fn claims_and_commands_that_change_the_tree_are_advisory() {
    let project = declared();
    assert_eq!(project.record(r#"{"evidence": {"criterion": "C1", "claim": "I looked"}}"#).code, 0);
    project.expect("verify evaluate", 3);
    project.expect("verify exec --criterion C1 -- touch made", 0);
    assert_eq!(manifest(&project)["evidence"][1]["exec"]["changedTree"], true);
    project.expect("verify evaluate", 3);
    let forged = project.record(r#"{"evidence": {"criterion": "C1", "exec": {"argv": ["true"], "exitCode": 0}}}"#);
    assert_eq!(forged.code, 1, "{}", forged.stderr);
    project.expect("verify exec --criterion C9 -- touch not-run", 1);
    assert!(!project.path("not-run").exists(), "what is not declared is not run");
}

#[test]
fn a_tampered_verdict_is_exposed_by_running_it_again() {
    let project = declared();
    project.expect("verify exec --criterion C1 -- false", 1);
    let path = project.path(".loop/verification.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"exitCode\": 1", "\"exitCode\": 0")).unwrap();
    project.expect("verify evaluate", 0);
    let exposed = project.expect("verify evaluate --fresh", 1);
    assert!(exposed.stdout.contains("was recorded as passed and ends with exit code 1"), "{}", exposed.stdout);
}

#[test]
fn a_manifest_of_another_run_or_project_or_with_a_secret_is_refused_and_preserved() {
    let project = declared();
    // What it leaves in git's own folder changes no tree, and tells whether it was run.
    let trace = project.path(".git/was-run");
    project.expect("verify exec --criterion C1 -- touch .git/was-run", 0);
    fs::remove_file(&trace).unwrap();
    project.expect("verify evaluate --fresh", 0);
    fs::remove_file(&trace).unwrap();
    let path = project.path(".loop/verification.json");
    let good = fs::read_to_string(&path).unwrap();
    let secret = ["gh", "p_", &"a1B2".repeat(9)].concat();
    let task = manifest(&project)["taskId"].as_str().unwrap().to_owned();
    let fingerprint = manifest(&project)["project"].as_str().unwrap().to_owned();
    for (what, text) in [
        ("another run", good.replace(&task, "task-0123456789abcdef")),
        ("another project", good.replace(&fingerprint, &"0".repeat(64))),
        ("a secret", good.replace("it works", &secret)),
        ("no JSON", good.replace('{', "")),
        ("another schema", good.replace("\"schemaVersion\": 1", "\"schemaVersion\": 2")),
    ] {
        fs::write(&path, &text).unwrap();
        let judged = project.expect("verify evaluate", 2);
        assert!(
            judged.stdout.starts_with("BLOCKED\n") && !judged.stdout.contains(&secret),
            "{what}: {}",
            judged.stdout
        );
        project.expect("verify evaluate --fresh", 2);
        assert!(!trace.exists(), "{what}: a stranger's command was run");
        project.expect("verify exec --criterion C1 -- touch not-run", 2);
        assert_eq!(project.record(CRITERION).code, 2, "{what}");
        project.expect("run complete", 1);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{what}");
        assert!(!project.path("not-run").exists(), "{what}");
    }
}

#[test]
fn blockers_findings_and_missing_artifacts_block() {
    let project = declared();
    project.expect("verify exec --criterion C1 -- true", 0);
    for (open, closed) in [
        (
            r#"{"blocker": {"id": "B1", "text": "a key", "open": true}}"#,
            r#"{"blocker": {"id": "B1", "text": "a key", "open": false}}"#,
        ),
        (
            r#"{"finding": {"id": "F1", "severity": "HIGH", "text": "a hole", "open": true}}"#,
            r#"{"finding": {"id": "F1", "severity": "HIGH", "text": "a hole", "open": false}}"#,
        ),
    ] {
        assert_eq!(project.record(open).code, 0);
        project.expect("verify evaluate", 2);
        assert_eq!(project.record(closed).code, 0);
        project.expect("verify evaluate", 0);
    }
    fs::remove_file(project.path("file")).unwrap();
    let missing = project.expect("verify evaluate", 2);
    assert!(missing.stdout.contains("the artifact `file` is missing"), "{}", missing.stdout);
}

#[test]
fn a_manifest_that_could_not_be_read_again_is_not_written() {
    let project = declared();
    let long = |id: &str| {
        let text = "x ".repeat(300_000);
        serde_json::json!({ "finding": { "id": id, "severity": "LOW", "text": text, "open": true } }).to_string()
    };
    let first = project.record(&long("F1"));
    assert_eq!(first.code, 0, "{}", first.stderr);
    let refused = project.record(&long("F2"));
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("could not be read again"), "{}", refused.stderr);
    assert_eq!(manifest(&project)["findings"].as_array().unwrap().len(), 1, "and what is there can be read");
}
