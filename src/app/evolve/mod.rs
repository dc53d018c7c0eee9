//! Evolution: walk the ledger, have the pure step decide, scan what comes of it and append.

mod candidates;
mod collecting;
mod walk;

pub use candidates::{Seen, Tried};
pub use collecting::{Classified, Collected};
pub use walk::{Breach, Checked, Listed};

use super::kept::KeptError;
use crate::domain::evolve::{Claim, LedgerFile, No, Outcome, Proposal, Refusal, What, Workbench, propose, sanitise};
use crate::domain::kept::KeptFiles;
use crate::domain::run::{Project, ProjectFacts};
use crate::domain::time::Time;

/// The evolution of one project at one moment.
pub struct Evolve<'a> {
    /// Archives, and how far the ledger goes.
    pub files: &'a dyn KeptFiles,
    /// The ledger.
    pub ledger: &'a dyn LedgerFile,
    /// The project.
    pub project: &'a dyn ProjectFacts,
    /// Where candidates are tried.
    pub bench: &'a dyn Workbench,
    /// Whether an agent's session asks, and not a person.
    pub is_session: bool,
    /// When.
    pub now: Time,
}

impl Evolve<'_> {
    /// Proposes a change for failed cases, named by the beginnings of their ids. Answers the id of the proposal.
    ///
    /// # Errors
    /// It names no failed case or no file that may be changed, or says nothing.
    pub fn propose(
        &self,
        cases: &[String],
        targets: &[String],
        text: &str,
        claims: &[String],
    ) -> Result<(String, Proposal), KeptError> {
        let root = self.project.project()?.root;
        let mut found: Vec<Vec<(String, Outcome)>> = vec![Vec::new(); cases.len()];
        let walked = self.walk(&mut |id, entry| {
            if let What::Case(case) = &entry.what {
                for (named, found) in cases.iter().zip(&mut found) {
                    if walk::names(named, id) {
                        found.push((id.to_owned(), case.outcome));
                    }
                }
            }
        })?;
        let mut resolved = Vec::new();
        for (named, found) in cases.iter().zip(found) {
            resolved.push(match found.as_slice() {
                [] => (named.clone(), None),
                [(id, outcome)] => (id.clone(), Some(*outcome)),
                _ => return Err(Refusal::Ambiguous("case", named.clone()).into()),
            });
        }
        let proposal = propose(&resolved, targets, text, claimed(claims, &root))?;
        let ids = self.append(&walked, vec![What::Proposal(proposal.clone())])?;
        Ok((ids.into_iter().next().unwrap_or_default(), proposal))
    }

    fn today(&self) -> Result<(Project, String), KeptError> {
        let project = self.project.project()?;
        let fingerprint = project.identity().fingerprint;
        Ok((project, fingerprint))
    }
}

/// What a model says, carried as what it is.
fn claimed(claims: &[String], root: &str) -> Vec<Claim> {
    claims.iter().map(|text| Claim { text: sanitise(text, root), evidence: No }).collect()
}

impl From<Refusal> for KeptError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused { said: refusal.to_string(), hint: refusal.hint().to_owned() }
    }
}
