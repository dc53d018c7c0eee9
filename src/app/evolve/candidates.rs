//! Candidates: made real beside the repository, measured on both sides, compared, and decided by a person.

use super::walk::{Walked, names};
use super::{Evolve, claimed};
use crate::app::kept::KeptError;
use crate::domain::evolve::{
    Bench, Candidate, Compared, Comparison, Decision, Dossier, Proposal, Refusal, Results, Side, What, check_argv,
    check_changed, check_patch, compare, decide, read_side, short,
};
use crate::domain::ports::Limits;

/// A candidate with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Its id.
    pub id: String,
    /// The candidate.
    pub candidate: Candidate,
}

/// A comparison of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Id of the candidate.
    pub candidate: String,
    /// What was found.
    pub comparison: Comparison,
}

impl Evolve<'_> {
    /// Makes a proposal real: the change is tried on a detached working tree of today's commit, and recorded with the suite
    /// that it will be measured by.
    ///
    /// # Errors
    /// There is no such proposal or no commit, the patch does not fit or changes what was not proposed, or the suite leads
    /// out of its folder.
    pub fn candidate(
        &self,
        proposal: &str,
        patch: &str,
        suite: &[String],
        claims: &[String],
    ) -> Result<Tried, KeptError> {
        let (project, _) = self.today()?;
        let (walked, proposal, proposed) = self.proposal(proposal)?;
        check_argv(suite, &project.root)?;
        // What it says of itself first, and then what git made of it.
        check_changed(&check_patch(patch)?, &proposed.targets)?;
        let base = project.head.ok_or(Refusal::NoCommit)?;
        let bench = self.open(&base, Some(patch))?;
        let changed = bench.changed()?;
        check_changed(&changed, &proposed.targets)?;
        unbent(&*bench, &changed)?;
        let candidate = Candidate {
            proposal,
            base,
            patch: patch.to_owned(),
            tree: bench.tree()?,
            suite: suite.to_vec(),
            claims: claimed(claims, &project.root),
        };
        drop(bench);
        walked.replay.may_try(&candidate)?;
        let ids = self.append(&walked, vec![What::Candidate(candidate.clone())])?;
        Ok(Tried { id: ids.into_iter().next().unwrap_or_default(), candidate })
    }

    /// Runs the suite of a candidate on both sides, each in a working tree of its own. Once.
    ///
    /// # Errors
    /// There is no such candidate, it ran already, or its change does not give the tree that was recorded.
    pub fn run(&self, candidate: &str, limits: Limits) -> Result<Results, KeptError> {
        let (_, dossier) = self.dossier(candidate)?;
        ran_not_yet(&dossier)?;
        let Candidate { base, patch, tree, suite, .. } = &dossier.candidate;
        let side = |bench: &dyn Bench| -> Result<Side, Refusal> {
            bench.run(suite, limits).map(read_side).ok_or(Refusal::Interrupted)
        };
        let before = side(&*self.open(base, None)?)?;
        let bench = self.open(base, Some(patch))?;
        if bench.tree()? != *tree {
            return Err(Refusal::OtherTree(tree.clone()).into());
        }
        unbent(&*bench, &bench.changed()?)?;
        let changed = side(&*bench)?;
        drop(bench);
        let results = Results { candidate: dossier.id.clone(), base: before, changed };
        // It may have taken long: somebody may have run it meanwhile.
        let (walked, dossier) = self.dossier(&dossier.id)?;
        ran_not_yet(&dossier)?;
        self.append(&walked, vec![What::Results(results.clone())])?;
        Ok(results)
    }

    /// Compares both sides, and records the verdict the first time.
    ///
    /// # Errors
    /// There is no such candidate, the suite was not run, or the side without the change says nothing.
    pub fn compare(&self, candidate: &str) -> Result<Seen, KeptError> {
        let (walked, dossier) = self.dossier(candidate)?;
        let comparison = compared(&dossier)?;
        if dossier.verdict.is_none() {
            let (verdict, reasons) = (comparison.verdict, comparison.reasons.clone());
            let entry = Compared { candidate: dossier.id.clone(), verdict, reasons };
            self.append(&walked, vec![What::Compared(entry)])?;
        }
        Ok(Seen { candidate: dossier.id, comparison })
    }

    /// Records what a person decides. Nothing is applied.
    ///
    /// # Errors
    /// A session asks, nobody is named, it was decided, or it is to be adopted and may not be.
    pub fn decide(
        &self,
        candidate: &str,
        adopted: bool,
        approved_by: &str,
        reason: Option<String>,
    ) -> Result<Decision, KeptError> {
        let (walked, dossier) = self.dossier(candidate)?;
        let decision = decide(&dossier, &compared(&dossier)?, adopted, approved_by, reason, self.is_session)?;
        self.append(&walked, vec![What::Decision(decision.clone())])?;
        Ok(decision)
    }

    fn open(&self, commit: &str, patch: Option<&str>) -> Result<Box<dyn Bench>, KeptError> {
        self.bench.open(commit, patch)?.map_err(|why| Refusal::Patch(why).into())
    }

    fn proposal(&self, named: &str) -> Result<(Walked, String, Proposal), KeptError> {
        let mut found = Vec::new();
        let walked = self.walk(&mut |id, entry| match entry.what {
            What::Proposal(proposal) if names(named, id) => found.push((id.to_owned(), proposal)),
            _ => {}
        })?;
        let (id, proposal) = only("proposal", named, found)?;
        Ok((walked, id, proposal))
    }

    fn dossier(&self, named: &str) -> Result<(Walked, Dossier), KeptError> {
        let mut found: Vec<Dossier> = Vec::new();
        let walked = self.walk(&mut |id, entry| {
            let known = |candidate: &str| found.iter().position(|dossier| dossier.id == candidate);
            match entry.what {
                What::Candidate(candidate) if names(named, id) => found.push(Dossier {
                    id: id.to_owned(),
                    candidate,
                    results: None,
                    verdict: None,
                    is_decided: false,
                }),
                What::Results(results) => {
                    if let Some(at) = known(&results.candidate) {
                        found[at].results = Some(results);
                    }
                }
                What::Compared(compared) => {
                    if let Some(at) = known(&compared.candidate) {
                        found[at].verdict = Some(compared.verdict);
                    }
                }
                What::Decision(decision) => {
                    if let Some(at) = known(&decision.candidate) {
                        found[at].is_decided = true;
                    }
                }
                _ => {}
            }
        })?;
        let found = found.into_iter().map(|dossier| (dossier.id.clone(), dossier)).collect();
        only("candidate", named, found).map(|(_, dossier)| (walked, dossier))
    }
}

