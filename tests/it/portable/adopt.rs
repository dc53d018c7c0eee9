//! What other machines wrote takes effect before the next decision, and only as far as it may.

use std::fs;

use the_loop::domain::event::{Content, Event, Fact, ItemFact, Repository, Subject, SubjectKind};
use the_loop::domain::ids::{DeliveryId, Login};
use the_loop::domain::log::EventName;
use the_loop::domain::portable::{Command, Ended, Poll, Record, Section};
use the_loop::domain::reference::WorkItemRef;

use super::{Place, at, commanded, control, reference};

fn edited(item: &WorkItemRef) -> Event {
    let subject = Subject {
        reference: item.clone(),
        kind: SubjectKind::Issue,
        id: 1,
        title: "Ticket".into(),
        body: String::new(),
        author: Login::parse("mona"),
        labels: Vec::new(),
        open: Some(true),
        updated_at: Some(at(500)),
        created_at: None,
        closed_at: None,
        link: None,
        head: None,
    };
    Event {
        name: "issues".into(),
        action: Some("edited".into()),
        delivery: DeliveryId::parse("d-1").unwrap(),
        repository: Some(Repository { reference: item.repo().clone(), id: 101 }),
        sender: Login::parse("mona"),
        content: Content::Fact(Box::new(Fact::Item { subject, change: ItemFact::Reopened })),
    }
}

fn is_armed(place: &Place, item: &WorkItemRef) -> bool {
    let row = place.item(item);
    row.is_some_and(|row| row.sections.control.is_some_and(|control| control.arms_after(row.sections.ended.as_ref())))
}

#[test]
fn a_pull_takes_effect_on_the_next_event() {
    let place = Place::new();
    let item = reference(15);
    assert!(place.app.adopt_for(&edited(&item)).unwrap().changed.is_empty());
    let mut file = commanded(&item, Command::Start, "mona", 10);
    file.poll = Section::Present(Poll { seen_comments: ["IC_a".to_owned()].into(), ..Poll::default() });
    place.put_record(&file);
    assert!(place.app.adopt_for(&edited(&reference(1))).unwrap().changed.is_empty(), "another item's event");
    assert_eq!(place.app.adopt_for(&edited(&item)).unwrap().changed, [item.key()]);
    assert!(is_armed(&place, &item) && place.seen(&item).contains("IC_a") && !place.is_marked(&item));
    assert!(place.app.adopt_for(&edited(&item)).unwrap().changed.is_empty());
    let said = place.journal(EventName::PortableAdopted);
    assert_eq!((said.len(), &said[0].fields["command"]), (1, &"start".into()));
    assert!(place.app.export_all().unwrap().exported.written.is_empty(), "the file says it already");
}

#[test]
fn files_are_found_by_their_reference_and_whole_folders_at_once() {
    let place = Place::new();
    let (one, other) = (WorkItemRef::parse("github:a/b-c#1").unwrap(), WorkItemRef::parse("github:a-b/c#1").unwrap());
    let hashed = other.slug().file_name_with(&other.key());
    place.put_record(&commanded(&one, Command::Start, "mona", 10));
    place.put_record(&commanded(&reference(3), Command::Start, "mona", 10));
    let text = the_loop::domain::portable::render(&commanded(&other, Command::Stop, "mona", 10));
    fs::write(place.path(&one).with_file_name(hashed), text).unwrap();
    fs::write(place.path(&one).with_file_name("index.json"), "{}").unwrap();
    assert_eq!(place.app.adopt_for(&edited(&other)).unwrap().changed, [other.key()]);
    assert!(!is_armed(&place, &other));
    let mut rest = place.app.adopt_folder().unwrap().changed;
    rest.sort();
    assert_eq!(rest, [one.key(), reference(3).key()]);
    assert!(is_armed(&place, &one) && place.app.adopt_folder().unwrap().changed.is_empty());
}

#[test]
fn k37_a_strangers_branch_ends_nothing_arms_nothing_and_silences_nothing_unseen() {
    let place = Place::new();
    let (item, quiet) = (place.running(15, 10), reference(16));
    place.put_record(&commanded(&quiet, Command::Start, "stranger", 20));
    assert!(place.adopt(&quiet).changed.is_empty() && place.item(&quiet).is_none());
    assert_eq!(place.journal(EventName::PortableAdopted).len(), 1, "people hear of it");
    place.adopt(&quiet);
    assert_eq!(place.journal(EventName::PortableAdopted).len(), 1, "once");

    place.put_record(&commanded(&item, Command::Stop, "stranger", 20));
    place.adopt(&item);
    let row = place.item(&item).unwrap();
    assert!(row.held_by_adoption && row.live_session().is_some(), "held, never ended");
    let said = place.journal(EventName::PortableAdopted).pop().unwrap();
    assert_eq!((said.fields["deliveries"].as_str(), said.fields["armed"].as_bool()), (Some("held"), Some(false)));

    place.put_record(&commanded(&item, Command::Start, "stranger", 30));
    place.adopt(&item);
    assert!(place.item(&item).unwrap().held_by_adoption && !is_armed(&place, &item));
    place.put_record(&commanded(&item, Command::Start, "mona", 40));
    assert_eq!(place.adopt(&item).lanes, [item.key()]);
    let row = place.item(&item).unwrap();
    assert!(!row.held_by_adoption && is_armed(&place, &item) && row.session.unwrap().resumed_at.is_some());
}

