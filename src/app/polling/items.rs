//! Single issues and pull requests: what changed, and what is asked for by number.

use serde_json::{Value, json};

use super::lists::{id, named};
use super::round::{Round, number, time};
use crate::app::asking::items;
use crate::domain::event::listed::{self, Listed};
use crate::domain::github::Trouble;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::polling::Watched;

impl Round<'_> {
    /// An issue or pull request that a list shows as changed.
    pub(super) fn changed(&mut self, object: Value) {
        let Some(number) = number(&object, "number") else { return };
        let is_pull = listed::is_pull(&object);
        let relevant = self.is_relevant(number, &object, is_pull);
        self.objects.insert(number, object.clone());
        if !relevant || self.is_stopped() {
            if relevant {
                // The list has passed it: it is asked for by number when asking goes on.
                self.progress.again.entry(number).or_default();
            }
            return;
        }
        match is_pull {
            true => self.changed_pull(number),
            false => self.changed_issue(number, object),
        }
    }

    /// Asks for an item that no list shows.
    pub(super) fn ask_for(&mut self, number: u64) {
        if self.is_put_off(number) {
            self.progress.again.entry(number).or_default();
            return;
        }
        match self.ask_issue(number) {
            Err(trouble) => return self.item_failed(number, trouble),
            Ok(None) => self.say_gone(number),
            Ok(Some(object)) => self.changed(object),
        }
        self.note_asked(number);
    }

    /// The state of an item is known as of now, in this life of it.
    pub(super) fn note_asked(&mut self, number: u64) {
        let armed_at = self.followed.iter().find(|item| item.number == number).and_then(|item| item.armed_at);
        if let Some(at) = armed_at.or(self.progress.first) {
            self.progress.asked.insert(number, at);
        }
    }

    fn changed_issue(&mut self, number: u64, object: Value) {
        let closed = object.get("state").and_then(Value::as_str) == Some("closed");
        if !(closed && self.is_followed(number)) {
            self.progress.again.remove(&number);
            return self.found_state(&object);
        }
        // A close ends a session: a list is not enough for that.
        match self.ask_issue(number) {
            Err(trouble) => return self.item_failed(number, trouble),
            Ok(None) => self.say_gone(number),
            Ok(Some(object)) => {
                self.say_closed(number, &object);
                self.found_state(&object);
            }
        }
        self.progress.again.remove(&number);
    }

    /// A pull request with its head and its reviews.
    fn changed_pull(&mut self, number: u64) {
        let pull = match self.pull(number) {
            Err(()) => return,
            Ok(None) => return self.say_gone(number),
            Ok(Some(pull)) => pull,
        };
        if self.is_followed(number) {
            self.say_closed(number, &pull);
        }
        self.found_state(&pull);
        self.watch_head(number, &pull);
        match self.whole(&format!("/pulls/{number}/reviews?per_page=100")) {
            Err(trouble) => self.item_failed(number, trouble),
            Ok(reviews) => {
                self.progress.again.remove(&number);
                self.found_reviews(&pull, &reviews, self.listed());
            }
        }
    }

    pub(super) fn found_reviews(&mut self, pull: &Value, reviews: &[Value], heard: crate::domain::decide::Heard) {
        for review in reviews {
            if let Some(listed) = listed::review(&self.payload(), pull, review) {
                self.found_said(&listed, &id("r", review), heard);
            }
        }
    }

    /// The head of a pull request of ours is asked for its checks until it is closed.
    pub(super) fn watch_head(&mut self, number: u64, pull: &Value) {
        let open = pull.get("state").and_then(Value::as_str) == Some("open");
        let sha = pull.pointer("/head/sha").and_then(Value::as_str).filter(|_| open && self.is_followed(number));
        let Some(sha) = sha else {
            self.progress.heads.remove(&number);
            return;
        };
        let known = self.progress.heads.get(&number);
        if known.is_none_or(|head| !head.sha.eq_ignore_ascii_case(sha)) {
            let since = time(pull, "updated_at").unwrap_or(self.now);
            self.progress.heads.insert(number, Watched::new(sha, since));
        }
    }

    /// The object of an issue or pull request, from the list or by number; `None` when it is gone, an error when it
    /// could not be read.
    pub(super) fn object(&mut self, number: u64) -> Result<Option<Value>, ()> {
        if let Some(object) = self.objects.get(&number) {
            return Ok(Some(object.clone()));
        }
        if self.is_put_off(number) {
            return Err(());
        }
        match self.ask_issue(number) {
            Err(trouble) => {
                self.item_failed(number, trouble);
                Err(())
            }
            Ok(found) => {
                found.iter().for_each(|object| drop(self.objects.insert(number, object.clone())));
                Ok(found)
            }
        }
    }

    /// A pull request as it shows itself; as [`Round::object`].
    pub(super) fn pull(&mut self, number: u64) -> Result<Option<Value>, ()> {
        if let Some(pull) = self.pulls.get(&number) {
            return Ok(pull.clone());
        }
        let Some(reference) = self.item(number).filter(|_| !self.is_put_off(number)) else { return Err(()) };
        match items::pull_request(self.github, &reference) {
            Err(trouble) => {
                self.item_failed(number, trouble);
                Err(())
            }
            Ok(pull) => {
                self.pulls.insert(number, pull.clone());
                Ok(pull)
            }
        }
    }

    /// The issue by number. One that is answered from another repository was transferred there: that is told, and here it
    /// is gone.
    fn ask_issue(&mut self, number: u64) -> Result<Option<Value>, Trouble> {
        let Some(reference) = self.item(number) else { return Ok(None) };
        let found = items::issue(self.github, &reference)?;
        let Some(object) = found else { return Ok(None) };
        let known = self.progress.repository.as_ref().map(|known| known.full_name.clone());
        match named(&object).zip(known) {
            Some((there, here)) if !there.eq_ignore_ascii_case(&here) => {
                let listed = self.transferred(number, &object, there);
                self.found_said(&listed, &format!("t{number}"), self.listed());
                Ok(None)
            }
            _ => Ok(Some(object)),
        }
    }

    fn transferred(&self, from: u64, object: &Value, there: &str) -> Listed {
        let moved = json!({"id": object.get("id"), "number": object.get("number")});
        let payload = json!({
            "action": "transferred", "repository": self.payload(), "issue": {"number": from},
            "changes": {"new_issue": moved, "new_repository": {"full_name": there}},
        });
        Listed { name: "issues", payload }
    }

    /// That something is not there ends nothing: it may only be out of sight.
    fn say_gone(&mut self, number: u64) {
        self.progress.again.remove(&number);
        self.progress.heads.remove(&number);
        if let Some(item) = self.item(number).filter(|_| self.is_followed(number)) {
            let entry = LogEntry::warn(EventName::PollItemError).with("workItem", item.to_string());
            self.log(entry.with("error", "GitHub shows no such item, or not any more"));
        }
    }

    fn say_closed(&mut self, number: u64, object: &Value) {
        let closed = object.get("state").and_then(Value::as_str) == Some("closed");
        if let Some(item) = self.item(number).filter(|_| closed) {
            self.log(LogEntry::info(EventName::PollClosureDetected).with("workItem", item.to_string()));
        }
    }
}
