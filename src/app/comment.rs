//! `the-loop comment`: a comment of an agent's, posted at once and known as ours.

use super::App;
use super::order::Answered;
use super::request::{Commented, Response, Trouble, TroubleKind};
use super::view::present_item;
use crate::domain::reference::WorkItemRef;
use crate::domain::telling::{self, CommentBody, Kind, Tell, Untold};
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
        let comment =
            self.send_comment(telling::put(item, &what, body.as_str())).map_err(|untold| not_posted(item, untold))?;
        let (node_id, url) = telling::posted(&comment);
        Ok(Posted { node_id, commented: Commented { work_item: item.to_string(), url } })
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

fn not_posted(item: &WorkItemRef, untold: Untold) -> Trouble {
    let text = |why: &dyn std::fmt::Display| format!("could not comment on `{item}`: {why}");
    let outside = |why: &dyn std::fmt::Display| Trouble::new(TroubleKind::Outside, text(why));
    match untold {
        Untold::Nobody(trouble) => {
            let hint = trouble.hint().unwrap_or_default();
            Trouble::refused(text(&trouble)).hint(format!("a running daemon that has a token posts it; {hint}"))
        }
        Untold::Limited { until, .. } => {
            outside(&"GitHub asks to wait").hint(format!("nothing was posted; try again after {until}"))
        }
        Untold::Outage(trouble) => {
            outside(&trouble).hint("it may have been posted all the same: look at the ticket before you try again")
        }
        Untold::Never(trouble) => {
            let hint = trouble.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            outside(&trouble).hint(format!("nothing was posted{hint}"))
        }
    }
}
