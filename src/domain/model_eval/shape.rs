//! The file of a record and one observation as it is typed: read strictly, written canonically.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{self, Completion, Line, NewRun, Observation, Record};
use super::task_set::{Dimension, Edition, shipped};
use crate::domain::json;
use crate::domain::run::{Corrupt, LARGEST, SCHEMA, strict_json};
use crate::domain::text::head;
use crate::domain::time::Time;

const OPEN: &str = "OPEN";
const COMPLETED: &str = "COMPLETED";

/// Reads the file of a record.
///
/// # Errors
/// Anything that is not exactly a record of this schema: a field unknown, missing or of another type, an id that does not
/// follow, an observation twice or of no task, a completed record that was changed.
pub fn parse(bytes: &[u8]) -> Result<Record, Corrupt> {
    let file: File = strict_json(bytes)?;
    let seal = file.seal.clone();
    let record = file.read()?;
    follows_the_rules(&record)?;
    match (&record.completion, seal) {
        (None, None) => {}
        (Some(_), Some(seal)) if seal == record::seal_of(&record) => {}
        (Some(_), _) => {
            return Err(invalid("it was completed and changed afterwards: `seal` does not follow from it".into()));
        }
        (None, Some(_)) => return Err(invalid("it is sealed and not completed".into())),
    }
    // A list in the place of an object would be read as its fields in their order.
    match serde_json::from_slice::<Value>(bytes).is_ok_and(|found| found == document(&record)) {
        true => Ok(record),
        false => Err(invalid("it is not as this program writes it".into())),
    }
}

/// Whether a record could have come of the steps that this program knows.
fn follows_the_rules(record: &Record) -> Result<(), Corrupt> {
    let mut seen = HashSet::new();
    for observation in &record.observations {
        if !seen.insert(observation.key()) {
            return Err(invalid(format!("an observation of `{}` stands there twice", observation.task)));
        }
        if record.task_set == shipped().edition {
            record::check(observation, shipped()).map_err(|why| invalid(why.to_string()))?;
        }
    }
    if let Some(completion) = &record.completion {
        // A seal follows from any content; what could never have been completed is not trusted for having one.
        match () {
            () if seen.is_empty() => return Err(invalid("it is completed and holds no observation".into())),
            () if completion.at != record.updated_at => {
                return Err(invalid("it was written after it was completed".into()));
            }
            () => {}
        }
    }
    if record.updated_at < record.created_at {
        return Err(invalid("`updatedAt` is before `createdAt`".into()));
    }
    Ok(())
}

/// A record as JSON, keys in one order.
pub fn document(record: &Record) -> Value {
    let mut document = unsealed(record);
    if let (Some(_), Value::Object(fields)) = (&record.completion, &mut document) {
        fields.insert("seal".into(), record::seal_of(record).into());
    }
    document
}

/// The same without the seal.
pub(super) fn unsealed(record: &Record) -> Value {
    // Texts, numbers and lists always make a document.
    serde_json::to_value(File::of(record)).unwrap_or_default()
}

