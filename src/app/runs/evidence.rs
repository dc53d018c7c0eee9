//! Evidence: recorded, taken by running a command, and judged.

use std::time::Duration;

use super::error::RunError;
use super::{Live, Runs};
use crate::domain::ports::{Checked, Checks};
use crate::domain::run::{Corrupt, Document, check_speaker};
use crate::domain::secrets::{Scanned, redact};
use crate::domain::time::Time;
use crate::domain::verdict::{
    self, Entry, Evidence, Exec, Judgement, Manifest, Proof, Today, append, judge, parse_entry, rerun,
};

/// A verdict, and what of the record did not hold when it was run again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluated {
    /// The verdict.
    pub judgement: Judgement,
    /// Recorded passes that fail today.
    pub exposed: Vec<String>,
}

impl Runs<'_> {
    /// Appends one entry as it was typed.
    ///
    /// # Errors
    /// There is no live run or it is somebody else's, the entry is none (`Err` of the inner result), or the manifest
    /// cannot be trusted.
    pub fn record(&self, typed: &[u8]) -> Result<Result<Manifest, String>, RunError> {
        let live = self.own_live()?;
        let (before, manifest) = self.manifest(&live)?;
        let entry = match parse_entry(typed, self.now, live.today.head.clone(), self.project.tree()?) {
            Ok(entry) => entry,
            Err(why) => return Ok(Err(why)),
        };
        self.append(before.as_deref(), &manifest, entry).map(Ok)
    }

    /// Runs a command and records what it came to.
    ///
    /// # Errors
    /// As with [`Runs::record`]; nothing was run when the criterion is not declared.
    pub fn exec(
        &self,
        criterion: &str,
        argv: &[String],
        limit: Duration,
        commands: &dyn Checks,
    ) -> Result<Evidence, RunError> {
        let live = self.own_live()?;
        let (_, manifest) = self.manifest(&live)?;
        if !manifest.criteria.iter().any(|known| known.id == criterion) {
            return Err(verdict::EntryError::NoCriterion(criterion.to_owned()).into());
        }
        // What would be refused afterwards is not run: the arguments are written down.
        Scanned::json(serde_json::json!({ "argv": argv }))?;
        let evidence = self.taken(&live, criterion, argv, limit, commands)?;
        // It may have taken long: what was recorded meanwhile is kept.
        let live = self.own_live()?;
        let (before, manifest) = self.manifest(&live)?;
        self.append(before.as_deref(), &manifest, Entry::Evidence(evidence.clone()))?;
        Ok(evidence)
    }

    /// Judges; with `fresh`, every recorded passing command is run again and its real exit code counts.
    ///
    /// # Errors
    /// There is no live run, or the project cannot be asked.
    pub fn evaluate(&self, fresh: Option<(Duration, &dyn Checks)>) -> Result<Evaluated, RunError> {
        let live = self.live()?;
        live.run.identity.check(&live.today).map_err(crate::domain::run::Refusal::Identity)?;
        let Some((limit, commands)) = fresh else {
            return Ok(Evaluated { judgement: self.judge(&live)?, exposed: Vec::new() });
        };
        let Some(Ok(manifest)) = self.read_manifest()? else {
            return Ok(Evaluated { judgement: self.judge(&live)?, exposed: Vec::new() });
        };
        // What belongs to somebody else is not run.
        if manifest.task != live.run.task_id || manifest.project != live.run.identity.fingerprint {
            return Ok(Evaluated { judgement: self.judge(&live)?, exposed: Vec::new() });
        }
        let mut trouble = None;
        let (manifest, exposed) = rerun(&manifest, |evidence| {
            let argv = evidence.subject().unwrap_or_default();
            match self.taken(&live, &evidence.criterion, argv, limit, commands) {
                Ok(evidence) => evidence,
                Err(error) => {
                    trouble = Some(error);
                    evidence.clone()
                }
            }
        });
        match trouble {
            Some(error) => Err(error),
            None => Ok(Evaluated { judgement: self.judge_this(Some(&Ok(manifest)), &live)?, exposed }),
        }
    }

    /// The verdict on the live run.
    pub(super) fn judge(&self, live: &Live) -> Result<Judgement, RunError> {
        self.judge_this(self.read_manifest()?.as_ref(), live)
    }

    fn judge_this(&self, manifest: Option<&Result<Manifest, Corrupt>>, live: &Live) -> Result<Judgement, RunError> {
        let tree = self.project.tree()?;
        let artifacts = manifest
            .iter()
            .filter_map(|manifest| manifest.as_ref().ok())
            .flat_map(|manifest| manifest.criteria.iter().flat_map(|criterion| criterion.artifacts.iter()));
        let missing = artifacts.filter(|path| !self.project.has(path)).cloned().collect();
        let (task, project) = (live.run.task_id.as_str(), live.run.identity.fingerprint.as_str());
        Ok(judge(manifest, &Today { task, project, tree: tree.as_deref(), missing }))
    }

    /// The live run, which whoever speaks may add to.
    fn own_live(&self) -> Result<Live, RunError> {
        let live = self.live()?;
        check_speaker(&live.run, &live.today, &self.actor)?;
        Ok(live)
    }

    fn read_manifest(&self) -> Result<Option<Result<Manifest, Corrupt>>, RunError> {
        Ok(self.files.read(Document::Verification)?.as_deref().map(trusted))
    }

    /// The manifest to append to: the one there is, or an empty one.
    pub(super) fn manifest(&self, live: &Live) -> Result<(Option<Vec<u8>>, Manifest), RunError> {
        let path = self.files.path(Document::Verification);
        let before = self.files.read(Document::Verification)?;
        let (task, project) = (&live.run.task_id, &live.run.identity.fingerprint);
        match before.as_deref().map(trusted) {
            None => Ok((before, Manifest::new(task.clone(), project.clone(), self.now.whole_seconds()))),
            Some(Err(why)) => Err(RunError::Corrupt { path, why }),
            Some(Ok(manifest)) if manifest.task != *task => Err(RunError::Foreign { path, whose: "run" }),
            Some(Ok(manifest)) if manifest.project != *project => Err(RunError::Foreign { path, whose: "project" }),
            Some(Ok(manifest)) => Ok((before, manifest)),
        }
    }

    fn append(&self, before: Option<&[u8]>, manifest: &Manifest, entry: Entry) -> Result<Manifest, RunError> {
        let next = append(manifest, entry, self.now)?;
        let text = Scanned::json(verdict::document(&next))?.pretty();
        self.files.replace(Document::Verification, before, &text, next.generation)?;
        Ok(next)
    }

    /// Runs a command between two looks at the tree.
    fn taken(
        &self,
        live: &Live,
        criterion: &str,
        argv: &[String],
        limit: Duration,
        commands: &dyn Checks,
    ) -> Result<Evidence, RunError> {
        let before = self.project.tree()?;
        let Checked { exit_code, duration_ms, output_digest, output_tail } = commands.run(argv, limit);
        let after = self.project.tree()?;
        let exec = Exec {
            argv: argv.to_vec(),
            exit_code,
            duration_ms,
            output_digest,
            output_tail: redact(&output_tail).into_owned(),
            changed_tree: before != after,
        };
        let (head, at): (_, Time) = (live.today.head.clone(), self.now.whole_seconds());
        Ok(Evidence { criterion: criterion.to_owned(), at, head, tree: before, proof: Proof::Exec(exec) })
    }
}

/// Reads a manifest; one that holds a secret was not written by this program.
fn trusted(bytes: &[u8]) -> Result<Manifest, Corrupt> {
    let manifest = verdict::parse(bytes)?;
    match Scanned::json(verdict::document(&manifest)) {
        Ok(_) => Ok(manifest),
        Err(leaks) => Err(Corrupt::Invalid(leaks.to_string())),
    }
}
