//! The verdict. The first row of the table that matches wins.

use std::fmt;

use super::manifest::{Criterion, Evidence, Level, Manifest, Proof};
use crate::domain::run::Corrupt;

/// What follows from the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is shown.
    Pass,
    /// It is shown that it is not so.
    Fail,
    /// Nothing can be said.
    Blocked,
    /// Somebody has to look.
    NeedsReview,
}

impl Verdict {
    /// The word that is printed.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Blocked => "BLOCKED",
            Self::NeedsReview => "NEEDS_REVIEW",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A verdict with every reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, each a sentence; empty for a pass.
    pub reasons: Vec<String>,
}

/// The project as it is when it is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Today<'t> {
    /// The live run's task.
    pub task: &'t str,
    /// Fingerprint of the project.
    pub project: &'t str,
    /// Digest of the tree; none where nobody can say.
    pub tree: Option<&'t str>,
    /// Artifacts that are not there.
    pub missing: Vec<String>,
}

/// Judges. `manifest` is what was read: nothing, something that cannot be trusted, or the manifest.
pub fn judge(manifest: Option<&Result<Manifest, Corrupt>>, today: &Today<'_>) -> Judgement {
    let manifest = match manifest {
        None => return blocked("nothing was recorded: there is no `verification.json`".into()),
        Some(Err(why)) => return blocked(format!("`verification.json` cannot be trusted: {why}")),
        Some(Ok(manifest)) => manifest,
    };
    if manifest.task.as_str() != today.task {
        return blocked(format!("`verification.json` belongs to another run, `{}`", manifest.task));
    }
    if manifest.project != today.project {
        return blocked("`verification.json` belongs to another project".into());
    }
    let rows = [
        (Verdict::Fail, failed(manifest)),
        (Verdict::Blocked, obstacles(manifest, today)),
        (Verdict::NeedsReview, doubts(manifest, today)),
    ];
    let first = rows.into_iter().find(|(_, reasons)| !reasons.is_empty());
    let (verdict, reasons) = first.unwrap_or((Verdict::Pass, Vec::new()));
    Judgement { verdict, reasons }
}

/// The manifest with real results in the place of recorded passes. `ran` gives the evidence of a command that was run
/// again just now; what changed from a pass is named.
pub fn rerun(manifest: &Manifest, mut ran: impl FnMut(&Evidence) -> Evidence) -> (Manifest, Vec<String>) {
    let (mut next, mut exposed) = (manifest.clone(), Vec::new());
    for criterion in &manifest.criteria {
        for evidence in manifest.latest(&criterion.id) {
            let Some(exec) = evidence.deterministic().filter(|exec| exec.exit_code == 0) else { continue };
            let today = ran(evidence);
            match &today.proof {
                Proof::Exec(real) if real.exit_code != 0 => exposed.push(format!(
                    "`{}`: `{}` was recorded as passed and ends with exit code {}",
                    criterion.id,
                    exec.argv.join(" "),
                    real.exit_code
                )),
                _ => {}
            }
            next.evidence.push(today);
        }
    }
    (next, exposed)
}

fn blocked(reason: String) -> Judgement {
    Judgement { verdict: Verdict::Blocked, reasons: vec![reason] }
}

fn of_level(manifest: &Manifest, level: Level) -> impl Iterator<Item = &Criterion> {
    manifest.criteria.iter().filter(move |criterion| criterion.level == level)
}

fn failed(manifest: &Manifest) -> Vec<String> {
    let mut reasons = Vec::new();
    for criterion in of_level(manifest, Level::Must) {
        let latest = manifest.latest(&criterion.id);
        let failures = latest.iter().filter_map(|evidence| evidence.deterministic()).filter(|exec| exec.exit_code != 0);
        reasons.extend(failures.map(|exec| {
            format!("`{}`: `{}` ended with exit code {}", criterion.id, exec.argv.join(" "), exec.exit_code)
        }));
    }
    reasons
}

fn obstacles(manifest: &Manifest, today: &Today<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    if manifest.criteria.is_empty() {
        reasons.push("no criteria are declared".to_owned());
    }
    reasons
        .extend(manifest.open_blockers().map(|blocker| format!("blocker `{}` is open: {}", blocker.id, blocker.text)));
    let grave = manifest.open_findings().filter(|finding| finding.severity.stops());
    reasons
        .extend(grave.map(|finding| {
            format!("finding `{}` is open ({}): {}", finding.id, finding.severity.word(), finding.text)
        }));
    let bare = of_level(manifest, Level::Must).filter(|criterion| manifest.latest(&criterion.id).is_empty());
    reasons.extend(bare.map(|criterion| format!("`{}` (MUST) has no evidence", criterion.id)));
    reasons.extend(today.missing.iter().map(|path| format!("the artifact `{path}` is missing")));
    reasons
}

fn doubts(manifest: &Manifest, today: &Today<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    for criterion in of_level(manifest, Level::Must).chain(of_level(manifest, Level::Should)) {
        let (id, latest) = (&criterion.id, manifest.latest(&criterion.id));
        let passing: Vec<&&Evidence> =
            latest.iter().filter(|evidence| evidence.deterministic().is_some_and(|exec| exec.exit_code == 0)).collect();
        match (criterion.level, passing.is_empty()) {
            (Level::Must, true) => reasons.push(format!("`{id}` (MUST) is covered by claims only")),
            (_, true) if latest.is_empty() => reasons.push(format!("`{id}` (SHOULD) has no evidence")),
            // A claim covers what only should be; a failure does not.
            (_, true) if latest.iter().all(|evidence| evidence.deterministic().is_some()) => {
                reasons.push(format!("`{id}` (SHOULD) is not met"));
            }
            _ => {}
        }
        let is_today = |evidence: &Evidence| today.tree.is_some() && evidence.tree.as_deref() == today.tree;
        let old = latest.iter().filter(|evidence| !is_today(evidence)).count();
        if old > 0 {
            reasons.push(format!("`{id}`: evidence is older than the last change of the tree"));
        }
    }
    reasons
}
