//! What cut-off writes left behind: judged, and removed where it is provably superseded.

use super::Runs;
use super::error::RunError;
use crate::domain::run::{Document, Leftover, Mark, Run, Temporary, judge_leftover, parse};
use crate::domain::verdict;

/// A temporary with its judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The file.
    pub temporary: Temporary,
    /// What it is.
    pub is: Leftover,
}

impl Judged {
    /// In a line.
    pub fn line(&self) -> String {
        format!("`{}`: {}", self.temporary.path.display(), self.is)
    }
}

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// Temporaries that were removed.
    pub removed: Vec<Judged>,
    /// Those that stay, because nobody can prove that they are of no worth.
    pub kept: Vec<Judged>,
}

/// What a document says of itself.
fn mark(document: Document, bytes: &[u8]) -> Result<Mark, String> {
    let text = |error: crate::domain::run::Corrupt| error.to_string();
    match document {
        Document::Continuity => {
            parse(bytes).map(|run| Mark { task: run.task_id, generation: run.generation }).map_err(text)
        }
        Document::Verification => verdict::parse(bytes)
            .map(|manifest| Mark { task: manifest.task, generation: manifest.generation })
            .map_err(text),
    }
}

/// Whether a temporary can be read and is of another task.
pub(super) fn is_foreign(temporary: &Temporary, run: &Run) -> bool {
    mark(temporary.document, &temporary.bytes).is_ok_and(|mark| mark.task != run.task_id)
}

impl Runs<'_> {
    /// Every temporary with what it is.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn leftovers(&self) -> Result<Vec<Judged>, RunError> {
        let temporaries = self.files.temporaries()?;
        temporaries.into_iter().map(|temporary| self.judged(temporary)).collect()
    }

    fn judged(&self, temporary: Temporary) -> Result<Judged, RunError> {
        let document = temporary.document;
        let found = mark(document, &temporary.bytes);
        let mut became: Vec<Vec<u8>> = self.files.read(document)?.into_iter().collect();
        if let Ok(mark) = &found {
            became.extend(self.files.archives(&mark.task)?.into_iter().map(|(_, bytes)| bytes));
        }
        let known = became.iter().filter_map(|bytes| Some((mark(document, bytes).ok()?, *bytes == temporary.bytes)));
        let known: Vec<(Mark, bool)> = known.collect();
        Ok(Judged { is: judge_leftover(found, &known), temporary })
    }

    /// Removes what is provably superseded, and says what is not.
    ///
    /// # Errors
    /// The live run cannot be read or is of another project, or a file could not be removed.
    pub fn repair(&self) -> Result<Repaired, RunError> {
        if let Some((_, run)) = self.read()? {
            crate::domain::run::check_speaker(&run, &self.project.project()?.identity(), &self.actor)?;
        }
        let (removable, kept): (Vec<_>, Vec<_>) = self.leftovers()?.into_iter().partition(|one| one.is.is_removable());
        for judged in &removable {
            self.files.remove_temporary(&judged.temporary)?;
        }
        Ok(Repaired { removed: removable, kept })
    }
}
