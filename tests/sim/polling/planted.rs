//! Bugs planted on purpose: the simulation has to find each of them, or it proves nothing.

use std::sync::Arc;

use the_loop::domain::portable::files::{Export, FileError, Held, Located, Look, News, Written};
use the_loop::domain::portable::{FolderId, Section, Stamp};
use the_loop::domain::ports::PortableFiles;
use the_loop::domain::reference::WorkItemRef;
use the_loop::domain::time::Time;

use crate::folder::Folder;
use crate::wire::Bug;
use crate::world::{Plan, World};

/// A folder of which nobody reads `seenComments` (K72).
struct Forgetful(Folder);

fn without_comments(mut news: News) -> News {
    if let Section::Present(poll) = &mut news.record.poll {
        poll.seen_comments.clear();
    }
    news
}

impl PortableFiles for Forgetful {
    fn folder(&self) -> Result<Option<FolderId>, FileError> {
        self.0.folder()
    }

    fn names(&self) -> Result<Vec<String>, FileError> {
        self.0.names()
    }

    fn leftovers(&self, now: Time) -> Result<Vec<WorkItemRef>, FileError> {
        self.0.leftovers(now)
    }

    fn look(&self, name: &str, known: Option<&Stamp>, now: Time) -> Result<Look, FileError> {
        Ok(match self.0.look(name, known, now)? {
            Look::News(news) => Look::News(Box::new(without_comments(*news))),
            other => other,
        })
    }

    fn locate(&self, item: &WorkItemRef, now: Time) -> Result<Located, FileError> {
        Ok(match self.0.locate(item, now)? {
            Located::Files(files) => Located::Files(files.into_iter().map(without_comments).collect()),
            other => other,
        })
    }

    fn export(
        &self,
        items: &[Export<'_>],
        done: &mut dyn FnMut(usize, Result<Written, Held>),
    ) -> Result<FolderId, FileError> {
        self.0.export(items, done)
    }

    fn check(&self, items: &[Export<'_>], told: &mut dyn FnMut(usize, Result<bool, Held>)) -> Result<(), FileError> {
        self.0.check(items, told)
    }
}

/// Runs until a seed shows the bug; the words of the invariant it must break.
fn must_find(plan: &Plan, words: &str) {
    let found = (0..20).find_map(|seed| {
        let violations = World::run(plan, seed).err()?;
        violations.into_iter().find(|violation| violation.starts_with(words))
    });
    assert!(found.is_some(), "it must be found within 20 seeds");
}

#[test]
fn a_cursor_that_is_ahead_of_what_was_seen_is_found() {
    must_find(&Plan { bug: Bug::CursorAhead, ..Plan::both() }, "everything arrives");
}

#[test]
fn another_identity_of_what_is_polled_is_found() {
    must_find(&Plan { bug: Bug::OtherIdentity, ..Plan::both() }, "nothing arrives twice");
}

#[test]
fn seen_comments_that_nobody_reads_at_a_hand_over_are_found() {
    must_find(&Plan { wrap_folder: |folder| Arc::new(Forgetful(folder)), ..Plan::both() }, "nothing arrives twice");
}