/// Reads one observation as it is typed.
///
/// # Errors
/// What is wrong with it.
pub fn parse_observation(bytes: &[u8]) -> Result<Observation, String> {
    if bytes.len() > LARGEST {
        return Err(format!("it is larger than {LARGEST} bytes"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
    json::check(text).map_err(|error| format!("it is not JSON: {error}"))?;
    if !text.trim_start().starts_with('{') {
        return Err("it is no object".into());
    }
    let typed: FileObservation = serde_json::from_str(text).map_err(|error| error.to_string())?;
    typed.read().map_err(|error| error.to_string())
}

fn invalid(reason: String) -> Corrupt {
    Corrupt::Invalid(reason)
}

fn time(field: &str, text: &str) -> Result<Time, Corrupt> {
    let parsed = Time::parse(text).ok().filter(|time| time.to_string() == text);
    parsed.ok_or_else(|| invalid(format!("`{field}` is not a UTC time such as `2026-03-02T08:15:30Z`")))
}

fn line(field: &str, text: &str) -> Result<Line, Corrupt> {
    let line = Line::parse(text).map_err(|why| invalid(format!("`{field}`: {why}")))?;
    if line.as_str() == text { Ok(line) } else { Err(invalid(format!("`{field}` has white space at its ends"))) }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    schema_version: u64,
    run_id: String,
    model: String,
    label: String,
    operator: String,
    environment: String,
    task_set: FileEdition,
    project: String,
    generation: u64,
    created_at: String,
    updated_at: String,
    status: String,
    observations: Vec<FileObservation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    completed_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limitations: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEdition {
    version: String,
    hash: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileObservation {
    task: String,
    #[serde(default = "first")]
    attempt: u32,
    dimension: String,
    success: bool,
    evidence: String,
}

const fn first() -> u32 {
    1
}

impl File {
    fn of(record: &Record) -> Self {
        let Record { run_id, of, task_set, completion, .. } = record;
        Self {
            schema_version: SCHEMA,
            run_id: run_id.to_string(),
            model: of.model.to_string(),
            label: of.label.to_string(),
            operator: of.operator.to_string(),
            environment: of.environment.to_string(),
            task_set: FileEdition { version: task_set.version.clone(), hash: task_set.hash.clone() },
            project: record.project.clone(),
            generation: record.generation,
            created_at: record.created_at.to_string(),
            updated_at: record.updated_at.to_string(),
            status: if completion.is_some() { COMPLETED } else { OPEN }.to_owned(),
            observations: record.observations.iter().map(FileObservation::of).collect(),
            completed_at: completion.as_ref().map(|completion| completion.at.to_string()),
            limitations: completion.as_ref().map(|completion| completion.limitations.clone()),
            seal: None,
        }
    }

    fn read(self) -> Result<Record, Corrupt> {
        let task_set = Edition { version: self.task_set.version, hash: self.task_set.hash };
        let of = NewRun {
            model: line("model", &self.model)?,
            label: line("label", &self.label)?,
            operator: line("operator", &self.operator)?,
            environment: line("environment", &self.environment)?,
        };
        let run_id = record::run_id(&of.model, &of.label, &task_set);
        if run_id.as_str() != self.run_id {
            return Err(invalid("`runId` does not follow from `model`, `label` and `taskSet`".into()));
        }
        let completion = match (self.status.as_str(), self.completed_at, self.limitations) {
            (OPEN, None, None) => None,
            (COMPLETED, Some(at), Some(limitations)) if !limitations.trim().is_empty() => {
                Some(Completion { at: time("completedAt", &at)?, limitations })
            }
            (OPEN | COMPLETED, ..) => {
                return Err(invalid("`status`, `completedAt` and `limitations` do not go together".into()));
            }
            (other, ..) => return Err(invalid(format!("`status` has no value `{}`", head(other, 60)))),
        };
        Ok(Record {
            run_id,
            of,
            task_set,
            project: self.project,
            generation: self.generation,
            created_at: time("createdAt", &self.created_at)?,
            updated_at: time("updatedAt", &self.updated_at)?,
            observations: self.observations.into_iter().map(FileObservation::read).collect::<Result<_, _>>()?,
            completion,
        })
    }
}

impl FileObservation {
    fn of(observation: &Observation) -> Self {
        let Observation { task, attempt, dimension, success, evidence } = observation.clone();
        Self { task, attempt, dimension: dimension.word().to_owned(), success, evidence }
    }

    fn read(self) -> Result<Observation, Corrupt> {
        let Self { task, attempt, dimension, success, evidence } = self;
        let dimension = Dimension::by_word(&dimension)
            .ok_or_else(|| invalid(format!("`dimension` has no value `{}`", head(&dimension, 60))))?;
        if evidence.trim().is_empty() {
            return Err(invalid("`evidence` is empty: say what was seen".into()));
        }
        if attempt == 0 {
            return Err(invalid("`attempt` begins at 1".into()));
        }
        Ok(Observation { task, attempt, dimension, success, evidence })
    }
}
