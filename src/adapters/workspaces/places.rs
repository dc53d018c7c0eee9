//! What lies where directories of work items are made: marks say whose it is and that it is complete, notes that it was
//! begun. Only files are read here, git is not asked.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::adapters::text_files;
use crate::domain::reference::WorkItemRef;
use crate::domain::workspace::{Checkout, CheckoutState, Place, WorkspaceError};

/// The mark, in the directory of git's own that a checkout has: the reference of its item. Written last.
const MARK: &str = "the-loop-item";
/// How the name of what is being made ends; it begins with a dot.
const MAKING: &str = ".making";

/// What is being made under `name` in `base`: a note, or the clone itself until it is renamed.
pub(super) fn making(base: &Path, name: &str) -> PathBuf {
    base.join(format!(".{name}{MAKING}"))
}

/// The file that is locked while `name` is made in `base`.
pub(super) fn lock_file(base: &Path, name: &str) -> PathBuf {
    base.join(format!(".{name}.lock"))
}

/// What lies under `name` in `base`.
pub(super) fn look(base: &Path, name: &str) -> Place {
    let place = base.join(name);
    let noted = || reference(&making(base, name)).map(|item| Place::Of { item, ready: false });
    match fs::symlink_metadata(&place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => noted().unwrap_or(Place::Vacant),
        Ok(meta) if meta.is_dir() => match marked(&place) {
            Some(item) => Place::Of { item, ready: true },
            None => noted().unwrap_or(Place::Strange),
        },
        _ => Place::Strange,
    }
}

/// Whose complete checkout `place` is.
pub(super) fn marked(place: &Path) -> Option<WorkItemRef> {
    reference(&git_dir(place)?.join(MARK))
}

/// Says that `place` is complete, and whose.
pub(super) fn mark(place: &Path, item: &WorkItemRef) -> Result<(), WorkspaceError> {
    let own = git_dir(place)
        .ok_or_else(|| WorkspaceError::Failed(format!("`{}` is no working tree of its own", place.display())))?;
    text_files::replace(&own.join(MARK), format!("{item}\n").as_bytes()).map_err(|error| at(&own, &error))
}

/// Notes that the checkout of `item` is being made.
pub(super) fn note(base: &Path, name: &str, item: &WorkItemRef) -> Result<(), WorkspaceError> {
    let note = making(base, name);
    fs::write(&note, format!("{item}\n")).map_err(|error| at(&note, &error))
}

/// Takes the note away again.
pub(super) fn forget_note(base: &Path, name: &str) -> Result<(), WorkspaceError> {
    let note = making(base, name);
    match fs::remove_file(&note) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&note, &error)),
        _ => Ok(()),
    }
}

/// The directory of git's own for the checkout at `place`: its `.git`, or where that points, when that points back.
pub(super) fn git_dir(place: &Path) -> Option<PathBuf> {
    let dot = place.join(".git");
    if fs::symlink_metadata(&dot).ok()?.is_dir() {
        return Some(dot);
    }
    let text = fs::read_to_string(&dot).ok()?;
    let own = place.join(text.strip_prefix("gitdir:")?.trim());
    let back = fs::read_to_string(own.join("gitdir")).ok()?;
    let back = own.join(back.trim());
    (fs::canonicalize(back).ok()? == fs::canonicalize(&dot).ok()?).then_some(own)
}

/// Makes a directory that is this user's alone.
pub(super) fn make_dir(path: &Path) -> Result<(), WorkspaceError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| at(path, &error))
}

/// Removes what was half made at `path`, which lies in `base`. A link is no directory, and nothing is followed.
pub(super) fn remove_half_made(base: &Path, path: &Path) -> Result<(), WorkspaceError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(meta) if meta.is_dir() && path.parent() == Some(base) => {
            fs::remove_dir_all(path).map_err(|error| at(path, &error))
        }
        Ok(_) => Err(WorkspaceError::Failed(format!("`{}` is in the way and is not ours", path.display()))),
        Err(error) => Err(at(path, &error)),
    }
}

/// All that lies in `base`; what is not ours only where nothing else should lie (`is_ours_alone`).
pub(super) fn list(base: &Path, is_ours_alone: bool) -> Vec<Checkout> {
    let Ok(entries) = fs::read_dir(base) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<Checkout> = names.filter_map(|name| checkout(base, &name, is_ours_alone)).collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found.dedup();
    found
}

fn checkout(base: &Path, name: &str, is_ours_alone: bool) -> Option<Checkout> {
    let hidden = name.strip_prefix('.');
    let name = match hidden {
        Some(hidden) => hidden.strip_suffix(MAKING)?,
        None => name,
    };
    let state = match look(base, name) {
        Place::Of { item, ready: true } => CheckoutState::Ready(item),
        Place::Of { ready: false, .. } => CheckoutState::HalfMade,
        // A clone has its other name until it is complete.
        Place::Vacant | Place::Strange if hidden.is_some() => CheckoutState::HalfMade,
        Place::Strange if is_ours_alone => CheckoutState::Strange,
        Place::Vacant | Place::Strange => return None,
    };
    Some(Checkout { path: base.join(name), state })
}

fn reference(file: &Path) -> Option<WorkItemRef> {
    fs::read_to_string(file).ok().and_then(|text| WorkItemRef::parse(&text).ok())
}

/// An error of the file system with its place.
pub(super) fn at(path: &Path, error: &io::Error) -> WorkspaceError {
    WorkspaceError::Failed(format!("`{}`: {error}", path.display()))
}
