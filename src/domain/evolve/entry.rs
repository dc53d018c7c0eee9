//! What the ledger holds, in the shape in which it is written. Fields that are not known are refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::compare::Verdict;

/// A field that is always `false`. No value of it says anything else, and a file that does is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "bool", try_from = "bool")]
pub struct No;

impl From<No> for bool {
    fn from(No: No) -> Self {
        false
    }
}

impl TryFrom<bool> for No {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value { Err("it is always `false`") } else { Ok(Self) }
    }
}

/// What a model says. It is carried and looked at by nobody who decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What it says, sanitised.
    pub text: String,
    /// That it is no evidence.
    pub evidence: No,
}

/// How something ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// It was shown.
    Passed,
    /// It was shown that it is not so, or it was given up.
    Failed,
    /// Nothing was shown.
    Unshown,
}

/// Where a case comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// File name below `.loop/archive/`.
    pub file: String,
    /// SHA-256 of that file, in hex.
    pub digest: String,
}

/// One outcome of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// Where it comes from.
    pub source: Source,
    /// The task.
    pub task_id: String,
    /// Of what in it: `run`, `criterion:ID` or `finding:ID`.
    pub subject: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What happened, sanitised.
    pub summary: String,
    /// What a model said about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// Failures of one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassCount {
    /// How many.
    pub failures: u64,
    /// Whether that is often enough to be no accident.
    pub recurring: bool,
}

/// All failed cases so far, by class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Classification {
    /// Version of the classifier.
    pub classifier: String,
    /// Each class by its word; `unclassified` too.
    pub classes: BTreeMap<String, ClassCount>,
}

/// A change that is proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Proposal {
    /// Ids of the failed cases it is for; at least one.
    pub cases: Vec<String>,
    /// The files it may change, relative to the root.
    pub targets: Vec<String>,
    /// What is to be changed and why.
    pub text: String,
    /// What a model says about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// A proposal made real.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Candidate {
    /// Id of the proposal.
    pub proposal: String,
    /// The commit it is measured against.
    pub base: String,
    /// The change, as `git diff` writes it.
    pub patch: String,
    /// Git's name of the tree with the change in it.
    pub tree: String,
    /// The regression suite: program and arguments.
    pub suite: Vec<String>,
    /// What a model says about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// Checks of one tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// How many passed.
    pub passed: u64,
    /// How many there are.
    pub total: u64,
}

/// What the suite came to on one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Side {
    /// Its exit code; 124 when it ran out of time, 127 when it could not be run.
    pub exit_code: i64,
    /// How long it took, milliseconds. Nothing follows from it.
    pub duration_ms: u64,
    /// SHA-256 of what it printed, in hex.
    pub output_digest: String,
    /// Why nothing can be read out of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
    /// Each check, `tier/name`, and whether it passed.
    pub checks: BTreeMap<String, bool>,
    /// Each tier.
    pub tiers: BTreeMap<String, Tier>,
}

/// What the suite came to on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// Id of the candidate.
    pub candidate: String,
    /// Without the change.
    pub base: Side,
    /// With it.
    pub changed: Side,
}

/// What follows from the results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// Id of the candidate.
    pub candidate: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, each a sentence.
    pub reasons: Vec<String>,
}

/// What a person decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decision {
    /// Id of the candidate.
    pub candidate: String,
    /// Whether it is adopted.
    pub adopted: bool,
    /// Who decided.
    pub approved_by: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// That this program applied nothing.
    pub applied_by_tool: No,
}

/// What an entry is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum What {
    /// An outcome was collected.
    Case(Case),
    /// Failures were classified.
    Classification(Classification),
    /// A change was proposed.
    Proposal(Proposal),
    /// A proposal was made real.
    Candidate(Candidate),
    /// The suite was run on both sides.
    Results(Results),
    /// Both sides were compared.
    Compared(Compared),
    /// A person decided.
    Decision(Decision),
}

impl What {
    /// The word for it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Case(_) => "case",
            Self::Classification(_) => "classification",
            Self::Proposal(_) => "proposal",
            Self::Candidate(_) => "candidate",
            Self::Results(_) => "results",
            Self::Compared(_) => "compared",
            Self::Decision(_) => "decision",
        }
    }
}

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    /// The version of the form.
    pub schema_version: u64,
    /// Its number, from 1.
    pub sequence: u64,
    /// Id of the one before; of the first, what the project makes it.
    pub previous: String,
    /// When, UTC.
    pub at: String,
    /// What.
    pub what: What,
}
