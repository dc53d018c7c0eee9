//! Evolution by the real commands, in a real repository: what failed is collected, a change for it is tried beside the
//! repository, and a person decides.

use std::fs;
use std::path::PathBuf;

use serde_json::Value as Json;

use super::{Project, Ran};

/// Two checks of a skill, the second of which fails.
const SUITE: &str = "check() { grep -q \"$2\" skill.md && echo \"PASS [skill] $1\" || echo \"FAIL [skill] $1\"; }
check scope 'stay in scope'
check tests 'run the tests'
";

/// A project with a skill, a suite for it, and room for temporary files that belongs to it alone.
pub(super) struct Skilled(pub(super) Project);

impl Skilled {
    pub(super) fn new() -> Self {
        let project = Project::new();
        fs::create_dir(project.dir.path().join("tmp")).unwrap();
        fs::write(project.path("skill.md"), "stay in scope\n").unwrap();
        fs::write(project.path("suite.sh"), SUITE).unwrap();
        project.git("add .");
        project.git("commit -q -m skill");
        Self(project)
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.0.dir.path().join("tmp")
    }

    pub(super) fn call(&self, args: &[&str], code: i32) -> Ran {
        let tmp = self.tmp();
        let args: Vec<&str> = std::iter::once("evolve").chain(args.iter().copied()).collect();
        let ran = self.0.run_with(&args, "", &[("TMPDIR", tmp.to_str().unwrap())]);
        assert_eq!(ran.code, code, "{args:?}: {}{}", ran.stdout, ran.stderr);
        ran
    }

    /// Calls with `--json`; answers the document.
    pub(super) fn json(&self, args: &[&str], code: i32) -> Json {
        let args: Vec<&str> = std::iter::once("--json").chain(args.iter().copied()).collect();
        serde_json::from_str(&self.call(&args, code).stdout).unwrap()
    }

    /// A run that is given up after a check of it failed: two failures.
    pub(super) fn fail(&self, objective: &str) {
        let project = &self.0;
        project.expect(&format!("run start --objective {objective}"), 0);
        let declared = r#"{"criterion": {"id": "C1", "level": "MUST", "text": "the test of the parser passes"}}"#;
        assert_eq!(project.record(declared).code, 0);
        let claimed = r#"{"evidence": {"criterion": "C1", "claim": "I am sure it passes"}}"#;
        assert_eq!(project.record(claimed).code, 0);
        project.expect("verify exec --criterion C1 -- false", 1);
        project.expect("run cancel --reason untested", 0);
    }

    pub(super) fn ledger(&self) -> PathBuf {
        self.0.path(".loop/evolution/ledger.jsonl")
    }

    pub(super) fn text(&self) -> String {
        fs::read_to_string(self.ledger()).unwrap()
    }

    /// The ids of the failed cases, collected.
    pub(super) fn failures(&self) -> Vec<String> {
        let document = self.json(&["collect"], 0);
        let failed = document["new"].as_array().unwrap().iter().filter(|new| new["case"]["outcome"] == "FAILED");
        failed.map(|new| new["id"].as_str().unwrap().to_owned()).collect()
    }

    pub(super) fn propose(&self, case: &str, target: &str) -> String {
        let args = ["propose", "--case", case, "--target", target, "--text", "say that tests are run"];
        self.json(&args, 0)["id"].as_str().unwrap().to_owned()
    }

