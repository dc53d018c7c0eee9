//! The portable folder on a real file system: a temporary folder, seams between the steps.

mod crash;
mod export;
mod look;

use std::cell::{Cell, RefCell};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::seam::{Call, Seam, Step};
use super::*;
use crate::domain::portable::files::{Export, Held, Located, Look, Replaced, Written};
use crate::domain::portable::samples::{EXAMPLE, item};
use crate::domain::portable::{Record, parse};
use crate::domain::ports::PortableFiles as _;
use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

const LIMIT: Duration = Duration::from_secs(5);

/// A folder of its own, beside which nothing may appear.
struct Place {
    root: TempDir,
    folder: PortableFolder,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let folder = PortableFolder::create(&root.path().join("portable")).unwrap();
        Self { root, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// As a colleague's editor or git would: another file renamed over it.
    fn swap(&self, name: &str, text: &str) {
        let beside = self.root.path().join("beside");
        fs::write(&beside, text).unwrap();
        fs::rename(beside, self.path(name)).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn record(&self, name: &str) -> Record {
        parse(self.text(name).as_bytes()).unwrap()
    }

    fn entries(&self) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(self.folder.path()).unwrap().map(name).collect();
        names.sort();
        names
    }

    fn export(&self, record: &Record) -> Result<Written, Held> {
        self.folder.batch(LIMIT).unwrap().export(request(record))
    }

    fn export_with(&self, record: &Record, seam: &dyn Seam) -> Result<Written, Held> {
        self.folder.batch_with(LIMIT, seam).unwrap().export(request(record))
    }
}

/// An export some time after everything in the folder was written.
fn request(record: &Record) -> Export<'_> {
    Export { record, adopted: None, now: now().plus_seconds(3600) }
}

fn now() -> Time {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap())
}

fn example() -> Record {
    parse(EXAMPLE.as_bytes()).unwrap()
}

fn item_of(text: &str) -> WorkItemRef {
    WorkItemRef::parse(text).unwrap()
}

const NAME: &str = "github-octo-repo-15.json";

/// What a file system can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ability {
    Exchange,
    Link,
    Neither,
}

const ABILITIES: [Ability; 3] = [Ability::Exchange, Ability::Link, Ability::Neither];

type Action<'a> = Box<dyn Fn() + 'a>;

/// Does something after a step, and stops there when it shall.
struct Hook<'a> {
    at: Step,
    /// Which time the step is reached, from 0; `None` every time.
    nth: Option<usize>,
    count: Cell<usize>,
    crash: bool,
    ability: Ability,
    action: RefCell<Action<'a>>,
}

impl<'a> Hook<'a> {
    fn act(at: Step, ability: Ability, action: impl Fn() + 'a) -> Self {
        let action: RefCell<Action<'a>> = RefCell::new(Box::new(action));
        Self { at, nth: Some(0), count: Cell::new(0), crash: false, ability, action }
    }

    fn crash(at: Step, ability: Ability) -> Self {
        Self { crash: true, ..Self::act(at, ability, || ()) }
    }

    fn every_time(self) -> Self {
        Self { nth: None, ..self }
    }

    fn was_reached(&self) -> bool {
        self.count.get() > 0
    }
}

impl Seam for Hook<'_> {
    fn reached(&self, step: Step) -> io::Result<()> {
        if step != self.at {
            return Ok(());
        }
        let count = self.count.replace(self.count.get() + 1);
        if self.nth.is_none_or(|nth| nth == count) {
            (self.action.borrow())();
            if self.crash {
                return Err(io::Error::other("stopped"));
            }
        }
        Ok(())
    }

    fn refuses(&self, call: Call) -> bool {
        match call {
            Call::Exchange => self.ability != Ability::Exchange,
            Call::Link => self.ability == Ability::Neither,
        }
    }
}

fn inode(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).unwrap().ino()
}

