//! The secret scan: what must not be written to a file that travels, posted on a ticket, or logged.
//!
//! Limits, in so many words; `docs/secrets.md` repeats them and a test compares the two:
//!
//! - It is best effort. It knows shapes: tokens with a known beginning, private keys, addresses with a password,
//!   `Authorization` values, and values whose name says that they are secret. A secret of no known shape passes.
//! - A value of hexadecimal digits in one case, or a UUID, is taken for a hash or an id, whatever its name says.
//! - A secret that is split, encoded or encrypted is not recognised.
//! - It looks for secrets, not for personal data.
//! - What it cannot scan it refuses: a scan that did not run is never taken for a scan that found nothing.
//!
//! A hit names the rule and the place, never the value.

mod named;
mod rules;
mod scanned;
mod shapes;

use std::borrow::Cow;
use std::ops::Range;

pub use rules::RULES;
pub use scanned::{Leak, Leaks, Scanned};

/// What stands in the place of a secret.
pub const WITHHELD: &str = "[withheld]";

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Name of the rule.
    pub rule: &'static str,
    /// Where, in bytes. What stands there is never printed.
    pub range: Range<usize>,
}

/// Every secret in a text, in its order; none lies in another.
pub fn find(text: &str) -> Vec<Hit> {
    if !rules::may_hold(text) {
        return Vec::new();
    }
    let mut hits: Vec<Hit> = rules::hits(text).collect();
    hits.extend(named::hits(text));
    hits.sort_by_key(|hit| (hit.range.start, usize::MAX - hit.range.end));
    let mut end = 0;
    hits.retain(|hit| {
        let is_first = hit.range.start >= end;
        end = end.max(hit.range.end);
        is_first
    });
    hits
}

/// The text with [`WITHHELD`] in the place of every secret.
pub fn redact(text: &str) -> Cow<'_, str> {
    let hits = find(text);
    if hits.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut safe, mut from) = (String::with_capacity(text.len()), 0);
    for hit in hits {
        safe.push_str(&text[from..hit.range.start]);
        safe.push_str(WITHHELD);
        from = hit.range.end;
    }
    safe.push_str(&text[from..]);
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests;
