//! The operator's own command line: the same rules as a word on the ticket, named item, no pull-request detour.

use super::control::{self, Applied, Origin};
use super::draft::Draft;
use super::records::Seed;
use super::view::View;
use super::{DropReason, Outcome, Verdict, guards, telling};
use crate::domain::event::{Content, Event, Ignored, Repository, Subject, SubjectKind};
use crate::domain::ids::DeliveryId;
use crate::domain::item::Item;
use crate::domain::policy::Policy;
use crate::domain::portable::{Command, Control, RequestedAt, Source};
use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

/// `sessions start|stop|pause|resume REF` as given.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorCommand {
    /// The item, named explicitly.
    pub item: WorkItemRef,
    /// The word.
    pub word: Command,
    /// The operator's user name.
    pub actor: String,
    /// An id for the log.
    pub id: DeliveryId,
}

/// Decides a command of this machine. It is dated so that it is later than what is recorded, whatever the clocks say.
pub fn decide_command(command: &OperatorCommand, view: &View, policy: &Policy, now: Time) -> Outcome {
    let event = event_of(&command.item, command.word.as_str(), &command.id);
    let mut draft = Draft::new(&event, view, policy, now);
    // What is said there would be refused, so an agent for it would hear nobody. An item that has a record is ours,
    // whatever its repository is called by now.
    let is_ours = view.item(&command.item).is_some() || guards::serves(&draft, command.item.repo());
    if command.word == Command::Start && !is_ours {
        return draft.finish(Verdict::Refused(DropReason::OtherRepository));
    }
    let subject = subject_of(command, view.item(&command.item));
    let control = Control {
        command: command.word.clone(),
        source: Source::Cli,
        actor: command.actor.clone(),
        requested_at: RequestedAt::At(date(view.item(&command.item), now)),
        note: None,
        extra: serde_json::Map::new(),
    };
    let seed = Seed { subject: &subject, by_fact: false, asked_by: None };
    let verdict = match control::apply(&mut draft, &command.item, &control, &seed, Origin::Operator) {
        Applied::Acted | Applied::Started(_) => Verdict::Accepted,
        Applied::Refused(reason, _) => Verdict::Refused(reason),
    };
    let verdict = match verdict {
        Verdict::Accepted if nothing_changes(command, view) => Verdict::Dropped(DropReason::NothingToDo),
        verdict => verdict,
    };
    match verdict {
        Verdict::Dropped(_) => Draft::new(&event, view, policy, now).finish(verdict),
        Verdict::Accepted => {
            telling::echo(&mut draft, &command.item, &command.word, command.id.as_str());
            draft.finish(verdict)
        }
        _ => draft.finish(verdict),
    }
}

/// Later than the recorded command, the ending and the last close by at least a second; but now, where those were dated
/// by a wrong clock.
fn date(item: Option<&Item>, now: Time) -> Time {
    let Some(item) = item else { return now.whole_seconds() };
    let sections = item.sections.believed(item.facts.closed_at.map_or(now, |closed| closed.max(now)));
    let recorded = sections.control.as_ref().and_then(Control::at);
    let ended = sections.ended.as_ref().map(|ended| ended.at);
    let floor = [recorded, ended, item.facts.closed_at].into_iter().flatten().max();
    floor.map_or(now, |floor| now.max(floor.plus_seconds(1))).whole_seconds()
}

/// A word that says what already is: a start of a running session, a stop of a stopped one.
fn nothing_changes(command: &OperatorCommand, view: &View) -> bool {
    let Some(item) = view.item(&command.item) else { return false };
    let said = item.sections.control.as_ref().is_some_and(|control| control.command == command.word);
    let session = item.session.as_ref();
    said && match command.word {
        Command::Start => {
            session.is_some_and(|s| s.is_live() && !s.is_paused() && !s.breaker.tripped) && !item.held_by_adoption
        }
        Command::Stop => session.is_none_or(|session| !session.is_live()),
        Command::Pause => session.is_none_or(|session| !session.is_live() || session.is_paused()),
        Command::Resume | Command::Other(_) => false,
    }
}

/// What stands for an event where nothing happened on GitHub: the verb, on the item it names.
pub(super) fn event_of(item: &WorkItemRef, verb: &str, id: &DeliveryId) -> Event {
    Event {
        name: "command".into(),
        action: Some(verb.to_owned()),
        delivery: id.clone(),
        repository: Some(Repository { reference: item.repo().clone(), id: 0 }),
        sender: None,
        content: Content::Ignored(Ignored::UnlistedAction),
    }
}

/// What is known of the item without asking anybody.
fn subject_of(command: &OperatorCommand, item: Option<&Item>) -> Subject {
    let facts = item.map(|item| item.facts.clone()).unwrap_or_default();
    Subject {
        reference: item.map_or_else(|| command.item.clone(), |item| item.reference.clone()),
        kind: facts.kind.unwrap_or(SubjectKind::Issue),
        id: facts.item_id.unwrap_or(0),
        title: String::new(),
        body: String::new(),
        author: None,
        labels: Vec::new(),
        open: facts.open,
        updated_at: facts.updated_at,
        created_at: None,
        closed_at: facts.closed_at,
        link: None,
        head: facts.head,
    }
}
