//! Adoption: what other machines wrote into the portable files takes effect before a decision reads a section.
//!
//! This runs before every decision, so it costs a stat when nothing changed: no file is read whose stamp is the stored
//! one, and the folder is listed only when a file is news. A missing file, or a merely older one, is no fact.

use std::sync::{Arc, PoisonError};

use super::portable::{Adoption, Incoming, Known, Loaded, PortableError, dir_of, said, say_once};
use super::{App, view};
use crate::domain::decide;
use crate::domain::event::{Content, Event};
use crate::domain::log::{EventName, LogEntry};
use crate::domain::policy::Policy;
use crate::domain::portable::files::{Located, Look, News};
use crate::domain::portable::join::join_preferring_ours;
use crate::domain::portable::{Record, Stamp};
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::time::Time;
use crate::store::{Job, ReadTx, StoreError, View, WriteTx};

/// How often a file is judged anew because its item changed meanwhile; then it is judged inside the transaction.
const ROUNDS: usize = 3;

/// An item whose file is compared with what the store knows of it.
struct Watched {
    item: WorkItemRef,
    file: Option<(String, Known)>,
}

/// The names under which an item's file was looked for, with what was found.
type Looks = Vec<(String, Look)>;

/// The folder's name among the stamps, and what was found for each of what is watched there.
type Looked = (String, Vec<Watched>, Vec<Looks>);

/// What a look at an item's file asks for.
enum Step {
    /// Nothing.
    Nothing,
    /// The stamp can be kept without its hash.
    Keep(String, Stamp),
    /// These files are to be joined in.
    Join(Vec<News>),
    /// It is no record: it changes nothing, and people are told.
    Refused(String),
}

impl App {
    /// Takes in what other machines changed about the items `event` can touch. Call it before the decision.
    ///
    /// # Errors
    /// The store or the folder did not answer; what was taken in until then is.
    pub fn adopt_for(&self, event: &Event) -> Result<Adoption, PortableError> {
        if matches!(event.content, Content::Ignored(_)) {
            return Ok(Adoption::default());
        }
        // Only what speaks comes in bursts.
        let speaks_about = matches!(event.content, Content::Speech(_)).then(|| decide::subject(event)).flatten();
        let (about, now) = (speaks_about.map(|subject| subject.reference.key()), self.now());
        if about.as_ref().is_some_and(|item| self.glances.is_fresh(item, now)) {
            return Ok(Adoption::default());
        }
        let settings = self.settings();
        let touched = |tx: &ReadTx<'_>| touched_by(tx, event, &settings.policy);
        let watched = |tx: &ReadTx<'_>, dir: &str| watch(tx, dir, touched(tx)?);
        let mut adoption = self.adopt_watched(watched, false)?;
        if self.has_earlier()? {
            adoption.merge(self.adopt_earlier(&self.parts.store.read(touched)?)?);
        }
        if let Some(item) = about.filter(|_| adoption.changed.is_empty()) {
            self.glances.note(item, now);
        }
        Ok(adoption)
    }

    /// Takes in what other machines changed about `items`, wherever in the folder it stands. Call it before a command.
    ///
    /// # Errors
    /// As [`App::adopt_for`].
    pub fn adopt_items(&self, items: &[WorkItemRef]) -> Result<Adoption, PortableError> {
        let mut adoption = self.adopt_watched(|tx, dir| watch(tx, dir, items.to_vec()), true)?;
        adoption.merge(self.adopt_earlier(items)?);
        Ok(adoption)
    }

    /// Takes in every file of the folder that changed: at the start, and with each cycle.
    ///
    /// # Errors
    /// As [`App::adopt_for`].
    pub fn adopt_folder(&self) -> Result<Adoption, PortableError> {
        let files = &self.parts.portable;
        let Some(folder) = files.folder()? else { return Ok(Adoption::default()) };
        let (dir, now) = (dir_of(folder), self.now());
        let known = self.parts.store.read(|tx| tx.stamps(&dir))?;
        let known: std::collections::HashMap<String, Known> =
            known.into_iter().filter_map(|(_, stamp)| Some((stamp.file, Known::parse(&stamp.stamp)?))).collect();
        let names = files.names()?;
        let looks: Vec<(&str, Option<&Stamp>)> =
            names.iter().map(|name| (name.as_str(), known.get(name).and_then(Known::closed))).collect();
        let mut items: Vec<WorkItemRef> = Vec::new();
        files.look_each(&looks, now, &mut |_, look| {
            if let Look::News(news) = look {
                items.push(news.record.reference);
            }
        })?;
        self.adopt_watched(|tx, dir| watch(tx, dir, items.clone()), true)
    }

