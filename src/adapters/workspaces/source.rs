//! The repository that worktrees of an item are made from: the one the daemon stands in, or one that is cloned once.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::lock::Lock;
use super::run::{CLONE, LOOK, complaint};
use super::{GitWorkspaces, places};
use crate::domain::reference::{RepoRef, WorkItemRef};
use crate::domain::workspace::{Checkout, WorkspaceError, address, default_branch, remote_of};

/// What an item gets its files from.
pub(super) struct Source {
    /// The directory of git's own that the repository's working trees share, absolute.
    pub common: PathBuf,
    /// The remote that is the item's repository.
    pub remote: String,
}

impl GitWorkspaces {
    /// The repository for `item`; cloned first where that is what is configured.
    pub(super) fn source(&self, item: &WorkItemRef) -> Result<Source, WorkspaceError> {
        let repo = item.repo();
        let (common, place) = match &self.config.root {
            Some(root) => self.cloned(root, repo)?,
            None => (self.repository_at_home()?, self.config.home.clone()),
        };
        let remote = self.remote_at(&common, &place, repo)?;
        Ok(Source { common, remote })
    }

    /// The remote that is `repo`, of the repository at `place`.
    pub(super) fn remote_at(&self, common: &Path, place: &Path, repo: &RepoRef) -> Result<String, WorkspaceError> {
        self.remote(common, repo)?.ok_or_else(|| {
            let at = place.display();
            WorkspaceError::None(match self.config.root.is_some() {
                false => format!(
                    "no remote of the repository at `{at}` is `{repo}`; set `routing.workspace.root` to a directory \
                     for clones, add the remote, or choose `routing.workspace.strategy: shared` with \
                     `routing.spawnWorkdir`"
                ),
                true => format!(
                    "`{at}` is there, and no remote of it is `{repo}`; add the remote, or set \
                     `routing.workspace.root` to another directory"
                ),
            })
        })
    }

    /// The repository the daemon stands in.
    pub(super) fn repository_at_home(&self) -> Result<PathBuf, WorkspaceError> {
        let home = &self.config.home;
        self.common_dir(home)?.ok_or_else(|| {
            WorkspaceError::None(format!(
                "`{}` is in no git repository; set `routing.workspace.root` to a directory for clones, keep the \
                 configuration in a checkout, or choose `routing.workspace.strategy: shared` with \
                 `routing.spawnWorkdir`",
                home.display()
            ))
        })
    }

    /// The directory of git's own that the repository around `at` shares among its working trees.
    pub(super) fn common_dir(&self, at: &Path) -> Result<Option<PathBuf>, WorkspaceError> {
        if !at.is_dir() {
            return Ok(None);
        }
        let args = ["rev-parse", "--path-format=absolute", "--git-common-dir"].map(OsStr::new);
        let output = self.git.answer(at, &args, None, LOOK)?;
        if output.status.success() {
            let path = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
            return Ok(Some(PathBuf::from(OsStr::from_bytes(path))));
        }
        match complaint(&output) {
            said if said.contains("not a git repository") => Ok(None),
            said => Err(WorkspaceError::Failed(format!("git in `{}`: {said}", at.display()))),
        }
    }

    /// Why no item at all can have a directory from the repository at `place`: it has no remote.
    pub(super) fn without_remotes(&self, common: &Path, place: &Path) -> Option<WorkspaceError> {
        let none = self.remotes(common).is_ok_and(|listed| listed.is_empty());
        none.then(|| {
            WorkspaceError::None(format!(
                "the repository at `{}` has no remote, so it is no item's; add the remote, or set \
                 `routing.workspace.root` to a directory for clones",
                place.display()
            ))
        })
    }

    /// Names and addresses of all remotes, as git lists them.
    fn remotes(&self, common: &Path) -> Result<String, WorkspaceError> {
        let listed = self.git.if_any(common, &["config", "-z", "--get-regexp", r"^remote\..*\.url$"])?;
        Ok(listed.unwrap_or_default())
    }

