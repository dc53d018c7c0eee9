//! A writer that ends between any two steps leaves the old or the new file, and no archive is ever lost or replaced.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::domain::run::archive_name;

/// Ends the writer at its n-th step: from then on nothing is done any more.
#[derive(Debug)]
struct EndsAt(AtomicUsize);

impl Seam for EndsAt {
    fn reached(&self, _: Step) -> io::Result<()> {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        if left <= 1 { Err(io::Error::other("the writer ended here")) } else { Ok(()) }
    }
}

fn scanned(text: &str) -> Scanned<String> {
    Scanned::text(text.to_owned()).unwrap()
}

fn task() -> TaskId {
    TaskId::parse("task-0123456789abcdef").unwrap()
}

/// The folder of a project, and the same with a writer that ends at a step.
fn folders(root: &Path, step: usize) -> (RunFolder, RunFolder) {
    let ending = RunFolder { seam: Box::new(EndsAt(AtomicUsize::new(step))), ..RunFolder::new(root) };
    (RunFolder::new(root), ending)
}

#[test]
fn a_write_that_ends_anywhere_leaves_the_old_or_the_new_file() {
    let mut outcomes = Vec::new();
    for step in 1..=4 {
        let dir = tempfile::tempdir().unwrap();
        let (files, ending) = folders(dir.path(), step);
        files.replace(Document::Continuity, None, &scanned("old"), 1).unwrap();
        let ended = ending.replace(Document::Continuity, Some(b"old"), &scanned("new"), 2);
        assert!(ended.is_err(), "step {step}");
        let found = files.read(Document::Continuity).unwrap().unwrap();
        let left = files.temporaries().unwrap();
        assert!(left.iter().all(|temporary| temporary.generation == Some(2)), "{left:?}");
        outcomes.push((String::from_utf8(found).unwrap(), left.len()));
    }
    let old = |left| ("old".to_owned(), left);
    assert_eq!(outcomes, [old(1), old(1), ("new".to_owned(), 0), ("new".to_owned(), 0)]);
}

#[test]
fn an_archive_that_ends_anywhere_is_there_whole_or_not_at_all() {
    for step in 1..=4 {
        let dir = tempfile::tempdir().unwrap();
        let (files, ending) = folders(dir.path(), step);
        let name = |number| archive_name(&task(), number);
        files.archive(&name, &scanned("first"), 1).unwrap();
        assert!(ending.archive(&name, &scanned("second"), 2).is_err(), "step {step}");
        let archives = files.archives(&task()).unwrap();
        assert_eq!(archives[0].1, b"first");
        assert!(archives[1..].iter().all(|(_, bytes)| bytes == b"second"), "step {step}: {archives:?}");
        files.archive(&name, &scanned("third"), 3).unwrap();
        let archives = files.archives(&task()).unwrap();
        assert_eq!(archives.last().unwrap().1, b"third", "step {step}");
    }
}

#[test]
fn f19_archives_made_at_once_are_all_kept() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    std::thread::scope(|scope| {
        for writer in 0..2 {
            scope.spawn(move || {
                let files = RunFolder::new(root);
                for turn in 0..5 {
                    let text = scanned(&format!("{writer} {turn}"));
                    files.archive(&|number| archive_name(&task(), number), &text, 1).unwrap();
                }
            });
        }
    });
    let archives = RunFolder::new(root).archives(&task()).unwrap();
    assert_eq!(archives.len(), 10);
    assert_eq!(archives[1].0, "task-0123456789abcdef-02.json");
    for writer in ["0", "1"] {
        let own = archives.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
        let own: Vec<String> = own.filter(|text| text.starts_with(writer)).collect();
        assert_eq!(own, (0..5).map(|turn| format!("{writer} {turn}")).collect::<Vec<_>>(), "in the order of making");
    }
}

#[test]
fn whoever_read_another_state_does_not_write() {
    let dir = tempfile::tempdir().unwrap();
    let files = RunFolder::new(dir.path());
    let write = |before: Option<&[u8]>, text: &str| files.replace(Document::Continuity, before, &scanned(text), 2);
    write(None, "one").unwrap();
    assert!(matches!(write(None, "two"), Err(FilesError::Stale(_))), "there is one already");
    assert!(matches!(write(Some(b"zero"), "two"), Err(FilesError::Stale(_))));
    assert!(matches!(files.remove(Document::Continuity, b"zero"), Err(FilesError::Stale(_))));
    assert_eq!(files.read(Document::Continuity).unwrap().unwrap(), b"one");
    assert_eq!(files.temporaries().unwrap(), [], "a refused write leaves nothing behind");
}

#[test]
fn f11_a_link_is_kept_and_what_it_leads_to_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let files = RunFolder::new(dir.path());
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir(dir.path().join(".loop")).unwrap();
    let link = files.path(Document::Continuity);
    std::os::unix::fs::symlink("../elsewhere/real.json", &link).unwrap();
    files.replace(Document::Continuity, None, &scanned("one"), 1).unwrap();
    files.replace(Document::Continuity, Some(b"one"), &scanned("two"), 2).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(elsewhere.join("real.json")).unwrap(), b"two");
    fs::write(elsewhere.join("real.json.tmp-3"), "torn").unwrap();
    assert_eq!(files.temporaries().unwrap().len(), 1, "its temporaries lie where it really is");
}

#[test]
fn a_temporary_that_lies_there_is_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let files = RunFolder::new(dir.path());
    fs::create_dir(dir.path().join(".loop")).unwrap();
    let torn = dir.path().join(".loop/continuity.json.tmp-1");
    fs::write(&torn, "torn").unwrap();
    files.replace(Document::Continuity, None, &scanned("one"), 1).unwrap();
    assert_eq!(fs::read(torn).unwrap(), b"torn");
    assert_eq!(files.read(Document::Continuity).unwrap().unwrap(), b"one");
}
