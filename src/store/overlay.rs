//! A file that is only looked at: reads come from it, writes stay in memory.
//!
//! A store whose writer was killed needs a repair before anything in it can be read, and a repair writes. Before we
//! know whose file it is, of which version and whether a repair can succeed, the repair happens here, so that a file we
//! end up refusing is byte for byte what it was. Locks are those of the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

const PAGE: u64 = 4096;

/// A file below, changed pages above.
#[derive(Debug)]
pub(super) struct OverlayBackend {
    file: FileBackend,
    above: Mutex<Above>,
}

#[derive(Debug)]
struct Above {
    pages: BTreeMap<u64, Vec<u8>>,
    len: u64,
    /// How much of the file still shows: it shrinks with the length and never grows back.
    shown: u64,
}

impl OverlayBackend {
    /// An overlay over a file opened for reading and writing (locks need both).
    pub fn new(file: File) -> Result<Self, DatabaseError> {
        let file = FileBackend::new(file)?;
        let len = file.len()?;
        Ok(Self { file, above: Mutex::new(Above { pages: BTreeMap::new(), len, shown: len }) })
    }

    fn above(&self) -> MutexGuard<'_, Above> {
        self.above.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One page as it is now, zeros where nothing is.
    fn page(&self, above: &Above, page: u64) -> io::Result<Vec<u8>> {
        if let Some(changed) = above.pages.get(&page) {
            return Ok(changed.clone());
        }
        let mut bytes = vec![0; PAGE as usize];
        let start = page * PAGE;
        let there = above.shown.saturating_sub(start).min(PAGE) as usize;
        if there > 0 {
            self.file.read(start, &mut bytes[..there])?;
        }
        Ok(bytes)
    }

    /// Calls `part` for every page that `len` bytes from `offset` touch: page, place in the page, place in the bytes.
    fn parts(
        offset: u64,
        len: usize,
        mut part: impl FnMut(u64, usize, std::ops::Range<usize>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut done = 0;
        while done < len {
            let at = offset + done as u64;
            let inside = (at % PAGE) as usize;
            let take = (PAGE as usize - inside).min(len - done);
            part(at / PAGE, inside, done..done + take)?;
            done += take;
        }
        Ok(())
    }
}

impl StorageBackend for OverlayBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.above().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let above = self.above();
        if offset + out.len() as u64 > above.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Self::parts(offset, out.len(), |page, inside, range| {
            let bytes = self.page(&above, page)?;
            let len = range.len();
            out[range].copy_from_slice(&bytes[inside..inside + len]);
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut above = self.above();
        above.len = len;
        above.shown = above.shown.min(len);
        above.pages.split_off(&len.div_ceil(PAGE));
        if let Some(last) = above.pages.get_mut(&(len / PAGE)) {
            last[(len % PAGE) as usize..].fill(0);
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut above = self.above();
        Self::parts(offset, data.len(), |page, inside, range| {
            let mut bytes = self.page(&above, page)?;
            bytes[inside..inside + range.len()].copy_from_slice(&data[range]);
            above.pages.insert(page, bytes);
            Ok(())
        })
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Write(u64, Vec<u8>),
        SetLen(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..20_000u64, prop::collection::vec(any::<u8>(), 1..6000)).prop_map(|(at, data)| Step::Write(at, data)),
            (0..24_000u64).prop_map(Step::SetLen),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn reads_what_was_written_and_leaves_the_file(steps in prop::collection::vec(step(), 1..12)) {
            let before: Vec<u8> = (0..10_000u32).map(|n| (n % 251) as u8).collect();
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &before).unwrap();
            let overlay = OverlayBackend::new(file.reopen().unwrap()).unwrap();
            let mut model = before.clone();
            for step in steps {
                match step {
                    Step::Write(at, data) => {
                        let end = at as usize + data.len();
                        if end > model.len() {
                            overlay.set_len(end as u64).unwrap();
                            model.resize(end, 0);
                        }
                        overlay.write(at, &data).unwrap();
                        model[at as usize..end].copy_from_slice(&data);
                    }
                    Step::SetLen(len) => {
                        overlay.set_len(len).unwrap();
                        model.resize(len as usize, 0);
                    }
                }
                let mut out = vec![0; model.len()];
                overlay.read(0, &mut out).unwrap();
                prop_assert!(out == model);
            }
            prop_assert!(std::fs::read(file.path()).unwrap() == before);
        }
    }
}
