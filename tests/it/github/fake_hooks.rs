//! The webhook deliveries of the fake GitHub: every kind is read as what it is, and carries what GitHub's own carry.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use the_loop::daemon::receiver::Limits;
use the_loop::domain::event::body::MediaType;
use the_loop::domain::event::{Content, Fact, Form, Ignored, ItemFact, RepositoryFact};

use super::fake::{NOON, REPO, get, post, read, small};
use crate::corpus::examples::{corpus, normalised};
use crate::fake_github::{Delivery, FakeGitHub, post_signed};
use crate::receiver::server::{FakeDoor, Server};

/// Everything that happens on GitHub, once.
fn everything() -> Vec<Delivery> {
    let mut fake = FakeGitHub::new(NOON);
    fake.add_repository(REPO, 7);
    fake.add_repository("octo/other", 8);
    let issue = fake.open_issue(REPO, "mona", "One", "text");
    let pull = fake.open_pull(REPO, "mona", "issue-1", "Two", "Closes #1");
    for number in [issue, pull] {
        fake.label(REPO, number, "mona", "bug");
        fake.unlabel(REPO, number, "mona", "bug");
        let said = fake.comment(REPO, number, "mona", "hello");
        fake.edit_comment(REPO, said, "mona", "hello again");
        fake.delete_comment(REPO, said, "mona");
        fake.edit_title(REPO, number, "mona", "Better");
        fake.edit_body(REPO, number, "mona", "better");
        fake.lock(REPO, number, "mona");
        fake.close(REPO, number, "mona");
        fake.reopen(REPO, number, "mona");
    }
    let review = fake.review(REPO, pull, "nora", "approved", "good");
    fake.dismiss(REPO, review, "mona");
    fake.review_comment(REPO, pull, "nora", ("sum.py", 3), "why?");
    let sha = fake.push(REPO, pull, "mona");
    fake.check(REPO, &sha, "test", "failure");
    fake.check(REPO, &sha, "lint", "success");
    fake.set_status(REPO, &sha, "mona", "ci", "error");
    fake.merge(REPO, pull, "mona");
    fake.transfer(REPO, issue, "octo/other", "octo");
    let gone = fake.open_issue(REPO, "mona", "Three", "");
    fake.delete_issue(REPO, gone, "octo");
    fake.rename(REPO, "hallo", "octo");
    fake.take_deliveries()
}

/// What the product makes of a delivery, in one word.
fn kind(delivery: &Delivery) -> String {
    let event = normalised(&delivery.event, MediaType::Json, delivery.body.as_bytes(), &delivery.guid);
    assert_eq!(event.repository.as_ref().map(|repo| repo.id), Some(delivery.repository));
    assert!(event.sender.is_some(), "{delivery:?}");
    match event.content {
        Content::Ignored(Ignored::UnlistedAction) => "ignored".to_owned(),
        Content::Ignored(Ignored::NotAFailure) => "passed".to_owned(),
        Content::Ignored(other) => panic!("{other:?}: {delivery:?}"),
        Content::Speech(speech) => match speech.form {
            Form::Comment => "comment".to_owned(),
            Form::ReviewComment { .. } => "review comment".to_owned(),
            Form::Review { state } => format!("review {state}"),
            Form::Check(check) => format!("check {} of {:?}", check.conclusion, check.pull_requests),
        },
        Content::Fact(fact) => match *fact {
            Fact::Item { change: ItemFact::Opened { transferred_from: Some((from, _)) }, .. } => format!("from {from}"),
            Fact::Item { change: ItemFact::Transferred { to: Some((to, _)) }, .. } => format!("to {to}"),
            Fact::Item { change, .. } => format!("{change:?}"),
            Fact::Withdrawn { .. } => "withdrawn".to_owned(),
            Fact::Repository(RepositoryFact::Renamed { from }) => format!("renamed from {}", from.name()),
            Fact::Repository(other) => panic!("{other:?}"),
        },
    }
}

#[test]
fn every_kind_is_read_as_what_it_is() {
    let deliveries = everything();
    let heard: Vec<String> = deliveries.iter().map(kind).collect();
    let opened = "Opened { transferred_from: None }";
    let on_item = ["Labeled(Some(\"bug\"))", "Unlabeled(Some(\"bug\"))", "comment", "ignored", "withdrawn"];
    let edits = |edit| [edit, edit, "ignored", "Closed { merged: false }", "Reopened"];
    let expected: Vec<&str> = [
        &[opened, opened][..],
        &on_item,
        &edits("ignored"),
        &on_item,
        &edits("Edited"),
        &["review approved", "withdrawn", "review comment", "ignored", "check failure of [2]", "passed"],
        &["check error of []", "Closed { merged: true }", "to github:octo/other#1", "from github:octo/hello#1"],
        &[opened, "Deleted", "renamed from hello"],
    ]
    .concat();
    assert_eq!(heard, expected);
    assert_eq!(deliveries.iter().map(|delivery| &delivery.guid).collect::<BTreeSet<_>>().len(), deliveries.len());
}

