//! What changed in a repository since the last cycle: three lists, each asked only whether anything is new.

use std::collections::BTreeSet;

use serde_json::Value;

use super::round::{Round, number};
use crate::domain::event::listed;
use crate::domain::github::Trouble;
use crate::domain::polling::{ListProgress, wanted};
use crate::domain::time::Time;

impl Round<'_> {
    /// Reads the lists, and what has to be asked for by number.
    pub(super) fn read_lists(&mut self) -> Result<(), Trouble> {
        let path = |since: Time| self.path(&format!("/issues?state=all&{}", query(since)));
        let (changed, items) = self.walk(&self.progress.items, path, "number").map_err(Trouble::of_repository)?;
        if changed.iter().any(|object| self.is_elsewhere(object)) {
            self.know_repository()?;
        }
        self.progress.items = items;
        let (comments, at_comments) = self.part("/issues/comments", |progress| &progress.comments)?;
        let (lines, at_lines) = match self.source.pull_requests || self.followed.iter().any(|item| item.is_owned) {
            true => self.part("/pulls/comments", |progress| &progress.review_comments)?,
            false => (Vec::new(), None),
        };
        let numbers: Vec<u64> = changed.iter().filter_map(|object| number(object, "number")).collect();
        for object in changed {
            self.changed(object);
        }
        self.by_number(&numbers);
        self.keep_if(comments, at_comments, Self::comment, |progress, at| progress.comments = at);
        self.keep_if(lines, at_lines, Self::review_comment, |progress, at| progress.review_comments = at);
        Ok(())
    }

    /// A list without which the others can be read: one that the token may not read is left out, and said.
    fn part(
        &mut self,
        rest: &str,
        known: impl Fn(&crate::domain::polling::Progress) -> &ListProgress,
    ) -> Result<(Vec<Value>, Option<ListProgress>), Trouble> {
        let path = |since: Time| self.path(&format!("{rest}?{}", query(since)));
        match self.walk(known(&self.progress), path, "id") {
            Ok((news, next)) => Ok((news, Some(next))),
            Err(trouble @ (Trouble::Refused { .. } | Trouble::Gone { .. })) => {
                self.note(trouble.of_repository());
                Ok((Vec::new(), None))
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// Takes the entries of a list; how far it was read is kept only when each of them was taken.
    fn keep_if(
        &mut self,
        entries: Vec<Value>,
        next: Option<ListProgress>,
        take: fn(&mut Self, &Value) -> bool,
        keep: fn(&mut crate::domain::polling::Progress, ListProgress),
    ) {
        // One that is not taken keeps no other from being.
        let missed = entries.iter().filter(|entry| !take(self, entry)).count();
        if let Some(next) = next.filter(|_| missed == 0) {
            keep(&mut self.progress, next);
        }
    }

    /// Items that no list shows, and those that could not be read the last time.
    pub(super) fn by_number(&mut self, shown: &[u64]) {
        // Whatever is followed anew is asked for anew.
        let followed: Vec<u64> = self.followed.iter().map(|item| item.number).collect();
        self.progress.asked.retain(|number, _| followed.contains(number));
        let mut numbers: BTreeSet<u64> = self.progress.again.keys().copied().collect();
        numbers.extend(wanted(&self.followed, &self.progress));
        for number in numbers.into_iter().filter(|number| !shown.contains(number)) {
            self.ask_for(number);
        }
    }

    /// A comment in a conversation; false when what it is about could not be read.
    fn comment(&mut self, comment: &Value) -> bool {
        let Some(number) = listed::number_of(comment) else { return true };
        let Ok(object) = self.object(number) else { return false };
        let closed = object.as_ref().and_then(|object| object.get("state")?.as_str()) == Some("closed");
        if closed && self.is_followed(number) && self.progress.again.contains_key(&number) {
            // It is shown as closed, and nobody could confirm it: what was said there is heard when that is known.
            return false;
        }
        // What it was said about is gone: nobody is there to hear it.
        if let Some(object) = object {
            let listed = listed::comment(&self.payload(), &object, comment);
            self.found_said(&listed, &id("c", comment), self.listed());
        }
        true
    }

    /// A comment on a line; false when its pull request could not be read.
    fn review_comment(&mut self, comment: &Value) -> bool {
        let Some(number) = listed::number_of(comment) else { return true };
        let Ok(object) = self.object(number) else { return false };
        if !object.is_some_and(|object| self.is_relevant(number, &object, true)) {
            return true;
        }
        let Ok(pull) = self.pull(number) else { return false };
        if let Some(pull) = pull {
            let listed = listed::review_comment(&self.payload(), &pull, comment);
            self.found_said(&listed, &id("l", comment), self.listed());
        }
        true
    }

    /// Whether an object calls its repository by another name than the one we know.
    fn is_elsewhere(&self, object: &Value) -> bool {
        let known = self.progress.repository.as_ref().map(|known| known.full_name.as_str());
        named(object).zip(known).is_some_and(|(named, known)| !named.eq_ignore_ascii_case(known))
    }
}

/// The repository that an object calls its own.
pub(super) fn named(object: &Value) -> Option<&str> {
    object.get("repository_url")?.as_str()?.split_once("/repos/").map(|(_, name)| name)
}

/// A name of something with an id.
pub(super) fn id(kind: &str, object: &Value) -> String {
    format!("{kind}{}", number(object, "id").unwrap_or(0))
}

fn query(since: Time) -> String {
    format!("since={since}&sort=updated&direction=asc&per_page=100")
}
