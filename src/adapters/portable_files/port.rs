//! The port: the folder opened anew for every call, since git may replace it between two.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::domain::portable::files::{Export, FileError, Held, Located, Look, Written};
use crate::domain::portable::{FolderId, Stamp};
use crate::domain::ports::PortableFiles;
use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

use super::batch::would_change;
use super::find::{Found, find};
use super::folder::PortableFolder;
use super::names::Names;
use super::read::{Read, ReadFile};

/// How long to wait for another writer of the folder.
const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// So many files are looked at by two threads; most of the time goes into the system's own work.
const MANY: usize = 512;

/// Looks at the files from both halves at once.
fn look_at_many(folder: &PortableFolder, files: &[(&str, Option<&Stamp>)], now: Time) -> Result<Vec<Look>, FileError> {
    let look_at = |files: &[(&str, Option<&Stamp>)]| -> Result<Vec<Look>, FileError> {
        files.iter().map(|(name, known)| folder.look(name, *known, now)).collect()
    };
    let (first, second) = files.split_at(files.len() / 2);
    std::thread::scope(|scope| {
        let helper = scope.spawn(|| look_at(second));
        let first = look_at(first);
        // A look does not panic; if it did, the other half's would be the same.
        let second = helper.join().unwrap_or_else(|_| look_at(second));
        let mut looks = first?;
        looks.extend(second?);
        Ok(looks)
    })
}

/// The portable folder at a path.
#[derive(Debug, Clone)]
pub struct PortableDir {
    path: PathBuf,
}

impl PortableDir {
    /// The folder at `path`, whether it exists or not.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn open(&self) -> Result<Option<PortableFolder>, FileError> {
        PortableFolder::open(&self.path)
    }
}

impl PortableFiles for PortableDir {
    fn folder(&self) -> Result<Option<FolderId>, FileError> {
        Ok(self.open()?.map(|folder| folder.id()))
    }

    fn names(&self) -> Result<Vec<String>, FileError> {
        let Some(folder) = self.open()? else { return Ok(Vec::new()) };
        Ok(folder.names()?.records().map(str::to_owned).collect())
    }

    fn leftovers(&self, now: Time) -> Result<Vec<WorkItemRef>, FileError> {
        let Some(folder) = self.open()? else { return Ok(Vec::new()) };
        let mut items: Vec<WorkItemRef> = Vec::new();
        for name in folder.names()?.temporaries() {
            if let Read::File(file) = folder.read(name, now)?
                && !items.iter().any(|item| item.key() == file.record.reference.key())
            {
                items.push(file.record.reference);
            }
        }
        Ok(items)
    }

    fn look(&self, name: &str, known: Option<&Stamp>, now: Time) -> Result<Look, FileError> {
        match self.open()? {
            Some(folder) => folder.look(name, known, now),
            None => Ok(Look::Missing),
        }
    }

    fn look_each(
        &self,
        files: &[(&str, Option<&Stamp>)],
        now: Time,
        told: &mut dyn FnMut(usize, Look),
    ) -> Result<Option<FolderId>, FileError> {
        let Some(folder) = self.open()? else {
            (0..files.len()).for_each(|at| told(at, Look::Missing));
            return Ok(None);
        };
        if files.len() < MANY {
            for (at, (name, known)) in files.iter().enumerate() {
                told(at, folder.look(name, *known, now)?);
            }
        } else {
            let looks = look_at_many(&folder, files, now)?;
            looks.into_iter().enumerate().for_each(|(at, look)| told(at, look));
        }
        Ok(Some(folder.id()))
    }

    fn locate(&self, item: &WorkItemRef, now: Time) -> Result<Located, FileError> {
        let Some(folder) = self.open()? else { return Ok(Located::Missing) };
        Ok(match find(&folder, &folder.names()?, item, now)? {
            Found::Files(first, others) => {
                Located::Files(std::iter::once(*first).chain(others).map(ReadFile::into_news).collect())
            }
            Found::Free(_) => Located::Missing,
            Found::Refused { name, later: true, .. } => Located::Later { name },
            Found::Refused { name, refusal, .. } => Located::Refused { name, refusal },
        })
    }

    fn export(
        &self,
        items: &[Export<'_>],
        done: &mut dyn FnMut(usize, Result<Written, Held>),
    ) -> Result<FolderId, FileError> {
        let folder = PortableFolder::create(&self.path)?;
        let mut batch = folder.batch(LOCK_LIMIT)?;
        items.iter().enumerate().for_each(|(index, item)| done(index, batch.export(*item)));
        Ok(folder.id())
    }

    fn remove(
        &self,
        items: &[Export<'_>],
        done: &mut dyn FnMut(usize, Result<Option<String>, Held>),
    ) -> Result<(), FileError> {
        let Some(folder) = self.open()? else { return Ok(()) };
        let mut batch = folder.batch(LOCK_LIMIT)?;
        items.iter().enumerate().for_each(|(index, item)| done(index, batch.remove(*item)));
        Ok(())
    }

    fn check(&self, items: &[Export<'_>], told: &mut dyn FnMut(usize, Result<bool, Held>)) -> Result<(), FileError> {
        let folder = self.open()?;
        let names = folder.as_ref().map_or_else(|| Ok(Names::default()), PortableFolder::names)?;
        for (index, item) in items.iter().enumerate() {
            told(
                index,
                match &folder {
                    Some(folder) => would_change(folder, &names, *item),
                    None => Ok(!item.record.is_husk()),
                },
            );
        }
        Ok(())
    }
}
