//! Which parts of a Markdown text its author says, and which are only shown: code, quotes and comments.
//!
//! A reading of CommonMark that leans to one side: what might be code, quote or comment is hidden, because a hidden
//! command does nothing and a wrongly obeyed one cannot be taken back. The time is linear in the text (K75): nothing
//! is searched for again once it was not found, and closers of code spans are looked up in queues.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Stands for every byte of the text that is not plain prose: neither a letter, nor white space, nor punctuation.
pub(super) const HIDDEN: char = '\u{1}';

/// HTML elements whose content is shown, not said.
const SHOWING: [&str; 3] = ["pre", "code", "blockquote"];

/// The text with all but plain prose overwritten by [`HIDDEN`], byte for byte, so that places in it are places in the
/// text. Line ends must be LF and stay where they are.
pub(super) fn visible(text: &str) -> String {
    let hidden = Scanner::new(text).run();
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for range in hidden {
        out.push_str(&text[copied..range.start]);
        out.extend(text[range.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { HIDDEN }));
        copied = range.end;
    }
    out.push_str(&text[copied..]);
    out
}

/// What a line is before its inline parts are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Blank,
    Quote,
    /// Opens a fenced code block.
    Fence(Fence),
    /// Indented by four columns or more: code, unless it continues a paragraph.
    Indented,
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: u8,
    length: usize,
    /// A closing fence stands at most this far in.
    indent: usize,
}

struct Scanner<'t> {
    text: &'t str,
    hidden: Vec<Range<usize>>,
    /// Closers that are nowhere ahead, so that they are looked for once only.
    missing: Vec<&'static str>,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, hidden: Vec::new(), missing: Vec::new() }
    }

    fn run(mut self) -> Vec<Range<usize>> {
        let mut at = 0;
        let mut fence: Option<Fence> = None;
        while at < self.text.len() {
            let end = self.line_end(at);
            let line = &self.text[at..end];
            if let Some(open) = fence {
                self.hidden.push(at..end);
                fence = (!closes(line, open)).then_some(open);
                at = end;
                continue;
            }
            match classify(line) {
                Line::Text => {
                    at = self.paragraph(at);
                    continue;
                }
                Line::Blank => {}
                Line::Fence(open) => {
                    fence = Some(open);
                    self.hidden.push(at..end);
                }
                Line::Quote | Line::Indented => self.hidden.push(at..end),
            }
            at = end;
        }
        self.hidden
    }

    /// One past the line end of the line that holds `at`.
    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |length| at + length + 1)
    }

    /// Hides the inline parts of the paragraph at `start`; returns where the next block begins. A comment that closes
    /// behind the paragraph takes the blocks between with it, and the rest of its last line is a paragraph again.
    fn paragraph(&mut self, start: usize) -> usize {
        let mut from = start;
        loop {
            let end = self.paragraph_end(from);
            match self.inline(from, end) {
                resumed if resumed > end && resumed < self.text.len() && !self.at_line_start(resumed) => from = resumed,
                resumed => return resumed.max(end),
            }
        }
    }

    fn at_line_start(&self, at: usize) -> bool {
        self.text.as_bytes()[at - 1] == b'\n'
    }

    /// The end of the lines that belong together with the one at `from`.
    fn paragraph_end(&self, from: usize) -> usize {
        let mut end = self.line_end(from);
        while end < self.text.len() {
            let next = self.line_end(end);
            if !matches!(classify(&self.text[end..next]), Line::Text | Line::Indented) {
                break;
            }
            end = next;
        }
        end
    }

    /// Walks one paragraph; returns where it stopped, which is behind `end` when something closed there.
    fn inline(&mut self, start: usize, end: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut spans = CodeSpans::of(&bytes[..end], start);
        let mut at = start;
        while at < end {
            let Some(next) = bytes[at..end].iter().position(|byte| matches!(byte, b'\\' | b'`' | b'<')) else { break };
            at += next;
            at = match bytes[at] {
                // An escaped mark is a letter like any other.
                b'\\' => at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'\\' | b'`' | b'<'))),
                b'`' => {
                    let length = run_length(bytes, at, end);
                    let close = spans.close(length, at + length);
                    self.hide_to(at, close.map(|close| close + length)).unwrap_or(at + length)
                }
                _ => self.markup(at).unwrap_or(at + 1),
            };
        }
        at.max(end)
    }

    /// Hides a comment or an element that only shows its content; returns its end.
    fn markup(&mut self, at: usize) -> Option<usize> {
        if self.text[at..].starts_with("<!--") {
            // The opening dashes may be the closing ones: `<!-->` is a whole comment.
            let end = self.find(at + 2, "-->").or_else(|| self.rest_if_block(at));
            return self.hide_to(at, end);
        }
        let name = SHOWING.into_iter().find(|name| opens(&self.text[at..], name))?;
        let close = match name {
            "pre" => "</pre>",
            "code" => "</code>",
            _ => "</blockquote>",
        };
        let end = self.find(at, close).or_else(|| (name != "code").then_some(self.text.len()));
        self.hide_to(at, end)
    }

    /// What begins a line and never closes goes on to the end; within a line it is plain text.
    fn rest_if_block(&self, at: usize) -> Option<usize> {
        let before = &self.text.as_bytes()[..at];
        let indent = before.iter().rev().take(4).take_while(|byte| **byte == b' ').count();
        let begins = before.len() == indent || before[before.len() - indent - 1] == b'\n';
        begins.then_some(self.text.len())
    }

    /// One past the next `closer`, ASCII case ignored.
    fn find(&mut self, from: usize, closer: &'static str) -> Option<usize> {
        if self.missing.contains(&closer) {
            return None;
        }
        let ahead = &self.text.as_bytes()[from..];
        let found = ahead.windows(closer.len()).position(|window| window.eq_ignore_ascii_case(closer.as_bytes()));
        if found.is_none() {
            self.missing.push(closer);
        }
        found.map(|at| from + at + closer.len())
    }

    fn hide_to(&mut self, from: usize, to: Option<usize>) -> Option<usize> {
        self.hidden.push(from..to?);
        to
    }
}

