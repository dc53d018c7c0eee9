//! Export: the portable files follow the store. Marks say which have to; a mark goes only with the version that was
//! written, so a crash anywhere leaves the file whole and the mark set.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;

use super::portable::{Adoption, Incoming, Known, Loaded, Plan, PortableError, dir_of, say_once};
use super::progress::{Progress, Unheard};
use super::pruned::Pruned;
use super::request::{Exported, HeldFile};
use super::{App, earlier};
use crate::domain::decide::Urgency;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::polling;
use crate::domain::portable::files::{Export, Held, Look, Written};
use crate::domain::portable::{FolderId, Report, Section, Stamp};
use crate::domain::ports::PortableFiles;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::time::Time;
use crate::store::{PolledView as _, StoreError, View, WriteTx};

/// Items brought up to date under one lock of the folder and one transaction.
pub const BATCH: usize = 256;

/// Comments of the items that are exported together.
const MANY_COMMENTS: usize = 5_000;

/// What came of an export.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExportRun {
    /// For people.
    pub exported: Exported,
    /// Items whose mark stays because their file is held.
    pub held: Vec<RefKey>,
    /// Whether more marks of the kind asked for wait.
    pub more: bool,
    /// What the files brought into the store.
    pub adoption: Adoption,
}

/// What came of one file, ready to be written down.
enum Outcome {
    /// It says what the store says; what it knew beside that is taken in.
    Written { incoming: Box<Incoming>, plan: Box<Plan>, entry: Option<LogEntry> },
    /// There is nothing to say and no file.
    Nothing { entry: Option<LogEntry> },
    /// Held; people are told unless it passes by itself.
    Held { reason: String, passing: bool },
}

/// What an export would look at.
struct Due {
    items: Vec<WorkItemRef>,
    unchanged: usize,
    /// Stamps that are good without their hash from now on.
    aged: Vec<(RefKey, String, Stamp)>,
}

impl App {
    /// Serves marks that are at least as urgent, a batch at a time, `except` those whose retry is not due.
    ///
    /// # Errors
    /// Nothing is lost: the files are whole and every mark is set that was not served.
    pub fn export_marked(&self, at_least: Urgency, except: &BTreeSet<RefKey>) -> Result<ExportRun, PortableError> {
        self.export_share(at_least, except, BATCH)
    }

