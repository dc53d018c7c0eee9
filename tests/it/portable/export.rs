//! The files follow the store, and nothing else happens to them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Command as Program;

use the_loop::domain::decide::Urgency;
use the_loop::domain::log::EventName;
use the_loop::domain::portable::{Command, Ended, Poll, Section};

use super::{Place, at, commanded, control, reference};

#[test]
fn a_mark_is_served_once_and_said_once() {
    let place = Place::new();
    let item = place.armed(15, 10);
    assert!(!place.is_marked(&item) && place.record(&item).is_armed());
    assert_eq!(place.export(), Vec::<String>::new());
    assert_eq!(place.journal(EventName::ExportWritten).len(), 1);
    let check = place.app.export_check().unwrap();
    assert_eq!((check.written.len(), check.held.len(), check.unchanged), (0, 0, 1));
}

#[test]
fn what_is_not_urgent_waits_for_the_cycle() {
    let place = Place::new();
    let item = reference(15);
    let key = item.key();
    place.change(&item, |row| row.sections.has_poll = true);
    let now = place.app.now();
    place
        .app
        .store()
        .write(move |tx| {
            tx.clear_mark(&key)?;
            tx.put_mark(&key, Urgency::Cycle, now)
        })
        .unwrap();
    let run = |urgency| place.app.export_marked(urgency, &BTreeSet::new()).unwrap().exported.written;
    assert!(run(Urgency::Now).is_empty());
    let except = [item.key()].into();
    assert!(place.app.export_marked(Urgency::Cycle, &except).unwrap().exported.written.is_empty());
    assert_eq!(run(Urgency::Cycle), ["github-octo-repo-15.json"]);
}

#[test]
fn k50_an_export_keeps_every_section_of_others() {
    let place = Place::new();
    let item = place.armed(15, 10);
    let mut theirs = place.record(&item);
    theirs.extra.insert("graph".into(), serde_json::json!({ "phase": 3 }));
    theirs.poll = Section::Present(Poll { seen_comments: ["IC_a".to_owned()].into(), ..Poll::default() });
    place.put_record(&theirs);
    place.change(&item, |row| row.sections.control = Some(control(Command::Pause, "mona", 20)));
    place.export();
    let file = place.record(&item);
    assert_eq!(file.extra.get("graph"), theirs.extra.get("graph"));
    assert_eq!(file.control.present().unwrap().command, Command::Pause);
    assert!(file.seen_comments().unwrap().contains("IC_a"));
    assert_eq!(place.seen(&item), ["IC_a".to_owned()].into(), "what the join brought is taken into the store");
}

#[test]
fn k51_k55_one_change_writes_one_file_and_no_index() {
    let place = Place::new();
    let items: Vec<_> = (1..=40).map(|number| place.armed(number, 10)).collect();
    // Somebody else's item, which this store does not know.
    let foreign = commanded(&reference(99), Command::Start, "mona", 10);
    place.put(&foreign.reference, "{\"ref\":\"github:octo/repo#99\",  \"control\":null}");
    let look = || {
        let entries = fs::read_dir(place.root.path().join("portable")).unwrap();
        let mut all: Vec<(String, u64)> = entries
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().ino()))
            .collect();
        all.sort();
        all
    };
    let before = look();
    place.change(&items[7], |row| row.sections.control = Some(control(Command::Stop, "mona", 20)));
    let run = place.app.export_all().unwrap().exported;
    assert_eq!((run.written, run.unchanged), (vec!["github-octo-repo-8.json".to_owned()], 39));
    let after = look();
    let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    assert_eq!((changed, before.len(), after.len()), (1, 41, 41));
}

