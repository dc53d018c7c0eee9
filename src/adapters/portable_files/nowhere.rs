//! The port without a folder: for a store whose portable files are somebody else's to read and write.

use crate::domain::portable::files::{Export, FileError, Held, Located, Look, Written};
use crate::domain::portable::{FolderId, Stamp};
use crate::domain::ports::PortableFiles;
use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

/// No folder: nothing is read from it, and nothing can be written.
#[derive(Debug, Clone, Copy)]
pub struct Nowhere;

impl PortableFiles for Nowhere {
    fn folder(&self) -> Result<Option<FolderId>, FileError> {
        Ok(None)
    }

    fn names(&self) -> Result<Vec<String>, FileError> {
        Ok(Vec::new())
    }

    fn leftovers(&self, _: Time) -> Result<Vec<WorkItemRef>, FileError> {
        Ok(Vec::new())
    }

    fn look(&self, _: &str, _: Option<&Stamp>, _: Time) -> Result<Look, FileError> {
        Ok(Look::Missing)
    }

    fn locate(&self, _: &WorkItemRef, _: Time) -> Result<Located, FileError> {
        Ok(Located::Missing)
    }

    fn export(&self, _: &[Export<'_>], _: &mut dyn FnMut(usize, Result<Written, Held>)) -> Result<FolderId, FileError> {
        let source = std::io::Error::other("portable files are left to the store's own configuration");
        Err(FileError { path: std::path::PathBuf::new(), doing: "export", source })
    }

    fn check(&self, _: &[Export<'_>], _: &mut dyn FnMut(usize, Result<bool, Held>)) -> Result<(), FileError> {
        Ok(())
    }
}
