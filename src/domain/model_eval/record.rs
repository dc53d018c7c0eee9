//! A record: one evaluation of one model, from the moment somebody starts it until it is closed for ever.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::shape;
use super::task_set::{Dimension, Edition, TaskSet};
use crate::domain::reference::hex;
use crate::domain::text::{head, is_unseen, one_line};
use crate::domain::time::Time;

/// Longest name, label or description, characters.
const LONGEST: usize = 200;

/// A name on one line: of a model, of a person, of an attempt, of an environment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line(String);

impl Line {
    /// Reads a name; white space at its ends is not part of it.
    ///
    /// # Errors
    /// It is empty, has more than 200 characters, or holds a line end or another control character.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match () {
            () if text.is_empty() => Err("it is empty".into()),
            () if text.chars().count() > LONGEST => Err(format!("it has more than {LONGEST} characters")),
            () if one_line(text) != text || text.contains(is_unseen) => Err("it is not one line of plain text".into()),
            () => Ok(Self(text.to_owned())),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a record: `eval-` and 16 hex digits, which follow from model, label and task set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(String);

impl RunId {
    /// Reads an id by its form.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("eval-")?;
        let is_hex = digits.len() == 16 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        is_hex.then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.0)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id that follows. Names are on one line, so a line feed keeps the parts apart.
pub fn run_id(model: &Line, label: &Line, edition: &Edition) -> RunId {
    let parts = [model.as_str(), label.as_str(), &edition.version, &edition.hash].join("\n");
    RunId(format!("eval-{}", &hex(&Sha256::digest(parts.as_bytes()))[..16]))
}

/// What is said when an evaluation is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// The model, as its provider names it.
    pub model: Line,
    /// Tells evaluations of one model apart.
    pub label: Line,
    /// Who started it.
    pub operator: Line,
    /// In what it runs: harness, its version, limits.
    pub environment: Line,
}

/// Something that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// On which task.
    pub task: String,
    /// At which attempt at it, from 1.
    pub attempt: u32,
    /// In which dimension.
    pub dimension: Dimension,
    /// Whether it was a success, as the task says.
    pub success: bool,
    /// What was seen.
    pub evidence: String,
}

impl Observation {
    /// What another observation of the same record must not be of.
    pub(super) fn key(&self) -> (&str, u32, Dimension) {
        (&self.task, self.attempt, self.dimension)
    }
}

/// How a record was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// When.
    pub at: Time,
    /// What it does not show.
    pub limitations: String,
}

/// One evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its id.
    pub run_id: RunId,
    /// What it is of.
    pub of: NewRun,
    /// The tasks.
    pub task_set: Edition,
    /// Fingerprint of the project.
    pub project: String,
    /// One more with each write.
    pub generation: u64,
    /// When it was started.
    pub created_at: Time,
    /// When it was written last.
    pub updated_at: Time,
    /// What was seen, oldest first.
    pub observations: Vec<Observation>,
    /// How it was closed; none while it is open.
    pub completion: Option<Completion>,
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is a record of this id.
    #[error("`{run}` is there already: this model was evaluated on these tasks under this label")]
    Duplicate {
        /// The record.
        run: RunId,
    },
    /// The record is closed.
    #[error("`{0}` is completed, and never changes any more")]
    Completed(RunId),
    /// It was seen already.
    #[error("attempt {attempt} at `{task}` has an observation for `{}` already", .dimension.word())]
    Twice {
        /// The task.
        task: String,
        /// The attempt.
        attempt: u32,
        /// The dimension.
        dimension: Dimension,
    },
    /// There is no such task, or it shows nothing of the dimension.
    #[error("{0}")]
    Unknown(String),
    /// The record is of other tasks than this program has.
    #[error("`{run}` is of the task set {theirs}, this program has {ours}")]
    OtherTasks {
        /// The record.
        run: RunId,
        /// Its tasks.
        theirs: Edition,
        /// This program's.
        ours: Edition,
    },
    /// Records of different tasks would be put side by side.
    #[error("the records are of different task sets ({0} and {1}), which cannot be compared")]
    DifferentTasks(Edition, Edition),
    /// There is nothing to count.
    #[error("{0} has no completed record")]
    NoRecord(String),
    /// A record is to be closed without saying what it does not show.
    #[error("a record is completed only with a statement of its limitations")]
    NoLimitations,
    /// A record is to be closed without an observation.
    #[error("`{0}` holds no observation")]
    Nothing(RunId),
    /// A thing is to be compared with itself.
    #[error("both sides are `{0}`")]
    Same(String),
    /// A model is called as records are.
    #[error("`{0}` is the id of a record, and no name of a model")]
    LikeAnId(String),
    /// A session starts an evaluation.
    #[error("an evaluation is started by an operator, not by a session of an agent")]
    Session,
}

