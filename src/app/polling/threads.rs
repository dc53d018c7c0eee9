//! Threads that are read whole, once, because this machine takes an item over from whoever followed it until now.

use serde_json::Value;

use super::lists::id;
use super::round::{Round, number};
use crate::app::asking::pages;
use crate::domain::decide::Heard;
use crate::domain::event::linkage;
use crate::domain::event::listed;
use crate::domain::github::{Trouble, Validators};
use crate::domain::polling::taken_over;
use crate::domain::time::Time;

impl Round<'_> {
    /// Reads the threads of items that are taken over, and of their pull requests.
    pub(super) fn take_over(&mut self) {
        for (number, life, since) in taken_over(&self.followed, &self.progress.taken_over) {
            if self.is_stopped() {
                return;
            }
            match self.read_thread(number, since) {
                Ok(()) => drop(self.progress.taken_over.insert(number, life)),
                Err(trouble) => self.item_failed(number, trouble),
            }
        }
    }

    fn read_thread(&mut self, number: u64, since: Time) -> Result<(), Trouble> {
        let Ok(Some(object)) = self.object(number) else { return Ok(()) };
        self.conversation(number, &object, since)?;
        let is_pull = object.get("pull_request").is_some();
        let mut pulls = if is_pull { vec![number] } else { self.delivering(number) };
        pulls.dedup();
        for pull in pulls {
            self.pull_thread(pull, since, pull != number)?;
        }
        Ok(())
    }

    fn conversation(&mut self, number: u64, object: &Value, since: Time) -> Result<(), Trouble> {
        for comment in self.all(&format!("/issues/{number}/comments?since={since}&per_page=100"))? {
            let listed = listed::comment(&self.payload(), object, &comment);
            self.found_said(&listed, &id("c", &comment), Heard::TakenOver);
        }
        Ok(())
    }

    fn pull_thread(&mut self, number: u64, since: Time, with_conversation: bool) -> Result<(), Trouble> {
        let Ok(Some(pull)) = self.pull(number) else { return Ok(()) };
        if with_conversation {
            // In its conversation a pull request is an issue with a mark.
            let mut object = pull.clone();
            if let Some(object) = object.as_object_mut() {
                object.remove("head");
                object.insert("pull_request".into(), serde_json::json!({}));
            }
            self.conversation(number, &object, since)?;
        }
        for comment in self.all(&format!("/pulls/{number}/comments?since={since}&per_page=100"))? {
            let listed = listed::review_comment(&self.payload(), &pull, &comment);
            self.found_said(&listed, &id("l", &comment), Heard::TakenOver);
        }
        let reviews = self.all(&format!("/pulls/{number}/reviews?per_page=100"))?;
        self.found_reviews(&pull, &reviews, Heard::TakenOver);
        Ok(())
    }

    fn all(&self, rest: &str) -> Result<Vec<Value>, Trouble> {
        Ok(pages::list(self.github, self.host(), &self.path(rest), &Validators::default())?.items)
    }

    /// The open pull requests that say they deliver an issue: those the cycle has read, or reads now.
    fn delivering(&mut self, issue: u64) -> Vec<u64> {
        if self.pulls.is_empty()
            && let Ok(open) = self.all("/pulls?state=open&sort=updated&direction=asc&per_page=100")
        {
            let open = open.into_iter().filter_map(|pull| Some((number(&pull, "number")?, Some(pull))));
            self.pulls.extend(open);
        }
        let pulls = self.pulls.iter().filter_map(|(number, pull)| Some((*number, pull.as_ref()?)));
        pulls.filter(|(number, pull)| self.delivers(*number, pull, issue)).map(|(number, _)| number).collect()
    }

    fn delivers(&self, number: u64, pull: &Value, issue: u64) -> bool {
        let Some(reference) = self.item(number) else { return false };
        let text = |pointer: &str| pull.pointer(pointer).and_then(Value::as_str);
        let links = linkage::linked_issues(&reference, text("/head/ref"), text("/body").unwrap_or_default());
        links.iter().any(|link| link.issue.number() == issue)
    }
}
