//! Making directories: a worktree on a branch of its own, or a clone. Both can be interrupted anywhere and asked again.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::lock::Lock;
use super::run::{CHECKOUT, LOOK};
use super::source::Source;
use super::{GitWorkspaces, places};
use crate::domain::reference::WorkItemRef;
use crate::domain::workspace::{Choice, Rival, WorkspaceError, branch, choose, names};

/// A working tree that a repository knows.
pub(super) struct Known {
    pub path: PathBuf,
    /// The full name of its branch; none when it is on no branch.
    pub branch: Option<String>,
}

impl GitWorkspaces {
    /// The item's worktree.
    pub(super) fn worktree_for(&self, item: &WorkItemRef) -> Result<PathBuf, WorkspaceError> {
        let base = &self.config.worktrees_dir;
        let source = self.source(item)?;
        places::make_dir(base)?;
        let lock = Lock::of_repository(&source.common)?;
        let (name, is_half_made) = match chosen(item, base)? {
            Chosen::Ready(path) => return Ok(path),
            Chosen::Make { name, is_half_made } => (name, is_half_made),
        };
        let place = base.join(&name);
        self.clear(&source.common, base, &place, is_half_made, &lock)?;
        places::note(base, &name, item)?;
        if let Err(error) = self.add(&source, &place, &branch(&name), &lock) {
            if !place.exists() {
                places::forget_note(base, &name)?;
            }
            return Err(error);
        }
        places::mark(&place, item)?;
        places::forget_note(base, &name)?;
        Ok(place)
    }

    /// Takes away what an interrupted beginning left, and the entry of a worktree whose directory somebody removed. Both are
    /// ours; git's own `prune` would also forget those of others whose disk is not there right now.
    fn clear(
        &self,
        common: &Path,
        base: &Path,
        place: &Path,
        half_made: bool,
        lock: &Lock,
    ) -> Result<(), WorkspaceError> {
        if half_made {
            places::remove_half_made(base, place)?;
        }
        let is_known = self.known(common)?.iter().any(|known| is_same(&known.path, place));
        if is_known {
            let mut args: Vec<&OsStr> = ["worktree", "remove"].map(OsStr::new).into();
            if half_made {
                // Twice: while it is made it is locked.
                args.extend(["--force", "--force"].map(OsStr::new));
            }
            args.extend([OsStr::new("--"), place.as_os_str()]);
            self.git.change(common, &args, lock, CHECKOUT)?;
        }
        Ok(())
    }

    /// Adds the worktree: on its branch where that is there already, never moving it, else on a new one.
    fn add(&self, source: &Source, place: &Path, branch: &str, lock: &Lock) -> Result<(), WorkspaceError> {
        let full = format!("refs/heads/{branch}");
        let elsewhere = self.known(&source.common)?.into_iter().find(|known| known.branch.as_ref() == Some(&full));
        if let Some(Known { path, .. }) = elsewhere {
            return Err(WorkspaceError::Failed(format!(
                "the branch `{branch}` is checked out at `{}`; switch that to another branch",
                path.display()
            )));
        }
        let is_there = self.git.if_any(&source.common, &["rev-parse", "--quiet", "--verify", &full])?.is_some();
        let mut args: Vec<OsString> = ["worktree", "add", "--quiet"].map(Into::into).into();
        match is_there {
            true => args.extend([place.as_os_str().to_owned(), branch.into()]),
            false => {
                let base = self.base(&source.common, &source.remote)?;
                args.extend(["--no-track", "-b", branch].map(OsString::from));
                args.extend([place.as_os_str().to_owned(), base.into()]);
            }
        }
        let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
        self.git.change(&source.common, &args, lock, CHECKOUT)
    }

    /// The working trees of a repository.
    pub(super) fn known(&self, common: &Path) -> Result<Vec<Known>, WorkspaceError> {
        let args = ["worktree", "list", "--porcelain"].map(OsStr::new);
        let output = self.git.answer(common, &args, None, LOOK)?;
        let mut all: Vec<Known> = Vec::new();
        for line in output.stdout.split(|byte| *byte == b'\n') {
            if let Some(path) = line.strip_prefix(b"worktree ") {
                all.push(Known { path: PathBuf::from(OsStr::from_bytes(path)), branch: None });
            } else if let (Some(name), Some(last)) = (line.strip_prefix(b"branch "), all.last_mut()) {
                last.branch = Some(String::from_utf8_lossy(name).into_owned());
            }
        }
        Ok(all)
    }

    /// The item's own clone.
    pub(super) fn clone_for(&self, item: &WorkItemRef) -> Result<PathBuf, WorkspaceError> {
        let base = self.clones_base();
        places::make_dir(base)?;
        let [first, _] = names(item);
        let lock = Lock::of_file(&places::lock_file(base, &first))?;
        let name = match chosen(item, base)? {
            Chosen::Ready(path) => return Ok(path),
            Chosen::Make { name, .. } => name,
        };
        let (making, place) = (places::making(base, &name), base.join(&name));
        self.clone_to(base, &making, item.repo(), &lock)?;
        let start = self.base(&making.join(".git"), "origin")?;
        let branch = branch(&name);
        let args = ["checkout", "--quiet", "--no-track", "-b", &branch, &start].map(OsStr::new);
        self.git.change(&making, &args, &lock, CHECKOUT)?;
        places::mark(&making, item)?;
        fs::rename(&making, &place).map_err(|error| places::at(&place, &error))?;
        Ok(place)
    }
}

/// What is to be done for an item.
enum Chosen {
    Ready(PathBuf),
    Make { name: String, is_half_made: bool },
}

/// Looks under the names of an item.
fn chosen(item: &WorkItemRef, base: &Path) -> Result<Chosen, WorkspaceError> {
    let names = names(item);
    let found = names.each_ref().map(|name| places::look(base, name));
    let who = match choose(item, &found) {
        Choice::Ready(at) => return Ok(Chosen::Ready(base.join(&names[at]))),
        Choice::Make(at, is_half_made) => return Ok(Chosen::Make { name: names[at].clone(), is_half_made }),
        Choice::Taken(Rival::Items) => "belong to other work items",
        Choice::Taken(Rival::Strange) => "are not ours",
    };
    Err(WorkspaceError::Failed(format!(
        "`{}` and `{}` in `{}` are there and {who}; move what is needed no more",
        names[0],
        names[1],
        base.display()
    )))
}

/// Whether two paths are one place; the directory itself may be gone.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| {
        let parent = path.parent().and_then(|parent| fs::canonicalize(parent).ok());
        parent.and_then(|parent| Some(parent.join(path.file_name()?)))
    };
    one == other || real(one).is_some_and(|one| real(other) == Some(one))
}
