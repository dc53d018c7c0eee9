//! Two daemons on one store by mistake: the second is refused. What would be lost without that is shown beside it.

use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{Arc, RwLock};

use the_loop::app::{App, Parts};
use the_loop::domain::event::SubjectKind;
use the_loop::domain::ids::InstanceId;
use the_loop::store::{Store, StoreError};

use crate::folder::Folder;
use crate::github::{GitHub, marker};
use crate::parts::{CountedIds, HandClock, settings};
use crate::terminal::{Temper, Terminal};

/// A daemon over the store at `path`.
pub fn daemon(path: &Path, terminal: &Terminal, salt: u64) -> Result<App, StoreError> {
    let ids = Arc::new(CountedIds { salt, next: AtomicU64::new(1) });
    let store = Store::try_open(path, ids.as_ref())?;
    Ok(App::new(Parts {
        store,
        harness_files: Arc::new(the_loop::adapters::harness_files::HarnessFolders::new(&Default::default())),
        runner: Arc::new(terminal.clone()),
        portable: Arc::new(Folder::new(0, 0)),
        earlier: Arc::new(()),
        github: Arc::new(()),
        clock: Arc::new(HandClock(AtomicI64::new(1_780_000_000_000))),
        ids,
        instance: InstanceId(format!("daemon-{salt}")),
        settings: RwLock::new(Arc::new(settings(true))),
    }))
}

/// How often what is said to one daemon, while another may be there, is typed.
fn typed(second: impl FnOnce(&Path) -> Option<std::path::PathBuf>) -> usize {
    let (dir, terminal, mut github) =
        (tempfile::tempdir().unwrap(), Terminal::new(0, Temper::default()), GitHub::new(1, 1, false, 0));
    let path = dir.path().join("state.redb");
    let first = daemon(&path, &terminal, 1).unwrap();
    let at = github.later();
    let start = github.comment(1, SubjectKind::Issue, at, "the-loop start\nplease", "mona");
    let lane = github.subject(1, SubjectKind::Issue, at).reference.key();
    first.ingest(&start).unwrap();
    let other = second(&path).map(|path| daemon(&path, &terminal, 2));
    first.advance(&lane, true, 100).unwrap();
    match other {
        Some(Ok(other)) => _ = other.advance(&lane, true, 100).unwrap(),
        Some(Err(StoreError::Busy)) | None => {}
        Some(Err(error)) => panic!("{error}"),
    }
    let panes = terminal.0.lock().unwrap().panes.clone();
    let mark = marker(&start.event.delivery);
    panes.values().flat_map(|pane| &pane.submitted).map(|text| text.matches(&mark).count()).sum()
}

#[test]
fn k61_a_second_daemon_on_one_store_is_refused_and_the_first_goes_on() {
    assert_eq!(typed(|_| None), 1);
    assert_eq!(typed(|path| Some(path.to_owned())), 1, "the second is refused");
}

#[test]
fn what_a_second_daemon_would_do_twice_is_seen() {
    // The same rows, and nothing that refuses: a copy of the file.
    let twice = typed(|path| {
        let copy = path.with_file_name("copy.redb");
        std::fs::copy(path, &copy).unwrap();
        Some(copy)
    });
    assert_eq!(twice, 2);
}
