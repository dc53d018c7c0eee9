//! What evolution needs of the world: a ledger that grows, and folders in which a change can be tried.

use std::path::PathBuf;

use crate::domain::ports::Limits;
use crate::domain::run::{FilesError, ProjectError};
use crate::domain::secrets::Scanned;

/// Where a ledger ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct End {
    /// Bytes of its whole lines.
    pub length: u64,
    /// Bytes of a last line that was cut off.
    pub torn: u64,
}

/// The file of the ledger.
pub trait LedgerFile {
    /// Where it lies.
    fn ledger_path(&self) -> PathBuf;
    /// Hands over its whole lines one by one, without their ends, until `false` is answered.
    ///
    /// # Errors
    /// The system said no.
    fn read_lines(&self, visit: &mut dyn FnMut(&[u8]) -> bool) -> Result<End, FilesError>;
    /// Puts lines behind what was read, on disk; a line that was cut off goes.
    ///
    /// # Errors
    /// The system said no, or somebody else wrote.
    fn append_lines(&self, after: End, lines: &[Scanned<String>]) -> Result<(), FilesError>;
}

/// What a suite came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; 124 when it ran out of time, 127 when it could not be run.
    pub exit_code: i64,
    /// How long it took, milliseconds.
    pub duration_ms: u64,
    /// SHA-256 of what it printed, in hex.
    pub output_digest: String,
    /// What it printed, both streams as they came.
    pub output: String,
    /// Why it was ended, or could not be run.
    pub stopped: Option<String>,
}

/// A folder with one side of a candidate; it goes when this is dropped.
pub trait Bench {
    /// Files that differ from the commit, ignored ones too, relative to the folder.
    ///
    /// # Errors
    /// Git said no.
    fn changed(&self) -> Result<Vec<String>, ProjectError>;
    /// Git's name of the tree as it is.
    ///
    /// # Errors
    /// Git said no.
    fn tree(&self) -> Result<String, ProjectError>;
    /// Whether a file that was changed is a link now, or no plain file in another way.
    fn is_bent(&self, path: &str) -> bool;
    /// Runs a program without a shell; nothing that it started in its group goes on afterwards. None when this process was
    /// told to end meanwhile.
    fn run(&self, argv: &[String], limits: Limits) -> Option<Ran>;
}

/// Makes folders beside the active repository, never in it.
pub trait Workbench {
    /// A detached working tree of a commit, with a change in it or without.
    ///
    /// # Errors
    /// There is no git, no such commit, or the change does not fit (`Err` of the inner result).
    fn open(&self, commit: &str, patch: Option<&str>) -> Result<Result<Box<dyn Bench>, String>, ProjectError>;
}
