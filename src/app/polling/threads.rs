//! Threads that are read whole, once, because this machine takes an item over from whoever followed it until now.

use serde_json::Value;

use super::lists::id;
use super::round::{Round, number, time};
use crate::domain::decide::Heard;
use crate::domain::event::{linkage, listed};
use crate::domain::polling::taken_over;
use crate::domain::time::Time;

impl Round<'_> {
    /// Reads the threads of items that are taken over, and of pull requests that their records list.
    pub(super) fn take_over(&mut self) {
        for (number, life, since) in taken_over(&self.followed, &self.progress.taken_over) {
            if self.is_stopped() {
                return;
            }
            if self.read_thread(number, since).is_ok() {
                self.progress.taken_over.insert(number, life);
            }
        }
    }

    /// The conversation, and what was said of the diff. An error when a part could not be read.
    fn read_thread(&mut self, number: u64, since: Time) -> Result<(), ()> {
        let Some(object) = self.object(number)? else { return Ok(()) };
        for comment in self.all(number, &format!("/issues/{number}/comments?since={since}&per_page=100"))? {
            let listed = listed::comment(&self.payload(), &object, &comment);
            self.found_said(&listed, &id("c", &comment), Heard::TakenOver);
        }
        if !listed::is_pull(&object) {
            return self.find_pulls(number);
        }
        let Some(pull) = self.pull(number)? else { return Ok(()) };
        for comment in self.all(number, &format!("/pulls/{number}/comments?since={since}&per_page=100"))? {
            let listed = listed::review_comment(&self.payload(), &pull, &comment);
            self.found_said(&listed, &id("l", &comment), Heard::TakenOver);
        }
        let mut reviews = self.all(number, &format!("/pulls/{number}/reviews?per_page=100"))?;
        reviews.retain(|review| time(review, "submitted_at").is_some_and(|at| at >= since));
        self.found_reviews(&pull, &reviews, Heard::TakenOver);
        Ok(())
    }

    /// Shows the open pull requests that say they deliver an issue, so that its record lists them: then their threads are
    /// read, too.
    fn find_pulls(&mut self, issue: u64) -> Result<(), ()> {
        let open = match self.open_pulls.clone() {
            Some(open) => open,
            None => self.all(issue, "/pulls?state=open&sort=updated&direction=asc&per_page=100")?,
        };
        for pull in &open {
            if self.delivers(pull, issue) {
                self.found_state(pull);
            }
        }
        self.open_pulls = Some(open);
        Ok(())
    }

    fn delivers(&self, pull: &Value, issue: u64) -> bool {
        let Some(reference) = number(pull, "number").and_then(|number| self.item(number)) else { return false };
        let text = |pointer: &str| pull.pointer(pointer).and_then(Value::as_str);
        let links = linkage::linked_issues(&reference, text("/head/ref"), text("/body").unwrap_or_default());
        links.iter().any(|link| link.issue.number() == issue)
    }

    fn all(&mut self, number: u64, rest: &str) -> Result<Vec<Value>, ()> {
        self.whole(rest).map_err(|trouble| self.item_failed(number, trouble))
    }
}
