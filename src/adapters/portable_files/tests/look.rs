//! Telling news from what is known.

use std::fs::File;
use std::time::{Duration, SystemTime};

use super::*;
use crate::domain::portable::{RefusalKind, Stamp};

fn later() -> Time {
    now().plus_seconds(3600)
}

fn stamp_of(place: &Place, now: Time) -> Stamp {
    match place.folder.read(NAME, now).unwrap() {
        Read::File(file) => file.stamp,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_known_file_is_not_read_again_and_ages() {
    let place = Place::new();
    place.put(NAME, EXAMPLE);
    let (young, old) = (stamp_of(&place, now()), stamp_of(&place, later()));
    assert!(young.hash.is_some() && old.hash.is_none());
    assert_eq!(place.folder.look(NAME, Some(&old), later()).unwrap(), Look::Unchanged);
    assert_eq!(place.folder.look(NAME, Some(&young), now()).unwrap(), Look::Unchanged);
    assert_eq!(place.folder.look(NAME, Some(&young), later()).unwrap(), Look::Aged(old.clone()));
    assert!(matches!(place.folder.look(NAME, None, later()).unwrap(), Look::News(_)));
    place.swap(NAME, &EXAMPLE.replace("mona", "lisa"));
    assert!(matches!(place.folder.look(NAME, Some(&old), later()).unwrap(), Look::News(_)));
}

/// A change that keeps length and times, as within one tick of the file system's clock.
#[test]
fn a_change_that_the_times_do_not_show_is_seen_by_the_hash() {
    let place = Place::new();
    place.put(NAME, EXAMPLE);
    let mut known = stamp_of(&place, now());
    place.put(NAME, &EXAMPLE.replace("mona", "lisa"));
    let file = File::options().write(true).open(place.path(NAME)).unwrap();
    let modified = SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(known.modified_ns).unwrap());
    file.set_modified(modified).unwrap();
    known.changed_ns = stamp_of(&place, now()).changed_ns;
    assert!(known.looks_like(&stamp_of(&place, now())));
    assert!(matches!(place.folder.look(NAME, Some(&known), now()).unwrap(), Look::News(_)));
}

#[test]
fn k37_k59_missing_is_no_fact_and_just_gone_is_looked_at_later() {
    let place = Place::new();
    place.put(NAME, EXAMPLE);
    let known = stamp_of(&place, now());
    std::fs::remove_file(place.path(NAME)).unwrap();
    assert_eq!(place.folder.look(NAME, Some(&known), now()).unwrap(), Look::Later);
    assert_eq!(place.folder.look(NAME, Some(&known), later()).unwrap(), Look::Missing);
    assert_eq!(place.folder.look(NAME, None, now()).unwrap(), Look::Missing);
}

#[test]
fn f10_young_and_half_written_is_later_old_is_refused() {
    let place = Place::new();
    for text in ["", "\0\0\0", "{\"ref\": \"gith", "<<<<<<< ours\n"] {
        place.put(NAME, text);
        assert_eq!(place.folder.look(NAME, None, now()).unwrap(), Look::Later, "{text:?}");
        assert!(matches!(place.folder.look(NAME, None, later()).unwrap(), Look::Refused(_)), "{text:?}");
    }
    place.put(NAME, "{}");
    assert!(matches!(place.folder.look(NAME, None, now()).unwrap(), Look::Refused(_)), "whole, but no record");
}

#[test]
fn k57_what_is_no_plain_file_is_never_opened_through() {
    let place = Place::new();
    let outside = place.root.path().join("outside.json");
    std::fs::write(&outside, EXAMPLE).unwrap();
    std::os::unix::fs::symlink(&outside, place.path("link.json")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path("dangling.json")).unwrap();
    std::fs::create_dir(place.path("folder.json")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.path("pipe.json"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket.json")).unwrap();
    for (name, kind) in [
        ("link.json", RefusalKind::Symlink),
        ("dangling.json", RefusalKind::Symlink),
        ("folder.json", RefusalKind::NotAFile),
        ("pipe.json", RefusalKind::NotAFile),
        ("socket.json", RefusalKind::NotAFile),
    ] {
        match place.folder.look(name, None, later()).unwrap() {
            Look::Refused(refusal) => assert_eq!(refusal.kind, kind, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn over_four_mebibytes_is_refused_without_reading_it_all() {
    let place = Place::new();
    File::create(place.path(NAME)).unwrap().set_len(1 << 40).unwrap();
    match place.folder.look(NAME, None, later()).unwrap() {
        Look::Refused(refusal) => assert_eq!(refusal.kind, RefusalKind::TooLarge),
        other => panic!("{other:?}"),
    }
}
