//! The rules over a whole ledger, entry by entry: what each entry says must have been allowed by those before it. A chain
//! only shows that nothing was edited; who writes the chain anew can put anything into it, and this is what finds that.
//!
//! One pass. Of a case some 40 bytes are kept, of a proposal its targets, of a candidate its standing; no text and no patch.

use std::collections::{HashMap, HashSet};

use sha2::{Digest as _, Sha256};

use super::classify::{CLASSIFIER, Tally};
use super::collect::is_sanitised;
use super::compare::{Verdict, compare};
use super::entry::{Candidate, Case, Classification, Compared, Decision, Entry, Outcome, Proposal, Results, What};
use super::patch::check_patch;
use super::paths::{check_argv, check_changed};
use super::rules::{Refusal, may_decide, propose};
use super::suite::is_sound;
use crate::domain::run::TaskId;
use crate::domain::time::Time;

/// The beginning of a digest: long enough that nobody finds another with the same.
type Key = [u8; 16];

/// Where a ledger stands after the entries that were taken.
#[derive(Debug, Default)]
pub struct Replay {
    known: HashSet<Key>,
    failed: HashSet<Key>,
    tally: Tally,
    pub(super) proposals: HashMap<String, Vec<String>>,
    candidates: HashMap<String, Standing>,
    /// By commit, tree and suite, the candidates that were made so.
    tried: HashMap<Key, Vec<String>>,
}

/// How far a candidate is.
#[derive(Debug, Default)]
struct Standing {
    /// The verdict that follows from its results, once there are some; none of results from which nothing follows.
    found: Option<Option<Verdict>>,
    recorded: Option<Verdict>,
    is_decided: bool,
}

impl Standing {
    fn is_rejected(&self) -> bool {
        [self.recorded, self.found.flatten()].contains(&Some(Verdict::Rejected))
    }
}

impl Replay {
    /// Takes the next entry. One that breaks a rule is taken too, so that those after it are judged for themselves.
    ///
    /// # Errors
    /// The rule that it breaks, in words.
    pub fn take(&mut self, id: &str, entry: &Entry) -> Result<(), String> {
        let is_time = Time::parse(&entry.at).is_ok_and(|time| time.to_string() == entry.at);
        let kept = match &entry.what {
            What::Case(case) => self.case(id, case),
            What::Classification(classification) => self.classification(classification),
            What::Proposal(proposal) => self.proposal(id, proposal),
            What::Candidate(candidate) => self.candidate(id, candidate),
            What::Results(results) => self.results(results),
            What::Compared(compared) => self.compared(compared),
            What::Decision(decision) => self.decision(decision),
        };
        if is_time { kept } else { kept.and(Err(format!("`{}` is no UTC time", entry.at))) }
    }

    fn case(&mut self, id: &str, case: &Case) -> Result<(), String> {
        let is_new = self.known.insert(key(&format!("{}\n{}", case.source.file, case.subject)));
        if self.tally.add(case).is_some() {
            self.failed.insert(key(id));
        }
        let Case { source, task_id, subject, summary, claims, .. } = case;
        let is_file = source.file.ends_with(".json") && !source.file.contains(['/', '\0']);
        let is_subject = subject == "run" || ["criterion:", "finding:"].iter().any(|head| subject.starts_with(head));
        match () {
            () if !is_new => Err(format!("`{subject}` of `{}` stands there already", source.file)),
            () if !is_file || !is_hex(&source.digest, &[64]) => Err("it names no file of the archive".into()),
            () if TaskId::parse(task_id).is_none() || !is_subject => Err("it names no outcome of a run".into()),
            () if !is_sanitised(summary)
                || !is_sanitised(subject)
                || !claims.iter().all(|claim| is_sanitised(&claim.text)) =>
            {
                Err("its texts are not sanitised".into())
            }
            () => Ok(()),
        }
    }

    fn classification(&self, classification: &Classification) -> Result<(), String> {
        // Words of another version are not known here.
        match classification.classifier != CLASSIFIER || self.tally.classification() == *classification {
            true => Ok(()),
            false => Err("its counts do not follow from the cases before it".into()),
        }
    }

