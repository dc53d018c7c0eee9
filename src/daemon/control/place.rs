//! Where the control socket lies: in `local/`, or, when that path is too long for a socket, in a folder of this user's
//! under the runtime or the temporary directory.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::domain::ids::StoreId;
use crate::domain::layout::StateLayout;

/// Longest path taken for a socket, bytes; the system's limit is 108 on Linux and 104 elsewhere.
const MAX_PATH: usize = 100;

/// Why the socket cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Something else has its name. It was left as it is.
    #[error("{} is not a socket; it was left as it is: move it away", .0.display())]
    NotASocket(PathBuf),
    /// The folder for it is somebody else's, or open to others.
    #[error("{} must be a folder of this user's alone", .0.display())]
    Folder(PathBuf),
    /// The system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// What on.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The path of the socket of one store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    /// Whether its folder lies where other users make folders too.
    is_shared: bool,
}

impl Place {
    /// Where the socket of `store` lies. `runtime` is `$XDG_RUNTIME_DIR`, `temporary` where the system keeps such files.
    pub fn of(layout: &StateLayout, store: &StoreId, runtime: Option<&OsStr>, temporary: &Path) -> Self {
        let usual = layout.control_socket();
        if usual.as_os_str().len() <= MAX_PATH {
            return Self { path: usual, is_shared: false };
        }
        let named = runtime.map(Path::new).filter(|dir| dir.is_absolute());
        // A store's id is a random one; its start names it well enough and leaves room.
        let short: String = store.0.chars().filter(char::is_ascii_alphanumeric).take(16).collect();
        let folder = named.unwrap_or(temporary).join(format!("the-loop-{short}"));
        Self { path: folder.join("daemon.sock"), is_shared: true }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder and removes what an owner that died left. Only the store's owner calls this.
    ///
    /// # Errors
    /// Something else lies there, or the folder is not this user's alone.
    pub fn clear(&self) -> Result<(), PlaceError> {
        let dir = self.path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|source| io_error(dir, source))?;
        if self.is_shared {
            check_folder(dir)?;
        }
        match fs::symlink_metadata(&self.path) {
            Ok(found) if found.file_type().is_socket() => {
                fs::remove_file(&self.path).map_err(|source| io_error(&self.path, source))
            }
            Ok(_) => Err(PlaceError::NotASocket(self.path.clone())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(io_error(&self.path, source)),
        }
    }

    /// Makes the socket this user's alone.
    ///
    /// # Errors
    /// The system said no.
    pub fn protect(&self) -> Result<(), PlaceError> {
        fs::set_permissions(&self.path, fs::Permissions::from_mode(0o600))
            .map_err(|source| io_error(&self.path, source))
    }

    /// Which file lies there: what [`Place::remove`] knows it by.
    pub fn identity(&self) -> Option<(u64, u64)> {
        fs::symlink_metadata(&self.path).ok().map(|found| (found.dev(), found.ino()))
    }

    /// Removes the socket at its owner's end. Another file there is somebody else's: the folder was replaced.
    pub fn remove(&self, own: Option<(u64, u64)>) {
        if own.is_some() && self.identity() == own {
            // One that cannot be removed is a stale file for the next owner.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A folder that somebody else made could hold somebody else's socket.
fn check_folder(dir: &Path) -> Result<(), PlaceError> {
    let found = fs::symlink_metadata(dir).map_err(|source| io_error(dir, source))?;
    let is_ours = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    if is_ours && found.mode() & 0o077 == 0 { Ok(()) } else { Err(PlaceError::Folder(dir.to_owned())) }
}

fn io_error(path: &Path, source: io::Error) -> PlaceError {
    PlaceError::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn place(root: &Path, runtime: Option<&str>) -> Place {
        let store = StoreId("0b78fadc-e73a-434d-a0dd-18d97abaa035".into());
        Place::of(&StateLayout::new(root), &store, runtime.map(OsStr::new), Path::new("/tmp"))
    }

    #[test]
    fn a_long_path_gives_way_to_a_short_one_of_this_user() {
        let long = PathBuf::from("/x").join("y".repeat(120));
        assert_eq!(place(Path::new("/r"), Some("/run/user/7")).path(), Path::new("/r/local/daemon.sock"));
        let short = |runtime| place(&long, runtime).path().to_owned();
        assert_eq!(short(Some("/run/user/7")), Path::new("/run/user/7/the-loop-0b78fadce73a434d/daemon.sock"));
        assert_eq!(short(None), Path::new("/tmp/the-loop-0b78fadce73a434d/daemon.sock"));
        assert_eq!(short(Some("relative")), Path::new("/tmp/the-loop-0b78fadce73a434d/daemon.sock"));
    }

    #[test]
    fn l05_a_stale_socket_is_removed_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), None);
        place.clear().unwrap();
        drop(UnixListener::bind(place.path()).unwrap());
        place.clear().unwrap();
        assert!(!place.path().exists());
        std::fs::write(place.path(), "mine").unwrap();
        assert!(matches!(place.clear(), Err(PlaceError::NotASocket(_))));
        assert_eq!(std::fs::read(place.path()).unwrap(), b"mine");
        std::fs::remove_file(place.path()).unwrap();
        std::fs::create_dir(place.path()).unwrap();
        assert!(matches!(place.clear(), Err(PlaceError::NotASocket(_))));
    }

    #[test]
    fn k30_a_folder_among_others_that_they_may_enter_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("y".repeat(120));
        let place = Place::of(&StateLayout::new(&root), &StoreId("abc".into()), None, dir.path());
        place.clear().unwrap();
        let folder = place.path().parent().unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(place.clear(), Err(PlaceError::Folder(_))));
        fs::remove_dir(folder).unwrap();
        std::os::unix::fs::symlink(dir.path(), folder).unwrap();
        assert!(matches!(place.clear(), Err(PlaceError::Folder(_))));
    }
}
