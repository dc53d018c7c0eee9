//! Bringing files up to date.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::*;
use crate::domain::portable::samples::{at, cleared, commanded, over, text_with};
use crate::domain::portable::{Command, Section, render};

#[test]
fn a_new_file_is_private_whole_and_alone() {
    let place = Place::new();
    let written = place.export(&example()).unwrap();
    assert_eq!((written.name.as_deref(), written.changed), (Some(NAME), true));
    assert_eq!(place.text(NAME), EXAMPLE);
    assert_eq!(place.entries(), [NAME]);
    assert_eq!(fs::metadata(place.path(NAME)).unwrap().mode() & 0o777, 0o600);
    assert_eq!(place.folder.look(NAME, written.stamp.as_ref(), now()).unwrap(), Look::Unchanged);
    assert_eq!(fs::read_dir(place.root.path()).unwrap().count(), 1, "nothing outside the folder");
}

#[test]
fn nothing_to_say_makes_no_file_and_a_husk_goes() {
    let place = Place::new();
    let written = place.export(&Record::new(item())).unwrap();
    assert_eq!((written.name, written.changed), (None, false));
    place.put(NAME, "{\"ref\": \"github:octo/repo#15\", \"url\": \"x\"}");
    assert!(would_change(&place.folder, &place.folder.names().unwrap(), request(&Record::new(item()))).unwrap());
    assert!(place.export(&Record::new(item())).unwrap().changed);
    assert!(place.entries().is_empty());
}

#[test]
fn f09_k52_what_is_right_is_not_written_again() {
    let place = Place::new();
    place.export(&example()).unwrap();
    let before = inode(&place.path(NAME));
    let compact = serde_json::to_string(&serde_json::from_str::<serde_json::Value>(EXAMPLE).unwrap()).unwrap();
    let polled = parse(text_with("08:16:00", "09:30:00").as_bytes()).unwrap();
    for (text, record) in [(EXAMPLE, &example()), (EXAMPLE, &polled), (&compact, &polled)] {
        place.put(NAME, text);
        assert!(!would_change(&place.folder, &place.folder.names().unwrap(), request(record)).unwrap());
        let written = place.export(record).unwrap();
        assert!(!written.changed && written.stamp.is_some());
        assert_eq!((place.text(NAME).as_str(), inode(&place.path(NAME))), (text, before));
    }
    // With the next real change they ride along.
    let mut seen = polled.clone();
    if let Section::Present(poll) = &mut seen.poll {
        poll.seen_comments.insert("IC_b2".into());
    }
    assert!(place.export(&seen).unwrap().changed);
    assert!(place.text(NAME).contains("09:30:00") && place.text(NAME).contains("IC_b2"));
}

#[test]
fn k50_c01_c02_j02_what_others_wrote_into_the_file_stays() {
    let place = Place::new();
    let text = text_with(
        "  \"poll\": {\n",
        "  \"graph\": {\"id\": 9007199254740993, \"x\": 1E5},\n  \"version\": 99,\n  \"poll\": {\n    \"x-team\": \"octo\",\n",
    );
    place.put(NAME, &text);
    let stop = commanded(Command::Stop, 7200);
    let written = place.export(&stop).unwrap();
    assert!(written.changed);
    let record = place.record(NAME);
    assert_eq!(record.control, stop.control);
    assert_eq!(record.seen_comments(), example().seen_comments());
    assert_eq!(record.extra, parse(text.as_bytes()).unwrap().extra);
    assert_eq!(record.poll.present().unwrap().extra["x-team"], "octo");
    assert!(place.text(NAME).contains("9007199254740993") && place.text(NAME).contains("1E5"));
    assert_eq!(written.record, record, "the store learns what the file knew");
}

