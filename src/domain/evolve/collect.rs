//! Cases out of the archive of a run and its manifest. What cannot be fully trusted gives none.

use std::collections::HashSet;

use super::entry::{Case, Claim, No, Outcome, Source};
use crate::domain::run::{Integrity, Run, Status};
use crate::domain::secrets::redact;
use crate::domain::text::{head, one_line};
use crate::domain::verdict::{Evidence, Manifest, Proof};

/// Longest summary or claim, bytes.
const LONGEST: usize = 400;

/// A text as it may go into the ledger: one line, no secret, no path of this machine, and not long.
pub fn sanitise(text: &str, root: &str) -> String {
    let safe = redact(text);
    let safe = if root.len() > 1 { safe.replace(root, "<root>") } else { safe.into_owned() };
    head(&one_line(&safe), LONGEST).to_owned()
}

/// Whether a text could have come of [`sanitise`]. Whether it holds a secret is for the secret scan.
pub(super) fn is_sanitised(text: &str) -> bool {
    text.len() <= LONGEST + "criterion:".len() && !text.contains(char::is_control)
}

/// Whether an archived run of the project with this fingerprint is sound enough to learn from.
///
/// # Errors
/// Why it is not.
pub fn sound(run: &Run, project: &str, manifest: Option<&Manifest>) -> Result<(), String> {
    match () {
        () if run.identity.fingerprint != project => Err("it belongs to another project".into()),
        () if run.integrity != Integrity::Valid => Err("its integrity is SUSPECTED_STALE".into()),
        () if !run.status.is_terminal() => Err(format!("it is {}, which is no end", run.status)),
        () => match manifest {
            Some(manifest) if manifest.task != run.task_id => Err("its evidence is of another task".into()),
            Some(manifest) if manifest.project != project => Err("its evidence is of another project".into()),
            _ => Ok(()),
        },
    }
}

/// The cases of a sound run and its evidence, each with the file it comes from.
pub fn cases(run: &Run, of_run: &Source, manifest: Option<(&Manifest, &Source)>, root: &str) -> Vec<Case> {
    let outcome = if run.status == Status::Completed { Outcome::Passed } else { Outcome::Failed };
    let reason = run.stop_reason.as_deref().unwrap_or("no reason given");
    let summary = sanitise(&format!("ended {} in stage {}: {reason}", run.status, run.stage), root);
    let case = |source: &Source, subject: String, outcome, summary, claims| {
        let (source, task_id) = (source.clone(), run.task_id.to_string());
        Case { source, task_id, subject, outcome, summary, claims }
    };
    let mut found = vec![case(of_run, "run".into(), outcome, summary, Vec::new())];
    let Some((manifest, source)) = manifest else { return found };
    for criterion in &manifest.criteria {
        let latest = manifest.latest(&criterion.id);
        let (outcome, how) = shown(&latest);
        let summary = sanitise(&format!("{} {how}", criterion.text), root);
        let claims = latest.iter().filter_map(|evidence| claim(evidence, root)).collect();
        let subject = format!("criterion:{}", sanitise(&criterion.id, root));
        found.push(case(source, subject, outcome, summary, claims));
    }
    for finding in manifest.open_findings() {
        let summary = sanitise(&format!("{}: {}", finding.severity.word(), finding.text), root);
        let subject = format!("finding:{}", sanitise(&finding.id, root));
        found.push(case(source, subject, Outcome::Failed, summary, Vec::new()));
    }
    // Two names may have become one.
    let mut seen = HashSet::new();
    found.retain(|case| seen.insert(case.subject.clone()));
    found
}

/// What the deterministic evidence of a criterion says; claims say nothing.
fn shown(latest: &[&Evidence]) -> (Outcome, String) {
    let mut ran = latest.iter().filter_map(|evidence| evidence.deterministic());
    match ran.clone().find(|exec| exec.exit_code != 0) {
        Some(exec) => (Outcome::Failed, format!("(`{}` ended with {})", exec.argv.join(" "), exec.exit_code)),
        None if ran.next().is_some() => (Outcome::Passed, String::new()),
        None => (Outcome::Unshown, String::new()),
    }
}

fn claim(evidence: &Evidence, root: &str) -> Option<Claim> {
    match &evidence.proof {
        Proof::Advisory(text) => Some(Claim { text: sanitise(text, root), evidence: No }),
        Proof::Exec(_) => None,
    }
}
