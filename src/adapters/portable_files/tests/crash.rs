//! Stopped between any two steps, and others writing between them.

use super::*;
use crate::domain::portable::samples::{commanded, text_with};
use crate::domain::portable::{Command, Section, render};

const STEPS: [Step; 8] =
    [Step::Read, Step::Made, Step::Written, Step::Linked, Step::Placed, Step::Moved, Step::Removed, Step::Synced];

/// What the store wants to say: a later stop.
fn stop() -> Record {
    commanded(Command::Stop, 7200)
}

fn with_comment(id: &str) -> String {
    text_with("\"IC_a1\"", &format!("\"IC_a1\",\n      \"{id}\""))
}

fn knows(record: &Record, ids: &[&str]) -> bool {
    record.seen_comments().is_some_and(|seen| ids.iter().all(|id| seen.contains(*id)))
}

#[test]
fn a_crash_between_any_two_steps_leaves_the_file_old_or_new() {
    let mut reached = Vec::new();
    for (step, ability, existing) in STEPS
        .iter()
        .flat_map(|step| ABILITIES.map(|ability| (*step, ability)))
        .flat_map(|(s, a)| [(s, a, true), (s, a, false)])
    {
        let place = Place::new();
        if existing {
            place.put(NAME, EXAMPLE);
        }
        let hook = Hook::crash(step, ability);
        let outcome = place.export_with(&stop(), &hook);
        assert_eq!(outcome.is_err(), hook.was_reached(), "{step:?} {ability:?}");
        if hook.was_reached() {
            reached.push(step);
        }
        if existing || place.path(NAME).exists() {
            let record = place.record(NAME);
            let is_old = existing && place.text(NAME) == EXAMPLE;
            assert!(is_old || record.control == stop().control && (!existing || knows(&record, &["IC_a1"])));
        }
        let written = place.export(&stop()).unwrap();
        assert_eq!(place.record(NAME).control, stop().control, "{step:?} {ability:?}");
        assert!(!existing || knows(&written.record, &["IC_a1"]));
        assert_eq!(place.entries(), [NAME], "{step:?} {ability:?}");
        assert!(!place.export(&stop()).unwrap().changed);
    }
    reached.sort();
    reached.dedup();
    assert_eq!(reached.len(), STEPS.len() - 1, "every step but `Moved`, which takes two files");
}

#[test]
fn a_crash_while_two_spellings_become_one_loses_neither() {
    for (step, ability) in STEPS.iter().flat_map(|step| ABILITIES.map(|ability| (*step, ability))) {
        let place = Place::new();
        place.put(NAME, EXAMPLE);
        place.put("github-OCTO-repo-15.json", &with_comment("IC_b2").replace("octo/repo#", "OCTO/repo#"));
        let hook = Hook::crash(step, ability);
        assert_eq!(place.export_with(&stop(), &hook).is_err(), hook.was_reached());
        let written = place.export(&stop()).unwrap();
        assert!(knows(&written.record, &["IC_a1", "IC_b2"]), "{step:?} {ability:?}");
        assert_eq!(place.entries(), [NAME], "{step:?} {ability:?}");
        assert!(knows(&place.record(NAME), &["IC_a1", "IC_b2"]));
    }
}

#[test]
fn k55b_a_colleagues_change_between_read_and_exchange_is_not_lost() {
    let steps = [Step::Read, Step::Made, Step::Written, Step::Linked];
    for (step, ability) in steps.iter().flat_map(|step| ABILITIES.map(|ability| (*step, ability))) {
        for renamed in [true, false] {
            // Without an exchange, a rename after the link is the window that `Replaced` names.
            if step == Step::Linked && (renamed || ability != Ability::Link) {
                continue;
            }
            let place = Place::new();
            place.put(NAME, EXAMPLE);
            let change = with_comment("IC_new").replace("{\n  \"ref\"", "{\n  \"graph\": 2,\n  \"ref\"");
            let hook = Hook::act(step, ability, || match renamed {
                true => place.swap(NAME, &change),
                false => place.put(NAME, &change),
            });
            let written = place.export_with(&stop(), &hook).unwrap();
            let record = place.record(NAME);
            assert!(knows(&record, &["IC_a1", "IC_new"]), "{step:?} {ability:?}");
            assert_eq!((&record.control, &record.extra["graph"]), (&stop().control, &2.into()));
            assert_eq!(written.record, record);
            assert_eq!(place.entries(), [NAME], "{step:?} {ability:?}");
        }
    }
}

#[test]
fn k55b_a_file_that_appears_or_goes_between_is_seen() {
    for (step, ability) in [Step::Read, Step::Written].iter().flat_map(|s| ABILITIES.map(|a| (*s, a))) {
        let place = Place::new();
        let hook = Hook::act(step, ability, || place.swap(NAME, EXAMPLE));
        place.export_with(&stop(), &hook).unwrap();
        assert!(knows(&place.record(NAME), &["IC_a1"]), "{step:?} {ability:?}");
        assert_eq!(place.entries(), [NAME]);

        let place = Place::new();
        place.put(NAME, EXAMPLE);
        let hook = Hook::act(step, ability, || fs::remove_file(place.path(NAME)).unwrap());
        let held = place.export_with(&stop(), &hook).unwrap_err();
        assert!(matches!(held, Held::Later { .. }), "{step:?} {ability:?}: {held}");
        assert!(place.entries().is_empty(), "{step:?} {ability:?}");
    }
}