impl Refusal {
    /// What to do.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Duplicate { .. } => "`--label NAME` tells a further evaluation of the model apart",
            Self::Completed(_) => "a further evaluation is a record of its own: `the-loop model-eval new`",
            Self::Twice { .. } => "a further attempt has a number of its own in `attempt`",
            Self::Unknown(_) => "`the-loop model-eval show` prints the tasks and what each is observed for",
            Self::OtherTasks { .. } => "it stays as it is; new evaluations are of the tasks that this program has",
            Self::DifferentTasks(..) => "name single records of one task set instead of models",
            Self::NoRecord(_) => "`the-loop model-eval show` lists the records; only completed ones are counted",
            Self::NoLimitations => "say with `--limitations TEXT` what was not observed and what may have been special",
            Self::Nothing(_) => "`the-loop model-eval record` writes down what was seen",
            Self::Same(_) => "name two models, or two records",
            Self::LikeAnId(_) => "name the model as its provider does",
            Self::Session => "a person runs `the-loop model-eval new` outside of the session",
        }
    }
}

/// Starts a record.
///
/// # Errors
/// An agent's session asks for it.
pub fn open(of: NewRun, set: &TaskSet, project: String, is_session: bool, at: Time) -> Result<Record, Refusal> {
    if is_session {
        return Err(Refusal::Session);
    }
    if RunId::parse(of.model.as_str()).is_some() {
        return Err(Refusal::LikeAnId(of.model.to_string()));
    }
    let at = at.whole_seconds();
    Ok(Record {
        run_id: run_id(&of.model, &of.label, &set.edition),
        of,
        task_set: set.edition.clone(),
        project,
        generation: 1,
        created_at: at,
        updated_at: at,
        observations: Vec::new(),
        completion: None,
    })
}

/// The record with one more observation.
///
/// # Errors
/// It is closed or of other tasks, the task or dimension is none of it, or it was seen already.
pub fn observe(record: &Record, observation: Observation, set: &TaskSet, at: Time) -> Result<Record, Refusal> {
    let mut next = writable(record, set, at)?;
    check(&observation, set)?;
    if record.observations.iter().any(|known| known.key() == observation.key()) {
        let Observation { task, attempt, dimension, .. } = observation;
        return Err(Refusal::Twice { task, attempt, dimension });
    }
    next.observations.push(observation);
    Ok(next)
}

/// The record, closed.
///
/// # Errors
/// It is closed already or of other tasks, nothing was seen, or nothing is said of its limitations.
pub fn complete(record: &Record, limitations: &str, set: &TaskSet, at: Time) -> Result<Record, Refusal> {
    let mut next = writable(record, set, at)?;
    if record.observations.is_empty() {
        return Err(Refusal::Nothing(record.run_id.clone()));
    }
    if limitations.trim().is_empty() {
        return Err(Refusal::NoLimitations);
    }
    next.completion = Some(Completion { at: next.updated_at, limitations: limitations.trim().to_owned() });
    Ok(next)
}

fn writable(record: &Record, set: &TaskSet, at: Time) -> Result<Record, Refusal> {
    let run = record.run_id.clone();
    if record.completion.is_some() {
        return Err(Refusal::Completed(run));
    }
    if record.task_set != set.edition {
        let (theirs, ours) = (record.task_set.clone(), set.edition.clone());
        return Err(Refusal::OtherTasks { run, theirs, ours });
    }
    let updated_at = at.whole_seconds().max(record.updated_at);
    Ok(Record { generation: record.generation + 1, updated_at, ..record.clone() })
}

/// Whether an observation is one of the task set.
///
/// # Errors
/// It is not.
pub(super) fn check(observation: &Observation, set: &TaskSet) -> Result<(), Refusal> {
    let Observation { task: id, dimension, .. } = observation;
    let Some(task) = set.task(id) else {
        return Err(Refusal::Unknown(format!("there is no task `{}` in the task set {}", head(id, 60), set.edition)));
    };
    match task.successes.contains_key(dimension) {
        true => Ok(()),
        false => Err(Refusal::Unknown(format!("the task `{id}` is not observed for `{}`", dimension.word()))),
    }
}

/// What a closed record is sealed with: SHA-256 of its file without the seal, in hex. Whoever changes the record without
/// this program is found by it.
pub fn seal_of(record: &Record) -> String {
    hex(&Sha256::digest(crate::domain::json::pretty(&shape::unsealed(record)).as_bytes()))
}