#[test]
fn the_folder_is_made_private_and_known_by_its_identity() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    assert_eq!(fs::metadata(place.folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
    let again = PortableFolder::open(place.folder.path()).unwrap().unwrap();
    assert_eq!(again.id(), place.folder.id());
    let other = PortableFolder::create(&place.root.path().join("a/b")).unwrap();
    assert_ne!(other.id(), place.folder.id());
    assert!(PortableFolder::open(&place.root.path().join("none")).unwrap().is_none());
}

#[test]
fn one_writer_at_a_time() {
    let place = Place::new();
    let first = place.folder.batch(LIMIT).unwrap();
    let again = PortableFolder::open(place.folder.path()).unwrap().unwrap();
    let error = again.batch(Duration::from_millis(30)).map(|_| ()).unwrap_err();
    assert_eq!(error.doing, "lock the portable folder");
    drop(first);
    // A program that another test starts just now holds a copy of the lock until it begins.
    assert!(again.batch(LIMIT).is_ok());
}

#[test]
fn k57_f11_a_folder_that_is_a_link_is_refused() {
    let place = Place::new();
    let link = place.root.path().join("link");
    std::os::unix::fs::symlink(place.folder.path(), &link).unwrap();
    assert!(PortableFolder::open(&link).unwrap_err().to_string().contains("never followed"));
    assert!(PortableFolder::create(&link).is_err());
    fs::write(place.root.path().join("file"), "").unwrap();
    assert!(PortableFolder::open(&place.root.path().join("file")).is_err());
}

#[test]
fn the_port_needs_no_folder_until_there_is_something_to_write() {
    let place = Place::new();
    let port = PortableDir::new(place.root.path().join("later"));
    let record = example();
    assert!(port.folder().unwrap().is_none() && port.names().unwrap().is_empty());
    assert_eq!(port.look(NAME, None, now()).unwrap(), Look::Missing);
    assert_eq!(port.locate(&item(), now()).unwrap(), Located::Missing);
    let check = || {
        let mut told = Vec::new();
        port.check(&[request(&record)], &mut |_, outcome| told.push(outcome.unwrap())).unwrap();
        told
    };
    assert_eq!(check(), [true]);
    let mut written = Vec::new();
    let id = port.export(&[request(&record)], &mut |index, outcome| written.push((index, outcome.unwrap()))).unwrap();
    assert_eq!((port.folder().unwrap(), check()), (Some(id), vec![false]));
    assert_eq!((written[0].0, written[0].1.changed), (0, true));
    let Located::Files(files) = port.locate(&item(), now()).unwrap() else { panic!() };
    assert_eq!((files.len(), &files[0].record), (1, &record));
    assert_eq!(port.look(NAME, written[0].1.stamp.as_ref(), now()).unwrap(), Look::Unchanged);
}

#[test]
fn leftovers_are_told_by_item() {
    let place = Place::new();
    let port = PortableDir::new(place.folder.path());
    for name in ["github-octo-repo-15.json.1-2.tmp", "github-octo-repo-15.json.1-3.tmp", "tmpx.tmp"] {
        place.put(name, EXAMPLE);
    }
    place.put("github-octo-repo-16.json.1-2.tmp", "{");
    assert_eq!(port.leftovers(now()).unwrap(), [item()]);
}

#[test]
fn f18_only_records_are_records() {
    let place = Place::new();
    let noise = [
        ".octo-hello-7.json.8f3.tmp",
        "octo-hello-7.json~",
        "octo-hello-7.json.orig",
        "index.json",
        "Index.JSON",
        ".hidden.json",
        "tmpab12cd.tmp",
        "notes.txt",
    ];
    for name in noise.into_iter().chain([NAME, "github-octo-repo-15.json.1-2.tmp"]) {
        place.put(name, EXAMPLE);
    }
    let names = place.folder.names().unwrap();
    assert_eq!(names.records().collect::<Vec<_>>(), [NAME]);
    assert_eq!(names.temporaries().collect::<Vec<_>>(), ["github-octo-repo-15.json.1-2.tmp"]);
    place.export(&example()).unwrap();
    for name in noise {
        assert_eq!(place.text(name), EXAMPLE, "{name} is nobody's to touch");
    }
    assert_eq!(place.entries().len(), noise.len() + 1, "the leftover was taken in and removed");
    assert_eq!(item().slug().file_name(), NAME);
}
