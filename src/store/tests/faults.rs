//! Storage that fails or crashes at every single call: the outcome is old or new, never between.

use std::io::ErrorKind;

use super::super::testing::{CrashBackend, Faults};
use super::*;

/// A sound store with one accepted comment, as bytes.
fn base() -> Vec<u8> {
    let backend = FaultBackend::new(Vec::new());
    let store = Store::open_inline(backend.clone(), &CountingIds::default()).unwrap();
    store.write(|tx| accept(tx, 1, 1)).unwrap();
    store.close().unwrap();
    backend.image()
}

/// Opens, accepts comments 2 and 3, closes; answers which were acknowledged.
fn work(backend: impl StorageBackend) -> Vec<u64> {
    let Ok(store) = Store::open_inline(backend, &CountingIds::default()) else { return Vec::new() };
    let acknowledged = [2, 3].into_iter().filter(|number| {
        let number = *number;
        store.write(move |tx| accept(tx, 1, number)).is_ok()
    });
    let acknowledged = acknowledged.collect();
    let _ = store.close();
    acknowledged
}

/// What is left is what was there, everything acknowledged and nothing by halves; and it works on.
fn assert_old_or_new(image: Vec<u8>, acknowledged: &[u64], place: &str) {
    let store = match Store::open_inline(FaultBackend::new(image), &CountingIds::default()) {
        Ok(store) => store,
        Err(error) => panic!("{place}: {error}"),
    };
    let there = store.read(|view| waiting(view)).unwrap();
    assert!(there.first() == Some(&1) && there.is_sorted(), "{place}: {there:?}");
    assert!(acknowledged.iter().all(|number| there.contains(number)), "{place}: {there:?} of {acknowledged:?}");
    let found = store.read(|view| check(view)).unwrap();
    assert!(found.is_empty(), "{place}: {found:#?}");
    assert!(store.write(|tx| accept(tx, 1, 9)).unwrap(), "{place}");
    assert_sound(&store);
}

#[test]
fn every_storage_call_failing_once_in_turn_leaves_old_or_new() {
    let base = base();
    let backend = FaultBackend::new(base.clone());
    assert_eq!(work(backend.clone()), [2, 3]);
    let calls = backend.calls();
    assert!(calls > 20, "{calls}");
    for call in 0..calls {
        for faults in [Faults::Once(call), Faults::From(call)] {
            let backend = FaultBackend::new(base.clone());
            backend.fail(faults, ErrorKind::Other);
            let acknowledged = work(backend.clone());
            assert_old_or_new(backend.image(), &acknowledged, &format!("{faults:?}"));
        }
    }
}

#[test]
fn k01_a_crash_at_every_change_keeps_what_was_acknowledged() {
    let base = base();
    let backend = CrashBackend::new(base.clone());
    assert_eq!(work(backend.clone()), [2, 3]);
    let changes = backend.changes();
    assert!(changes > 10, "{changes}");
    for change in 0..changes {
        let backend = CrashBackend::new(base.clone());
        backend.halt_at(change);
        let acknowledged = work(backend.clone());
        for seed in 0..8 {
            let image = backend.crash_image(seed);
            assert_old_or_new(image, &acknowledged, &format!("change {change}, seed {seed}"));
        }
    }
}

#[test]
fn crash_images_differ_and_repeat() {
    let backend = CrashBackend::new(vec![0; 16384]);
    backend.write(0, &[1; 16384]).unwrap();
    let images: std::collections::BTreeSet<_> = (0..32).map(|seed| backend.crash_image(seed)).collect();
    assert!(images.len() > 4);
    assert_eq!(backend.crash_image(5), backend.crash_image(5));
    backend.sync_data().unwrap();
    assert_eq!(backend.crash_image(5), vec![1; 16384]);
}

#[test]
fn d06_a_full_disk_is_told_and_nothing_acknowledged_is_lost() {
    let backend = FaultBackend::new(base());
    let store = Store::open_inline(backend.clone(), &CountingIds::default()).unwrap();
    let mut acknowledged = vec![1];
    backend.fail(Faults::From(40), ErrorKind::StorageFull);
    let error = (2..100).find_map(|number| match store.write(move |tx| accept(tx, 1, number)) {
        Ok(_) => {
            acknowledged.push(number);
            None
        }
        Err(error) => Some(error),
    });
    assert!(
        matches!(&error, Some(StoreError::Io { source, .. }) if source.kind() == ErrorKind::StorageFull),
        "{error:?}"
    );
    assert!(!store.is_writable());
    assert!(matches!(store.write(|tx| accept(tx, 1, 200)), Err(StoreError::Io { .. })));
    assert!(matches!(store.read(|view| view.lanes()), Err(StoreError::Io { .. })));
    drop(store);
    assert_old_or_new(backend.image(), &acknowledged, "full");
}
