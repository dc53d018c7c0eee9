//! Tests: transferred issues and renamed repositories.

use super::fixtures::*;
use super::{DropReason, Outcome, Verdict};
use crate::domain::effect::EndpointRef;
use crate::domain::event::{Content, Event, Fact, ItemFact, Repository, RepositoryFact, Subject};
use crate::domain::item::Item;
use crate::domain::log::EventName;
use crate::domain::reference::{RepoRef, WorkItemRef};
use crate::domain::session::EndReason;

fn repo(name: &str) -> RepoRef {
    RepoRef::parse(name).unwrap()
}

fn there() -> WorkItemRef {
    repo("octo/world").item(31).unwrap()
}

fn in_repository(mut event: Event, name: &str, id: u64) -> Event {
    event.repository = Some(Repository { reference: repo(name), id });
    event
}

fn transferred(delivery: &str, second: i64) -> Event {
    let subject = Subject { updated_at: Some(at(second)), id: 5007, ..subject(7) };
    fact(delivery, subject, ItemFact::Transferred { to: Some((there(), 5999)) })
}

fn moved_subject() -> Subject {
    Subject { reference: there(), id: 5999, labels: Vec::new(), ..subject(31) }
}

fn opened_there(delivery: &str, second: i64) -> Event {
    let subject = Subject { updated_at: Some(at(second)), ..moved_subject() };
    let opened = fact(delivery, subject, ItemFact::Opened { transferred_from: Some((issue(7), 5007)) });
    in_repository(opened, "octo/world", 202)
}

fn comment_there(id: u64, second: i64, text: &str) -> Event {
    in_repository(comment(id, moved_subject(), "mona", second, text), "octo/world", 202)
}

fn renamed(delivery: &str, from: &str, to: &str) -> Event {
    let change = Content::Fact(Box::new(Fact::Repository(RepositoryFact::Renamed { from: repo(from) })));
    in_repository(event("repository", delivery, Some("mona"), change), to, 101)
}

fn in_lane(outcome: &Outcome, lane: &WorkItemRef) -> usize {
    outcome.effects.iter().filter(|effect| effect.lane == lane.key()).count()
}

/// The record of #7 lives on as `to` alone, in the same pane, armed; the old name holds its ending and nothing else.
fn assert_lives_as(rows: &Rows, before: &Item, to: &WorkItemRef, reason: EndReason) {
    let (old, new) = (&rows.known(7).item, &rows.view.items[&to.key()].item);
    let was = before.session.as_ref().unwrap();
    let session = new.live_session().expect("it lives");
    assert_eq!((&session.key, &session.state, session.generation), (&was.key, &was.state, was.generation));
    assert_eq!(&session.reference, to);
    assert_eq!(new.sections.control.as_ref().unwrap().command.as_str(), "start");
    assert_eq!(new.baseline, before.baseline);
    assert_eq!((&old.session, &old.sections.control), (&None, &None));
    let ended = old.sections.ended.as_ref().unwrap();
    assert_eq!(ended.reason, reason.as_str());
    assert!(ended.at >= old.sections.commanded_at.unwrap(), "no copy of the command outlives it");
    let live = rows.view.items.values().filter(|known| known.item.live_session().is_some()).count();
    assert_eq!(live, 1);
    for key in [issue(7).key(), to.key()] {
        assert!(rows.marked.iter().any(|marked| marked == key.as_str()), "{} is exported", key.as_str());
    }
}

