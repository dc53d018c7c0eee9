//! The files of runs: `.loop/continuity.json`, `.loop/verification.json`, their temporaries, and `.loop/archive/`.
//!
//! A document is replaced in one step: `<target>.tmp-<generation>`, on disk, then renamed over the target, then the
//! folder on disk. A link in its place keeps being a link; what it leads to is replaced. There is no lock: whoever wrote
//! after this one read is noticed just before the rename, and what comes in between that and the rename is not.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};

use crate::domain::kept::TEMPORARY as MARK;
use crate::domain::run::{Document, FilesError, LARGEST, RunFiles, TaskId, Temporary};
use crate::domain::secrets::Scanned;

mod kept;
mod ledger;
#[cfg(test)]
mod tests;

/// Links that are followed at most.
const LINKS: usize = 32;

/// A step that is done, where a test can end the writer as a crash would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Made,
    Written,
    Placed,
    Synced,
    Removed,
}

/// What may come between the steps.
trait Seam: std::fmt::Debug + Send + Sync {
    fn reached(&self, step: Step) -> io::Result<()>;
}

#[derive(Debug)]
struct Unhindered;

impl Seam for Unhindered {
    fn reached(&self, _: Step) -> io::Result<()> {
        Ok(())
    }
}

/// The folder of a project's runs.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    seam: Box<dyn Seam>,
}

/// Into which place a file comes.
enum Place<'a> {
    /// Over what was read, or where nothing was.
    Over(Option<&'a [u8]>),
    /// Where nothing is.
    Free,
}

impl RunFolder {
    /// Of the project with this root; touches nothing.
    pub fn new(root: &Path) -> Self {
        Self { folder: root.join(super::project::FOLDER), seam: Box::new(Unhindered) }
    }

    fn archive_dir(&self) -> PathBuf {
        self.folder.join("archive")
    }

