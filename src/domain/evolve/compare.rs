//! Both sides of a candidate, check by check and tier by tier. The same results always give the same answer; time, and what
//! a model says, are not looked at.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::entry::{Side, Tier};

/// What follows from a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// Something got worse. Final.
    Rejected,
    /// Nothing got worse, and no more checks pass than before.
    NotImproved,
    /// Nothing got worse, and more checks pass: a person may adopt it.
    Eligible,
}

impl Verdict {
    /// The word that is printed.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rejected => "REJECTED",
            Self::NotImproved => "NOT_IMPROVED",
            Self::Eligible => "ELIGIBLE",
        }
    }
}

/// What became of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It passes now.
    Mended,
    /// It is new, and passes.
    New,
    /// It passed before.
    Broken,
    /// It is new, and fails.
    NewFailing,
    /// It is not there any more.
    Gone,
    /// As before.
    Same,
}

impl Change {
    const fn of(base: Option<bool>, changed: Option<bool>) -> Self {
        match (base, changed) {
            (Some(true), Some(false)) => Self::Broken,
            (Some(false), Some(true)) => Self::Mended,
            (None, Some(true)) => Self::New,
            (None, Some(false)) => Self::NewFailing,
            (Some(_), None) => Self::Gone,
            (Some(true), Some(true)) | (Some(false), Some(false)) | (None, None) => Self::Same,
        }
    }

    /// Whether it is worse than before.
    pub const fn is_regression(self) -> bool {
        matches!(self, Self::Broken | Self::NewFailing | Self::Gone)
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Mended => "failed before and passes now",
            Self::New => "is new and passes",
            Self::Broken => "passed before and fails now",
            Self::NewFailing => "is new and fails",
            Self::Gone => "is not there any more",
            Self::Same => "is as before",
        }
    }
}

/// A check and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckChange {
    /// `tier/name`.
    pub check: String,
    /// What became of it.
    pub change: Change,
}

/// Both sides beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// What follows.
    pub verdict: Verdict,
    /// Every check, in the order of their names.
    pub checks: Vec<CheckChange>,
    /// Every tier: name, before, now.
    pub tiers: Vec<(String, Tier, Tier)>,
    /// How many checks pass before and now.
    pub passing: (u64, u64),
    /// Why, each a sentence.
    pub reasons: Vec<String>,
}

/// Compares.
///
/// # Errors
/// The side without the change says nothing, so nothing follows.
pub fn compare(base: &Side, changed: &Side) -> Result<Comparison, String> {
    if let Some(why) = &base.unusable {
        return Err(why.clone());
    }
    let names: BTreeSet<&String> = base.checks.keys().chain(changed.checks.keys()).collect();
    let of = |check: &String| Change::of(base.checks.get(check).copied(), changed.checks.get(check).copied());
    let checks: Vec<CheckChange> =
        names.into_iter().map(|check| CheckChange { check: check.clone(), change: of(check) }).collect();
    let tiers = tiers(base, changed);
    let passing = (passing(base), passing(changed));
    let mut worse: Vec<String> = changed.unusable.iter().map(|why| format!("the changed side: {why}")).collect();
    if is_worse(base.exit_code, changed.exit_code) {
        let (before, now) = (base.exit_code, changed.exit_code);
        worse.push(format!("the suite ended with exit code {before} before and ends with {now} now"));
    }
    let line = |check: &CheckChange| format!("`{}` {}", check.check, check.change.words());
    worse.extend(checks.iter().filter(|check| check.change.is_regression()).map(line));
    for (tier, before, now) in &tiers {
        if now.passed < before.passed || now.total - now.passed > before.total - before.passed {
            worse.push(format!(
                "the tier `{tier}` had {} of {} and has {} of {}",
                before.passed, before.total, now.passed, now.total
            ));
        }
    }
    let better = || checks.iter().filter(|check| matches!(check.change, Change::Mended | Change::New)).map(line);
    let (verdict, reasons) = match (worse.is_empty(), passing.1 > passing.0) {
        (false, _) => (Verdict::Rejected, worse),
        (true, false) => {
            let why = format!("{} checks passed before and {} pass now; more are needed", passing.0, passing.1);
            (Verdict::NotImproved, vec![why])
        }
        (true, true) => {
            let first = format!("{} checks passed before and {} pass now", passing.0, passing.1);
            (Verdict::Eligible, std::iter::once(first).chain(better()).collect())
        }
    };
    Ok(Comparison { verdict, checks, tiers, passing, reasons })
}

/// Suites count failures in their exit codes, so another one than before is not worse by itself; but where it was 0 it
/// stays 0, and above 125 it was cut off or could not be run.
const fn is_worse(before: i64, now: i64) -> bool {
    (before == 0 && now != 0) || (now > 125 && before <= 125)
}

fn passing(side: &Side) -> u64 {
    side.tiers.values().map(|tier| tier.passed).sum()
}

fn tiers(base: &Side, changed: &Side) -> Vec<(String, Tier, Tier)> {
    let names: BTreeSet<&String> = base.tiers.keys().chain(changed.tiers.keys()).collect();
    let of = |side: &Side, tier: &String| side.tiers.get(tier).copied().unwrap_or_default();
    names.into_iter().map(|tier| (tier.clone(), of(base, tier), of(changed, tier))).collect()
}
