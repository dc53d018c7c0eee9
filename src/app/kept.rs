//! What the records beside the live run have in common: why something was not done, and what cut-off writes left behind.

use std::path::PathBuf;

use crate::domain::evolve::Head;
use crate::domain::kept::{KeptFiles, Shelf, TEMPORARY, judge_temporary};
use crate::domain::model_eval;
use crate::domain::run::{Corrupt, FilesError, Leftover, Mark, ProjectError};
use crate::domain::secrets::Leaks;

/// Why; nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeptError {
    /// A rule said no.
    #[error("{said}")]
    Refused {
        /// Which, and of what.
        said: String,
        /// What to do.
        hint: String,
    },
    /// A file cannot be trusted; it was left as it is.
    #[error("`{path}` cannot be trusted (CORRUPT): {why}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Why.
        why: Corrupt,
    },
    /// A file belongs to another project; it was left as it is.
    #[error("`{0}` belongs to another project")]
    Foreign(PathBuf),
    /// It would have written a secret.
    #[error("{0}")]
    Secret(#[from] Leaks),
    /// A file could not be read or written, or somebody else wrote.
    #[error("{0}")]
    Files(#[from] FilesError),
    /// The project could not be asked.
    #[error("{0}")]
    Project(#[from] ProjectError),
}

impl KeptError {
    /// Whether it is BLOCKED: what is there cannot be trusted, and only a person can say what is right.
    pub const fn is_blocked(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::Foreign(_) | Self::Project(_))
    }

    /// What to do.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused { hint, .. } => hint.clone(),
            Self::Corrupt { .. } => {
                "it was left byte for byte; look at it, and put a good copy in its place or move it away".into()
            }
            Self::Foreign(_) => "it was left byte for byte; move it to where it belongs".into(),
            Self::Secret(_) => "write it without the secret; these records are plain files".into(),
            Self::Files(FilesError::Stale(_)) => "nothing was written; look at what is there now and repeat".into(),
            Self::Files(FilesError::TooLarge(_)) => "say it in fewer words, or in another record".into(),
            Self::Files(FilesError::Io { .. }) => "see to it that this user may write there, and repeat".into(),
            Self::Project(error) => error.hint.clone(),
        }
    }
}

impl From<model_eval::Refusal> for KeptError {
    fn from(refusal: model_eval::Refusal) -> Self {
        Self::Refused { said: refusal.to_string(), hint: refusal.hint().to_owned() }
    }
}

/// A temporary that was left behind beside a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptLeftover {
    /// Its shelf.
    shelf: Shelf,
    /// Its file name.
    name: String,
    /// What is in it.
    bytes: Vec<u8>,
    /// Where it lies.
    pub path: PathBuf,
    /// What it is.
    pub is: Leftover,
}

/// What a record says of itself: whose it is, and how new.
fn mark(shelf: Shelf, bytes: &[u8]) -> Result<Mark<String>, String> {
    match shelf {
        Shelf::ModelEval => model_eval::parse(bytes)
            .map(|record| Mark { task: record.run_id.to_string(), generation: record.generation })
            .map_err(|why| why.to_string()),
        Shelf::Evolution => Head::parse(bytes)
            .map(|head| Mark { task: "head".to_owned(), generation: head.sequence })
            .map_err(|why| why.to_string()),
        Shelf::Archive => Err("nothing is written there".into()),
    }
}

/// Every temporary beside the records with what it is.
///
/// # Errors
/// A folder cannot be read.
pub fn leftovers(files: &dyn KeptFiles) -> Result<Vec<KeptLeftover>, KeptError> {
    let mut found = Vec::new();
    for shelf in [Shelf::ModelEval, Shelf::Evolution] {
        for name in files.names(shelf)? {
            let Some((base, _)) = name.split_once(TEMPORARY) else { continue };
            // One that went meanwhile took its place.
            let Some(bytes) = files.read_kept(shelf, &name)? else { continue };
            let target = files.read_kept(shelf, base)?;
            let known = target.as_deref().and_then(|target| mark(shelf, target).ok());
            let is = judge_temporary(mark(shelf, &bytes), known, target.as_deref() == Some(&bytes));
            found.push(KeptLeftover { path: files.path(shelf, &name), shelf, name, bytes, is });
        }
    }
    Ok(found)
}

/// Removes what is provably superseded; the rest is in the second list and stays.
///
/// # Errors
/// A file could not be removed.
pub fn repair(files: &dyn KeptFiles) -> Result<(Vec<KeptLeftover>, Vec<KeptLeftover>), KeptError> {
    let (removable, kept): (Vec<_>, Vec<_>) = leftovers(files)?.into_iter().partition(|one| one.is.is_removable());
    for one in &removable {
        files.remove_kept(one.shelf, &one.name, &one.bytes)?;
    }
    Ok((removable, kept))
}