/// The paths of keys down to the second level: `issue`, `issue.title`.
fn keys(body: &Json) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for (key, value) in body.as_object().unwrap() {
        keys.insert(key.clone());
        keys.extend(value.as_object().into_iter().flatten().map(|(inner, _)| format!("{key}.{inner}")));
    }
    keys
}

/// Parts of GitHub's examples that nothing here reads, and keys its own examples do not agree about.
const BESIDE: [&str; 8] =
    ["organization", "installation", "enterprise", "changes.", "repository.", "commit.", "check_run.", "issue.draft"];

#[test]
fn bodies_carry_what_all_of_githubs_examples_carry() {
    let Some(corpus) = corpus("bodies_carry_what_all_of_githubs_examples_carry") else { return };
    let (mut compared, mut missing) = (BTreeSet::new(), BTreeSet::new());
    for delivery in everything() {
        let body: Json = serde_json::from_str(&delivery.body).unwrap();
        let is_same = |json: &Json| json["action"] == body["action"];
        let same = corpus.public.iter().filter(|example| example.event == delivery.event && is_same(&example.json));
        let Some(common) = same.map(|example| keys(&example.json)).reduce(|a, b| &a & &b) else { continue };
        let lacks = |key: &&String| !BESIDE.iter().any(|beside| key.starts_with(beside));
        let lacking = (&common - &keys(&body)).into_iter().filter(|key| lacks(&key));
        missing.extend(lacking.map(|key| format!("{} {:?}: {key}", delivery.event, delivery.action)));
        compared.insert((delivery.event, delivery.action));
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(compared.len() > 15, "{compared:?}");
}

#[test]
fn lost_deliveries_are_listed_and_made_again_under_their_guid() {
    let mut fake = small();
    let deliveries = fake.take_deliveries();
    assert!(fake.take_deliveries().is_empty());
    for (nth, delivery) in deliveries.iter().enumerate() {
        if nth == 1 { fake.lose(delivery) } else { fake.delivered(delivery, 202) }
    }
    let hooks = read(&get(&mut fake, "/repos/octo/hello/hooks"));
    let list = format!("/repos/octo/hello/hooks/{}/deliveries", hooks[0]["id"]);
    let newest = get(&mut fake, &format!("{list}?per_page=4"));
    assert_eq!(read(&newest)[0]["id"], deliveries.last().unwrap().id);
    let next = newest.header("link").unwrap();
    let next =
        next.strip_prefix("<https://api.github.com").unwrap().strip_suffix(">; rel=\"next\"").unwrap().to_owned();
    let older = read(&get(&mut fake, &next));
    let pages = [read(&newest), older.clone()].map(|page| page.as_array().unwrap().len());
    assert_eq!(pages, [4, 4]);
    let all = read(&get(&mut fake, &format!("{list}?per_page=100")));
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), deliveries.len());
    let failed: Vec<&Json> = all.iter().filter(|past| past["status_code"] != 202).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!((&failed[0]["guid"], &failed[0]["event"]), (&json!(deliveries[1].guid), &json!("issue_comment")));

    let again = |fake: &mut FakeGitHub, id: &Json| post(fake, &format!("{list}/{id}/attempts"), Json::Null).status;
    assert_eq!(again(&mut fake, &json!(1)), 404);
    assert_eq!(again(&mut fake, &failed[0]["id"]), 202);
    let made = fake.take_deliveries();
    assert_eq!(made.len(), 1);
    assert_eq!((&made[0].guid, &made[0].body, made[0].is_redelivery), (&deliveries[1].guid, &deliveries[1].body, true));
    assert_ne!(made[0].id, deliveries[1].id);
}

#[test]
fn deliveries_arrive_signed() {
    let door = FakeDoor::open();
    let server = Server::start(door.clone(), Limits::default());
    let url = format!("http://{}/gh-webhook", server.address);
    let deliveries = small().take_deliveries();
    for delivery in &deliveries {
        assert_eq!(post_signed(&url, delivery, b"secret").unwrap(), 202);
        let seen = door.seen.lock().unwrap().pop().unwrap();
        assert_eq!(seen.headers.signatures, [crate::payloads::sign(b"secret", delivery.body.as_bytes())]);
        assert_eq!(seen.headers.event.as_deref(), Some(delivery.event.as_str()));
        assert_eq!(seen.body.as_ref(), delivery.body.as_bytes());
    }
    drop(server);
    assert!(post_signed(&url, &deliveries[0], b"secret").is_err());
}
