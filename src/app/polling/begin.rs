//! The first cycle of a repository: its baseline, the state of what is watched, and the newest word of each thread.

use std::collections::BTreeSet;

use serde_json::Value;

use super::round::{Round, number};
use crate::app::asking::pages;
use crate::domain::decide::Heard;
use crate::domain::event::listed;
use crate::domain::github::{Trouble, Validators};
use crate::domain::polling::{Cursor, ListProgress, newest_word, wanted};

use super::lists::id;

impl Round<'_> {
    /// Sets the baseline, in GitHub's time, and looks at everything that is watched or followed as it is now.
    pub(super) fn begin(&mut self) -> Result<(), Trouble> {
        let label = percent(&self.source.label);
        let path = self.path(&format!("/issues?state=open&labels={label}&sort=updated&direction=asc&per_page=100"));
        let labelled = pages::list(self.github, self.host(), &path, &Validators::default());
        let labelled = labelled.map_err(Trouble::of_repository)?;
        let first = self.github.count().date.unwrap_or(self.now).whole_seconds();
        self.progress.first = Some(first);
        for list in [&mut self.progress.items, &mut self.progress.comments, &mut self.progress.review_comments] {
            *list = ListProgress { cursor: Cursor::beginning(first), ..ListProgress::default() };
        }
        self.open_pulls()?;
        let mut seen: BTreeSet<u64> = labelled.items.iter().filter_map(|object| number(object, "number")).collect();
        for object in labelled.items {
            self.changed(object);
        }
        for number in wanted(&self.followed, &self.progress, true) {
            if seen.insert(number) {
                self.ask_for(number);
            }
        }
        seen.into_iter().for_each(|number| self.newest_word(number));
        Ok(())
    }

    /// Open pull requests show which issues they deliver. Without the right to read them the rest is still polled.
    fn open_pulls(&mut self) -> Result<(), Trouble> {
        if !self.source.pull_requests && !self.followed.iter().any(|item| item.lives) {
            return Ok(());
        }
        let path = self.path("/pulls?state=open&sort=updated&direction=asc&per_page=100");
        match pages::list(self.github, self.host(), &path, &Validators::default()) {
            Ok(open) => {
                for pull in open.items {
                    let Some(number) = number(&pull, "number") else { continue };
                    if self.is_relevant(number, &pull, true) {
                        self.found_state(&pull);
                        self.watch_head(number, &pull);
                    }
                    self.pulls.insert(number, Some(pull));
                }
                Ok(())
            }
            Err(trouble @ (Trouble::Refused { .. } | Trouble::Gone { .. })) => {
                self.note(trouble.of_repository());
                Ok(())
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// Of the words that were said before anybody listened only the newest may act.
    fn newest_word(&mut self, number: u64) {
        let taken_over = self.followed.iter().any(|item| item.number == number && item.take_over.is_some());
        let Some(object) = self.objects.get(&number).cloned().filter(|_| !taken_over && !self.is_stopped()) else {
            return;
        };
        let path = self.path(&format!("/issues/{number}/comments?per_page=100"));
        match pages::list(self.github, self.host(), &path, &Validators::default()) {
            Err(trouble) => self.item_failed(number, trouble),
            Ok(thread) => {
                let word: Option<Value> = newest_word(&thread.items, self.policy).cloned();
                if let Some(word) = word {
                    let listed = listed::comment(&self.payload(), &object, &word);
                    self.found_said(&listed, &id("c", &word), Heard::LastWord);
                }
            }
        }
    }
}

/// A label in a query; a comma would separate two.
fn percent(label: &str) -> String {
    percent_encoding::utf8_percent_encode(label, percent_encoding::NON_ALPHANUMERIC).to_string()
}
