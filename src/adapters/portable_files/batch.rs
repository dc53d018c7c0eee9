//! Bringing records up to date: read, join, write, join what came out, until the file says everything both said.

use std::time::Duration;

use crate::domain::portable::date::without_undated;
use crate::domain::portable::files::{Export, FileError, Held, Replaced, Written};
use crate::domain::portable::join::join_preferring_ours;
use crate::domain::portable::{
    Beaten, Conflict, Joined, Record, RefusalKind, Stamp, Volatile, join, render, same_meaning, says_all,
};

use super::find::{Found, find};
use super::folder::{FolderLock, PortableFolder};
use super::names::Names;
use super::place::{Placed, Placer, Temporary};
use super::read::{Read, ReadFile, is_young};
use super::seam::{Seam, Step, Unhindered};

/// How often an export reads again when others write at the same time; then its mark stays.
const ROUNDS: usize = 5;

/// The one writer of a folder, for any number of items.
pub struct Batch<'a> {
    placer: Placer<'a>,
    names: Names,
    _lock: FolderLock,
}

/// One export under way.
struct Work<'r> {
    request: Export<'r>,
    /// Everything known so far.
    want: Record,
    /// Whether the item had a file when it was read.
    seen: bool,
    /// What was last written, as the ancestor of what came out.
    base: Option<Record>,
    /// Temporaries whose content `want` covers; removed when the file says it.
    covered: Vec<String>,
    beaten: Vec<Beaten>,
    changed: bool,
    /// How our last write looks, when it is in place.
    placed: Option<(Stamp, Replaced)>,
}

impl PortableFolder {
    /// Becomes the folder's one writer, waiting at most `limit` for another.
    ///
    /// # Errors
    /// Another keeps it locked, or the folder cannot be read.
    pub fn batch(&self, limit: Duration) -> Result<Batch<'_>, FileError> {
        self.batch_with(limit, &Unhindered)
    }

    pub(super) fn batch_with<'a>(&'a self, limit: Duration, seam: &'a dyn Seam) -> Result<Batch<'a>, FileError> {
        let lock = self.lock(limit)?;
        Ok(Batch { placer: Placer { folder: self, seam }, names: self.names()?, _lock: lock })
    }
}

/// Whether [`Batch::export`] would change something; writes nothing and needs no lock.
///
/// # Errors
/// As the export itself.
pub fn would_change(folder: &PortableFolder, names: &Names, request: Export<'_>) -> Result<bool, Held> {
    let mut work = Work::new(request);
    let found = open(find(folder, names, &request.record.reference, request.now)?)?;
    let Some((current, others)) = found.1 else { return Ok(!work.want.is_husk()) };
    work.take_in_files(&current, &others)?;
    Ok(!others.is_empty() || work.want.is_husk() || !work.says_the_same(&current))
}

/// The files of an item, when it has some, with the name to write.
type Files = (String, Option<(Box<ReadFile>, Vec<ReadFile>)>);

fn open(found: Found) -> Result<Files, Held> {
    match found {
        Found::Files(current, others) => Ok((current.name.clone(), Some((current, others)))),
        Found::Free(name) => Ok((name, None)),
        Found::Refused { name, later: true, .. } => Err(Held::Later { name }),
        Found::Refused { name, refusal, .. } => Err(Held::Refused { name, refusal }),
    }
}

