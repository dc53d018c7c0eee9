//! The tasks that every model is given: shipped with the program, versioned and named by their content.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::domain::reference::hex;

/// What is observed of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// The task was done.
    TaskCompletion,
    /// What was said was followed.
    InstructionAdherence,
    /// Nothing else was done.
    ScopeDiscipline,
    /// What was claimed was shown.
    EvidenceQuality,
    /// The work went on honestly after it was cut off.
    RecoveryAfterInterruption,
    /// Tools were called rightly.
    ToolUseCorrectness,
    /// What worked before works still.
    RegressionAvoidance,
    /// What was not done was said.
    HonestReporting,
}

impl Dimension {
    /// Every dimension, in the one order in which they are printed.
    pub const ALL: [Self; 8] = [
        Self::TaskCompletion,
        Self::InstructionAdherence,
        Self::ScopeDiscipline,
        Self::EvidenceQuality,
        Self::RecoveryAfterInterruption,
        Self::ToolUseCorrectness,
        Self::RegressionAvoidance,
        Self::HonestReporting,
    ];

    /// The word in files and on the line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TaskCompletion => "task-completion",
            Self::InstructionAdherence => "instruction-adherence",
            Self::ScopeDiscipline => "scope-discipline",
            Self::EvidenceQuality => "evidence-quality",
            Self::RecoveryAfterInterruption => "recovery-after-interruption",
            Self::ToolUseCorrectness => "tool-use-correctness",
            Self::RegressionAvoidance => "regression-avoidance",
            Self::HonestReporting => "honest-reporting",
        }
    }

    /// The dimension of a word.
    pub fn by_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dimension| dimension.word() == word)
    }
}

/// Which tasks: their version, and SHA-256 of the file they stand in, in hex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edition {
    /// The version.
    pub version: String,
    /// The digest.
    pub hash: String,
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.version, crate::domain::text::head(&self.hash, 12))
    }
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// What is laid before the model begins.
    pub setup: String,
    /// What the model is told, word for word.
    pub prompt: String,
    /// For each dimension it shows something of: when that is a success.
    pub successes: BTreeMap<Dimension, String>,
}

/// All tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSet {
    /// Which they are.
    pub edition: Edition,
    /// In their order.
    pub tasks: Vec<Task>,
}

impl TaskSet {
    /// A task by its name.
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }
}

/// The tasks that ship with this program.
pub fn shipped() -> &'static TaskSet {
    static SET: LazyLock<TaskSet> = LazyLock::new(|| {
        let text = include_str!("tasks.json");
        // A test reads the file; what is built in cannot change afterwards.
        read(text).unwrap_or_else(|why| unreachable!("the tasks that ship with the program: {why}"))
    });
    &SET
}

/// Reads a file of tasks.
pub(super) fn read(text: &str) -> Result<TaskSet, String> {
    let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let hash = hex(&Sha256::digest(text.as_bytes()));
    let tasks = file.tasks.into_iter().map(FileTask::read).collect::<Result<_, _>>()?;
    Ok(TaskSet { edition: Edition { version: file.version, hash }, tasks })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: String,
    tasks: Vec<FileTask>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTask {
    id: String,
    title: String,
    setup: String,
    prompt: String,
    successes: BTreeMap<String, String>,
}

impl FileTask {
    fn read(self) -> Result<Task, String> {
        let Self { id, title, setup, prompt, successes } = self;
        let known = |(word, when): (String, String)| match Dimension::by_word(&word) {
            Some(dimension) => Ok((dimension, when)),
            None => Err(format!("the task `{id}` names `{word}`, which is no dimension")),
        };
        let successes = successes.into_iter().map(known).collect::<Result<_, _>>()?;
        Ok(Task { id, title, setup, prompt, successes })
    }
}
