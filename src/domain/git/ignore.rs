//! The ignore block in a `.gitignore`: whether it stands there and holds, and the text in which it does.
//!
//! Only lines that speak of the state root are ever taken out or moved; all others stay byte for byte.

use crate::domain::layout::gitignore::Ignore;
use crate::domain::layout::{DEFAULT_ROOT, IGNORE_BLOCK};

use super::lines::{append, content, line_end, lines};
use super::spot::Spot;

/// Stands above what a tree of the earlier system and moved folders need.
const MORE: &str = "# the-loop: what the earlier system kept here, and what was put elsewhere.";

/// A changed text, with the lines that came and went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edit {
    /// The whole new text.
    pub text: String,
    /// Lines that were added.
    pub added: Vec<String>,
    /// Lines that were taken out.
    pub removed: Vec<String>,
}

/// The block for a root other than the default one: the same patterns for another folder.
pub fn block(root: &str) -> Vec<String> {
    let own = format!("{DEFAULT_ROOT}/");
    let line = |line: &str| match line.starts_with('#') {
        true => line.to_owned(),
        false => line.replacen(&own, root, 1),
    };
    IGNORE_BLOCK.lines().map(line).collect()
}

/// Lines beside the block: the earlier system's tree, and what was put elsewhere.
fn more(spot: &Spot) -> Vec<String> {
    let earlier = [format!("{}sessions/", spot.pattern()), format!("{DEFAULT_ROOT}/poll-state.json")];
    earlier.into_iter().chain(spot.more.iter().cloned()).collect()
}

/// The text in which the block stands and holds; `None` when it is this one.
pub fn edit(text: &str, spot: &Spot) -> Option<Edit> {
    let (root, all) = (spot.pattern(), lines(text));
    let (block, end) = (block(&root), line_end(&all));
    let patterns: Vec<&str> = block.iter().map(String::as_str).filter(|line| !line.starts_with('#')).collect();
    let there = position(&all, &patterns);
    // What stands below the block can take back what it ignores; then it belongs at the end.
    let taken_back = |at: usize| misjudged(text, &root).is_some_and(|(line, wanted, _)| wanted && line > Some(at));
    let stands = there.is_some_and(|at| !taken_back(at));
    let mut edit = Edit::default();
    let mut kept: Vec<String> = all.iter().map(|line| (*line).to_owned()).collect();
    if !stands {
        if let Some(at) = there {
            take_out_block(&mut kept, at, &patterns, &block, &mut edit.removed);
        }
        edit.added.clone_from(&block);
    }
    let mut new = with(&kept, &edit.added, end);
    // What is left of older attempts at the same, in whatever order, must not undo it.
    while let Some((Some(line), false, _)) = misjudged(&new, &root) {
        if line >= kept.len() || !speaks_of(content(&kept[line]), &spot.root) {
            break;
        }
        edit.removed.push(take_out(&mut kept, line));
        new = with(&kept, &edit.added, end);
    }
    let rules = Ignore::parse(&new);
    let lacks = |line: &String| !kept.iter().any(|kept| content(kept) == line) && !rules.ignores(sample(line).as_str());
    let missing: Vec<String> = more(spot).into_iter().filter(lacks).collect();
    if !missing.is_empty() {
        let added: Vec<String> = std::iter::once(MORE.to_owned()).chain(missing).collect();
        append(&mut new, &added, end);
        edit.added.extend(added);
    }
    edit.text = new;
    (edit.text != text).then_some(edit)
}

/// Takes a line out and gives it. A mark at the beginning of the file belongs to the file.
fn take_out(kept: &mut Vec<String>, at: usize) -> String {
    let line = kept.remove(at);
    if line.starts_with('\u{feff}') {
        let next = if kept.is_empty() { String::new() } else { kept.remove(0) };
        kept.insert(0, format!("\u{feff}{next}"));
    }
    content(&line).to_owned()
}

fn with(kept: &[String], added: &[String], end: &str) -> String {
    let mut text = kept.concat();
    if !added.is_empty() {
        append(&mut text, added, end);
    }
    text
}

/// A path that a pattern of ours means.
fn sample(pattern: &str) -> String {
    pattern.trim_start_matches('/').replace(['\\', '*'], "")
}

/// Where the patterns stand one below the other.
fn position(lines: &[&str], patterns: &[&str]) -> Option<usize> {
    let fits = |at: &usize| {
        patterns.iter().enumerate().all(|(n, pattern)| lines.get(at + n).map(|line| content(line)) == Some(pattern))
    };
    (0..lines.len()).find(fits)
}

/// Takes the block out, its own comment included.
fn take_out_block(kept: &mut Vec<String>, at: usize, patterns: &[&str], block: &[String], removed: &mut Vec<String>) {
    let is_ours = |line: &str| line.starts_with('#') && block.iter().any(|ours| ours == line);
    let comment = kept[..at].iter().rev().take_while(|line| is_ours(content(line))).count();
    (0..comment + patterns.len()).for_each(|_| removed.push(take_out(kept, at - comment)));
}

/// A path that the text judges wrongly: the line that decides about it (from 0; none when no line does), whether it has
/// to be ignored, and the path.
fn misjudged(text: &str, root: &str) -> Option<(Option<usize>, bool, String)> {
    let rules = Ignore::parse(text);
    let folder = root.trim_start_matches('/').replace('\\', "");
    let ignored = ["local/state.redb", "logs/events.jsonl", "the-loop.pid", "portable/octo-hello-7.json.1-1.tmp"];
    let paths = ignored.map(|path| (path, true)).into_iter().chain([("portable/octo-hello-7.json", false)]);
    let mut paths = paths.map(|(path, wanted)| (format!("{folder}{path}"), wanted));
    paths
        .find(|(path, wanted)| rules.ignores(path) != *wanted)
        .map(|(path, wanted)| (rules.deciding_line(&path), wanted, path))
}

