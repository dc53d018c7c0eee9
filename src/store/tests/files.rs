//! What lies at the store's path: ours, foreign, damaged, older, newer, in use. What is refused is not changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use super::super::migrate::{self, Step};
use super::super::open::{self, Label};
use super::super::tables::SCHEMA_KEY;
use super::*;

fn ids() -> CountingIds {
    CountingIds::default()
}

/// Both ways of opening refuse the file with an error that `expected` knows, and leave it and its folder as they were.
fn assert_refused(path: &Path, expected: impl Fn(&StoreError) -> bool) {
    let content = fs::read(path).ok();
    let names = || {
        let mut names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let owning = Store::open(path, &ids()).map(drop).unwrap_err();
    let looking = Reader::open(path).map(drop).unwrap_err();
    for error in [owning, looking] {
        assert!(expected(&error), "{error:?}");
        assert!(!error.to_string().contains("panicked"), "{error}");
    }
    assert!(fs::read(path).ok() == content, "{} was changed", path.display());
    assert_eq!(names(), before);
}

fn closed_store(dir: &tempfile::TempDir) -> PathBuf {
    let (path, store) = on_disk(dir);
    store.write(|tx| accept(tx, 1, 1)).unwrap();
    store.close().unwrap();
    path
}

#[test]
fn a_new_store_is_private_and_keeps_its_id() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/state.redb");
    assert!(matches!(Reader::open(&path), Err(StoreError::Missing)));
    let store = Store::open(&path, &ids()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing beside the file");
    let id = store.id();
    assert!(store.read(|view| view.lanes()).unwrap().is_empty());
    drop(store);
    assert_eq!(Store::open(&path, &ids()).unwrap().id(), id);
    assert_eq!(Reader::open(&path).unwrap().id(), id);
}

#[test]
fn k61_two_that_make_it_at_once_get_one_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.redb");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || {
                let store = Store::open(&path, &ids()).unwrap();
                store.write(|tx| tx.append_journal(&LogEntry::info(EventName::PollCycle), NOW)).unwrap()
            })
        })
        .collect();
    let mut numbers: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

#[test]
fn d01_a_second_owner_waits_two_seconds_and_readers_do_not() {
    let dir = tempfile::tempdir().unwrap();
    let (path, store) = on_disk(&dir);
    store.write(|tx| accept(tx, 1, 1)).unwrap();
    let readers: Vec<_> = (0..20)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || Reader::open(&path).unwrap().read(|view| waiting(view)).unwrap())
        })
        .collect();
    assert!(readers.into_iter().all(|reader| reader.join().unwrap() == [1]));
    let began = Instant::now();
    assert!(matches!(Store::open(&path, &ids()), Err(StoreError::Busy)));
    assert!(began.elapsed() >= open::PATIENCE && began.elapsed() < Duration::from_secs(10));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no new file");
    // An owner that goes within the two seconds is waited for.
    let waiting_one = {
        let path = path.clone();
        std::thread::spawn(move || Store::open(&path, &ids()).map(drop))
    };
    store.close().unwrap();
    waiting_one.join().unwrap().unwrap();
}

#[test]
fn a_reader_sees_the_owners_later_commits() {
    let dir = tempfile::tempdir().unwrap();
    let (path, store) = on_disk(&dir);
    let reader = Reader::open(&path).unwrap();
    for number in 1..=3 {
        store.write(move |tx| accept(tx, 1, number)).unwrap();
        assert_eq!(reader.read(|view| Ok(waiting(view)?.len() as u64)).unwrap(), number);
    }
}

