//! Files of a working tree that people own too: replaced in one step, their mode kept, links never followed.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::domain::git::FileText;

/// Largest file read, bytes; what is larger is nobody's list of patterns.
const MAX_BYTES: u64 = 4 << 20;

/// Gives `path` this content, whole or not at all. What stands there must be a file; a new one gets the usual mode.
///
/// # Errors
/// Something else stands there, or the system said no; what was there is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mode = match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Some(found.permissions()),
        Ok(found) if found.is_symlink() => {
            return Err(io::Error::other("it is a symbolic link, which is not followed"));
        }
        Ok(_) => return Err(io::Error::other("it is no file")),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // The umask takes away what this user never gives.
    let mut new = builder.prefix(".the-loop-").permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)?;
    new.write_all(bytes)?;
    if let Some(mode) = mode {
        new.as_file().set_permissions(mode)?;
    }
    new.as_file().sync_all()?;
    new.persist(path).map(drop).map_err(|error| error.error)
}

/// Reads a file of lines.
///
/// # Errors
/// The system said no.
pub fn read(path: &Path) -> io::Result<FileText> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            return Ok(FileText::Unusable("it is a symbolic link, which git does not follow"));
        }
        Ok(found) if !found.is_file() => return Ok(FileText::Unusable("it is no file")),
        Ok(found) if found.len() > MAX_BYTES => return Ok(FileText::Unusable("it is larger than 4 MiB")),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FileText::Missing),
        Err(error) => return Err(error),
    }
    Ok(match String::from_utf8(fs::read(path)?) {
        Ok(text) => FileText::Text(text),
        Err(_) => FileText::Unusable("it is not UTF-8 text"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f11_f12_a_file_is_replaced_with_its_mode_and_a_link_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        replace(&file, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(replace(&link, b"x").unwrap_err().to_string().contains("symbolic link"));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && fs::read(&file).unwrap() == b"new");
        assert!(replace(dir.path(), b"x").is_err());
        replace(&dir.path().join("fresh"), b"x").unwrap();
        let names = fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(names, 3, "nothing is left beside them");
        assert!(matches!(read(&link).unwrap(), FileText::Unusable(_)));
        assert_eq!(read(&dir.path().join("none")).unwrap(), FileText::Missing);
    }
}
