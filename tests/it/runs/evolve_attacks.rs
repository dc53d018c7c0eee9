//! Evolution under attack: forged ledgers, changes and suites that reach for more, and an `evolve` that is ended half way.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value as Json, json};
use the_loop::domain::reference::hex;

use super::evolve::Skilled;
use crate::support::wait_for;

const LIMIT: Duration = Duration::from_secs(60);
const BETTER: &str = "stay in scope\nrun the tests\n";

/// Puts entries behind the ledger, with ids, links and head as they must be.
fn forge(skilled: &Skilled, whats: &[Json]) {
    let mut text = skilled.text();
    let last: Json = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let mut id = last["id"].as_str().unwrap().to_owned();
    let mut sequence = last["entry"]["sequence"].as_u64().unwrap();
    for what in whats {
        sequence += 1;
        let at = "2026-03-02T08:15:30Z";
        let entry = json!({ "schemaVersion": 1, "sequence": sequence, "previous": id, "at": at, "what": what });
        let entry = entry.to_string();
        id = hex(&<sha2::Sha256 as sha2::Digest>::digest(entry.as_bytes()));
        text += &format!("{{\"id\":\"{id}\",\"entry\":{entry}}}\n");
    }
    fs::write(skilled.ledger(), text).unwrap();
    let head = json!({ "schemaVersion": 1, "sequence": sequence, "id": id });
    fs::write(skilled.0.path(".loop/evolution/head.json"), head.to_string()).unwrap();
}

/// A project with a proposal; answers it too.
fn proposed() -> (Skilled, String) {
    let skilled = Skilled::new();
    skilled.fail("parse");
    let proposal = skilled.propose(&skilled.failures()[0], "skill.md");
    (skilled, proposal)
}

/// A candidate with this suite, for `sh`.
fn candidate(skilled: &Skilled, proposal: &str, suite: &str) -> String {
    let patch = skilled.patch("skill.md", BETTER);
    let args = ["candidate", proposal, "--patch", &patch, "--suite", "--", "sh", "-c", suite];
    skilled.json(&args, 0)["id"].as_str().unwrap().to_owned()
}