#[test]
fn d02_a_file_cut_short_is_refused_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = closed_store(&dir);
    let whole = fs::read(&path).unwrap();
    for length in [whole.len() / 2, 320, whole.len() - 1, 4096, 9, 0] {
        fs::write(&path, &whole[..length]).unwrap();
        assert_refused(&path, |error| matches!(error, StoreError::Damaged(text) if text.contains("state.redb")));
    }
    // Zeros behind it: opened with everything in it, or refused and kept.
    let longer = [whole.clone(), vec![0; 4096]].concat();
    fs::write(&path, &longer).unwrap();
    match Store::open(&path, &ids()) {
        Ok(store) => assert_eq!(store.read(|view| waiting(view)).unwrap(), [1]),
        Err(error) => {
            assert!(matches!(error, StoreError::Damaged(_)), "{error:?}");
            assert!(fs::read(&path).unwrap() == longer);
        }
    }
}

#[test]
fn d02_damage_inside_is_an_error_or_the_truth_never_a_panic() {
    let dir = tempfile::tempdir().unwrap();
    let path = closed_store(&dir);
    let whole = fs::read(&path).unwrap();
    for page in 0..whole.len() / 4096 {
        let mut damaged = whole.clone();
        if damaged[page * 4096..][..4096].iter().all(|byte| *byte == 0) {
            continue;
        }
        damaged[page * 4096 + 8..][..120].fill(0xA5);
        fs::write(&path, &damaged).unwrap();
        let looked = std::panic::catch_unwind(|| {
            let reader = Reader::open(&path)?;
            reader.read(|view| {
                check(view)?;
                waiting(view)
            })
        });
        let looked = looked.unwrap_or_else(|_| panic!("page {page} lets a panic through"));
        assert!(fs::read(&path).unwrap() == damaged, "page {page}: looking changed the file");
        if let Err(error) = looked {
            let named = matches!(
                error,
                StoreError::Damaged(_)
                    | StoreError::Foreign(_)
                    | StoreError::FormatUpgrade(_)
                    | StoreError::BadRow { .. }
            );
            assert!(named, "page {page}: {error:?}");
        }
    }
}

#[test]
fn d02_a_killed_writers_damaged_file_is_refused_before_a_repair_touches_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = closed_store(&dir);
    let mut bytes = fs::read(&path).unwrap();
    // The flag that says a repair is needed, and no valid commit to repair from.
    bytes[9] |= 2;
    bytes[72..300].fill(0x5A);
    fs::write(&path, &bytes).unwrap();
    assert_refused(&path, |error| matches!(error, StoreError::Damaged(_) | StoreError::FormatUpgrade(_)));
}

#[test]
fn d10_anything_else_at_the_path_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.redb");
    let texts: [&[u8]; 5] = [b"{\"a\":1}", &[b'<'; 5000], &[0; 8192], b"r", b"redb\x1A\x0A\xA9\x0D"];
    for text in texts {
        fs::write(&path, text).unwrap();
        assert_refused(&path, |error| matches!(error, StoreError::Foreign(text) if text.contains("state.redb")));
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_refused(&path, |error| matches!(error, StoreError::Foreign(_)));
}

#[test]
fn d10_a_database_of_another_program_is_foreign() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.redb");
    let theirs: TableDefinition<u64, &str> = TableDefinition::new("theirs");
    let database = Database::create(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(theirs).unwrap().insert(1, "x").unwrap();
    transaction.commit().unwrap();
    drop(database);
    assert_refused(&path, |error| matches!(error, StoreError::Foreign(_)));
    // A table of our name and another type.
    let ours: TableDefinition<u64, u64> = TableDefinition::new("the-loop");
    let database = Database::create(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(ours).unwrap().insert(1, 1).unwrap();
    transaction.commit().unwrap();
    drop(database);
    assert_refused(&path, |error| matches!(error, StoreError::Foreign(_)));
}

#[test]
fn d10_a_read_only_file_is_refused_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = closed_store(&dir);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().write(true).open(&path).is_ok() {
        // Permissions do not bind root: then it is simply our store.
        assert_eq!(Store::open(&path, &ids()).unwrap().read(|view| waiting(view)).unwrap(), [1]);
        return;
    }
    let before = fs::read(&path).unwrap();
    let error = Store::open(&path, &ids()).map(drop).unwrap_err();
    assert!(matches!(&error, StoreError::Io { path: named, .. } if *named == path), "{error:?}");
    assert_eq!(Reader::open(&path).unwrap().read(|view| waiting(view)).unwrap(), [1]);
    assert!(fs::read(&path).unwrap() == before);
}

