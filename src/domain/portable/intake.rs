//! Taking a portable file into what this machine knows: whose arming counts, and what a change does to a live session
//! (`events` rules, section 6).
//!
//! A tracked file is whatever somebody committed. Ending and disarming are safe, so they count whoever wrote them, and
//! only hold. An arming counts only for an actor this machine trusts. One that does not count is left where it stands:
//! the file keeps it, for machines that trust its actor, and nothing of it (neither the command nor the `commandedAt`
//! that covers it) reaches the store.

use serde_json::Map;

use crate::domain::ids::Login;
use crate::domain::item::Item;
use crate::domain::policy::Policy;
use crate::domain::session::Session;
use crate::domain::time::Time;

use super::bridge::{Adopted, ControlChange, Report, adopt};
use super::{Command, Conflict, Control, Ended, Record, Section, Source, says_all};

/// What a file brings to an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Intake {
    /// What the store shall hold now, and how that differs from what it held.
    pub adopted: Adopted,
    /// Whether the file says all of that already; otherwise it has to follow when the store changed.
    pub settled: bool,
}

impl Intake {
    /// What did not act and may act later, when our clock or the policy has come near: the file is looked at again then,
    /// although it did not change. `None` when nothing is open.
    pub fn open(&self) -> Option<String> {
        let open = self.adopted.reports.iter().filter(|report| !matches!(report, Report::Beaten(_)));
        let texts: Vec<String> = open.map(ToString::to_string).collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// Commands that are null now.
    pub fn beaten(&self) -> impl Iterator<Item = &Report> {
        self.adopted.reports.iter().filter(|report| matches!(report, Report::Beaten(_)))
    }

    /// Writes it into the item's row; what changes of its hold, if that does.
    pub fn apply(&self, item: &mut Item) -> Option<Hold> {
        if !self.adopted.changed {
            return None;
        }
        item.version += 1;
        item.sections = self.adopted.record.sections();
        let change = self.adopted.control.as_ref()?;
        if begins_life(item, change) {
            item.baseline = item.baseline.max(change.after.present().and_then(Control::at));
        }
        let hold = hold(item, change)?;
        item.held_by_adoption = hold == Hold::Begins;
        // A pause of this machine ends, too, by the later word.
        if let Some(session) = item.session.as_mut().filter(|_| hold == Hold::Ends) {
            session.unpause();
        }
        Some(hold)
    }
}

/// What an adopted change does to the deliveries of a live session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// They are held: it was disarmed elsewhere, and only a person ends a session.
    Begins,
    /// They go on: it was armed again.
    Ends,
}

/// Joins `file` into `store`, the record of `item`; what may not act is left out and reported.
///
/// # Errors
/// They are about different items.
pub fn take_in(item: &Item, store: &Record, file: &Record, policy: &Policy, now: Time) -> Result<Intake, Conflict> {
    let mut adopted = adopt(store, file, now)?;
    if let Some(control) = new_arming(&adopted, store)
        && !may_arm(control, policy)
    {
        let refused = Report::NotEntitled(Box::new(control.clone()));
        adopted = adopt(store, &without_command(file), now)?;
        adopted.reports.push(refused);
    }
    if let Some(ended) = closed_since(item, &adopted, store) {
        // Later than the file's own ending, which was before the arming.
        let file = Record { ended: Some(ended), ended_extra: Map::new(), ..file.clone() };
        adopted = adopt(store, &file, now)?;
    }
    let settled = says_all(file, &adopted.record);
    Ok(Intake { adopted, settled })
}

/// The arming command that the file would bring, when it would bring one.
fn new_arming<'a>(adopted: &'a Adopted, store: &Record) -> Option<&'a Control> {
    let control = adopted.record.control.present().filter(|control| control.command.arms())?;
    let key = |control: &'a Control| (&control.command, &control.source, &control.actor, &control.requested_at);
    let is_ours = match &store.control {
        Section::Present(ours) => (&ours.command, &ours.source, &ours.actor, &ours.requested_at) == key(control),
        Section::Tombstone | Section::Absent => false,
    };
    (!is_ours).then_some(control)
}

