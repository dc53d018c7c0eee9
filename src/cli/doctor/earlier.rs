//! The earlier system's old tree: what of it is superseded, what waits, what cannot be read, and what is sealed against a
//! tree that is gone. Nothing of it is ever wrong for the work that goes on; it is there to be cleaned up by a person.

use std::collections::BTreeSet;

use crate::adapters::earlier_files::EarlierTree;
use crate::adapters::portable_files::PortableDir;
use crate::adapters::system::SystemClock;
use crate::app::earlier::unjudged;
use crate::daemon::compose::Setting;
use crate::domain::earlier::{Found, Tree};
use crate::domain::findings::Finding;
use crate::domain::portable::files::Look;
use crate::domain::ports::{Clock as _, PortableFiles as _};
use crate::store::{Reader, StoreError};

/// Files named one by one.
const NAMED: usize = 5;

pub(super) fn look(setting: &Setting) -> Vec<Finding> {
    let earlier = EarlierTree::new(&setting.layout, &setting.home.dir);
    let tree = earlier.tree();
    let mut findings: Vec<Finding> = tree
        .refused
        .iter()
        .map(|refused| {
            Finding::warning("earlier.refused", format!("the earlier system's {}: {}", refused.path, refused.reason))
                .because("what it says is not known here; nothing is guessed, and everything else goes on")
                .todo("correct it, or move it out of the state root when nothing in it is missed")
        })
        .collect();
    findings.extend(sealed(setting, &earlier));
    let all = files(&tree.found);
    // A store that cannot be read is named by its own part.
    let waiting = waiting(setting, tree).map(|found| files(&found)).unwrap_or_else(|_| all.clone());
    let superseded: BTreeSet<&String> = all.difference(&waiting).collect();
    if !superseded.is_empty() {
        findings.push(
            Finding::note("earlier.superseded", format!("taken over from the earlier system: {}", named(superseded)))
                .because("they are not read again, whatever happens to the item")
                .todo("they can be removed once you do not want to go back"),
        );
    }
    if !waiting.is_empty() {
        findings.push(
            Finding::note("earlier.waiting", format!("the earlier system's, not taken over yet: {}", named(&waiting)))
                .because("what they say holds from the first event on their item on")
                .todo("the daemon, or `the-loop export`, takes them over; `the-loop events` says why one has to wait"),
        );
    }
    findings
}

/// The files that these stand in.
fn files(found: &[Found]) -> BTreeSet<String> {
    found.iter().map(|found| found.path.split('#').next().unwrap_or_default().to_owned()).collect()
}

fn waiting(setting: &Setting, tree: Tree) -> Result<Vec<Found>, StoreError> {
    match Reader::open(&setting.layout.store_file()) {
        Ok(reader) => reader.read(|tx| unjudged(tx, tree)),
        Err(StoreError::Missing) => Ok(tree.found),
        Err(error) => Err(error),
    }
}

fn named<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    let some = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => some,
        more => format!("{some} and {more} more"),
    }
}

/// The earlier system seals a record while an old tree could bring back what it ended.
fn sealed(setting: &Setting, earlier: &EarlierTree) -> Option<Finding> {
    if earlier.is_there() {
        return None;
    }
    let portable = PortableDir::new(setting.layout.portable_dir());
    let names: Vec<String> = portable.names().ok()?;
    let now = SystemClock.now();
    let is_sealed = |name: &String| match portable.look(name, None, now) {
        Ok(Look::News(news)) => news.record.sealed,
        _ => false,
    };
    let sealed: Vec<String> = names.into_iter().filter(is_sealed).collect();
    (!sealed.is_empty()).then(|| {
        Finding::note("earlier.sealed", format!("sealed against an old tree that is gone: {}", named(&sealed)))
            .because("they only say that something ended")
            .todo("they can be removed from the portable folder when no other machine has an old tree")
    })
}
