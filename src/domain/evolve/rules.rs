//! What may follow what.

use super::compare::{Comparison, Verdict};
use super::entry::{Candidate, Claim, Decision, No, Outcome, Proposal, Results};
use super::paths::target;
use crate::domain::text::{head, is_unseen, one_line};

/// Longest name of a person, characters.
const LONGEST_NAME: usize = 200;

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No case is named.
    #[error("a proposal names at least one recorded case that failed")]
    NoCase,
    /// What is named is no case that failed.
    #[error("`{0}` is no recorded case that failed")]
    NotFailed(String),
    /// No file is named.
    #[error("a proposal names the files it may change")]
    NoTarget,
    /// A text is empty.
    #[error("`{0}` is empty")]
    Empty(&'static str),
    /// A path leads outside.
    #[error("`{}` leads out of where it belongs", head(.0, 200))]
    Traversal(String),
    /// A path leads into a folder in which an agent, git or this program keeps its own.
    #[error("`{}` lies in a folder that an agent, git or this program keeps for itself", head(.0, 200))]
    AgentFolder(String),
    /// A change cannot be used.
    #[error("the patch cannot be used: {0}")]
    Patch(String),
    /// A change touches more than was proposed.
    #[error("the patch changes `{0}`, which the proposal does not name")]
    OutsideTargets(String),
    /// No suite is named.
    #[error("a candidate names its regression suite")]
    NoSuite,
    /// There is no commit to measure against.
    #[error("there is no commit that a candidate could be measured against")]
    NoCommit,
    /// There is no entry of this id and kind.
    #[error("there is no {0} `{1}`")]
    None(&'static str, String),
    /// More than one entry begins so.
    #[error("more than one {0} begins with `{1}`")]
    Ambiguous(&'static str, String),
    /// The suite was run already.
    #[error("the suite was run on `{0}` already; a further run would not count")]
    RanAlready(String),
    /// The tree is another one than was recorded.
    #[error("the change does not give the tree `{0}` that was recorded")]
    OtherTree(String),
    /// The suite was not run.
    #[error("the suite was not run on `{0}`")]
    NotRun(String),
    /// The side without the change says nothing.
    #[error("nothing can be compared: the side without the change: {0}")]
    BaseUnusable(String),
    /// Nothing was compared yet.
    #[error("`{0}` was not compared")]
    NotCompared(String),
    /// A regression.
    #[error("`{0}` is REJECTED for a regression, for ever")]
    Rejected(String),
    /// The same was rejected.
    #[error("the same change was REJECTED under the same suite as `{0}`, for ever")]
    RejectedBefore(String),
    /// No improvement.
    #[error("`{0}` does not improve anything: strictly more passing checks are needed")]
    NotImproved(String),
    /// Nobody approves.
    #[error("a decision needs the name of the person who takes it")]
    NotApproved,
    /// It is no name.
    #[error("a name is one line of at most {LONGEST_NAME} characters")]
    NotAName,
    /// A session decides.
    #[error("a decision is taken by a person, not by a session of an agent")]
    Session,
    /// It was decided.
    #[error("`{0}` was decided already")]
    Decided(String),
    /// It was interrupted.
    #[error("the suite was ended, because this command was told to end; nothing was recorded")]
    Interrupted,
}

impl Refusal {
    /// What to do.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoCase | Self::NotFailed(_) => {
                "`--case ID` names one; `the-loop evolve collect` and `the-loop evolve show` print them"
            }
            Self::NoTarget => "`--target PATH` names a file or folder, relative to the root",
            Self::Empty(_) => "say something that helps whoever reads it later",
            Self::Traversal(_) => "name a path below the root, without `..`",
            Self::AgentFolder(_) => {
                "only files of the project are improved; installed copies follow by installing again"
            }
            Self::Patch(_) => "make it with `git diff` against the commit that is checked out",
            Self::OutsideTargets(_) => "leave it out of the patch, or propose it too",
            Self::NoSuite => "`--suite -- PROGRAM ARGUMENTS` names it",
            Self::NoCommit => "commit first; candidates are measured against a commit",
            Self::None(..) | Self::Ambiguous(..) => "`the-loop evolve show` prints the ids",
            Self::RanAlready(_) => "another attempt is another candidate",
            Self::OtherTree(_) => "make a candidate anew: `the-loop evolve candidate`",
            Self::NotRun(_) => "`the-loop evolve run` runs it on both sides",
            Self::BaseUnusable(_) => "mend the suite, then make a candidate with it",
            Self::NotCompared(_) => "`the-loop evolve compare` compares both sides",
            Self::Rejected(_) | Self::RejectedBefore(_) | Self::NotImproved(_) => {
                "its evidence stays in the ledger; make another candidate"
            }
            Self::NotApproved | Self::NotAName => "`--approved-by NAME` says who",
            Self::Session => "a person runs `the-loop evolve decide` outside of the session",
            Self::Decided(_) => "`the-loop evolve show` prints the decision",
            Self::Interrupted => "`the-loop evolve run` begins anew",
        }
    }
}

