//! Rows about what is asked of GitHub: how far repositories were polled, and events that wait for a fact.

use super::error::StoreError;
use super::keys::{self, Span};
use super::raw::{Raw, WriteTx};
use super::rows;
use super::tables::TableId;
use super::view::list;
use super::write::WAITING_COUNTER;
use crate::domain::decide::Waiting;
use crate::domain::polling::Progress;
use crate::domain::reference::RefKey;

/// An event that waits, with its place in the queue of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiter {
    /// The reference its payload names.
    pub item: RefKey,
    /// Its number; smaller ones come first.
    pub number: u64,
    /// The event.
    pub waiting: Waiting,
}

/// Reading them.
pub trait PolledView: Raw {
    /// How far a repository, by its lower-case key (`github:octo/hello`), was polled.
    fn poll(&self, repo_key: &str) -> Result<Option<Progress>, StoreError> {
        let key = repo_key.as_bytes();
        self.get(TableId::Polls, key, |value| rows::decode(TableId::Polls, key, value))?.transpose()
    }

    /// All repositories that were polled, by their lower-case keys.
    fn polls(&self) -> Result<Vec<(String, Progress)>, StoreError> {
        list(self, TableId::Polls, &Span::all(), usize::MAX, |key, value| {
            let progress = rows::decode(TableId::Polls, key, value)?;
            Ok((String::from_utf8_lossy(key).into_owned(), progress))
        })
    }

    /// Whether an event waits in the queue of `item`.
    fn has_waiting(&self, item: &RefKey) -> Result<bool, StoreError> {
        let mut found = false;
        self.scan(TableId::Waiting, &Span::prefix(&keys::lane(item)), &mut |_, _| {
            found = true;
            std::ops::ControlFlow::Break(())
        })?;
        Ok(found)
    }

    /// All events that wait, in the order of references and of their queues.
    fn waiting(&self) -> Result<Vec<Waiter>, StoreError> {
        list(self, TableId::Waiting, &Span::all(), usize::MAX, waiter)
    }

    /// The first event of every queue, in the order of references. What stands behind it may be much, and is not read.
    fn first_waiting(&self) -> Result<Vec<Waiter>, StoreError> {
        let mut firsts: Vec<Waiter> = Vec::new();
        self.scan(TableId::Waiting, &Span::all(), &mut |key, value| {
            let stands_behind = |last: &Waiter| place(key).is_ok_and(|(item, _)| item == last.item);
            if !firsts.last().is_some_and(stands_behind) {
                match waiter(key, value) {
                    Ok(first) => firsts.push(first),
                    Err(error) => self.note_skipped(error),
                }
            }
            std::ops::ControlFlow::Continue(())
        })?;
        Ok(firsts)
    }
}

fn place(key: &[u8]) -> Result<(RefKey, u64), StoreError> {
    let (item, number) =
        keys::read_numbered(key).ok_or_else(|| rows::bad(TableId::Waiting, key, "not a reference and a number"))?;
    Ok((rows::ref_key(TableId::Waiting, key, item)?, number))
}

fn waiter(key: &[u8], value: &[u8]) -> Result<Waiter, StoreError> {
    let (item, number) = place(key)?;
    Ok(Waiter { item, number, waiting: rows::decode(TableId::Waiting, key, value)? })
}

impl<T: Raw + ?Sized> PolledView for T {}

impl WriteTx<'_> {
    /// Keeps how far a repository was polled.
    pub fn put_poll(&mut self, repo_key: &str, progress: &Progress) -> Result<(), StoreError> {
        self.put_row(TableId::Polls, repo_key.as_bytes(), progress)
    }

    /// Puts an event at the end of the queue of `item`.
    pub fn push_waiting(&mut self, item: &RefKey, waiting: &Waiting) -> Result<u64, StoreError> {
        let number = self.take_number(WAITING_COUNTER)?;
        self.put_waiting(item, number, waiting)?;
        Ok(number)
    }

    /// Puts an event at its place in the queue of `item`.
    pub fn put_waiting(&mut self, item: &RefKey, number: u64, waiting: &Waiting) -> Result<(), StoreError> {
        self.put_row(TableId::Waiting, &keys::numbered(item, number), waiting)
    }

    /// Takes an event out of the queue of `item`; false when it is not there.
    pub fn remove_waiting(&mut self, item: &RefKey, number: u64) -> Result<bool, StoreError> {
        self.delete(TableId::Waiting, &keys::numbered(item, number))
    }
}
