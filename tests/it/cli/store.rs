//! A store that is damaged, foreign, older, newer or in use: the right words, the right exit code, nothing changed.

use std::fs;
use std::path::Path;

use redb::{Builder, ReadableDatabase as _, TableDefinition};

use super::Place;

const CONFIG: &str = "
version: \"0.4.0\"
webhooks: {ghWebhook: {port: 0}}
routing:
  authorizedUsers: [mona]
  defaultHarness: agent
  harnesses: {agent: {binary: /bin/cat}}
  workspace: {strategy: shared}
  tmux: {socket: the-loop-test-of-broken-stores}
";

/// Commands that need the store: looks, changes, and the daemon.
const LINES: [&str; 6] =
    ["sessions list", "status", "export", "sessions start octo/hello#1", "start", "start --foreground"];

fn place() -> (Place, std::path::PathBuf) {
    let place = Place::new();
    place.configure(CONFIG);
    assert_eq!(place.run("sessions start octo/hello#7").code, 0);
    let store = place.path("repo/.the-loop/local/state.redb");
    (place, store)
}

/// Every command says `words` with exit code 4, and the file stays as it is.
fn is_refused(place: &Place, store: &Path, words: &str) {
    let before = fs::read(store).ok();
    for line in LINES {
        let mut command = place.command(line);
        let ran =
            super::Ran::of(command.env("THE_LOOP_GH_WEBHOOK_SECRET", "a secret for broken stores").output().unwrap());
        assert_eq!(ran.code, 4, "{line}, {words}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(words), "{line}, {words}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked") && !ran.stderr.contains("this is a bug"), "{line}: {}", ran.stderr);
        assert!(fs::read(store).ok() == before, "{line}, {words}: the file was changed");
    }
    let doctor = place.run("doctor --json");
    assert_eq!(doctor.code, 1, "{words}: {}", doctor.stdout);
    let findings = doctor.json()["findings"].as_array().unwrap().clone();
    let told = findings
        .iter()
        .any(|found| found["area"] == "store" && (found["severity"] == "error" || found["severity"] == "warning"));
    assert!(told, "{words}: {findings:?}");
    assert!(fs::read(store).ok() == before, "doctor, {words}: the file was changed");
}

#[test]
fn d02_a_file_cut_short_is_refused_by_every_command_and_kept() {
    let (place, store) = place();
    let whole = fs::read(&store).unwrap();
    for length in [whole.len() / 2, 320, whole.len() - 1] {
        fs::write(&store, &whole[..length]).unwrap();
        is_refused(&place, &store, "damaged");
    }
    // More than it says it has does no harm.
    let mut longer = whole;
    longer.extend([0; 4096]);
    fs::write(&store, &longer).unwrap();
    assert!(place.run("sessions list").stdout.contains("octo/hello#7"));
}

#[test]
fn d10_something_else_at_the_path_is_refused_by_every_command_and_kept() {
    let (place, store) = place();
    for other in [b"{\"a\":1}".to_vec(), vec![b'<'; 5000], vec![0; 8192]] {
        fs::write(&store, &other).unwrap();
        is_refused(&place, &store, "not a the-loop store");
    }
    fs::remove_file(&store).unwrap();
    fs::create_dir(&store).unwrap();
    is_refused(&place, &store, "not a the-loop store");
}

#[test]
fn d04_k74_a_store_of_an_older_program_that_no_step_leads_from_is_refused_by_every_command_and_kept() {
    let (place, store) = place();
    set_schema(&store, "0");
    is_refused(&place, &store, "schema 0");
}

#[test]
fn d04_k74_a_store_of_a_newer_program_is_refused_by_every_command_and_kept() {
    let (place, store) = place();
    set_schema(&store, "9999");
    is_refused(&place, &store, "9999");
}

#[test]
fn d01_a_store_in_use_by_somebody_without_a_name_is_told_in_time() {
    let (place, store) = place();
    let held = the_loop::store::Store::open(&store, &the_loop::adapters::system::RandomIds).unwrap();
    for line in ["sessions start octo/hello#1", "start", "stop"] {
        let begun = std::time::Instant::now();
        let mut command = place.command(line);
        let ran =
            super::Ran::of(command.env("THE_LOOP_GH_WEBHOOK_SECRET", "a secret for broken stores").output().unwrap());
        assert_eq!(ran.code, 4, "{line}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("in use") || ran.stderr.contains("owned by"), "{line}: {}", ran.stderr);
        assert!(begun.elapsed().as_secs() < 20, "{line} took its time");
    }
    assert!(place.run("sessions list").stdout.contains("octo/hello#7"), "a look goes beside it");
    held.close().unwrap();
    assert_eq!(place.run("sessions start octo/hello#1").code, 0);
}

/// Writes another schema version into a store, as another program would have.
fn set_schema(store: &Path, version: &str) {
    const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("the-loop");
    let database = Builder::new().open(store).unwrap();
    let write = database.begin_write().unwrap();
    write.open_table(TABLE).unwrap().insert(b"schema".as_slice(), version.as_bytes()).unwrap();
    write.commit().unwrap();
    let read = database.begin_read().unwrap();
    assert!(read.open_table(TABLE).is_ok());
}