    fn proposal(&mut self, id: &str, proposal: &Proposal) -> Result<(), String> {
        self.proposals.insert(id.to_owned(), proposal.targets.clone());
        let outcome = |case: &String| self.failed.contains(&key(case)).then_some(Outcome::Failed);
        let cases: Vec<_> = proposal.cases.iter().map(|case| (case.clone(), outcome(case))).collect();
        let allowed = propose(&cases, &proposal.targets, &proposal.text, proposal.claims.clone());
        match allowed.map_err(in_words)? == *proposal {
            true => Ok(()),
            false => Err("it names a case twice".into()),
        }
    }

    fn candidate(&mut self, id: &str, candidate: &Candidate) -> Result<(), String> {
        let Candidate { proposal, base, patch, tree, suite, .. } = candidate;
        let again = self.may_try(candidate);
        self.candidates.insert(id.to_owned(), Standing::default());
        self.tried.entry(tried_as(candidate)).or_default().push(id.to_owned());
        again.map_err(in_words)?;
        let targets = self.proposals.get(proposal).ok_or_else(|| none("proposal", proposal))?;
        check_argv(suite, "").map_err(in_words)?;
        let touched = check_patch(patch).map_err(in_words)?;
        check_changed(&touched, targets).map_err(in_words)?;
        match is_hex(base, &[40, 64]) && is_hex(tree, &[40, 64]) {
            true => Ok(()),
            false => Err("`base` and `tree` are no names that git gives".into()),
        }
    }

    /// Whether a candidate may be tried: the same change under the same suite was not rejected before. A rejection that could
    /// be gone around by typing it in again would not be for ever.
    ///
    /// # Errors
    /// It was.
    pub fn may_try(&self, candidate: &Candidate) -> Result<(), Refusal> {
        let rejected = |id: &&String| self.candidates.get(*id).is_some_and(Standing::is_rejected);
        match self.tried.get(&tried_as(candidate)).into_iter().flatten().find(rejected) {
            Some(id) => Err(Refusal::RejectedBefore(super::short(id).to_owned())),
            None => Ok(()),
        }
    }

    fn results(&mut self, results: &Results) -> Result<(), String> {
        let standing = of(&mut self.candidates, &results.candidate)?;
        if standing.found.is_some() {
            return Err(in_words(Refusal::RanAlready(super::short(&results.candidate).to_owned())));
        }
        let sound = is_sound(&results.base) && is_sound(&results.changed);
        standing.found =
            Some(sound.then(|| compare(&results.base, &results.changed).ok()).flatten().map(|it| it.verdict));
        if sound { Ok(()) } else { Err("its tiers do not follow from its checks".into()) }
    }

    fn compared(&mut self, compared: &Compared) -> Result<(), String> {
        let standing = of(&mut self.candidates, &compared.candidate)?;
        let is_first = standing.recorded.is_none();
        // A rejection is for ever, whatever is written behind it.
        if standing.recorded != Some(Verdict::Rejected) {
            standing.recorded = Some(compared.verdict);
        }
        match standing.found {
            _ if !is_first => Err(format!("`{}` was compared already", super::short(&compared.candidate))),
            None => Err(in_words(Refusal::NotRun(super::short(&compared.candidate).to_owned()))),
            Some(None) => Err("nothing can be compared: one side says nothing".into()),
            Some(Some(found)) if found != compared.verdict => {
                Err(format!("it says {}, and {} follows from the results", compared.verdict.word(), found.word()))
            }
            Some(Some(_)) => Ok(()),
        }
    }

    fn decision(&mut self, decision: &Decision) -> Result<(), String> {
        let standing = of(&mut self.candidates, &decision.candidate)?;
        let is_decided = std::mem::replace(&mut standing.is_decided, true);
        let Decision { candidate, adopted, approved_by, .. } = decision;
        let found = standing.found.flatten();
        may_decide(candidate, standing.recorded, found, is_decided, *adopted, approved_by).map(drop).map_err(in_words)
    }
}

/// What makes two candidates one and the same; no argument holds a NUL.
fn tried_as(candidate: &Candidate) -> Key {
    key(&format!("{}\0{}\0{}", candidate.base, candidate.tree, candidate.suite.join("\0")))
}

fn of<'s>(candidates: &'s mut HashMap<String, Standing>, id: &str) -> Result<&'s mut Standing, String> {
    candidates.get_mut(id).ok_or_else(|| none("candidate", id))
}

fn none(what: &'static str, id: &str) -> String {
    in_words(Refusal::None(what, super::short(id).to_owned()))
}

fn in_words(refusal: Refusal) -> String {
    refusal.to_string()
}

fn key(text: &str) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
    key
}

fn is_hex(text: &str, lengths: &[usize]) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