#[test]
fn p10_a_transfer_keeps_the_session_whichever_side_is_heard_first_or_alone() {
    let orders: [&[Event]; 5] = [
        &[transferred("a", 50), opened_there("b", 50)],
        &[opened_there("b", 50), transferred("a", 50)],
        &[transferred("a", 50)],
        &[opened_there("b", 50)],
        &[transferred("a", 50), opened_there("b", 50), transferred("a2", 50), opened_there("b2", 50)],
    ];
    for (n, order) in orders.iter().enumerate() {
        let mut rows = Rows::new().with_live(7);
        rows.take(&comment(70, pull_request(16, Some(7)), "mona", 40, "look"), 40);
        let before = rows.view.items[&issue(7).key()].item.clone();
        rows.marked.clear();
        for event in *order {
            let outcome = rows.take(event, 60);
            assert!(outcome.effects.is_empty(), "order {n}: nothing is spawned or ended");
        }
        assert_lives_as(&rows, &before, &there(), EndReason::Transferred);
        let new = &rows.view.items[&there().key()];
        assert_eq!(new.item.facts.item_id, Some(5999));
        // Its pull request stayed behind in the old repository and is still its own.
        assert_eq!(new.endpoints[0].reference, issue(16));
        let outcome = rows.take(&comment(71, pull_request(16, None), "mona", 61, "still"), 61);
        let to = EndpointRef::PullRequest(issue(16));
        assert_eq!((in_lane(&outcome, &there()), outcome.effects[0].body.endpoint()), (1, &to));
        let outcome = rows.take(&comment_there(72, 62, "hello"), 62);
        assert_eq!((outcome.verdict, in_lane(&outcome, &there())), (Verdict::Accepted, 1));
        assert_eq!(rows.view.items[&there().key()].item.facts.repository_id, Some(202));
    }
}

#[test]
fn p10_opened_alone_without_a_record_is_a_normal_item() {
    let mut rows = Rows::new();
    let outcome = rows.take(&opened_there("b", 5), 6);
    assert_eq!(outcome.verdict, Verdict::Refused(DropReason::SpawnPolicy));
    assert!(rows.view.items.is_empty());
    let labelled = Subject { labels: vec![LABEL.into()], ..moved_subject() };
    let start = in_repository(comment(8, labelled, "mona", 7, "the-loop start"), "octo/world", 202);
    assert_eq!(rows.take(&start, 8).verdict, Verdict::Accepted);
    // The other side, late: there is nothing to bring.
    assert!(rows.take(&transferred("a", 5), 9).effects.is_empty());
    assert_eq!(rows.view.items.values().filter(|known| known.item.live_session().is_some()).count(), 1);
}

#[test]
fn p10_what_was_said_before_the_transfer_finds_the_record() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&transferred("a", 50), 60);
    let outcome = rows.take(&comment(70, subject(7), "mona", 45, "late"), 61);
    assert_eq!((outcome.verdict, in_lane(&outcome, &there())), (Verdict::Accepted, 1));
    let mut closed = subject(7);
    (closed.open, closed.closed_at, closed.updated_at) = (Some(false), Some(at(-5)), Some(at(-5)));
    rows.take(&fact("c", closed, ItemFact::Closed { merged: false }), 62);
    assert!(rows.view.items[&there().key()].item.live_session().is_some(), "closed before its present life");
    let outcome = rows.take(&comment(71, subject(7), "mona", 63, "the-loop stop"), 63);
    assert_eq!(outcome.effects[0].body.verb(), "end");
    assert!(rows.view.items[&there().key()].item.live_session().is_none());
}

#[test]
fn p10_closed_at_the_destination_before_the_transfer_is_heard_stays_closed() {
    let mut rows = Rows::new().with_live(7);
    let mut closed = moved_subject();
    (closed.open, closed.closed_at, closed.updated_at) = (Some(false), Some(at(55)), Some(at(55)));
    rows.take(&in_repository(fact("c", closed, ItemFact::Closed { merged: false }), "octo/world", 202), 56);
    let outcome = rows.take(&transferred("a", 50), 60);
    assert_eq!(outcome.effects[0].body.verb(), "end");
    assert_eq!(in_lane(&outcome, &there()), 1);
    assert!(rows.view.items.values().all(|known| known.item.live_session().is_none()));
    let sections = &rows.view.items[&there().key()].item.sections;
    assert_eq!((&sections.control, sections.ended.as_ref().unwrap().at), (&None, at(55)));
}