/// The runs of backticks of a paragraph, by length, each in order.
struct CodeSpans(HashMap<usize, VecDeque<usize>>);

impl CodeSpans {
    fn of(text: &[u8], start: usize) -> Self {
        let mut runs: HashMap<usize, VecDeque<usize>> = HashMap::new();
        let mut at = start;
        while let Some(next) = text[at..].iter().position(|byte| *byte == b'`') {
            at += next;
            let length = run_length(text, at, text.len());
            runs.entry(length).or_default().push_back(at);
            at += length;
        }
        Self(runs)
    }

    /// The next run of exactly this length at or behind `from`; `from` never goes back.
    fn close(&mut self, length: usize, from: usize) -> Option<usize> {
        let runs = self.0.get_mut(&length)?;
        while runs.front().is_some_and(|at| *at < from) {
            runs.pop_front();
        }
        runs.front().copied()
    }
}

fn run_length(text: &[u8], at: usize, end: usize) -> usize {
    text[at..end].iter().take_while(|byte| **byte == b'`').count()
}

/// Whether the text begins with the opening tag of an element.
fn opens(text: &str, name: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.get(1..=name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
        && matches!(bytes.get(1 + name.len()), Some(b'>' | b' ' | b'\t' | b'\n' | b'/'))
}

fn classify(line: &str) -> Line {
    if line.trim().is_empty() {
        return Line::Blank;
    }
    let (outer, _) = indent(line);
    let (column, content) = without_list_marks(line);
    if content.starts_with('>') {
        return Line::Quote;
    }
    if let Some(fence) = opening_fence(content, column) {
        return Line::Fence(fence);
    }
    if outer >= 4 { Line::Indented } else { Line::Text }
}

fn opening_fence(content: &str, column: usize) -> Option<Fence> {
    let mark = *content.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = content.bytes().take_while(|byte| *byte == mark).count();
    // Backticks further on make it a code span.
    let is_fence = length >= 3 && (mark == b'~' || !content[length..].contains('`'));
    is_fence.then_some(Fence { mark, length, indent: column.max(3) })
}

fn closes(line: &str, open: Fence) -> bool {
    let (column, content) = indent(line);
    let length = content.bytes().take_while(|byte| *byte == open.mark).count();
    column <= open.indent && length >= open.length && content[length..].trim().is_empty()
}

/// Columns of white space in front, and what follows.
fn indent(line: &str) -> (usize, &str) {
    let content = line.trim_start_matches([' ', '\t']);
    let columns = line[..line.len() - content.len()].bytes().fold(0, |column, byte| match byte {
        b'\t' => column + 4 - column % 4,
        _ => column + 1,
    });
    (columns, content)
}

/// The content of a line within lists, and its column: quotes and fences may stand behind `- ` or `1. `.
fn without_list_marks(line: &str) -> (usize, &str) {
    let (mut column, mut content) = indent(line);
    while let Some(rest) = list_mark(content) {
        let mark = content.len() - rest.len();
        let (inner, next) = indent(rest);
        column += mark + inner;
        content = next;
    }
    (column, content)
}

fn list_mark(content: &str) -> Option<&str> {
    let digits = content.bytes().take(10).take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => content.strip_prefix(['-', '*', '+'])?,
        1..=9 => content[digits..].strip_prefix(['.', ')'])?,
        _ => return None,
    };
    rest.starts_with([' ', '\t']).then_some(rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The words that stay visible.
    fn words(text: &str) -> String {
        let seen = visible(text);
        assert_eq!(seen.len(), text.len());
        seen.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_only_shown_is_hidden() {
        for (text, left) in [
            ("a\n```\nb\n```\nc", "a c"),
            ("a\n~~~ info\nb\n```\nb\n~~~~ \nc", "a c"),
            ("```\nb\n    ```\nb\n```\nc", "c"),
            ("````\nb\n```\nb\n````\nc", "c"),
            ("a\n```\nb", "a"),
            ("- ```\n  b\n  ```\n- c", "c"),
            ("1. x\n\n   ```\n   b\n   ```\n   c", "1 x c"),
            ("```a``` b", "b"),
            ("a `b` c ``b ` b`` d", "a c d"),
            ("a `b\nb` c", "a c"),
            ("a `b\n\nc` d", "a b c d"),
            ("a \\`b` c", "a b c"),
            ("a `b\\` c", "a c"),
            ("a ``b` c", "a b c"),
            ("> b\n>> b\n  > b\nc", "c"),
            ("- > b\n- c", "c"),
            ("a\n\n    b\n\tb\nc", "a c"),
            ("a\n    c", "a c"),
            ("a <!-- b\n\nb --> c", "a c"),
            ("<!--> a <!-- b --> c", "a c"),
            ("a <!-- b", "a b"),
            ("a\n<!-- b\n\nb", "a"),
            ("`b <!-- ` c", "c"),
            ("<!-- ` --> a ` c", "a c"),
            ("<!--\n```\n--> a\nc", "a c"),
            ("a <pre>b\n\nb</PRE> c <CODE x=1>b</code>d", "a c d"),
            ("<blockquote>\n\nb\n</blockquote>\nc", "c"),
            ("a <prefix> c", "a prefix c"),
            ("a <code> c", "a code c"),
        ] {
            assert_eq!(words(text), left, "{text:?}");
        }
    }

    #[test]
    fn k75_hostile_texts_take_linear_time() {
        // Anything quadratic would take hours here.
        let n = 100_000;
        let runs: String = (1..500).map(|length| format!("{} ", "`".repeat(length))).collect();
        for text in [
            "`".repeat(n),
            "` `` ".repeat(n),
            "<!-- ".repeat(n),
            "<pre>".repeat(n),
            "a<code>".repeat(n),
            "> ".repeat(n),
            "- ".repeat(n),
            "<!-- -->\n".repeat(n),
            "<!-- -->".repeat(n),
            "a\n".repeat(n),
            "a\n    ".repeat(n),
            "~~~\n".repeat(n),
            "\\`".repeat(n),
            "<!--\n\n-->x\n\n".repeat(n / 4),
            runs,
        ] {
            assert_eq!(visible(&text).len(), text.len());
        }
    }

    proptest! {
        #[test]
        fn places_and_line_ends_stay(text in "([`~<>! a-]|<!--|-->|\n|```|<pre>|</pre>|é|\\\\){0,60}") {
            let seen = visible(&text);
            prop_assert_eq!(seen.len(), text.len());
            for (was, is) in text.bytes().zip(seen.bytes()) {
                prop_assert!(is == was || (is == 1 && was != b'\n'));
            }
        }
    }
}
