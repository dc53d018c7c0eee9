//! What export and adoption share: an item beside its portable file, and what a file brings, written in one transaction.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Settings, earlier};
use crate::domain::decide::Urgency;
use crate::domain::item::Item;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::portable::files::FileError;
use crate::domain::portable::{Conflict, FolderId, Hold, Intake, Record, Section, Stamp, take_in};
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::time::Time;
use crate::store::{StoreError, View, WriteTx};

/// Why export or adoption could not do its work; the portable files are whole and the marks stay.
#[derive(Debug, thiserror::Error)]
pub enum PortableError {
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder cannot be read, made or locked.
    #[error(transparent)]
    Files(#[from] FileError),
}

/// What has something to do after files were taken in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Adoption {
    /// Items that changed.
    pub changed: Vec<RefKey>,
    /// Lanes that were held and go on.
    pub lanes: Vec<RefKey>,
    /// Whether a portable file has to follow.
    pub marked: bool,
}

impl Adoption {
    /// Both together.
    pub fn merge(&mut self, other: Self) {
        self.changed.extend(other.changed);
        self.lanes.extend(other.lanes);
        self.marked |= other.marked;
    }
}

/// What the store keeps of a portable file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Known {
    /// How it looked when it was last taken in or written.
    pub stamp: Stamp,
    /// Whether it said what the store said; without a mark it then still does.
    pub settled: bool,
    /// Something in it did not act and may act later: it is read again although it looks the same.
    pub open: bool,
}

impl Known {
    /// The stored text of it; an unreadable one knows nothing.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The stamp by which the file can be passed over.
    pub fn closed(&self) -> Option<&Stamp> {
        (!self.open).then_some(&self.stamp)
    }

    /// Whether the file is known to say what the store says.
    pub const fn agrees(&self) -> bool {
        self.settled && !self.open
    }

    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The name of a folder among the stamps.
pub(super) fn dir_of(folder: FolderId) -> String {
    format!("{:x}-{:x}", folder.device, folder.inode)
}

/// One item as the store holds it, beside what is known of its file.
#[derive(Debug, Clone)]
pub(super) struct Loaded {
    pub item: Item,
    pub record: Record,
    /// The file it was last taken from or written to.
    pub file: Option<(String, Known)>,
    /// What people were last told about the file.
    pub said: Option<String>,
    /// Whether the record holds what an old `poll` had beside the comments, which the file has yet to be given.
    pub has_ledger: bool,
}

impl Loaded {
    /// Reads an item; one the store does not know holds nothing.
    pub fn read(tx: &impl View, dir: Option<&str>, reference: &WorkItemRef) -> Result<Self, StoreError> {
        let key = reference.key();
        let item = tx.item(&key)?.unwrap_or_else(|| Item::new(reference.clone()));
        let mut record = Record::from_store(&item, tx.seen(&key)?);
        let ledger = earlier::ledger(tx, &key)?;
        let has_ledger = ledger.is_some();
        if let (Some(ledger), Section::Present(poll)) = (ledger, &mut record.poll) {
            poll.take_ledger(ledger);
        }
        let stamp = dir.map(|dir| tx.stamp(dir, &key)).transpose()?.flatten();
        let file = stamp.and_then(|stamp| Some((stamp.file, Known::parse(&stamp.stamp)?)));
        Ok(Self { item, record, file, said: said(tx, &key)?, has_ledger })
    }

    pub fn key(&self) -> RefKey {
        self.item.reference.key()
    }
}

/// A file's content on its way into the store, decided outside the transaction that writes it.
#[derive(Debug, Clone)]
pub(super) struct Incoming {
    /// The folder's name among the stamps.
    pub dir: String,
    /// The file's name in it.
    pub file: String,
    /// How it looks.
    pub stamp: Stamp,
    /// What it says.
    pub record: Record,
    /// Whether it is the item's only file.
    pub alone: bool,
    /// The configuration it is judged by.
    pub settings: Arc<Settings>,
    /// Now.
    pub now: Time,
}

/// What [`Incoming`] means for an item of a certain version.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    version: u64,
    intake: Intake,
    known: Known,
    /// Whether there is nothing to write, the stamp included.
    pub idle: bool,
}

impl Incoming {
    /// Judges it against what was loaded.
    ///
    /// # Errors
    /// It is about another item.
    pub fn plan(&self, loaded: &Loaded) -> Result<Plan, Box<Conflict>> {
        let intake = take_in(&loaded.item, &loaded.record, &self.record, &self.settings.policy, self.now)?;
        let open = intake.open();
        let known = Known { stamp: self.stamp.clone(), settled: intake.settled && self.alone, open: open.is_some() };
        let stored = loaded.file.as_ref().is_some_and(|(file, stored)| (file, stored) == (&self.file, &known));
        let idle = stored && !intake.adopted.changed && open == loaded.said;
        Ok(Plan { version: loaded.item.version, intake, known, idle })
    }

