//! Control words on a ticket and on a command line: one set of rules (events rules, section 6).

use super::draft::Draft;
use super::resolve::Match;
use super::{DropReason, Urgency, Verdict, ending, messages, records, speech, telling};
use crate::domain::event::words::Word;
use crate::domain::event::{Speech, Subject};
use crate::domain::item::Item;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::portable::{Command, Control, RequestedAt, Source};
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{EndReason, SessionState};
use crate::domain::telling::Lost;
use crate::domain::time::Time;

/// A control word as it was said on a ticket.
pub(super) struct Said<'s> {
    pub(super) word: Command,
    pub(super) rest: String,
    pub(super) speech: &'s Speech,
    pub(super) subject: &'s Subject,
}

/// What a word did to one item.
pub(super) enum Applied {
    /// It acted on the live session, or was recorded; the rest of the comment can be delivered.
    Acted,
    /// It started a record; the rest of the comment goes where the match says.
    Started(Box<Match>),
    /// It did not apply; with what it is older than, when that is why.
    Refused(DropReason, Option<Lost>),
}

/// Two different words in one comment: nothing happens, and the log and the thread are told.
pub(super) fn ambiguous(draft: &mut Draft<'_>, speech: &Speech, subject: &Subject, words: &[Word]) -> Verdict {
    draft.log(LogEntry::warn(EventName::ControlAmbiguous), &subject.reference);
    telling::two_words(draft, speech, subject, words);
    Verdict::Dropped(DropReason::AmbiguousCommand)
}

/// Obeys a word on every record it matches, or on the first reference when none is live.
pub(super) fn act(draft: &mut Draft<'_>, said: &Said<'_>, matches: &[Match], first: &WorkItemRef) -> Verdict {
    let control = control_of(draft, said);
    let owners: Vec<WorkItemRef> = match matches {
        [] => vec![first.clone()],
        // A live record of its own is the only one a word on it acts on.
        [own, ..] if own.owner.key() == said.subject.reference.key() => vec![own.owner.clone()],
        _ => matches.iter().map(|matched| matched.owner.clone()).collect(),
    };
    let has_rest = !said.rest.trim().is_empty() && control.command.arms();
    // The agent's answer to a word alone is that it runs; else it is that the rest of the comment reached it.
    let asked_by = (!has_rest).then_some(&said.speech.identity);
    let (mut refused, mut started_any) = (None, false);
    let mut acted = Vec::new();
    for owner in &owners {
        let seed = records::Seed { subject: said.subject, by_fact: false, asked_by };
        match apply(draft, owner, &control, &seed, Origin::Ticket) {
            Applied::Refused(reason, lost_to) => refused = Some((reason, lost_to)),
            Applied::Started(started) => {
                started_any = true;
                acted.push(*started);
            }
            Applied::Acted => acted.extend(matches.iter().filter(|m| m.owner.key() == owner.key()).cloned()),
        }
    }
    if has_rest {
        let message = messages::of_speech(draft.event, said.speech, said.subject, said.rest.clone());
        speech::deliver(draft, &acted, said.speech, message);
    }
    let verdict = match &refused {
        Some((DropReason::OlderCommand, _)) if acted.is_empty() => Verdict::Dropped(DropReason::OlderCommand),
        Some((reason, _)) if acted.is_empty() && control.command.arms() => Verdict::Refused(*reason),
        _ => Verdict::Accepted,
    };
    match (verdict, &refused) {
        (Verdict::Accepted, _) if started_any || (has_rest && !acted.is_empty()) => {
            telling::accepted(draft, said.speech, said.subject);
        }
        (Verdict::Accepted, _) => telling::obeyed(draft, said.speech, said.subject),
        (_, Some((reason, lost_to))) => {
            telling::refused(draft, said.speech, said.subject, &control.command, (*reason, lost_to.as_ref()));
        }
        (_, None) => {}
    }
    verdict
}

