//! Directories of work items, by git run as a program: a worktree of a repository that is here or is cloned once, or a
//! clone per item.
//!
//! What is complete has a mark where git keeps its own files, written last; what was begun has a note, or another name,
//! until then. One lock per repository is held while one is made or removed.

mod lock;
mod make;
mod places;
mod run;
mod source;
#[cfg(test)]
mod tests;
mod tidy;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::domain::config::CloneProtocol;
use crate::domain::ports::Workspaces;
use crate::domain::reference::{RepoRef, WorkItemRef};
use crate::domain::workspace::{Checkout, CheckoutState, Keep, Place, Tidied, WorkspaceError, names};

use run::Git;

/// Whose complete checkout the root of a repository is, when it is one that was made for a work item.
pub fn item_of(root: &Path) -> Option<WorkItemRef> {
    places::marked(root)
}

/// Where directories are made, and from what.
#[derive(Debug, Clone)]
pub struct WorkspacesConfig {
    /// A clone per item rather than a worktree.
    pub clones: bool,
    /// The directory whose repository is used when there is no `root`.
    pub home: PathBuf,
    /// `routing.workspace.root`: where repositories are cloned, `<root>/<host>/<owner>/<repo>`.
    pub root: Option<PathBuf>,
    /// Where worktrees are made.
    pub worktrees_dir: PathBuf,
    /// Where clones per item are made when there is no `root`.
    pub clones_dir: PathBuf,
    /// How repositories are cloned.
    pub protocol: CloneProtocol,
    /// The process's environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Variables git may see beside those that sessions see anyway.
    pub pass: Vec<String>,
}

/// Directories of work items.
#[derive(Debug)]
pub struct GitWorkspaces {
    config: WorkspacesConfig,
    git: Git,
}

impl GitWorkspaces {
    /// Asks nothing and makes nothing.
    pub fn new(mut config: WorkspacesConfig) -> Self {
        let git = Git::new(&std::mem::take(&mut config.environment), &config.pass);
        Self { config, git }
    }

    /// Where clones per item are made.
    fn clones_base(&self) -> &Path {
        self.config.root.as_deref().unwrap_or(&self.config.clones_dir)
    }

    /// Every directory that directories of items are made in, the present strategy's first.
    fn bases(&self) -> [&Path; 2] {
        let (worktrees, clones) = (self.config.worktrees_dir.as_path(), self.clones_base());
        if self.config.clones { [clones, worktrees] } else { [worktrees, clones] }
    }

    /// The base and the name of a path that lies right in one of ours.
    fn split<'p>(&self, path: &'p Path) -> Option<(&Path, &'p str)> {
        let base = self.bases().into_iter().find(|base| path.parent() == Some(*base))?;
        Some((base, path.file_name()?.to_str()?))
    }

    /// Whose complete checkout of ours `path` is.
    fn ready(&self, path: &Path) -> Option<WorkItemRef> {
        let (base, name) = self.split(path)?;
        match places::look(base, name) {
            Place::Of { item, ready: true } => Some(item),
            _ => None,
        }
    }

    /// The complete checkout of `item`: where it worked before, or under one of its names, or under one that was spelled
    /// in other letters.
    fn find(&self, item: &WorkItemRef, had: Option<&Path>, bases: &[&Path]) -> Option<PathBuf> {
        let own = |path: &PathBuf| self.ready(path).is_some_and(|marked| marked.key() == item.key());
        let named = bases.iter().flat_map(|base| names(item).map(|name| base.join(name)));
        let known = had.map(Path::to_owned).into_iter().chain(named).find(own);
        known.or_else(|| {
            let all = bases.iter().flat_map(|base| places::list(base, false)).map(|found| found.path);
            all.into_iter().find(own)
        })
    }
}

impl Workspaces for GitWorkspaces {
    fn prepare(&self, item: &WorkItemRef, had: Option<&Path>) -> Result<PathBuf, WorkspaceError> {
        if let Some(path) = had.filter(|path| self.ready(path).is_some()) {
            if self.ready(path).is_none_or(|marked| marked != *item) {
                // It goes by another name by now; whoever gets the old one has a directory of his own.
                places::mark(path, item)?;
            }
            return Ok(path.to_owned());
        }
        if let Some(path) = self.find(item, None, &self.bases()[..1]) {
            return Ok(path);
        }
        if self.config.clones { self.clone_for(item) } else { self.worktree_for(item) }
    }

    fn owns(&self, path: &Path) -> bool {
        self.split(path).is_some()
    }

    fn tidy(&self, item: &WorkItemRef, had: Option<&Path>) -> Result<Tidied, WorkspaceError> {
        match self.find(item, had, &self.bases()) {
            None => Ok(Tidied::Nothing),
            Some(path) => self.remove(&path),
        }
    }

    fn checkouts(&self) -> Vec<Checkout> {
        let mut all = places::list(&self.config.worktrees_dir, true);
        all.extend(places::list(self.clones_base(), self.config.root.is_none()));
        all.extend(self.config.root.iter().flat_map(|root| source::half_made(root)));
        all
    }

    fn keeps(&self, path: &Path) -> Result<Option<Keep>, WorkspaceError> {
        self.why_kept(path)
    }

    fn trouble(&self, repositories: &[RepoRef]) -> Vec<String> {
        if self.config.clones || self.config.root.is_some() {
            return Vec::new();
        }
        match self.repository_at_home() {
            Err(error) => vec![error.to_string()],
            Ok(common) if repositories.is_empty() => {
                let none = self.without_remotes(&common, &self.config.home);
                none.map(|error| error.to_string()).into_iter().collect()
            }
            Ok(common) => {
                let refused = |repo| self.remote_at(&common, &self.config.home, repo).err();
                repositories.iter().filter_map(refused).map(|error| error.to_string()).collect()
            }
        }
    }
}

/// A beginning that nobody finished, as `doctor` tells it.
fn half_made(path: PathBuf) -> Checkout {
    Checkout { path, state: CheckoutState::HalfMade }
}
