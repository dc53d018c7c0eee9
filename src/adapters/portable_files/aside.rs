//! Moving what cannot be read out of the folder, kept as it is.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::domain::portable::files::FileError;
use crate::domain::time::Time;

use super::folder::PortableFolder;
use super::port::PortableDir;
use super::read::Read;

/// How long to wait for another writer of the folder.
const LOCK_LIMIT: Duration = Duration::from_secs(5);

impl PortableDir {
    /// The temporaries that hold no record and are not being written: nobody's export joins or removes them.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn unreadable_leftovers(&self, now: Time) -> Result<Vec<String>, FileError> {
        let Some(folder) = PortableFolder::open(self.path())? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for name in folder.names()?.temporaries() {
            if matches!(folder.read(name, now)?, Read::Refused { young: false, .. }) {
                found.push(name.to_owned());
            }
        }
        Ok(found)
    }

    /// Moves the file `name` into the folder `into`, under a name that is free there. Only what is still no record, and
    /// is not being written, is moved; `None` when it is a record by now, or gone.
    ///
    /// # Errors
    /// The folder is kept locked by another writer, or the system said no; the file is where it was.
    pub fn set_aside(&self, name: &str, into: &Path, now: Time) -> Result<Option<PathBuf>, FileError> {
        let Some(folder) = PortableFolder::open(self.path())? else { return Ok(None) };
        let _lock = folder.lock(LOCK_LIMIT)?;
        if !matches!(folder.read(name, now)?, Read::Refused { young: false, .. }) {
            return Ok(None);
        }
        let moved = DirBuilder::new().recursive(true).mode(0o700).create(into).and_then(|()| {
            let target = free_name(into, name)?;
            move_to(&folder.path().join(name), &target).map(|()| target)
        });
        let target = moved.map_err(|source| folder.fail(name, "set it aside", source))?;
        folder.sync()?;
        Ok(Some(target))
    }
}

/// `name` in `into`, with a number behind it when that is taken.
fn free_name(into: &Path, name: &str) -> io::Result<PathBuf> {
    let numbered = (1..1000).map(|number| into.join(format!("{name}.{number}")));
    let mut names = std::iter::once(into.join(name)).chain(numbered);
    names
        .find(|path| fs::symlink_metadata(path).is_err())
        .ok_or_else(|| io::Error::other("too many of this name are there"))
}

fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices && fs::symlink_metadata(from)?.is_file() => {
            fs::copy(from, to)?;
            fs::File::open(to)?.sync_all()?;
            fs::remove_file(from)
        }
        moved => moved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k53_only_what_is_no_record_is_moved_and_it_is_kept_byte_for_byte() {
        let root = tempfile::tempdir().unwrap();
        let (portable, aside) = (root.path().join("portable"), root.path().join("local/set-aside"));
        fs::create_dir(&portable).unwrap();
        let dir = PortableDir::new(&portable);
        let later = Time::from_millis(i64::MAX / 2_000_000);
        let good = r#"{"ref": "github:octo/hello#7", "control": null}"#;
        fs::write(portable.join("github-octo-hello-7.json"), good).unwrap();
        assert_eq!(dir.set_aside("github-octo-hello-7.json", &aside, later).unwrap(), None);
        assert_eq!(dir.set_aside("nothing.json", &aside, later).unwrap(), None);
        for number in 0..2 {
            let text = format!("<<<<<<< HEAD {number}\n");
            fs::write(portable.join("github-octo-hello-8.json"), &text).unwrap();
            let moved = dir.set_aside("github-octo-hello-8.json", &aside, later).unwrap().unwrap();
            assert_eq!(fs::read_to_string(moved).unwrap(), text);
        }
        assert_eq!(fs::read_dir(&aside).unwrap().count(), 2);
        assert_eq!(dir.names_there(), ["github-octo-hello-7.json"]);
    }

    #[test]
    fn what_is_being_written_stays() {
        let root = tempfile::tempdir().unwrap();
        let dir = PortableDir::new(root.path());
        fs::write(root.path().join("github-octo-hello-8.json"), "{\"ref\": ").unwrap();
        fs::write(root.path().join("github-octo-hello-8.json.1-2.tmp"), "{").unwrap();
        let now = crate::domain::ports::Clock::now(&crate::adapters::system::SystemClock);
        let aside = root.path().join("aside");
        assert_eq!(dir.set_aside("github-octo-hello-8.json", &aside, now).unwrap(), None);
        assert!(dir.unreadable_leftovers(now).unwrap().is_empty());
        let later = now.plus_seconds(60);
        assert_eq!(dir.unreadable_leftovers(later).unwrap(), ["github-octo-hello-8.json.1-2.tmp"]);
        assert!(dir.set_aside("github-octo-hello-8.json", &aside, later).unwrap().is_some());
    }

    impl PortableDir {
        fn names_there(&self) -> Vec<String> {
            crate::domain::ports::PortableFiles::names(self).unwrap()
        }
    }
}
