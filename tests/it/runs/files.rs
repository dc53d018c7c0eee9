//! What lies under `.loop/`: nothing unreadable is written over, nothing secret is written, archives stay.

use std::fs;

use super::{CHANGES, Project};

fn classic() -> String {
    ["gh", "p_", &"a1B2".repeat(9)].concat()
}

#[test]
fn what_cannot_be_trusted_is_preserved_byte_for_byte_and_refused() {
    let project = Project::new();
    project.start();
    let good = String::from_utf8(project.bytes()).unwrap();
    for (what, text, said) in [
        ("no JSON", "{\"schemaVersion\": 1,".to_owned(), "it is not JSON"),
        ("empty", String::new(), "it is not JSON"),
        ("another schema", good.replace("\"schemaVersion\": 1", "\"schemaVersion\": 2"), "schema 2"),
        ("an unknown field", good.replace("\"stage\"", "\"more\": 1,\n  \"stage\""), "unknown field"),
        ("a key twice", good.replace("\"stage\"", "\"stage\": 1,\n  \"stage\""), "duplicate key"),
        ("another objective", good.replace("\"objective\": \"build\"", "\"objective\": \"break\""), "does not follow"),
        ("an integrity that is none", good.replace("VALID", "CORRUPT"), "`integrity` has no value"),
        ("a status that is none", good.replace("ACTIVE", "RUNNING"), "`status` has no value"),
        ("a stage that is none", good.replace("\"stage\": 0", "\"stage\": 9"), "`stage` is 9"),
    ] {
        assert_ne!(text, good, "{what}");
        fs::write(project.live(), &text).unwrap();
        for line in CHANGES.into_iter().chain(["run status", "run repair", "verify record --from-stdin"]) {
            let ran = project.expect(line, 2);
            assert!(ran.stderr.contains("CORRUPT") && ran.stderr.contains(said), "{what}: {line}: {}", ran.stderr);
            assert_eq!(fs::read_to_string(project.live()).unwrap(), text, "{what}: {line}");
        }
        assert!(project.expect("run inspect", 2).stdout.contains("CORRUPT"), "{what}");
    }
    fs::write(project.live(), good).unwrap();
    project.expect("run pause", 0);
}

#[test]
fn s01_secret_shaped_values_are_refused_wherever_they_are_given() {
    let project = Project::new();
    let secret = classic();
    let refused = project.run_with(&["run", "start", "--objective", &secret], "", &[]);
    assert_eq!(refused.code, 1);
    assert!(!project.live().exists());
    project.start();
    let before = project.bytes();
    let setting = format!("apiToken={}", ["Zx9", "Kq7Lm2Pw8Rt4Vy6"].concat());
    for (args, field) in [
        (vec!["run", "checkpoint", "--note", &secret], "`stageNote`"),
        (vec!["run", "checkpoint", "--set", &setting], "`settings.apiToken`"),
        (vec!["run", "block", "--reason", &secret], "`blockers[0].reason`"),
        (vec!["run", "recover", "--reason", &secret], "`recovery.reason`"),
        (vec!["run", "cancel", "--reason", &secret], "`stopReason`"),
    ] {
        let refused = project.run_with(&args, "", &[]);
        assert_eq!(refused.code, 1, "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(field) && !refused.stderr.contains("a1B2"), "{}", refused.stderr);
        assert_eq!(project.bytes(), before, "{args:?}");
    }
    let refused =
        project.record(&format!("{{\"blocker\": {{\"id\": \"B\", \"text\": \"{secret}\", \"open\": true}}}}"));
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(!project.path(".loop/verification.json").exists() && !project.path(".loop/archive").exists());
}

#[test]
fn f19_archives_are_never_replaced() {
    let project = Project::new();
    project.start();
    let live = project.bytes();
    for turn in 1..=5 {
        fs::write(project.live(), &live).unwrap();
        project.expect(&format!("run cancel --reason turn-{turn}"), 0);
        assert!(!project.live().exists());
    }
    let mut names: Vec<String> = fs::read_dir(project.path(".loop/archive"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().trim_end_matches(".json").to_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), 5);
    for (turn, name) in (1..).zip(&names) {
        let text = fs::read_to_string(project.path(&format!(".loop/archive/{name}.json"))).unwrap();
        assert!(text.contains(&format!("\"stopReason\": \"turn-{turn}\"")) && text.contains("CANCELLED"), "{name}");
    }
}

#[test]
fn f11_a_linked_file_stays_a_link() {
    let project = Project::new();
    project.start();
    let real = project.dir.path().join("real.json");
    fs::rename(project.live(), &real).unwrap();
    std::os::unix::fs::symlink(&real, project.live()).unwrap();
    project.expect("run pause", 0);
    assert!(fs::symlink_metadata(project.live()).unwrap().is_symlink());
    assert!(fs::read_to_string(real).unwrap().contains("PAUSED"));
}

#[test]
fn interrupted_temporaries_are_reported_and_only_superseded_ones_removed() {
    let project = Project::new();
    project.start();
    let first = project.bytes();
    project.expect("run checkpoint --stage 1", 0);
    let at = |name: &str| project.path(&format!(".loop/continuity.json.tmp-{name}"));
    fs::write(at("1"), &first).unwrap();
    project.expect("run status", 0);
    assert!(project.expect("run repair", 0).stdout.starts_with("removed "));
    assert!(!at("1").exists());
    // A write that was cut off: newer, so the run may not be the latest word.
    let newer = String::from_utf8(project.bytes()).unwrap().replace("\"generation\": 2", "\"generation\": 3");
    fs::write(at("3"), &newer).unwrap();
    fs::write(at("2"), "{ torn").unwrap();
    let status = project.expect("run status", 0);
    assert!(status.stdout.contains("SUSPECTED_STALE"), "{}", status.stdout);
    let kept = project.expect("run repair", 1);
    assert!(kept.stderr.contains("cut off") && kept.stderr.contains("cannot be read"), "{}", kept.stderr);
    assert_eq!((fs::read_to_string(at("3")).unwrap(), fs::read_to_string(at("2")).unwrap()), (newer, "{ torn".into()));
    // It is kept in the record from the next write on, and the cut-off write is not written over.
    project.expect("run checkpoint --stage 2", 0);
    assert_eq!(project.json()["integrity"], "SUSPECTED_STALE");
    assert!(project.expect("run complete", 1).stderr.contains("SUSPECTED_STALE"));
    let digest = project.digest();
    project.expect(&format!("run resume --approve {digest}"), 0);
    assert_eq!(project.json()["integrity"], "VALID");
    project.expect("run repair", 1);
    assert!(!at("3").exists() && at("2").exists(), "what can be read is superseded by now");
}