#[test]
fn p10_a_destination_with_a_life_of_its_own_keeps_it() {
    let mut rows = Rows::new().with_live(7);
    let labelled = Subject { labels: vec![LABEL.into()], ..moved_subject() };
    rows.take(&in_repository(comment(8, labelled, "mona", 52, "the-loop start"), "octo/world", 202), 52);
    let outcome = rows.take(&transferred("a", 50), 60);
    assert_eq!((outcome.effects.len(), in_lane(&outcome, &issue(7))), (1, 1), "the old one ends where it is");
    assert!(rows.known(7).item.live_session().is_none());
    assert!(rows.view.items[&there().key()].item.live_session().is_some());
}

#[test]
fn p10_another_object_under_the_old_number_does_not_move() {
    let mut rows = Rows::new().with_live(7);
    let mut other = transferred("a", 50);
    let Content::Fact(fact) = &mut other.content else { panic!() };
    let Fact::Item { subject, .. } = fact.as_mut() else { panic!() };
    subject.id = 4;
    assert_eq!(rows.take(&other, 60).verdict, Verdict::Dropped(DropReason::NothingToDo));
    assert!(rows.known(7).item.live_session().is_some());
}

#[test]
fn p10_out_of_the_served_repositories_is_an_end() {
    let mut rows = Rows::new().with_live(7);
    rows.policy.repositories = vec![repo("octo/hello")];
    let outcome = rows.take(&transferred("a", 50), 60);
    assert_eq!(outcome.effects[0].body.verb(), "end");
    assert_eq!(rows.known(7).item.sections.ended.as_ref().unwrap().reason, "transferred");
}

#[test]
fn p12_a_renamed_repository_keeps_its_items_told_or_not() {
    let to = repo("octo/hello2").item(7).unwrap();
    for told in [true, false] {
        let mut rows = Rows::new().with_live(7);
        rows.policy.repositories = vec![repo("octo/hello")];
        rows.take(&comment(70, pull_request(16, Some(7)), "mona", 40, "look"), 40);
        let before = rows.view.items[&issue(7).key()].item.clone();
        rows.marked.clear();
        if told {
            let outcome = rows.take(&renamed("r", "octo/hello", "octo/hello2"), 50);
            assert_eq!(outcome.verdict, Verdict::Accepted);
            assert_eq!(outcome.log.iter().filter(|entry| entry.event == EventName::ItemMoved).count(), 1);
        }
        let said = comment(71, Subject { reference: to.clone(), ..subject(7) }, "mona", 51, "hello");
        let outcome = rows.take(&in_repository(said, "octo/hello2", 101), 51);
        assert_eq!((outcome.verdict, in_lane(&outcome, &to)), (Verdict::Accepted, 1), "told {told}");
        assert_lives_as(&rows, &before, &to, EndReason::Renamed);
        let pull = repo("octo/hello2").item(16).unwrap();
        assert_eq!(rows.view.items[&to.key()].endpoints[0].reference, pull);
        let said = comment(72, Subject { reference: pull.clone(), ..pull_request(16, None) }, "mona", 52, "x");
        let outcome = rows.take(&in_repository(said, "octo/hello2", 101), 52);
        assert_eq!(outcome.effects[0].body.endpoint(), &EndpointRef::PullRequest(pull));
        // Sent before the change, heard after it.
        let outcome = rows.take(&comment(73, subject(7), "mona", 45, "late"), 53);
        assert_eq!((outcome.verdict, in_lane(&outcome, &to)), (Verdict::Accepted, 1));
        let again = rows.take(&renamed("r2", "octo/hello", "octo/hello2"), 54);
        assert_eq!(again.verdict, Verdict::Dropped(DropReason::NothingToDo));
        assert_lives_as(&rows, &before, &to, EndReason::Renamed);
    }
}

