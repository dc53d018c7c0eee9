//! The rules of evolution, each by a name that says it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::domain::time::Time;

mod hostile;
mod replay;

const AT: Time = Time::from_millis(1_760_000_000_000);

fn case(subject: &str, outcome: Outcome, summary: &str) -> Case {
    let source = Source { file: "task-0123456789abcdef.json".into(), digest: "a".repeat(64) };
    let (task_id, subject) = ("task-0123456789abcdef".into(), subject.to_owned());
    Case { source, task_id, subject, outcome, summary: summary.to_owned(), claims: Vec::new() }
}

/// A chain of cases; answers its lines without their ends.
fn chain(count: u64) -> (Tip, Vec<String>) {
    let (mut tip, mut lines) = (genesis("p"), Vec::new());
    for number in 1..=count {
        let (next, line) =
            link(&tip, AT, What::Case(case(&format!("criterion:{number}"), Outcome::Failed, "x"))).unwrap();
        lines.push(line.get().trim_end().to_owned());
        tip = next;
    }
    (tip, lines)
}

fn verified(lines: &[String]) -> Result<Tip, Broken> {
    lines.iter().try_fold(genesis("p"), |tip, line| read_line(&tip, line.as_bytes()).map(|(next, _)| next))
}

#[test]
fn every_edit_of_the_ledger_is_found() {
    let (tip, lines) = chain(4);
    assert_eq!(verified(&lines), Ok(tip));
    for at in 0..lines[1].len() {
        let mut changed = lines.clone();
        let mut bytes = changed[1].clone().into_bytes();
        bytes[at] ^= 1;
        if let Ok(text) = String::from_utf8(bytes) {
            changed[1] = text;
            assert!(verified(&changed).is_err(), "byte {at}");
        }
    }
    let mut without = lines.clone();
    without.remove(1);
    let mut swapped = lines.clone();
    swapped.swap(1, 2);
    let mut twice = lines.clone();
    twice.insert(2, lines[1].clone());
    for wrong in [without, swapped, twice] {
        assert!(matches!(verified(&wrong), Err(Broken::At { .. })), "{wrong:?}");
    }
    assert_eq!(read_line(&genesis("q"), lines[0].as_bytes()), Err(Broken::OtherProject));
}

