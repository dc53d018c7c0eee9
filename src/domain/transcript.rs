//! Transcripts that harnesses keep, as evidence: Claude's `projects/<directory>/<conversation>.jsonl`, Codex's
//! `sessions/<year>/<month>/<day>/rollout-<time>-<conversation>.jsonl`, Cursor's
//! `projects/<directory>/agent-transcripts/<conversation>/<conversation>.jsonl`, each below its own configuration.
//!
//! What a transcript shows was taken in. What it does not show may still have been: it is never evidence against.

use std::path::Path;

use serde_json::Value;

use super::harness::Keeps;
use super::ids::ConversationId;

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

/// The folder of Cursor's that holds what belongs to `cwd` (absolute, resolved): letters and digits stay, everything
/// else between them is one `-`.
pub fn cursor_folder(cwd: &Path) -> String {
    let path = cwd.to_string_lossy();
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// Whether a line of a transcript says that the user said `word`, at once or into the queue of a busy agent. What a
/// tool printed, and what an agent said to a helper of its own, stands in the same file and does not count.
pub fn shows(keeps: Keeps, line: &str, word: &str) -> bool {
    if !line.contains(word) {
        return false;
    }
    let Ok(entry) = serde_json::from_str::<Value>(line) else { return false };
    match keeps {
        Keeps::Nothing => false,
        Keeps::Claude => match entry["type"].as_str() {
            Some("user") if entry["isSidechain"] != true => says(&entry["message"]["content"], word),
            Some("queue-operation") if entry["operation"] == "enqueue" => says(&entry["content"], word),
            _ => false,
        },
        Keeps::Codex => {
            let said = &entry["payload"];
            match (entry["type"].as_str(), said["type"].as_str()) {
                (Some("event_msg"), Some("user_message")) => says(&said["message"], word),
                (Some("response_item"), Some("message")) => said["role"] == "user" && says(&said["content"], word),
                _ => false,
            }
        }
        Keeps::Cursor => entry["role"] == "user" && says(&entry["message"]["content"], word),
    }
}

fn says(content: &Value, word: &str) -> bool {
    let is_text = |block: &&Value| block["type"] == "text" || block["type"] == "input_text";
    match content {
        Value::String(text) => text.contains(word),
        Value::Array(blocks) => blocks.iter().filter(is_text).any(|block| says(&block["text"], word)),
        _ => false,
    }
}

/// The conversation whose transcript begins with `line`, when Codex began it in `cwd` (absolute, resolved) at a person's
/// wish. An agent's helper has a transcript of its own, which repeats what the person said.
pub fn codex_conversation(line: &str, cwd: &Path) -> Option<ConversationId> {
    let entry = serde_json::from_str::<Value>(line).ok()?;
    let meta = (entry["type"] == "session_meta").then(|| &entry["payload"])?;
    let is_own = meta["source"].is_null() || meta["source"].is_string();
    let is_here = meta["cwd"].as_str().is_some_and(|at| Path::new(at) == cwd);
    (is_own && is_here).then(|| ConversationId::parse(meta["id"].as_str()?).ok())?
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
            assert!(shows(Keeps::Claude, line, "untrusted-ab"), "{line}");
            assert!(!shows(Keeps::Claude, line, "untrusted-ac"), "{line}");
        }
        for line in [
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"untrusted-ab"}]}}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"untrusted-ab"}]}}"#,
            r#"{"type":"user","isSidechain":true,"message":{"content":"untrusted-ab"}}"#,
            r#"{"type":"queue-operation","operation":"remove","content":"untrusted-ab"}"#,
            r#"{"type":"user","message":{"content":"untrusted-ab"#,
            "untrusted-ab",
        ] {
            assert!(!shows(Keeps::Claude, line, "untrusted-ab"), "{line}");
        }
    }

    #[test]
    fn codex_and_cursor_show_what_the_user_said_and_nothing_else() {
        let codex = [
            (r#"{"type":"event_msg","payload":{"type":"user_message","message":"untrusted-ab"}}"#, true),
            (
                r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"untrusted-ab"}]}}"#,
                true,
            ),
            (
                r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"untrusted-ab"}]}}"#,
                false,
            ),
            (r#"{"type":"response_item","payload":{"type":"function_call_output","output":"untrusted-ab"}}"#, false),
            (r#"{"type":"session_meta","payload":{"id":"untrusted-ab"}}"#, false),
        ];
        for (line, shown) in codex {
            assert_eq!(shows(Keeps::Codex, line, "untrusted-ab"), shown, "{line}");
        }
        let said = |role: &str, kind: &str| {
            format!(
                r#"{{"role":"{role}","message":{{"content":[{{"type":"{kind}","text":"<user_query>untrusted-ab</user_query>"}}]}}}}"#
            )
        };
        for (role, kind, shown) in
            [("user", "text", true), ("assistant", "text", false), ("user", "tool_result", false)]
        {
            assert_eq!(shows(Keeps::Cursor, &said(role, kind), "untrusted-ab"), shown, "{role} {kind}");
            assert!(!shows(Keeps::Nothing, &said(role, kind), "untrusted-ab"));
        }
        assert_eq!(cursor_folder(Path::new("/src/my_app-2.0/.x")), "src-my-app-2-0-x");
    }

    #[test]
    fn a_codex_conversation_is_the_persons_own_and_of_its_directory() {
        let meta = |source: &str, cwd: &str, id: &str| {
            let text = format!(r#"{{"type":"session_meta","payload":{{"id":"{id}","cwd":"{cwd}"{source}}}}}"#);
            codex_conversation(&text, Path::new("/src/a")).map(|id| id.as_str().to_owned())
        };
        for source in ["", r#","source":"cli""#, r#","source":"exec""#] {
            assert_eq!(meta(source, "/src/a", "0199-ab").as_deref(), Some("0199-ab"), "{source}");
        }
        assert_eq!(meta(r#","source":{"subagent":"review"}"#, "/src/a", "0199-ab"), None);
        assert_eq!(meta("", "/src", "0199-ab"), None);
        assert_eq!(meta("", "/src/a", "--last"), None);
        assert_eq!(codex_conversation("{}", Path::new("/src/a")), None);
    }
}