#[test]
fn p12_renames_heard_out_of_order_end_under_the_last_name() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&renamed("r2", "octo/b", "octo/c"), 50);
    let to = repo("octo/c").item(7).unwrap();
    assert!(rows.view.items[&to.key()].item.live_session().is_some());
    let late = rows.take(&renamed("r1", "octo/hello", "octo/b"), 51);
    assert!(late.effects.is_empty());
    let outcome = rows.take(&comment(70, subject(7), "mona", 52, "x"), 52);
    assert_eq!(in_lane(&outcome, &to), 1);
}

#[test]
fn p12_a_name_taken_back_keeps_the_record_armed() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&renamed("r1", "octo/hello", "octo/b"), 50);
    rows.take(&renamed("r2", "octo/b", "octo/hello"), 60);
    let item = &rows.known(7).item;
    assert!(item.live_session().is_some());
    let (control, ended) = (item.sections.control.as_ref().unwrap(), item.sections.ended.as_ref().unwrap());
    assert!(control.arms_after(Some(ended)) && ended.reason == "renamed");
    assert!(item.facts.open != Some(false) && item.facts.closed_at.is_none());
    let outcome = rows.take(&comment(70, subject(7), "mona", 61, "x"), 61);
    assert_eq!(in_lane(&outcome, &issue(7)), 1);
}

#[test]
fn p12_the_old_name_of_another_repository_is_another_item() {
    let mut rows = Rows::new().with_live(7);
    rows.take(&renamed("r", "octo/hello", "octo/hello2"), 50);
    let start = in_repository(comment(70, subject(7), "mona", 60, "the-loop start"), "octo/hello", 303);
    let outcome = rows.take(&start, 60);
    assert_eq!((outcome.verdict, in_lane(&outcome, &issue(7))), (Verdict::Accepted, 2));
    assert_eq!(rows.known(7).item.facts.repository_id, Some(303));
    let moved = repo("octo/hello2").item(7).unwrap();
    assert!(rows.view.items[&moved.key()].item.live_session().is_some());
}

#[test]
fn p12_another_repository_under_the_name_reaches_nobody() {
    // Renamed or deleted upstream without a word; a new one took the name.
    let mut rows = Rows::new().with_live(7);
    let said = in_repository(comment(70, subject(7), "mona", 60, "the-loop stop"), "octo/hello", 303);
    assert_eq!(rows.take(&said, 60).verdict, Verdict::Refused(DropReason::OtherRepository));
    assert!(rows.known(7).item.live_session().is_some());
    let gone = Content::Fact(Box::new(Fact::Repository(RepositoryFact::Deleted)));
    rows.take(&in_repository(event("repository", "gone", None, gone), "octo/hello", 303), 61);
    assert!(rows.known(7).item.sections.control.is_some());
}

#[test]
fn ids_are_stored_with_every_record() {
    let mut rows = Rows::new().with_live(7);
    let facts = &rows.known(7).item.facts;
    assert_eq!((facts.repository_id, facts.item_id), (Some(101), Some(5007)));
    // Started from a pull request: the issue's own id is learnt when an event shows it.
    rows.take(
        &comment(8, Subject { labels: vec![LABEL.into()], ..pull_request(18, Some(8)) }, "mona", 5, "the-loop start"),
        5,
    );
    let facts = &rows.known(8).item.facts;
    assert_eq!((facts.repository_id, facts.item_id), (Some(101), None));
    rows.take(&comment(80, subject(8), "mona", 6, "x"), 6);
    assert_eq!(rows.known(8).item.facts.item_id, Some(5008));
    // A comment in a pull request's conversation shows the id of its issue side.
    let mut bare = Subject { labels: vec![LABEL.into()], ..pull_request(19, None) };
    bare.head = None;
    rows.take(&comment(90, bare, "mona", 7, "the-loop start"), 7);
    assert_eq!(rows.known(19).item.facts.item_id, None);
    rows.take(&fact("o", Subject { id: 900, ..pull_request(19, None) }, ItemFact::Edited), 8);
    assert_eq!(rows.known(19).item.facts.item_id, Some(900));
}
