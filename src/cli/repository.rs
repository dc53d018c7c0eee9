//! The git repository that the state root of this run lies in.

use std::path::PathBuf;

use crate::adapters::git::WorkTree;
use crate::app::carry;
use crate::daemon::compose::Setting;
use crate::domain::git::{GitError, Plan, Seen, Spot, Target};
use crate::domain::ports::Git as _;

/// Where the state root lies.
pub(super) enum Place {
    /// In a working tree.
    Inside(Repository),
    /// Beside it: nothing of it is committed there.
    Outside {
        /// The top of the working tree.
        top: PathBuf,
    },
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
    let log = setting.config.event_log_file(&setting.home);
    Ok(match Spot::of(tree.top(), &home, &setting.layout, &log) {
        Some(spot) => Place::Inside(Repository { tree, spot }),
        None => Place::Outside { top: tree.top().to_owned() },
    })
}
