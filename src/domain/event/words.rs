//! Control words in a comment (events rules, section 6).
//!
//! A word begins a line that its author says: not code, not quoted, not commented out. It may be indented by up to
//! three spaces, the most that Markdown does not read as code.

use super::prose;
use crate::domain::policy::Keywords;
use crate::domain::portable::Command;
use crate::domain::text;

/// A control word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// Arm the item.
    Start,
    /// Disarm and end it.
    Stop,
    /// Hold its deliveries.
    Pause,
    /// Let them go on.
    Resume,
}

impl Word {
    /// The command it is on the portable record.
    pub const fn command(self) -> Command {
        match self {
            Self::Start => Command::Start,
            Self::Stop => Command::Stop,
            Self::Pause => Command::Pause,
            Self::Resume => Command::Resume,
        }
    }
}

/// What a text commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// Nothing: it is speech.
    None,
    /// One word, however often it stands there.
    One {
        /// Which.
        word: Word,
        /// The text without the word, LF line ends, no blank lines around it; a first message when not empty.
        rest: String,
    },
    /// Different words: nothing happens and the thread is told. In the order of the text, each once.
    Ambiguous(Vec<Word>),
}

/// A keyword found in the text.
struct Found {
    word: Word,
    line_start: usize,
    end: usize,
}

/// Reads the control words of a created comment, review or review comment.
pub fn find(text: &str, keywords: &Keywords) -> Words {
    let configured = configured(keywords);
    if configured.is_empty() {
        return Words::None;
    }
    let text = text::lf_of(text);
    // Most texts say no such word at the beginning of any line, shown or said; Markdown need not be read to see that.
    if !text
        .split('\n')
        .any(|line| configured.iter().any(|(_, keyword)| after(line.trim_start_matches(' '), keyword).is_some()))
    {
        return Words::None;
    }
    let found = find_all(&prose::visible(&text), &configured);
    let mut words: Vec<Word> = Vec::new();
    for Found { word, .. } in &found {
        if !words.contains(word) {
            words.push(*word);
        }
    }
    match words[..] {
        [] => Words::None,
        [word] => Words::One { word, rest: without(&text, &found) },
        _ => Words::Ambiguous(words),
    }
}

/// The keywords that are switched on.
fn configured(keywords: &Keywords) -> Vec<(Word, &str)> {
    let Keywords { enabled, start, stop, pause, resume } = keywords;
    [(Word::Start, start), (Word::Stop, stop), (Word::Pause, pause), (Word::Resume, resume)]
        .into_iter()
        .map(|(word, keyword)| (word, keyword.trim()))
        .filter(|(_, keyword)| *enabled && !keyword.is_empty())
        .collect()
}

fn find_all(visible: &str, keywords: &[(Word, &str)]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut line_start = 0;
    for line in visible.split_inclusive('\n') {
        let indent = line.bytes().take_while(|byte| *byte == b' ').take(4).count();
        if indent < 4 {
            // Of keywords that begin alike the longest is meant.
            let matches =
                keywords.iter().filter_map(|(word, keyword)| Some((*word, begins(&line[indent..], keyword)?)));
            let matches: Vec<(Word, usize)> = matches.collect();
            let longest = matches.iter().map(|(_, length)| *length).max();
            let longest = matches.into_iter().filter(|(_, length)| Some(*length) == longest);
            found.extend(longest.map(|(word, length)| Found { word, line_start, end: line_start + indent + length }));
        }
        line_start += line.len();
    }
    found
}

/// The length of `keyword` at the beginning of `line`, case ignored, when it is a word there.
fn begins(line: &str, keyword: &str) -> Option<usize> {
    let rest = after(line, keyword)?;
    let goes_on = rest.chars().next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    (!goes_on).then(|| line.len() - rest.len())
}

/// What stands behind `keyword` at the beginning of `line`, case ignored.
fn after<'t>(line: &'t str, keyword: &str) -> Option<&'t str> {
    let mut rest = line.chars();
    for wanted in keyword.chars() {
        let c = rest.next()?;
        let same = c.eq_ignore_ascii_case(&wanted)
            || (!c.is_ascii() && !wanted.is_ascii() && c.to_lowercase().eq(wanted.to_lowercase()));
        if !same {
            return None;
        }
    }
    Some(rest.as_str())
}

/// The text without the words; a line that holds nothing else goes with its word.
fn without(text: &str, found: &[Found]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for Found { line_start, end, .. } in found {
        out.push_str(&text[copied..*line_start]);
        let line_end = text[*end..].find('\n').map_or(text.len(), |length| end + length + 1);
        let said = text[*end..line_end].trim_start_matches(|c: char| c.is_whitespace() || ",.;!".contains(c));
        out.push_str(said);
        copied = line_end;
    }
    out.push_str(&text[copied..]);
    without_blank_ends(&out).to_owned()
}

