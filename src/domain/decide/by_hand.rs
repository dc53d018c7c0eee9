//! What an operator does to a record by hand, beside the control words: register, close, reset, link. The item is named
//! explicitly and is the one that is meant; nothing here resolves through a pull request.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::view::{Known, View};
use super::{DropReason, Outcome, Urgency, Verdict, ending, guards, operator, records};
use crate::domain::event::SubjectKind;
use crate::domain::ids::{ConversationId, DeliveryId};
use crate::domain::log::{EventName, LogEntry};
use crate::domain::policy::Policy;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{EndReason, Session, SessionState};
use crate::domain::time::Time;

#[cfg(test)]
mod tests;

/// One of these verbs as given.
#[derive(Debug, Clone, PartialEq)]
pub struct ByHand {
    /// The item, named explicitly.
    pub item: WorkItemRef,
    /// What to do to it.
    pub act: Act,
    /// An id for the log.
    pub id: DeliveryId,
}

/// What is done to a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Act {
    /// A conversation that exists already becomes the item's: the next thing said to the item resumes it.
    Register(Registration),
    /// The session and those of its pull requests end and the item is over here, as if it had been closed; a later start
    /// resumes the conversation.
    Close {
        /// Whether the panes stay with what they showed; without a word the setting decides.
        keep_pane: Option<bool>,
    },
    /// The session, its pull requests and the command are forgotten, and the ending is dated: no older copy of anything
    /// brings them back.
    Reset,
    /// A pull request is recorded on the record.
    LinkPr(WorkItemRef),
}

/// A conversation that exists already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    /// Name of the harness that resumes it.
    pub harness: String,
    /// The harness's own name for it.
    pub conversation: ConversationId,
    /// Where it works, absolute.
    pub cwd: PathBuf,
    /// Whether it takes the place of a session that lives, which then ends.
    pub force: bool,
}

impl Act {
    /// The verb as it is typed.
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Register(_) => "register",
            Self::Close { .. } => "close",
            Self::Reset => "reset",
            Self::LinkPr(_) => "link-pr",
        }
    }
}

/// Decides one of them.
pub fn decide_by_hand(by_hand: &ByHand, view: &View, policy: &Policy, now: Time) -> Outcome {
    let ByHand { item, act, id } = by_hand;
    let event = operator::event_of(item, act.verb(), id);
    let mut draft = Draft::new(&event, view, policy, now);
    let verdict = match act {
        Act::Register(registration) => register(&mut draft, item, registration),
        Act::Close { keep_pane } => close(&mut draft, item, *keep_pane),
        Act::Reset => reset(&mut draft, item),
        Act::LinkPr(pull_request) => link(&mut draft, item, pull_request),
    };
    draft.finish(verdict)
}

fn register(draft: &mut Draft<'_>, item: &WorkItemRef, registration: &Registration) -> Verdict {
    let Registration { harness, conversation, cwd, force } = registration;
    let known = draft.item(item);
    if known.is_some_and(|item| item.facts.open == Some(false)) {
        return Verdict::Refused(DropReason::ItemClosed);
    }
    // Nobody would be heard by it. What has a record is ours, whatever its repository is called by now.
    if !is_ours(draft, item) {
        return Verdict::Refused(DropReason::OtherRepository);
    }
    match known.and_then(|item| item.live_session()) {
        Some(live) if is_registered(live, registration) => return Verdict::Dropped(DropReason::NothingToDo),
        Some(_) if !force => return Verdict::Refused(DropReason::OtherSession),
        Some(_) => ending::end_own(draft, item),
        None => {}
    }
    let (now, fresh) = (draft.now, draft.new_session(item, item));
    let record = draft.item_mut(item);
    let earlier = record.session.take();
    let (key, generation) = earlier.map_or((fresh.key.clone(), 0), |session| (session.key, session.generation));
    record.session = Some(Session {
        key,
        harness: harness.clone(),
        conversation: Some(conversation.clone()),
        cwd: Some(cwd.clone()),
        // Without a life and without a spawn: the first delivery asks for one, and it resumes.
        state: SessionState::Starting,
        generation: generation + 1,
        ..fresh
    });
    record.baseline = Some(now);
    record.held_by_adoption = false;
    ending::revive_stopped(draft, item);
    let entry = LogEntry::info(EventName::SessionRegistered).with("harness", harness.as_str());
    draft.log(entry.with("sessionId", conversation.as_str()).with("replaced", *force), item);
    Verdict::Accepted
}