#[test]
fn k37_an_arming_that_does_not_count_stays_in_the_file() {
    let place = Place::new();
    let item = place.armed(15, 10);
    let theirs = commanded(&item, Command::Resume, "stranger", 30);
    place.put_record(&theirs);
    place.adopt(&item);
    place.change(&item, |row| row.sections.control = Some(control(Command::Stop, "mona", 20)));
    place.export();
    assert_eq!(place.record(&item).control, theirs.control, "for machines that trust its actor");
    assert!(!is_armed(&place, &item) && !place.is_marked(&item));
    assert!(place.app.export_all().unwrap().exported.written.is_empty(), "settled");
    place.change(&item, |row| {
        row.sections.control = Some(control(Command::Stop, "mona", 31));
        row.sections.commanded_at = Some(at(31));
    });
    place.export();
    assert_eq!(place.record(&item).control.present().unwrap().command, Command::Stop);
}

#[test]
fn k37_a_trust_that_comes_later_counts_then() {
    let place = Place::new();
    let item = reference(15);
    place.put_record(&commanded(&item, Command::Start, "hubot", 20));
    assert!(place.adopt(&item).changed.is_empty());
    let mut settings = super::settings();
    settings.policy.authorized_users.extend(Login::parse("hubot"));
    place.app.replace_settings(settings);
    assert_eq!(place.app.adopt_for(&edited(&item)).unwrap().changed, [item.key()]);
    assert!(is_armed(&place, &item));
}

#[test]
fn k54_f16_an_ended_item_stays_dead_unless_armed_later() {
    let place = Place::new();
    let item = place.armed(7, 10);
    let theirs = place.text(&item);
    place.change(&item, |row| {
        row.sections.control = None;
        row.sections.ended = Some(Ended { at: at(20), reason: "closed".into() });
    });
    place.export();
    let tombstone = place.record(&item);
    assert!(tombstone.ended.is_some() && tombstone.control == Section::Tombstone);
    // The other clone exports the item again without having pulled.
    place.put(&item, theirs);
    place.adopt(&item);
    place.app.export_all().unwrap();
    assert!(!is_armed(&place, &item) && !place.record(&item).is_armed());
    // A store rebuilt from the files knows the ending, too.
    let rebuilt = Place::new();
    rebuilt.put_record(&tombstone);
    rebuilt.app.adopt_folder().unwrap();
    rebuilt.put_record(&commanded(&item, Command::Start, "mona", 15));
    rebuilt.adopt(&item);
    assert!(!is_armed(&rebuilt, &item));
    rebuilt.app.export_all().unwrap();
    assert_eq!(rebuilt.record(&item).ended, tombstone.ended);
    rebuilt.put_record(&commanded(&item, Command::Start, "mona", 30));
    rebuilt.adopt(&item);
    assert!(is_armed(&rebuilt, &item));
}

#[test]
fn k59_deleting_stashing_and_old_starts_disarm_and_arm_nothing() {
    let place = Place::new();
    let item = place.running(15, 10);
    let started = place.text(&item);
    place.change(&item, |row| row.sections.control = Some(control(Command::Pause, "mona", 20)));
    place.export();
    let paused = place.text(&item);
    let row = place.item(&item);
    for text in [Some(&started), None, Some(&paused), Some(&started), None] {
        match text {
            Some(text) => place.put(&item, text),
            None => fs::remove_file(place.path(&item)).unwrap(),
        }
        assert!(place.app.adopt_for(&edited(&item)).unwrap().changed.is_empty());
        assert!(place.app.adopt_folder().unwrap().changed.is_empty());
        assert_eq!((place.item(&item), place.is_marked(&item)), (row.clone(), false));
    }
}

#[test]
fn a_time_ahead_of_our_clock_acts_when_it_has_come() {
    let place = Place::new();
    let item = reference(15);
    let soon = place.app.now().plus_seconds(3000).whole_seconds();
    let mut file = commanded(&item, Command::Start, "mona", 0);
    if let Section::Present(control) = &mut file.control {
        control.requested_at = the_loop::domain::portable::RequestedAt::At(soon);
    }
    file.commanded_at = Some(soon);
    place.put_record(&file);
    place.adopt(&item);
    assert!(!is_armed(&place, &item) && place.journal(EventName::PortableAdopted).len() == 1);
    place.clock.0.store(7200, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(place.app.adopt_for(&edited(&item)).unwrap().changed, [item.key()]);
    assert!(is_armed(&place, &item));
}

#[test]
fn news_that_the_file_only_half_knows_goes_back_into_it() {
    let place = Place::new();
    let item = place.armed(15, 20);
    let mut file = Record::new(item.clone());
    file.poll = Section::Present(Poll { seen_comments: ["IC_b".to_owned()].into(), ..Poll::default() });
    place.put_record(&file);
    let adoption = place.adopt(&item);
    assert!(adoption.marked && place.is_marked(&item) && is_armed(&place, &item));
    place.export();
    let file = place.record(&item);
    assert!(file.is_armed() && file.seen_comments().unwrap().contains("IC_b"));
}

#[test]
fn a_command_line_word_is_later_than_what_the_file_says() {
    let place = Place::new();
    let item = reference(15);
    let soon = place.app.now().plus_seconds(100).whole_seconds();
    let mut file = commanded(&item, Command::Start, "mona", 0);
    if let Section::Present(control) = &mut file.control {
        control.requested_at = the_loop::domain::portable::RequestedAt::At(soon);
    }
    place.put_record(&file);
    let (commanded, _) = place.app.command(&item, &Command::Stop, "me").unwrap();
    assert!(commanded.acted && !is_armed(&place, &item));
    place.export();
    assert!(!place.record(&item).is_armed(), "{:?}", place.record(&item));
}