#[test]
fn unknown_fields_of_an_entry_and_another_schema_are_refused() {
    use sha2::Digest as _;
    let (_, lines) = chain(1);
    let entry = lines[0].split_once("\"entry\":").unwrap().1.strip_suffix('}').unwrap();
    for (from, to, why) in [
        ("\"sequence\"", "\"weight\":1,\"sequence\"", "unknown field `weight`"),
        ("\"subject\"", "\"rank\":1,\"subject\"", "unknown field `rank`"),
        ("\"schemaVersion\":1", "\"schemaVersion\":2", "schema 2"),
        ("\"FAILED\"", "\"GOOD\"", "unknown variant"),
    ] {
        let forged = entry.replacen(from, to, 1);
        let id = crate::domain::reference::hex(&sha2::Sha256::digest(forged.as_bytes()));
        let line = format!("{{\"id\":\"{id}\",\"entry\":{forged}}}");
        let said = read_line(&genesis("p"), line.as_bytes()).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn applied_by_tool_is_false_and_nothing_else_can_be_read() {
    let decision =
        Decision { candidate: "c".into(), adopted: true, approved_by: "m".into(), reason: None, applied_by_tool: No };
    let text = serde_json::to_string(&decision).unwrap();
    assert!(text.contains("\"appliedByTool\":false"), "{text}");
    assert!(serde_json::from_str::<Decision>(&text.replace("false", "true")).is_err());
    let claim = serde_json::to_string(&Claim { text: "better".into(), evidence: No }).unwrap();
    assert!(claim.contains("\"evidence\":false"), "{claim}");
    assert!(serde_json::from_str::<Claim>(&claim.replace("false", "true")).is_err());
}

#[rstest]
#[case("the skill told it to, and the scope was unclear", Class::Instructions)]
#[case("a link to documentation that is outdated", Class::References)]
#[case("the tests failed to compile", Class::Validation)]
#[case("killed, and nothing resumed from the checkpoint", Class::Recovery)]
#[case("enough", Class::Unclassified)]
#[case("a link and a test", Class::References)]
fn the_classifier_goes_by_words(#[case] text: &str, #[case] class: Class) {
    assert_eq!(classify(text), class);
    assert_eq!(classify(&text.to_uppercase()), class);
}

#[test]
fn a_class_is_recurring_at_three_failures() {
    let mut tally = Tally::default();
    for count in 1..=4_u64 {
        assert_eq!(tally.add(&case("run", Outcome::Passed, "a test")), None, "what passed is not counted");
        assert_eq!(tally.add(&case("run", Outcome::Failed, "a test")), Some(Class::Validation));
        tally.add(&case("run", Outcome::Failed, "enough"));
        let classification = tally.classification();
        assert_eq!(classification.classifier, CLASSIFIER);
        assert_eq!(classification.classes["validation"], ClassCount { failures: count, recurring: count >= 3 });
        assert!(!classification.classes["unclassified"].recurring);
    }
}

#[test]
fn a_proposal_without_failed_cases_is_refused() {
    let (targets, failed) = (["docs".to_owned()], [("a".to_owned(), Some(Outcome::Failed))]);
    let propose =
        |cases: &[(String, Option<Outcome>)], targets: &[String], text| propose(cases, targets, text, Vec::new());
    assert_eq!(propose(&[], &targets, "x"), Err(Refusal::NoCase));
    for outcome in [None, Some(Outcome::Passed), Some(Outcome::Unshown)] {
        let cases = [failed[0].clone(), ("b".to_owned(), outcome)];
        assert_eq!(propose(&cases, &targets, "x"), Err(Refusal::NotFailed("b".into())));
    }
    assert_eq!(propose(&failed, &[], "x"), Err(Refusal::NoTarget));
    assert_eq!(propose(&failed, &targets, " "), Err(Refusal::Empty("--text")));
    assert_eq!(propose(&failed, &targets, "x").unwrap().cases, ["a"]);
}

#[rstest]
#[case("docs/a.md", true)]
#[case("src", true)]
#[case("..", false)]
#[case("docs/../../x", false)]
#[case("/etc/passwd", false)]
#[case("~/x", false)]
#[case("a//b", false)]
#[case("./a", false)]
#[case("", false)]
fn path_traversal_is_refused(#[case] path: &str, #[case] is_good: bool) {
    match is_good {
        true => assert_eq!(target(path).as_deref(), Ok(path)),
        false => assert_eq!(target(path), Err(Refusal::Traversal(path.to_owned()))),
    }
}

#[rstest]
fn an_agents_own_folder_is_refused(
    #[values(".claude", ".codex", ".opencode", ".git", ".loop", ".OpenCode", ".config")] folder: &str,
) {
    for path in [folder.to_owned(), format!("{folder}/skill.md"), format!("docs/{folder}/x")] {
        assert_eq!(target(&path), Err(Refusal::AgentFolder(path)));
    }
}

#[test]
fn a_patch_stays_within_what_was_proposed() {
    let good = "diff --git a/docs/a b/docs/a\n--- a/docs/a\n+++ b/docs/a\n@@ -1 +1 @@\n-../x\n+../y\n";
    assert_eq!(check_patch(good).unwrap(), ["docs/a"], "content may say what it wants");
    for (from, to) in [("+++ b/docs/a", "+++ b/../a"), ("diff --git a/docs/a", "diff --git a/../../a")] {
        assert!(matches!(check_patch(&good.replace(from, to)), Err(Refusal::Traversal(_))), "{to}");
    }
    for mode in ["120000", "160000"] {
        let link = good.replacen("--- ", &format!("new file mode {mode}\n--- "), 1);
        assert!(matches!(check_patch(&link), Err(Refusal::Patch(_))));
    }
    assert!(matches!(check_patch("hello"), Err(Refusal::Patch(_))));
    let own = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let targets = own(&["docs", "a.md"]);
    assert_eq!(check_changed(&own(&["docs/x/y", "a.md"]), &targets), Ok(()));
    assert_eq!(check_changed(&own(&["docs2/x"]), &targets), Err(Refusal::OutsideTargets("docs2/x".into())));
    assert!(matches!(check_changed(&own(&["docs/.claude/x"]), &targets), Err(Refusal::AgentFolder(_))));
    assert!(matches!(check_changed(&[], &targets), Err(Refusal::Patch(_))));
    assert_eq!(check_argv(&own(&["sh", "suite", "--x=1", "a..b"]), "/p"), Ok(()));
    for wrong in [own(&["../suite"]), own(&["x", "--dir=../.."]), own(&["/p/suite"])] {
        assert!(matches!(check_argv(&wrong, "/p"), Err(Refusal::Traversal(_))), "{wrong:?}");
    }
    assert_eq!(check_argv(&[], "/p"), Err(Refusal::NoSuite));
}

/// What a suite that printed this came to.
fn printed(output: &str, exit_code: i64) -> Side {
    let (output, output_digest) = (output.to_owned(), String::new());
    read_side(Ran { exit_code, duration_ms: 1, output_digest, output, stopped: None })
}

#[test]
fn pass_and_fail_lines_are_read_per_check_and_tier() {
    let side = printed(
        "PASS [unit] a\nFAIL [unit] b\n# tier: tap\nok 1 - c\nnot ok 2 - d # why\nok then\n\
         test e::f ... ok\ntest g ... FAILED\ntest h ... ignored\nok 3\nPASSED x\nSUMMARY unit 1/2\nSUMMARY slow 3/4\n",
        1,
    );
    let tier = |passed, total| Tier { passed, total };
    assert_eq!(side.unusable, None);
    let tiers = [("slow", tier(3, 4)), ("tap", tier(2, 4)), ("unit", tier(1, 2))];
    assert_eq!(side.tiers, tiers.map(|(name, tier)| (name.to_owned(), tier)).into());
    let checks: Vec<(&str, bool)> = side.checks.iter().map(|(name, passed)| (name.as_str(), *passed)).collect();
    let want = [
        ("tap/c", true),
        ("tap/d # why", false),
        ("tap/e::f", true),
        ("tap/g", false),
        ("unit/a", true),
        ("unit/b", false),
    ];
    assert_eq!(checks, want);
    assert!(!printed("PASS a\nFAIL a\nPASS a\n", 0).checks["all/a"], "failing once is failing");
}

#[test]
fn output_that_says_nothing_or_contradicts_itself_is_unusable() {
    for (output, why) in [
        ("", "no line of pass or fail"),
        ("all good\n", "no line of pass or fail"),
        ("PASS [u] a\nSUMMARY u 2/2\n", "counts 2 of 2"),
    ] {
        let side = printed(output, 0);
        assert!(side.unusable.as_deref().is_some_and(|said| said.contains(why)), "{output}: {side:?}");
        assert!(compare(&side, &printed("PASS a\n", 0)).is_err(), "nothing follows from it");
        let rejected = compare(&printed("PASS a\n", 0), &side).unwrap();
        assert_eq!(rejected.verdict, Verdict::Rejected, "absence is never a pass");
    }
}

#[rstest]
#[case("PASS a\nFAIL b\n", "PASS a\nPASS b\n", 0, Verdict::Eligible, "`all/b` failed before and passes now")]
#[case("PASS a\n", "PASS a\nPASS c\n", 0, Verdict::Eligible, "`all/c` is new and passes")]
#[case("PASS a\nFAIL b\n", "PASS a\nFAIL b\n", 0, Verdict::NotImproved, "more are needed")]
#[case(
    "PASS a\nFAIL b\nFAIL c\n",
    "FAIL a\nPASS b\nPASS c\n",
    0,
    Verdict::Rejected,
    "`all/a` passed before and fails now"
)]
#[case("PASS a\nFAIL b\n", "PASS a\nPASS c\n", 0, Verdict::Rejected, "`all/b` is not there any more")]
#[case("PASS a\nFAIL b\n", "PASS a\nPASS b\nFAIL c\n", 0, Verdict::Rejected, "`all/c` is new and fails")]
#[case("SUMMARY u 3/3\n", "SUMMARY u 2/3\nPASS [v] a\nPASS [v] b\n", 0, Verdict::Rejected, "the tier `u` had 3 of 3")]
#[case("PASS a\nFAIL b\n", "PASS a\nPASS b\n", 1, Verdict::Rejected, "ends with 1 now")]
fn a_regression_rejects_and_an_improvement_is_strictly_needed(
    #[case] base: &str,
    #[case] changed: &str,
    #[case] exit_code: i64,
    #[case] verdict: Verdict,
    #[case] reason: &str,
) {
    let (base, changed) = (printed(base, 0), printed(changed, exit_code));
    let comparison = compare(&base, &changed).unwrap();
    assert_eq!(comparison.verdict, verdict, "{comparison:?}");
    assert!(comparison.reasons.iter().any(|said| said.contains(reason)), "{:?}", comparison.reasons);
    let (slower, more) = (Side { duration_ms: 9, ..base }, Side { output_digest: "x".into(), ..changed });
    assert_eq!(compare(&slower, &more).unwrap(), comparison, "time and digest decide nothing");
}

