//! What a regression suite printed: its own lines of pass and fail, per check and per tier.
//!
//! | line | says |
//! |---|---|
//! | `PASS name`, `FAIL name` | a check |
//! | `ok 1 - name`, `not ok 1 - name` | a check, as TAP writes it |
//! | `test name ... ok`, `test name ... FAILED` | a check, as cargo writes it |
//! | `[tier]` before the name of a check | its tier; else that of the last `# tier: NAME`, else `all` |
//! | `SUMMARY tier passed/total` | what the suite itself counted |
//!
//! A `/` in the name of a tier is read as `.`, so that tier and check are told apart.

use std::collections::BTreeMap;

use super::entry::{Side, Tier};
use super::ports::Ran;
use crate::domain::secrets::redact;
use crate::domain::text::{head, one_line};

/// Most checks and tiers that are kept of one side.
const MOST: usize = 4000;
/// Most bytes of their names, as they are written; both sides and the reasons fit into one entry of the ledger then.
const MOST_BYTES: usize = 250_000;
/// Largest count of a summary.
const MOST_COUNTED: u64 = 1_000_000_000;

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
    #[error("the suite has more than {MOST} checks, or their names have more than {MOST_BYTES} bytes")]
    TooMany,
    /// A summary is no count.
    #[error("the suite counts `{said}` in the tier `{tier}`, which is no count")]
    NoCount {
        /// Of which tier.
        tier: String,
        /// What it counts.
        said: String,
    },
}

/// One side of a run. What was cut off, or holds nothing, is unusable and never passes.
pub fn read_side(ran: Ran) -> Side {
    let Ran { exit_code, duration_ms, output_digest, output, stopped } = ran;
    let (checks, tiers, unusable) = match (stopped, read(&output)) {
        (Some(why), _) => (BTreeMap::new(), BTreeMap::new(), Some(why)),
        (None, Ok((checks, tiers))) => (checks, tiers, None),
        (None, Err(why)) => (BTreeMap::new(), BTreeMap::new(), Some(why.to_string())),
    };
    Side { exit_code, duration_ms, output_digest, unusable, checks, tiers }
}

type Read = (BTreeMap<String, bool>, BTreeMap<String, Tier>);

fn read(output: &str) -> Result<Read, SuiteError> {
    let (mut checks, mut said) = (BTreeMap::<String, bool>::new(), BTreeMap::<String, Tier>::new());
    let (mut current, mut bytes) = ("all".to_owned(), 0);
    // What a terminal would have written over stands there too.
    for line in output.split(['\n', '\r']).map(str::trim) {
        if let Some(tier) = line.strip_prefix("# tier: ") {
            current = tier_name(tier);
        } else if let Some(summary) = line.strip_prefix("SUMMARY ").and_then(summary) {
            let (tier, counts) = summary?;
            bytes += written(&tier);
            if let Some(before) = said.insert(tier.clone(), counts).filter(|before| *before != counts) {
                let (said, counted) = (in_words(counts), in_words(before));
                return Err(SuiteError::Contradiction { tier, said, counted });
            }
        } else if let Some((name, passed)) = check(line) {
            let name = placed(name, &current);
            let bytes_of_name = written(&name);
            // A check that stands there twice passed only when it did both times.
            let passed_before = checks.entry(name).or_insert_with(|| {
                bytes += bytes_of_name;
                true
            });
            *passed_before &= passed;
        }
        if checks.len() + said.len() > MOST || bytes > MOST_BYTES {
            return Err(SuiteError::TooMany);
        }
    }
    let mut tiers = counted(&checks);
    for (tier, said) in said {
        let counted = tiers.entry(tier.clone()).or_insert(said);
        if *counted != said {
            let (said, counted) = (in_words(said), in_words(*counted));
            return Err(SuiteError::Contradiction { tier, said, counted });
        }
    }
    if tiers.is_empty() { Err(SuiteError::Nothing) } else { Ok((checks, tiers)) }
}

/// The tiers of checks, `tier/name`.
fn counted(checks: &BTreeMap<String, bool>) -> BTreeMap<String, Tier> {
    let mut tiers = BTreeMap::<String, Tier>::new();
    for (name, passed) in checks {
        let tier = name.split_once('/').map_or("", |(tier, _)| tier);
        let counts = tiers.entry(tier.to_owned()).or_default();
        counts.total += 1;
        counts.passed += u64::from(*passed);
    }
    tiers
}

/// Whether a side could have been read from an output: its tiers follow from its checks, or are counts.
pub(super) fn is_sound(side: &Side) -> bool {
    let counted = counted(&side.checks);
    let follows = |(tier, counts): (&String, &Tier)| match counted.get(tier) {
        Some(counted) => counted == counts,
        None => counts.passed <= counts.total && counts.total <= MOST_COUNTED,
    };
    let is_usable = side.unusable.is_none();
    side.tiers.iter().all(follows)
        && counted.keys().all(|tier| side.tiers.contains_key(tier))
        && is_usable != side.tiers.is_empty()
}

/// How long a name is in the ledger.
fn written(name: &str) -> usize {
    serde_json::to_string(name).map_or(usize::MAX >> 8, |text| text.len())
}

fn in_words(tier: Tier) -> String {
    format!("{} of {}", tier.passed, tier.total)
}

fn summary(text: &str) -> Option<Result<(String, Tier), SuiteError>> {
    let (tier, said) = text.trim().rsplit_once(' ')?;
    let (passed, total) = said.split_once('/')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(passed) || !is_number(total) {
        return None;
    }
    let tier = tier_name(tier);
    Some(match (passed.parse(), total.parse()) {
        (Ok(passed), Ok(total)) if passed <= total && total <= MOST_COUNTED => Ok((tier, Tier { passed, total })),
        _ => Err(SuiteError::NoCount { tier, said: head(said, 60).to_owned() }),
    })
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

/// Tier and name of a check, `tier/name`. What looks like a secret in it must not keep its outcome out of the ledger.
/// Names are looked at one by one: a text over several lines must not hide the checks between its first and its last.
fn placed(name: &str, current: &str) -> String {
    let placed = match name.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((tier, rest)) if !rest.trim().is_empty() => format!("{}/{}", tier_name(tier), rest.trim()),
        _ => format!("{current}/{name}"),
    };
    one_line(&redact(&placed))
}

fn tier_name(tier: &str) -> String {
    one_line(&redact(tier)).replace('/', ".")
}