#[test]
fn k06_f01_equal_slugs_get_a_file_each() {
    let place = Place::new();
    let items = ["github:a/b-c#1", "github:a-b/c#1", "github:a/b#1"].map(item_of);
    for round in 0..2 {
        for item in &items {
            let mut record = commanded(Command::Start, 1);
            record.reference = item.clone();
            let written = place.export(&record).unwrap();
            assert_eq!(written.changed, round == 0, "{item}");
            assert_eq!(place.record(&written.name.unwrap()).reference, *item);
        }
    }
    let hashed = items[1].slug().file_name_with(&items[1].key());
    let mut expected = vec!["github-a-b-1.json".to_owned(), "github-a-b-c-1.json".to_owned(), hashed];
    expected.sort();
    assert_eq!(place.entries(), expected);
}

#[test]
fn f02_one_item_has_one_file_however_it_is_spelled() {
    let place = Place::new();
    let shouted = "github-Octo-Repo-15.json";
    place.put(shouted, &EXAMPLE.replace("octo/repo#", "Octo/Repo#"));
    assert!(!place.export(&example()).unwrap().changed, "used under the name it has");
    // Two clones made one each: the join of both, under the item's own spelling.
    place.put(NAME, &text_with("IC_a1", "IC_b2"));
    assert!(would_change(&place.folder, &place.folder.names().unwrap(), request(&example())).unwrap());
    let written = place.export(&example()).unwrap();
    assert_eq!((written.name.as_deref(), written.changed), (Some(NAME), true));
    assert_eq!(place.entries(), [NAME]);
    assert_eq!(place.record(NAME).seen_comments().unwrap().iter().collect::<Vec<_>>(), ["IC_a1", "IC_b2"]);
}

#[test]
fn k53_f04_a_file_that_is_no_record_is_held_and_the_others_go_on() {
    let place = Place::new();
    let conflict = text_with("  \"poll\": {\n", "<<<<<<< HEAD\n=======\n>>>>>>> b1\n  \"poll\": {\n");
    for broken in [conflict.as_str(), "", "\0\0", "{}", "[]", &text_with("repo#15\",\n  \"url", "other#1\",\n  \"url")]
    {
        place.put(NAME, broken);
        let mut batch = place.folder.batch(LIMIT).unwrap();
        let stop = commanded(Command::Stop, 7200);
        let held = batch.export(request(&stop)).unwrap_err();
        assert!(held.to_string().starts_with("github-octo-repo-15.json: "), "{held}");
        assert!(matches!(held, Held::Refused { .. }), "{held}");
        assert_eq!(place.text(NAME), broken, "never overwritten");
        let mut other = stop.clone();
        other.reference = item_of("github:octo/other#1");
        batch.export(request(&other)).unwrap();
    }
    place.put(NAME, &conflict);
    let held = place.export(&example()).unwrap_err();
    assert_eq!(held.to_string(), "github-octo-repo-15.json: line 12: unresolved merge conflict");
    place.put(NAME, "{");
    let young = Export { record: &example(), adopted: None, now: now() };
    assert!(matches!(place.folder.batch(LIMIT).unwrap().export(young), Err(Held::Later { .. })));
}

#[test]
fn k55_other_peoples_items_are_not_touched() {
    let place = Place::new();
    let other = "{\"ref\":\"github:octo/repo#16\",\"control\":null,\"graph\":[1]}";
    place.put("github-octo-repo-16.json", other);
    place.put("index.json", "{\"workItems\": []}");
    let before = inode(&place.path("github-octo-repo-16.json"));
    place.export(&example()).unwrap();
    assert_eq!(place.text("github-octo-repo-16.json"), other);
    assert_eq!(inode(&place.path("github-octo-repo-16.json")), before);
    assert_eq!(place.text("index.json"), "{\"workItems\": []}");
}

#[test]
fn k57_f11_a_link_is_neither_followed_nor_replaced() {
    let place = Place::new();
    let outside = place.root.path().join("real.json");
    fs::write(&outside, EXAMPLE).unwrap();
    symlink(&outside, place.path(NAME)).unwrap();
    let held = place.export(&commanded(Command::Stop, 7200)).unwrap_err();
    assert_eq!(held.to_string(), format!("{NAME}: a symbolic link, which is never followed"));
    assert_eq!(fs::read_to_string(&outside).unwrap(), EXAMPLE);
    assert!(fs::symlink_metadata(place.path(NAME)).unwrap().is_symlink());
}

