//! The old tree on disk, read only: `sessions/` under the state root, session records in the local folder, and the list
//! of polled items that was older still. Where none of it is there, a look costs a stat per folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::OFlags;

use crate::domain::earlier::{Kind, Refused, Tree, is_record_name, read};
use crate::domain::layout::{DEFAULT_ROOT, StateLayout};
use crate::domain::ports::EarlierFiles;

/// Inode, modification time and size.
type Look = Option<(u64, i64, i64, u64)>;

/// A file, or a folder of files, of the old tree.
#[derive(Debug)]
struct Place {
    kind: Kind,
    path: PathBuf,
    /// How it is named: as it is under the root, wherever the root lies, so that a root that moved keeps its names.
    label: &'static str,
}

/// The old tree.
#[derive(Debug)]
pub struct EarlierTree {
    places: Vec<Place>,
    looked: Mutex<Option<Vec<Look>>>,
}

impl EarlierTree {
    /// The old tree beside `layout`; `home` is what the configuration's relative paths are relative to.
    pub fn new(layout: &StateLayout, home: &Path) -> Self {
        let sessions = layout.root().join("sessions");
        let place = |kind, path: PathBuf, label| Place { kind, path, label };
        // In the order in which one is preferred to another.
        let places = vec![
            place(Kind::Session, layout.local_dir().to_owned(), "local"),
            place(Kind::Session, sessions.clone(), "sessions"),
            place(Kind::Control, sessions.join("control"), "sessions/control"),
            place(Kind::PollList, sessions.join("poll-state.json"), "sessions/poll-state.json"),
            place(Kind::PollList, home.join(DEFAULT_ROOT).join("poll-state.json"), "poll-state.json"),
        ];
        Self { places, looked: Mutex::new(None) }
    }

    /// Everything there is.
    pub fn tree(&self) -> Tree {
        let mut tree = Tree::default();
        for place in &self.places {
            match place.kind {
                Kind::PollList => add(place.kind, &place.path, place.label, &mut tree),
                Kind::Session | Kind::Control => place.folder(&mut tree),
            }
        }
        tree
    }

    /// Which of its folders and lists are there.
    pub fn is_there(&self) -> bool {
        self.places.iter().skip(1).any(|place| place.path.exists())
    }
}

impl EarlierFiles for EarlierTree {
    fn read(&self, anew: bool) -> Option<Tree> {
        let found: Vec<Look> = self.places.iter().map(|place| look(&place.path)).collect();
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if !anew && looked.as_ref() == Some(&found) {
            return None;
        }
        // Taken before the files are read: what changes meanwhile is looked at again.
        *looked = Some(found);
        Some(self.tree())
    }
}

impl Place {
    fn folder(&self, tree: &mut Tree) {
        let names = match names(&self.path) {
            Ok(names) => names,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return,
            Err(error) => return tree.refused.push(refused(self.label, &error)),
        };
        for name in names {
            add(self.kind, &self.path.join(&name), &format!("{}/{name}", self.label), tree);
        }
    }
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string().ok().filter(|name| is_record_name(name)));
    }
    names.sort();
    Ok(names)
}

fn add(kind: Kind, path: &Path, label: &str, tree: &mut Tree) {
    match bytes(path, kind.limit()) {
        Ok(bytes) => read(kind, label, &bytes, tree),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tree.refused.push(refused(label, &error)),
    }
}

fn refused(label: &str, error: &io::Error) -> Refused {
    Refused { path: label.to_owned(), reason: error.to_string() }
}

/// The bytes of a regular file, one more than `limit` of a larger one; a link is not followed.
fn bytes(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
    let file: File = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(io::Error::other("a symbolic link, which is never followed"));
        }
        opened => opened?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn look(path: &Path) -> Look {
    let found = fs::metadata(path).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec(), found.size()))
}
