//! The first cycle of a repository: its baseline, the state of what is watched, and the newest word of each thread.

use std::collections::BTreeSet;

use super::round::{Round, number, time};
use crate::domain::decide::Heard;
use crate::domain::event::listed;
use crate::domain::github::Trouble;
use crate::domain::polling::{Cursor, ListProgress, MOST_BY_NUMBER, newest_word};

use super::lists::id;

impl Round<'_> {
    /// Sets the baseline, in GitHub's time, and looks at everything that is watched or followed as it is now.
    pub(super) fn begin(&mut self) -> Result<(), Trouble> {
        let label = percent(&self.source.label);
        let rest = format!("/issues?state=open&labels={label}&sort=updated&direction=asc&per_page=100");
        let labelled = self.whole(&rest).map_err(Trouble::of_repository)?;
        let first = self.github.count().date.unwrap_or(self.now).whole_seconds();
        self.progress.first = Some(first);
        for list in [&mut self.progress.items, &mut self.progress.comments, &mut self.progress.review_comments] {
            *list = ListProgress { cursor: Cursor::beginning(first), ..ListProgress::default() };
        }
        self.open_pulls()?;
        let mut seen: BTreeSet<u64> = labelled.iter().filter_map(|object| number(object, "number")).collect();
        seen.iter().for_each(|number| self.note_asked(*number));
        for object in labelled {
            self.changed(object);
        }
        seen.extend(self.followed.iter().filter(|item| !item.is_owned).map(|item| item.number));
        self.progress.words = seen;
        self.by_number(&[]);
        Ok(())
    }

    /// Open pull requests show which issues they deliver. Without the right to read them the rest is still polled.
    fn open_pulls(&mut self) -> Result<(), Trouble> {
        if !self.source.pull_requests && !self.followed.iter().any(|item| item.lives) {
            return Ok(());
        }
        match self.whole("/pulls?state=open&sort=updated&direction=asc&per_page=100") {
            Ok(open) => {
                for pull in &open {
                    let Some(number) = number(pull, "number") else { continue };
                    if self.is_relevant(number, pull, true) {
                        self.found_state(pull);
                        self.watch_head(number, pull);
                    }
                    self.pulls.insert(number, Some(pull.clone()));
                }
                self.open_pulls = Some(open);
                Ok(())
            }
            Err(trouble @ (Trouble::Refused { .. } | Trouble::Gone { .. })) => {
                self.note(trouble.of_repository());
                Ok(())
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// Of the words that were said before anybody listened only the newest may act. What cannot be looked at now is later.
    pub(super) fn newest_words(&mut self) {
        let numbers: Vec<u64> = self.progress.words.iter().copied().take(MOST_BY_NUMBER).collect();
        for number in numbers {
            let is_taken_over = self.followed.iter().any(|item| item.number == number && item.take_over.is_some());
            match if is_taken_over { Ok(()) } else { self.newest_word(number) } {
                Ok(()) => drop(self.progress.words.remove(&number)),
                Err(()) if self.is_stopped() => return,
                Err(()) => {}
            }
        }
    }

    fn newest_word(&mut self, number: u64) -> Result<(), ()> {
        let Some(object) = self.object(number)? else { return Ok(()) };
        let thread = self.whole(&format!("/issues/{number}/comments?per_page=100"));
        let thread = thread.map_err(|trouble| self.item_failed(number, trouble))?;
        if let Some(word) = newest_word(&thread, self.policy) {
            // The life it begins was nobody else's: there is no thread to take over.
            self.progress.taken_over.extend(time(word, "created_at").map(|at| (number, at.whole_seconds())));
            let listed = listed::comment(&self.payload(), &object, word);
            self.found_said(&listed, &id("c", word), Heard::LastWord);
        }
        Ok(())
    }
}

/// A label in a query; a comma would separate two.
fn percent(label: &str) -> String {
    percent_encoding::utf8_percent_encode(label, percent_encoding::NON_ALPHANUMERIC).to_string()
}
