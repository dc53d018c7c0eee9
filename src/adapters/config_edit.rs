//! Puts a changed configuration in the place of the one that was read, and keeps that one.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Most names tried for a copy.
const MAX_COPIES: u32 = 1000;

/// Why the file was not changed. Each names the path.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// Somebody changed it since it was read.
    #[error("`{}` was changed in the meantime", .0.display())]
    Changed(PathBuf),
    /// A step failed; what could not be completed was not begun.
    #[error("could not write `{}`: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// Copies the text `old` of the configuration at `path` into `copies` under `name`, then puts `new` in its place in one
/// step, with its mode; a link stays a link. The copy's path; one with the same text is used again.
pub fn replace(path: &Path, old: &str, new: &str, copies: &Path, name: &str) -> Result<PathBuf, EditError> {
    let told = |path: &Path| {
        let path = path.to_owned();
        move |error| EditError::Io { path, error }
    };
    let target = path.canonicalize().map_err(told(path))?;
    let copy = keep(old, copies, name)?;
    let dir = target.parent().unwrap_or(Path::new("/"));
    let mode = fs::metadata(&target).map_err(told(&target))?.permissions().mode() & 0o7777;
    let mut file =
        tempfile::Builder::new().prefix(".cli-config.yaml.").suffix(".tmp").tempfile_in(dir).map_err(told(dir))?;
    file.write_all(new.as_bytes()).map_err(told(&target))?;
    file.as_file().set_permissions(Permissions::from_mode(mode)).map_err(told(&target))?;
    file.as_file().sync_all().map_err(told(&target))?;
    if fs::read(&target).map_err(told(&target))? != old.as_bytes() {
        return Err(EditError::Changed(path.to_owned()));
    }
    file.persist(&target).map_err(|error| told(&target)(error.error))?;
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(told(dir))?;
    Ok(copy)
}

/// Writes a copy under the first name that is free, or holds the same already.
fn keep(text: &str, copies: &Path, name: &str) -> Result<PathBuf, EditError> {
    let io = |path: &Path, error| EditError::Io { path: path.to_owned(), error };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(copies).map_err(|error| io(copies, error))?;
    for number in 1..=MAX_COPIES {
        let path = copies.join(if number == 1 { name.to_owned() } else { format!("{name}.{number}") });
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| io(&path, error))?;
                return Ok(path);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if fs::read(&path).is_ok_and(|kept| kept == text.as_bytes()) {
                    return Ok(path);
                }
            }
            Err(error) => return Err(io(&path, error)),
        }
    }
    Err(io(copies, io::Error::other(format!("{MAX_COPIES} copies lie there already"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_replaced_with_its_mode_and_every_text_before_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (file, copies) = (dir.path().join("c.yaml"), dir.path().join("local/copies"));
        let link = dir.path().join("link.yaml");
        std::os::unix::fs::symlink("c.yaml", &link).unwrap();
        fs::write(&file, "one").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let first = replace(&link, "one", "two", &copies, "c").unwrap();
        let second = replace(&link, "two", "one", &copies, "c").unwrap();
        let third = replace(&link, "one", "three", &copies, "c").unwrap();
        assert_eq!((first.clone(), second.file_name().unwrap()), (third, "c.2".as_ref()));
        assert_eq!(
            (fs::read_to_string(&first).unwrap(), fs::read_to_string(&second).unwrap()),
            ("one".into(), "two".into())
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), "three");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_text_that_was_changed_in_the_meantime_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("c.yaml");
        fs::write(&file, "mine").unwrap();
        let said = replace(&file, "one", "two", dir.path(), "c").unwrap_err();
        assert!(matches!(said, EditError::Changed(_)), "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        let left = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        assert_eq!(left.len(), 2, "{left:?}");
    }
}
