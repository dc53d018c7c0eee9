//! What a decision has told on the ticket: that a comment was heard, or why its word was not obeyed.
//!
//! Only what passed guard 6 is answered. Strangers, our own words, and what is dropped without a word get nothing.

use super::DropReason;
use super::draft::Draft;
use crate::domain::event::words::Word;
use crate::domain::event::{Speech, Subject};
use crate::domain::policy::Reaction;
use crate::domain::portable::Command;
use crate::domain::reference::WorkItemRef;
use crate::domain::telling::{self, Kind, Lost, Tell};

/// It is on its way to an agent.
pub(super) fn accepted(draft: &mut Draft<'_>, speech: &Speech, subject: &Subject) {
    react(draft, speech, subject, draft.policy.reactions.started);
}

/// Its word was obeyed by the decision itself: what it changes holds from now on.
pub(super) fn obeyed(draft: &mut Draft<'_>, speech: &Speech, subject: &Subject) {
    react(draft, speech, subject, draft.policy.reactions.completed);
}

fn react(draft: &mut Draft<'_>, speech: &Speech, subject: &Subject, content: Option<Reaction>) {
    draft.tell(Tell::reaction(&subject.reference, &speech.identity, content));
}

/// A word was not obeyed.
pub(super) fn refused(
    draft: &mut Draft<'_>,
    speech: &Speech,
    subject: &Subject,
    command: &Command,
    (reason, lost_to): (DropReason, Option<&Lost>),
) {
    let text = telling::refusal(command, reason, lost_to, draft.policy);
    answer(draft, speech, subject, text);
}

/// One comment held different words.
pub(super) fn two_words(draft: &mut Draft<'_>, speech: &Speech, subject: &Subject, words: &[Word]) {
    answer(draft, speech, subject, telling::two_words(words));
}

fn answer(draft: &mut Draft<'_>, speech: &Speech, subject: &Subject, text: String) {
    draft.tell(Some(Tell::words(&subject.reference, Kind::Refusal, speech.identity.as_str(), text)));
}

/// A word of the command line was obeyed; `id` is that command's own.
pub(super) fn echo(draft: &mut Draft<'_>, item: &WorkItemRef, command: &Command, id: &str) {
    if draft.policy.announces {
        let text = telling::echo(command, &draft.policy.keywords);
        draft.tell(Some(Tell::words(item, Kind::Echo, id, text)));
    }
}
