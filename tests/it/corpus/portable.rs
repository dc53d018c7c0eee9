//! The round trip: what is kept of a body is that body, and the portable files say to a fresh store what they said.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use bytes::Bytes;
use the_loop::adapters::system::{RandomIds, SystemClock};
use the_loop::domain::event::body::{self, MediaType};
use the_loop::domain::ids::DeliveryId;
use the_loop::domain::portable::{Command, Record, parse};
use the_loop::domain::ports::Clock as _;
use the_loop::domain::signature::TrustedBody;
use the_loop::store::{Store, View as _};

use super::examples::{corpus, digest, fresh_id, item_named};
use super::mutants::as_form;
use super::routing::rows;
use super::state::{OPERATOR, deliveries, place, take};
use crate::portable::Place;

/// Bodies are kept only of what a bug kept from being decided.
#[test]
fn a_body_that_is_kept_is_the_one_that_came() {
    let Some(corpus) = corpus("a_body_that_is_kept_is_the_one_that_came") else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("store.redb");
    let kept: Vec<(DeliveryId, String, Vec<u8>, &str)> = rows(corpus)
        .into_iter()
        .enumerate()
        .map(|(n, (example, row))| {
            let (media, bytes) = match n % 2 {
                0 => (MediaType::Json, example.body.clone()),
                _ => (MediaType::Form, as_form(&example.body)),
            };
            let trusted = TrustedBody::from_own_request(Bytes::from(bytes));
            let text = body::read(media, &trusted).unwrap().as_str().as_bytes().to_vec();
            (DeliveryId::parse(&fresh_id()).unwrap(), example.event.clone(), text, row.sha256)
        })
        .collect();
    let store = Store::open(&file, &RandomIds).unwrap();
    let (rows, now) = (kept.clone(), SystemClock.now());
    let put = store.write(move |tx| {
        rows.iter().try_for_each(|(id, event, text, _)| tx.put_undecidable(id, event, text, "a bug", now))
    });
    put.unwrap();
    store.close().unwrap();
    let store = Store::open(&file, &RandomIds).unwrap();
    for (id, event, _, sha256) in kept {
        let body = store.read(|tx| tx.undecidable_body(&id)).unwrap().unwrap();
        assert_eq!(digest(&body, 16), sha256, "{event}");
    }
}

/// The portable files of a place.
fn files(place: &Place) -> BTreeMap<String, String> {
    let folder = fs::read_dir(place.root.path().join("portable")).unwrap().map(|entry| entry.unwrap());
    let text = |path| fs::read_to_string(path).unwrap();
    folder.map(|entry| (entry.file_name().into_string().unwrap(), text(entry.path()))).collect()
}

/// Long enough after now for every file to be old.
fn today(place: &Place) {
    place.turn_clock_to(SystemClock.now().plus_seconds(3600));
}

#[test]
fn a_fresh_store_takes_from_the_portable_files_what_it_would_write_into_them() {
    let Some(corpus) = corpus("a_fresh_store_takes_from_the_portable_files_what_it_would_write_into_them") else {
        return;
    };
    let one = place(corpus, true);
    for (example, event) in deliveries(corpus) {
        take(&one, example, &event);
    }
    today(&one);
    let named: BTreeSet<_> = corpus
        .public
        .iter()
        .filter_map(|example| item_named(MediaType::Json, &example.body))
        .map(|(item, _)| item)
        .collect();
    for (n, item) in named.iter().enumerate() {
        let word = if n % 3 == 0 { Command::Pause } else { Command::Start };
        one.app.command(item, &word, OPERATOR).unwrap();
    }
    one.app.export_all().unwrap();
    let theirs = files(&one);
    let records: Vec<_> = theirs.values().map(|text| parse(text.as_bytes()).unwrap()).collect();
    let some = |is: fn(&Record) -> bool| records.iter().any(is);
    assert!(
        some(Record::is_armed)
            && some(|record| record.ended.is_some())
            && some(|record| record.seen_comments().is_some())
    );

    let other = place(corpus, true);
    today(&other);
    for (name, text) in &theirs {
        fs::write(other.root.path().join("portable").join(name), text).unwrap();
    }
    let adopted: BTreeSet<_> = other.app.adopt_folder().unwrap().changed.into_iter().collect();
    assert_eq!(adopted, records.iter().map(|record| record.reference.key()).collect());
    assert!(other.app.export_all().unwrap().exported.written.is_empty(), "the files say it already");
    assert_eq!(files(&other), theirs);
    for name in theirs.keys() {
        fs::remove_file(other.root.path().join("portable").join(name)).unwrap();
    }
    other.app.export_all().unwrap();
    assert_eq!(files(&other), theirs, "written anew from what was adopted");
}