fn set_schema(path: &Path, text: &str) {
    let database = Database::open(path).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(TableId::Store.definition()).unwrap().insert(SCHEMA_KEY, text.as_bytes()).unwrap();
    transaction.commit().unwrap();
}

#[test]
fn d04_k74_a_newer_or_unknown_older_schema_is_refused_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = closed_store(&dir);
    set_schema(&path, "7");
    assert_refused(&path, |error| matches!(error, StoreError::Newer { found: 7, supported: 4 }));
    set_schema(&path, "0");
    assert_refused(&path, |error| matches!(error, StoreError::Older { found: 0, supported: 4 }));
    set_schema(&path, "many");
    assert_refused(&path, |error| matches!(error, StoreError::Foreign(_)));
}

#[test]
fn d04_a_file_of_an_older_redb_is_named_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = closed_store(&dir);
    let mut bytes = fs::read(&path).unwrap();
    // The format's version stands first in both commit slots.
    (bytes[64], bytes[192]) = (2, 2);
    fs::write(&path, &bytes).unwrap();
    assert_refused(&path, |error| matches!(error, StoreError::FormatUpgrade(2)));
}

const PLANTED: TableDefinition<&[u8], &[u8]> = TableDefinition::new("planted");

/// A planted history behind the real one: its second step reads what the first one wrote.
const STEPS: &[Step] = &[
    migrate::STEPS[0],
    migrate::STEPS[1],
    migrate::STEPS[2],
    Step {
        name: "0005-planted",
        run: |transaction| {
            transaction.open_table(PLANTED)?.insert(&b"a"[..], &b"one"[..])?;
            Ok(())
        },
    },
    Step {
        name: "0006-planted",
        run: |transaction| {
            let mut table = transaction.open_table(PLANTED)?;
            let seen = table.get(&b"a"[..])?.map(|value| value.value().to_vec()).unwrap_or_default();
            table.insert(&b"b"[..], seen.as_slice())?;
            Ok(())
        },
    },
];

#[test]
fn migrations_run_step_by_step_after_a_copy_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = closed_store(&dir);
    let (database, id) = open::open(&path, &ids(), STEPS).unwrap();
    let transaction = database.begin_read().unwrap();
    let planted = transaction.open_table(PLANTED).unwrap();
    assert_eq!(planted.get(&b"b"[..]).unwrap().unwrap().value(), b"one");
    drop((planted, transaction, database));
    assert_eq!(open::inspect(&path).unwrap(), Label { schema: 6, id: id.clone() });
    // The copy is a store of the old version, whole.
    let copy = Reader::open(&migrate::copy_path(&path, 4)).unwrap();
    assert_eq!((copy.id(), copy.read(|view| waiting(view)).unwrap()), (id, vec![1]));
    // The old program refuses what the new one made.
    assert_refused(&path, |error| matches!(error, StoreError::Newer { found: 6, supported: 4 }));
    // One that is only half way goes on from there.
    assert!(open::open(&path, &ids(), STEPS).is_ok());
}

