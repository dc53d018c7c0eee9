//! The runs of the directories that sessions work in.

use std::ffi::OsString;
use std::path::Path;

use super::project::{FOLDER, ProjectTree};
use super::run_files::RunFolder;
use crate::domain::run::{Document, ProjectError, RunPlace, RunPlaces};

/// Finds them by git, where a file of a run is there.
#[derive(Debug)]
pub struct ProjectRuns {
    environment: Vec<(OsString, OsString)>,
}

impl ProjectRuns {
    /// With the environment that git is asked in.
    pub fn new(environment: Vec<(OsString, OsString)>) -> Self {
        Self { environment }
    }
}

impl RunPlaces for ProjectRuns {
    fn at(&self, directory: &Path) -> Result<Option<RunPlace>, ProjectError> {
        let file = Path::new(FOLDER).join(Document::Continuity.file_name());
        // Most directories have none, and git need not be asked about them.
        if !directory.ancestors().any(|folder| folder.join(&file).symlink_metadata().is_ok()) {
            return Ok(None);
        }
        let project = ProjectTree::find(directory, &self.environment)?;
        let files = RunFolder::new(project.root());
        Ok(Some((Box::new(files), Box::new(project))))
    }
}
