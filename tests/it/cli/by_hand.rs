//! Verbs by hand that leave something behind, and the table of exit codes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use redb::{ReadableDatabase as _, TableDefinition};

use super::contract::place;
use super::{Place, Ran};
use crate::support::wait_for;

const ITEMS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("items");

fn done(place: &Place, line: &str) -> Ran {
    let ran = place.run(line);
    assert_eq!(ran.code, 0, "{line}: {}{}", ran.stdout, ran.stderr);
    ran
}

#[test]
fn k58_an_old_portable_file_does_not_undo_a_reset() {
    let place = place();
    done(&place, "sessions start 7");
    let file = place.path("repo/.the-loop/portable/github-octo-hello-7.json");
    let old = fs::read(&file).expect("the exported file");
    done(&place, "sessions reset 7");
    let record = || serde_json::from_slice::<serde_json::Value>(&fs::read(&file).expect("the file")).expect("JSON");
    let reset = record();
    assert_eq!((&reset["control"], &reset["ended"]["reason"]), (&serde_json::Value::Null, &"reset".into()));
    for (n, back) in [old.clone(), old].into_iter().enumerate() {
        // From a branch, a stash or a backup.
        fs::write(&file, back).expect("the old file");
        assert_eq!(done(&place, "sessions list --json").json()["sessions"], serde_json::json!([]), "round {n}");
        done(&place, "export");
        assert_eq!(record(), reset, "round {n}");
        assert_eq!(place.run("sessions show 7").code, 1);
    }
    fs::remove_file(&file).expect("the file");
    assert_eq!(done(&place, "sessions list --json").json()["sessions"], serde_json::json!([]));
    // What went away a moment ago may be git's own half step; an export looks again later.
    wait_for("the file to be written again", Duration::from_secs(20), || place.run("export").code == 0);
    assert_eq!(record(), reset);
    let again = done(&place, "sessions start 7 --json").json();
    assert_eq!(again["commanded"]["acted"], true, "a later start is a later start");
    assert_eq!(record()["control"]["command"], "start");
}

#[test]
fn k31_a_stop_that_a_wrong_clock_dated_in_a_file_blocks_no_command_and_is_told() {
    let place = place();
    done(&place, "sessions pause 7");
    let file = place.path("repo/.the-loop/portable/github-octo-hello-7.json");
    let text = fs::read_to_string(&file).expect("the file");
    let (_, time) = text.split_once("requestedAt\": \"").expect("a time");
    let wrong = text.replace("\"pause\"", "\"stop\"").replace(&time[..4], "2199");
    fs::write(&file, &wrong).expect("the file");
    for (word, armed) in [("start", "yes"), ("stop", "no"), ("start", "yes")] {
        let acted = done(&place, &format!("sessions {word} 7 --json")).json();
        assert_eq!(acted["commanded"]["acted"], true, "{word}: {acted}");
        let shown = done(&place, "sessions show 7").stdout;
        assert!(shown.contains(&format!("Armed       {armed}\n")), "{word}: {shown}");
    }
    for _ in 0..2 {
        // The newest time wins in the file; it is not written again and again.
        assert!(done(&place, "export").stdout.starts_with("0 changed"));
        assert_eq!(fs::read_to_string(&file).expect("the file"), wrong);
    }
    let doctor = place.run("doctor --json").json();
    let finding = doctor["findings"].as_array().expect("findings").iter().find(|f| f["id"] == "portable.ahead");
    assert!(finding.expect("a finding")["what"].as_str().expect("text").contains("2199"), "{doctor}");
    // Corrected by hand it tells other machines again.
    fs::write(&file, &text).expect("the file");
    wait_for("the file to be written", Duration::from_secs(20), || {
        place.run("export");
        fs::read_to_string(&file).is_ok_and(|text| text.contains("\"start\""))
    });
}

#[test]
fn k58_a_dry_run_changes_nothing() {
    let place = place();
    done(&place, "sessions start 7");
    let before = done(&place, "sessions show 7 --json").stdout;
    let would = done(&place, "sessions reset --all --dry-run --json").json();
    assert_eq!((&would["dryRun"], &would["reset"][0]["reset"]), (&true.into(), &true.into()));
    assert_eq!(done(&place, "sessions show 7 --json").stdout, before);
    done(&place, "sessions reset --all");
    assert_eq!(done(&place, "sessions reset --all").stdout, "nothing to reset\n");
}

