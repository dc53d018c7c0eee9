//! The file `.loop/continuity.json`: read strictly, written canonically.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use sha2::{Digest as _, Sha256};

use super::identity::{Identity, RemoteKind};
use super::record::{Blocker, Integrity, ProfileName, Recovery, Run, Setting, Stage, Status, TaskId};
use crate::domain::json;
use crate::domain::reference::hex;
use crate::domain::time::Time;

/// The version of the form.
pub const SCHEMA: u64 = 1;
/// Largest file read, bytes.
pub const LARGEST: usize = 1 << 20;

/// Why a file is no run. It is kept byte for byte and never written over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Corrupt {
    /// The file is of another version of the form.
    Unsupported(String),
    /// It cannot be read, or does not hold together.
    Invalid(String),
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(version) => {
                write!(
                    f,
                    "it is of schema {version}, this program reads {SCHEMA}: it needs another version of the-loop"
                )
            }
            Self::Invalid(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Corrupt {}

/// The id of the task with this objective, made at this time: `task-` and the first 16 hex digits of SHA-256 over both
/// with a line feed between.
pub fn task_id(objective: &str, created_at: Time) -> TaskId {
    let digest = hex(&Sha256::digest(format!("{objective}\n{created_at}").as_bytes()));
    // Sixteen of the sixty-four digits always make an id.
    TaskId::parse(&format!("task-{}", &digest[..16])).unwrap_or_else(|| unreachable!("hex digits of a digest"))
}

/// Reads the file.
///
/// # Errors
/// Anything that is not exactly a run of this schema: not UTF-8, not JSON, a key twice, a field unknown, missing or of
/// another type, an integrity that is none, a task id that does not follow from objective and time.
pub fn parse(bytes: &[u8]) -> Result<Run, Corrupt> {
    let file: File = strict_json(bytes)?;
    file.into_run()
}

/// Reads a document of this schema into its shape, for every file under `.loop/`.
///
/// # Errors
/// Not UTF-8, not JSON, a key twice, another schema, a field unknown, missing or of another type.
pub fn strict_json<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, Corrupt> {
    if bytes.len() > LARGEST {
        return Err(invalid(format!("it is larger than {LARGEST} bytes")));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| invalid(format!("it is not UTF-8: {error}")))?;
    json::check(text).map_err(|error| invalid(format!("it is not JSON: {error}")))?;
    let value: Value = serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
    match value.get("schemaVersion") {
        Some(version) if version.as_u64() == Some(SCHEMA) => {}
        Some(version) => return Err(Corrupt::Unsupported(version.to_string())),
        None => return Err(invalid("it has no `schemaVersion`".into())),
    }
    serde_json::from_str(text).map_err(|error| invalid(error.to_string()))
}

/// A run as JSON, keys in one order.
pub fn document(run: &Run) -> Value {
    // Texts, numbers and lists always make a document.
    serde_json::to_value(File::of(run)).unwrap_or_default()
}

/// The file of a run: two spaces, one final newline.
pub fn render(run: &Run) -> String {
    json::pretty(&document(run))
}

fn invalid(reason: String) -> Corrupt {
    Corrupt::Invalid(reason)
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    schema_version: u64,
    task_id: String,
    objective: String,
    created_at: String,
    updated_at: String,
    status: String,
    integrity: String,
    stage: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stage_note: Option<String>,
    generation: u64,
    identity: FileIdentity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    work_item: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_endpoint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    settings: BTreeMap<String, Value>,
    #[serde(default)]
    blockers: Vec<FileBlocker>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stop_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recovery: Option<FileRecovery>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created_by: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileIdentity {
    root: String,
    remote: FileRemote,
    branch: Option<String>,
    head: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileRemote {
    kind: String,
    fingerprint: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileBlocker {
    reason: String,
    since: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileRecovery {
    reason: String,
    interrupted_stage: u64,
    detected_at: String,
}

impl File {
    fn of(run: &Run) -> Self {
        Self {
            schema_version: SCHEMA,
            task_id: run.task_id.to_string(),
            objective: run.objective.clone(),
            created_at: run.created_at.to_string(),
            updated_at: run.updated_at.to_string(),
            status: run.status.word().to_owned(),
            integrity: run.integrity.word().to_owned(),
            stage: u64::from(run.stage.number()),
            stage_note: run.stage_note.clone(),
            generation: run.generation,
            identity: FileIdentity::of(&run.identity),
            work_item: run.work_item.clone(),
            endpoint: run.endpoint.clone(),
            last_endpoint: run.last_endpoint.clone(),
            profile: run.profile.as_ref().map(|profile| profile.as_str().to_owned()),
            settings: run.settings.iter().map(|(key, value)| (key.clone(), setting_value(value))).collect(),
            blockers: run.blockers.iter().map(FileBlocker::of).collect(),
            stop_reason: run.stop_reason.clone(),
            recovery: run.recovery.as_ref().map(FileRecovery::of),
            created_by: run.created_by.clone(),
        }
    }

    fn into_run(self) -> Result<Run, Corrupt> {
        let created_at = time("createdAt", &self.created_at)?;
        let derived = task_id(&self.objective, created_at);
        if derived.as_str() != self.task_id {
            return Err(invalid("`taskId` does not follow from `objective` and `createdAt`".into()));
        }
        let profile = match &self.profile {
            Some(name) => Some(ProfileName::parse(name).ok_or_else(|| no("profile", name))?),
            None => None,
        };
        let settings = self.settings.into_iter().map(|(key, value)| Ok((key.clone(), setting(&key, value)?)));
        Ok(Run {
            task_id: derived,
            objective: self.objective,
            created_at,
            updated_at: time("updatedAt", &self.updated_at)?,
            status: Status::by_word(&self.status).ok_or_else(|| no("status", &self.status))?,
            integrity: Integrity::by_word(&self.integrity).ok_or_else(|| no("integrity", &self.integrity))?,
            stage: stage("stage", self.stage)?,
            stage_note: self.stage_note,
            generation: self.generation,
            identity: self.identity.into_identity()?,
            work_item: self.work_item,
            endpoint: self.endpoint,
            last_endpoint: self.last_endpoint,
            profile,
            settings: settings.collect::<Result<_, Corrupt>>()?,
            blockers: self.blockers.into_iter().map(FileBlocker::into_blocker).collect::<Result<_, _>>()?,
            stop_reason: self.stop_reason,
            recovery: self.recovery.map(FileRecovery::into_recovery).transpose()?,
            created_by: self.created_by,
        })
    }
}

impl FileIdentity {
    fn of(identity: &Identity) -> Self {
        let remote = FileRemote { kind: identity.kind.word().to_owned(), fingerprint: identity.fingerprint.clone() };
        Self { root: identity.root.clone(), remote, branch: identity.branch.clone(), head: identity.head.clone() }
    }

    fn into_identity(self) -> Result<Identity, Corrupt> {
        let kind =
            RemoteKind::by_word(&self.remote.kind).ok_or_else(|| no("identity.remote.kind", &self.remote.kind))?;
        let fingerprint = self.remote.fingerprint;
        let is_digest = fingerprint.len() == 64 && fingerprint.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !is_digest {
            return Err(invalid("`identity.remote.fingerprint` is no SHA-256".into()));
        }
        Ok(Identity { root: self.root, kind, fingerprint, branch: self.branch, head: self.head })
    }
}

impl FileBlocker {
    fn of(blocker: &Blocker) -> Self {
        Self { reason: blocker.reason.clone(), since: blocker.since.to_string() }
    }

    fn into_blocker(self) -> Result<Blocker, Corrupt> {
        Ok(Blocker { since: time("blockers.since", &self.since)?, reason: self.reason })
    }
}

impl FileRecovery {
    fn of(recovery: &Recovery) -> Self {
        Self {
            reason: recovery.reason.clone(),
            interrupted_stage: u64::from(recovery.interrupted_stage.number()),
            detected_at: recovery.detected_at.to_string(),
        }
    }

    fn into_recovery(self) -> Result<Recovery, Corrupt> {
        Ok(Recovery {
            interrupted_stage: stage("recovery.interruptedStage", self.interrupted_stage)?,
            detected_at: time("recovery.detectedAt", &self.detected_at)?,
            reason: self.reason,
        })
    }
}

/// Times are written in one form; another spelling of the same moment was not written by this program, and would have
/// another task id.
fn time(field: &str, text: &str) -> Result<Time, Corrupt> {
    let parsed = Time::parse(text).ok().filter(|time| time.to_string() == text);
    parsed.ok_or_else(|| invalid(format!("`{field}` is not a UTC time such as `2026-03-02T08:15:30Z`")))
}

fn stage(field: &str, number: u64) -> Result<Stage, Corrupt> {
    Stage::new(number)
        .ok_or_else(|| invalid(format!("`{field}` is {number}; there are the stages 0 to {}", Stage::LAST)))
}

fn no(field: &str, value: &str) -> Corrupt {
    invalid(format!("`{field}` has no value `{}`", crate::domain::text::head(value, 60)))
}

fn setting(key: &str, value: Value) -> Result<Setting, Corrupt> {
    match value {
        Value::String(text) => Ok(Setting::Text(text)),
        Value::Number(number) => Ok(Setting::Number(number)),
        Value::Bool(flag) => Ok(Setting::Flag(flag)),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(invalid(format!("`settings.{key}` is no text, number or boolean")))
        }
    }
}

fn setting_value(setting: &Setting) -> Value {
    match setting {
        Setting::Text(text) => Value::String(text.clone()),
        Setting::Number(number) => Value::Number(Number::clone(number)),
        Setting::Flag(flag) => Value::Bool(*flag),
    }
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
