//! What a suite prints, a patch says or a path is called to get past the rules.

use super::*;

#[test]
fn a_text_over_several_lines_hides_no_check() {
    let key = ["-----BEGIN RSA ", "PRIVATE KEY-----"].concat();
    let end = key.replace("BEGIN", "END");
    let side = printed(&format!("PASS a\n{key}\nFAIL b\nMIIEabcdefgh\n{end}\nFAIL c\n"), 0);
    assert_eq!(side.checks.keys().collect::<Vec<_>>(), ["all/a", "all/b", "all/c"]);
    let token = ["gh", "p_", &"a1B2".repeat(9)].concat();
    let side = printed(&format!("PASS {token}\nFAIL {token}\n"), 0);
    assert_eq!(side.checks, [("all/[withheld]".to_owned(), false)].into(), "failing once is failing");
}

#[test]
fn what_a_terminal_would_have_written_over_is_read_too() {
    let side = printed("PASS a\rFAIL b\r\nPASS c\u{1b}[2K\tx\n", 0);
    let checks: Vec<(&str, bool)> = side.checks.iter().map(|(name, passed)| (name.as_str(), *passed)).collect();
    assert_eq!(checks, [("all/a", true), ("all/b", false), ("all/c\u{241b}[2K x", true)]);
}

#[test]
fn tier_and_check_are_told_apart_whatever_they_are_called() {
    let side = printed("FAIL [a] b/c\nPASS [a/b] c\n", 0);
    let checks: Vec<(&str, bool)> = side.checks.iter().map(|(name, passed)| (name.as_str(), *passed)).collect();
    assert_eq!(checks, [("a.b/c", true), ("a/b/c", false)]);
    assert_eq!((side.tiers["a"].passed, side.tiers["a.b"].passed), (0, 1));
}

#[test]
fn counts_that_are_none_or_contradict_each_other_are_unusable() {
    for (output, why) in [
        ("SUMMARY u 5/4\n", "which is no count"),
        ("SUMMARY a 18446744073709551615/18446744073709551615\n", "which is no count"),
        ("SUMMARY a 99999999999999999999999/1\n", "which is no count"),
        ("SUMMARY u 1/2\nSUMMARY u 2/2\n", "counts 2 of 2"),
    ] {
        let side = printed(output, 0);
        assert!(side.unusable.as_deref().is_some_and(|said| said.contains(why)), "{output}: {side:?}");
    }
    assert_eq!(printed("SUMMARY of the day\nPASS a\n", 0).unusable, None);
}

#[test]
fn results_with_the_longest_names_fit_into_an_entry_of_the_ledger() {
    let many = |length: usize| (0..3900).map(|n| format!("PASS {n}{}\n", "\"".repeat(length))).collect::<String>();
    assert!(printed(&many(300), 0).unusable.is_some_and(|why| why.contains("their names")));
    let side = printed(&many(25), 0);
    assert_eq!(side.unusable, None);
    let worst = Side { checks: side.checks.keys().map(|name| (name.clone(), false)).collect(), ..side.clone() };
    let worst = Side { tiers: [("all".to_owned(), Tier { passed: 0, total: 3900 })].into(), ..worst };
    let reasons = compare(&side, &worst).unwrap().reasons;
    let results = Results { candidate: "c".repeat(64), base: side, changed: worst };
    let compared = Compared { candidate: "c".repeat(64), verdict: Verdict::Rejected, reasons };
    for what in [What::Results(results), What::Compared(compared)] {
        let (_, line) = link(&genesis("p"), AT, what).unwrap();
        assert!(line.get().len() < crate::domain::run::LARGEST, "{}", line.get().len());
    }
}

#[rstest]
#[case(0, 1, Verdict::Rejected)]
#[case(1, 0, Verdict::Eligible)]
#[case(1, 1, Verdict::Eligible)]
#[case(3, 1, Verdict::Eligible)]
#[case(1, 139, Verdict::Rejected)]
#[case(1, 127, Verdict::Rejected)]
fn a_suite_that_was_cut_off_is_a_regression_and_a_count_of_failures_is_none(
    #[case] before: i64,
    #[case] now: i64,
    #[case] verdict: Verdict,
) {
    let found = compare(&printed("PASS a\nFAIL b\n", before), &printed("PASS a\nPASS b\n", now)).unwrap();
    assert_eq!(found.verdict, verdict, "{:?}", found.reasons);
}