#[test]
fn a_failing_step_leaves_the_version_before_it() {
    const BAD: &[Step] = &[
        STEPS[0],
        STEPS[1],
        STEPS[2],
        STEPS[3],
        Step {
            name: "0006-bad",
            run: |transaction| {
                transaction.open_table(PLANTED)?.insert(&b"a"[..], &b"half"[..])?;
                Err(redb::Error::Corrupted("planted".into()))
            },
        },
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = closed_store(&dir);
    assert!(open::open(&path, &ids(), BAD).is_err());
    assert_eq!(open::inspect(&path).unwrap().schema, 5);
    let (database, _) = open::open(&path, &ids(), STEPS).unwrap();
    let transaction = database.begin_read().unwrap();
    let planted = transaction.open_table(PLANTED).unwrap();
    assert_eq!(planted.get(&b"b"[..]).unwrap().unwrap().value(), b"one");
}

#[test]
fn k74_a_newer_program_does_not_migrate_under_a_running_owner_or_reader() {
    let dir = tempfile::tempdir().unwrap();
    let (path, store) = on_disk(&dir);
    assert!(matches!(open::open(&path, &ids(), STEPS), Err(StoreError::Busy)));
    assert!(matches!(open::open_reader(&path, STEPS), Err(StoreError::Older { found: 4, supported: 6 })));
    store.write(|tx| accept(tx, 1, 1)).unwrap();
    store.close().unwrap();
    let reader = Reader::open(&path).unwrap();
    assert!(matches!(open::open(&path, &ids(), STEPS), Err(StoreError::Busy)));
    drop(reader);
    assert_eq!(open::inspect(&path).unwrap().schema, 4);
    assert!(open::open(&path, &ids(), STEPS).is_ok());
}

/// Makes of a store what the first version made: without the tables that came later.
fn as_the_first_version(path: &Path) {
    let database = Database::open(path).unwrap();
    let transaction = database.begin_write().unwrap();
    for table in [TableId::Polls, TableId::Waiting, TableId::Tells, TableId::Packs] {
        assert!(transaction.delete_table(table.definition()).unwrap());
    }
    transaction.commit().unwrap();
    drop(database);
    set_schema(path, "1");
}

#[test]
fn a_store_of_the_first_version_gets_the_tables_that_came_later_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = closed_store(&dir);
    as_the_first_version(&path);
    assert!(matches!(Reader::open(&path).map(drop), Err(StoreError::Older { found: 1, supported: 4 })));
    let store = Store::open(&path, &ids()).unwrap();
    assert_eq!(store.read(|view| waiting(view)).unwrap(), [1]);
    assert_eq!(store.read(|view| crate::store::check(view)).unwrap(), []);
    store.write(|tx| tx.put_poll("github:octo/hello", &Default::default())).unwrap();
    store.close().unwrap();
    assert_eq!(open::inspect(&path).unwrap().schema, 4);
    assert_eq!(open::inspect(&migrate::copy_path(&path, 1)).unwrap().schema, 1);
}

#[test]
fn what_a_killed_creator_left_goes_with_the_next_owner() {
    let dir = tempfile::tempdir().unwrap();
    let path = closed_store(&dir);
    let leftover = path.with_file_name(".state.redb.new-abc123");
    fs::write(&leftover, "half").unwrap();
    drop(Store::open(&path, &ids()).unwrap());
    assert!(!leftover.exists());
}

#[test]
fn pages_are_checked_only_when_nobody_has_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let (path, store) = on_disk(&dir);
    assert!(matches!(Store::check_pages(&path), Err(StoreError::Busy)));
    store.close().unwrap();
    assert!(Store::check_pages(&path).unwrap());
}