impl Batch<'_> {
    /// The names that were in the folder when the batch began.
    pub const fn names(&self) -> &Names {
        &self.names
    }

    /// Brings one item's file up to date. A file that already says the same is not touched.
    ///
    /// # Errors
    /// Why it is held; the file is whole, as it was or as it shall be, and nothing that others wrote is lost.
    pub fn export(&mut self, request: Export<'_>) -> Result<Written, Held> {
        let mut work = Work::new(request);
        let mut name = String::new();
        for round in 0..ROUNDS {
            let found = find(self.placer.folder, &self.names, &request.record.reference, request.now)?;
            let (target, files) = open(found)?;
            self.placer.reached(&target, Step::Read)?;
            name.clone_from(&target);
            if let Some((current, others)) = &files {
                work.take_in_files(current, others)?;
            }
            if round == 0 {
                self.take_in_leftovers(&mut work)?;
            }
            if self.settle(&mut work, &target, files)? {
                return self.finish(work, target);
            }
            let began = self.names.changed_ns;
            // Our own temporaries changed the folder since: what counts is how it was before.
            self.names = self.placer.folder.names()?;
            self.names.changed_ns = began;
        }
        Err(Held::Busy { name })
    }

    /// Takes an item's only file out of the folder when it says no more than the record; its name when it is gone.
    ///
    /// # Errors
    /// As [`Batch::export`].
    pub fn remove(&mut self, request: Export<'_>) -> Result<Option<String>, Held> {
        let mut work = Work::new(request);
        let found = find(self.placer.folder, &self.names, &request.record.reference, request.now)?;
        let (name, Some((current, others))) = open(found)? else { return Ok(None) };
        work.take_in_files(&current, &others)?;
        let says_more = !same_meaning(&work.want, request.record, Volatile::Ignored);
        if says_more || !others.is_empty() || !work.says_the_same(&current) {
            return Ok(None);
        }
        if self.retire(&mut work, &current)? {
            self.finish(work, name.clone())?;
            return Ok(Some(name));
        }
        // It changed at that very moment: what it says now goes back into its place.
        self.write(&mut work, &name, None)?;
        self.finish(work, name).map(|_| None)
    }

    /// One round after everything was read; true when the file says what is wanted.
    fn settle(
        &self,
        work: &mut Work<'_>,
        target: &str,
        files: Option<(Box<ReadFile>, Vec<ReadFile>)>,
    ) -> Result<bool, Held> {
        let Some((current, others)) = files else {
            if work.want.is_husk() {
                return Ok(true);
            }
            let known = work.request.adopted.is_some() && is_young(self.names.changed_ns, work.request.now);
            if work.seen || known {
                // Git writes by unlink and create: what was here a moment ago may be on its way back.
                return Err(Held::Later { name: target.to_owned() });
            }
            return self.write(work, target, None);
        };
        if work.want.is_husk() && others.is_empty() {
            return self.retire(work, &current);
        }
        if !work.says_the_same(&current) && !self.write(work, target, Some(&current))? {
            return Ok(false);
        }
        if work.placed.is_none() {
            work.placed = Some((current.stamp.clone(), Replaced::Exchanged));
        }
        let mut settled = true;
        for other in &others {
            settled &= self.retire(work, other)?;
        }
        Ok(settled)
    }

    /// Writes what is wanted; false when the file has to be read again.
    fn write(&self, work: &mut Work<'_>, target: &str, current: Option<&ReadFile>) -> Result<bool, Held> {
        let made = self.placer.write(target, &render(&work.want), current.map(|file| file.access))?;
        match self.placer.place(&made, target, current, work.request.now)? {
            Placed::Moved => Ok(false),
            Placed::Done { stamp, how, out } => {
                work.changed = true;
                work.placed = Some((stamp, how));
                match (out, current) {
                    (Some(out), Some(current)) => self.take_out(work, &made, out, current),
                    (out, _) => {
                        work.covered.extend(out);
                        Ok(true)
                    }
                }
            }
        }
    }

    /// Looks at what came out: nothing new when it is what was read, else joined in, or put back when it is no record.
    fn take_out(&self, work: &mut Work<'_>, made: &Temporary, out: String, was: &ReadFile) -> Result<bool, Held> {
        let name = was.name.clone();
        match self.placer.folder.read(&out, work.request.now)? {
            Read::File(file) if file.bytes == was.bytes => {
                work.covered.push(out);
                Ok(true)
            }
            Read::File(file) if file.record.reference.key() == work.want.reference.key() => {
                let written = work.want.clone();
                if let Err(held) = work.take_in(&name, &file.record, Some(&was.record)) {
                    self.placer.put_back(made, &out, &name)?;
                    return Err(held);
                }
                work.base = Some(written);
                work.covered.push(out);
                Ok(false)
            }
            other => {
                let restored = self.placer.put_back(made, &out, &name)?;
                work.placed = None;
                match other {
                    _ if !restored => Err(Held::Busy { name }),
                    Read::Refused { refusal, young } if young && refusal.may_be_half_written() => {
                        Err(Held::Later { name })
                    }
                    Read::Refused { refusal, .. } => Err(Held::Refused { name, refusal }),
                    Read::Missing | Read::File(_) => {
                        // The name is another item's now; this one goes elsewhere.
                        work.seen = false;
                        Ok(false)
                    }
                }
            }
        }
    }

    /// Takes a file out of the folder whose content is covered; false when it changed meanwhile, and is joined in.
    fn retire(&self, work: &mut Work<'_>, file: &ReadFile) -> Result<bool, Held> {
        let Some(aside) = self.placer.move_aside(&file.name)? else { return Ok(false) };
        let name = file.name.clone();
        match self.placer.folder.read(&aside, work.request.now)? {
            Read::File(moved) if moved.bytes == file.bytes => {
                work.changed = true;
                work.covered.push(aside);
                Ok(true)
            }
            Read::File(moved) if moved.record.reference.key() == work.want.reference.key() => {
                work.take_in(&name, &moved.record, Some(&file.record))?;
                work.covered.push(aside);
                Ok(false)
            }
            other => {
                self.placer.restore(&aside, &name)?;
                match other {
                    Read::Refused { refusal, .. } => Err(Held::Refused { name, refusal }),
                    Read::Missing | Read::File(_) => Err(Held::Busy { name }),
                }
            }
        }
    }

    /// Joins what a crash left of this item. A leftover never wins over the file where the two only differ.
    fn take_in_leftovers(&self, work: &mut Work<'_>) -> Result<(), Held> {
        let item = work.want.reference.clone();
        let slug = item.slug();
        for target in [slug.file_name(), slug.file_name_with(&item.key())] {
            for name in self.names.temporaries_of(&target) {
                let file = match self.placer.folder.read(name, work.request.now)? {
                    Read::File(file) => file,
                    // Made, and nothing written to it yet: there is nothing to lose.
                    Read::Refused { refusal, .. } if matches!(refusal.kind, RefusalKind::Empty | RefusalKind::Nul) => {
                        work.covered.push(name.clone());
                        continue;
                    }
                    Read::Refused { .. } | Read::Missing => continue,
                };
                if file.record.reference.key() != item.key() || work.covered.contains(name) {
                    continue;
                }
                let joined = join_preferring_ours(&work.want, &work.news_in(&file));
                work.keep(name, joined)?;
                work.covered.push(name.clone());
            }
        }
        Ok(())
    }

    fn finish(&mut self, work: Work<'_>, target: String) -> Result<Written, Held> {
        for name in &work.covered {
            self.placer.remove(name)?;
        }
        self.placer.reached(&target, Step::Removed)?;
        if work.changed || !work.covered.is_empty() {
            self.placer.folder.sync()?;
        }
        self.names.follow(work.placed.is_some().then_some(&*target), &work.covered);
        self.placer.reached(&target, Step::Synced)?;
        let there = work.placed.is_some();
        Ok(Written {
            name: there.then_some(target),
            replaced: work.placed.as_ref().filter(|_| work.changed).map(|(_, how)| *how),
            stamp: work.placed.map(|(stamp, _)| stamp),
            record: work.want,
            changed: work.changed,
            beaten: work.beaten,
        })
    }
}

