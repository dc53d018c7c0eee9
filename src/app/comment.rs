//! `the-loop comment`: a comment of an agent's, posted at once and known as ours.

use super::App;
use super::order::Answered;
use super::request::{Commented, Response, Trouble, TroubleKind};
use super::view::present_item;
use crate::domain::reference::WorkItemRef;
use crate::domain::telling::{self, CommentBody, Heard, Kind, Tell};
use crate::store::StoreError;

/// A comment that stands on its ticket, and is not known as ours yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    node_id: String,
    /// For whoever asked.
    pub commented: Commented,
}

impl App {
    /// Posts `body` on `item` and remembers the comment as ours.
    ///
    /// # Errors
    /// The body cannot be posted, or GitHub did not take it.
    pub(super) fn comment(&self, item: &WorkItemRef, body: &str) -> Result<Answered, Trouble> {
        let item = self.ticket(item)?;
        let posted = self.post(&item, body)?;
        // It stands there, whatever the store says; its mark tells that it is ours too.
        let _ = self.keep_posted(&posted);
        Ok(Answered::only(Response::Commented(posted.commented)))
    }

    /// The reference that `item` goes by now.
    ///
    /// # Errors
    /// The store did not answer.
    pub fn ticket(&self, item: &WorkItemRef) -> Result<WorkItemRef, StoreError> {
        self.store().read(|tx| present_item(tx, item))
    }

    /// Posts `body` on `item`. Touches no store: nobody has to own it meanwhile.
    ///
    /// # Errors
    /// The body cannot be posted, or GitHub did not take it.
    pub fn post(&self, item: &WorkItemRef, body: &str) -> Result<Posted, Trouble> {
        let body = CommentBody::parse(body)
            .map_err(|problem| Trouble::refused(problem.to_string()).hint("nothing was posted; change the text"))?;
        let what = Tell::words(item, Kind::Echo, "", "").what;
        let answer = self.parts.github.send(&telling::put(item, &what, body.as_str()));
        match (telling::read(&answer, self.now()), &answer) {
            (Heard::Done, Ok(answer)) => {
                let (node_id, url) = telling::posted(answer);
                Ok(Posted { node_id, commented: Commented { work_item: item.to_string(), url } })
            }
            (heard, _) => Err(not_posted(item, heard)),
        }
    }

    /// Remembers a comment as ours, so that it is never taken for somebody else's words.
    ///
    /// # Errors
    /// The store did not answer.
    pub fn keep_posted(&self, posted: &Posted) -> Result<(), StoreError> {
        let (node_id, now) = (posted.node_id.clone(), self.now());
        match node_id.is_empty() {
            true => Ok(()),
            false => self.parts.store.write(move |tx| tx.put_posted(&node_id, now)),
        }
    }
}

fn not_posted(item: &WorkItemRef, heard: Heard) -> Trouble {
    let outside = |why: String| Trouble::new(TroubleKind::Outside, format!("could not comment on `{item}`: {why}"));
    match heard {
        Heard::Nobody(why) => Trouble::refused(format!("could not comment on `{item}`: {why}")).hint(
            "a running daemon that has a token posts it; `github.tokenEnv` names the variables a token is read from",
        ),
        Heard::Limited { until } => {
            outside("GitHub asks to wait".to_owned()).hint(format!("nothing was posted; try again after {until}"))
        }
        Heard::Outage(why) => {
            outside(why).hint("it may have been posted all the same: look at the ticket before you try again")
        }
        Heard::Never(why) => outside(why).hint("nothing was posted; `the-loop doctor` tells about the token"),
        Heard::Done => outside("the answer was lost".to_owned()).hint("look at the ticket"),
    }
}