#[test]
fn k55_another_stores_commands_leave_the_portable_files_alone() {
    let (place, other) = (place(), place());
    done(&place, "sessions pause 7");
    done(&other, "sessions pause 8");
    let folder = |place: &Place| {
        let entries = fs::read_dir(place.path("repo/.the-loop/portable")).expect("the folder");
        let read = |path: PathBuf| (path.clone(), fs::read(path).expect("a file"));
        entries.map(|entry| read(entry.expect("an entry").path())).collect::<BTreeMap<_, _>>()
    };
    let before = (folder(&place), folder(&other));
    let registry = other.path("repo/.the-loop/local");
    let there = |line: &str| format!("{line} --registry-dir {}", registry.display());
    assert!(done(&place, &there("sessions list")).stdout.is_empty());
    for line in ["sessions start 9", "sessions stop 8", "sessions reset --all"] {
        done(&place, &there(line));
    }
    assert!((folder(&place), folder(&other)) == before, "a file was written");
    assert_eq!(place.run("sessions show 9").code, 1, "the configured store knows nothing of it");
    // Its own configuration writes what waits.
    assert!(done(&other, "export").stdout.contains("wrote github-octo-hello-9.json"));
    let waits = place.run(&there("sessions start 9 --wait"));
    assert_eq!(waits.code, 2, "{}", waits.stderr);
    // The configured one by its own name is no other.
    let own = place.path("repo/.the-loop/local");
    done(&place, &format!("sessions stop 7 --registry-dir {}", own.display()));
    assert!(folder(&place) != before.0);
}

#[test]
fn k70_a_store_or_folder_that_is_not_there_is_an_error_and_not_empty() {
    let place = place();
    done(&place, "sessions pause 7");
    fs::create_dir(place.path("repo/empty")).expect("a folder");
    for line in [
        "sessions list --registry-dir nowhere",
        "sessions list --registry-dir empty",
        "sessions start 7 --registry-dir nowhere",
        "sessions list --portable-dir nowhere",
    ] {
        let ran = place.run(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}");
        assert!(ran.stderr.starts_with("error: `--") && ran.stderr.contains("\nhint: "), "{line}: {}", ran.stderr);
    }
    assert!(!place.path("repo/nowhere").exists());
}

#[test]
fn what_is_said_beside_a_result_depends_on_how_loud_it_may_be() {
    let place = place();
    let said = |line: &str| done(&place, line).stderr;
    assert_eq!(said("sessions list"), "note: no sessions\n");
    assert_eq!(said("dispatch list"), "note: nothing waits and nothing was given up\n");
    for line in ["sessions list -q", "sessions list --json", "dispatch list -q", "dispatch list --json"] {
        assert_eq!(said(line), "", "{line}");
    }
    assert!(said("sessions list -v").starts_with("info: configuration: "));
}

/// The rows of one item under the key of another: what no version of the program writes.
fn cross(place: &Place) {
    let database = redb::Database::open(place.path("repo/.the-loop/local/state.redb")).expect("the store");
    // The item's own row lies in place 5 behind its name.
    let key = |number: u64| format!("github:octo/hello#{number}\0\x05").into_bytes();
    let reading = database.begin_read().expect("a snapshot");
    let seven = reading.open_table(ITEMS).expect("items").get(key(7).as_slice()).expect("a row").expect("item 7");
    let seven = seven.value().to_vec();
    let writing = database.begin_write().expect("a transaction");
    writing.open_table(ITEMS).expect("items").insert(key(8).as_slice(), seven.as_slice()).expect("a row");
    writing.commit().expect("a commit");
}

#[test]
fn every_exit_code_is_reached_by_a_real_command() {
    // 3 belongs to the control socket, and stands with its tests.
    let place = place();
    assert_eq!(place.run("sessions list").code, 0);
    assert_eq!(place.run("sessions show 7").code, 1);
    assert_eq!(place.run("sessions sow 7").code, 2);
    for item in [7, 8] {
        done(&place, &format!("sessions stop {item}"));
    }
    cross(&place);
    let file = place.path("repo/.the-loop/portable/github-octo-hello-8.json");
    let text = fs::read_to_string(&file).expect("the file").replace("\"stop\"", "\"pause\"");
    fs::write(&file, text).expect("the file");
    let bug = place.run("sessions stop 8 --json");
    assert_eq!(bug.code, 70, "{}{}", bug.stdout, bug.stderr);
    assert_eq!((&bug.json()["error"]["kind"], &bug.json()["error"]["exit"]), (&"bug".into(), &70.into()));
    fs::write(place.path("repo/.the-loop/local/state.redb"), b"not a store").expect("the store's file");
    assert_eq!(place.run("sessions list").code, 4);
}