impl<'r> Work<'r> {
    fn new(request: Export<'r>) -> Self {
        let want = request.record.clone();
        Self {
            request,
            want,
            seen: false,
            base: None,
            covered: Vec::new(),
            beaten: Vec::new(),
            changed: false,
            placed: None,
        }
    }

    fn says_the_same(&self, current: &ReadFile) -> bool {
        says_all(&current.record, &self.want)
    }

    fn take_in_files(&mut self, current: &ReadFile, others: &[ReadFile]) -> Result<(), Held> {
        let base = self.base.take();
        self.seen = true;
        self.take_in(&current.name, &self.news_in(current), base.as_ref())?;
        others.iter().try_for_each(|other| self.take_in(&other.name, &other.record, None))
    }

    /// What a file says; a tombstone without a date says nothing any more when the store already took in this file.
    fn news_in(&self, file: &ReadFile) -> Record {
        match self.request.adopted {
            Some(known) if file.is_known(known) => without_undated(&file.record),
            _ => file.record.clone(),
        }
    }

    fn take_in(&mut self, name: &str, theirs: &Record, base: Option<&Record>) -> Result<(), Held> {
        let joined = join(&self.want, theirs, base);
        self.keep(name, joined)
    }

    /// Goes on with what was joined, in the store's own spelling.
    fn keep(&mut self, name: &str, joined: Result<Joined, Conflict>) -> Result<(), Held> {
        match joined {
            Ok(joined) => {
                self.want = Record { reference: self.request.record.reference.clone(), ..joined.record };
                self.beaten.extend(joined.beaten);
                Ok(())
            }
            Err(conflict) => Err(Held::Conflict { name: name.to_owned(), conflict: Box::new(conflict) }),
        }
    }
}