    fn remote(&self, common: &Path, repo: &RepoRef) -> Result<Option<String>, WorkspaceError> {
        let listed = self.remotes(common)?;
        let entry = |entry: &str| {
            let (key, address) = entry.split_once('\n')?;
            Some((key.strip_prefix("remote.")?.strip_suffix(".url")?.to_owned(), address.to_owned()))
        };
        let remotes: Vec<(String, String)> = listed.split_terminator('\0').filter_map(entry).collect();
        let expanded = |name: &str| self.git.if_any(common, &["remote", "get-url", name]).ok().flatten();
        Ok(remote_of(repo, &remotes, expanded).map(str::to_owned))
    }

    /// What a new branch of an item begins at.
    pub(super) fn base(&self, common: &Path, remote: &str) -> Result<String, WorkspaceError> {
        let head = format!("refs/remotes/{remote}/HEAD");
        let head = self.git.if_any(common, &["symbolic-ref", "--quiet", &head])?;
        let has = |name: &str| {
            let commit = format!("{name}^{{commit}}");
            self.git.if_any(common, &["rev-parse", "--quiet", "--verify", &commit]).is_ok_and(|found| found.is_some())
        };
        default_branch(remote, head.as_deref().map(str::trim_end), has).ok_or_else(|| {
            WorkspaceError::None(format!(
                "the repository at `{}` knows no default branch of its remote `{remote}`; fetch it, then \
                 `git remote set-head {remote} --auto`",
                common.display()
            ))
        })
    }

    /// The clone of `repo` below `root`, made when it is not there, and its place.
    fn cloned(&self, root: &Path, repo: &RepoRef) -> Result<(PathBuf, PathBuf), WorkspaceError> {
        let parent = root.join(repo.host()).join(repo.owner());
        let place = parent.join(repo.name());
        if !place.exists() {
            places::make_dir(&parent)?;
            let lock = Lock::of_file(&places::lock_file(&parent, repo.name()))?;
            if !place.exists() {
                let making = places::making(&parent, repo.name());
                self.clone_to(&parent, &making, repo, &lock)?;
                fs::rename(&making, &place).map_err(|error| places::at(&place, &error))?;
            }
        }
        // Its own repository, not one around it.
        let own = [place.join(".git"), place.join("HEAD")].iter().any(|path| path.exists());
        let common = if own { self.common_dir(&place)? } else { None };
        let common = common.ok_or_else(|| {
            WorkspaceError::None(format!(
                "`{}` is there and is no git repository; move it, or set `routing.workspace.root` to another directory",
                place.display()
            ))
        })?;
        Ok((common, place))
    }

    /// Clones to `to`, which lies in `base`. Whatever lies there is an interrupted clone: who makes one holds the lock,
    /// and git holds it with him.
    pub(super) fn clone_to(&self, base: &Path, to: &Path, repo: &RepoRef, lock: &Lock) -> Result<(), WorkspaceError> {
        places::remove_half_made(base, to)?;
        let address = address(repo, self.config.protocol);
        let mut args: Vec<&OsStr> = Vec::new();
        // At nobody's terminal: ssh asks nothing either, unless somebody said how it is to be called.
        let is_told = self.git.sees("GIT_SSH_COMMAND")
            || self.git.sees("GIT_SSH")
            || self.git.if_any(base, &["config", "--get", "core.sshCommand"])?.is_some();
        if !is_told {
            args.extend(["-c", "core.sshCommand=ssh -oBatchMode=yes"].map(OsStr::new));
        }
        args.extend(["clone", "--quiet", "--origin", "origin", "--"].map(OsStr::new));
        args.extend([OsStr::new(&address), to.as_os_str()]);
        let output = self.git.answer(base, &args, Some(lock), CLONE)?;
        if output.status.success() {
            return Ok(());
        }
        places::remove_half_made(base, to)?;
        Err(WorkspaceError::Failed(format!("could not clone `{address}`: {}", complaint(&output))))
    }
}

/// Clones below `root` that were begun and not finished.
pub(super) fn half_made(root: &Path) -> Vec<Checkout> {
    let within = |dir: PathBuf| {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir())
    };
    let owners = within(root.to_owned()).flat_map(within);
    let is_half_made = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| name.starts_with('.') && name.ends_with(".making"))
    };
    owners.flat_map(within).filter(is_half_made).map(super::half_made).collect()
}
