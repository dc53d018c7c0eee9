//! An agent's folder of skills and commands. Files are replaced in one step; what was there before is kept by a second
//! name of the very same file, so that it comes back as it was. Links below the folder are never followed.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::text_files;
use crate::domain::skill::{Content, Found, NAME, Record, SkillError, SkillFiles, Step};

/// Largest file that is read, bytes; what is larger is nobody's instruction.
const MOST: u64 = 4 << 20;

/// One agent's folder.
#[derive(Debug)]
pub struct SkillFolder {
    folder: PathBuf,
    /// Below this nothing is a link: the project's root, or the folder itself where it is the user's own.
    trusted: PathBuf,
}

impl SkillFolder {
    /// `name` below the root of a project, of which nothing may be a link.
    pub fn of_project(root: &Path, name: &str) -> Self {
        Self { folder: root.join(name), trusted: root.to_owned() }
    }

    /// A user's own folder, which may be a link of his.
    pub fn of_user(folder: PathBuf) -> Self {
        Self { trusted: folder.clone(), folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.folder.clone() } else { self.folder.join(path) }
    }

    /// Why something on the way to a path, the path itself aside, cannot be gone through.
    fn barred(&self, path: &Path) -> io::Result<Option<&'static str>> {
        let mut way: Vec<&Path> = path.ancestors().skip(1).take_while(|folder| *folder != self.trusted).collect();
        way.reverse();
        for folder in way {
            match fs::symlink_metadata(folder) {
                Ok(found) if found.is_symlink() => return Ok(Some("a folder on the way is a link")),
                Ok(found) if !found.is_dir() => return Ok(Some("a file is where a folder has to be")),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn found(&self, path: &Path) -> io::Result<Found> {
        if let Some(why) = self.barred(path)? {
            return Ok(Found::Unusable(why));
        }
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => Ok(Found::Unusable("it is a link")),
            Ok(found) if !found.is_file() => Ok(Found::Unusable("it is no file")),
            Ok(found) if found.len() > MOST => Ok(Found::Unusable("it is larger than 4 MiB")),
            Ok(_) => fs::read(path).map(|bytes| Found::File(Content::of(&bytes))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Gives a file its content, its folders made.
    fn put(&self, path: &Path, text: &str) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        text_files::replace(path, text.as_bytes())?;
        sync(folder)
    }

    fn apply(&self, step: &Step, path: &Path) -> io::Result<()> {
        match step {
            Step::Write { text, backup, .. } => {
                if let Some(backup) = backup {
                    // A second name is made only where nothing has it, and is on disk before the first goes elsewhere.
                    fs::hard_link(path, self.path(backup))?;
                    sync(path.parent().unwrap_or(&self.folder))?;
                }
                self.put(path, text)
            }
            Step::Restore { backup, .. } => {
                let kept = self.path(backup);
                fs::rename(&kept, path)?;
                // Two names of one file are left as they are by a rename.
                if kept.symlink_metadata().is_ok() {
                    fs::remove_file(&kept)?;
                }
                sync(path.parent().unwrap_or(&self.folder))
            }
            Step::Remove { .. } => {
                fs::remove_file(path)?;
                sync(path.parent().unwrap_or(&self.folder))
            }
        }
    }
}

impl SkillFiles for SkillFolder {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn look(&self, path: &str) -> Result<Found, SkillError> {
        let path = self.path(path);
        self.found(&path).map_err(|error| told(&path, &error))
    }

    fn absent(&self, folders: &[String]) -> Vec<String> {
        let is_absent = |folder: &&String| self.path(folder).symlink_metadata().is_err();
        folders.iter().filter(is_absent).cloned().collect()
    }

    fn record(&self) -> Result<Record, SkillError> {
        let path = self.path(NAME);
        let refused = |why: &str| SkillError::Record { path: path.clone(), why: why.to_owned() };
        match self.found(&path).map_err(|error| told(&path, &error))? {
            Found::Nothing => Ok(Record::default()),
            Found::Unusable(why) => Err(refused(why)),
            Found::File(_) => {
                let bytes = fs::read(&path).map_err(|error| told(&path, &error))?;
                Record::parse(&bytes).map_err(|why| refused(&why))
            }
        }
    }

    fn write_record(&self, record: &Record) -> Result<(), SkillError> {
        let path = self.path(NAME);
        let done = match record.entries.is_empty() {
            false => self.put(&path, &record.render()),
            true => match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        };
        done.map_err(|error| told(&path, &error))
    }

    fn step(&self, step: &Step) -> Result<(), SkillError> {
        let (Step::Write { path, found, .. } | Step::Restore { path, found, .. } | Step::Remove { path, found }) = step;
        let path = self.path(path);
        if self.found(&path).map_err(|error| told(&path, &error))? != *found {
            return Err(SkillError::Changed(path));
        }
        self.apply(step, &path).map_err(|error| told(&path, &error))
    }

    fn take_empty(&self, folder: &str) {
        // One that holds something, or is gone, is as it should be.
        let _ = fs::remove_dir(self.path(folder));
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn told(path: &Path, error: &io::Error) -> SkillError {
    SkillError::Io { path: path.to_owned(), said: error.to_string() }
}
