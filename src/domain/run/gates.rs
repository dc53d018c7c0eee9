//! The gates of `run resume`, in their order. Nothing resumes by itself: a person, or the digest of the very report that was
//! read, says so.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::command::Refusal;

use super::identity::Identity;
use super::record::{Run, Status};
use crate::domain::reference::hex;

/// How many hex digits of the digest are shown and asked for.
const DIGEST_LEN: usize = 12;

/// A gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// The file can be read and holds together.
    Integrity,
    /// It is this project's.
    Identity,
    /// Somebody asked for it now; a start or a respawn never does.
    NotAutomatic,
    /// What changed since was read and laid before whoever decides.
    Reconciliation,
    /// They said yes to exactly that.
    Approval,
}

impl Gate {
    /// Every gate, in the order they are passed.
    pub const ALL: [Self; 5] =
        [Self::Integrity, Self::Identity, Self::NotAutomatic, Self::Reconciliation, Self::Approval];

    /// What it asks.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Integrity => "integrity: the record can be read and holds together",
            Self::Identity => "identity: the record is of this project",
            Self::NotAutomatic => "never automatic: somebody asked for it now",
            Self::Reconciliation => "reconciliation: what changed since was read, and nothing was written",
            Self::Approval => "approval: somebody says yes to exactly this report",
        }
    }
}

/// What is known of the work item a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkItemState {
    /// It is open as far as is known, and armed.
    Armed,
    /// It is there and not armed.
    NotArmed,
    /// It ended.
    Ended,
    /// Nothing is recorded of it here.
    Unknown,
}

impl WorkItemState {
    const fn words(self) -> &'static str {
        match self {
            Self::Armed => "armed",
            Self::NotArmed => "not armed any more",
            Self::Ended => "ended",
            Self::Unknown => "not known on this machine",
        }
    }
}

/// The world since the last write, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciliation {
    /// The project today.
    pub today: Identity,
    /// Whether the recorded head is an ancestor of today's; none where git cannot say.
    pub is_ancestor: Option<bool>,
    /// The first lines of the commits since, newest first, and how many there are.
    pub commits: (Vec<String>, usize),
    /// Files that differ from the commit, as git prints them, and how many there are.
    pub changes: (Vec<String>, usize),
    /// Temporaries beside the file, each with what it is.
    pub leftovers: Vec<String>,
    /// The work item, when the run is for one.
    pub work_item: Option<WorkItemState>,
}

/// What is laid before whoever decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The text.
    pub text: String,
    /// What approves exactly this text of this generation, once.
    pub digest: String,
}

/// Passes the gates up to the report.
///
/// # Errors
/// The identity differs, or the state has nothing to resume.
pub fn gates(run: &Run, found: &Reconciliation, is_stale: bool) -> Result<Report, Refusal> {
    run.identity.check(&found.today).map_err(Refusal::Identity)?;
    let resumable = match run.status {
        Status::Paused | Status::RecoveryRequired => true,
        Status::Active => is_stale,
        Status::Blocked | Status::Completed | Status::Cancelled => false,
    };
    if !resumable {
        return Err(Refusal::Transition { verb: "resume", from: run.status });
    }
    let text = text(run, found, is_stale);
    let seed = format!("{}\n{}\n{text}", run.task_id, run.generation);
    let digest = hex(&Sha256::digest(seed.as_bytes()))[..DIGEST_LEN].to_owned();
    Ok(Report { text, digest })
}

fn text(run: &Run, found: &Reconciliation, is_stale: bool) -> String {
    let mut text = String::new();
    let none = "(none)".to_owned();
    let mut line = |name: &str, value: String| {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name:<16}{value}");
    };
    line("Task", format!("{}  {}", run.task_id, crate::domain::text::one_line(&run.objective)));
    line("State", format!("{}, stage {}, written {}", run.status, run.stage, run.updated_at));
    if let Some(recovery) = &run.recovery {
        line("Interrupted", format!("in stage {}: {}", recovery.interrupted_stage, recovery.reason));
    }
    line("Integrity", if is_stale { "SUSPECTED_STALE; a resume clears it".into() } else { "VALID".into() });
    let (then, today) = (&run.identity, &found.today);
    let changed = |then: &Option<String>, now: &Option<String>| {
        let (then, now) = (then.as_ref().unwrap_or(&none), now.as_ref().unwrap_or(&none));
        if then == now { format!("{now}, as it was") } else { format!("{now}, was {then}") }
    };
    line("Branch", changed(&then.branch, &today.branch));
    line("Head", changed(&then.head, &today.head));
    if found.is_ancestor == Some(false) {
        line("", "the recorded commit is not part of today's history".into());
    }
    listed(&mut line, "Commits since", &found.commits);
    listed(&mut line, "Changed files", &found.changes);
    for leftover in &found.leftovers {
        line("Left behind", leftover.clone());
    }
    if let (Some(item), Some(state)) = (&run.work_item, found.work_item) {
        line("Work item", format!("{item}, {}", state.words()));
    }
    text
}

fn listed(line: &mut impl FnMut(&str, String), name: &str, (shown, count): &(Vec<String>, usize)) {
    line(name, count.to_string());
    for entry in shown {
        line("", entry.clone());
    }
    if *count > shown.len() {
        line("", format!("and {} more", count - shown.len()));
    }
}

#[cfg(test)]
#[path = "gates_tests.rs"]
mod tests;
