//! The body of a comment that an agent or a person hands in.

use crate::domain::event::marker::{MARKER, is_marked};
use crate::domain::secrets::{Leaks, Scanned, find};

/// Most characters GitHub takes in one comment.
pub const MAX_CHARACTERS: usize = 65_536;

/// A body that can be posted: not empty, not too long, scanned, and marked as ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentBody(String);

/// Why a text cannot be posted. Never holds any of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyProblem {
    /// Nothing is in it but white space and our mark.
    #[error("the comment is empty")]
    Empty,
    /// It is longer than GitHub takes.
    #[error("the comment has {characters} characters with its mark, and GitHub takes {MAX_CHARACTERS}")]
    TooLong {
        /// How many it has.
        characters: usize,
    },
    /// It holds what looks like a secret.
    #[error("the comment holds what looks like a secret ({rule}) on line {line}")]
    Secret {
        /// Name of the rule.
        rule: &'static str,
        /// Line, beginning at 1.
        line: usize,
    },
    /// Nobody knows whether it holds one.
    #[error("the secret scan did not run")]
    NotScanned,
}

impl CommentBody {
    /// Reads a body.
    ///
    /// # Errors
    /// It cannot be posted; see [`BodyProblem`].
    pub fn parse(text: &str) -> Result<Self, BodyProblem> {
        let text = text.trim_end();
        if text.replace(MARKER, "").trim().is_empty() {
            return Err(BodyProblem::Empty);
        }
        let marked = if is_marked(text) { text.to_owned() } else { format!("{text}\n\n{MARKER}") };
        let characters = marked.chars().count();
        if characters > MAX_CHARACTERS {
            return Err(BodyProblem::TooLong { characters });
        }
        match Scanned::text(marked) {
            Ok(clean) => Ok(Self(clean.into_inner())),
            Err(Leaks::DidNotRun) => Err(BodyProblem::NotScanned),
            Err(Leaks::Found(_)) => Err(secret(text)),
        }
    }

    /// The text to post.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn secret(text: &str) -> BodyProblem {
    let hit = find(text).into_iter().next();
    hit.map_or(BodyProblem::NotScanned, |hit| BodyProblem::Secret {
        rule: hit.rule,
        line: 1 + text[..hit.range.start].matches('\n').count(),
    })
}
