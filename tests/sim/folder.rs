//! A portable folder in memory that outlives the app: one file per item, a power cut between any two steps of an
//! export, and git, which another machine uses to change files as it likes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use the_loop::domain::portable::date::without_undated;
use the_loop::domain::portable::files::{Export, FileError, Held, Located, Look, News, Replaced, Written};
use the_loop::domain::portable::{FolderId, Record, Stamp, Volatile, join, parse, render, same_meaning};
use the_loop::domain::ports::PortableFiles;
use the_loop::domain::reference::WorkItemRef;
use the_loop::domain::time::Time;

use crate::rng::Rng;

/// One file: its text and how often files were written until then, which is its stamp.
#[derive(Debug, Clone)]
struct File {
    text: String,
    written: u64,
}

pub struct State {
    files: BTreeMap<String, File>,
    writes: u64,
    /// What the app itself wrote, by file: what an older commit can bring back.
    history: BTreeMap<String, BTreeSet<String>>,
    /// Chance that the power goes between two steps, percent.
    pub power_cut: u64,
    pub rng: Rng,
    pub cut_power: Option<Box<dyn Fn() + Send>>,
}

/// The folder; clones share it, as daemons and git share a real one.
#[derive(Clone)]
pub struct Folder(pub Arc<Mutex<State>>);

impl Folder {
    pub fn new(seed: u64, power_cut: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            files: BTreeMap::new(),
            writes: 0,
            history: BTreeMap::new(),
            power_cut,
            rng: Rng::new(seed ^ 0xF01D),
            cut_power: None,
        })))
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Every file as it is.
    pub fn texts(&self) -> BTreeMap<String, String> {
        self.state().files.iter().map(|(name, file)| (name.clone(), file.text.clone())).collect()
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.state().files.get(name).map(|file| file.text.clone())
    }

    pub fn record(&self, item: &WorkItemRef) -> Option<Record> {
        parse(self.text(&item.slug().file_name())?.as_bytes()).ok()
    }

    /// Git writes a file.
    pub fn put(&self, name: &str, text: &str) {
        self.state().write(name, text);
    }

    /// Git removes a file.
    pub fn remove(&self, name: &str) {
        self.state().files.remove(name);
    }

    /// What the app wrote under a name in earlier times.
    pub fn earlier(&self, name: &str) -> Vec<String> {
        self.state().history.get(name).into_iter().flatten().cloned().collect()
    }
}

impl State {
    fn write(&mut self, name: &str, text: &str) {
        self.writes += 1;
        self.files.insert(name.to_owned(), File { text: text.to_owned(), written: self.writes });
    }

    fn step(&mut self, name: &str) -> Result<(), Held> {
        let percent = self.power_cut;
        if percent > 0
            && self.rng.chance(percent)
            && let Some(cut) = &self.cut_power
        {
            cut();
            let source = io::Error::other("the power went");
            return Err(FileError { path: PathBuf::from(name), doing: "go on", source }.into());
        }
        Ok(())
    }

    fn export(&mut self, request: &Export<'_>) -> Result<Written, Held> {
        let name = request.record.reference.slug().file_name();
        self.step(&name)?;
        let file = self.files.get(&name).cloned();
        let (record, same) = self.joined(&name, file.as_ref(), request)?;
        let changed = !same;
        let mut stamp = file.as_ref().map(stamp);
        if changed {
            let text = render(&record);
            self.write(&name, &text);
            self.history.entry(name.clone()).or_default().insert(text);
            stamp = self.files.get(&name).map(self::stamp);
            self.step(&name)?;
        }
        let there = stamp.is_some();
        let replaced = changed.then_some(Replaced::Exchanged);
        Ok(Written { name: there.then_some(name), stamp, record, changed, beaten: Vec::new(), replaced })
    }

    /// What the file has to say, and whether it says it.
    fn joined(&self, name: &str, file: Option<&File>, request: &Export<'_>) -> Result<(Record, bool), Held> {
        let Some(file) = file else { return Ok((request.record.clone(), request.record.is_husk())) };
        let theirs = parse(file.text.as_bytes()).map_err(|refusal| Held::Refused { name: name.to_owned(), refusal })?;
        let known = request.adopted.is_some_and(|known| *known == stamp(file));
        let news = if known { without_undated(&theirs) } else { theirs.clone() };
        let joined = join(request.record, &news, None)
            .map_err(|conflict| Held::Conflict { name: name.to_owned(), conflict: Box::new(conflict) })?;
        let record = Record { reference: request.record.reference.clone(), ..joined.record };
        let same = same_meaning(&record, &theirs, Volatile::Ignored);
        Ok((record, same))
    }
}

fn stamp(file: &File) -> Stamp {
    let written = i64::try_from(file.written).unwrap();
    let size = file.text.len() as u64;
    Stamp { device: 1, inode: file.written, size, modified_ns: written, changed_ns: written, hash: None }
}

fn news(name: &str, file: &File, record: Record) -> News {
    News { name: name.to_owned(), record, stamp: stamp(file) }
}

impl PortableFiles for Folder {
    fn folder(&self) -> Result<Option<FolderId>, FileError> {
        Ok(Some(FolderId { device: 1, inode: 1 }))
    }

    fn names(&self) -> Result<Vec<String>, FileError> {
        Ok(self.state().files.keys().cloned().collect())
    }

    fn leftovers(&self, _: Time) -> Result<Vec<WorkItemRef>, FileError> {
        Ok(Vec::new())
    }

    fn look(&self, name: &str, known: Option<&Stamp>, _: Time) -> Result<Look, FileError> {
        let state = self.state();
        let Some(file) = state.files.get(name) else { return Ok(Look::Missing) };
        if known == Some(&stamp(file)) {
            return Ok(Look::Unchanged);
        }
        Ok(match parse(file.text.as_bytes()) {
            Ok(record) => Look::News(Box::new(news(name, file, record))),
            Err(refusal) => Look::Refused(refusal),
        })
    }

    fn locate(&self, item: &WorkItemRef, _: Time) -> Result<Located, FileError> {
        let name = item.slug().file_name();
        let state = self.state();
        let Some(file) = state.files.get(&name) else { return Ok(Located::Missing) };
        Ok(match parse(file.text.as_bytes()) {
            Ok(record) => Located::Files(vec![news(&name, file, record)]),
            Err(refusal) => Located::Refused { name, refusal },
        })
    }

    fn export(
        &self,
        items: &[Export<'_>],
        done: &mut dyn FnMut(usize, Result<Written, Held>),
    ) -> Result<FolderId, FileError> {
        let mut state = self.state();
        items.iter().enumerate().for_each(|(at, item)| done(at, state.export(item)));
        Ok(FolderId { device: 1, inode: 1 })
    }

    fn check(&self, items: &[Export<'_>], told: &mut dyn FnMut(usize, Result<bool, Held>)) -> Result<(), FileError> {
        let state = self.state();
        for (at, item) in items.iter().enumerate() {
            let name = item.record.reference.slug().file_name();
            let joined = state.joined(&name, state.files.get(&name), item);
            told(at, joined.map(|(_, same)| !same));
        }
        Ok(())
    }
}