#[test]
fn a_key_that_a_colleague_changed_or_removed_meanwhile_follows_him() {
    let place = Place::new();
    let graph = |value: &str| text_with("{\n  \"ref\"", &format!("{{\n  {value}\n  \"ref\""));
    place.put(NAME, &graph("\"graph\": 1, \"gone\": 1,"));
    let hook = Hook::act(Step::Written, Ability::Exchange, || place.swap(NAME, &graph("\"graph\": 2,")));
    place.export_with(&stop(), &hook).unwrap();
    let extra = place.record(NAME).extra;
    assert_eq!((extra.get("graph"), extra.get("gone")), (Some(&2.into()), None));
}

#[test]
fn k53_what_comes_out_and_is_no_record_is_put_back() {
    let conflict = "{\n<<<<<<< HEAD\n=======\n>>>>>>> b1\n}\n";
    for ability in ABILITIES {
        let place = Place::new();
        place.put(NAME, EXAMPLE);
        let hook = Hook::act(Step::Written, ability, || place.swap(NAME, conflict));
        let held = place.export_with(&stop(), &hook).unwrap_err();
        assert!(matches!(held, Held::Refused { .. }), "{ability:?}: {held}");
        assert_eq!(place.text(NAME), conflict, "{ability:?}");
        assert_eq!(place.entries(), [NAME], "{ability:?}");
    }
}

#[test]
fn k57_a_link_that_appears_between_is_put_back_and_nothing_outside_changes() {
    for ability in ABILITIES {
        let place = Place::new();
        place.put(NAME, EXAMPLE);
        let outside = place.root.path().join("real.json");
        fs::write(&outside, EXAMPLE).unwrap();
        let hook = Hook::act(Step::Written, ability, || {
            fs::remove_file(place.path(NAME)).unwrap();
            std::os::unix::fs::symlink(&outside, place.path(NAME)).unwrap();
        });
        let held = place.export_with(&stop(), &hook).unwrap_err();
        assert!(matches!(held, Held::Refused { .. }), "{ability:?}: {held}");
        assert!(fs::symlink_metadata(place.path(NAME)).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&outside).unwrap(), EXAMPLE);
        assert_eq!(place.entries(), [NAME], "{ability:?}");
    }
}

#[test]
fn another_items_record_that_takes_the_place_keeps_it() {
    let place = Place::new();
    let mut record = stop();
    record.reference = item_of("github:a/b-c#1");
    let mut other = stop();
    other.reference = item_of("github:a-b/c#1");
    let hook = Hook::act(Step::Written, Ability::Exchange, || place.swap("github-a-b-c-1.json", &render(&other)));
    place.export(&record).unwrap();
    record.control = Section::Present(crate::domain::portable::samples::control(Command::Pause, 9000));
    let written = place.export_with(&record, &hook).unwrap();
    assert_eq!(written.name.unwrap(), record.reference.slug().file_name_with(&record.reference.key()));
    assert_eq!(place.record("github-a-b-c-1.json").reference, other.reference);
    assert_eq!(place.entries().len(), 2);
}

#[test]
fn five_rounds_then_the_mark_stays_and_nothing_is_lost() {
    for ability in ABILITIES {
        let place = Place::new();
        place.put(NAME, EXAMPLE);
        let count = Cell::new(0);
        let hook = Hook::act(Step::Written, ability, || {
            count.set(count.get() + 1);
            place.swap(NAME, &with_comment(&format!("IC_n{}", count.get())));
        })
        .every_time();
        let held = place.export_with(&stop(), &hook).unwrap_err();
        assert!(matches!(held, Held::Busy { .. }), "{ability:?}: {held}");
        assert_eq!(count.get(), 5);
        place.export(&stop()).unwrap();
        let record = place.record(NAME);
        assert_eq!(record.control, stop().control);
        assert!(knows(&record, &["IC_a1", "IC_n5"]), "{ability:?}");
        // Where files can be exchanged, what each of them took out is kept; elsewhere he replaced his own.
        assert!(ability != Ability::Exchange || knows(&record, &["IC_n1", "IC_n2", "IC_n3", "IC_n4"]));
        assert_eq!(place.entries(), [NAME], "{ability:?}");
    }
}

#[test]
fn f18_a_leftover_is_joined_and_never_wins_over_the_file() {
    let place = Place::new();
    let graph = |value: u8, id: &str| {
        with_comment(id).replace("{\n  \"ref\"", &format!("{{\n  \"graph\": {value},\n  \"ref\""))
    };
    place.put(NAME, &graph(2, "IC_f"));
    place.put("github-octo-repo-15.json.1a-0.tmp", &graph(1, "IC_l"));
    place.put("github-octo-repo-15.json.1a-1.tmp", "{\"ref\": \"gi");
    place.put("github-octo-repo-15.json.1a-2.tmp", "{\"ref\": \"github:octo/repo#99\"}");
    place.export(&example()).unwrap();
    let record = place.record(NAME);
    assert!(knows(&record, &["IC_a1", "IC_f", "IC_l"]));
    assert_eq!(record.extra["graph"], 2);
    let kept = ["github-octo-repo-15.json.1a-1.tmp", "github-octo-repo-15.json.1a-2.tmp"];
    assert_eq!(place.entries(), [NAME, kept[0], kept[1]], "what cannot be taken in is kept");
}

#[test]
fn the_way_a_record_took_its_place_is_told() {
    for (ability, how) in ABILITIES.into_iter().zip([Replaced::Exchanged, Replaced::Linked, Replaced::Renamed]) {
        let place = Place::new();
        place.put(NAME, EXAMPLE);
        let hook = Hook::act(Step::Synced, ability, || ());
        assert_eq!(place.export_with(&stop(), &hook).unwrap().replaced, Some(how));
    }
}