fn dossier(verdict: Option<Verdict>, claims: Vec<Claim>) -> Dossier {
    let candidate = Candidate {
        proposal: "p".into(),
        base: "b".into(),
        patch: "d".into(),
        tree: "t".into(),
        suite: vec!["true".into()],
        claims,
    };
    Dossier { id: "c".into(), candidate, results: None, verdict, is_decided: false }
}

fn compared(verdict: Verdict) -> Comparison {
    Comparison { verdict, checks: Vec::new(), tiers: Vec::new(), passing: (0, 0), reasons: Vec::new() }
}

#[test]
fn adoption_needs_a_person_an_improvement_and_no_regression() {
    use Verdict::{Eligible, NotImproved, Rejected};
    let adopt = |recorded, verdict, name, session| {
        decide(&dossier(recorded, Vec::new()), &compared(verdict), true, name, None, session)
    };
    assert!(adopt(Some(Eligible), Eligible, "mona", false).is_ok_and(|decision| decision.adopted));
    assert_eq!(adopt(Some(Eligible), Eligible, " ", false), Err(Refusal::NotApproved), "`--approved-by` is needed");
    assert_eq!(adopt(Some(Eligible), Eligible, "mona", true), Err(Refusal::Session));
    assert_eq!(adopt(None, Eligible, "mona", false), Err(Refusal::NotCompared("c".into())));
    assert_eq!(adopt(Some(NotImproved), NotImproved, "mona", false), Err(Refusal::NotImproved("c".into())));
    for found in [Rejected, Eligible] {
        assert_eq!(adopt(Some(Rejected), found, "mona", false), Err(Refusal::Rejected("c".into())), "for ever");
    }
    assert_eq!(
        adopt(Some(Eligible), Rejected, "mona", false),
        Err(Refusal::Rejected("c".into())),
        "not the record decides"
    );
    let decided = Dossier { is_decided: true, ..dossier(Some(Eligible), Vec::new()) };
    assert_eq!(decide(&decided, &compared(Eligible), true, "m", None, false), Err(Refusal::Decided("c".into())));
}

