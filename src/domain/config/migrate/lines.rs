//! A text as lines, and which of them belong to a key.

use std::ops::Range;

use super::super::tree::{Data, Entry};

/// Lines without their ends, and what the ends were.
#[derive(Debug, Clone)]
pub struct Lines {
    /// The lines.
    pub lines: Vec<String>,
    end: &'static str,
    mark: &'static str,
}

impl Lines {
    /// Splits a text. One line end holds for the whole: the first that stands in it.
    pub fn new(text: &str) -> Self {
        let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
        let end = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::to_owned).collect();
        Self { lines, end, mark }
    }

    /// The text again; its last line ends like the others.
    pub fn text(&self) -> String {
        let lines = self.lines.iter().flat_map(|line| [line.as_str(), self.end]);
        std::iter::once(self.mark).chain(lines).collect()
    }

    /// The character where something stands.
    pub fn char_at(&self, line: usize, column: usize) -> Option<char> {
        self.lines.get(line.checked_sub(1)?)?.chars().nth(column.checked_sub(1)?)
    }

    /// The lines of a key with its value, without the comments above it; `None` when the key does not begin its line.
    pub fn of(&self, entry: &Entry) -> Option<Range<usize>> {
        let start = entry.place.line.checked_sub(1)?;
        let depth = entry.place.column.checked_sub(1)?;
        let first = self.lines.get(start)?;
        if indent(first) != depth || first.len() == depth {
            return None;
        }
        let is_list = matches!(entry.value.data, Data::List(_));
        let mut end = start + 1;
        for (at, line) in self.lines.iter().enumerate().skip(start + 1) {
            let deep = indent(line);
            let is_item = is_list && deep == depth && line[deep..].starts_with('-');
            match kind(line) {
                Kind::Blank => {}
                _ if deep > depth || is_item => end = at + 1,
                Kind::Comment => {}
                Kind::Content => break,
            }
        }
        Some(start..end)
    }

    /// The same with the comments directly above the key, at its own depth.
    pub fn with_comments(&self, entry: &Entry) -> Option<Range<usize>> {
        let Range { mut start, end } = self.of(entry)?;
        let depth = indent(&self.lines[start]);
        while start > 0 && kind(&self.lines[start - 1]) == Kind::Comment && indent(&self.lines[start - 1]) == depth {
            start -= 1;
        }
        Some(start..end)
    }

    /// Makes lines comments at the depth of the first.
    pub fn comment(&mut self, range: Range<usize>) {
        let depth = self.lines.get(range.start).map_or(0, |line| indent(line));
        for line in self.lines[range].iter_mut().filter(|line| kind(line) != Kind::Blank) {
            let (space, rest) = line.split_at(depth.min(indent(line)));
            *line = format!("{space}# {rest}");
        }
    }

    /// Takes lines out.
    pub fn cut(&mut self, range: Range<usize>) -> Vec<String> {
        self.lines.drain(range).collect()
    }

    /// Puts lines in before line `at`.
    pub fn insert(&mut self, at: usize, lines: Vec<String>) {
        self.lines.splice(at..at, lines);
    }
}

/// What a line is, outside of texts that span lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// White space only.
    Blank,
    /// A comment alone.
    Comment,
    /// Anything else.
    Content,
}

/// What a line is.
pub fn kind(line: &str) -> Kind {
    match line.trim_start().chars().next() {
        None => Kind::Blank,
        Some('#') => Kind::Comment,
        Some(_) => Kind::Content,
    }
}

/// How many spaces a line begins with.
pub fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Lines at another depth, as far as their own spaces allow.
pub fn shifted(lines: Vec<String>, from: usize, to: usize) -> Vec<String> {
    let shift = |line: String| match kind(&line) {
        Kind::Blank => String::new(),
        _ => format!("{}{}", " ".repeat(to), &line[from.min(indent(&line))..]),
    };
    lines.into_iter().map(shift).collect()
}

/// The comments at the ends of lines and between them, without their marks of depth.
pub fn comments(lines: &[String]) -> Vec<String> {
    lines.iter().filter_map(|line| comment_at(line).map(|at| line[at..].trim_end().to_owned())).collect()
}

/// Where a comment begins: at a `#` after white space, outside of quotes. A quote opens where a value can begin.
pub fn comment_at(line: &str) -> Option<usize> {
    let mut quote = None;
    let (mut before, mut value_before) = (' ', '{');
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open && before != '\\' => quote = None,
            Some(_) => {}
            None if c == '#' && before.is_whitespace() => return Some(at),
            None if matches!(c, '\'' | '"') && matches!(value_before, '{' | '[' | ',' | ':' | '-') => quote = Some(c),
            None => {}
        }
        before = c;
        if !c.is_whitespace() {
            value_before = c;
        }
    }
    None
}