#[rstest]
fn an_agents_own_folder_is_refused_however_it_is_written(
    #[values(".Claude", ".cur\u{17f}or", ".cl\u{200c}aude", ".GIT", ".git.", ".\u{212a}iro", ".windsurf", ".Aider")]
    folder: &str,
) {
    let path = format!("docs/{folder}/x");
    assert_eq!(target(&path), Err(Refusal::AgentFolder(path)));
}

#[test]
fn a_path_with_a_control_character_is_refused() {
    for path in ["a\rb", "a\tb", "a\u{1b}b", "a\0b", "a\\..\\b"] {
        assert!(matches!(target(path), Err(Refusal::Traversal(_))), "{path:?}");
    }
}

#[rstest]
#[case("sh", true)]
#[case("/usr/bin/env", true)]
#[case("/srv/m/project-2/tool", true)]
#[case("--filter=a..b", true)]
#[case("HEAD...main", true)]
#[case("/srv/m/project", false)]
#[case("/srv//m/./project/suite.sh", false)]
#[case("--dir=/srv/m/project/x", false)]
#[case("cd ..; ls", false)]
#[case("cat '..'/x", false)]
#[case("x:../y", false)]
fn a_suite_stays_on_its_side(#[case] argument: &str, #[case] is_good: bool) {
    let found = check_argv(&["sh".to_owned(), argument.to_owned()], "/srv/m/project");
    assert_eq!(found.is_ok(), is_good, "{argument}: {found:?}");
}

#[test]
fn what_a_file_says_is_not_taken_for_what_the_patch_says() {
    let content =
        "diff --git a/s b/s\n--- a/s\n+++ b/s\n@@ -1,3 +1,2 @@\n a\n--- ../x\n--- /etc/passwd\n+++ b/../../y\n";
    assert_eq!(check_patch(content).unwrap(), ["s"]);
    assert!(matches!(check_patch(&content.replace("-1,3 +1,2", "-1,9 +1,2")), Err(Refusal::Patch(_))), "cut off");
}

#[test]
fn every_file_of_a_patch_is_seen() {
    let binary = "GIT binary patch\nliteral 3\nKcmZQzU|?imU|;|M00jU5\n\nliteral 0\nHcmV?d00001\n\n";
    for (patch, want) in [
        ("diff --git a/run b/run\nold mode 100644\nnew mode 100755\n", vec!["run"]),
        ("diff --git a/a b b/a b\nnew file mode 100644\nindex 0000000..e69de29\n", vec!["a b"]),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", vec!["x", "y"]),
        ("diff --git \"a/\\303\\244\" \"b/\\303\\244\"\ndeleted file mode 100644\n", vec!["ä"]),
        ("diff --git \"a/q\\\"\" \"b/q\\\"\"\nnew file mode 100644\n", vec!["q\""]),
        (
            &format!("diff --git a/i b/i\nindex 1..2 100644\n{binary}diff --git a/j b/j\nold mode 100644\n"),
            vec!["i", "j"],
        ),
        // What git applies too, although it did not write it.
        ("diff --git a/x b/x\nold mode 100644\n--- a/hidden\n+++ b/hidden\n@@ -1 +1 @@\n-a\n+b\n", vec!["hidden", "x"]),
    ] {
        assert_eq!(check_patch(patch).unwrap(), want, "{patch}");
    }
}

#[test]
fn a_patch_that_bends_leads_out_or_cannot_be_read_is_refused() {
    let refused = |patch: &str| check_patch(patch).unwrap_err().to_string();
    for (patch, why) in [
        ("diff --git a/l b/l\nindex 4813610..3594e94 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n+/etc\n", "a link"),
        ("diff --git a/l b/l\ndeleted file mode 120000\n", "a link"),
        ("diff --git a/l b/l\nnew file mode 160000\r\n", "a link"),
        ("diff --git \"a/\\056\\056/x\" \"b/\\056\\056/x\"\nnew file mode 100644\n", "leads out of"),
        ("diff --git a/x b/x\nold mode 100644\nrename to ../y\n", "leads out of"),
        ("diff --git a/x b/x\nold mode 100644\n+++ b//etc/passwd\n", "leads out of"),
        ("diff --git \"a/\\r\" \"b/\\r\"\nnew file mode 100644\n", "cannot be read"),
        ("diff --git a/x b/x\n--- x\n", "cannot be read"),
        ("diff --git a/x b/x\n@@ nonsense\n", "cannot be read"),
        (&format!("diff --git a/{}\n", " ".repeat(900_000)), "cannot be read"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "no change as `git diff` writes it"),
    ] {
        assert!(refused(patch).contains(why), "{why}: {}", refused(patch));
    }
}