    /// As [`App::export_marked`], `most` of them.
    ///
    /// # Errors
    /// As [`App::export_marked`].
    pub fn export_share(
        &self,
        at_least: Urgency,
        except: &BTreeSet<RefKey>,
        most: usize,
    ) -> Result<ExportRun, PortableError> {
        let mut items = Vec::new();
        // No further than the next batch: with all marks read for each, many of them would take for ever.
        self.parts.store.read(|tx| {
            tx.for_each_due(at_least, &mut |key| {
                if !except.contains(&key) {
                    items.extend(WorkItemRef::parse(key.as_str()).ok());
                }
                if items.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        })?;
        let more = items.len() > most;
        items.truncate(most);
        Ok(ExportRun { more, ..self.export(&items)? })
    }

    /// Brings every file up to date, whether it is marked or not, missing and older ones included.
    ///
    /// # Errors
    /// As [`App::export_marked`]; what was done until then is done.
    pub fn export_all(&self) -> Result<ExportRun, PortableError> {
        let (files, now) = (&self.parts.portable, self.now());
        let dir = files.folder()?.map(dir_of);
        let due = self.parts.store.read(|tx| Ok(due(tx, files.as_ref(), dir.as_deref(), now)))??;
        if let Some(dir) = &dir {
            due.aged.into_iter().for_each(|(key, file, stamp)| self.keep(dir, &key, &file, stamp));
        }
        let mut all = ExportRun::default();
        all.exported.unchanged = due.unchanged;
        self.heard.begins(due.items.len());
        for items in due.items.chunks(BATCH) {
            all.add(self.export(items)?);
        }
        Ok(all)
    }

    /// Brings the files of these items up to date.
    ///
    /// # Errors
    /// As [`App::export_marked`].
    pub fn export_items(&self, items: &[WorkItemRef]) -> Result<ExportRun, PortableError> {
        self.export(items)
    }

    /// What [`App::export_all`] would do; writes nothing.
    ///
    /// # Errors
    /// The store or the folder did not answer.
    pub fn export_check(&self) -> Result<Exported, PortableError> {
        let (files, now) = (self.parts.portable.as_ref(), self.now());
        self.parts.store.read(|tx| Ok(Checkup::read(tx, files, now)))??.run(files, &Unheard)
    }

    /// Joins what a crash of an exporter left beside the files, and removes it. Call it at the start.
    ///
    /// # Errors
    /// As [`App::export_marked`].
    pub fn join_leftovers(&self) -> Result<ExportRun, PortableError> {
        let items = self.parts.portable.leftovers(self.now())?;
        let mut all = ExportRun::default();
        for items in items.chunks(BATCH) {
            all.add(self.export(items)?);
        }
        Ok(all)
    }

    fn export(&self, items: &[WorkItemRef]) -> Result<ExportRun, PortableError> {
        let mut all = ExportRun::default();
        let mut left = items;
        while !left.is_empty() {
            let now = self.now();
            let dir = self.parts.portable.folder()?.map(dir_of);
            let loaded = self.parts.store.read(|tx| load(tx, dir.as_deref(), left, now))?;
            left = &left[loaded.len()..];
            all.add(self.export_loaded(loaded, now)?);
        }
        Ok(all)
    }

    fn export_loaded(&self, loaded: Vec<Loaded>, now: Time) -> Result<ExportRun, PortableError> {
        let requests: Vec<Export<'_>> = loaded.iter().map(|loaded| request(loaded, now)).collect();
        let mut done: Vec<Option<Result<Written, Held>>> = requests.iter().map(|_| None).collect();
        let folder = self.parts.portable.export(&requests, &mut |at, outcome| {
            done[at] = Some(outcome);
            self.heard.did(1);
        })?;
        let mut run = ExportRun::default();
        let mut outcomes = Vec::with_capacity(done.len());
        for (loaded, outcome) in loaded.into_iter().zip(done) {
            let Some(outcome) = outcome else { continue };
            run.count(&loaded, &outcome);
            let outcome = self.outcome(&loaded, outcome, folder, now)?;
            outcomes.push((loaded, outcome));
        }
        run.adoption = self.parts.store.write(move |tx| {
            let mut adoption = Adoption::default();
            for (loaded, outcome) in &outcomes {
                adoption.merge(outcome.settle(tx, loaded, now)?);
            }
            Ok(adoption)
        })?;
        Ok(run)
    }

    fn outcome(
        &self,
        loaded: &Loaded,
        outcome: Result<Written, Held>,
        folder: FolderId,
        now: Time,
    ) -> Result<Outcome, PortableError> {
        let written = match outcome {
            Ok(written) => written,
            Err(held) => {
                let passing = matches!(held, Held::Later { .. } | Held::Busy { .. });
                return Ok(Outcome::Held { reason: held.to_string(), passing });
            }
        };
        let entry = written.changed.then(|| entry(loaded, &written));
        let (Some(file), Some(stamp)) = (written.name, written.stamp) else { return Ok(Outcome::Nothing { entry }) };
        let dir = dir_of(folder);
        let settings = self.settings();
        let incoming = Incoming { dir, file, stamp, record: written.record, alone: true, settings, now };
        let plan = Box::new(incoming.plan(loaded)?);
        Ok(Outcome::Written { incoming: Box::new(incoming), plan, entry })
    }
}

impl Outcome {
    /// Writes down what came of one file; the mark goes only when the item is still what was written.
    fn settle(&self, tx: &mut WriteTx<'_>, loaded: &Loaded, now: Time) -> Result<Adoption, StoreError> {
        let (item, key) = (&loaded.item.reference, loaded.key());
        match self {
            Self::Held { passing: true, .. } => Ok(Adoption::default()),
            Self::Held { reason, passing: false } => {
                say_once(tx, item, Some(reason), LogEntry::warn(EventName::ExportHeld), now)?;
                Ok(Adoption::default())
            }
            Self::Nothing { entry } => {
                log(tx, entry.as_ref(), now)?;
                say_once(tx, item, None, LogEntry::warn(EventName::ExportHeld), now)?;
                if tx.item(&key)?.is_none_or(|item| item.version == loaded.item.version) {
                    tx.clear_mark(&key)?;
                }
                Ok(Adoption::default())
            }
            Self::Written { incoming, plan, entry } => {
                log(tx, entry.as_ref(), now)?;
                // An item that changed meanwhile is exported again; what the file knew is taken in by adoption.
                if loaded.has_ledger {
                    earlier::forget_ledger(tx, &key)?;
                }
                let Some(adoption) = incoming.apply(tx, loaded, plan)? else { return Ok(Adoption::default()) };
                if !adoption.marked {
                    tx.clear_mark(&key)?;
                }
                Ok(adoption)
            }
        }
    }
}

fn log(tx: &mut WriteTx<'_>, entry: Option<&LogEntry>, now: Time) -> Result<(), StoreError> {
    entry.map_or(Ok(()), |entry| tx.append_journal(entry, now).map(drop))
}

fn request(loaded: &Loaded, now: Time) -> Export<'_> {
    Export { record: &loaded.record, adopted: loaded.file.as_ref().map(|(_, known)| &known.stamp), now }
}

/// Reads the first of these items, at least one, until their comments are many: an item with ten thousand of them is
/// in memory several times over while it is written.
fn load(tx: &impl View, dir: Option<&str>, items: &[WorkItemRef], now: Time) -> Result<Vec<Loaded>, StoreError> {
    let (mut loaded, mut comments, mut polls) = (Vec::new(), 0, BTreeMap::new());
    for item in items {
        let mut item = Loaded::read(tx, dir, item)?;
        note_polled(tx, &mut item, &mut polls, now)?;
        comments += item.record.seen_comments().map_or(0, BTreeSet::len);
        loaded.push(item);
        if comments >= MANY_COMMENTS {
            break;
        }
    }
    Ok(loaded)
}

/// What is written says until when this machine has polled the item, which the next machine goes on from. That alone is
/// no reason to write. `polls` keeps what was read, by repository.
fn note_polled(
    tx: &impl View,
    loaded: &mut Loaded,
    polls: &mut BTreeMap<String, Option<polling::Progress>>,
    now: Time,
) -> Result<(), StoreError> {
    let Section::Present(poll) = &mut loaded.record.poll else { return Ok(()) };
    let repository = loaded.item.reference.repo().key();
    if !polls.contains_key(&repository) {
        polls.insert(repository.clone(), tx.poll(&repository)?);
    }
    let progress = polls.get(&repository).and_then(Option::as_ref);
    // By our own clock it must not lie ahead, where it would not be believed.
    let polled = progress.and_then(|progress| polling::polled_at(&loaded.item, progress)).map(|at| at.min(now));
    poll.last_polled_at = poll.last_polled_at.max(polled.map(Time::whole_seconds));
    Ok(())
}

/// The file's name, also when it was removed or is yet to be made.
fn name_of(loaded: &Loaded) -> String {
    loaded.file.as_ref().map_or_else(|| loaded.item.reference.slug().file_name(), |(name, _)| name.clone())
}

fn entry(loaded: &Loaded, written: &Written) -> LogEntry {
    let beaten: Vec<String> = written.beaten.iter().cloned().map(|lost| Report::Beaten(lost).to_string()).collect();
    LogEntry::info(EventName::ExportWritten)
        .with("workItem", loaded.item.reference.to_string())
        .with("file", written.name.clone().unwrap_or_else(|| name_of(loaded)))
        .with_some("removed", written.name.is_none().then_some(true))
        .with_some("beaten", (!beaten.is_empty()).then(|| beaten.join("; ")))
}

impl ExportRun {
    fn add(&mut self, other: Self) {
        self.exported.written.extend(other.exported.written);
        self.exported.held.extend(other.exported.held);
        self.exported.unchanged += other.exported.unchanged;
        self.held.extend(other.held);
        self.adoption.merge(other.adoption);
    }

