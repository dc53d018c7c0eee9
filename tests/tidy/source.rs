//! Files of the tree, and their Rust with comments and texts taken out.

use std::fs;
use std::path::Path;

/// A file of the tree.
pub struct Source {
    /// Path from the repository's root, `/` between its parts.
    pub path: String,
    /// The file.
    pub text: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The folder under `src/` the file belongs to; `None` for `lib.rs`, `main.rs` and files elsewhere.
    pub fn layer(&self) -> Option<&str> {
        self.path.strip_prefix("src/")?.split_once('/').map(|(layer, _)| layer)
    }

    /// Whether the whole file is tests: it is declared behind `#[cfg(test)]`.
    pub fn is_test_module(&self) -> bool {
        let parts: Vec<&str> = self.path.split('/').collect();
        let is_tests = |part: &&str| matches!(*part, "tests" | "tests.rs" | "testing.rs" | "testing");
        self.path.starts_with("src/") && parts.iter().any(is_tests)
    }

    /// Rust without comments and texts; line by line where it was.
    pub fn masked(&self) -> String {
        mask(&self.text)
    }

    /// The same without what is compiled for tests only.
    pub fn product(&self) -> String {
        if self.is_test_module() { String::new() } else { without_tests(&self.masked()) }
    }
}

/// Every file that can be committed, but for the lock file and what is no UTF-8.
pub fn tree() -> Vec<Source> {
    let mut found = Vec::new();
    walk(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut found);
    found
}

fn walk(dir: &Path, prefix: &str, found: &mut Vec<Source>) {
    let mut entries: Vec<_> =
        fs::read_dir(dir).expect("a directory of the tree").map(|e| e.expect("an entry")).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let ignored = matches!(path.as_str(), "target" | ".git" | "Cargo.lock" | ".the-loop");
        match entry.file_type().expect("a file type") {
            _ if ignored => {}
            kind if kind.is_dir() => walk(&entry.path(), &format!("{path}/"), found),
            kind if kind.is_file() => {
                let text = fs::read(entry.path()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                found.extend(text.map(|text| Source { path, text }));
            }
            _ => {}
        }
    }
}

/// Replaces comments, texts and characters by blanks; keeps every line end.
pub fn mask(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match literal(&chars, at) {
            Some(end) => end.min(chars.len()),
            None => {
                out.push(chars[at]);
                at += 1;
                continue;
            }
        };
        out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
        at = end;
    }
    out
}

/// Where the comment, text or character that begins here ends.
fn literal(chars: &[char], at: usize) -> Option<usize> {
    let next = chars.get(at + 1).copied();
    match (chars[at], next) {
        ('/', Some('/')) => Some(find(chars, at, &['\n']).unwrap_or(chars.len())),
        ('/', Some('*')) => Some(block_comment(chars, at)),
        ('"', _) => Some(quoted(chars, at + 1, '"')),
        ('r', Some('"' | '#')) if !is_word(chars, at) => raw(chars, at),
        ('\'', Some('\\')) => Some(quoted(chars, at + 1, '\'')),
        ('\'', Some(_)) if chars.get(at + 2) == Some(&'\'') => Some(at + 3),
        _ => None,
    }
}

/// Whether the character continues a word; `b` and `c` before a raw text are part of it.
fn is_word(chars: &[char], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).map(|at| chars[at]);
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    word(before(1)) && (word(before(2)) || !matches!(before(1), Some('b' | 'c')))
}

fn find(chars: &[char], from: usize, what: &[char]) -> Option<usize> {
    chars[from..].windows(what.len()).position(|window| window == what).map(|found| from + found)
}

fn block_comment(chars: &[char], at: usize) -> usize {
    let (mut depth, mut at) = (1, at + 2);
    while depth > 0 && at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at
}

fn quoted(chars: &[char], mut at: usize, end: char) -> usize {
    while at < chars.len() && chars[at] != end {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn raw(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    let open = at + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return None;
    }
    let mut close = vec!['"'];
    close.extend(std::iter::repeat_n('#', hashes));
    Some(find(chars, open + 1, &close).map_or(chars.len(), |found| found + close.len()))
}

/// Blanks every item behind `#[cfg(test)]`.
fn without_tests(masked: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut text = masked.to_owned();
    while let Some(start) = text.find(MARK) {
        let after = start + MARK.len();
        let end = match text[after..].find(['{', ';']).map(|found| after + found) {
            Some(open) if text.as_bytes()[open] == b'{' => closing(&text, open),
            Some(semicolon) => semicolon,
            None => text.len() - 1,
        };
        let blank: String = text[start..=end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        text.replace_range(start..=end, &blank);
    }
    text
}

/// Where the brace that opens at `open` closes; the last byte when it does not.
pub fn closing(masked: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in masked.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    masked.len() - 1
}

#[test]
fn the_mask_takes_out_texts_and_comments_and_nothing_else() {
    for (text, want) in [
        ("a \"x\\\"y\" b", "a        b"),
        ("a // b\nc", "a     \nc"),
        ("a /* /* */ \n */ b", "a          \n    b"),
        ("r\"}\\\" r#\"a\"b\"# c", "               c"),
        ("br#\"}\"# 'x' '\\'' &'a str", "b                &'a str"),
        ("for_r\"x\"", "for_r   "),
        ("'a: loop {}", "'a: loop {}"),
    ] {
        assert_eq!(mask(text).trim_end(), want.trim_end(), "{text}");
    }
    assert_eq!(
        without_tests("a #[cfg(test)] mod t { x { } } b #[cfg(test)] use q; c").split_whitespace().collect::<String>(),
        "abc"
    );
}