    /// The change that gives a file this content, as git writes it; the file itself stays as it was.
    pub(super) fn patch(&self, file: &str, content: &str) -> String {
        let before = fs::read_to_string(self.0.path(file)).ok();
        fs::write(self.0.path(file), content).unwrap();
        self.0.git(&format!("add -N {file}"));
        let diff = self.0.command("git").args(["diff", "--", file]).output().unwrap().stdout;
        self.0.git(&format!("reset -q -- {file}"));
        match before {
            Some(before) => fs::write(self.0.path(file), before).unwrap(),
            None => fs::remove_file(self.0.path(file)).unwrap(),
        }
        let path = self.0.dir.path().join("change.patch");
        fs::write(&path, diff).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(super) fn candidate(&self, proposal: &str, patch: &str, code: i32) -> Json {
        self.json(&["candidate", proposal, "--patch", patch, "--suite", "--", "sh", "suite.sh"], code)
    }

    /// A candidate that was tried, run and compared; answers its id.
    pub(super) fn compared(&self, proposal: &str, content: &str, code: i32) -> String {
        let id = self.candidate(proposal, &self.patch("skill.md", content), 0)["id"].as_str().unwrap().to_owned();
        self.call(&["run", &id], 0);
        self.call(&["compare", &id], code);
        id
    }

    /// Everything of the repository that must stay as it is.
    pub(super) fn active(&self) -> String {
        let git = |line: &str| self.0.command("git").args(line.split(' ')).output().unwrap().stdout;
        let lines =
            ["status --porcelain", "for-each-ref", "rev-parse HEAD", "worktree list", "ls-files -s", "stash list"];
        lines.map(|line| String::from_utf8(git(line)).unwrap()).concat()
    }
}

#[test]
fn the_whole_way_from_failures_to_a_decision_and_a_ledger_that_shows_tampering() {
    let skilled = Skilled::new();
    skilled.fail("parse");
    skilled.fail("print");
    let active = skilled.active();
    let failures = skilled.failures();
    assert!(failures.len() >= 3, "{failures:?}");
    assert_eq!(skilled.json(&["collect"], 0)["known"], failures.len(), "nothing is collected twice");
    let classes = skilled.json(&["classify"], 0);
    assert_eq!(classes["classification"]["classes"]["validation"]["failures"], 2, "{classes}");
    skilled.fail("read");
    skilled.failures();
    let classes = skilled.json(&["classify"], 0);
    assert_eq!(classes["classification"]["classes"]["validation"]["recurring"], true, "{classes}");
    assert_eq!(skilled.json(&["classify"], 0)["new"], false);

    let proposal = skilled.propose(&failures[0][..12], "skill.md");
    let worse = skilled.compared(&proposal, "run the tests\n", 1);
    let refused = skilled.call(&["decide", &worse, "--adopt", "--approved-by", "mona"], 1);
    assert!(refused.stderr.contains("REJECTED for a regression, for ever"), "{}", refused.stderr);
    skilled.call(&["decide", &worse, "--reject", "--approved-by", "mona", "--reason", "loses the scope"], 0);
    let better = skilled.compared(&proposal, "stay in scope\nrun the tests\n", 0);
    let found = skilled.json(&["compare", &better], 0);
    assert_eq!(
        (&found["verdict"], &found["passing"]),
        (&"ELIGIBLE".into(), &serde_json::json!({"base": 1, "changed": 2}))
    );
    assert_eq!(found["checks"][1]["change"], "failed before and passes now", "{found}");
    let decision = skilled.json(&["decide", &better, "--adopt", "--approved-by", "mona"], 0);
    assert_eq!(
        (&decision["decision"]["adopted"], &decision["decision"]["appliedByTool"]),
        (&true.into(), &false.into())
    );
    skilled.call(&["decide", &better, "--reject", "--approved-by", "mona"], 1);

    assert_eq!(skilled.active(), active, "the repository was not touched");
    assert_eq!(fs::read_dir(skilled.tmp()).unwrap().count(), 0, "and nothing was left behind");
    assert_eq!(fs::read_to_string(skilled.0.path("skill.md")).unwrap(), "stay in scope\n", "nothing was applied");
    let checked = skilled.json(&["verify"], 0);
    assert_eq!(checked["entries"], skilled.text().lines().count());
    let good = skilled.text();
    let forged = good.replace("\"approvedBy\":\"mona\"", "\"approvedBy\":\"hubot\"");
    assert_ne!(forged, good);
    fs::write(skilled.ledger(), &forged).unwrap();
    let found = skilled.call(&["verify"], 2);
    assert!(found.stderr.contains("it was changed: its id does not follow"), "{}", found.stderr);
    skilled.call(&["classify"], 2);
    skilled.call(&["collect"], 2);
    assert_eq!(skilled.text(), forged, "preserved byte for byte");
}

#[test]
fn edits_removals_and_other_projects_ledgers_are_found_and_a_torn_line_is_dropped_by_the_next_append() {
    let skilled = Skilled::new();
    skilled.call(&["verify"], 0);
    skilled.fail("parse");
    skilled.failures();
    let (good, head) = (skilled.text(), skilled.0.path(".loop/evolution/head.json"));
    let lines: Vec<&str> = good.lines().collect();
    let joined = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    for (what, text) in [
        ("the last entry is gone", joined(&lines[..lines.len() - 1])),
        ("the first entry is gone", joined(&lines[1..])),
        ("everything is gone", String::new()),
        ("two entries changed places", joined(&[lines[1], lines[0]])),
        ("a line of something else", format!("{good}hello\n")),
    ] {
        fs::write(skilled.ledger(), &text).unwrap();
        skilled.call(&["verify"], 2);
        skilled.call(&["classify"], 2);
        assert_eq!(skilled.text(), text, "{what}");
    }
    fs::write(skilled.ledger(), &good).unwrap();
    let kept = fs::read(&head).unwrap();
    fs::remove_file(&head).unwrap();
    skilled.call(&["verify"], 2);
    fs::write(&head, kept).unwrap();
    fs::write(skilled.ledger(), format!("{good}{{\"id\":\"0123")).unwrap();
    let torn = skilled.call(&["verify"], 0);
    assert!(torn.stderr.contains("the last line was cut off after 11 bytes"), "{}", torn.stderr);
    assert!(skilled.text().ends_with("0123"), "looking drops nothing");
    skilled.call(&["classify"], 0);
    assert!(skilled.text().starts_with(&good) && skilled.json(&["verify"], 0)["tornBytes"] == 0);
    let temporary = |end: &str| skilled.0.path(&format!(".loop/evolution/head.json.tmp-{end}"));
    fs::write(temporary("0"), format!("{{\"schemaVersion\": 1, \"sequence\": 0, \"id\": \"{}\"}}\n", "0".repeat(64)))
        .unwrap();
    fs::write(temporary("99"), "torn").unwrap();
    let repaired = skilled.0.expect("run repair", 1);
    assert!(repaired.stderr.contains("1 removed; these stay:"), "{}", repaired.stderr);
    assert!(!temporary("0").exists() && temporary("99").exists());
    skilled.0.git("remote set-url origin https://github.com/octo/other.git");
    let foreign = skilled.call(&["verify"], 2);
    assert!(foreign.stderr.contains("belongs to another project"), "{}", foreign.stderr);
}

#[test]
fn archives_of_doubtful_integrity_give_no_case() {
    let skilled = Skilled::new();
    skilled.fail("parse");
    let archive = fs::read_dir(skilled.0.path(".loop/archive")).unwrap().map(|entry| entry.unwrap().path());
    let (manifests, runs): (Vec<_>, Vec<_>) =
        archive.partition(|path| path.to_string_lossy().ends_with(".verification.json"));
    let (run, manifest) = (&runs[0], &manifests[0]);
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
    let (good_run, good_manifest) = (read(run), read(manifest));
    let secret = ["gh", "p_", &"a1B2".repeat(9)].concat();
    for (path, good, bad, why) in [
        (run, &good_run, good_run.replace("VALID", "SUSPECTED_STALE"), "SUSPECTED_STALE"),
        (run, &good_run, good_run.replace("CANCELLED", "ACTIVE"), "which is no end"),
        (run, &good_run, good_run.replace("untested", &secret), "github-token"),
        (run, &good_run, good_run.replace("\"parse\"", "\"other\""), "does not follow"),
        (run, &good_run, good_run.replace('{', ""), "not JSON"),
        (manifest, &good_manifest, good_manifest.replace("task-", "task-0"), "no value"),
        (manifest, &good_manifest, good_manifest.replace("\"argv\"", "\"rank\": 1, \"argv\""), "unknown field"),
    ] {
        assert_ne!(&bad, good, "{why}");
        fs::write(path, &bad).unwrap();
        let document = skilled.json(&["collect"], 1);
        assert_eq!(document["new"], Json::Array(Vec::new()), "{why}");
        let said = document["refused"][0]["why"].as_str().unwrap();
        assert!(said.contains(why) && !said.contains(&secret), "{why}: {said}");
        assert_eq!(&read(path), &bad);
        fs::write(path, good).unwrap();
    }
    assert_eq!(skilled.failures().len(), 2);
    fs::write(run, good_run.replace("untested", "well done")).unwrap();
    let changed = skilled.json(&["collect"], 1);
    assert!(changed["refused"][0]["why"].as_str().unwrap().contains("changed after"), "{changed}");
    let case = skilled.json(&["show"], 0)["entries"][1]["entry"]["what"]["case"].clone();
    assert_eq!(case["claims"][0]["evidence"], false, "a claim is carried as what it is: {case}");
    assert_eq!(case["outcome"], "FAILED", "and decides nothing");
}

#[test]
fn proposals_without_failed_cases_traversal_and_agent_folders_are_refused() {
    let skilled = Skilled::new();
    skilled.fail("parse");
    let failure = skilled.failures().swap_remove(0);
    let before = skilled.text();
    for (args, why) in [
        (&["--target", "skill.md"][..], "at least one recorded case that failed"),
        (&["--case", "0123456789ab", "--target", "skill.md"], "no recorded case that failed"),
        (&["--case", &failure], "names the files"),
        (&["--case", &failure, "--target", "../skill.md"], "leads out of"),
        (&["--case", &failure, "--target", "/etc/x"], "leads out of"),
        (&["--case", &failure, "--target", ".claude/skills/x.md"], "keeps for itself"),
        (&["--case", &failure, "--target", ".opencode"], "keeps for itself"),
    ] {
        let refused = skilled.call(&[&["propose", "--text", "x"], args].concat(), 1);
        assert!(refused.stderr.contains(why), "{why}: {}", refused.stderr);
    }
    let secret = ["gh", "p_", &"a1B2".repeat(9)].concat();
    let refused = skilled.call(&["propose", "--case", &failure, "--target", "skill.md", "--text", &secret], 1);
    assert!(refused.stderr.contains("github-token") && !refused.stderr.contains(&secret), "{}", refused.stderr);
    assert_eq!(skilled.text(), before, "nothing was written");
}

#[test]
fn a_candidate_that_leaves_its_place_is_refused_and_leaves_nothing() {
    let skilled = Skilled::new();
    skilled.fail("parse");
    let proposal = skilled.propose(&skilled.failures()[0], "skill.md");
    let (before, active) = (skilled.text(), skilled.active());
    let good = skilled.patch("skill.md", "stay in scope\nrun the tests\n");
    for argument in ["../suite.sh".to_owned(), skilled.0.path("suite.sh").display().to_string()] {
        let refused = skilled.call(&["candidate", &proposal, "--patch", &good, "--suite", "--", "sh", &argument], 1);
        assert!(refused.stderr.contains("leads out of"), "{}", refused.stderr);
    }
    let outside = fs::read_to_string(&good).unwrap().replace("b/skill.md", "b/../skill.md");
    let fits_not = fs::read_to_string(&good).unwrap().replace(" stay in scope", " something else");
    let other = fs::read_to_string(skilled.patch("suite.sh", "echo PASS everything\n")).unwrap();
    let agents =
        "diff --git a/.claude/x b/.claude/x\nnew file mode 100644\n--- /dev/null\n+++ b/.claude/x\n@@ -0,0 +1 @@\n+x\n";
    let change = skilled.0.dir.path().join("change.patch");
    for (patch, why) in [
        (outside.as_str(), "leads out of"),
        (&fits_not, "the patch cannot be used"),
        (&other, "which the proposal does not name"),
        (agents, "keeps for itself"),
        ("nothing", "no change as `git diff` writes it"),
    ] {
        fs::write(&change, patch).unwrap();
        let refused = skilled.candidate(&proposal, change.to_str().unwrap(), 1);
        let said = refused["error"]["message"].as_str().unwrap();
        assert!(said.contains(why), "{why}: {said}");
    }
    assert_eq!((skilled.text(), skilled.active()), (before, active));
    assert_eq!(fs::read_dir(skilled.tmp()).unwrap().count(), 0);
}

#[test]
fn a_suite_runs_once_without_a_shell_within_limits_and_never_in_the_active_repository() {
    let skilled = Skilled::new();
    skilled.fail("parse");
    let proposal = skilled.propose(&skilled.failures()[0], "skill.md");
    let content = "stay in scope\nrun the tests\n";
    let id = |suite: &[&str]| {
        let patch = skilled.patch("skill.md", content);
        let args = [&["candidate", &proposal, "--patch", &patch, "--suite", "--"], suite].concat();
        skilled.json(&args, 0)["id"].as_str().unwrap().to_owned()
    };
    let active = skilled.active();
    let echo = id(&["echo", "PASS $HOME;`id`"]);
    let results = skilled.json(&["run", &echo], 0);
    assert_eq!(results["results"]["base"]["checks"]["all/$HOME;`id`"], true, "no shell reads it: {results}");
    let again = skilled.call(&["run", &echo], 1);
    assert!(again.stderr.contains("was run on"), "{}", again.stderr);
    skilled.call(&["compare", &echo], 1);
    let refused = skilled.call(&["decide", &echo, "--adopt", "--approved-by", "mona"], 1);
    assert!(refused.stderr.contains("strictly more passing checks"), "{}", refused.stderr);

    // Only the changed side takes too long, or prints too much: that is a regression.
    let hang = "grep -q 'run the tests' skill.md && exec sleep 600; echo PASS a";
    let flood = "grep -q 'run the tests' skill.md && exec yes; echo PASS a";
    for (suite, why) in [(hang, "did not end within 1 s"), (flood, "printed more than 1048576 bytes")] {
        let id = id(&["sh", "-c", suite]);
        let limits: &[&str] = if suite == hang { &["--time-limit", "1"] } else { &["--output-limit", "1"] };
        skilled.call(&[&["run", &id], limits].concat(), 0);
        let rejected = skilled.json(&["compare", &id], 1);
        assert_eq!(rejected["verdict"], "REJECTED");
        assert!(rejected["reasons"][0].as_str().unwrap().contains(why), "{rejected}");
    }
    let writes = id(&["sh", "-c", "echo x > skill.md; touch made; git add -A; git commit -q -m x; echo PASS a"]);
    skilled.call(&["run", &writes], 0);
    let silent = id(&["true"]);
    skilled.call(&["run", &silent], 0);
    let nothing = skilled.call(&["compare", &silent], 1);
    assert!(nothing.stderr.contains("no line of pass or fail"), "{}", nothing.stderr);
    assert_eq!(skilled.active(), active);
    assert_eq!(fs::read_dir(skilled.tmp()).unwrap().count(), 0);
}

#[test]
fn only_a_person_who_is_named_adopts() {
    let skilled = Skilled::new();
    skilled.fail("parse");
    let proposal = skilled.propose(&skilled.failures()[0], "skill.md");
    let unseen = skilled.candidate(&proposal, &skilled.patch("skill.md", "stay in scope\nrun the tests\n"), 0);
    let unseen = unseen["id"].as_str().unwrap();
    skilled.call(&["decide", unseen, "--adopt", "--approved-by", "mona"], 1);
    skilled.call(&["compare", unseen], 1);
    let better = skilled.compared(&proposal, "stay in scope\nrun the tests\n", 0);
    let before = skilled.text();
    for name in [&[][..], &["--approved-by", ""], &["--approved-by", "  "]] {
        let refused = skilled.call(&[&["decide", &better, "--adopt"], name].concat(), 1);
        assert!(refused.stderr.contains("needs the name of the person"), "{}", refused.stderr);
    }
    for (name, value) in [("THE_LOOP_WORK_ITEM", "github:octo/hello#1"), ("THE_LOOP_ENDPOINT", "github:octo/hello#1")] {
        let args = ["evolve", "decide", &better, "--adopt", "--approved-by", "mona"];
        let refused = skilled.0.run_with(&args, "", &[(name, value)]);
        assert_eq!(refused.code, 1);
        assert!(refused.stderr.contains("taken by a person"), "{}", refused.stderr);
    }
    skilled.call(&["decide", &better, "--approved-by", "mona"], 64);
    skilled.call(&["decide", &better, "--adopt", "--reject", "--approved-by", "mona"], 64);
    assert_eq!(skilled.text(), before);
}

/// The ledger of the project with so many cases in it; none of it is kept here either.
fn long_ledger(skilled: &Skilled, count: u64) {
    use the_loop::domain::evolve::{Case, Head, Outcome, Source, What, genesis, link};
    use the_loop::domain::time::Time;
    let project = "github.com/octo/hello";
    let project = the_loop::domain::reference::hex(&<sha2::Sha256 as sha2::Digest>::digest(project.as_bytes()));
    let mut tip = genesis(&project);
    fs::create_dir_all(skilled.0.path(".loop/evolution")).unwrap();
    let mut file = std::io::BufWriter::new(fs::File::create(skilled.ledger()).unwrap());
    for number in 0..count {
        let case = Case {
            source: Source { file: format!("{number}.json"), digest: "a".repeat(64) },
            task_id: "task-0123456789abcdef".into(),
            subject: "run".into(),
            outcome: Outcome::Failed,
            summary: "the test of the parser failed ".repeat(6),
            claims: Vec::new(),
        };
        let (next, line) = link(&tip, Time::from_millis(0), What::Case(case)).unwrap();
        std::io::Write::write_all(&mut file, line.get().as_bytes()).unwrap();
        tip = next;
    }
    std::io::Write::flush(&mut file).unwrap();
    let head = the_loop::domain::json::pretty(&Head::of(&tip).document());
    fs::write(skilled.0.path(".loop/evolution/head.json"), head).unwrap();
}

/// How long a call takes, the best of two.
fn time(skilled: &Skilled, args: &[&str]) -> std::time::Duration {
    let once = || {
        let begun = std::time::Instant::now();
        skilled.call(args, 0);
        begun.elapsed()
    };
    once().min(once())
}

#[test]
fn a_hundred_thousand_entries_are_verified_and_added_to_in_linear_time_and_flat_memory() {
    let skilled = Skilled::new();
    long_ledger(&skilled, 10_000);
    let short = time(&skilled, &["verify"]);
    long_ledger(&skilled, 100_000);
    let long = time(&skilled, &["verify"]);
    // Ten times as much to read; were each entry to look at the others it would be a hundred times as long.
    assert!(long < short * 40, "{short:?} for 10,000 entries, {long:?} for 100,000");
    let size = fs::metadata(skilled.ledger()).unwrap().len();
    assert!(size > 50_000_000, "{size}");
    // The memory that is given is less than the ledger.
    let binary = assert_cmd::cargo::cargo_bin!("the-loop");
    for verb in ["verify", "classify", "collect"] {
        let script = format!("ulimit -d 40000; exec '{}' evolve {verb}", binary.display());
        let ran = skilled.0.command("sh").args(["-c", &script]).output().unwrap();
        assert!(ran.status.success(), "{verb}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    assert_eq!(skilled.json(&["verify"], 0)["entries"], 100_001, "one entry was added");
}