    fn count(&mut self, loaded: &Loaded, outcome: &Result<Written, Held>) {
        match outcome {
            Ok(written) if written.changed => {
                self.exported.written.push(written.name.clone().unwrap_or_else(|| name_of(loaded)));
            }
            Ok(_) => self.exported.unchanged += 1,
            Err(held) => {
                self.exported.held.push(held_file(loaded, held));
                self.held.push(loaded.key());
            }
        }
    }
}

pub(super) fn held_file(loaded: &Loaded, held: &Held) -> HeldFile {
    HeldFile { work_item: loaded.item.reference.to_string(), reason: held.to_string() }
}

/// What is known of an item's file, beside its name.
type File = (RefKey, String, Known);

/// The items whose file may not be up to date: marked, not known to be settled, or looking otherwise than known. Items
/// with nothing portable are left out.
fn due(tx: &impl View, files: &dyn PortableFiles, dir: Option<&str>, now: Time) -> Result<Due, PortableError> {
    let marks: HashSet<RefKey> = tx.marks()?.into_iter().map(|(key, _)| key).collect();
    let stamps = dir.map(|dir| tx.stamps(dir)).transpose()?.unwrap_or_default();
    let known = stamps.into_iter().filter_map(|(key, stamp)| Some((key, stamp.file, Known::parse(&stamp.stamp)?)));
    // In the order of keys, as the items are.
    let settled: Vec<File> =
        known.filter(|(key, _, known)| known.settled && !known.open && !marks.contains(key)).collect();
    let asked: Vec<(&str, Option<&Stamp>)> =
        settled.iter().map(|(_, file, known)| (file.as_str(), Some(&known.stamp))).collect();
    let mut due = Due { items: Vec::new(), unchanged: 0, aged: Vec::new() };
    let mut right = vec![false; settled.len()];
    files.look_each(&asked, now, &mut |at, look| {
        let (Some((key, file, _)), Some(right)) = (settled.get(at), right.get_mut(at)) else { return };
        *right = matches!(look, Look::Unchanged | Look::Aged(_));
        if let Look::Aged(stamp) = look {
            due.aged.push((key.clone(), file.clone(), stamp));
        }
    })?;
    let pruned = Pruned::new(files);
    let mut right = settled.iter().zip(right).filter_map(|((key, ..), right)| right.then_some(key)).peekable();
    for key in tx.item_keys()? {
        while right.next_if(|known| **known < key).is_some() {}
        if right.next_if(|known| **known == key).is_some() {
            due.unchanged += 1;
            continue;
        }
        let reference = WorkItemRef::parse(key.as_str()).map_err(|error| StoreError::Bug(error.to_string()))?;
        let loaded = Loaded::read(tx, dir, &reference)?;
        if pruned.covers(tx, &loaded)? {
            due.unchanged += 1;
        } else if !loaded.record.is_husk() {
            due.items.push(loaded.item.reference);
        }
    }
    Ok(due)
}

/// What a check needs of the store, copied out of one read transaction: nothing is read from files' contents meanwhile.
pub struct Checkup {
    loaded: Vec<Loaded>,
    unchanged: usize,
    now: Time,
}

impl Checkup {
    /// Reads the items whose file may not be up to date; also from beside the store's owner.
    ///
    /// # Errors
    /// The store or the folder did not answer.
    pub fn read(tx: &impl View, files: &dyn PortableFiles, now: Time) -> Result<Self, PortableError> {
        let dir = files.folder()?.map(dir_of);
        let due = due(tx, files, dir.as_deref(), now)?;
        let loaded = due.items.iter().map(|item| Loaded::read(tx, dir.as_deref(), item));
        Ok(Self { loaded: loaded.collect::<Result<_, _>>()?, unchanged: due.unchanged, now })
    }

    /// Compares with the files; writes nothing. Volatile fields make no difference.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn run(&self, files: &dyn PortableFiles, heard: &dyn Progress) -> Result<Exported, PortableError> {
        heard.begins(self.loaded.len());
        let requests: Vec<Export<'_>> = self.loaded.iter().map(|loaded| request(loaded, self.now)).collect();
        let mut exported = Exported { unchanged: self.unchanged, ..Exported::default() };
        files.check(&requests, &mut |at, outcome| {
            let Some(loaded) = self.loaded.get(at) else { return };
            heard.did(1);
            match outcome {
                Ok(true) => exported.written.push(name_of(loaded)),
                Ok(false) => exported.unchanged += 1,
                Err(held) => exported.held.push(held_file(loaded, &held)),
            }
        })?;
        Ok(exported)
    }
}