/// Blank lines at both ends go; the first line keeps its indentation, which may be Markdown's.
fn without_blank_ends(text: &str) -> &str {
    let text = text.trim_end();
    let first = text.len() - text.trim_start().len();
    let line_start = text[..first].rfind('\n').map_or(0, |newline| newline + 1);
    &text[line_start..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Words {
        find(text, &Keywords::default())
    }

    fn one(word: Word, rest: &str) -> Words {
        Words::One { word, rest: rest.to_owned() }
    }

    #[test]
    fn a_word_begins_a_line_in_any_case() {
        for (text, word) in [
            ("the-loop start", Word::Start),
            ("The-Loop STOP", Word::Stop),
            ("   the-loop pause.", Word::Pause),
            ("hello\nthe-loop resume", Word::Resume),
            ("the-loop stop\nthe-loop stop", Word::Stop),
            ("> earlier\nthe-loop stop", Word::Stop),
            ("the-loop stop (please)", Word::Stop),
            ("```\ncode\n```\nthe-loop stop", Word::Stop),
        ] {
            assert!(matches!(read(text), Words::One { word: found, .. } if found == word), "{text:?}");
        }
    }

    #[test]
    fn what_only_looks_like_a_word_is_speech() {
        for text in [
            "",
            "please the-loop stop",
            "the-loop",
            "the-loop stopped",
            "the-loop stop-it",
            "the-loop stop_it",
            "the-loop stop: how?",
            "the-loop stop2",
            "the-loop stopé",
            "the-loop  stop",
            "the-loop\nstop",
            "/the-loop stop",
            "- the-loop stop",
            "**the-loop stop**",
            "a\n    the-loop stop",
            "\tthe-loop stop",
        ] {
            assert_eq!(read(text), Words::None, "{text:?}");
        }
    }

    #[test]
    fn k24_quoting_or_explaining_a_command_does_nothing() {
        for text in [
            "> the-loop stop",
            ">the-loop stop\n> the-loop stop",
            "  > the-loop stop",
            "> > the-loop stop",
            "`the-loop stop`",
            "Say `\nthe-loop stop\n` to end it",
            "```\nthe-loop stop\n```",
            "~~~sh\nthe-loop stop\n~~~",
            "- like this:\n  ```\n  the-loop stop\n  ```",
            "> ```\n> x\n\n```\nthe-loop stop",
            "    the-loop stop",
            "<!-- \nthe-loop stop\n-->",
            "<!--\nthe-loop stop",
            "<pre>\nthe-loop stop\n</pre>",
            "<blockquote>\n\nthe-loop stop\n</blockquote>",
            "> quoted\r\n> the-loop stop\r\n",
        ] {
            assert_eq!(read(text), Words::None, "{text:?}");
        }
    }

    #[test]
    fn different_words_are_ambiguous() {
        assert_eq!(
            read("the-loop stop\nx\nthe-loop start\nthe-loop stop"),
            Words::Ambiguous(vec![Word::Stop, Word::Start])
        );
        assert_eq!(read("the-loop stop\n> the-loop start"), one(Word::Stop, "> the-loop start"));
    }

    #[test]
    fn the_rest_is_the_first_message() {
        for (text, rest) in [
            ("the-loop start", ""),
            ("the-loop start.\n", ""),
            ("the-loop start\n\nFix the parser.\n\n  Twice.\n", "Fix the parser.\n\n  Twice."),
            ("the-loop start, fix the parser", "fix the parser"),
            ("Hello\nthe-loop start\nthe-loop START now\nbye", "Hello\nnow\nbye"),
            ("the-loop start\n\n    code\n", "    code"),
            ("the-loop start\n```\nthe-loop stop\n```", "```\nthe-loop stop\n```"),
            ("é `x`\nthe-loop start – ü", "é `x`\n– ü"),
        ] {
            assert_eq!(read(text), one(Word::Start, rest), "{text:?}");
        }
    }

    #[test]
    fn p14_line_ends_do_not_matter() {
        for end in ["\r\n", "\r", "\n", ""] {
            let text = format!("the-loop start{end}");
            assert_eq!(read(&text), one(Word::Start, ""), "{text:?}");
        }
        let crlf = "the-loop start\r\nPlease fix the null check.\r\nToday.\r\n";
        assert_eq!(read(crlf), one(Word::Start, "Please fix the null check.\nToday."));
    }

    #[test]
    fn keywords_are_configured() {
        let keywords = Keywords {
            start: "/loop fix".into(),
            stop: String::new(),
            pause: "/loop".into(),
            resume: " Weiter-Ä ".into(),
            ..Keywords::default()
        };
        assert_eq!(find("/loop fix\r\nPlease.\r\n", &keywords), one(Word::Start, "Please."));
        assert_eq!(find("/LOOP now", &keywords), one(Word::Pause, "now"));
        assert_eq!(find("weiter-ä", &keywords), one(Word::Resume, ""));
        assert_eq!(find("the-loop stop", &keywords), Words::None);
        assert_eq!(find("/loop fix", &Keywords { enabled: false, ..keywords.clone() }), Words::None);
        let same = Keywords { stop: "/loop fix".into(), ..keywords };
        assert!(matches!(find("/loop fix", &same), Words::Ambiguous(_)));
    }

    #[test]
    fn k75_hostile_comments_take_linear_time() {
        let blanks = " ".repeat(25 * 1024 * 1024);
        for text in [
            format!("the-loop stop{blanks}x"),
            format!("close{}", " ".repeat(16_000)),
            format!("{}the-loop stop", " ".repeat(1_000_000)),
            "the-loop stop\n".repeat(100_000),
            "\n".repeat(1_000_000),
            "the-loop ".repeat(100_000),
        ] {
            let expected = text.starts_with("the-loop stop");
            assert_eq!(read(&text) != Words::None, expected, "{}", &text[..20]);
        }
    }

    proptest! {
        #[test]
        fn nothing_of_the_rest_is_lost(lines in prop::collection::vec("[a-zé`>]{1,8}", 0..8), at in 0usize..8) {
            let mut text = lines.clone();
            text.insert(at.min(lines.len()), "the-loop start".into());
            if let Words::One { rest, .. } = read(&text.join("\n")) {
                prop_assert_eq!(rest, lines.join("\n"));
            }
        }
    }
}