/// The beginning of an id, as it is printed.
pub fn short(id: &str) -> &str {
    head(id, 12)
}

/// A proposal. `cases` are the ids that were named, each with how it ended, if it is a recorded case.
///
/// # Errors
/// It names no failed case, no target, or one that may not be changed, or says nothing.
pub fn propose(
    cases: &[(String, Option<Outcome>)],
    targets: &[String],
    text: &str,
    claims: Vec<Claim>,
) -> Result<Proposal, Refusal> {
    if cases.is_empty() {
        return Err(Refusal::NoCase);
    }
    if let Some((id, _)) = cases.iter().find(|(_, outcome)| *outcome != Some(Outcome::Failed)) {
        return Err(Refusal::NotFailed(id.clone()));
    }
    if targets.is_empty() {
        return Err(Refusal::NoTarget);
    }
    if text.trim().is_empty() {
        return Err(Refusal::Empty("--text"));
    }
    let targets = targets.iter().map(|path| target(path)).collect::<Result<_, _>>()?;
    let mut seen = std::collections::HashSet::new();
    let cases = cases.iter().map(|(id, _)| id).filter(|id| seen.insert(*id)).cloned().collect();
    Ok(Proposal { cases, targets, text: text.to_owned(), claims })
}

/// Everything the ledger says of one candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dossier {
    /// Its id.
    pub id: String,
    /// The candidate.
    pub candidate: Candidate,
    /// What the suite came to, if it was run.
    pub results: Option<Results>,
    /// The verdict that was recorded, if it was compared.
    pub verdict: Option<Verdict>,
    /// Whether a person decided.
    pub is_decided: bool,
}

/// A decision. `comparison` is made anew from the results: what was recorded of it decides nothing. Claims are not asked.
///
/// # Errors
/// A session asks, nobody is named, it was decided, or the comparison does not allow it.
pub fn decide(
    dossier: &Dossier,
    comparison: &Comparison,
    adopted: bool,
    approved_by: &str,
    reason: Option<String>,
    is_session: bool,
) -> Result<Decision, Refusal> {
    if is_session {
        return Err(Refusal::Session);
    }
    let Dossier { id, verdict, is_decided, .. } = dossier;
    let approved_by = may_decide(id, *verdict, Some(comparison.verdict), *is_decided, adopted, approved_by)?;
    Ok(Decision { candidate: id.clone(), adopted, approved_by, reason, applied_by_tool: No })
}

/// Whether a candidate may be decided so; answers the name as it is written down. `recorded` is the verdict that stands
/// in the ledger, `found` the one that follows from the results.
///
/// # Errors
/// It may not.
pub(super) fn may_decide(
    id: &str,
    recorded: Option<Verdict>,
    found: Option<Verdict>,
    is_decided: bool,
    adopted: bool,
    approved_by: &str,
) -> Result<String, Refusal> {
    let id = || short(id).to_owned();
    if is_decided {
        return Err(Refusal::Decided(id()));
    }
    let worst = match (recorded, found) {
        (None, _) | (_, None) => return Err(Refusal::NotCompared(id())),
        // A rejection that was recorded is final, whatever is read out of the results later.
        (Some(Verdict::Rejected), _) => Verdict::Rejected,
        (Some(_), Some(found)) => found,
    };
    match worst {
        Verdict::Rejected if adopted => return Err(Refusal::Rejected(id())),
        Verdict::NotImproved if adopted => return Err(Refusal::NotImproved(id())),
        _ => {}
    }
    let name = approved_by.trim();
    match () {
        () if name.is_empty() => Err(Refusal::NotApproved),
        () if name.chars().count() > LONGEST_NAME || one_line(name) != name || name.contains(is_unseen) => {
            Err(Refusal::NotAName)
        }
        () => Ok(name.to_owned()),
    }
}
