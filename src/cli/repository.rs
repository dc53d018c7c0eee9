//! The git repository that the state root of this run lies in.

use std::path::{Path, PathBuf};

use crate::adapters::git::WorkTree;
use crate::app::carry;
use crate::daemon::compose::Setting;
use crate::domain::git::{GitError, Plan, Seen, Spot, Target};
use crate::domain::layout::StateLayout;
use crate::domain::ports::Git as _;

/// Where the state root lies.
pub(super) enum Place {
    /// In a working tree.
    Inside(Repository),
    /// Beside it: nothing of it is committed there.
    Outside(WorkTree),
}

/// A working tree with the state root in it.
pub(super) struct Repository {
    tree: WorkTree,
    /// Where the root lies in it.
    pub spot: Spot,
}

impl Repository {
    /// What there is, and what has to change.
    pub fn look(&self) -> Result<(Seen, Plan), GitError> {
        let seen = carry::look(&self.tree, &self.spot)?;
        let plan = carry::plan_for(&self.tree, &seen, &self.spot, super::NAME, &own());
        Ok((seen, plan))
    }

    /// The working tree alone.
    pub fn into_tree(self) -> WorkTree {
        self.tree
    }

    /// Makes the changes of a plan, or the one to `target`.
    pub fn apply(&self, plan: &Plan, target: Option<&Target>) -> Result<(), GitError> {
        carry::apply(&self.tree, plan, target)
    }
}

/// This program's path, for where its name is not found.
fn own() -> String {
    std::env::current_exe()
        .ok()
        .and_then(|path| path.to_str().map(str::to_owned))
        .unwrap_or_else(|| super::NAME.to_owned())
}

/// Finds it. The configuration's home says which repository is meant.
pub(super) fn repository(setting: &Setting) -> Result<Place, GitError> {
    let home = setting.home.dir.canonicalize().unwrap_or_else(|_| setting.home.dir.clone());
    let tree = WorkTree::find(&home, &setting.environment)?;
    let layout = StateLayout::new(real(setting.layout.root())).with_local_dir(real(setting.layout.local_dir()));
    let log = real(&setting.config.event_log_file(&setting.home));
    Ok(match Spot::of(tree.top(), &home, &layout, &log) {
        Some(spot) => Place::Inside(Repository { tree, spot }),
        None => Place::Outside(tree),
    })
}

/// Where a path leads, as far as it is there: git knows nothing behind a link.
fn real(path: &Path) -> PathBuf {
    let known = path.ancestors().find_map(|there| Some((there.canonicalize().ok()?, path.strip_prefix(there).ok()?)));
    known.map_or_else(|| path.to_owned(), |(there, rest)| there.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_where_its_links_lead_whether_it_is_there_or_not() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("there")).unwrap();
        std::os::unix::fs::symlink("there", top.join("link")).unwrap();
        for (path, want) in [("link/local/x", "there/local/x"), ("there", "there"), ("none/x", "none/x")] {
            assert_eq!(real(&top.join(path)), top.join(want));
        }
    }
}
