//! Files below `.loop/` beside the live run: records that are replaced whole, and the archives, which are only read.

use std::path::PathBuf;

use super::run::{FilesError, Leftover, Mark, judge_leftover};
use super::secrets::Scanned;

/// What stands between a file's name and the generation of a temporary of it.
pub const TEMPORARY: &str = ".tmp-";

/// A folder below `.loop/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shelf {
    /// `archive`: runs that ended and their evidence. Nothing is written there through [`KeptFiles`].
    Archive,
    /// `model-eval`: records of evaluations.
    ModelEval,
    /// `evolution`: the ledger, and how far it goes.
    Evolution,
}

impl Shelf {
    /// The name of the folder.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::ModelEval => "model-eval",
            Self::Evolution => "evolution",
        }
    }
}

/// The files of the shelves. Names are file names without a folder, made by this program.
pub trait KeptFiles {
    /// Where a file lies.
    fn path(&self, shelf: Shelf, name: &str) -> PathBuf;
    /// A file byte for byte; none where there is none.
    ///
    /// # Errors
    /// The system said no.
    fn read_kept(&self, shelf: Shelf, name: &str) -> Result<Option<Vec<u8>>, FilesError>;
    /// Puts a file in its place, whole or not at all, provided that what lies there is still what was read.
    ///
    /// # Errors
    /// The system said no, or somebody else wrote.
    fn replace_kept(
        &self,
        shelf: Shelf,
        name: &str,
        before: Option<&[u8]>,
        text: &Scanned<String>,
        generation: u64,
    ) -> Result<(), FilesError>;
    /// Takes a temporary away, provided that it is still what was read.
    ///
    /// # Errors
    /// The system said no, or somebody else wrote.
    fn remove_kept(&self, shelf: Shelf, name: &str, before: &[u8]) -> Result<(), FilesError>;
    /// The names of all files in a shelf, temporaries too, in their order.
    ///
    /// # Errors
    /// The system said no.
    fn names(&self, shelf: Shelf) -> Result<Vec<String>, FilesError>;
}

/// Judges a temporary of a file that is replaced whole: `found` and `known` are what it and the file say of themselves.
pub fn judge_temporary<K: PartialEq>(
    found: Result<Mark<K>, String>,
    known: Option<Mark<K>>,
    is_same: bool,
) -> Leftover {
    let known: Vec<(Mark<K>, bool)> = known.map(|mark| (mark, is_same)).into_iter().collect();
    judge_leftover(found, &known)
}
