//! The shelves beside the live run, under the same rules of writing.

use std::path::PathBuf;

use super::{Place, RunFolder, io_error, names, read, readable_again, real};
use crate::domain::kept::{KeptFiles, Shelf};
use crate::domain::run::FilesError;
use crate::domain::secrets::Scanned;

impl KeptFiles for RunFolder {
    fn path(&self, shelf: Shelf, name: &str) -> PathBuf {
        self.folder.join(shelf.folder()).join(name)
    }

    fn read_kept(&self, shelf: Shelf, name: &str) -> Result<Option<Vec<u8>>, FilesError> {
        let path = KeptFiles::path(self, shelf, name);
        read(&path).map_err(|error| io_error(&path, &error))
    }

    fn replace_kept(
        &self,
        shelf: Shelf,
        name: &str,
        before: Option<&[u8]>,
        text: &Scanned<String>,
        generation: u64,
    ) -> Result<(), FilesError> {
        let path = KeptFiles::path(self, shelf, name);
        readable_again(&path, text)?;
        let put = real(&path).and_then(|target| self.put(&target, text.get(), generation, &Place::Over(before)));
        match put.map_err(|error| io_error(&path, &error))? {
            true => Ok(()),
            false => Err(FilesError::Stale(path)),
        }
    }

    fn remove_kept(&self, shelf: Shelf, name: &str, before: &[u8]) -> Result<(), FilesError> {
        let path = KeptFiles::path(self, shelf, name);
        match self.take_away(&path, before).map_err(|error| io_error(&path, &error))? {
            true => Ok(()),
            false => Err(FilesError::Stale(path)),
        }
    }

    fn names(&self, shelf: Shelf) -> Result<Vec<String>, FilesError> {
        let mut found = names(&self.folder.join(shelf.folder()))?;
        found.sort();
        Ok(found)
    }
}