#[test]
fn k52_a_clock_alone_never_writes() {
    let place = Place::new();
    let item = place.armed(15, 10);
    let was = (place.text(&item), fs::metadata(place.path(&item)).unwrap().ino());
    for second in 100..103 {
        place.change(&item, move |row| {
            row.sections.last_polled_at = Some(at(second));
        });
        assert!(place.export().is_empty() && !place.is_marked(&item));
        assert!(place.app.export_all().unwrap().exported.written.is_empty());
    }
    // A poll section of its own is a change; its time is not.
    place.change(&item, |row| row.sections.has_poll = true);
    assert_eq!(place.export().len(), 1);
    assert_ne!(was.0, place.text(&item));
}

#[test]
fn k57_export_stages_nothing_and_stays_in_its_folder() {
    let place = Place::new();
    let git = |args: &[&str]| {
        let run = Program::new("git").args(args).current_dir(place.root.path()).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    };
    git(&["init", "-q"]);
    place.armed(15, 10);
    let outside = place.root.path().join("outside.json");
    fs::write(&outside, "{\"ref\":\"github:octo/repo#16\"}").unwrap();
    std::os::unix::fs::symlink(&outside, place.path(&reference(16))).unwrap();
    place.change(&reference(16), |row| row.sections.control = Some(control(Command::Start, "mona", 10)));
    let run = place.app.export_marked(Urgency::Now, &BTreeSet::new()).unwrap();
    assert!(run.exported.held[0].reason.contains("symbolic link"), "{run:?}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{\"ref\":\"github:octo/repo#16\"}");
    assert!(fs::symlink_metadata(place.path(&reference(16))).unwrap().is_symlink());
    assert_eq!(git(&["diff", "--cached", "--name-only"]), "");
    assert!(git(&["status", "--porcelain"]).lines().all(|line| line.starts_with("??")));
}

#[test]
fn k59_a_missing_file_is_no_fact_until_somebody_asks() {
    let place = Place::new();
    let item = place.armed(15, 10);
    let before = (place.item(&item), place.text(&item));
    fs::remove_file(place.path(&item)).unwrap();
    assert!(place.adopt(&item).changed.is_empty() && !place.is_marked(&item));
    assert_eq!(place.item(&item), before.0);
    assert!(place.export().is_empty() && !place.path(&item).exists());
    assert_eq!(place.app.export_check().unwrap().written, ["github-octo-repo-15.json"]);
    assert!(!place.path(&item).exists(), "a check writes nothing");
    assert_eq!(place.app.export_all().unwrap().exported.written, ["github-octo-repo-15.json"]);
    assert_eq!(place.text(&item), before.1);
    fs::remove_dir_all(place.root.path().join("portable")).unwrap();
    assert!(place.adopt(&item).changed.is_empty());
    assert!(place.app.adopt_folder().unwrap().changed.is_empty());
    assert_eq!(place.item(&item), before.0);
}

#[test]
fn k59_an_older_file_disturbs_nothing_until_somebody_asks() {
    let place = Place::new();
    let item = place.armed(15, 10);
    let old = place.text(&item);
    place.change(&item, |row| {
        row.sections.control = None;
        row.sections.ended = Some(Ended { at: at(20), reason: "closed".into() });
    });
    place.export();
    let (row, new) = (place.item(&item), place.text(&item));
    place.put(&item, &old);
    assert!(place.adopt(&item).changed.is_empty() && !place.is_marked(&item));
    assert_eq!(place.item(&item), row);
    assert!(place.export().is_empty());
    assert_eq!(place.text(&item), old, "nothing is written because of it");
    assert_eq!(place.app.export_check().unwrap().written.len(), 1);
    assert_eq!(place.app.export_all().unwrap().exported.written.len(), 1);
    assert_eq!(place.text(&item), new);
}

#[test]
fn a_change_during_the_export_keeps_the_mark() {
    let (place, meddler) = Place::meddled();
    let item = reference(15);
    place.change(&item, |row| row.sections.control = Some(control(Command::Start, "mona", 10)));
    let (app, changed) = (place.app.clone(), item.clone());
    *meddler.lock().unwrap() = Some(Box::new(move || {
        super::change(&app, &changed, |row| row.sections.control = Some(control(Command::Stop, "mona", 20)));
    }));
    assert_eq!(place.export().len(), 1);
    assert!(place.is_marked(&item) && place.record(&item).is_armed(), "what was written is no longer what is so");
    assert_eq!(place.export().len(), 1);
    assert!(!place.is_marked(&item) && !place.record(&item).is_armed());
}