fn is_registered(session: &Session, registration: &Registration) -> bool {
    let Registration { harness, conversation, cwd, force: _ } = registration;
    (&session.harness, session.conversation.as_ref(), session.cwd.as_ref()) == (harness, Some(conversation), Some(cwd))
}

fn close(draft: &mut Draft<'_>, item: &WorkItemRef, keep_pane: Option<bool>) -> Verdict {
    let Some(known) = draft.known(item).filter(|known| known.item.session.is_some()) else {
        return Verdict::Refused(DropReason::NoRecord);
    };
    let runs = known.endpoints.iter().chain(&known.item.session).any(ending::is_over_not_yet);
    if !runs && !records::is_armed(&known.item) {
        return Verdict::Dropped(DropReason::NothingToDo);
    }
    // As after a stop, a later start revives the conversations of its pull requests, whose own fate GitHub tells.
    ending::end_sessions_and(draft, item, EndReason::Stopped, keep_pane);
    ending::tidy(draft, item);
    over(draft, item, EndReason::Closed);
    Verdict::Accepted
}

fn reset(draft: &mut Draft<'_>, item: &WorkItemRef) -> Verdict {
    if !draft.known(item).is_some_and(can_be_reset) {
        return Verdict::Dropped(DropReason::NothingToDo);
    }
    ending::reset_sessions(draft, item);
    let row = draft.item_mut(item);
    // The next cycle sees it for the first time. What it has seen stays: it travels, and an item never hears its old
    // comments again.
    (row.baseline, row.sections.last_polled_at) = (None, None);
    over(draft, item, EndReason::Reset);
    draft.log(LogEntry::info(EventName::SessionReset), item);
    Verdict::Accepted
}

/// Whether there is anything of the item to reset: a session, a pull request's, or a command.
pub fn can_be_reset(known: &Known) -> bool {
    let sessions = known.endpoints.iter().chain(&known.item.session);
    known.item.sections.control.is_some() || sessions.into_iter().any(|session| !session.was_reset())
}

/// The command goes and the ending is dated, which every other machine hears.
fn over(draft: &mut Draft<'_>, item: &WorkItemRef, reason: EndReason) {
    let now = draft.now;
    ending::date_the_end(draft, item, now, reason);
    draft.item_mut(item).held_by_adoption = false;
    draft.mark(item, Urgency::Now);
}

/// Whether events about `reference` are taken, or were: a repository under a former name has records.
fn is_ours(draft: &Draft<'_>, reference: &WorkItemRef) -> bool {
    guards::serves(draft, reference.repo()) || draft.item(reference).is_some()
}

fn link(draft: &mut Draft<'_>, item: &WorkItemRef, pull_request: &WorkItemRef) -> Verdict {
    let refused = match draft.known(item) {
        _ if item.key() == pull_request.key() => Some(DropReason::OwnPullRequest),
        // What is said on it would be refused: it would be linked and never heard.
        _ if !is_ours(draft, pull_request) => Some(DropReason::OtherRepository),
        Some(known) if known.item.session.is_some() => None,
        _ => Some(DropReason::NoRecord),
    };
    let is_issue = || draft.item(pull_request).is_some_and(|item| item.facts.kind == Some(SubjectKind::Issue));
    if let Some(reason) = refused.or_else(|| is_issue().then_some(DropReason::NotAPullRequest)) {
        let entry = LogEntry::warn(EventName::SessionLinkFailed).with("pullRequest", pull_request.to_string());
        draft.log(entry.with("reason", reason.as_str()), item);
        return Verdict::Refused(reason);
    }
    if draft.known(item).is_some_and(|known| known.endpoint(pull_request).is_some()) {
        return Verdict::Dropped(DropReason::NothingToDo);
    }
    records::link(draft, item, pull_request);
    Verdict::Accepted
}
