//! What speaks: comments, reviews and failed checks (events rules, sections 3 to 7).

use super::draft::Draft;
use super::resolve::{self, Match};
use super::view::DeliveryState;
use super::{
    Change, DropReason, Heard, IdentityState, MissingFact, Verdict, control, facts, messages, records, telling,
};
use crate::domain::event::marker;
use crate::domain::event::words::{self, Word, Words};
use crate::domain::event::{Check, Event, Form, Identity, Speech, Subject};
use crate::domain::ids::Login;
use crate::domain::message::Message;
use crate::domain::reference::WorkItemRef;

/// Guards 5 to 10 and the delivery.
pub(super) fn act(draft: &mut Draft<'_>, speech: &Speech) -> Verdict {
    if draft.view.posted_by_us || marker::is_marked(&speech.text) {
        return settle(draft, speech, Verdict::Dropped(DropReason::SelfAuthored));
    }
    let verdict = match (&speech.form, &speech.subject) {
        (Form::Check(check), _) => check_verdict(draft, speech, check),
        (_, Some(subject)) => words_verdict(draft, speech, subject),
        (_, None) => Verdict::Dropped(DropReason::NoWorkItem),
    };
    settle(draft, speech, verdict)
}

/// Guard 6: whether the sender may speak here and wrote the text.
enum Admission {
    Granted,
    Denied,
    /// GitHub has to say what they may do.
    Asks(MissingFact),
}

fn admission(draft: &Draft<'_>, speech: &Speech) -> Admission {
    let sender: Option<&Login> = draft.event.sender.as_ref();
    let is_author = speech.author.as_ref() == sender;
    if is_author && draft.policy.admits(sender) {
        return Admission::Granted;
    }
    let person = sender.filter(|login| is_author && !login.is_bot());
    let (Some(login), Some(least)) = (person, draft.policy.authorize_permission) else { return Admission::Denied };
    let login = login.as_str().to_ascii_lowercase();
    match draft.view.told.permission(&login) {
        Some(permission) if permission >= least => Admission::Granted,
        Some(_) => Admission::Denied,
        None => Some(MissingFact::Permission(login))
            .filter(|fact| !draft.view.told.settles(fact))
            .map_or(Admission::Denied, Admission::Asks),
    }
}

fn words_verdict(draft: &mut Draft<'_>, speech: &Speech, subject: &Subject) -> Verdict {
    let admission = admission(draft, speech);
    if matches!(admission, Admission::Denied) {
        return denied(draft, speech);
    }
    if let Some(verdict) = spoken_before(draft, speech) {
        return verdict;
    }
    if let Admission::Asks(fact) = admission {
        draft.missing = Some(fact);
        return Verdict::Refused(DropReason::UnauthorizedActor);
    }
    let named = resolve::named(draft.event, draft.policy, &draft.view.told);
    let words = words::find(&speech.text, &draft.policy.keywords);
    // Stops and pauses are decided at once, with what is known.
    if !matches!(&words, Words::One { word: Word::Stop | Word::Pause, .. }) {
        draft.missing = resolve::missing(subject, &named, draft.view);
    }
    let counted = resolve::counted(named, draft.view);
    let matches = resolve::matches(subject, &counted, draft.view, draft.policy);
    let Some(first) = counted.first().map(|named| named.reference.clone()) else {
        return Verdict::Dropped(DropReason::NoWorkItem);
    };
    match words {
        // A text of before the repository was polled is read for its word only.
        Words::None if draft.view.heard == Heard::LastWord => Verdict::Dropped(DropReason::NotNew),
        Words::None => {
            let verdict = plain(draft, speech, subject, &matches, &first);
            if verdict == Verdict::Accepted {
                telling::accepted(draft, speech, subject);
            }
            verdict
        }
        Words::Ambiguous(words) => control::ambiguous(draft, speech, subject, &words),
        Words::One { word, rest } => {
            let said = control::Said { word: word.command(), rest, speech, subject };
            control::act(draft, &said, &matches, &first)
        }
    }
}

/// What a stranger says is refused, whenever it is heard. A list shows it again and again, and once is enough.
fn denied(draft: &Draft<'_>, speech: &Speech) -> Verdict {
    match spoken_before(draft, speech) {
        Some(verdict) if !draft.view.heard.is_delivered() => verdict,
        _ => Verdict::Refused(DropReason::UnauthorizedActor),
    }
}

/// A comment without a control word goes to every record it matches, or may start one.
fn plain(draft: &mut Draft<'_>, speech: &Speech, subject: &Subject, matches: &[Match], first: &WorkItemRef) -> Verdict {
    let message = messages::of_speech(draft.event, speech, subject, speech.text.clone());
    if matches.is_empty() {
        if facts::is_before_the_end(draft, first, speech.created_at) {
            return Verdict::Dropped(DropReason::NotNew);
        }
        let seed = records::Seed { subject, by_fact: false, asked_by: None };
        return match records::start(draft, first, &seed, None) {
            Err(reason) => Verdict::Refused(reason),
            Ok(_) if !is_new(draft, first, speech) => Verdict::Accepted,
            Ok(started) => {
                deliver(draft, &[started], speech, message);
                Verdict::Accepted
            }
        };
    }
    let fresh: Vec<Match> = matches.iter().filter(|m| is_new(draft, &m.owner, speech)).cloned().collect();
    if fresh.is_empty() {
        return Verdict::Dropped(DropReason::NotNew);
    }
    deliver(draft, &fresh, speech, message);
    Verdict::Accepted
}

