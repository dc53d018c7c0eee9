//! Portable files taken out of the folder on purpose: which, and that this store does not write them again by itself.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::App;
use super::export::{ExportRun, held_file};
use super::portable::{Loaded, PortableError, dir_of};
use crate::domain::log::{EventName, LogEntry};
use crate::domain::portable::files::{Export, FileError};
use crate::domain::ports::PortableFiles;
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::session::SessionState;
use crate::domain::time::Time;
use crate::store::{StoreError, View};

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Looks up what was pruned. The folder is listed only when something was.
pub(super) struct Pruned<'a> {
    files: &'a dyn PortableFiles,
    names: OnceCell<HashSet<String>>,
}

impl<'a> Pruned<'a> {
    pub fn new(files: &'a dyn PortableFiles) -> Self {
        Self { files, names: OnceCell::new() }
    }

    /// Whether the item's file was taken out since its present ending, and none has come back.
    pub fn covers(&self, tx: &impl View, loaded: &Loaded) -> Result<bool, PortableError> {
        let sections = &loaded.item.sections;
        let Some(ended) = sections.ended.as_ref().filter(|_| sections.control.is_none()) else { return Ok(false) };
        if tx.meta(&meta_name(&loaded.key()))?.is_none_or(|pruned| pruned != ended.at.to_string()) {
            return Ok(false);
        }
        let slug = loaded.item.reference.slug();
        let own = [slug.file_name(), slug.file_name_with(&loaded.key())];
        let names = self.names()?;
        Ok(!own.iter().any(|own| names.contains(&own.to_ascii_lowercase())))
    }

    fn names(&self) -> Result<&HashSet<String>, FileError> {
        if self.names.get().is_none() {
            let names = self.files.names()?.into_iter().map(|name| name.to_ascii_lowercase()).collect();
            // Nobody else can have set it meanwhile.
            let _ = self.names.set(names);
        }
        Ok(self.names.get_or_init(HashSet::new))
    }
}

/// Holds the time of the ending whose file was taken out.
fn meta_name(key: &RefKey) -> String {
    format!("portable.pruned:{key}")
}

impl App {
    /// Takes the files of items out of the folder that ended at least `days` ago, are not armed and have nothing under
    /// way. Only a file that says what the store says is taken out. An item's next change writes its file again.
    ///
    /// # Errors
    /// The store or the folder did not answer; what was taken out until then is.
    pub fn prune_files(&self, days: u32) -> Result<ExportRun, PortableError> {
        let (files, now) = (self.parts.portable.as_ref(), self.now());
        let Some(dir) = files.folder()?.map(dir_of) else { return Ok(ExportRun::default()) };
        let before = now.plus_seconds(-DAY_SECONDS * i64::from(days));
        let over = self.parts.store.read(|tx| over(tx, &dir, before))?;
        let requests: Vec<Export<'_>> = over.iter().map(|loaded| request(loaded, now)).collect();
        let (mut run, mut gone) = (ExportRun::default(), Vec::new());
        files.remove(&requests, &mut |at, outcome| {
            let Some(loaded) = over.get(at) else { return };
            match outcome {
                Ok(Some(name)) => {
                    run.exported.removed.push(name.clone());
                    gone.push((loaded.item.reference.clone(), loaded.item.sections.ended.clone(), name));
                }
                Ok(None) => run.exported.unchanged += 1,
                Err(held) => run.exported.held.push(held_file(loaded, &held)),
            }
        })?;
        self.parts.store.write(move |tx| {
            for (item, ended, name) in &gone {
                let at = ended.as_ref().map(|ended| ended.at.to_string()).unwrap_or_default();
                tx.put_meta(&meta_name(&item.key()), &at)?;
                let entry = LogEntry::info(EventName::ExportWritten).with("workItem", item.to_string());
                tx.append_journal(&entry.with("file", name.as_str()).with("removed", true), now)?;
            }
            Ok(())
        })?;
        Ok(run)
    }
}

fn request(loaded: &Loaded, now: Time) -> Export<'_> {
    Export { record: &loaded.record, adopted: loaded.file.as_ref().map(|(_, known)| &known.stamp), now }
}

/// Items that ended before a time and rest, with a file that agrees with the store.
fn over(tx: &impl View, dir: &str, before: Time) -> Result<Vec<Loaded>, StoreError> {
    let mut found = Vec::new();
    for key in tx.item_keys()? {
        let reference = WorkItemRef::parse(key.as_str()).map_err(|error| StoreError::Bug(error.to_string()))?;
        let loaded = Loaded::read(tx, Some(dir), &reference)?;
        let sections = &loaded.item.sections;
        let ended = sections.ended.as_ref().is_some_and(|ended| ended.at <= before) && sections.control.is_none();
        let rests = loaded.item.session.as_ref().is_none_or(|s| matches!(s.state, SessionState::Closed { .. }));
        let agrees = loaded.file.as_ref().is_some_and(|(_, known)| known.agrees());
        if ended && rests && agrees && tx.mark(&key)?.is_none() && tx.lane_count(&key)? == 0 {
            found.push(loaded);
        }
    }
    Ok(found)
}
