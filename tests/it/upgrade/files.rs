//! Commands and polls: written forward, each section for itself.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;

#[test]
fn an_export_writes_forward_what_the_old_tree_says_and_leaves_it_as_it_is() {
    let world = World::asleep("");
    put(&world, &file(CONTROL, 15), &control(15, "start", "2026-03-02T08:15:30Z"));
    put(&world, LIST, &json!({ "items": polled(15, &["IC_a"]) }).to_string());
    put(&world, "poll-state.json", &json!({ "items": polled(16, &["IC_old"]) }).to_string());
    let before = old_files(&world);
    assert_eq!(before.len(), 3);
    assert_eq!(found(&world, "earlier.waiting").len(), 1);

    assert!(world.done("export").stdout.contains("2 changed"));
    let record = portable(&world, 15);
    assert_eq!((&record["control"]["command"], &record["control"]["actor"]), (&"start".into(), &"mona".into()));
    assert_eq!(record["control"]["requestedAt"], "2026-03-02T08:15:30Z");
    assert_eq!(record["poll"]["seenComments"], json!(["IC_a"]));
    assert_eq!(record["poll"]["commentAttempts"], json!({ "IC_tried": 2 }), "the old ledger is kept");
    assert_eq!(record["poll"]["lastPolledAt"], "2026-03-02T08:16:00Z");
    assert_eq!(portable(&world, 16)["poll"]["seenComments"], json!(["IC_old"]));
    assert_eq!(old_files(&world), before, "the old tree is left as it is");

    assert!(world.done("export").stdout.contains("0 changed"), "and is not taken over twice");
    world.done("export --check");
    assert_eq!(found(&world, "earlier.superseded").len(), 1);
    assert!(found(&world, "earlier.waiting").is_empty());
}

#[test]
fn k50_a_section_that_is_there_wins_and_the_other_is_still_taken_over() {
    let world = World::asleep("");
    let started = |number| control(number, "start", "2026-03-02T08:15:30Z");
    for number in 1..=4 {
        put(&world, &file(CONTROL, number), &started(number));
    }
    let record = |number: u64, more: Json| {
        let mut record = json!({ "ref": reference(number) });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        put(&world, &file("portable", number), &record.to_string());
    };
    let poll = json!({ "seenComments": ["IC_new"], "commentAttempts": {}, "spawn": {} });
    // A cycle wrote first; the command was cleared; the record was sealed; it ended.
    record(1, json!({ "poll": poll }));
    record(2, json!({ "poll": poll, "control": null }));
    record(3, json!({ "sealed": true }));
    record(4, json!({ "control": null, "ended": { "at": "2026-03-03T00:00:00Z", "reason": "closed" } }));
    put(&world, LIST, &json!({ "items": polled(1, &["IC_stale"]) }).to_string());
    world.done("export");
    let control = |number| portable(&world, number)["control"].clone();
    assert_eq!(control(1)["command"], "start", "an armed item is not disarmed by the upgrade");
    assert_eq!(portable(&world, 1)["poll"]["seenComments"], json!(["IC_new"]));
    for number in 2..=4 {
        assert!(control(number).is_null(), "{number}: {}", portable(&world, number));
    }
    // Not even when the portable files are gone.
    fs::remove_dir_all(world.path("repo/.the-loop/portable")).unwrap();
    world.done("export");
    for number in 2..=4 {
        assert!(control(number).is_null(), "{number}: {}", portable(&world, number));
    }
}