    fn adopt_watched(
        &self,
        watched: impl Fn(&ReadTx<'_>, &str) -> Result<Vec<Watched>, StoreError>,
        thorough: bool,
    ) -> Result<Adoption, PortableError> {
        let Some((dir, watched, looks)) = self.look(watched)? else { return Ok(Adoption::default()) };
        let mut adoption = Adoption::default();
        for (watched, looks) in watched.iter().zip(looks) {
            match self.step(watched, looks, thorough)? {
                Step::Nothing => {}
                Step::Keep(file, stamp) => self.keep(&dir, &watched.item.key(), &file, stamp),
                Step::Join(news) => adoption.merge(self.join(&dir, &watched.item, news)?),
                Step::Refused(reason) => self.refused(&watched.item, reason)?,
            }
        }
        Ok(adoption)
    }

    /// Looks at the files of what is watched. The folder is opened once: its name among the stamps is the one it had the
    /// last time, and everything is done again when it is another folder by now.
    fn look(
        &self,
        watched: impl Fn(&ReadTx<'_>, &str) -> Result<Vec<Watched>, StoreError>,
    ) -> Result<Option<Looked>, PortableError> {
        let (files, now) = (&self.parts.portable, self.now());
        let met = || self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        let mut folder = *met();
        loop {
            let Some(id) = folder.map_or_else(|| files.folder(), |id| Ok(Some(id)))? else { return Ok(None) };
            let dir = dir_of(id);
            let watched = self.parts.store.read(|tx| watched(tx, &dir))?;
            let names: Vec<(usize, String, Option<&Known>)> =
                watched.iter().enumerate().flat_map(|(at, watched)| watched.names(at)).collect();
            let asked: Vec<(&str, Option<&Stamp>)> =
                names.iter().map(|(_, name, known)| (name.as_str(), known.and_then(Known::closed))).collect();
            let mut looks: Vec<Looks> = watched.iter().map(|_| Vec::new()).collect();
            let found = files.look_each(&asked, now, &mut |at, look| {
                if let Some((of, name, _)) = names.get(at) {
                    looks[*of].push((name.clone(), look));
                }
            })?;
            *met() = found;
            if found == Some(id) || found.is_none() {
                return Ok(found.map(|_| (dir, watched, looks)));
            }
            folder = found;
        }
    }

    /// What follows from the looks at an item's files, in the order they are preferred.
    fn step(&self, watched: &Watched, looks: Looks, thorough: bool) -> Result<Step, PortableError> {
        for (name, look) in looks {
            let known = watched.file.as_ref().is_some_and(|(known, _)| *known == name);
            match look {
                Look::Missing => {}
                Look::Unchanged | Look::Later => return Ok(Step::Nothing),
                Look::Aged(stamp) => return Ok(Step::Keep(name, stamp)),
                Look::News(news) if known && news.record.reference.key() == watched.item.key() => {
                    return Ok(Step::Join(vec![*news]));
                }
                Look::Refused(refusal) if self.was_told(&watched.item, &format!("{name}: {refusal}"))? => {
                    return Ok(Step::Nothing);
                }
                Look::News(_) | Look::Refused(_) => return self.locate(&watched.item, self.now()),
            }
        }
        // A file that was there under a name of its own may have come back under the usual one.
        let moved = watched.file.as_ref().is_some_and(|(name, _)| *name != watched.item.slug().file_name());
        if thorough || moved { self.locate(&watched.item, self.now()) } else { Ok(Step::Nothing) }
    }

    fn locate(&self, item: &WorkItemRef, now: Time) -> Result<Step, PortableError> {
        Ok(match self.parts.portable.locate(item, now)? {
            Located::Files(news) => Step::Join(news),
            Located::Missing | Located::Later { .. } => Step::Nothing,
            Located::Refused { name, refusal } => Step::Refused(format!("{name}: {refusal}")),
        })
    }

    /// Joins an item's files into the store: judged outside the transaction, the item's version checked inside it.
    fn join(&self, dir: &str, item: &WorkItemRef, news: Vec<News>) -> Result<Adoption, PortableError> {
        let Some(incoming) = self.incoming(dir, news) else { return Ok(Adoption::default()) };
        for round in 1..=ROUNDS {
            let loaded = self.parts.store.read(|tx| Loaded::read(tx, Some(dir), item))?;
            let plan = incoming.plan(&loaded)?;
            if plan.idle {
                return Ok(Adoption::default());
            }
            let incoming = Arc::clone(&incoming);
            let write = move |tx: &mut WriteTx<'_>| match incoming.apply(tx, &loaded, &plan)? {
                None if round == ROUNDS => {
                    let loaded = Loaded::read(tx, Some(&incoming.dir), &loaded.item.reference)?;
                    let plan = incoming.plan(&loaded).map_err(|conflict| StoreError::Bug(conflict.to_string()))?;
                    incoming.apply(tx, &loaded, &plan)
                }
                applied => Ok(applied),
            };
            if let Some(adoption) = self.parts.store.write(write)? {
                return Ok(adoption);
            }
        }
        Ok(Adoption::default())
    }

    /// One record of an item's files; the first is the one that is written.
    fn incoming(&self, dir: &str, news: Vec<News>) -> Option<Arc<Incoming>> {
        let mut news = news.into_iter();
        let News { name, record, stamp } = news.next()?;
        let join = |ours: Record, theirs: News| match join_preferring_ours(&ours, &theirs.record) {
            Ok(joined) => joined.record,
            Err(_) => ours,
        };
        let alone = news.len() == 0;
        let record = news.fold(record, join);
        let (settings, now) = (self.settings(), self.now());
        Some(Arc::new(Incoming { dir: dir.to_owned(), file: name, stamp, record, alone, settings, now }))
    }

    /// The same file, known without its hash from now on. Nobody waits for it: when it is lost, it is taken again.
    pub(super) fn keep(&self, dir: &str, key: &RefKey, file: &str, aged: Stamp) {
        let (dir, key, file) = (dir.to_owned(), key.clone(), file.to_owned());
        let run = move |tx: &mut WriteTx<'_>| {
            let Some(stored) = tx.stamp(&dir, &key)?.filter(|stored| stored.file == file) else { return Ok(()) };
            match Known::parse(&stored.stamp) {
                Some(known) if known.stamp.looks_like(&aged) => {
                    tx.put_stamp(&dir, &key, &file, &Known { stamp: aged.clone(), ..known }.text())
                }
                _ => Ok(()),
            }
        };
        self.parts.store.submit(Job { run: Box::new(run), done: Box::new(drop) });
    }

