//! Forged ledgers: every chain below is whole, and what it says was never allowed.

use super::*;

/// A ledger in the making.
#[derive(Default)]
struct Ledger {
    replay: Replay,
    tip: Option<Tip>,
}

impl Ledger {
    /// Appends an entry; answers its id, or the rule that it breaks.
    fn add(&mut self, what: What) -> Result<String, String> {
        let tip = self.tip.take().unwrap_or_else(|| genesis("p"));
        let (next, line) = link(&tip, AT, what).unwrap();
        let (read, entry) = read_line(&tip, line.get().trim_end().as_bytes()).unwrap();
        assert_eq!(read, next);
        self.tip = Some(next.clone());
        self.replay.take(&next.id, &entry).map(|()| next.id)
    }

    fn good(&mut self, what: What) -> String {
        self.add(what).unwrap()
    }

    fn broken(&mut self, what: What, rule: &str) {
        let why = self.add(what).unwrap_err();
        assert!(why.contains(rule), "{rule}: {why}");
    }

    /// With a failed case, a proposal for it and a candidate of that.
    fn with_candidate() -> (Self, String) {
        let mut ledger = Self::default();
        let case = ledger.good(What::Case(case("run", Outcome::Failed, "a test")));
        let proposal = ledger.good(What::Proposal(proposal(&case)));
        let id = ledger.good(What::Candidate(candidate(&proposal)));
        (ledger, id)
    }

    /// With one that was run and compared.
    fn compared(before: &str, now: &str, verdict: Verdict) -> (Self, String) {
        let (mut ledger, id) = Self::with_candidate();
        ledger.good(What::Results(results(&id, before, now)));
        ledger.good(What::Compared(compared_entry(&id, verdict)));
        (ledger, id)
    }
}

const PATCH: &str = "diff --git a/skill.md b/skill.md\n--- a/skill.md\n+++ b/skill.md\n@@ -1 +1 @@\n-a\n+b\n";

fn proposal(case: &str) -> Proposal {
    Proposal { cases: vec![case.into()], targets: vec!["skill.md".into()], text: "x".into(), claims: Vec::new() }
}

fn candidate(proposal: &str) -> Candidate {
    Candidate {
        proposal: proposal.into(),
        base: "a".repeat(40),
        patch: PATCH.into(),
        tree: "b".repeat(40),
        suite: vec!["sh".into(), "suite.sh".into()],
        claims: Vec::new(),
    }
}

fn results(candidate: &str, before: &str, now: &str) -> Results {
    Results { candidate: candidate.into(), base: printed(before, 0), changed: printed(now, 0) }
}

fn compared_entry(candidate: &str, verdict: Verdict) -> Compared {
    Compared { candidate: candidate.into(), verdict, reasons: vec!["x".into()] }
}

fn decision(candidate: &str, adopted: bool, approved_by: &str) -> What {
    let approved_by = approved_by.to_owned();
    What::Decision(Decision { candidate: candidate.into(), adopted, approved_by, reason: None, applied_by_tool: No })
}

#[test]
fn the_whole_way_keeps_every_rule() {
    let (mut ledger, id) = Ledger::compared("PASS a\nFAIL b\n", "PASS a\nPASS b\n", Verdict::Eligible);
    ledger.good(decision(&id, true, "mona"));
    let mut tally = Tally::default();
    tally.add(&case("run", Outcome::Failed, "a test"));
    ledger.good(What::Classification(tally.classification()));
}

#[test]
fn a_forged_adoption_of_a_rejected_candidate_is_found() {
    let (mut ledger, id) = Ledger::compared("PASS a\nFAIL b\n", "FAIL a\nPASS b\n", Verdict::Rejected);
    ledger.broken(What::Compared(compared_entry(&id, Verdict::Eligible)), "was compared already");
    ledger.broken(What::Results(results(&id, "FAIL a\n", "PASS a\n")), "was run on");
    ledger.broken(decision(&id, true, "mona"), "REJECTED for a regression, for ever");
    ledger.broken(decision(&id, false, "mona"), "was decided already");
}

#[test]
fn what_was_rejected_is_not_tried_again_under_the_same_suite() {
    for is_compared in [true, false] {
        let (mut ledger, id) = Ledger::with_candidate();
        let again = candidate(ledger.replay.proposals.keys().next().unwrap());
        assert_eq!(ledger.replay.may_try(&again), Ok(()), "what was not run may be tried again");
        ledger.good(What::Results(results(&id, "PASS a\n", "FAIL a\n")));
        if is_compared {
            ledger.good(What::Compared(compared_entry(&id, Verdict::Rejected)));
        }
        ledger.broken(What::Candidate(again.clone()), "the same change was REJECTED under the same suite");
        ledger.good(What::Candidate(Candidate { tree: "c".repeat(40), ..again.clone() }));
        ledger.good(What::Candidate(Candidate { suite: vec!["make".into()], ..again }));
    }
}

#[test]
fn a_forged_adoption_without_an_improvement_an_approval_or_a_comparison_is_found() {
    let (mut ledger, id) = Ledger::compared("PASS a\n", "PASS a\n", Verdict::NotImproved);
    ledger.broken(decision(&id, true, "mona"), "strictly more passing checks");
    for name in ["", " ", "a\nb", "a\u{202e}b"] {
        let (mut ledger, id) = Ledger::compared("FAIL a\n", "PASS a\n", Verdict::Eligible);
        let rule = if name.trim().is_empty() { "needs the name of the person" } else { "a name is one line" };
        ledger.broken(decision(&id, true, name), rule);
    }
    let (mut ledger, id) = Ledger::with_candidate();
    ledger.broken(What::Compared(compared_entry(&id, Verdict::Eligible)), "was not run");
    ledger.broken(decision(&id, true, "mona"), "was not compared");
    ledger.broken(decision(&"c".repeat(64), true, "mona"), "there is no candidate");
}

