//! Claude's transcripts as evidence: `projects/<directory>/<conversation>.jsonl` below its configuration.
//!
//! What a transcript shows was taken in. What it does not show may still have been: it is never evidence against.

use std::path::Path;

use serde_json::Value;

/// Names of directories longer than this are cut, and something that only Claude knows is put behind.
const LONGEST: usize = 200;

/// The folder that holds the transcripts of a working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folder {
    /// Its name.
    Named(String),
    /// What its name begins with.
    Begins(String),
}

/// Where the transcripts of conversations in `cwd` (absolute, resolved) lie: everything but ASCII letters and digits is
/// a `-`, by UTF-16 unit.
pub fn folder(cwd: &Path) -> Folder {
    let letter = |unit: u16| match char::from_u32(unit.into()) {
        Some(c) if c.is_ascii_alphanumeric() => c,
        _ => '-',
    };
    let name: String = cwd.to_string_lossy().encode_utf16().map(letter).collect();
    match name.get(..LONGEST) {
        Some(cut) if name.len() > LONGEST => Folder::Begins(format!("{cut}-")),
        _ => Folder::Named(name),
    }
}

/// Whether a line of a transcript says that the user said `word`, at once or into the queue of a busy agent. What a
/// tool printed, and what an agent said to a helper of its own, stands in the same file and does not count.
pub fn shows(line: &str, word: &str) -> bool {
    if !line.contains(word) {
        return false;
    }
    let Ok(entry) = serde_json::from_str::<Value>(line) else { return false };
    match entry["type"].as_str() {
        Some("user") if entry["isSidechain"] != true => says(&entry["message"]["content"], word),
        Some("queue-operation") if entry["operation"] == "enqueue" => says(&entry["content"], word),
        _ => false,
    }
}

fn says(content: &Value, word: &str) -> bool {
    match content {
        Value::String(text) => text.contains(word),
        Value::Array(blocks) => {
            blocks.iter().filter(|block| block["type"] == "text").any(|block| says(&block["text"], word))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_as_claude_names_them() {
        let named = |cwd: &str| folder(Path::new(cwd));
        assert_eq!(named("/src/a.b_c-D1"), Folder::Named("-src-a-b-c-D1".into()));
        assert_eq!(named("/é/😀"), Folder::Named("-----".into()));
        assert_eq!(named(&format!("/{}", "a".repeat(199))), Folder::Named(format!("-{}", "a".repeat(199))));
        assert_eq!(named(&format!("/{}", "a".repeat(200))), Folder::Begins(format!("-{}-", "a".repeat(199))));
    }

    #[test]
    fn only_what_the_user_said_is_evidence() {
        for line in [
            r#"{"type":"user","message":{"role":"user","content":"begin untrusted-ab end"}}"#,
            r#"{"type":"user","isSidechain":false,"message":{"content":[{"type":"text","text":"untrusted-ab"}]}}"#,
            r#"{"type":"queue-operation","operation":"enqueue","content":"untrusted-ab"}"#,
        ] {
            assert!(shows(line, "untrusted-ab"), "{line}");
            assert!(!shows(line, "untrusted-ac"), "{line}");
        }
        for line in [
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"untrusted-ab"}]}}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"untrusted-ab"}]}}"#,
            r#"{"type":"user","isSidechain":true,"message":{"content":"untrusted-ab"}}"#,
            r#"{"type":"queue-operation","operation":"remove","content":"untrusted-ab"}"#,
            r#"{"type":"user","message":{"content":"untrusted-ab"#,
            "untrusted-ab",
        ] {
            assert!(!shows(line, "untrusted-ab"), "{line}");
        }
    }
}