#[test]
fn outcomes_are_sanitised() {
    let secret = ["gh", "p_", &"a1B2".repeat(9)].concat();
    let said = sanitise(&format!("in /srv/p/x:\n{secret}\u{1b}[2J {}", "y".repeat(900)), "/srv/p");
    assert!(said.starts_with("in <root>/x: [withheld]"), "{said}");
    assert!(said.len() <= 400 && !said.contains('\u{1b}') && !said.contains(&secret));
}

proptest! {
    /// Whatever a model says of a case, a proposal or a candidate: class, comparison and decision stay as they are.
    #[test]
    fn model_claims_have_no_influence(texts in prop::collection::vec(".{0,40}", 0..4), eligible: bool) {
        let claims: Vec<Claim> = texts.into_iter().map(|text| Claim { text, evidence: No }).collect();
        let plain = case("run", Outcome::Failed, "a test");
        let talked = Case { claims: claims.clone(), ..plain.clone() };
        let class = |case: &Case| Tally::default().add(case);
        prop_assert_eq!(class(&plain), class(&talked));
        let verdict = if eligible { Verdict::Eligible } else { Verdict::NotImproved };
        let decided = |claims| decide(&dossier(Some(verdict), claims), &compared(verdict), true, "m", None, false);
        prop_assert_eq!(decided(Vec::new()), decided(claims));
    }

    /// The same results always give the same verdict, and a check that got worse is always a rejection.
    #[test]
    fn the_comparison_is_deterministic_and_a_worse_check_always_rejects(
        base in prop::collection::btree_map("[a-d]", any::<bool>(), 1..5),
        changed in prop::collection::btree_map("[a-d]", any::<bool>(), 1..5),
    ) {
        let text = |checks: &BTreeMap<String, bool>| {
            checks.iter().map(|(name, passed)| format!("{} {name}\n", if *passed { "PASS" } else { "FAIL" })).collect::<String>()
        };
        let (before, now) = (printed(&text(&base), 0), printed(&text(&changed), 0));
        let found = compare(&before, &now).unwrap();
        prop_assert_eq!(&found, &compare(&before, &now).unwrap());
        let worse = base.iter().any(|(name, passed)| changed.get(name).is_none_or(|now| *passed && !now))
            || changed.iter().any(|(name, passed)| !passed && !base.contains_key(name));
        let passing = |checks: &BTreeMap<String, bool>| checks.values().filter(|passed| **passed).count();
        let want = match (worse, passing(&changed) > passing(&base)) {
            (true, _) => Verdict::Rejected,
            (false, true) => Verdict::Eligible,
            (false, false) => Verdict::NotImproved,
        };
        prop_assert_eq!(found.verdict, want);
    }
}
