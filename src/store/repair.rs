//! A repair of a damaged store: on a copy, in the store's place only when the copy is whole, the old file kept.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::check::check;
use super::error::StoreError;
use super::migrate::STEPS;
use super::open;
use super::raw::ReadTx;
use super::raw::guarded;

/// What a repair came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The file as it was, kept byte for byte.
    pub kept: PathBuf,
    /// Whether anything was wrong; false when the file was whole after all.
    pub changed: bool,
}

/// Repairs a copy of the store at `path`, opens it and reads every row of it, and only then gives it the store's name.
/// The file as it was gets the name `kept`, which must be free.
///
/// # Errors
/// Somebody has the file open, or the copy cannot be made whole: then everything is as it was.
pub fn repair(path: &Path, kept: &Path) -> Result<Repaired, StoreError> {
    let io = |error| StoreError::io(path, error);
    let changed = match open::rehearse(path) {
        Err(StoreError::Busy) => return Err(StoreError::Busy),
        rehearsed => rehearsed.is_err(),
    };
    let file = File::open(path).map_err(io)?;
    // Every handle of redb's, a reader's too, shares this lock. With it alone nobody can have the file open, and
    // whoever comes meanwhile finds it in use: a file is never copied while somebody writes it.
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StoreError::Busy),
        Err(TryLockError::Error(error)) => return Err(io(error)),
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    let copy = whole_copy(&file, path, dir)?;
    fs::hard_link(path, kept).map_err(io)?;
    copy.persist(path).map_err(|error| io(error.error))?;
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(io)?;
    Ok(Repaired { kept: kept.to_owned(), changed })
}

/// A copy of the locked file that is whole: as it is when every page of its last commit is sound, else as the commit
/// before left it.
fn whole_copy(file: &File, path: &Path, dir: &Path) -> Result<NamedTempFile, StoreError> {
    let copy = copy_of(file, path, dir).and_then(|copy| {
        open::mark_doubtful(copy.path())?;
        Ok(copy)
    });
    let copy = copy.map_err(|error| StoreError::io(path, error))?;
    open::check_pages(copy.path())?;
    read_all(copy.path())?;
    Ok(copy)
}

fn copy_of(mut file: &File, path: &Path, dir: &Path) -> io::Result<NamedTempFile> {
    let mut copy = tempfile::Builder::new().prefix(&open::leftover_prefix(path)).tempfile_in(dir)?;
    file.seek(SeekFrom::Start(0))?;
    io::copy(&mut file, &mut copy)?;
    copy.as_file().sync_all()?;
    Ok(copy)
}

/// Opens a store and reads every row of it: what cannot be opened and read is no backup and no repair.
fn read_all(path: &Path) -> Result<(), StoreError> {
    use redb::ReadableDatabase as _;
    let database = open::open_reader(path, STEPS)?;
    let begun = guarded(path, || database.begin_read())?;
    let transaction = begun.map_err(|error| StoreError::transaction(path, error))?;
    match check(&ReadTx::new(path, &transaction))?.first() {
        None => Ok(()),
        Some(wrong) => Err(StoreError::Damaged(format!(
            "its pages can be made whole, and then its tables do not fit together ({wrong})"
        ))),
    }
}
