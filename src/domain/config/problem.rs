//! What is wrong with a configuration, each with its place; and the nearest known word for a mistyped one.

use std::fmt;

/// Where something stands in the text: both numbers begin at 1, columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Place {
    /// The first character of the text; stands for the text as a whole.
    pub const START: Place = Place { line: 1, column: 1 };
}

/// What kind of thing is wrong; its word is stable and stands in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text is not YAML, or not one document of keys.
    Syntax,
    /// One key twice in one section.
    Duplicate,
    /// No such key.
    Unknown,
    /// The key was removed; the message names what replaces it.
    Removed,
    /// A version this program does not read.
    Version,
    /// A value of the wrong type.
    Type,
    /// A value of the right type that is not allowed, or one that is missing.
    Value,
    /// Values that are right alone and wrong together.
    Conflict,
}

impl ProblemKind {
    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Duplicate => "duplicate-key",
            Self::Unknown => "unknown-key",
            Self::Removed => "removed-key",
            Self::Version => "version",
            Self::Type => "type",
            Self::Value => "value",
            Self::Conflict => "conflict",
        }
    }

    /// Whether the text belongs to another version of the program: nothing else in it is judged then.
    pub const fn is_gate(self) -> bool {
        matches!(self, Self::Removed | Self::Version | Self::Syntax | Self::Duplicate)
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// Path of the key, `routing.tmux.socket`; empty when the whole text is meant.
    pub key: String,
    /// What kind.
    pub kind: ProblemKind,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// What to do, when there is something better than to correct the value.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem without a hint.
    pub fn new(place: Place, key: impl Into<String>, kind: ProblemKind, message: impl Into<String>) -> Self {
        Self { place, key: key.into(), kind, message: message.into(), hint: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    /// `line 3, column 5: `routing.runner`: what is wrong (what to do)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.place.line, self.place.column)?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// Something to know about a configuration that is good enough to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub place: Place,
    /// Path of the key.
    pub key: String,
    /// What to know.
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: `{}`: {}", self.place.line, self.place.column, self.key, self.message)
    }
}

/// The known word nearest to a mistyped one, when it is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    if word.chars().count() > LONGEST {
        return None;
    }
    let wanted: Vec<char> = fold(word);
    known
        .into_iter()
        .map(|candidate| (distance(&wanted, &fold(candidate)), candidate))
        .filter(|(far, candidate)| *far <= 1 + candidate.chars().count() / 4)
        .min_by_key(|(far, _)| *far)
        .map(|(_, candidate)| candidate)
}

/// Case, `-` and `_` are what people mistype most; they weigh nothing.
fn fold(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

/// Edit distance in which two neighbours exchanged count as one edit.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_far_one_is_not() {
        let known = ["autoExecuteLabel", "authorizedUsers", "runner", "tmux"];
        for (typed, want) in [
            ("authorisedUsers", Some("authorizedUsers")),
            ("authorized_users", Some("authorizedUsers")),
            ("Runner", Some("runner")),
            ("tmxu", Some("tmux")),
            ("x-team", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known), want, "{typed}");
        }
        assert_eq!(nearest(&"r".repeat(100_000), known), None);
    }

    #[test]
    fn a_problem_reads_as_one_line() {
        let place = Place { line: 3, column: 5 };
        let problem = Problem::new(place, "a.b", ProblemKind::Type, "expected a boolean").hint("write `true`");
        assert_eq!(problem.to_string(), "line 3, column 5: `a.b`: expected a boolean (write `true`)");
    }
}
