//! What is to be shown, what was shown, and what was found.

use std::fmt;

use crate::domain::run::TaskId;
use crate::domain::time::Time;

/// How much a criterion matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Without it nothing is done.
    Must,
    /// Without it somebody has to look.
    Should,
    /// Nice to have.
    Could,
}

impl Level {
    /// Every level.
    pub const ALL: [Self; 3] = [Self::Must, Self::Should, Self::Could];

    /// The word in the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Could => "COULD",
        }
    }

    /// The level of a word.
    pub fn by_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.word() == word)
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// It must not go out.
    Critical,
    /// It should not go out.
    High,
    /// It can wait.
    Medium,
    /// It is a blemish.
    Low,
}

impl Severity {
    /// Every severity.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Medium, Self::Low];

    /// The word in the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Critical => "CRITICAL",
            Self::High => "HIGH",
            Self::Medium => "MEDIUM",
            Self::Low => "LOW",
        }
    }

    /// The severity of a word.
    pub fn by_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.word() == word)
    }

    /// Whether nothing passes while it is open.
    pub const fn stops(self) -> bool {
        matches!(self, Self::Critical | Self::High)
    }
}

/// What has to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// Its name, said once and never changed: a criterion that could be weakened later would be none.
    pub id: String,
    /// How much it matters.
    pub level: Level,
    /// What it says.
    pub text: String,
    /// Files that have to be there, relative to the root.
    pub artifacts: Vec<String>,
}

/// A command that was run, without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exec {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Its exit code; 128 and more for a signal, 124 when it took too long or printed too much, 127 when it could not be run.
    pub exit_code: i64,
    /// How long it took, milliseconds.
    pub duration_ms: u64,
    /// SHA-256 of everything it printed, both streams as they came, in hex.
    pub output_digest: String,
    /// The end of what it printed, with what looks like a secret withheld.
    pub output_tail: String,
    /// Whether the tree was another one after it; such a command proves nothing about either.
    pub changed_tree: bool,
}

/// How something is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// By a command that anybody can run again.
    Exec(Exec),
    /// By a claim.
    Advisory(String),
}

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// For which criterion.
    pub criterion: String,
    /// When.
    pub at: Time,
    /// The commit at the time.
    pub head: Option<String>,
    /// Digest of the tree at the time.
    pub tree: Option<String>,
    /// How.
    pub proof: Proof,
}

impl Evidence {
    /// The command, when it proves something: one that left the tree as it was.
    pub const fn deterministic(&self) -> Option<&Exec> {
        match &self.proof {
            Proof::Exec(exec) if !exec.changed_tree => Some(exec),
            _ => None,
        }
    }

    /// What later evidence has to be of to take its place: the same command, or a claim after a claim.
    pub fn subject(&self) -> Option<&[String]> {
        match &self.proof {
            Proof::Exec(exec) => Some(&exec.argv),
            Proof::Advisory(_) => None,
        }
    }
}

/// Something that was found. A later entry of the same id takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its name.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What.
    pub text: String,
    /// Whether it still stands.
    pub is_open: bool,
}

/// Something that has to happen first. A later entry of the same id takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenBlocker {
    /// Its name.
    pub id: String,
    /// What.
    pub text: String,
    /// Whether it still stands.
    pub is_open: bool,
}

/// Everything that was recorded for one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The run.
    pub task: TaskId,
    /// Fingerprint of the project.
    pub project: String,
    /// One more with each write.
    pub generation: u64,
    /// When it was written last.
    pub updated_at: Time,
    /// What has to be shown.
    pub criteria: Vec<Criterion>,
    /// What was shown, oldest first.
    pub evidence: Vec<Evidence>,
    /// What was found, oldest first.
    pub findings: Vec<Finding>,
    /// What has to happen first, oldest first.
    pub blockers: Vec<OpenBlocker>,
}

impl Manifest {
    /// Nothing recorded yet.
    pub fn new(task: TaskId, project: String, now: Time) -> Self {
        let (criteria, evidence, findings, blockers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { task, project, generation: 0, updated_at: now, criteria, evidence, findings, blockers }
    }

    /// Of each subject of a criterion, the latest evidence.
    pub fn latest(&self, criterion: &str) -> Vec<&Evidence> {
        let mut latest: Vec<&Evidence> = Vec::new();
        for evidence in self.evidence.iter().filter(|evidence| evidence.criterion == criterion) {
            match latest.iter_mut().find(|earlier| earlier.subject() == evidence.subject()) {
                Some(earlier) => *earlier = evidence,
                None => latest.push(evidence),
            }
        }
        latest
    }

    /// Findings as they stand.
    pub fn open_findings(&self) -> impl Iterator<Item = &Finding> {
        let is_last = |at: usize, id: &str| !self.findings[at + 1..].iter().any(|later| later.id == id);
        let all = self.findings.iter().enumerate();
        all.filter(move |(at, finding)| finding.is_open && is_last(*at, &finding.id)).map(|(_, finding)| finding)
    }

    /// Blockers as they stand.
    pub fn open_blockers(&self) -> impl Iterator<Item = &OpenBlocker> {
        let is_last = |at: usize, id: &str| !self.blockers[at + 1..].iter().any(|later| later.id == id);
        let all = self.blockers.iter().enumerate();
        all.filter(move |(at, blocker)| blocker.is_open && is_last(*at, &blocker.id)).map(|(_, blocker)| blocker)
    }
}

/// What is appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Something to be shown.
    Criterion(Criterion),
    /// Something shown.
    Evidence(Evidence),
    /// Something found.
    Finding(Finding),
    /// Something in the way.
    Blocker(OpenBlocker),
}

/// Why an entry was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryError {
    /// There is a criterion of this id.
    Twice(String),
    /// There is no criterion of this id.
    NoCriterion(String),
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(id) => write!(f, "the criterion `{id}` is declared already, and never changes"),
            Self::NoCriterion(id) => write!(f, "there is no criterion `{id}`"),
        }
    }
}

impl std::error::Error for EntryError {}

/// The manifest with one more entry. Nothing that was recorded is ever changed.
///
/// # Errors
/// A criterion is declared twice, or evidence names none.
pub fn append(manifest: &Manifest, entry: Entry, now: Time) -> Result<Manifest, EntryError> {
    let mut next = manifest.clone();
    let knows = |id: &str| manifest.criteria.iter().any(|criterion| criterion.id == id);
    match entry {
        Entry::Criterion(criterion) if knows(&criterion.id) => return Err(EntryError::Twice(criterion.id)),
        Entry::Criterion(criterion) => next.criteria.push(criterion),
        Entry::Evidence(evidence) if !knows(&evidence.criterion) => {
            return Err(EntryError::NoCriterion(evidence.criterion));
        }
        Entry::Evidence(evidence) => next.evidence.push(evidence),
        Entry::Finding(finding) => next.findings.push(finding),
        Entry::Blocker(blocker) => next.blockers.push(blocker),
    }
    next.generation += 1;
    next.updated_at = now.whole_seconds().max(manifest.updated_at);
    Ok(next)
}