    /// Writes a temporary and puts it in its place; says `false` when the place is taken.
    fn put(&self, target: &Path, text: &str, generation: u64, place: &Place<'_>) -> io::Result<bool> {
        let folder = target.parent().unwrap_or(&self.folder);
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mode = fs::metadata(target).ok().map(|found| found.permissions());
        let (temporary, mut file) = make(target, generation)?;
        let placed = self.fill(&mut file, text, mode).and_then(|()| self.place(&temporary, target, place));
        if !matches!(placed, Ok(true)) && self.seam.reached(Step::Removed).is_ok() {
            // Its content is in nobody's way and of no worth: the write is reported as not done.
            let _ = fs::remove_file(&temporary);
        }
        if placed? {
            self.sync(folder)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn fill(&self, file: &mut File, text: &str, mode: Option<Permissions>) -> io::Result<()> {
        self.seam.reached(Step::Made)?;
        file.write_all(text.as_bytes())?;
        if let Some(mode) = mode {
            file.set_permissions(mode)?;
        }
        file.sync_all()?;
        self.seam.reached(Step::Written)
    }

    fn place(&self, temporary: &Path, target: &Path, place: &Place<'_>) -> io::Result<bool> {
        match place {
            Place::Over(Some(before)) => match read(target)? {
                Some(found) if found == *before => fs::rename(temporary, target)?,
                _ => return Ok(false),
            },
            Place::Over(None) | Place::Free => {
                match renameat_with(CWD, temporary, CWD, target, RenameFlags::NOREPLACE) {
                    Ok(()) => {}
                    Err(rustix::io::Errno::EXIST) => return Ok(false),
                    // Some file systems know no such rename; a second name is made only where none is.
                    Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
                        match fs::hard_link(temporary, target) {
                            Ok(()) => fs::remove_file(temporary)?,
                            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
                            Err(error) => return Err(error),
                        }
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        self.seam.reached(Step::Placed)?;
        Ok(true)
    }

    fn sync(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()?;
        self.seam.reached(Step::Synced)
    }

    /// Removes a file that still holds what was read.
    fn take_away(&self, path: &Path, before: &[u8]) -> io::Result<bool> {
        match read(path)? {
            Some(found) if found == before => {
                fs::remove_file(path)?;
                self.seam.reached(Step::Removed)?;
                self.sync(path.parent().unwrap_or(&self.folder)).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// Temporaries in a folder; `document` says of which document a file name is, without its end.
    fn lying_in(
        folder: &Path,
        document: &dyn Fn(&str) -> Option<Document>,
        found: &mut Vec<Temporary>,
    ) -> Result<(), FilesError> {
        for name in names(folder)? {
            let Some((base, generation)) = name.split_once(MARK) else { continue };
            let (Some(document), path) = (document(base), folder.join(&name)) else { continue };
            if found.iter().any(|known| known.path == path) {
                continue;
            }
            // One that went meanwhile took its place.
            let Some(bytes) = read(&path).map_err(|error| io_error(&path, &error))? else { continue };
            let generation = generation.split('-').next().and_then(|digits| digits.parse().ok());
            found.push(Temporary { path, document, generation, bytes });
        }
        Ok(())
    }
}

impl RunFiles for RunFolder {
    fn path(&self, document: Document) -> PathBuf {
        self.folder.join(document.file_name())
    }

    fn read(&self, document: Document) -> Result<Option<Vec<u8>>, FilesError> {
        let path = self.path(document);
        read(&path).map_err(|error| io_error(&path, &error))
    }

    fn replace(
        &self,
        document: Document,
        before: Option<&[u8]>,
        text: &Scanned<String>,
        generation: u64,
    ) -> Result<(), FilesError> {
        let path = self.path(document);
        readable_again(&path, text)?;
        let put = real(&path).and_then(|target| self.put(&target, text.get(), generation, &Place::Over(before)));
        match put.map_err(|error| io_error(&path, &error))? {
            true => Ok(()),
            false => Err(FilesError::Stale(path)),
        }
    }

    fn archive(
        &self,
        name: &dyn Fn(u32) -> String,
        text: &Scanned<String>,
        generation: u64,
    ) -> Result<PathBuf, FilesError> {
        let folder = self.archive_dir();
        for number in 1.. {
            let target = folder.join(name(number));
            if target.symlink_metadata().is_ok() {
                continue;
            }
            match self.put(&target, text.get(), generation, &Place::Free) {
                Ok(true) => return Ok(target),
                Ok(false) => {}
                Err(error) => return Err(io_error(&target, &error)),
            }
        }
        Err(io_error(&folder, &io::Error::other("every name is taken")))
    }

    fn remove(&self, document: Document, before: &[u8]) -> Result<(), FilesError> {
        let path = self.path(document);
        let removed = real(&path).and_then(|target| self.take_away(&target, before));
        match removed.map_err(|error| io_error(&path, &error))? {
            true => Ok(()),
            false => Err(FilesError::Stale(path)),
        }
    }

    fn temporaries(&self) -> Result<Vec<Temporary>, FilesError> {
        let mut found = Vec::new();
        for document in Document::ALL {
            let path = self.path(document);
            let target = real(&path).map_err(|error| io_error(&path, &error))?;
            let own = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let is_own = |base: &str| (base == own).then_some(document);
            Self::lying_in(target.parent().unwrap_or(&self.folder), &is_own, &mut found)?;
        }
        let archived = |base: &str| {
            let is_archive = base.starts_with("task-") && base.ends_with(".json");
            let evidence = base.ends_with(".verification.json");
            is_archive.then_some(if evidence { Document::Verification } else { Document::Continuity })
        };
        Self::lying_in(&self.archive_dir(), &archived, &mut found)?;
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    fn remove_temporary(&self, temporary: &Temporary) -> Result<(), FilesError> {
        let path = &temporary.path;
        match self.take_away(path, &temporary.bytes).map_err(|error| io_error(path, &error))? {
            true => Ok(()),
            false => Err(FilesError::Stale(path.clone())),
        }
    }

    fn archives(&self, task: &TaskId) -> Result<Vec<(String, Vec<u8>)>, FilesError> {
        let folder = self.archive_dir();
        let mut found = Vec::new();
        for name in names(&folder)? {
            if name.starts_with(task.as_str()) && name.ends_with(".json") {
                let path = folder.join(&name);
                found.extend(read(&path).map_err(|error| io_error(&path, &error))?.map(|bytes| (name, bytes)));
            }
        }
        // By the stem, so that `-02` comes after the first.
        found.sort_by(|one, other| one.0.trim_end_matches(".json").cmp(other.0.trim_end_matches(".json")));
        Ok(found)
    }
}

/// What is written must be read again: a record that is too large would be refused for ever.
fn readable_again(path: &Path, text: &Scanned<String>) -> Result<(), FilesError> {
    if text.get().len() > LARGEST { Err(FilesError::TooLarge(path.to_owned())) } else { Ok(()) }
}

/// A temporary nobody else made: `<target>.tmp-<generation>`, or the same with a number when one lies there.
fn make(target: &Path, generation: u64) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    for number in 1..1000_u32 {
        let end = if number == 1 { String::new() } else { format!("-{number:02}") };
        let path = target.with_file_name(format!("{name}{MARK}{generation}{end}"));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("a thousand temporaries of this generation lie beside it"))
}

/// What a path leads to, which need not exist: links are followed.
fn real(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                let to = fs::read_link(&path)?;
                path = path.parent().unwrap_or(Path::new("/")).join(to);
            }
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(path),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many links"))
}

/// A file's bytes; none where there is none. What is larger than any document of ours is read no further than that shows.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open_plain(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// A file, open; none where there is none. A pipe in its place is refused, and not waited at.
fn open_plain(path: &Path) -> io::Result<Option<File>> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
        Ok(_) => Err(io::Error::other("it is no plain file")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn names(folder: &Path) -> Result<Vec<String>, FilesError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_error(folder, &error)),
    };
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().into_string().ok()));
    names.filter_map(Result::transpose).collect::<io::Result<_>>().map_err(|error| io_error(folder, &error))
}

fn io_error(path: &Path, error: &io::Error) -> FilesError {
    FilesError::Io { path: path.to_owned(), said: error.to_string() }
}