fn only<T>(what: &'static str, named: &str, mut found: Vec<(String, T)>) -> Result<(String, T), KeptError> {
    match (found.pop(), found.is_empty()) {
        (Some(one), true) => Ok(one),
        (Some(_), false) => Err(Refusal::Ambiguous(what, named.to_owned()).into()),
        (None, _) => Err(Refusal::None(what, named.to_owned()).into()),
    }
}

/// A link that was renamed has no line that says so.
fn unbent(bench: &dyn Bench, changed: &[String]) -> Result<(), Refusal> {
    match changed.iter().any(|path| bench.is_bent(path)) {
        true => Err(Refusal::Patch("it touches a link or a submodule".into())),
        false => Ok(()),
    }
}

/// The suite is run once: whoever repeats it until it passes shows nothing.
fn ran_not_yet(dossier: &Dossier) -> Result<(), Refusal> {
    match dossier.results {
        Some(_) => Err(Refusal::RanAlready(short(&dossier.id).to_owned())),
        None => Ok(()),
    }
}

fn compared(dossier: &Dossier) -> Result<Comparison, KeptError> {
    let results = dossier.results.as_ref().ok_or_else(|| Refusal::NotRun(short(&dossier.id).to_owned()))?;
    Ok(compare(&results.base, &results.changed).map_err(Refusal::BaseUnusable)?)
}