/// Whether an arming of another machine counts here. An empty list of operators trusts the authorised users.
fn may_arm(control: &Control, policy: &Policy) -> bool {
    let is_authorized = || policy.admits(Login::parse(&control.actor).as_ref());
    match &control.source {
        Source::Comment => is_authorized(),
        Source::Cli if policy.trusted_operators.is_empty() => is_authorized(),
        Source::Cli => policy.trusted_operators.iter().any(|name| name.eq_ignore_ascii_case(&control.actor)),
        Source::Other(_) => false,
    }
}

/// The file without its command and without the time that covers it, which would clear ours as an older one.
fn without_command(file: &Record) -> Record {
    Record { control: Section::Absent, commanded_at: None, sealed: false, ..file.clone() }
}

/// GitHub's own close, when it is not before the arming that the file would bring: reopening does not arm again.
fn closed_since(item: &Item, adopted: &Adopted, store: &Record) -> Option<Ended> {
    let control = new_arming(adopted, store)?;
    let closed = item.facts.closed_at?.whole_seconds();
    (control.at()? <= closed).then(|| Ended { at: closed, reason: "closed".to_owned() })
}

/// Whether a live session goes on with a life that began elsewhere: it was stopped or ended there, and armed again. What was
/// said in between is not for it.
fn begins_life(item: &Item, change: &ControlChange) -> bool {
    let was_stopped = change.before.present().is_some_and(|control| control.command == Command::Stop);
    let has_ended = item.sections.ended.as_ref().is_some_and(|ended| Some(ended.at) >= item.baseline);
    change.is_armed && item.live_session().is_some() && (was_stopped || has_ended)
}

