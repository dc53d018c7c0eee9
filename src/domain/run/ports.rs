//! What runs need of the world: their files, and the project they lie in.

use std::path::PathBuf;

use super::identity::Project;
use super::record::TaskId;
use super::shape::LARGEST;
use crate::domain::secrets::Scanned;

/// A document of the live run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Document {
    /// `.loop/continuity.json`: the run.
    Continuity,
    /// `.loop/verification.json`: its evidence.
    Verification,
}

impl Document {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Continuity, Self::Verification];

    /// Its file name.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Continuity => "continuity.json",
            Self::Verification => "verification.json",
        }
    }
}

/// A file on its way to its place that never got there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Temporary {
    /// Where it lies.
    pub path: PathBuf,
    /// What it was to become.
    pub document: Document,
    /// The generation in its name, as far as it can be read.
    pub generation: Option<u64>,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Why files were not read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// The system said no.
    #[error("`{path}`: {said}")]
    Io {
        /// On which file.
        path: PathBuf,
        /// What it said.
        said: String,
    },
    /// It would be larger than what is read again.
    #[error("`{0}` would be larger than {LARGEST} bytes, and could not be read again")]
    TooLarge(PathBuf),
    /// Somebody else wrote after this was read.
    #[error("`{0}` was written by somebody else meanwhile")]
    Stale(PathBuf),
}

/// The files of a project's runs, under `.loop/`.
pub trait RunFiles {
    /// Where a document lies.
    fn path(&self, document: Document) -> PathBuf;
    /// A document byte for byte; none where there is none.
    fn read(&self, document: Document) -> Result<Option<Vec<u8>>, FilesError>;
    /// Puts a document in its place, whole or not at all, provided that what lies there is still what was read.
    fn replace(
        &self,
        document: Document,
        before: Option<&[u8]>,
        text: &Scanned<String>,
        generation: u64,
    ) -> Result<(), FilesError>;
    /// Keeps a text for ever under the first free name of `name(1)`, `name(2)` …, and says which.
    fn archive(
        &self,
        name: &dyn Fn(u32) -> String,
        text: &Scanned<String>,
        generation: u64,
    ) -> Result<PathBuf, FilesError>;
    /// Takes a document away whose content stands in an archive, provided that it is still what was read.
    fn remove(&self, document: Document, before: &[u8]) -> Result<(), FilesError>;
    /// What was left behind on its way, in the order of the names.
    fn temporaries(&self) -> Result<Vec<Temporary>, FilesError>;
    /// Takes one of them away, provided that it is still what was read.
    fn remove_temporary(&self, temporary: &Temporary) -> Result<(), FilesError>;
    /// The archives of a task, file names and contents.
    fn archives(&self, task: &TaskId) -> Result<Vec<(String, Vec<u8>)>, FilesError>;
}

/// Why the project could not be asked: nothing is known of its identity then, and nothing is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{said}")]
pub struct ProjectError {
    /// What failed, on what.
    pub said: String,
    /// What to do.
    pub hint: String,
}

/// A project and the files of its runs.
pub type RunPlace = (Box<dyn RunFiles>, Box<dyn ProjectFacts>);

/// Finds the runs of the directories that sessions work in.
pub trait RunPlaces: std::fmt::Debug + Send + Sync {
    /// The project that holds a directory, where the file of a live run is there; none where there is no such file, which
    /// is told without asking git.
    ///
    /// # Errors
    /// The project cannot be asked.
    fn at(&self, directory: &std::path::Path) -> Result<Option<RunPlace>, ProjectError>;
}

/// Where no directory has a run.
#[derive(Debug, Clone, Copy)]
pub struct NoRuns;

impl RunPlaces for NoRuns {
    fn at(&self, _: &std::path::Path) -> Result<Option<RunPlace>, ProjectError> {
        Ok(None)
    }
}

/// The first entries of a list, and how many there are in all.
pub type Listed = (Vec<String>, usize);

/// The project as git, or its folder, knows it. Read only, but for [`ProjectFacts::exclude`].
pub trait ProjectFacts {
    /// The project today.
    fn project(&self) -> Result<Project, ProjectError>;
    /// Whether a commit is part of today's history; a commit that nobody knows is not.
    fn is_in_history(&self, commit: &str) -> Result<bool, ProjectError>;
    /// First lines of the commits since one, newest first.
    fn commits_since(&self, commit: &str) -> Result<Listed, ProjectError>;
    /// Files that differ from the commit.
    fn changes(&self) -> Result<Listed, ProjectError>;
    /// A digest of everything that is in the working tree now, `.loop/` aside; none where it is too large to be read.
    fn tree(&self) -> Result<Option<String>, ProjectError>;
    /// Whether there is a file or folder of this name, relative to the root.
    fn has(&self, path: &str) -> bool;
    /// Sees to it that git leaves `.loop/` alone, by this clone's own exclude file.
    fn exclude(&self) -> Result<(), ProjectError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_have_the_names_that_others_know() {
        assert_eq!(Document::ALL.map(Document::file_name), ["continuity.json", "verification.json"]);
    }
}
