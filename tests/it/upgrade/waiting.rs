//! What cannot be known yet is not guessed: the item waits, and is not armed meanwhile.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use the_loop::domain::log::EventName;
use the_loop::domain::reference::WorkItemRef;
use the_loop::store::View as _;

use super::{control, reference, session};
use crate::portable::Place;

fn put(place: &Place, path: &str, text: &str) {
    let path = place.root.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn put_session(place: &Place, record: &Json) {
    put(place, "local/github-octo-hello-15.json", &record.to_string());
}

fn item(number: u64) -> WorkItemRef {
    WorkItemRef::parse(&reference(number)).unwrap()
}

fn is_armed(place: &Place) -> bool {
    place.item(&item(15)).is_some_and(|row| row.sections.control.is_some())
}

#[test]
fn k46_while_tmux_does_not_answer_the_item_waits_and_is_not_armed_beside_its_agent() {
    let place = Place::new();
    put(&place, "sessions/control/github-octo-hello-15.json", &control(15, "start", "2023-11-14T00:00:00Z"));
    put_session(&place, &session(15, Path::new("/srv"), "silent", &[]));
    for _ in 0..3 {
        place.app.adopt_earlier_tree().unwrap();
        place.adopt(&item(15));
        assert!(!is_armed(&place) && place.item(&item(15)).is_none());
    }
    let said = place.journal(EventName::PortableAdopted);
    assert_eq!(said.len(), 1, "once: {said:?}");
    assert!(said[0].fields["reason"].as_str().unwrap().contains("does not answer"));
    // The server is gone by now.
    put_session(&place, &session(15, Path::new("/srv"), "gone", &[]));
    let beside = place.root.path().join("local/beside");
    fs::write(&beside, "").unwrap();
    place.app.adopt_earlier_tree().unwrap();
    assert!(is_armed(&place) && place.item(&item(15)).unwrap().session.is_some());
}

#[test]
fn k53_an_item_whose_portable_file_cannot_be_read_waits() {
    let place = Place::new();
    put(&place, "sessions/control/github-octo-hello-15.json", &control(15, "start", "2023-11-14T00:00:00Z"));
    place.put(&item(15), "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs\n");
    place.app.adopt_folder().unwrap();
    place.app.adopt_earlier_tree().unwrap();
    assert!(!is_armed(&place), "the file may say that it ended");
    place.put(&item(15), "{\"ref\": \"github:octo/hello#15\", \"control\": null}");
    place.adopt(&item(15));
    assert!(!is_armed(&place));
    place.put(&item(15), "{\"ref\": \"github:octo/hello#15\"}");
    place.adopt(&item(15));
    assert!(!is_armed(&place), "what was judged once is not judged again");
}

#[test]
fn an_event_on_a_pull_request_takes_over_the_old_record_that_lists_it() {
    let place = Place::new();
    let pull = session(20, Path::new("/srv"), "", &[]);
    put_session(&place, &session(15, Path::new("/srv"), "", &[pull]));
    assert_eq!(place.adopt(&item(20)).changed, [item(15).key()]);
    let owners = place.app.store().read(|tx| tx.owners(&item(20).key())).unwrap();
    assert_eq!(owners, [item(15).key()]);
    assert!(place.app.store().read(|tx| the_loop::store::check(tx)).unwrap().is_empty());
}

#[test]
fn k51_without_an_old_tree_nothing_is_judged_and_nothing_is_remembered() {
    let place = Place::new();
    place.app.adopt_earlier_tree().unwrap();
    put(&place, "sessions/control/github-octo-hello-15.json", &control(15, "start", "2023-11-14T00:00:00Z"));
    place.adopt(&item(15));
    assert!(!is_armed(&place), "it is not looked for before every decision");
    place.app.adopt_earlier_tree().unwrap();
    assert!(is_armed(&place), "but with every look at the folder");
}
