//! The file `.loop/verification.json` and one entry as it is typed: read strictly, written canonically.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::manifest::{Criterion, Entry, Evidence, Exec, Finding, Level, Manifest, OpenBlocker, Proof, Severity};
use crate::domain::json;
use crate::domain::run::{Corrupt, LARGEST, SCHEMA, TaskId, strict_json};
use crate::domain::time::Time;

/// Reads the file.
///
/// # Errors
/// Anything that is not exactly a manifest of this schema.
pub fn parse(bytes: &[u8]) -> Result<Manifest, Corrupt> {
    let file: File = strict_json(bytes)?;
    let task = TaskId::parse(&file.task_id).ok_or_else(|| no("taskId", &file.task_id))?;
    let manifest = Manifest {
        task,
        project: file.project,
        generation: file.generation,
        updated_at: time("updatedAt", &file.updated_at)?,
        criteria: file.criteria.into_iter().map(FileCriterion::read).collect::<Result<_, _>>()?,
        evidence: file.evidence.into_iter().map(FileEvidence::read).collect::<Result<_, _>>()?,
        findings: file.findings.into_iter().map(FileFinding::read).collect::<Result<_, _>>()?,
        blockers: file.blockers.into_iter().map(FileBlocker::read).collect::<Result<_, _>>()?,
    };
    let ids: Vec<&str> = manifest.criteria.iter().map(|criterion| criterion.id.as_str()).collect();
    if let Some(twice) = ids.iter().enumerate().find(|(at, id)| ids[..*at].contains(id)) {
        return Err(invalid(format!("the criterion `{}` stands there twice", twice.1)));
    }
    match manifest.evidence.iter().find(|evidence| !ids.contains(&evidence.criterion.as_str())) {
        Some(stray) => Err(invalid(format!("evidence names `{}`, which is no criterion", stray.criterion))),
        None => Ok(manifest),
    }
}

/// A manifest as JSON, keys in one order.
pub fn document(manifest: &Manifest) -> Value {
    let file = File {
        schema_version: SCHEMA,
        task_id: manifest.task.to_string(),
        project: manifest.project.clone(),
        generation: manifest.generation,
        updated_at: manifest.updated_at.to_string(),
        criteria: manifest.criteria.iter().map(FileCriterion::of).collect(),
        evidence: manifest.evidence.iter().map(FileEvidence::of).collect(),
        findings: manifest.findings.iter().map(FileFinding::of).collect(),
        blockers: manifest.blockers.iter().map(FileBlocker::of).collect(),
    };
    // Texts, numbers and lists always make a document.
    serde_json::to_value(file).unwrap_or_default()
}

