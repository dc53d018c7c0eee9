//! What is shown of a run. Reads only.

use super::error::RunError;
use super::leftovers::Judged;
use super::{Live, Runs};
use crate::domain::run::{Document, Listed, parse};

/// A run beside the project as git knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusView {
    /// The run.
    pub live: Live,
    /// Why it is of another project, when it is.
    pub mismatch: Option<String>,
    /// Commits since the last write; none where it is not part of today's history.
    pub commits: Option<Listed>,
    /// Files that differ from the commit.
    pub changes: Listed,
    /// What cut-off writes left behind.
    pub leftovers: Vec<Judged>,
    /// Archives of this very task: an ending that was cut off after its archive was written.
    pub archives: Vec<String>,
}

/// The file of the live run, whatever is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileView {
    /// Where it is, or would be.
    pub path: std::path::PathBuf,
    /// How many bytes it has; none where there is none.
    pub size: Option<usize>,
    /// Why it cannot be trusted.
    pub fault: Option<String>,
    /// What cut-off writes left behind.
    pub leftovers: Vec<Judged>,
}

/// Whether the files of a run can be believed.
#[derive(Debug, Clone, PartialEq)]
pub struct Health {
    /// The run.
    pub live: Live,
    /// Why it is of another project, when it is.
    pub mismatch: Option<String>,
    /// Why its evidence cannot be believed, when it cannot.
    pub evidence: Option<String>,
    /// What cut-off writes left behind.
    pub leftovers: Vec<Judged>,
}

impl Runs<'_> {
    /// Whether the files of the live run can be believed.
    ///
    /// # Errors
    /// There is none, it cannot be read, or the project cannot be asked.
    pub fn health(&self) -> Result<Health, RunError> {
        let live = self.live()?;
        let mismatch = live.run.identity.check(&live.today).err().map(|mismatch| mismatch.to_string());
        let evidence = self.manifest(&live).err().map(|error| error.to_string());
        Ok(Health { mismatch, evidence, leftovers: self.leftovers()?, live })
    }

    /// The live run beside what git says now.
    ///
    /// # Errors
    /// There is none, it cannot be read, or the project cannot be asked.
    pub fn status(&self) -> Result<StatusView, RunError> {
        let live = self.live()?;
        let mismatch = live.run.identity.check(&live.today).err().map(|mismatch| mismatch.to_string());
        let (then, now) = (live.run.identity.head.as_deref(), live.today.head.as_deref());
        let commits = match then {
            Some(then) if Some(then) == now => Some((Vec::new(), 0)),
            Some(then) if now.is_some() && mismatch.is_none() && self.project.is_in_history(then)? => {
                Some(self.project.commits_since(then)?)
            }
            _ => None,
        };
        let archives = self.files.archives(&live.run.task_id)?.into_iter().map(|(name, _)| name).collect();
        let (changes, leftovers) = (self.project.changes()?, self.leftovers()?);
        Ok(StatusView { mismatch, commits, changes, leftovers, archives, live })
    }

    /// The file itself, readable or not.
    ///
    /// # Errors
    /// The system said no.
    pub fn inspect(&self) -> Result<FileView, RunError> {
        let bytes = self.files.read(Document::Continuity)?;
        let fault = bytes.as_deref().and_then(|bytes| parse(bytes).err()).map(|why| why.to_string());
        let path = self.files.path(Document::Continuity);
        Ok(FileView { path, size: bytes.map(|bytes| bytes.len()), fault, leftovers: self.leftovers()? })
    }
}
