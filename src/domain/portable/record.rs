//! One portable record, as a file holds it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

use super::{Control, Ended};

/// A section of a record: there, deliberately empty, or not mentioned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Section<T> {
    /// It holds something.
    Present(T),
    /// `null`: deliberately empty, the old tree is not asked.
    Tombstone,
    /// Not mentioned: nothing is said about it.
    #[default]
    Absent,
}

/// What polling knows of an item on any machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Poll {
    /// GraphQL node ids of comments that are not new; only grows while the item lives.
    pub seen_comments: BTreeSet<String>,
    /// The earlier system's tries per comment; read, kept and joined, never advanced.
    pub comment_attempts: Map<String, Value>,
    /// The earlier system's spawn ledger, `{}` or `{attempts, deliveryId, gaveUp}`.
    pub spawn: Map<String, Value>,
    /// The earlier system's abandoned comments, `{comments, version}`; empty is not written.
    pub gave_up: Map<String, Value>,
    /// When a cycle last saw the item, whole seconds; volatile.
    pub last_polled_at: Option<Time>,
    /// Keys of other versions, kept.
    pub extra: Map<String, Value>,
}

impl Poll {
    /// Takes over what only the file keeps: ledgers and keys of other versions. The seen comments stay.
    pub fn take_ledger(&mut self, from: Self) {
        let Self { seen_comments: _, comment_attempts, spawn, gave_up, last_polled_at, extra } = from;
        self.comment_attempts = comment_attempts;
        self.spawn = spawn;
        self.gave_up = gave_up;
        self.extra = extra;
        self.last_polled_at = self.last_polled_at.max(last_polled_at);
    }
}

/// Everything one portable file says about one work item. Times are whole seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Whom it is about.
    pub reference: WorkItemRef,
    /// The last command.
    pub control: Section<Control>,
    /// What polling knows.
    pub poll: Section<Poll>,
    /// The last ending.
    pub ended: Option<Ended>,
    /// Keys of other versions inside `ended`, kept with it.
    pub ended_extra: Map<String, Value>,
    /// The latest `requestedAt` the writer knew.
    pub commanded_at: Option<Time>,
    /// Makes every absent section a tombstone.
    pub sealed: bool,
    /// Top-level keys of other versions, kept.
    pub extra: Map<String, Value>,
}

impl<T> Section<T> {
    /// What it holds, if it holds something.
    pub const fn present(&self) -> Option<&T> {
        match self {
            Self::Present(value) => Some(value),
            Self::Tombstone | Self::Absent => None,
        }
    }

    /// Whether nothing is said about it.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl Record {
    /// A record that says nothing yet.
    pub fn new(reference: WorkItemRef) -> Self {
        Self {
            reference,
            control: Section::Absent,
            poll: Section::Absent,
            ended: None,
            ended_extra: Map::new(),
            commanded_at: None,
            sealed: false,
            extra: Map::new(),
        }
    }

    /// Whether no section is left: such a record is removed, not kept as a husk.
    pub fn is_husk(&self) -> bool {
        let Self { reference: _, control, poll, ended, ended_extra: _, commanded_at, sealed, extra } = self;
        control.is_absent()
            && poll.is_absent()
            && ended.is_none()
            && commanded_at.is_none()
            && !sealed
            && extra.keys().all(|key| key == "url")
    }

    /// Whether it arms its item: its command arms, and is later than its ending.
    pub fn is_armed(&self) -> bool {
        self.control.present().is_some_and(|control| control.arms_after(self.ended.as_ref()))
    }

    /// When its command was requested, if there is one and its time can be read.
    pub fn requested_at(&self) -> Option<Time> {
        self.control.present().and_then(Control::at)
    }

    /// The comments it knows.
    pub fn seen_comments(&self) -> Option<&BTreeSet<String>> {
        self.poll.present().map(|poll| &poll.seen_comments)
    }
}