#[test]
fn what_a_crash_left_is_joined_at_the_start() {
    let place = Place::new();
    let item = place.armed(15, 10);
    let mut left = commanded(&item, Command::Pause, "mona", 30);
    left.poll = Section::Present(Poll { seen_comments: ["IC_left".to_owned()].into(), ..Poll::default() });
    let temporary = place.path(&item).with_extension("json.1-1.tmp");
    fs::write(&temporary, the_loop::domain::portable::render(&left)).unwrap();
    let run = place.app.join_leftovers().unwrap();
    assert_eq!(run.adoption.changed, [item.key()]);
    assert!(!temporary.exists() && place.seen(&item).contains("IC_left"));
    assert_eq!(place.record(&item).control, left.control);
    assert_eq!(place.item(&item).unwrap().sections.control.as_ref(), left.control.present());
    assert!(place.app.export_check().unwrap().written.is_empty());
}

#[test]
fn a_pruned_record_stays_away_until_something_happens_to_its_item() {
    let place = Place::new();
    let ended = place.armed(15, 10);
    let (armed, fresh) = (place.armed(16, 10), place.armed(17, 10));
    let end = |item: &the_loop::domain::reference::WorkItemRef, at| {
        place.change(item, move |row| {
            row.sections.control = None;
            row.sections.ended = Some(Ended { at, reason: "closed".into() });
        });
    };
    end(&ended, at(20));
    end(&fresh, place.app.now());
    place.export();
    let run = place.app.prune_files(30).unwrap().exported;
    assert_eq!((run.removed, run.held.len()), (vec!["github-octo-repo-15.json".to_owned()], 0));
    assert!(!place.path(&ended).exists() && place.path(&armed).exists() && place.path(&fresh).exists());
    for _ in 0..2 {
        assert!(place.app.export_check().unwrap().written.is_empty());
        assert!(place.app.export_all().unwrap().exported.written.is_empty() && place.export().is_empty());
        assert!(place.app.prune_files(30).unwrap().exported.removed.is_empty());
    }
    // Also when git made the folder anew: an empty one it takes away.
    let folder = place.root.path().join("portable");
    fs::rename(&folder, place.root.path().join("old")).unwrap();
    fs::create_dir(&folder).unwrap();
    let written = place.app.export_all().unwrap().exported.written;
    assert_eq!(written, ["github-octo-repo-16.json", "github-octo-repo-17.json"]);
    // An old copy that comes back is taken in, arms nothing, and can be pruned again.
    place.put_record(&commanded(&ended, Command::Start, "mona", 10));
    assert!(place.app.adopt_folder().unwrap().changed.is_empty() && place.export().is_empty());
    assert_eq!(place.app.export_all().unwrap().exported.written, ["github-octo-repo-15.json"]);
    assert!(!place.record(&ended).is_armed());
    assert_eq!(place.app.prune_files(30).unwrap().exported.removed.len(), 1);
    place.change(&ended, |row| row.sections.control = Some(control(Command::Start, "mona", 30)));
    assert_eq!(place.export(), ["github-octo-repo-15.json"]);
    // A file that says more than the store is not taken out.
    end(&ended, at(40));
    place.export();
    let mut more = place.record(&ended);
    more.poll = Section::Present(Poll { seen_comments: ["IC_new".to_owned()].into(), ..Poll::default() });
    place.put_record(&more);
    assert!(place.app.prune_files(30).unwrap().exported.removed.is_empty());
    assert!(place.record(&ended).seen_comments().unwrap().contains("IC_new"));
}
