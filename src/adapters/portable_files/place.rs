//! Putting a record in its place in one step, and saying what came out.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, OFlags, RenameFlags, fchmod, fchown, linkat, renameat, renameat_with, unlinkat};
use rustix::fs::{Gid, Mode, Uid};
use rustix::io::Errno;

use crate::domain::portable::Stamp;
use crate::domain::portable::files::{FileError, Replaced};
use crate::domain::time::Time;

use super::folder::PortableFolder;
use super::read::{Access, Read, ReadFile, digest, stamp};
use super::seam::{Call, Seam, Step};

/// The mode of a file nobody had yet.
const NEW: u32 = 0o600;

/// What came of placing.
pub(super) enum Placed {
    /// In place. `out` is the temporary that holds what stood there before.
    Done { stamp: Stamp, how: Replaced, out: Option<String> },
    /// What was read is not there any more, or something is where nothing was: read again. Nothing was written.
    Moved,
}

/// A file on its way to its place.
pub(super) struct Temporary {
    pub(super) name: String,
    file: File,
    digest: String,
}

/// Writes into one folder.
pub(super) struct Placer<'a> {
    pub(super) folder: &'a PortableFolder,
    pub(super) seam: &'a dyn Seam,
}

impl Placer<'_> {
    /// Writes `text` to a temporary beside `target`, on disk when this returns, with the mode (and as far as we may,
    /// the owner) of the file it shall replace.
    pub(super) fn write(&self, target: &str, text: &str, like: Option<Access>) -> Result<Temporary, FileError> {
        let (name, file) = self.make(target)?;
        let made = Temporary { name, file, digest: digest(text.as_bytes()) };
        self.reached(target, Step::Made)?;
        let filled = self.fill(&made.file, text, like);
        if let Err(source) = filled {
            self.remove(&made.name)?;
            return Err(self.folder.fail(target, "write its temporary", source));
        }
        self.reached(target, Step::Written)?;
        Ok(made)
    }

    fn make(&self, target: &str) -> Result<(String, File), FileError> {
        loop {
            let name = fresh_name(target);
            match self.folder.open_file(&name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, NEW) {
                Ok(fd) => return Ok((name, File::from(fd))),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(self.folder.fail(&name, "make it", error)),
            }
        }
    }

    fn fill(&self, mut file: &File, text: &str, like: Option<Access>) -> std::io::Result<()> {
        let access = file.metadata().map(|found| (found.uid(), found.gid()))?;
        if let Some(like) = like.filter(|like| (like.owner, like.group) != access) {
            // Only root may give files away; the mode below still holds.
            let _ = fchown(file, Some(Uid::from_raw(like.owner)), Some(Gid::from_raw(like.group)));
        }
        fchmod(file, Mode::from_raw_mode(like.map_or(NEW, |like| like.mode)))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// Puts a temporary where `current` stands, or where nothing is. The temporary is gone after [`Placed::Moved`].
    pub(super) fn place(
        &self,
        made: &Temporary,
        target: &str,
        current: Option<&ReadFile>,
        now: Time,
    ) -> Result<Placed, FileError> {
        let flags = if current.is_some() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
        match self.rename_with(&made.name, target, flags) {
            Ok(()) => self.done(made, target, Replaced::Exchanged, current.map(|_| made.name.clone())),
            Err(Errno::NOENT | Errno::EXIST) => self.moved(made),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match current {
                Some(current) => self.replace_by_link(made, current, now),
                None => self.make_by_link(made, target, now),
            },
            Err(error) => {
                self.remove(&made.name)?;
                Err(self.folder.fail(target, "put it in its place", error))
            }
        }
    }

    /// Puts back what `place` took out, because it must not be replaced. True when the file is as it was before; else
    /// somebody wrote once more, the newest stands in its place, and what was taken out stays under the temporary's name.
    pub(super) fn put_back(&self, made: &Temporary, out: &str, target: &str) -> Result<bool, FileError> {
        let fail = |error: Errno| self.folder.fail(target, "put it back", error);
        if out != made.name {
            renameat(&self.folder.dir, out, &self.folder.dir, target).map_err(fail)?;
            return Ok(true);
        }
        self.rename_with(out, target, RenameFlags::EXCHANGE).map_err(fail)?;
        if self.is_ours(made, out)? {
            self.remove(out)?;
            return Ok(true);
        }
        self.rename_with(out, target, RenameFlags::EXCHANGE).map_err(fail)?;
        Ok(false)
    }

    /// Moves a file of the folder to a fresh temporary name; `None` when it is gone.
    pub(super) fn move_aside(&self, name: &str) -> Result<Option<String>, FileError> {
        let aside = fresh_name(name);
        match renameat(&self.folder.dir, name, &self.folder.dir, &*aside) {
            Ok(()) => {
                self.reached(name, Step::Moved)?;
                Ok(Some(aside))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.folder.fail(name, "move it aside", error)),
        }
    }

    /// Gives a file that was moved aside its name back, unless something stands there by now; then it stays aside.
    pub(super) fn restore(&self, aside: &str, name: &str) -> Result<(), FileError> {
        match self.link(aside, name) {
            Ok(()) => self.remove(aside),
            Err(Errno::EXIST) => Ok(()),
            Err(_) if self.folder.stat(name)?.is_some() => Ok(()),
            Err(_) => renameat(&self.folder.dir, aside, &self.folder.dir, name)
                .map_err(|error| self.folder.fail(name, "give it its name back", error)),
        }
    }

    /// Removes a file of ours; gone is removed.
    pub(super) fn remove(&self, name: &str) -> Result<(), FileError> {
        match unlinkat(&self.folder.dir, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.folder.fail(name, "remove it", error)),
        }
    }

    pub(super) fn reached(&self, name: &str, step: Step) -> Result<(), FileError> {
        self.seam.reached(step).map_err(|source| self.folder.fail(name, "go on", source))
    }

    /// Whether the file under `name` is, byte for byte, what the temporary was filled with.
    fn is_ours(&self, made: &Temporary, name: &str) -> Result<bool, FileError> {
        let now = Time::from_millis(0);
        Ok(matches!(self.folder.read(name, now)?, Read::File(file) if digest(&file.bytes) == made.digest))
    }

    fn done(&self, made: &Temporary, target: &str, how: Replaced, out: Option<String>) -> Result<Placed, FileError> {
        self.reached(target, Step::Placed)?;
        // Of our own file, whatever stands there by now; after the rename, which changes its times.
        let found = made.file.metadata().map_err(|source| self.folder.fail(target, "look at it", source))?;
        Ok(Placed::Done { stamp: stamp(&found, Some(made.digest.clone())), how, out })
    }

    fn moved(&self, made: &Temporary) -> Result<Placed, FileError> {
        self.remove(&made.name).map(|()| Placed::Moved)
    }

    /// Without an exchange: a second name for the old file, then a rename over it.
    fn replace_by_link(&self, made: &Temporary, current: &ReadFile, now: Time) -> Result<Placed, FileError> {
        let aside = fresh_name(&current.name);
        match self.link(&current.name, &aside) {
            Ok(()) => {}
            Err(Errno::NOENT) => return self.moved(made),
            Err(_) => return self.replace_after_a_last_look(made, current, now),
        }
        self.reached(&current.name, Step::Linked)?;
        if !self.is_as_read(&aside, current, now)? {
            self.remove(&aside)?;
            return self.moved(made);
        }
        self.rename(made, &current.name)?;
        self.done(made, &current.name, Replaced::Linked, Some(aside))
    }

    /// Without hard links either.
    fn replace_after_a_last_look(&self, made: &Temporary, current: &ReadFile, now: Time) -> Result<Placed, FileError> {
        if !self.is_as_read(&current.name, current, now)? {
            return self.moved(made);
        }
        self.rename(made, &current.name)?;
        self.done(made, &current.name, Replaced::Renamed, None)
    }

    /// A new file without NOREPLACE: a link never replaces either.
    fn make_by_link(&self, made: &Temporary, target: &str, now: Time) -> Result<Placed, FileError> {
        match self.link(&made.name, target) {
            Ok(()) => self.done(made, target, Replaced::Exchanged, Some(made.name.clone())),
            Err(Errno::EXIST) => self.moved(made),
            Err(_) if self.folder.read(target, now)? != Read::Missing => self.moved(made),
            Err(_) => {
                self.rename(made, target)?;
                self.done(made, target, Replaced::Renamed, None)
            }
        }
    }

    fn is_as_read(&self, name: &str, current: &ReadFile, now: Time) -> Result<bool, FileError> {
        Ok(matches!(self.folder.read(name, now)?, Read::File(file) if file.bytes == current.bytes))
    }

    fn rename(&self, made: &Temporary, target: &str) -> Result<(), FileError> {
        renameat(&self.folder.dir, &*made.name, &self.folder.dir, target)
            .map_err(|error| self.folder.fail(target, "put it in its place", error))
    }

    fn rename_with(&self, from: &str, to: &str, flags: RenameFlags) -> Result<(), Errno> {
        if self.seam.refuses(Call::Exchange) {
            return Err(Errno::INVAL);
        }
        renameat_with(&self.folder.dir, from, &self.folder.dir, to, flags)
    }

    fn link(&self, from: &str, to: &str) -> Result<(), Errno> {
        if self.seam.refuses(Call::Link) {
            return Err(Errno::PERM);
        }
        linkat(&self.folder.dir, from, &self.folder.dir, to, AtFlags::empty())
    }
}

/// A name beside `target` that the ignore block covers and no other writer of ours makes.
fn fresh_name(target: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{target}.{:x}-{:x}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
