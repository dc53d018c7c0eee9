//! Code, documentation and `.gitignore` say the same about what travels (S3, S4), and the matcher that S5 relies on
//! agrees with git. S1, S2 and S5 stand beside the layout itself.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use the_loop::domain::layout::gitignore::Ignore;
use the_loop::domain::layout::{GENERATED_PATHS, IGNORE_BLOCK};

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The documentation's page; a package without `docs/` has nothing to compare.
fn page() -> Option<String> {
    let docs = repository().join("docs");
    docs.is_dir().then(|| fs::read_to_string(docs.join("cli/state.md")).unwrap())
}

/// The rows of the classification table: path and its word.
fn rows(page: &str) -> Vec<(String, String)> {
    let cells = |line: &str| line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    page.lines()
        .filter(|line| line.starts_with("| `<root>/"))
        .map(cells)
        .filter_map(|cells: Vec<String>| Some((cells.first()?.trim_matches('`').to_owned(), cells.last()?.clone())))
        .collect()
}

/// S3: every entry is a row of the page's classification table with the same word, and no row is without an entry.
fn misdocumented(page: &str) -> BTreeSet<String> {
    let word = |portable| if portable { "portable" } else { "local" };
    let declared = GENERATED_PATHS.iter().map(|entry| (entry.default.to_owned(), word(entry.portable).to_owned()));
    let (declared, documented): (BTreeSet<_>, BTreeSet<_>) = (declared.collect(), rows(page).into_iter().collect());
    declared.symmetric_difference(&documented).map(|(path, _)| path.clone()).collect()
}

/// The ignore block of the page: the fenced text that holds the first pattern.
fn block(page: &str) -> Option<&str> {
    let fence = "```gitignore\n";
    let start = page.find(fence)? + fence.len();
    page[start..].find("```").map(|end| &page[start..start + end])
}

/// S4: the page's block stands in `.gitignore` byte for byte.
fn block_is_applied(page: &str, gitignore: &str) -> bool {
    block(page).is_some_and(|block| block.lines().count() > 4 && gitignore.contains(block))
}

#[test]
fn s3_every_entry_is_documented_with_its_word() {
    let Some(page) = page() else { return };
    assert_eq!(rows(&page).len(), GENERATED_PATHS.len());
    assert_eq!(misdocumented(&page), BTreeSet::new());
    let without_row: String =
        page.lines().filter(|line| !line.contains("owner.json` |")).map(|l| format!("{l}\n")).collect();
    assert_eq!(misdocumented(&without_row), ["<root>/local/owner.json".to_owned()].into());
    let wrong_word = page.replace("other versions | portable |", "other versions | local |");
    assert_eq!(misdocumented(&wrong_word), ["<root>/portable/<slug>.json".to_owned()].into());
    let unknown_row = format!("{page}| `<root>/local/new` | x | x | local |\n");
    assert_eq!(misdocumented(&unknown_row), ["<root>/local/new".to_owned()].into());
}

#[test]
fn s4_the_documented_block_stands_in_gitignore() {
    let Some(page) = page() else { return };
    let gitignore = fs::read_to_string(repository().join(".gitignore")).unwrap();
    assert_eq!(block(&page), Some(IGNORE_BLOCK));
    assert!(block_is_applied(&page, &gitignore));
    assert!(!block_is_applied(&page, &gitignore.replace(".the-loop/*.pid\n", "")));
    assert!(!block_is_applied(&page.replace(".the-loop/logs/\n", ".the-loop/log/\n"), &gitignore));
    assert!(!block_is_applied(&page.replace("```gitignore", "```text"), &gitignore));
    let patterns: Vec<&str> = IGNORE_BLOCK.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(patterns, [".the-loop/local/", ".the-loop/logs/", ".the-loop/*.pid", ".the-loop/portable/*.tmp"]);
}