fn check_verdict(draft: &mut Draft<'_>, speech: &Speech, check: &Check) -> Verdict {
    if check.is_workflow_run && draft.view.head_checked {
        return Verdict::Dropped(DropReason::IgnoredAction);
    }
    if let Some(verdict) = spoken_before(draft, speech) {
        return verdict;
    }
    let matches = resolve::matches_of_check(check, draft.event, draft.view, draft.policy);
    if matches.is_empty() {
        return Verdict::Dropped(DropReason::NoWorkItem);
    }
    let fresh: Vec<_> = matches.into_iter().filter(|(m, _)| is_new(draft, &m.owner, speech)).collect();
    if fresh.is_empty() {
        return Verdict::Dropped(DropReason::NotNew);
    }
    for (matched, about) in fresh {
        let message = messages::of_check(draft.event, speech, check, about);
        deliver(draft, &[matched], speech, message);
    }
    if !check.is_workflow_run
        && let Some(head) = checked_head(draft.event, check)
    {
        draft.identity(&head, IdentityState::Spoken);
    }
    Verdict::Accepted
}

/// The identity under which a head is remembered as one that a check spoke about.
pub fn checked_head(event: &Event, check: &Check) -> Option<Identity> {
    let repository = event.repository.as_ref()?;
    Some(Identity::new(repository.reference.host(), repository.id, "checked-head", &check.head_sha))
}

/// Guard 7: the identity was consumed, unless the same delivery id asks again for a refused one.
fn spoken_before(draft: &Draft<'_>, speech: &Speech) -> Option<Verdict> {
    let retried = draft.view.delivery == Some(DeliveryState::Refused);
    let used = match draft.view.identity {
        IdentityState::Unused => false,
        // What was refused before this machine followed the item is judged again when it takes it over.
        IdentityState::Refused => !retried && draft.view.heard != Heard::TakenOver,
        IdentityState::Spoken => true,
    };
    // Another machine may have heard it before.
    let used = used || (!retried && !draft.view.seen.is_empty());
    let heard = draft.view.heard;
    let watermark = draft.view.watermark.filter(|_| heard.forgets());
    let forgotten = speech.created_at.zip(watermark).is_some_and(|(at, watermark)| at < watermark);
    match (used, forgotten || !heard.takes(speech.created_at)) {
        (true, _) => Some(Verdict::Dropped(DropReason::SameEvent)),
        (false, true) => Some(Verdict::Dropped(DropReason::NotNew)),
        (false, false) => None,
    }
}

/// Whether `speech` is not older than what the item's present life began with.
pub(super) fn is_new(draft: &Draft<'_>, owner: &WorkItemRef, speech: &Speech) -> bool {
    let baseline = draft.item(owner).and_then(|item| item.baseline);
    speech.created_at.zip(baseline).is_none_or(|(at, baseline)| at >= baseline)
}

/// Stores one delivery per matched record. Nearly always there is one, which gets the message itself.
pub(super) fn deliver(draft: &mut Draft<'_>, matches: &[Match], speech: &Speech, message: Message) {
    let Some((last, others)) = matches.split_last() else { return };
    for matched in others {
        records::deliver(draft, matched, Some(&speech.identity), message.clone());
    }
    records::deliver(draft, last, Some(&speech.identity), message);
}

/// Consumes the identity and makes the comment seen, as the verdict says.
fn settle(draft: &mut Draft<'_>, speech: &Speech, verdict: Verdict) -> Verdict {
    let state = match verdict {
        Verdict::Accepted | Verdict::Dropped(DropReason::AmbiguousCommand | DropReason::OlderCommand) => {
            Some(IdentityState::Spoken)
        }
        Verdict::Refused(_) if draft.view.identity != IdentityState::Spoken => Some(IdentityState::Refused),
        _ => None,
    };
    if let Some(state) = state {
        draft.identity(&speech.identity, state);
    }
    if matches!(verdict, Verdict::Dropped(DropReason::SameEvent)) {
        return verdict;
    }
    // Refused ones too: what the poller lists later is not new.
    let named = resolve::named(draft.event, draft.policy, &draft.view.told).into_iter().map(|named| named.reference);
    let listing = speech.subject.iter().flat_map(|subject| draft.listing(&subject.reference));
    let mut items: Vec<_> = named.chain(listing).collect();
    items.sort();
    items.dedup_by_key(|item| item.key());
    for item in items {
        draft.seen(&item, speech.node_id.as_deref());
    }
    if let Some(subject) = &speech.subject {
        records::note_ids(draft, subject);
    }
    verdict
}

/// The head of a pull request that is ours, so that checks naming only a commit find it.
pub(super) fn record_head(draft: &mut Draft<'_>, subject: &Subject) {
    if let Some(head) = &subject.head
        && !head.sha.is_empty()
    {
        draft.change(Change::Head { sha: head.sha.clone(), pull_request: subject.reference.clone() });
    }
}