#[test]
fn what_is_written_into_a_file_that_was_taken_away_is_not_answered_as_durable() {
    let dir = tempfile::tempdir().unwrap();
    let (path, store) = on_disk(&dir);
    store.write(|tx| accept(tx, 1, 1)).unwrap();
    let aside = dir.path().join("aside");
    fs::rename(&path, &aside).unwrap();
    for number in 2..4 {
        let refused = store.write(move |tx| accept(tx, 1, number)).unwrap_err();
        assert!(matches!(refused, StoreError::Io { .. }), "{refused:?}");
        assert!(!store.is_writable());
    }
    // Another store in its place is not taken for it.
    let others = ids();
    others.uuid();
    let other = Store::open(&path, &others).unwrap();
    assert_ne!(other.id(), store.id());
    other.write(|tx| accept(tx, 9, 9)).unwrap();
    other.close().unwrap();
    let sound = fs::read(&path).unwrap();
    assert!(store.write(|tx| accept(tx, 1, 4)).is_err());
    assert!(fs::read(&path).unwrap() == sound, "the other store was changed");
    // Put back, it goes on by itself.
    fs::rename(&aside, &path).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while store.write(|tx| accept(tx, 1, 5)).is_err() {
        assert!(Instant::now() < until, "the store came back and was not opened again");
        std::thread::yield_now();
    }
    assert!(store.is_writable());
    assert_eq!(store.read(|view| waiting(view)).unwrap(), [1, 5], "what was refused was not done");
    assert_sound(&store);
}

#[test]
fn k53_d09_a_damaged_store_is_repaired_on_a_copy_that_is_opened_or_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (path, store) = on_disk(&dir);
    for number in 1..40 {
        store.write(move |tx| accept(tx, 1, number)).unwrap();
    }
    store.close().unwrap();
    let whole = fs::read(&path).unwrap();
    let read = |path: &Path| {
        let reader = Reader::open(path)?;
        reader.read(|view| {
            check(view)?;
            waiting(view)
        })
    };
    let (mut repaired, mut refused) = (0, 0);
    assert!(Store::rehearse(&path).is_ok() && fs::read(&path).unwrap() == whole);
    for page in (1..whole.len() / 4096).step_by(4) {
        let mut damaged = whole.clone();
        if damaged[page * 4096..][..4096].iter().all(|byte| *byte == 0) {
            continue;
        }
        damaged[page * 4096 + 8..][..120].fill(0xA5);
        fs::write(&path, &damaged).unwrap();
        let kept = dir.path().join(format!("kept-{page}"));
        let sound = Store::rehearse(&path).is_ok();
        assert!(fs::read(&path).unwrap() == damaged, "page {page}: a rehearsal changed the file");
        assert!(!sound || Store::open(&path, &ids()).is_ok(), "page {page}: the rehearsal promised too much");
        fs::write(&path, &damaged).unwrap();
        match crate::store::repair(&path, &kept) {
            Ok(made) => {
                assert!(fs::read(&kept).unwrap() == damaged, "page {page}: what was there is kept byte for byte");
                let left = read(&path).unwrap_or_else(|error| panic!("page {page}: {error}"));
                assert!(left.len() >= 38, "page {page}: {} of 39 are left", left.len());
                assert!(made.changed || left.len() == 39, "page {page}");
                repaired += usize::from(made.changed);
            }
            Err(error) => {
                assert!(
                    matches!(error, StoreError::Damaged(_) | StoreError::Foreign(_) | StoreError::FormatUpgrade(_)),
                    "page {page}: {error:?}"
                );
                assert!(fs::read(&path).unwrap() == damaged, "page {page}: a refused repair changed the file");
                assert!(!kept.exists());
                refused += 1;
            }
        }
    }
    assert!(repaired > 0 && refused > 0, "{repaired} {refused}");
}

#[test]
fn d09_a_store_in_use_is_neither_copied_nor_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let (path, store) = on_disk(&dir);
    let kept = dir.path().join("kept");
    assert!(matches!(crate::store::repair(&path, &kept), Err(StoreError::Busy)));
    assert!(matches!(Store::rehearse(&path), Err(StoreError::Busy)));
    store.close().unwrap();
    let reader = Reader::open(&path).unwrap();
    assert!(matches!(crate::store::repair(&path, &kept), Err(StoreError::Busy)), "a reader has it open");
    drop(reader);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    assert!(!crate::store::repair(&path, &kept).unwrap().changed);
    // What was kept is a store that opens.
    assert!(Reader::open(&kept).is_ok());
}