#[test]
fn a_forged_verdict_or_count_is_found() {
    for (before, now, said) in [
        ("PASS a\nFAIL b\n", "FAIL a\nPASS b\n", Verdict::Eligible),
        ("PASS a\n", "PASS a\n", Verdict::Eligible),
        ("FAIL a\n", "PASS a\n", Verdict::Rejected),
    ] {
        let (mut ledger, id) = Ledger::with_candidate();
        ledger.good(What::Results(results(&id, before, now)));
        ledger.broken(What::Compared(compared_entry(&id, said)), "follows from the results");
    }
    let (mut ledger, id) = Ledger::with_candidate();
    ledger.good(What::Results(results(&id, "nothing", "PASS a\n")));
    ledger.broken(What::Compared(compared_entry(&id, Verdict::Eligible)), "one side says nothing");
    for (passed, total) in [(9, 9), (2, 1), (u64::MAX, u64::MAX)] {
        let (mut ledger, id) = Ledger::with_candidate();
        let mut forged = results(&id, "FAIL a\n", "FAIL a\n");
        forged.changed.tiers.insert("all".into(), Tier { passed, total });
        ledger.broken(What::Results(forged.clone()), "do not follow from its checks");
        forged.changed.tiers = [("other".to_owned(), Tier { passed, total })].into();
        ledger.broken(What::Results(forged), "was run on");
    }
    let mut tally = Tally::default();
    tally.add(&case("run", Outcome::Failed, "a test"));
    Ledger::default().broken(What::Classification(tally.classification()), "do not follow from the cases");
}

#[test]
fn a_forged_proposal_or_candidate_is_found() {
    let mut ledger = Ledger::default();
    let failed = ledger.good(What::Case(case("run", Outcome::Failed, "a test")));
    let passed = ledger.good(What::Case(case("criterion:C1", Outcome::Passed, "a test")));
    let with = |cases: &[&String], target: &str| Proposal {
        cases: cases.iter().map(|case| (*case).clone()).collect(),
        targets: vec![target.into()],
        ..proposal("")
    };
    for (forged, rule) in [
        (with(&[], "a"), "at least one recorded case"),
        (with(&[&failed, &passed], "a"), "no recorded case that failed"),
        (with(&[&"d".repeat(64)], "a"), "no recorded case that failed"),
        (with(&[&failed, &failed], "a"), "names a case twice"),
        (with(&[&failed], "../a"), "leads out of"),
        (with(&[&failed], ".claude/a"), "keeps for itself"),
    ] {
        ledger.broken(What::Proposal(forged), rule);
    }
    let id = ledger.good(What::Proposal(proposal(&failed)));
    let good = candidate(&id);
    for (forged, rule) in [
        (candidate(&"e".repeat(64)), "there is no proposal"),
        (Candidate { patch: PATCH.replace("skill.md", "other.md"), ..good.clone() }, "does not name"),
        (Candidate { patch: PATCH.replace("b/skill.md", "b/../../skill.md"), ..good.clone() }, "leads out of"),
        (Candidate { suite: vec!["sh".into(), "../x".into()], ..good.clone() }, "leads out of"),
        (Candidate { suite: Vec::new(), ..good.clone() }, "names its regression suite"),
        (Candidate { base: "HEAD".into(), ..good }, "no names that git gives"),
    ] {
        ledger.broken(What::Candidate(forged), rule);
    }
}

#[test]
fn a_forged_case_is_found() {
    let good = case("run", Outcome::Failed, "a test");
    let source = |file: &str| Source { file: file.into(), ..good.source.clone() };
    for (forged, rule) in [
        (Case { source: source("../x.json"), ..good.clone() }, "no file of the archive"),
        (Case { task_id: "task".into(), ..good.clone() }, "no outcome of a run"),
        (Case { subject: "other:x".into(), ..good.clone() }, "no outcome of a run"),
        (Case { summary: "a\u{1b}[2J".into(), ..good.clone() }, "not sanitised"),
        (Case { summary: "x".repeat(500), ..good.clone() }, "not sanitised"),
        (Case { subject: "finding:\u{1b}[2J".into(), ..good.clone() }, "not sanitised"),
    ] {
        Ledger::default().broken(What::Case(forged), rule);
    }
    let mut ledger = Ledger::default();
    ledger.good(What::Case(good.clone()));
    ledger.broken(What::Case(Case { outcome: Outcome::Passed, ..good }), "stands there already");
}

#[test]
fn an_entry_that_is_written_in_another_way_is_refused() {
    use sha2::Digest as _;
    let (_, lines) = chain(1);
    let entry = lines[0].split_once("\"entry\":").unwrap().1.strip_suffix('}').unwrap();
    for (from, to) in [("\"sequence\":1", "\"sequence\": 1"), ("\"x\"", "\"\\u0078\""), ("{\"schema", " {\"schema")] {
        let forged = entry.replacen(from, to, 1);
        assert_ne!(forged, entry);
        let id = crate::domain::reference::hex(&sha2::Sha256::digest(forged.as_bytes()));
        let said = read_line(&genesis("p"), format!("{{\"id\":\"{id}\",\"entry\":{forged}}}").as_bytes()).unwrap_err();
        assert!(said.to_string().contains("as this program writes it"), "{said}");
    }
}
