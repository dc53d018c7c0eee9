//! What people are told of how work went. Pure.
//!
//! *Done* means of a comment that the agent has it: it was typed and submitted, or its own process ended well. What the
//! agent makes of it, it says itself.

use super::notice::Notice;
use super::{Effect, Life, Session};
use crate::domain::effect::DeadReason;
use crate::domain::policy::{Policy, Reaction};
use crate::domain::reference::WorkItemRef;
use crate::domain::telling::{self, Kind, Tell};

/// A reaction on the comment that asked for `effect`.
pub(super) fn reaction(item: &WorkItemRef, effect: &Effect, content: Option<Reaction>) -> Option<Tell> {
    let (identity, on) = effect.body.asked_by()?;
    Tell::reaction(on.unwrap_or(item), identity, content)
}

/// What is told of effects that were given up together: a reaction on each comment, and one notice for all.
pub(super) fn given_up(item: &WorkItemRef, dead: &[(Effect, DeadReason, String)], policy: &Policy) -> Vec<Tell> {
    let reactions = dead.iter().filter_map(|(effect, ..)| reaction(item, effect, policy.reactions.error));
    let notice = Notice::of(item, dead);
    let notice = notice.map(|notice| Tell::words(&notice.about, Kind::GivenUp, notice.cause(), notice.text()));
    reactions.chain(notice).collect()
}

/// That a session began, once for each beginning.
pub(super) fn announcement(item: &WorkItemRef, session: &Session, life: &Life, policy: &Policy) -> Option<Tell> {
    let Session { key, created_at, generation, .. } = session;
    let cause = format!("{} {} {generation}", key.as_str(), created_at.as_millis());
    let text = telling::announcement(item, !life.is_without_terminal(), &policy.keywords);
    policy.announces.then(|| Tell::words(item, Kind::Announcement, cause, text))
}
