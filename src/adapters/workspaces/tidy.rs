//! Removing a checkout whose item ended, when nothing in it lies there alone.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::lock::Lock;
use super::make::is_same;
use super::run::{CHECKOUT, LOOK};
use super::{GitWorkspaces, places};
use crate::domain::workspace::{Keep, Tidied, WorkspaceError, hidden, judge_status, under_way};

impl GitWorkspaces {
    /// Removes the complete checkout at `path`, or says why not.
    pub(super) fn remove(&self, path: &Path) -> Result<Tidied, WorkspaceError> {
        let kept = |why| Ok(Tidied::Kept { path: path.to_owned(), why });
        let is_clone = path.join(".git").is_dir();
        let Some(common) = self.common_dir(path)? else { return kept(Keep::Outside) };
        let lock = Lock::of_repository(&common)?;
        if let Some(why) = self.why_kept(path)? {
            return kept(why);
        }
        if is_clone {
            return remove_clone(path);
        }
        let args = ["worktree", "remove", "--"].map(OsStr::new);
        let args: Vec<&OsStr> = args.into_iter().chain([path.as_os_str()]).collect();
        // Without force: git looks again, and refuses what it would not give back.
        match self.git.change(&common, &args, &lock, CHECKOUT) {
            Ok(()) => Ok(Tidied::Removed(path.to_owned())),
            Err(WorkspaceError::Failed(said)) => kept(Keep::Refused(said)),
            Err(error) => Err(error),
        }
    }

    /// What keeps the checkout at `path` from being removed.
    pub(super) fn why_kept(&self, path: &Path) -> Result<Option<Keep>, WorkspaceError> {
        let (Some((base, _)), Some(own)) = (self.split(path), places::git_dir(path)) else {
            return Ok(Some(Keep::Outside));
        };
        let is_dir = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
        let real = fs::canonicalize(path).map_err(|error| places::at(path, &error))?;
        let lies_there = fs::canonicalize(base).is_ok_and(|base| real.parent() == Some(&base));
        if !is_dir || !lies_there || self.ready(path).is_none() {
            return Ok(Some(Keep::Outside));
        }
        if let Some(why) = under_way(|name| own.join(name).symlink_metadata().is_ok()) {
            return Ok(Some(why));
        }
        let is_clone = own == path.join(".git");
        Ok(match self.uncommitted(path)? {
            Some(why) => Some(why),
            None => match self.only_here(path, is_clone)? {
                Some(why) => Some(why),
                None => self.nested(path, &own)?,
            },
        })
    }

    fn uncommitted(&self, path: &Path) -> Result<Option<Keep>, WorkspaceError> {
        let status = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=none"];
        if let Some(why) = judge_status(&self.git.text(path, &status)?) {
            return Ok(Some(why));
        }
        let listed = self.git.text(path, &["ls-files", "-v", "-z"])?;
        Ok(hidden(&listed, |file| path.join(file).symlink_metadata().is_ok()))
    }

    /// Commits that are on no remote, as far as is known here, and what was stashed. A worktree's branches outlive it, those
    /// of a clone do not.
    fn only_here(&self, path: &Path, is_clone: bool) -> Result<Option<Keep>, WorkspaceError> {
        let branches: &[&str] = if is_clone { &["--branches"] } else { &[] };
        let args = [&["rev-list", "--max-count=1", "HEAD"], branches, &["--not", "--remotes"]].concat();
        if !self.git.text(path, &args)?.is_empty() {
            return Ok(Some(Keep::Unpushed));
        }
        let stashes = self.git.text(path, &["stash", "list", "--format=%gs"])?;
        let branch = self.git.if_any(path, &["symbolic-ref", "--quiet", "--short", "HEAD"])?;
        let mine = branch.map(|branch| format!("on {}:", branch.trim_end().to_lowercase()));
        let is_mine = |line: &str| mine.as_ref().is_some_and(|mine| line.to_lowercase().contains(mine));
        Ok(stashes.lines().any(|line| is_clone || is_mine(line)).then_some(Keep::Stashed))
    }

    /// Submodules, worktrees that were made within this one, and repositories in what git ignores.
    fn nested(&self, path: &Path, own: &Path) -> Result<Option<Keep>, WorkspaceError> {
        let real = fs::canonicalize(path).map_err(|error| places::at(path, &error))?;
        let is_within = |other: &Path| !is_same(other, path) && other.starts_with(&real);
        let worktrees = self.known(path)?.iter().any(|known| is_within(&known.path));
        let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"].map(OsStr::new);
        let ignored = self.git.answer(path, &args, None, LOOK)?;
        let has_repository = String::from_utf8_lossy(&ignored.stdout)
            .split_terminator('\0')
            .any(|ignored| path.join(ignored).join(".git").symlink_metadata().is_ok());
        let nested = own.join("modules").exists() || worktrees || has_repository;
        Ok(nested.then_some(Keep::Nested))
    }
}

/// A clone that says nothing that is not elsewhere. It gets another name first: what is half removed is no checkout.
fn remove_clone(path: &Path) -> Result<Tidied, WorkspaceError> {
    let base = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let going = places::making(base, name);
    places::remove_half_made(base, &going)?;
    fs::rename(path, &going).map_err(|error| places::at(path, &error))?;
    places::remove_half_made(base, &going)?;
    Ok(Tidied::Removed(path.to_owned()))
}
