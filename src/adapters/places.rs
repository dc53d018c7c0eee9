//! Files and folders of ours as they lie there: whose, how open, whether they can be written; and taking rights away.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags, access, statvfs};

use crate::domain::findings::places::Place;

/// How `path` lies there, a link itself when it is one; `None` when nothing does.
pub fn look(path: &Path) -> io::Result<Option<Place>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(Place {
            path: path.to_owned(),
            // The bits of a link itself mean nothing.
            mode: if found.is_symlink() { 0 } else { found.mode() },
            is_ours: is_ours(found.uid()),
            is_folder: found.is_dir(),
        })),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_ours(user: u32) -> bool {
    user == rustix::process::geteuid().as_raw()
}

/// Free bytes for this user where `path` lies.
pub fn free(path: &Path) -> io::Result<u64> {
    let found = statvfs(path)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Why a file at `path` could not be appended to; `None` when it could. Nothing is written or made.
pub fn why_unwritable(path: &Path) -> Option<io::Error> {
    match OpenOptions::new().append(true).open(path) {
        Ok(_) => None,
        // It would be made in the nearest folder that is there.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = path.ancestors().skip(1).find(|folder| folder.exists())?;
            access(folder, Access::WRITE_OK | Access::EXEC_OK).err().map(io::Error::from)
        }
        Err(error) => Some(error),
    }
}

/// Why no file could be made in the folder at `path`; `None` when one could, or there is no such folder.
pub fn why_closed(path: &Path) -> Option<io::Error> {
    let closed = || access(path, Access::WRITE_OK | Access::EXEC_OK).err().map(io::Error::from);
    path.is_dir().then(closed).flatten()
}

/// Takes the rights of group and others away from a file or folder of this user's; a link is not followed.
///
/// # Errors
/// It belongs to somebody else, or the system said no.
pub fn close(path: &Path) -> io::Result<()> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    if !is_ours(found.uid()) {
        return Err(io::Error::other("it belongs to another user"));
    }
    file.set_permissions(fs::Permissions::from_mode(found.mode() & 0o7700))
}

/// The program `binary` as a `PATH` finds it, or by its own path; `None` when it cannot be run.
pub fn program(binary: &str, path: Option<&std::ffi::OsStr>, cwd: &Path) -> Option<PathBuf> {
    let runs = |file: &PathBuf| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    if binary.contains('/') {
        return Some(cwd.join(binary)).filter(runs);
    }
    std::env::split_paths(path?).map(|folder| folder.join(binary)).find(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_of_others_are_taken_away_and_ours_stay() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        for (path, before, after) in [(file.as_path(), 0o644, 0o600), (dir.path(), 0o755, 0o700)] {
            fs::set_permissions(path, fs::Permissions::from_mode(before)).unwrap();
            close(path).unwrap();
            let place = look(path).unwrap().unwrap();
            assert_eq!((place.mode & 0o7777, place.is_ours), (after, true));
        }
        let link = dir.path().join("link");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(close(&link).is_err(), "a link is not followed");
        assert_eq!(look(&file).unwrap().unwrap().mode & 0o777, 0o644);
        assert_eq!(look(&dir.path().join("none")).unwrap(), None);
    }

    #[test]
    fn what_can_be_written_is_known_without_writing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("logs/events.jsonl");
        assert!(why_unwritable(&file).is_none());
        fs::create_dir_all(&file).unwrap();
        assert!(why_unwritable(&file).is_some(), "a folder stands in its place");
        assert!(free(dir.path()).unwrap() > 0);
    }

    #[test]
    fn programs_are_found_as_the_system_finds_them() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("agent");
        fs::write(&file, "").unwrap();
        let path = Some(dir.path().as_os_str());
        assert_eq!(program("agent", path, dir.path()), None, "it cannot be run");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(program("agent", path, Path::new("/")).as_ref(), Some(&file));
        assert_eq!(program("./agent", None, dir.path()), Some(dir.path().join("./agent")));
        assert_eq!(program("agent", None, dir.path()), None);
    }
}
