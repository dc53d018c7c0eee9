//! Typed questions to GitHub: each asks a host over the port and reads what the answer means. Nothing is kept here.

#[cfg(test)]
mod fixtures;
pub mod items;
pub mod pages;
pub mod people;

use serde_json::Value;

use crate::domain::github::{Answer, Reading, Seen, Trouble, read};

/// The document of an answer to a question without a validator.
fn fresh(host: &str, answer: &Answer) -> Result<Value, Trouble> {
    match read(host, answer)? {
        Reading::Fresh(document) => Ok(document),
        Reading::Unchanged => Err(odd(host, answer, "nothing was asked conditionally")),
    }
}

/// Trouble about an answer whose document is not of the shape it should be.
pub(super) fn odd(host: &str, answer: &Answer, what: &str) -> Trouble {
    Trouble::Odd { host: host.to_owned(), what: what.to_owned(), seen: Seen::of(answer) }
}
