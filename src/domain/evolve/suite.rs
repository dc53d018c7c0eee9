//! What a regression suite printed: its own lines of pass and fail, per check and per tier.
//!
//! | line | says |
//! |---|---|
//! | `PASS name`, `FAIL name` | a check |
//! | `ok 1 - name`, `not ok 1 - name` | a check, as TAP writes it |
//! | `test name ... ok`, `test name ... FAILED` | a check, as cargo writes it |
//! | `[tier]` before the name of a check | its tier; else that of the last `# tier: NAME`, else `all` |
//! | `SUMMARY tier passed/total` | what the suite itself counted |

use std::collections::BTreeMap;

use super::entry::{Side, Tier};
use super::ports::Ran;
use crate::domain::secrets::redact;

/// Most checks that are kept of one side.
const MOST: usize = 4000;

/// Why nothing can be read out of an output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// No line of it is a check or a summary.
    #[error("the suite printed no line of pass or fail")]
    Nothing,
    /// Its own count is another one than its lines.
    #[error("the suite counts {said} in the tier `{tier}`, and its lines say {counted}")]
    Contradiction {
        /// Of which tier.
        tier: String,
        /// What it counts.
        said: String,
        /// What its lines say.
        counted: String,
    },
    /// It has more checks than are kept.
    #[error("the suite has more than {MOST} checks")]
    TooMany,
}

/// One side of a run. What was cut off, or holds nothing, is unusable and never passes.
pub fn read_side(ran: Ran) -> Side {
    let Ran { exit_code, duration_ms, output_digest, output, stopped } = ran;
    // What looks like a secret in the name of a check must not keep its outcome out of the ledger.
    let (checks, tiers, unusable) = match (stopped, read(&redact(&output))) {
        (Some(why), _) => (BTreeMap::new(), BTreeMap::new(), Some(why)),
        (None, Ok((checks, tiers))) => (checks, tiers, None),
        (None, Err(why)) => (BTreeMap::new(), BTreeMap::new(), Some(why.to_string())),
    };
    Side { exit_code, duration_ms, output_digest, unusable, checks, tiers }
}

type Read = (BTreeMap<String, bool>, BTreeMap<String, Tier>);

fn read(output: &str) -> Result<Read, SuiteError> {
    let (mut checks, mut said) = (BTreeMap::<(String, String), bool>::new(), BTreeMap::<String, Tier>::new());
    let mut current = "all".to_owned();
    for line in output.lines().map(str::trim) {
        if let Some(tier) = line.strip_prefix("# tier: ") {
            tier.trim().clone_into(&mut current);
        } else if let Some((tier, counts)) = line.strip_prefix("SUMMARY ").and_then(summary) {
            said.insert(tier, counts);
        } else if let Some((name, passed)) = check(line) {
            // A check that stands there twice passed only when it did both times.
            let passed_before = checks.entry(placed(name, &current)).or_insert(true);
            *passed_before &= passed;
        }
        if checks.len() > MOST {
            return Err(SuiteError::TooMany);
        }
    }
    let mut tiers = BTreeMap::<String, Tier>::new();
    for ((tier, _), passed) in &checks {
        let counts = tiers.entry(tier.clone()).or_default();
        counts.total += 1;
        counts.passed += u64::from(*passed);
    }
    for (tier, said) in said {
        let counted = tiers.entry(tier.clone()).or_insert(said);
        if *counted != said {
            let (said, counted) = (in_words(said), in_words(*counted));
            return Err(SuiteError::Contradiction { tier, said, counted });
        }
    }
    if tiers.is_empty() {
        return Err(SuiteError::Nothing);
    }
    Ok((checks.into_iter().map(|((tier, name), passed)| (format!("{tier}/{name}"), passed)).collect(), tiers))
}

fn in_words(tier: Tier) -> String {
    format!("{} of {}", tier.passed, tier.total)
}

fn summary(text: &str) -> Option<(String, Tier)> {
    let (tier, counts) = text.trim().rsplit_once(' ')?;
    let (passed, total) = counts.split_once('/')?;
    let counts = Tier { passed: passed.parse().ok()?, total: total.parse().ok()? };
    (counts.passed <= counts.total).then(|| (tier.trim().to_owned(), counts))
}

/// Name and outcome of a line that is a check.
fn check(line: &str) -> Option<(&str, bool)> {
    let tap = |rest: &'_ str| -> Option<usize> {
        let number = rest.bytes().take_while(u8::is_ascii_digit).count();
        (number > 0).then_some(number)
    };
    let named = |rest: &'static str| line.strip_prefix(rest).map(str::trim).filter(|name| !name.is_empty());
    if let Some(name) = named("PASS ") {
        return Some((name, true));
    }
    if let Some(name) = named("FAIL ") {
        return Some((name, false));
    }
    for (prefix, passed) in [("ok ", true), ("not ok ", false)] {
        if let Some(rest) = line.strip_prefix(prefix)
            && let Some(number) = tap(rest)
        {
            let name = rest[number..].trim_start_matches([' ', '-']);
            return (!name.is_empty()).then_some((name, passed));
        }
    }
    let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    match outcome {
        "ok" => Some((name, true)),
        "FAILED" => Some((name, false)),
        _ => None,
    }
}

/// Tier and name of a check.
fn placed(name: &str, current: &str) -> (String, String) {
    match name.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((tier, rest)) if !rest.trim().is_empty() => (tier.trim().to_owned(), rest.trim().to_owned()),
        _ => (current.to_owned(), name.to_owned()),
    }
}