/// Who gave the word: policy about labels and spawning binds a ticket, not the operator's own command line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Ticket,
    Operator,
}

/// Obeys one word on one item, or says why not; the trail holds both.
pub(super) fn apply(
    draft: &mut Draft<'_>,
    owner: &WorkItemRef,
    control: &Control,
    seed: &records::Seed<'_>,
    origin: Origin,
) -> Applied {
    let now = draft.now;
    let applied = match lost_to(draft.item(owner), control, now) {
        Some(_) if still_ends(draft.item(owner), control) => {
            ending::end_sessions(draft, owner, EndReason::Stopped);
            Applied::Acted
        }
        Some(lost) => Applied::Refused(DropReason::OlderCommand, Some(lost)),
        None => obey(draft, owner, control, seed, origin),
    };
    let (event, reason, lost) = match &applied {
        Applied::Refused(reason, lost) => (EventName::ControlRejected, Some(reason.as_str()), lost.as_ref()),
        Applied::Acted | Applied::Started(_) => (EventName::ControlCommand, None, None),
    };
    let entry = LogEntry::info(event).with("command", control.command.as_str()).with("actor", control.actor.as_str());
    let entry = entry.with_some("reason", reason).with_some("lostTo", lost.map(ToString::to_string));
    draft.log(entry, owner);
    applied
}

fn obey(
    draft: &mut Draft<'_>,
    owner: &WorkItemRef,
    control: &Control,
    seed: &records::Seed<'_>,
    origin: Origin,
) -> Applied {
    let live = draft.item(owner).is_some_and(|item| item.live_session().is_some());
    match (&control.command, live) {
        (Command::Start, false) => return start(draft, owner, control, seed, origin),
        (Command::Resume, true) if is_held(draft, owner) => {}
        (Command::Resume | Command::Other(_), _) => return Applied::Refused(DropReason::NotApplicable, None),
        (Command::Start | Command::Pause | Command::Stop, _) => {}
    }
    record(draft, owner, control);
    match &control.command {
        Command::Start | Command::Resume => release(draft, owner),
        Command::Pause => hold(draft, owner),
        Command::Stop => ending::end_sessions(draft, owner, EndReason::Stopped),
        Command::Other(_) => {}
    }
    Applied::Acted
}

fn start(
    draft: &mut Draft<'_>,
    owner: &WorkItemRef,
    control: &Control,
    seed: &records::Seed<'_>,
    origin: Origin,
) -> Applied {
    let started = match origin {
        Origin::Ticket => records::start(draft, owner, seed, Some(control)),
        Origin::Operator => records::start_by_operator(draft, owner, seed, control),
    };
    match started {
        Ok(matched) => {
            record(draft, owner, control);
            Applied::Started(Box::new(matched))
        }
        Err(reason) => Applied::Refused(reason, None),
    }
}

/// What a word is older than, in the order of the join: time, then the disarming word, then the larger comment. What a
/// wrong clock dated years ahead is nothing to be older than.
fn lost_to(item: Option<&Item>, control: &Control, now: Time) -> Option<Lost> {
    let item = item?;
    let at = control.at()?;
    let sections = item.sections.believed(at.max(now));
    if let Some(ended) = sections.ended.as_ref().filter(|ended| at <= ended.at) {
        return Some(Lost { what: ended.reason.clone(), at: Some(ended.at) });
    }
    if let Some(closed) = item.facts.closed_at.filter(|closed| at <= closed.whole_seconds()) {
        return Some(Lost { what: "closed".to_owned(), at: Some(closed) });
    }
    let recorded = sections.control.as_ref()?;
    // Another machine may have heard the same comment first; what it recorded must not keep us from obeying it.
    let same = control.command == recorded.command && rank(control) == rank(recorded) && rank(control).2 > 0;
    let later = rank(control) > rank(recorded) || same;
    (!later).then(|| Lost { what: recorded.command.as_str().to_owned(), at: recorded.at() })
}

