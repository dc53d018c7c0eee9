//! The gates: nothing resumes by itself, and what is approved is the very report that was read.

use std::fs::File;
use std::io::Write as _;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::Project;

/// Resumes at a terminal of its own, on which somebody types an answer.
fn answered(project: &Project, answer: &str) -> Option<i32> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = project.command(assert_cmd::cargo::cargo_bin!("the-loop"));
    command.args(["run", "resume"]).stdin(theirs.try_clone().unwrap()).stdout(Stdio::null()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    File::from(ours.try_clone().unwrap()).write_all(answer.as_bytes()).unwrap();
    child.wait().unwrap().code()
}

#[test]
fn at_a_terminal_somebody_is_asked_and_only_a_yes_resumes() {
    let project = Project::new();
    project.start();
    project.expect("run pause", 0);
    let before = project.bytes();
    for answer in ["n\n", "\n", "of course\n"] {
        assert_eq!(answered(&project, answer), Some(1), "{answer:?}");
        assert_eq!(project.bytes(), before, "{answer:?}");
    }
    assert_eq!(answered(&project, "yes\n"), Some(0));
    assert_eq!(project.json()["status"], "ACTIVE");
}

#[test]
fn a_resume_takes_the_digest_of_the_report_of_this_moment_once() {
    let project = Project::new();
    project.start();
    project.expect("run checkpoint --stage 4", 0);
    project.expect("run pause", 0);
    let before = project.bytes();
    let refused = project.expect("run resume", 1);
    for said in ["stage 4 of 8", "Commits since   0", "Digest"] {
        assert!(refused.stdout.contains(said), "{said}: {}", refused.stdout);
    }
    assert!(refused.stderr.contains("nobody approved"), "{}", refused.stderr);
    assert_eq!(project.bytes(), before, "the report changes nothing");
    let digest = project.digest();
    project.expect("run resume --approve 000000000000", 1);
    project.commit("two");
    let outdated = project.expect(&format!("run resume --approve {digest}"), 1);
    assert!(outdated.stderr.contains("does not approve the report of this moment"), "{}", outdated.stderr);
    assert_eq!(project.bytes(), before);
    let report = project.expect("run resume", 1).stdout;
    assert!(report.contains("Commits since   1") && report.contains(" two\n"), "{report}");
    let digest = project.digest();
    project.expect(&format!("run resume --approve {digest}"), 0);
    assert_eq!((&project.json()["status"], &project.json()["stage"]), (&"ACTIVE".into(), &4.into()));
    project.expect("run pause", 0);
    project.expect(&format!("run resume --approve {digest}"), 1);
}

#[test]
fn a_history_that_was_rewritten_makes_a_run_stale_until_the_gates() {
    let project = Project::new();
    project.commit("two");
    project.start();
    project.git("reset -q --hard HEAD~1");
    project.commit("three");
    let status = project.expect("run status", 0);
    assert!(status.stdout.contains("is not part of today's history"), "{}", status.stdout);
    project.expect("run checkpoint --stage 1", 0);
    assert_eq!(project.json()["integrity"], "SUSPECTED_STALE");
    project.expect("run complete", 1);
    project.expect("run pause", 0);
    assert_eq!(project.json()["integrity"], "SUSPECTED_STALE", "it survives every update");
    let digest = project.digest();
    project.expect(&format!("run resume --approve {digest}"), 0);
    assert_eq!(project.json()["integrity"], "VALID");
    project.expect("run resume", 1);
}

#[test]
fn an_interruption_keeps_the_stage_it_was_in() {
    let project = Project::new();
    project.start();
    project.expect("run checkpoint --stage 6", 0);
    project.expect("run recover --reason killed", 0);
    assert_eq!(project.json()["recovery"]["interruptedStage"], 6);
    project.expect("run checkpoint --stage 7", 1);
    let digest = project.digest();
    project.expect(&format!("run resume --approve {digest}"), 0);
    assert_eq!(project.json()["stage"], 6);
    project.expect("run block --reason key", 0);
    project.expect("run resume", 1);
    project.expect("run unblock", 0);
    assert_eq!(project.json()["status"], "ACTIVE");
}
