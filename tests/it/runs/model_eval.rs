//! Evaluations of models by the real commands.

use std::fs;
use std::path::PathBuf;

use serde_json::Value as Json;

use super::Project;

/// Starts an evaluation; answers its id.
fn started(project: &Project, model: &str) -> String {
    let ran = project.expect(&format!("model-eval new {model} --operator mona --environment a-harness"), 0);
    ran.stdout.split(' ').next().expect("an id").to_owned()
}

fn observed(project: &Project, run: &str, task: &str, dimension: &str, success: bool) -> i32 {
    let typed = serde_json::json!({ "task": task, "dimension": dimension, "success": success, "evidence": "the diff" });
    project.run_with(&["model-eval", "record", run, "--from-stdin"], &typed.to_string(), &[]).code
}

/// A completed evaluation with three tasks of one dimension.
fn completed(project: &Project, model: &str, outcomes: [bool; 3]) -> String {
    let run = started(project, model);
    for (task, success) in ["add-a-function", "find-the-cause", "rename-without-change"].iter().zip(outcomes) {
        assert_eq!(observed(project, &run, task, "task-completion", success), 0);
    }
    project.expect(&format!("model-eval complete {run} --limitations one-day"), 0);
    run
}

fn file(project: &Project, run: &str) -> PathBuf {
    project.path(&format!(".loop/model-eval/{run}.json"))
}

#[test]
fn an_evaluation_is_started_recorded_completed_profiled_and_compared() {
    let project = Project::new();
    let one = completed(&project, "octo-1", [true, true, false]);
    completed(&project, "octo-2", [true, true, true]);
    let exclude = fs::read_to_string(project.path(".git/info/exclude")).unwrap();
    assert_eq!(exclude.matches(".loop/\n").count(), 1);
    let profile = project.expect("model-eval profile octo-1", 0).stdout;
    assert!(profile.contains("task-completion              2 of 3 (tasks: 3)\n"), "{profile}");
    assert!(profile.contains("honest-reporting             INSUFFICIENT_SAMPLE (tasks: 0)\n"), "{profile}");
    assert!(profile.contains("Limitations of octo-1\n  - one-day\n"), "{profile}");
    let straight = project.expect("model-eval compare octo-1 octo-2", 0).stdout;
    assert!(straight.contains("They are no ranking"), "{straight}");
    assert_eq!(project.expect("model-eval compare octo-2 octo-1", 0).stdout, straight);
    let document: Json =
        serde_json::from_str(&project.expect("model-eval compare octo-2 octo-1 --json", 0).stdout).unwrap();
    assert_eq!((&document["isRanking"], &document["sides"][0]["name"]), (&false.into(), &"octo-1".into()));
    let unscored = &document["sides"][0]["dimensions"][7];
    assert_eq!(unscored["sample"], "INSUFFICIENT_SAMPLE");
    assert!(unscored["successes"].is_null() && unscored["attempts"].is_null(), "{unscored}");
    assert!(project.expect(&format!("model-eval show {one}"), 0).stdout.contains("no success: the diff"));
    project.expect("model-eval compare octo-1 octo-1", 1);
}

#[test]
fn duplicates_are_refused_and_completed_records_stay_byte_for_byte() {
    let project = Project::new();
    let run = completed(&project, "octo-1", [true, true, true]);
    let before = fs::read(file(&project, &run)).unwrap();
    let again = project.expect("model-eval new octo-1 --operator hubot --environment elsewhere", 1);
    assert!(again.stderr.contains("is there already"), "{}", again.stderr);
    project.expect("model-eval new octo-1 --operator hubot --environment elsewhere --label 2", 0);
    assert_eq!(observed(&project, &run, "read-only-audit", "task-completion", false), 1);
    project.expect(&format!("model-eval complete {run} --limitations none"), 1);
    assert_eq!(fs::read(file(&project, &run)).unwrap(), before);
    let open = started(&project, "octo-2");
    assert_eq!(observed(&project, &open, "read-only-audit", "task-completion", false), 0);
    assert_eq!(observed(&project, &open, "read-only-audit", "task-completion", true), 1, "seen already");
    for limitations in [None, Some(""), Some("  ")] {
        let mut args = vec!["model-eval", "complete", &open];
        args.extend(limitations.iter().flat_map(|text| ["--limitations", text]));
        let refused = project.run_with(&args, "", &[]);
        assert_eq!(refused.code, 1, "{}", refused.stderr);
        assert!(refused.stderr.contains("statement of its limitations"), "{}", refused.stderr);
    }
}

#[test]
fn a_session_of_an_agent_starts_no_evaluation() {
    let project = Project::new();
    let args = ["model-eval", "new", "octo-1", "--operator", "mona", "--environment", "x"];
    let refused = project.run_with(&args, "", &[("THE_LOOP_WORK_ITEM", "github:octo/hello#1")]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("started by an operator"), "{}", refused.stderr);
    assert!(!project.path(".loop").exists());
}