#[test]
fn k53_k56_k57_old_files_that_cannot_be_read_are_named_and_hold_nothing_up() {
    let world = World::asleep("");
    put(&world, &file(CONTROL, 1), "{\"ref\": \"github:octo/hello#1\", \"comm");
    put(&world, &file(CONTROL, 2), "{\"ref\":\"github:octo/hello#2\",\"command\":\"stop\",\"command\":\"start\"}");
    put(&world, "elsewhere.json", &control(3, "start", "2026-03-02T08:15:30Z"));
    symlink(world.path("repo/.the-loop/elsewhere.json"), world.path("repo/.the-loop").join(file(CONTROL, 3))).unwrap();
    let large = control(4, "start", "2026-03-02T08:15:30Z") + &" ".repeat(4 << 20);
    put(&world, &file(CONTROL, 4), &large);
    put(&world, &file("local", 5), "[]");
    put(&world, &file(CONTROL, 6), &control(6, "start", "2026-03-02T08:15:30Z"));
    let before = old_files(&world);
    world.done("export");
    assert_eq!(portable(&world, 6)["control"]["command"], "start");
    assert_eq!(old_files(&world), before);
    let refused = found(&world, "earlier.refused");
    for (number, words) in [(1, "EOF"), (2, "duplicate"), (3, "symbolic link"), (4, "4 MiB"), (5, "object")] {
        assert!(portable(&world, number).is_null());
        let name = format!("github-octo-hello-{number}.json");
        assert!(refused.iter().any(|text| text.contains(&name) && text.contains(words)), "{number}: {refused:?}");
    }
    assert_eq!(refused.len(), 5);
}

#[test]
fn k37_an_old_command_of_a_stranger_arms_once_the_stranger_is_trusted() {
    let world = World::asleep("");
    let theirs = control(7, "start", "2026-03-02T08:15:30Z").replace("mona", "stranger");
    put(&world, &file(CONTROL, 7), &theirs);
    world.done("export");
    assert!(portable(&world, 7).is_null());
    assert_eq!(found(&world, "earlier.waiting").len(), 1);
    world.done("export");
    assert_eq!(world.events("portable.adopted").len(), 1, "people are told once");
    world.configure("  authorizedUsers: [mona, stranger]\n");
    world.done("export");
    assert_eq!(portable(&world, 7)["control"]["actor"], "stranger");
}

#[test]
fn a_sealed_record_whose_old_tree_is_gone_is_named() {
    let world = World::asleep("");
    put(&world, &file("portable", 8), &json!({ "ref": reference(8), "sealed": true }).to_string());
    assert_eq!(found(&world, "earlier.sealed").len(), 1);
    put(&world, &file(CONTROL, 8), &control(8, "start", "2026-03-02T08:15:30Z"));
    assert!(found(&world, "earlier.sealed").is_empty());
}

#[test]
fn k64_another_portable_folder_is_a_view_that_nothing_is_taken_from_or_written_to() {
    let world = World::asleep("");
    world.done("sessions start octo/hello#9");
    world.done("export");
    let other = world.path("other");
    fs::create_dir(&other).unwrap();
    let ended = json!({ "ref": reference(9), "control": null,
        "ended": { "at": "2099-01-01T00:00:00Z", "reason": "closed" } });
    fs::write(other.join("github-octo-hello-9.json"), ended.to_string()).unwrap();
    let armed = |line: &str| world.done(line).json()["detail"]["armed"].clone();
    assert_eq!(armed("sessions show octo/hello#9 --json --portable-dir ../other"), false);
    assert_eq!(armed("sessions show octo/hello#9 --json"), true);
    let listed = world.done("sessions list --json --portable-dir ../other").json();
    assert_eq!(listed["sessions"][0]["control"], Json::Null);
    let own = "repo/.the-loop/portable";
    for line in ["stop octo/hello#9", "reset octo/hello#9", "start octo/hello#10", "link-pr octo/hello#9 octo/hello#11"]
    {
        let ran = world.run(&format!("sessions {line} --portable-dir ../other"));
        assert_eq!(ran.code, Some(1), "{line}: {ran:?}");
        assert!(ran.stderr.contains("only looked at") && ran.stderr.contains("\nhint: "), "{line}: {ran:?}");
    }
    world.done("sessions pause octo/hello#9 --portable-dir .the-loop/portable");
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(other.join("github-octo-hello-9.json")).unwrap(), ended.to_string());
    assert_eq!(fs::read_dir(world.path(own)).unwrap().count(), 1);
    assert_eq!(portable(&world, 9)["control"]["command"], "pause");
}