    /// Writes `plan`; `None` when the item changed since it was made and it has to be made again.
    pub fn apply(&self, tx: &mut WriteTx<'_>, loaded: &Loaded, plan: &Plan) -> Result<Option<Adoption>, StoreError> {
        let key = loaded.key();
        let mut item = tx.item(&key)?.unwrap_or_else(|| Item::new(loaded.item.reference.clone()));
        if item.version != plan.version {
            return Ok(None);
        }
        let mut adoption = Adoption::default();
        let Plan { intake, known, .. } = plan;
        if intake.adopted.changed {
            let hold = intake.apply(&mut item);
            tx.put_item(&item)?;
            for comment in &intake.adopted.new_comments {
                tx.put_seen(&key, comment)?;
            }
            if hold == Some(Hold::Ends) {
                release(tx, item.clone(), self.now)?;
                adoption.lanes.push(key.clone());
            }
            tx.append_journal(&self.adopted(&item, intake, hold), self.now)?;
            adoption.marked = self.follow(tx, &item, intake)?;
            adoption.changed.push(key.clone());
        }
        let open = intake.open();
        let entry = LogEntry::warn(EventName::PortableAdopted).with("file", self.file.as_str());
        say_once(tx, &item.reference, open.as_deref(), entry, self.now)?;
        tx.put_stamp(&self.dir, &key, &self.file, &known.text())?;
        Ok(Some(adoption))
    }

    /// A file that lacks something of what the store holds now has to follow.
    fn follow(&self, tx: &mut WriteTx<'_>, item: &Item, intake: &Intake) -> Result<bool, StoreError> {
        if intake.settled {
            return Ok(false);
        }
        let urgency = if intake.adopted.control.is_some() { Urgency::Now } else { Urgency::Cycle };
        tx.put_mark(&item.reference.key(), urgency, self.now)?;
        Ok(true)
    }

    fn adopted(&self, item: &Item, intake: &Intake, hold: Option<Hold>) -> LogEntry {
        let record = &intake.adopted.record;
        let beaten: Vec<String> = intake.beaten().map(ToString::to_string).collect();
        let comments = intake.adopted.new_comments.len();
        let mut entry = LogEntry::info(EventName::PortableAdopted)
            .with("workItem", item.reference.to_string())
            .with("file", self.file.as_str());
        if intake.adopted.control.is_some() {
            let control = record.control.present();
            entry = entry
                .with("armed", record.is_armed())
                .with_some("command", control.map(|control| control.command.as_str()))
                .with_some("actor", control.map(|control| control.actor.as_str()))
                .with_some("ended", record.ended.as_ref().map(|ended| format!("{} at {}", ended.reason, ended.at)))
                .with_some("deliveries", hold.map(|hold| if hold == Hold::Begins { "held" } else { "released" }));
        }
        entry
            .with_some("newComments", (comments > 0).then_some(comments))
            .with_some("beaten", (!beaten.is_empty()).then(|| beaten.join("; ")))
    }
}

/// What was held goes on, and what piled up meanwhile is one digest.
pub(super) fn release(tx: &mut WriteTx<'_>, mut item: Item, now: Time) -> Result<(), StoreError> {
    let key = item.reference.key();
    for mut endpoint in tx.endpoints(&key)? {
        endpoint.resumed_at = Some(now);
        tx.put_endpoint(&key, &endpoint)?;
    }
    if let Some(session) = &mut item.session {
        session.resumed_at = Some(now);
        tx.put_item(&item)?;
    }
    Ok(())
}

/// Tells people about an item's file when there is something else to tell than the last time, or nothing any more.
pub(super) fn say_once(
    tx: &mut WriteTx<'_>,
    item: &WorkItemRef,
    text: Option<&str>,
    entry: LogEntry,
    now: Time,
) -> Result<(), StoreError> {
    tell_once(tx, &said_name(&item.key()), item, text, entry, now)
}

/// As [`say_once`]; what was told last is kept under `name`.
pub(super) fn tell_once(
    tx: &mut WriteTx<'_>,
    name: &str,
    item: &WorkItemRef,
    text: Option<&str>,
    entry: LogEntry,
    now: Time,
) -> Result<(), StoreError> {
    match (tx.meta(name)?, text) {
        (Some(said), Some(text)) if said == text => Ok(()),
        (_, Some(text)) => {
            tx.put_meta(name, text)?;
            let entry = entry.with("workItem", item.to_string()).with("reason", text);
            tx.append_journal(&entry, now).map(drop)
        }
        (Some(_), None) => tx.remove_meta(name).map(drop),
        (None, None) => Ok(()),
    }
}

/// What people were last told about an item's file.
pub(super) fn said(tx: &impl View, key: &RefKey) -> Result<Option<String>, StoreError> {
    tx.meta(&said_name(key))
}

fn said_name(key: &RefKey) -> String {
    format!("portable.said:{key}")
}

impl From<Box<Conflict>> for PortableError {
    fn from(conflict: Box<Conflict>) -> Self {
        Self::Store(StoreError::Bug(conflict.to_string()))
    }
}