#[test]
fn records_that_cannot_be_trusted_are_refused_and_preserved() {
    let project = Project::new();
    let run = completed(&project, "octo-1", [true, true, true]);
    let path = file(&project, &run);
    let good = fs::read_to_string(&path).unwrap();
    let fingerprint = serde_json::from_str::<Json>(&good).unwrap()["project"].as_str().unwrap().to_owned();
    for (what, text) in [
        ("a changed outcome", good.replacen("\"success\": true", "\"success\": false", 1)),
        ("an unknown field", good.replacen("\"runId\"", "\"rank\": 1, \"runId\"", 1)),
        ("another model", good.replace("octo-1", "octo-9")),
        ("another project", good.replace(&fingerprint, &"0".repeat(64))),
        ("another schema", good.replace("\"schemaVersion\": 1", "\"schemaVersion\": 2")),
        ("no JSON", good.replace('{', "")),
    ] {
        fs::write(&path, &text).unwrap();
        for line in [&format!("model-eval show {run}"), "model-eval show", "model-eval profile octo-1"] {
            project.expect(line, 2);
        }
        project.expect(&format!("model-eval complete {run} --limitations x"), 2);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{what}");
    }
    fs::write(&path, &good).unwrap();
    fs::copy(&path, file(&project, "eval-0123456789abcdef")).unwrap();
    project.expect("model-eval show eval-0123456789abcdef", 2);
}

#[test]
fn secret_shaped_values_are_refused_in_every_field_of_an_evaluation() {
    let project = Project::new();
    let secret = ["gh", "p_", &"a1B2".repeat(9)].concat();
    for with in [[secret.as_str(), "mona", "x"], ["m", &secret, "x"], ["m", "mona", &secret]] {
        let args = ["model-eval", "new", with[0], "--operator", with[1], "--environment", with[2]];
        let refused = project.run_with(&args, "", &[]);
        assert_eq!(refused.code, 1);
        assert!(refused.stderr.contains("github-token") && !refused.stderr.contains(&secret), "{}", refused.stderr);
    }
    let run = started(&project, "octo-1");
    let before = fs::read(file(&project, &run)).unwrap();
    let typed = format!(
        r#"{{"task": "read-only-audit", "dimension": "task-completion", "success": true, "evidence": "{secret}"}}"#
    );
    assert_eq!(project.run_with(&["model-eval", "record", &run, "--from-stdin"], &typed, &[]).code, 1);
    assert_eq!(fs::read(file(&project, &run)).unwrap(), before);
}

#[test]
fn only_superseded_temporaries_of_evaluations_are_removed() {
    let project = Project::new();
    let run = started(&project, "octo-1");
    let first = fs::read(file(&project, &run)).unwrap();
    assert_eq!(observed(&project, &run, "read-only-audit", "task-completion", true), 0);
    let temporary = |end: &str| project.path(&format!(".loop/model-eval/{run}.json.tmp-{end}"));
    fs::write(temporary("1"), &first).unwrap();
    project.expect("run inspect", 3);
    assert!(project.expect("run repair", 0).stdout.contains("tmp-1`: superseded"));
    assert!(!temporary("1").exists());
    fs::write(temporary("9"), "torn").unwrap();
    assert!(project.expect("run repair", 1).stderr.contains("tmp-9`: cannot be read"));
    assert!(temporary("9").exists());
}

#[test]
fn a_record_that_could_not_be_read_again_is_not_written() {
    let project = Project::new();
    let run = started(&project, "octo-1");
    let typed = |attempt: u32| {
        let evidence = "x ".repeat(300_000);
        serde_json::json!({
            "task": "read-only-audit", "dimension": "task-completion", "success": true, "attempt": attempt,
            "evidence": evidence,
        })
        .to_string()
    };
    let record = |attempt| project.run_with(&["model-eval", "record", &run, "--from-stdin"], &typed(attempt), &[]);
    assert_eq!(record(1).code, 0);
    let before = fs::read(file(&project, &run)).unwrap();
    let refused = record(2);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("could not be read again"), "{}", refused.stderr);
    assert_eq!(fs::read(file(&project, &run)).unwrap(), before);
    project.expect(&format!("model-eval show {run}"), 0);
}

#[test]
fn names_that_look_like_others_and_observations_that_are_no_objects_are_refused() {
    let project = Project::new();
    for name in ["eval-0123456789abcdef", "oc\u{200b}to", "octo\u{202e}1"] {
        let ran = project.run_with(&["model-eval", "new", name, "--operator", "mona", "--environment", "x"], "", &[]);
        assert_eq!(ran.code, if name.starts_with("eval-") { 1 } else { 64 }, "{name:?}: {}", ran.stderr);
    }
    let run = started(&project, "octo-1");
    let list = r#"["read-only-audit", 1, "task-completion", true, "x"]"#;
    let refused = project.run_with(&["model-eval", "record", &run, "--from-stdin"], list, &[]);
    assert!(refused.code == 1 && refused.stderr.contains("it is no object"), "{}", refused.stderr);
}