/// Whether a stop that comes late still ends what lives: nothing armed the item since, and its session is not younger.
fn still_ends(item: Option<&Item>, control: &Control) -> bool {
    item.is_some_and(|item| {
        control.command == Command::Stop
            && item.live_session().is_some()
            && !records::is_armed(item)
            && item.baseline.is_none_or(|baseline| control.at() >= Some(baseline))
    })
}

fn rank(control: &Control) -> (Option<Time>, u8, u64) {
    (control.at(), control.command.rank(), comment_id(control.note.as_deref()))
}

/// The number at the end of a comment's link; larger is later.
fn comment_id(note: Option<&str>) -> u64 {
    let note = note.unwrap_or_default();
    let digits = note.len() - note.bytes().rev().take_while(u8::is_ascii_digit).count();
    note[digits..].parse().unwrap_or_default()
}

fn control_of(draft: &Draft<'_>, said: &Said<'_>) -> Control {
    Control {
        command: said.word.clone(),
        source: Source::Comment,
        actor: draft.event.sender.as_ref().map(|login| login.as_str().to_owned()).unwrap_or_default(),
        requested_at: RequestedAt::At(said.speech.created_at.unwrap_or(draft.now).whole_seconds()),
        note: said.speech.link.clone(),
        extra: serde_json::Map::new(),
    }
}

/// Writes the command down: keys of other versions stay, and the file follows at once.
pub(super) fn record(draft: &mut Draft<'_>, owner: &WorkItemRef, control: &Control) {
    let now = draft.now;
    let sections = &mut draft.item_mut(owner).sections;
    let mut control = control.clone();
    if let Some(earlier) = &sections.control {
        control.extra.clone_from(&earlier.extra);
    }
    // An ending that a wrong clock dated would stand over this word in the record, as it no longer does in the decision.
    *sections = sections.believed(control.at().map_or(now, |at| at.max(now)));
    sections.commanded_at = sections.commanded_at.max(control.at());
    sections.control = Some(control);
    draft.mark(owner, Urgency::Now);
}

/// Whether anything holds deliveries of the record or of one of its conversations.
fn is_held(draft: &Draft<'_>, owner: &WorkItemRef) -> bool {
    draft.known(owner).is_some_and(|known| {
        let tripped = known.endpoints.iter().chain(known.item.session.iter()).any(|session| session.breaker.tripped);
        known.item.held_by_adoption || tripped || known.item.session.as_ref().is_some_and(|session| session.is_paused())
    })
}

/// Deliveries go on: the pause, the hold of an adopted change and tripped breakers end.
fn release(draft: &mut Draft<'_>, owner: &WorkItemRef) {
    if !is_held(draft, owner) {
        return;
    }
    let now = draft.now;
    let item = draft.item_mut(owner);
    item.held_by_adoption = false;
    if let Some(session) = &mut item.session {
        session.resumed_at = Some(now);
        session.breaker = Default::default();
        session.unpause();
    }
    let endpoints = draft.known(owner).map(|known| known.endpoints.clone()).unwrap_or_default();
    for endpoint in endpoints {
        if let Some(endpoint) = draft.endpoint_mut(owner, &endpoint.reference) {
            endpoint.resumed_at = Some(now);
            endpoint.breaker = Default::default();
        }
    }
    draft.log(LogEntry::info(EventName::SessionResumed), owner);
}

fn hold(draft: &mut Draft<'_>, owner: &WorkItemRef) {
    let Some(session) = draft.item(owner).and_then(|item| item.live_session()).cloned() else { return };
    if session.is_paused() {
        return;
    }
    let life = session.life().cloned();
    if let Some(session) = &mut draft.item_mut(owner).session {
        session.state = SessionState::Paused(life);
    }
    ending::pause_run(draft, owner);
    draft.log(LogEntry::info(EventName::SessionPaused), owner);
}