#[test]
fn f12_the_mode_of_a_file_is_kept() {
    for mode in [0o644, 0o640, 0o600, 0o444] {
        for ability in ABILITIES {
            let place = Place::new();
            place.put(NAME, EXAMPLE);
            fs::set_permissions(place.path(NAME), fs::Permissions::from_mode(mode)).unwrap();
            let temporary_modes = RefCell::new(Vec::new());
            let look = || {
                let temporary = place.entries().into_iter().find(|name| name.ends_with(".tmp")).unwrap();
                temporary_modes.borrow_mut().push(fs::metadata(place.path(&temporary)).unwrap().mode() & 0o777);
            };
            place.export_with(&commanded(Command::Stop, 7200), &Hook::act(Step::Made, ability, look)).unwrap();
            assert_eq!(fs::metadata(place.path(NAME)).unwrap().mode() & 0o777, mode);
            assert_eq!(*temporary_modes.borrow(), [0o600], "private from the first byte");
        }
    }
}

#[test]
fn f13_f14_the_temporary_lies_beside_its_target_and_fits() {
    let place = Place::new();
    let mut record = example();
    record.reference = item_of(&format!("github:octo/{}#9007199254740991", "x".repeat(300)));
    let seen = RefCell::new(Vec::new());
    let hook = Hook::act(Step::Written, Ability::Exchange, || *seen.borrow_mut() = place.entries());
    let written = place.export_with(&record, &hook).unwrap();
    let temporary = seen.borrow()[0].clone();
    assert!(temporary.starts_with(written.name.as_deref().unwrap()) && temporary.ends_with(".tmp"), "{temporary}");
    assert!(temporary.len() <= 255);
}

#[test]
fn f16_an_ended_item_is_not_revived_by_another_clones_file() {
    let place = Place::new();
    let ended = over(7200, "closed");
    place.put(NAME, EXAMPLE);
    let written = place.export(&ended).unwrap();
    assert!(!place.record(NAME).is_armed() && !written.record.is_armed());
    assert_eq!(written.beaten.len(), 1);
    assert_eq!(place.record(NAME).ended, ended.ended);
    // The other clone's old file again, as a checkout brings it: nothing comes back.
    place.swap(NAME, EXAMPLE);
    assert!(!place.export(&ended).unwrap().record.is_armed());
}

#[test]
fn an_undated_tombstone_acts_once() {
    let place = Place::new();
    place.put(NAME, &render(&cleared()));
    let Read::File(file) = place.folder.read(NAME, now()).unwrap() else { panic!() };
    // Taken in before; the start came after it.
    let started = Record { ended: over(1, "cleared").ended, ..commanded(Command::Start, 7200) };
    let known = Export { adopted: Some(&file.stamp), ..request(&started) };
    assert!(place.folder.batch(LIMIT).unwrap().export(known).unwrap().record.is_armed());
    // In a file nobody took in yet it is news.
    place.swap(NAME, &render(&cleared()));
    let written = place.folder.batch(LIMIT).unwrap().export(known).unwrap();
    assert!(!written.record.is_armed());
    assert_eq!(written.record.ended.unwrap().at, at(7200));
}

#[test]
fn k59_a_file_that_is_just_gone_is_not_written_into_gits_way() {
    let place = Place::new();
    let written = place.export(&example()).unwrap();
    fs::remove_file(place.path(NAME)).unwrap();
    let record = example();
    let soon = Export { record: &record, adopted: written.stamp.as_ref(), now: now() };
    assert!(matches!(place.folder.batch(LIMIT).unwrap().export(soon), Err(Held::Later { .. })));
    assert!(place.entries().is_empty());
    let later = Export { now: now().plus_seconds(3600), ..soon };
    assert!(place.folder.batch(LIMIT).unwrap().export(later).unwrap().changed);
}