/// The id of a case that failed.
fn failed_case(skilled: &Skilled) -> String {
    let shown = skilled.json(&["show", "--limit", "1000"], 0);
    let entries = shown["entries"].as_array().unwrap();
    let failed = entries.iter().find(|entry| entry["entry"]["what"]["case"]["outcome"] == "FAILED").unwrap();
    failed["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_forged_ledger_with_a_whole_chain_is_found_by_the_rules_that_it_breaks() {
    let (skilled, proposal) = proposed();
    let rejected = skilled.compared(&proposal, "run the tests\n", 1);
    let better = skilled.compared(&proposal, BETTER, 0);
    let decision = |candidate: &str, approved_by: &str, applied: bool| {
        let (adopted, approved) = (true, approved_by);
        json!({ "decision": { "candidate": candidate, "adopted": adopted, "approvedBy": approved, "appliedByTool": applied } })
    };
    let good = (skilled.text(), fs::read(skilled.0.path(".loop/evolution/head.json")).unwrap());
    let restore = || {
        fs::write(skilled.ledger(), &good.0).unwrap();
        fs::write(skilled.0.path(".loop/evolution/head.json"), &good.1).unwrap();
    };
    let entries = good.0.lines().count();
    for (what, why) in [
        (decision(&rejected, "mona", false), "is REJECTED for a regression, for ever"),
        (decision(&better, "", false), "a decision needs the name of the person"),
        (
            json!({ "compared": { "candidate": rejected, "verdict": "ELIGIBLE", "reasons": [] } }),
            "was compared already",
        ),
        (json!({ "proposal": { "cases": [], "targets": ["skill.md"], "text": "x" } }), "at least one recorded case"),
    ] {
        forge(&skilled, &[what]);
        let forged = skilled.text();
        let found = skilled.json(&["verify"], 2);
        assert_eq!((&found["broken"], &found["entries"]), (&1.into(), &(entries + 1).into()), "{found}");
        let breach = &found["breaches"][0];
        assert_eq!(breach["sequence"], entries + 1);
        assert!(breach["why"].as_str().unwrap().contains(why), "{why}: {breach}");
        let said = skilled.call(&["verify"], 2).stdout;
        assert!(said.starts_with(&format!("entry {}  ", entries + 1)), "{said}");
        for args in [&["classify"][..], &["compare", &better], &["decide", &better, "--adopt", "--approved-by", "m"]] {
            let refused = skilled.call(args, 2);
            assert!(refused.stderr.contains("breaks a rule"), "{}", refused.stderr);
        }
        assert_eq!(skilled.text(), forged, "preserved byte for byte");
        restore();
    }
    forge(&skilled, &[decision(&better, "mona", true)]);
    assert!(skilled.call(&["verify"], 2).stderr.contains("it is always `false`"));
    restore();
    forge(
        &skilled,
        &[decision(&rejected, "a", false), decision(&better, "mona", false), decision(&better, "b", false)],
    );
    let found = skilled.json(&["verify"], 2);
    assert_eq!(found["broken"], 2, "each is judged for itself: {found}");
    restore();
    let secret = ["gh", "p_", &"a1B2".repeat(9)].concat();
    let text = json!({ "proposal": { "cases": [failed_case(&skilled)], "targets": ["skill.md"], "text": secret } });
    forge(&skilled, &[text]);
    let found = skilled.call(&["verify"], 2).stdout;
    assert!(found.contains("github-token") && !found.contains(&secret), "{found}");
    restore();
    skilled.call(&["decide", &better, "--adopt", "--approved-by", "mona\nhubot"], 1);
    skilled.call(&["verify"], 0);
}

#[test]
fn a_head_of_nothing_that_names_another_beginning_is_refused() {
    let (skilled, _) = proposed();
    let head = skilled.0.path(".loop/evolution/head.json");
    fs::write(head, json!({ "schemaVersion": 1, "sequence": 0, "id": "0".repeat(64) }).to_string()).unwrap();
    skilled.call(&["verify"], 2);
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_at() {
    let (skilled, _) = proposed();
    let pipe = |path: &str| {
        let aside = fs::read(skilled.0.path(path)).unwrap();
        fs::remove_file(skilled.0.path(path)).unwrap();
        assert!(skilled.0.command("mkfifo").arg(path).status().unwrap().success());
        let refused = skilled.call(&["verify"], 1);
        assert!(refused.stderr.contains("no plain file"), "{}", refused.stderr);
        fs::remove_file(skilled.0.path(path)).unwrap();
        fs::write(skilled.0.path(path), aside).unwrap();
    };
    pipe(".loop/evolution/ledger.jsonl");
    pipe(".loop/evolution/head.json");
    skilled.call(&["verify"], 0);
}

#[test]
fn an_archive_that_cannot_be_read_is_named_and_stands_in_the_way_of_no_other() {
    let skilled = Skilled::new();
    skilled.fail("parse");
    fs::create_dir(skilled.0.path(".loop/archive/task-0123456789abcdef.json")).unwrap();
    let pipe = skilled.0.path(".loop/archive/task-0123456789abcdee.json");
    assert!(skilled.0.command("mkfifo").arg(pipe).status().unwrap().success());
    let collected = skilled.json(&["collect"], 1);
    assert_eq!(collected["new"].as_array().unwrap().len(), 2, "{collected}");
    let refused = collected["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 2, "{collected}");
    assert!(refused.iter().all(|one| one["why"].as_str().unwrap().contains("no plain file")), "{collected}");
}

#[test]
fn a_change_that_bends_or_renames_a_link_is_refused() {
    let skilled = Skilled::new();
    fs::create_dir(skilled.0.path("docs")).unwrap();
    std::os::unix::fs::symlink("../skill.md", skilled.0.path("docs/link")).unwrap();
    skilled.0.git("add .");
    skilled.0.git("commit -q -m link");
    skilled.fail("parse");
    let proposal = skilled.propose(&skilled.failures()[0], "docs");
    let (before, active) = (skilled.text(), skilled.active());
    let change = skilled.0.dir.path().join("change.patch");
    for line in ["mv docs/link docs/other", "rm -q docs/link"] {
        skilled.0.git(line);
        let diff = skilled.0.command("git").args(["diff", "--cached"]).output().unwrap().stdout;
        skilled.0.git("reset -q --hard");
        fs::write(&change, diff).unwrap();
        let refused = skilled.candidate(&proposal, change.to_str().unwrap(), 1);
        assert!(refused["error"]["message"].as_str().unwrap().contains("a link"), "{line}: {refused}");
    }
    fs::remove_file(skilled.0.path("docs/link")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", skilled.0.path("docs/link")).unwrap();
    let diff = skilled.0.command("git").arg("diff").output().unwrap().stdout;
    skilled.0.git("checkout -q docs/link");
    fs::write(&change, diff).unwrap();
    let refused = skilled.candidate(&proposal, change.to_str().unwrap(), 1);
    assert!(refused["error"]["message"].as_str().unwrap().contains("a link"), "{refused}");
    assert_eq!((skilled.text(), skilled.active()), (before, active));
}

/// Whether the process whose id was written there still runs.
fn runs(noted: &Path) -> bool {
    let pid = fs::read_to_string(noted).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

#[test]
fn a_rejection_is_not_gone_around_by_trying_the_same_again() {
    let (skilled, proposal) = proposed();
    let worse = "run the tests\n";
    skilled.compared(&proposal, worse, 1);
    let before = skilled.text();
    let refused = skilled.candidate(&proposal, &skilled.patch("skill.md", worse), 1);
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(said.contains("was REJECTED under the same suite"), "{said}");
    assert_eq!(skilled.text(), before);
    skilled.candidate(&proposal, &skilled.patch("skill.md", BETTER), 0);
}

#[test]
fn what_a_suite_leaves_running_ends_with_it() {
    let (skilled, proposal) = proposed();
    let noted = skilled.0.dir.path().join("pid");
    let id = candidate(&skilled, &proposal, &format!("sleep 600 & echo $! > {}; echo PASS a", noted.display()));
    skilled.call(&["run", &id], 0);
    wait_for("the end of what was left running", LIMIT, || !runs(&noted));
}

#[test]
fn a_suite_that_spoils_its_own_folder_leaves_neither_folder_nor_note() {
    let (skilled, proposal) = proposed();
    let id = candidate(&skilled, &proposal, "echo PASS a; mkdir -p d/e; touch d/e/f; rm .git; chmod 500 d/e d .");
    let active = skilled.active();
    skilled.call(&["run", &id], 0);
    assert_eq!(skilled.active(), active);
    assert_eq!(fs::read_dir(skilled.tmp()).unwrap().count(), 0);
}

#[test]
fn a_candidate_whose_commit_is_gone_says_so() {
    let skilled = Skilled::new();
    skilled.fail("parse");
    let proposal = skilled.propose(&skilled.failures()[0], "skill.md");
    skilled.0.git("commit -q --allow-empty -m gone");
    let id = candidate(&skilled, &proposal, "echo PASS a");
    skilled.0.git("reset -q --hard HEAD~1");
    skilled.0.git("reflog expire --expire=now --all");
    skilled.0.git("gc -q --prune=now");
    let refused = skilled.call(&["run", &id], 2);
    assert!(refused.stderr.contains("is not there any more"), "{}", refused.stderr);
    assert_eq!(fs::read_dir(skilled.tmp()).unwrap().count(), 0);
}

#[test]
fn a_suite_that_prints_too_much_and_ends_at_once_is_unusable_all_the_same() {
    let (skilled, proposal) = proposed();
    // Only the side with the change does; what it fails stands where it is cut off.
    let flood = "echo PASS a; grep -q 'run the tests' skill.md || exit 0; head -c 3000000 /dev/zero; echo; echo FAIL a";
    let id = candidate(&skilled, &proposal, flood);
    skilled.call(&["run", &id, "--output-limit", "1"], 0);
    let rejected = skilled.json(&["compare", &id], 1);
    assert_eq!(rejected["verdict"], "REJECTED");
    assert!(rejected["reasons"][0].as_str().unwrap().contains("printed more than 1048576 bytes"), "{rejected}");
    let crash = candidate(&skilled, &proposal, "echo PASS a; grep -q 'run the tests' skill.md && kill -9 $$");
    skilled.call(&["run", &crash], 0);
    let rejected = skilled.json(&["compare", &crash], 1);
    assert!(rejected["reasons"][0].as_str().unwrap().contains("was ended by the signal 9"), "{rejected}");
}

/// Starts `evolve run` and waits until its suite, which would go on for minutes, has noted its id.
fn half_way(skilled: &Skilled, id: &str, noted: &Path) -> Child {
    let mut command = skilled.0.command(assert_cmd::cargo::cargo_bin!("the-loop"));
    command.args(["evolve", "run", id]).env("TMPDIR", skilled.tmp());
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the suite", LIMIT, || fs::read_to_string(noted).is_ok_and(|pid| pid.ends_with('\n')));
    child
}

fn slow(noted: &Path) -> String {
    format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600", noted.display())
}

#[test]
fn an_evolve_that_is_told_to_end_ends_its_suite_records_nothing_and_leaves_nothing() {
    let (skilled, proposal) = proposed();
    let noted = skilled.0.dir.path().join("pid");
    let id = candidate(&skilled, &proposal, &slow(&noted));
    let (before, active) = (skilled.text(), skilled.active());
    for signal in ["-INT", "-TERM", "-HUP"] {
        let child = half_way(&skilled, &id, &noted);
        let pid = child.id().to_string();
        assert!(skilled.0.command("kill").args([signal, &pid]).status().unwrap().success());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains("was told to end; nothing was recorded"), "{said}");
        assert!(!runs(&noted));
        assert_eq!((skilled.text(), skilled.active()), (before.clone(), active.clone()));
        assert_eq!(fs::read_dir(skilled.tmp()).unwrap().count(), 0);
        fs::remove_file(&noted).unwrap();
    }
}

#[test]
fn what_a_killed_evolve_left_is_tidied_by_the_next_and_what_is_in_use_is_not() {
    let (skilled, proposal) = proposed();
    let noted = skilled.0.dir.path().join("pid");
    let id = candidate(&skilled, &proposal, &slow(&noted));
    let active = skilled.active();
    let folders = || fs::read_dir(skilled.tmp()).unwrap().count();
    let mut child = half_way(&skilled, &id, &noted);
    assert_eq!(folders(), 1);
    let quiet = skilled.call(&["verify"], 0);
    assert!(folders() == 1 && runs(&noted) && !quiet.stderr.contains("removed"), "it is in use: {}", quiet.stderr);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(folders() == 1 && runs(&noted), "nobody could clear up");
    // What is nobody's, and what another project's owner left, stays.
    fs::create_dir(skilled.tmp().join("the-loop-candidate-empty")).unwrap();
    let foreign = skilled.tmp().join("the-loop-candidate-other");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("owner"), skilled.tmp().to_str().unwrap()).unwrap();
    let tidied = skilled.call(&["show"], 0);
    assert!(tidied.stderr.contains("which an `evolve` that was killed had left"), "{}", tidied.stderr);
    wait_for("the end of the suite", LIMIT, || !runs(&noted));
    assert_eq!((folders(), skilled.active()), (2, active));
    assert!(foreign.exists());
    fs::write(foreign.join("owner"), skilled.tmp().join("gone").to_str().unwrap()).unwrap();
    skilled.call(&["show"], 0);
    assert!(!foreign.exists(), "its project is gone, and its owner is dead");
}
