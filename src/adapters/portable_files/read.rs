//! Reading one file with its stamp, and telling whether it changed without reading it.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{OFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::domain::portable::files::{FileError, Look, News};
use crate::domain::portable::stamp::YOUNG_MILLIS;
use crate::domain::portable::{MAX_BYTES, Record, Refusal, RefusalKind, Stamp, parse};
use crate::domain::reference::hex;
use crate::domain::time::Time;

use super::folder::{PortableFolder, nanos};

/// How often a file that changes under the reader is read again.
const TRIES: usize = 3;

/// A file that is a record.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadFile {
    /// Its name in the folder.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What they say.
    pub record: Record,
    /// How it looked.
    pub stamp: Stamp,
    pub(super) access: Access,
}

/// Who may do what with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) mode: u32,
    pub(super) owner: u32,
    pub(super) group: u32,
}

/// What came of reading a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    /// Nothing there, which is no fact.
    Missing,
    /// Something that is no record. `young` when it may still be being written.
    Refused {
        /// What is wrong with it.
        refusal: Refusal,
        /// Whether it changed in the last two seconds.
        young: bool,
    },
    /// A record.
    File(Box<ReadFile>),
}

/// The bytes of a regular file with the look of it, before they are read as a record.
struct Raw {
    bytes: Vec<u8>,
    found: Metadata,
}

impl PortableFolder {
    /// Reads the record under `name`; `now` tells how young it is.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn read(&self, name: &str, now: Time) -> Result<Read, FileError> {
        Ok(self.read_raw(name)?.map_or_else(|read| read, |raw| raw.into_read(name, now)))
    }

    /// The bytes under `name`, or why there are none.
    fn read_raw(&self, name: &str) -> Result<Result<Raw, Read>, FileError> {
        for _ in 1..TRIES {
            let (read, settled) = self.read_once(name)?;
            if settled {
                return Ok(read);
            }
        }
        self.read_once(name).map(|(read, _)| read)
    }

    /// Compares the file under `name` with the stamp the store keeps; reads it only when that cannot tell.
    ///
    /// # Errors
    /// The file is there and cannot be looked at or read.
    pub fn look(&self, name: &str, known: Option<&Stamp>, now: Time) -> Result<Look, FileError> {
        let Some(found) = self.stat(name)? else {
            let gone_just_now = known.is_some() && is_young(self.changed_ns()?, now);
            return Ok(if gone_just_now { Look::Later } else { Look::Missing });
        };
        let seen = stamp_of(&found);
        if known.is_some_and(|known| known.hash.is_none() && known.looks_like(&seen)) {
            return Ok(Look::Unchanged);
        }
        let read = match self.read_raw(name)? {
            // What is known byte for byte needs no reading as a record: before every decision on a young file.
            Ok(raw) if known.is_some_and(|known| raw.is(known)) => {
                let young = is_young(changed_ns(&raw.found), now);
                return Ok(if young { Look::Unchanged } else { Look::Aged(stamp(&raw.found, None)) });
            }
            Ok(raw) => raw.into_read(name, now),
            Err(read) => read,
        };
        Ok(match read {
            Read::Missing => Look::Later,
            Read::Refused { refusal, young } if young && refusal.may_be_half_written() => Look::Later,
            Read::Refused { refusal, .. } => Look::Refused(refusal),
            Read::File(file) => Look::News(Box::new(file.into_news())),
        })
    }

    /// Reads once; false when the file changed meanwhile.
    fn read_once(&self, name: &str) -> Result<(Result<Raw, Read>, bool), FileError> {
        let file = match self.open_file(name, OFlags::RDONLY | OFlags::NONBLOCK, 0) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok((Err(Read::Missing), true)),
            Err(Errno::LOOP) => return Ok((Err(refused(RefusalKind::Symlink, false)), true)),
            Err(Errno::NXIO | Errno::OPNOTSUPP) => return Ok((Err(refused(RefusalKind::NotAFile, false)), true)),
            Err(error) => return Err(self.fail(name, "open it", error)),
        };
        let fail = |source| self.fail(name, "read it", source);
        let before = file.metadata().map_err(fail)?;
        if !before.is_file() {
            return Ok((Err(refused(RefusalKind::NotAFile, false)), true));
        }
        let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        let mut bytes = Vec::with_capacity(usize::try_from(before.len().min(limit)).unwrap_or(0));
        (&file).take(limit).read_to_end(&mut bytes).map_err(fail)?;
        let found = file.metadata().map_err(fail)?;
        let settled = stamp(&before, None).looks_like(&stamp(&found, None));
        Ok((Ok(Raw { bytes, found }), settled))
    }
}

impl Raw {
    /// Whether this is the file that `known` was taken of, with the content it had.
    fn is(&self, known: &Stamp) -> bool {
        known.looks_like(&stamp(&self.found, None))
            && known.hash.as_ref().is_some_and(|hash| *hash == digest(&self.bytes))
    }

    fn into_read(self, name: &str, now: Time) -> Read {
        let young = is_young(changed_ns(&self.found), now);
        match parse(&self.bytes) {
            Err(refusal) => Read::Refused { refusal, young },
            Ok(record) => Read::File(Box::new(ReadFile {
                name: name.to_owned(),
                record,
                stamp: stamp(&self.found, young.then(|| digest(&self.bytes))),
                access: Access { mode: self.found.mode() & 0o7777, owner: self.found.uid(), group: self.found.gid() },
                bytes: self.bytes,
            })),
        }
    }
}

const fn refused(kind: RefusalKind, young: bool) -> Read {
    Read::Refused { refusal: Refusal::new(kind), young }
}

impl ReadFile {
    pub(super) fn into_news(self) -> News {
        News { name: self.name, record: self.record, stamp: self.stamp }
    }

    /// Whether this is the very file, in the very state, that `known` was taken of, under whatever name by now.
    pub(super) fn is_known(&self, known: &Stamp) -> bool {
        known.is_renamed(&self.stamp) && known.hash.as_ref().is_none_or(|hash| *hash == digest(&self.bytes))
    }
}

/// The stamp of a file.
pub(super) fn stamp(found: &Metadata, hash: Option<String>) -> Stamp {
    Stamp {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        modified_ns: nanos(found.mtime(), found.mtime_nsec()),
        changed_ns: nanos(found.ctime(), found.ctime_nsec()),
        hash,
    }
}

/// The stamp of what was only looked at.
fn stamp_of(found: &Stat) -> Stamp {
    let whole = |number| i64::try_from(number).unwrap_or(i64::MAX);
    Stamp {
        device: found.st_dev,
        inode: found.st_ino,
        size: u64::try_from(found.st_size).unwrap_or(0),
        modified_ns: nanos(found.st_mtime, whole(found.st_mtime_nsec)),
        changed_ns: nanos(found.st_ctime, whole(found.st_ctime_nsec)),
        hash: None,
    }
}

pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn changed_ns(found: &Metadata) -> i64 {
    nanos(found.mtime(), found.mtime_nsec()).max(nanos(found.ctime(), found.ctime_nsec()))
}

/// Whether something that changed then may change again without its times telling.
pub(super) const fn is_young(changed_ns: i64, now: Time) -> bool {
    now.as_millis().saturating_sub(changed_ns / 1_000_000) < YOUNG_MILLIS
}