/// Whether a change begins or ends the hold. Only news about the session's present life can hold it.
fn hold(item: &Item, change: &ControlChange) -> Option<Hold> {
    if change.is_armed {
        let is_paused = item.session.as_ref().is_some_and(Session::is_paused);
        return (item.held_by_adoption || is_paused).then_some(Hold::Ends);
    }
    item.live_session()?;
    let commanded = change.after.present().and_then(Control::at);
    let ended = item.sections.ended.as_ref().map(|ended| ended.at);
    let is_news = commanded.max(ended) >= item.baseline;
    (!item.held_by_adoption && (change.was_armed || is_news)).then_some(Hold::Begins)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::ids::StoreId;
    use crate::domain::portable::RequestedAt;
    use crate::domain::portable::samples::item as reference;
    use crate::domain::session::{Life, PaneKey, SessionState};

    fn at(second: i64) -> Time {
        Time::from_millis(1_700_000_000_000).plus_seconds(second)
    }

    fn control(command: Command, source: Source, actor: &str, second: i64) -> Control {
        let requested_at = RequestedAt::At(at(second));
        Control { command, source, actor: actor.into(), requested_at, note: None, extra: Map::new() }
    }

    fn file(control: Control) -> Record {
        Record { commanded_at: control.at(), control: Section::Present(control), ..Record::new(reference()) }
    }

    fn policy() -> Policy {
        Policy { authorized_users: Login::parse("Mona").into_iter().collect(), ..Policy::default() }
    }

    fn intake(item: &Item, file: &Record, policy: &Policy) -> Intake {
        take_in(item, &Record::from_store(item, BTreeSet::new()), file, policy, at(1000)).unwrap()
    }

    /// An item armed by mona at 10, with a session that runs.
    fn running() -> Item {
        let mut item = Item::new(reference());
        item.sections = file(control(Command::Start, Source::Comment, "mona", 10)).sections();
        let key = PaneKey::new(&StoreId("store".into()), &item.reference, &item.reference);
        let mut session = Session::recorded(item.reference.clone(), key, "agent".into(), at(10));
        session.state = SessionState::Live(Life {
            socket: "test".into(),
            server_pid: 1,
            server_started: 1,
            session: "loop".into(),
            pane: "%1".into(),
            pane_pid: 1,
        });
        item.session = Some(session);
        item.baseline = Some(at(10));
        item
    }

    #[test]
    fn k37_only_whom_this_machine_trusts_can_arm_by_a_file() {
        let operators = Policy { trusted_operators: vec!["ops".into()], ..policy() };
        let rows = [
            (Source::Comment, "mona", policy(), true),
            (Source::Comment, "MONA", policy(), true),
            (Source::Comment, "stranger", policy(), false),
            (Source::Comment, "", policy(), false),
            (Source::Comment, "mona", Policy::default(), false),
            (Source::Cli, "mona", policy(), true),
            (Source::Cli, "ops", policy(), false),
            (Source::Cli, "ops", operators.clone(), true),
            (Source::Cli, "mona", operators.clone(), false),
            (Source::Comment, "ops", operators, false),
            (Source::Other("api".into()), "mona", policy(), false),
        ];
        for (source, actor, policy, arms) in rows {
            for command in [Command::Start, Command::Resume] {
                let file = file(control(command, source.clone(), actor, 20));
                let mut item = Item::new(reference());
                let intake = intake(&item, &file, &policy);
                intake.apply(&mut item);
                assert_eq!(intake.adopted.record.is_armed(), arms, "{source:?} {actor}");
                assert_eq!(item.sections.control.is_some(), arms, "{source:?} {actor}");
                assert_eq!(intake.open().is_some(), !arms, "{source:?} {actor}");
                assert_eq!(item.sections.commanded_at.is_some(), arms, "an arming that does not count leaves nothing");
            }
        }
    }

    #[test]
    fn k37_a_strangers_start_neither_arms_nor_disarms() {
        let item = running();
        let intake = intake(&item, &file(control(Command::Start, Source::Comment, "stranger", 99)), &policy());
        assert!(!intake.adopted.changed && intake.adopted.record.is_armed());
        assert!(!intake.settled, "the file keeps what does not count");
    }

    #[test]
    fn what_is_ours_already_needs_no_trust() {
        let item = running();
        let ours = Record::from_store(&item, BTreeSet::new());
        let intake = intake(&item, &ours, &Policy::default());
        assert!(!intake.adopted.changed && intake.open().is_none() && intake.settled);
    }

    #[test]
    fn disarming_elsewhere_holds_and_arming_again_releases() {
        for command in [Command::Stop, Command::Pause] {
            let mut item = running();
            let disarmed = intake(&item, &file(control(command, Source::Cli, "anybody", 20)), &policy());
            assert_eq!(disarmed.apply(&mut item), Some(Hold::Begins));
            assert!(item.held_by_adoption && item.live_session().is_some());
            let again = intake(&item, &file(control(Command::Start, Source::Comment, "stranger", 30)), &policy());
            assert_eq!(again.apply(&mut item), None);
            assert!(item.held_by_adoption);
            let again = intake(&item, &file(control(Command::Resume, Source::Comment, "mona", 30)), &policy());
            assert_eq!(again.apply(&mut item), Some(Hold::Ends));
            assert!(!item.held_by_adoption);
        }
    }

    #[test]
    fn a_later_start_heard_elsewhere_ends_a_pause_of_this_machine() {
        let mut item = running();
        item.sections = file(control(Command::Pause, Source::Comment, "mona", 20)).sections();
        let session = item.session.as_mut().unwrap();
        session.state = SessionState::Paused(session.life().cloned());
        let older = file(control(Command::Start, Source::Comment, "mona", 15));
        assert_eq!(intake(&item, &older, &policy()).apply(&mut item), None);
        let later = file(control(Command::Start, Source::Comment, "mona", 30));
        assert_eq!(intake(&item, &later, &policy()).apply(&mut item), Some(Hold::Ends));
        assert!(item.live_session().is_some_and(|session| !session.is_paused() && session.life().is_some()));
    }

    #[test]
    fn arming_again_after_a_stop_or_an_ending_begins_a_life_and_after_a_pause_it_does_not() {
        let ended = Record {
            control: Section::Tombstone,
            ended: Some(Ended { at: at(20), reason: "closed".into() }),
            ..Record::new(reference())
        };
        let by_mona = |command, second| file(control(command, Source::Comment, "mona", second));
        for (between, baseline) in [
            (Some(by_mona(Command::Stop, 20)), 30),
            (Some(ended), 30),
            (Some(by_mona(Command::Pause, 20)), 10),
            (None, 10),
        ] {
            let mut item = running();
            if let Some(file) = &between {
                intake(&item, file, &policy()).apply(&mut item);
            }
            intake(&item, &by_mona(Command::Start, 30), &policy()).apply(&mut item);
            assert_eq!((item.baseline, item.held_by_adoption), (Some(at(baseline)), false), "{between:?}");
        }
    }

    #[test]
    fn an_ending_elsewhere_holds_and_an_older_one_does_not() {
        let ended = |second| Record {
            control: Section::Tombstone,
            ended: Some(Ended { at: at(second), reason: "closed".into() }),
            ..Record::new(reference())
        };
        let mut item = running();
        assert_eq!(intake(&item, &ended(5), &policy()).apply(&mut item), None);
        assert_eq!(intake(&item, &ended(20), &policy()).apply(&mut item), Some(Hold::Begins));
        let mut unarmed = running();
        unarmed.sections = Default::default();
        assert_eq!(intake(&unarmed, &ended(5), &policy()).apply(&mut unarmed), None);
        assert_eq!(intake(&unarmed, &ended(20), &policy()).apply(&mut unarmed), Some(Hold::Begins));
    }

    #[test]
    fn k31_k54_an_arming_older_than_the_close_is_ended_by_it() {
        for (second, arms) in [(19, false), (20, false), (21, true)] {
            let mut item = Item::new(reference());
            item.facts.closed_at = Some(at(20));
            let intake = intake(&item, &file(control(Command::Start, Source::Comment, "mona", second)), &policy());
            intake.apply(&mut item);
            assert_eq!(intake.adopted.record.is_armed(), arms, "{second}");
            assert_eq!(item.sections.ended.is_some(), !arms);
            assert_eq!(intake.settled, arms, "the file has to say that it ended");
        }
    }

    #[test]
    fn k54_k59_a_command_put_over_an_ending_gets_its_time_so_that_clearing_it_shows() {
        let started = control(Command::Start, Source::Comment, "mona", 20);
        let ended = Some(Ended { at: at(10), reason: "closed".into() });
        let theirs =
            |control, commanded_at| Record { control, ended: ended.clone(), commanded_at, ..file(started.clone()) };
        let mut item = Item::new(reference());
        let uncovered = theirs(Section::Present(started.clone()), None);
        let taken = intake(&item, &uncovered, &policy());
        taken.apply(&mut item);
        assert!(taken.adopted.record.is_armed() && !taken.settled, "the file has to be written with `commandedAt`");
        let covered = theirs(Section::Present(started.clone()), item.sections.commanded_at);
        assert!(intake(&item, &covered, &policy()).settled);
        let cleared = intake(&item, &theirs(Section::Tombstone, item.sections.commanded_at), &policy());
        cleared.apply(&mut item);
        assert!(!cleared.adopted.record.is_armed() && item.sections.ended.unwrap().at == at(20));
    }

    #[test]
    fn a_time_ahead_of_our_clock_stays_open() {
        let mut item = Item::new(reference());
        let intake = intake(&item, &file(control(Command::Start, Source::Comment, "mona", 5000)), &policy());
        intake.apply(&mut item);
        assert!(intake.open().unwrap().contains("ahead of our clock"), "{:?}", intake.open());
        assert_eq!(item, Item::new(reference()));
    }
}
