//! Runs and their evidence: read the file, ask the pure step, write the file.
//!
//! No store and no daemon: one project, one live run, files under `.loop/`. Everything that changes something checks the
//! identity first and writes only what was scanned.

mod error;
mod evidence;
mod leftovers;
mod resume;
mod view;

pub use error::RunError;
pub use evidence::Evaluated;
pub use leftovers::{Judged, Repaired};
pub use view::{FileView, Health, StatusView};

use crate::domain::run::{
    Actor, Command, Document, Identity, Integrity, ProfileName, ProjectFacts, Run, RunFiles, apply, archive_name,
    document, manifest_name, parse, start,
};
use crate::domain::secrets::Scanned;
use crate::domain::time::Time;
use crate::domain::verdict::{self, Verdict};

/// The runs of one project at one moment.
pub struct Runs<'a> {
    /// Their files.
    pub files: &'a dyn RunFiles,
    /// The project.
    pub project: &'a dyn ProjectFacts,
    /// Who asks.
    pub actor: Actor,
    /// When.
    pub now: Time,
}

/// The live run as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Live {
    bytes: Vec<u8>,
    /// The run.
    pub run: Run,
    /// The project today.
    pub today: Identity,
    /// Why it is suspected to be stale; empty when it is not.
    pub doubts: Vec<String>,
}

impl Live {
    /// Whether it is suspected to be stale, by what it says itself or by what is found.
    pub fn is_stale(&self) -> bool {
        !self.doubts.is_empty()
    }

    /// Its integrity today.
    pub fn integrity(&self) -> Integrity {
        if self.is_stale() { Integrity::SuspectedStale } else { Integrity::Valid }
    }
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The run as it is written now.
    pub run: Run,
    /// Where it was archived, when it ended.
    pub archive: Option<String>,
    /// Worth knowing, beside the run.
    pub notes: Vec<String>,
}

impl Runs<'_> {
    /// Begins a run.
    ///
    /// # Errors
    /// One is live, the file there cannot be read, the objective is empty or holds a secret, or a file could not be
    /// written.
    pub fn start(&self, objective: &str, profile: Option<ProfileName>) -> Result<Changed, RunError> {
        if let Some((_, run)) = self.read()? {
            return Err(RunError::Alive { task: run.task_id, status: run.status });
        }
        let run = start(objective, profile, self.project.project()?.identity(), &self.actor, self.now)?;
        let text = Scanned::json(document(&run))?.pretty();
        let mut notes: Vec<String> = self.project.exclude().err().map(|error| error.to_string()).into_iter().collect();
        notes.extend(self.set_evidence_aside()?);
        self.files.replace(Document::Continuity, None, &text, run.generation)?;
        Ok(Changed { run, archive: None, notes })
    }

    /// Follows a command that neither begins, resumes nor completes.
    ///
    /// # Errors
    /// Why it was not followed; nothing was written then.
    pub fn follow(&self, command: &Command) -> Result<Changed, RunError> {
        let live = self.live()?;
        let next = apply(&live.run, command, &live.today, &self.actor, live.is_stale(), self.now)?;
        self.write(&live, next)
    }

    /// Completes the run, provided that the evaluator says PASS.
    ///
    /// # Errors
    /// The state does not allow it, or the verdict is another one.
    pub fn complete(&self) -> Result<Changed, RunError> {
        let live = self.live()?;
        let next = apply(&live.run, &Command::Complete, &live.today, &self.actor, live.is_stale(), self.now)?;
        let judgement = self.judge(&live)?;
        match judgement.verdict {
            Verdict::Pass => self.write(&live, next),
            _ => Err(RunError::NotShown(judgement)),
        }
    }

    /// The live run with everything that its commands depend on.
    ///
    /// # Errors
    /// There is none, it cannot be read, or the project cannot be asked.
    pub fn live(&self) -> Result<Live, RunError> {
        let (bytes, run) = self.read()?.ok_or(RunError::NoRun)?;
        let today = self.project.project()?.identity();
        let doubts = self.doubts(&run, &today)?;
        Ok(Live { bytes, run, today, doubts })
    }

    fn read(&self) -> Result<Option<(Vec<u8>, Run)>, RunError> {
        let Some(bytes) = self.files.read(Document::Continuity)? else { return Ok(None) };
        match parse(&bytes) {
            Ok(run) => Ok(Some((bytes, run))),
            Err(why) => Err(RunError::Corrupt { path: self.files.path(Document::Continuity), why }),
        }
    }

    fn write(&self, live: &Live, next: Run) -> Result<Changed, RunError> {
        let text = Scanned::json(document(&next))?.pretty();
        if !next.status.is_terminal() {
            self.files.replace(Document::Continuity, Some(&live.bytes), &text, next.generation)?;
            return Ok(Changed { run: next, archive: None, notes: Vec::new() });
        }
        // The live file goes only after the archive is on disk; its evidence follows, or the next start sees to it.
        let task = &next.task_id;
        let kept = self.files.archive(&|number| archive_name(task, number), &text, next.generation)?;
        self.files.remove(Document::Continuity, &live.bytes)?;
        let notes = self.set_evidence_aside()?;
        Ok(Changed { archive: Some(kept.display().to_string()), notes, run: next })
    }

    /// Puts evidence of a run that is over beside its archive. What cannot be read stays where it is.
    fn set_evidence_aside(&self) -> Result<Vec<String>, RunError> {
        let Some(bytes) = self.files.read(Document::Verification)? else { return Ok(Vec::new()) };
        let path = self.files.path(Document::Verification);
        let stays = |why: String| vec![format!("`{}` stays as it is: {why}", path.display())];
        let manifest = match verdict::parse(&bytes) {
            Ok(manifest) => manifest,
            Err(why) => return Ok(stays(why.to_string())),
        };
        let text = match Scanned::json(verdict::document(&manifest)) {
            Ok(document) => document.pretty(),
            Err(leaks) => return Ok(stays(leaks.to_string())),
        };
        let task = &manifest.task;
        self.files.archive(&|number| manifest_name(task, number), &text, manifest.generation)?;
        self.files.remove(Document::Verification, &bytes)?;
        Ok(Vec::new())
    }

    /// Why a run that can be read may not be the latest word.
    fn doubts(&self, run: &Run, today: &Identity) -> Result<Vec<String>, RunError> {
        let mut doubts = Vec::new();
        if run.integrity == crate::domain::run::Integrity::SuspectedStale {
            doubts.push("an earlier command found it so".to_owned());
        }
        if let Some(then) = run.identity.head.as_deref()
            && today.head.as_deref() != Some(then)
            && (today.head.is_none() || !self.project.is_in_history(then)?)
        {
            doubts.push(format!("the recorded commit {then} is not part of today's history"));
        }
        for temporary in self.files.temporaries()? {
            let is_newer = temporary.generation.is_some_and(|generation| generation > run.generation);
            if temporary.document == Document::Continuity && is_newer && !leftovers::is_foreign(&temporary, run) {
                doubts.push(format!("a newer write was cut off and lies in `{}`", temporary.path.display()));
            }
        }
        Ok(doubts)
    }
}