/// Which of `paths` git ignores under these rules, each with the line (from 0) that does it. They exist, so git knows the
/// folders among them by itself.
fn git_ignored(folder: &Path, rules: &str, paths: &[String]) -> BTreeSet<(String, usize)> {
    fs::write(folder.join(".gitignore"), rules).unwrap();
    let mut git = Command::new("git")
        .args(["-c", "core.excludesFile=/dev/null", "-c", "core.ignoreCase=false"])
        .args(["check-ignore", "--no-index", "--verbose", "--stdin", "-z"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = git.stdin.take().unwrap();
    let names: Vec<&str> = paths.iter().map(|path| path.trim_end_matches('/')).collect();
    let writer = std::thread::spawn({
        let text = names.join("\0");
        move || input.write_all(text.as_bytes())
    });
    let output = git.wait_with_output().unwrap().stdout;
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output).unwrap();
    let answers: Vec<&str> = text.split_terminator('\0').collect();
    let is_folder = |name: &str| paths.iter().any(|path| path.strip_suffix('/') == Some(name));
    let told = answers.chunks_exact(4).filter(|answer| !answer[2].starts_with('!'));
    told.map(|answer| {
        let end = if is_folder(answer[3]) { "/" } else { "" };
        (format!("{}{end}", answer[3]), answer[1].parse::<usize>().unwrap() - 1)
    })
    .collect()
}

/// Makes a tree of three levels; its paths, the folders among them with a slash at the end.
fn tree(root: &Path) -> Vec<String> {
    let (folders, files) = (["a", ".the-loop", "a b", "b.tmp"], ["ab", "]", "x.tmp", "aa", "]x"]);
    let (mut paths, mut level) = (Vec::new(), vec![String::new()]);
    for _ in 0..3 {
        let below = |names: &[&str], end: &str| -> Vec<String> {
            level.iter().flat_map(|prefix| names.iter().map(move |name| format!("{prefix}{name}{end}"))).collect()
        };
        paths.extend(below(&files, ""));
        level = below(&folders, "/");
        paths.extend(level.iter().cloned());
    }
    for path in &paths {
        let at = root.join(path);
        match path.ends_with('/') {
            true => fs::create_dir_all(at).unwrap(),
            false => {
                fs::create_dir_all(at.parent().unwrap()).unwrap();
                fs::write(at, "").unwrap();
            }
        }
    }
    paths
}

/// A small generator, seeded: the same rules on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn rules(&mut self) -> String {
        const PIECES: &[&str] = &[
            "a",
            "ab",
            "b.tmp",
            ".the-loop",
            "*",
            "**",
            "?",
            "[ab]",
            "[!a]",
            "[]x]",
            "\\a",
            "a*",
            "*.tmp",
            "[[:alpha:]]",
            "a b",
            "a\\",
        ];
        let mut rules = String::new();
        for _ in 0..=self.below(3) {
            rules.push_str(["", "", "!", "#"][self.below(4)]);
            rules.push_str(["", "/", "**/"][self.below(3)]);
            let parts: Vec<&str> = (0..=self.below(3)).map(|_| PIECES[self.below(PIECES.len())]).collect();
            rules.push_str(&parts.join("/"));
            rules.push_str(["", "/", "/**", " ", "\\ ", "\r"][self.below(6)]);
            rules.push('\n');
        }
        rules
    }
}

#[test]
fn the_matcher_agrees_with_git() {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("skipped: no git here to compare with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(Command::new("git").args(["init", "-q"]).current_dir(&folder).status().unwrap().success());
    let (paths, mut dice) = (tree(folder.path()), Dice(15));
    let fixed = [IGNORE_BLOCK.to_owned(), ".the-loop/\n!.the-loop/a/\n".to_owned(), "/*\n!/a/\n".to_owned()];
    for rules in fixed.into_iter().chain((0..300).map(|_| dice.rules())) {
        let ignore = Ignore::parse(&rules);
        let line = |path: &String| ignore.deciding_line(path).map(|line| (path.clone(), line));
        let ours: BTreeSet<_> = paths.iter().filter(|path| ignore.ignores(path)).filter_map(line).collect();
        let gits = git_ignored(folder.path(), &rules, &paths);
        let differ: Vec<_> = ours.symmetric_difference(&gits).take(5).collect();
        assert!(differ.is_empty(), "rules {rules:?}, paths {differ:?}, ours {}, git {}", ours.len(), gits.len());
    }
}