    fn was_told(&self, item: &WorkItemRef, reason: &str) -> Result<bool, StoreError> {
        Ok(self.parts.store.read(|tx| said(tx, &item.key()))?.as_deref() == Some(reason))
    }

    fn refused(&self, item: &WorkItemRef, reason: String) -> Result<(), StoreError> {
        let (item, now) = (item.clone(), self.now());
        if self.was_told(&item, &reason)? {
            return Ok(());
        }
        self.parts.store.write(move |tx| say_once(tx, &item, Some(&reason), LogEntry::warn(EventName::ExportHeld), now))
    }
}

impl Watched {
    fn read(tx: &impl View, dir: &str, item: WorkItemRef) -> Result<Self, StoreError> {
        let stamp = tx.stamp(dir, &item.key())?;
        let file = stamp.and_then(|stamp| Some((stamp.file, Known::parse(&stamp.stamp)?)));
        Ok(Self { item, file })
    }

    /// The names its file may have: the one it had, else the two it would get.
    fn names(&self, at: usize) -> Vec<(usize, String, Option<&Known>)> {
        match &self.file {
            Some((name, known)) => vec![(at, name.clone(), Some(known))],
            None => {
                let slug = self.item.slug();
                vec![(at, slug.file_name(), None), (at, slug.file_name_with(&self.item.key()), None)]
            }
        }
    }
}

fn watch(tx: &impl View, dir: &str, items: Vec<WorkItemRef>) -> Result<Vec<Watched>, StoreError> {
    items.into_iter().map(|item| Watched::read(tx, dir, item)).collect()
}

/// The items an event can touch, and the owners of the pull requests among them. They are fetched here, where only one
/// sender waits, and not in the decision, behind which all others wait.
fn touched_by(tx: &impl View, event: &Event, policy: &Policy) -> Result<Vec<WorkItemRef>, StoreError> {
    let mut items: Vec<WorkItemRef> = Vec::new();
    for reference in view::touched(tx, event, policy, &decide::Told::default())? {
        tx.fetch(&reference.key())?;
        for owner in tx.owners(&reference.key())? {
            // An owner goes by the spelling of its row, or, without one, by its key.
            let spelled = tx.item(&owner)?.map(|item| item.reference);
            items.extend(spelled.or_else(|| WorkItemRef::parse(owner.as_str()).ok()));
        }
        items.push(reference);
    }
    let mut seen = std::collections::HashSet::new();
    items.retain(|item| seen.insert(item.key()));
    Ok(items)
}