/// Reads one entry as it is typed: an object with exactly one of `criterion`, `evidence`, `finding`, `blocker`.
///
/// Evidence that is typed is a claim; only a command that was run here is more.
///
/// # Errors
/// What is wrong with it.
pub fn parse_entry(bytes: &[u8], at: Time, head: Option<String>, tree: Option<String>) -> Result<Entry, String> {
    if bytes.len() > LARGEST {
        return Err(format!("it is larger than {LARGEST} bytes"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
    json::check(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let typed: Typed = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let said = |error: Corrupt| error.to_string();
    let Typed { criterion, evidence, finding, blocker } = typed;
    match (criterion, evidence, finding, blocker) {
        (Some(criterion), None, None, None) => criterion.read().map(Entry::Criterion).map_err(said),
        (None, Some(claim), None, None) => {
            let proof = Proof::Advisory(filled("evidence.claim", claim.claim).map_err(said)?);
            Ok(Entry::Evidence(Evidence { criterion: claim.criterion, at: at.whole_seconds(), head, tree, proof }))
        }
        (None, None, Some(finding), None) => finding.read().map(Entry::Finding).map_err(said),
        (None, None, None, Some(blocker)) => blocker.read().map(Entry::Blocker).map_err(said),
        _ => Err("it needs exactly one of `criterion`, `evidence`, `finding`, `blocker`".into()),
    }
}

fn invalid(reason: String) -> Corrupt {
    Corrupt::Invalid(reason)
}

fn no(field: &str, value: &str) -> Corrupt {
    invalid(format!("`{field}` has no value `{}`", crate::domain::text::head(value, 60)))
}

fn time(field: &str, text: &str) -> Result<Time, Corrupt> {
    let parsed = Time::parse(text).ok().filter(|time| time.to_string() == text);
    parsed.ok_or_else(|| invalid(format!("`{field}` is not a UTC time such as `2026-03-02T08:15:30Z`")))
}

fn filled(field: &str, text: String) -> Result<String, Corrupt> {
    if text.trim().is_empty() { Err(invalid(format!("`{field}` is empty"))) } else { Ok(text) }
}

/// A path below the root, and nothing else.
fn artifact(path: String) -> Result<String, Corrupt> {
    let is_below = !path.starts_with('/') && !path.split('/').any(|part| matches!(part, "" | "." | ".."));
    match is_below {
        true => Ok(path),
        false => Err(invalid(format!("`artifacts` holds `{path}`, which is no path below the root"))),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Typed {
    criterion: Option<FileCriterion>,
    evidence: Option<Claim>,
    finding: Option<FileFinding>,
    blocker: Option<FileBlocker>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Claim {
    criterion: String,
    claim: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    schema_version: u64,
    task_id: String,
    project: String,
    generation: u64,
    updated_at: String,
    criteria: Vec<FileCriterion>,
    evidence: Vec<FileEvidence>,
    findings: Vec<FileFinding>,
    blockers: Vec<FileBlocker>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileCriterion {
    id: String,
    level: String,
    text: String,
    #[serde(default)]
    artifacts: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileEvidence {
    criterion: String,
    at: String,
    head: Option<String>,
    tree: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exec: Option<FileExec>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    advisory: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileExec {
    argv: Vec<String>,
    exit_code: i64,
    duration_ms: u64,
    output_digest: String,
    output_tail: String,
    changed_tree: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileFinding {
    id: String,
    severity: String,
    text: String,
    open: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileBlocker {
    id: String,
    text: String,
    open: bool,
}

impl FileCriterion {
    fn of(criterion: &Criterion) -> Self {
        let Criterion { id, level, text, artifacts } = criterion.clone();
        Self { id, level: level.word().to_owned(), text, artifacts }
    }

    fn read(self) -> Result<Criterion, Corrupt> {
        Ok(Criterion {
            id: filled("criterion.id", self.id)?,
            level: Level::by_word(&self.level).ok_or_else(|| no("level", &self.level))?,
            text: filled("criterion.text", self.text)?,
            artifacts: self.artifacts.into_iter().map(artifact).collect::<Result<_, _>>()?,
        })
    }
}

impl FileEvidence {
    fn of(evidence: &Evidence) -> Self {
        let (exec, advisory) = match &evidence.proof {
            Proof::Exec(exec) => (Some(FileExec::of(exec)), None),
            Proof::Advisory(claim) => (None, Some(claim.clone())),
        };
        let Evidence { criterion, at, head, tree, .. } = evidence.clone();
        Self { criterion, at: at.to_string(), head, tree, exec, advisory }
    }

    fn read(self) -> Result<Evidence, Corrupt> {
        let proof = match (self.exec, self.advisory) {
            (Some(exec), None) => Proof::Exec(exec.read()?),
            (None, Some(claim)) => Proof::Advisory(claim),
            _ => return Err(invalid("evidence is either `exec` or `advisory`".into())),
        };
        let at = time("evidence.at", &self.at)?;
        Ok(Evidence { criterion: self.criterion, at, head: self.head, tree: self.tree, proof })
    }
}

impl FileExec {
    fn of(exec: &Exec) -> Self {
        let Exec { argv, exit_code, duration_ms, output_digest, output_tail, changed_tree } = exec.clone();
        Self { argv, exit_code, duration_ms, output_digest, output_tail, changed_tree }
    }

    fn read(self) -> Result<Exec, Corrupt> {
        let Self { argv, exit_code, duration_ms, output_digest, output_tail, changed_tree } = self;
        if argv.is_empty() {
            return Err(invalid("`exec.argv` is empty".into()));
        }
        Ok(Exec { argv, exit_code, duration_ms, output_digest, output_tail, changed_tree })
    }
}

impl FileFinding {
    fn of(finding: &Finding) -> Self {
        let Finding { id, severity, text, is_open } = finding.clone();
        Self { id, severity: severity.word().to_owned(), text, open: is_open }
    }

    fn read(self) -> Result<Finding, Corrupt> {
        let severity = Severity::by_word(&self.severity).ok_or_else(|| no("severity", &self.severity))?;
        let (id, text) = (filled("finding.id", self.id)?, filled("finding.text", self.text)?);
        Ok(Finding { id, severity, text, is_open: self.open })
    }
}

impl FileBlocker {
    fn of(blocker: &OpenBlocker) -> Self {
        let OpenBlocker { id, text, is_open } = blocker.clone();
        Self { id, text, open: is_open }
    }

    fn read(self) -> Result<OpenBlocker, Corrupt> {
        let (id, text) = (filled("blocker.id", self.id)?, filled("blocker.text", self.text)?);
        Ok(OpenBlocker { id, text, is_open: self.open })
    }
}