/// Whether a pattern is about the state root and nothing else.
fn speaks_of(pattern: &str, root: &str) -> bool {
    let body = pattern.trim_start_matches('!').trim_start_matches("**/").trim_start_matches('/');
    let name = root.rsplit('/').next().unwrap_or(root);
    let of = |folder: &str| body.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    !root.is_empty() && (of(root) || of(name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::domain::layout::StateLayout;

    use super::*;

    fn spot(root: &str) -> Spot {
        let layout = StateLayout::new(format!("/r/{root}"));
        Spot::of(Path::new("/r"), Path::new("/r"), &layout, &layout.event_log()).unwrap()
    }

    /// The text after an edit, which holds and is not edited again.
    fn edited(text: &str) -> String {
        let spot = spot(".the-loop");
        let edit = edit(text, &spot).unwrap_or_else(|| panic!("{text:?} is left"));
        assert_eq!(super::edit(&edit.text, &spot), None, "{text:?} is edited twice");
        assert_eq!(misjudged(&edit.text, ".the-loop/"), None, "{text:?}");
        for line in lines(text).iter().filter(|line| !line.contains("the-loop") && line.ends_with('\n')) {
            assert!(edit.text.contains(line), "{line:?} of {text:?} is gone");
        }
        edit.text
    }

    #[test]
    fn the_block_is_written_byte_for_byte_and_once() {
        let tail = format!("{IGNORE_BLOCK}\n{MORE}\n.the-loop/sessions/\n.the-loop/poll-state.json\n");
        assert_eq!(edited(""), tail);
        assert_eq!(edited("target/\n"), format!("target/\n\n{tail}"));
        assert_eq!(edited("target/\n\n"), format!("target/\n\n{tail}"));
        // With other words above, and with blanks behind.
        let own = IGNORE_BLOCK.replace("# the-loop", "# our loop").replace("/logs/\n", "/logs/  \n");
        assert!(edited(&own).starts_with(&own));
    }

    #[test]
    fn g05_no_final_newline_crlf_and_a_mark() {
        let text = edited("target/");
        assert!(text.starts_with("target/\n\n# the-loop"), "{text}");
        let text = edited("\u{feff}target/\r\n*.o");
        assert!(text.starts_with("\u{feff}target/\r\n*.o\r\n\r\n# the-loop"), "{text:?}");
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
        assert!(text.contains(&IGNORE_BLOCK.replace('\n', "\r\n")));
    }

    #[test]
    fn g01_g02_g03_earlier_lines_about_the_root_that_defeat_it_are_taken_out() {
        for (text, removed) in [
            (".the-loop/\n!.the-loop/portable/\n", vec![".the-loop/"]),
            (".the-loop\n", vec![".the-loop"]),
            ("/.the-loop/*\n", vec!["/.the-loop/*"]),
            ("!/.the-loop/portable/\n/.the-loop/*\n", vec!["/.the-loop/*"]),
            (".the-loop/**\n!.the-loop/portable/**\n", vec![".the-loop/**"]),
            ("a\n**/.the-loop/\nb\n", vec!["**/.the-loop/"]),
            ("\u{feff}.the-loop/\na\n", vec![".the-loop/"]),
            (
                ".the-loop/portable/*.json\r\n.the-loop/portable\r\n",
                vec![".the-loop/portable", ".the-loop/portable/*.json"],
            ),
        ] {
            let found = edit(text, &spot(".the-loop")).unwrap();
            assert_eq!(found.removed, removed, "{text:?}");
            edited(text);
        }
        // What keeps the records and ignores the rest is right, and stays.
        let right = ".the-loop/**\n!.the-loop/portable/\n!.the-loop/portable/**\n";
        assert!(edited(right).starts_with(right));
        // A block that a later line undoes is put behind it.
        let undone = format!("a\n\n{IGNORE_BLOCK}\n!.the-loop/local/\n");
        let text = edited(&undone);
        assert!(text.starts_with("a\n\n\n!.the-loop/local/\n\n# the-loop: generated"), "{text}");
        assert_eq!(text.matches(".the-loop/logs/\n").count(), 1);
    }

    #[test]
    fn lines_about_other_things_are_never_touched() {
        for text in ["*.json\n", ".*\n", "portable/\n"] {
            let edit = edit(text, &spot(".the-loop")).unwrap();
            assert!(edit.text.starts_with(text) && edit.removed.is_empty(), "{edit:?}");
            assert_eq!(super::edit(&edit.text, &spot(".the-loop")).map(|edit| edit.text), None, "added once only");
        }
    }

    #[test]
    fn another_root_has_the_same_patterns() {
        let text = edit("", &spot("var/loop")).unwrap().text;
        for line in
            ["var/loop/local/", "var/loop/logs/", "var/loop/*.pid", "var/loop/portable/*.tmp", "var/loop/sessions/"]
        {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert_eq!(misjudged(&text, "var/loop/"), None);
        let whole = Spot { root: String::new(), ..spot(".the-loop") };
        let text = edit("", &whole).unwrap().text;
        assert!(text.contains("\n/local/\n/logs/\n/*.pid\n/portable/*.tmp\n"), "{text}");
    }
}
