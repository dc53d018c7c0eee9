//! The project at hand: what git says of it, or its folder where there is no git.
//!
//! A repository that git refuses to speak about is an error and never "no repository": what is not known is not guessed,
//! and nothing is written under a guessed identity.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::git::{WorkTree, os_text, pieces};
use super::git_program::first_line;
use super::text_files;
use crate::domain::git::{FileText, GitError};
use crate::domain::ports::Git as _;
use crate::domain::reference::hex;
use crate::domain::remote::Remote;
use crate::domain::run::{Listed, Project, ProjectError, ProjectFacts};

/// The folder of runs, below the root.
pub const FOLDER: &str = ".loop";
/// Most entries of a list that are shown.
const SHOWN: usize = 20;
/// Most files and bytes of a folder without git that are read to tell its state.
const MOST: (usize, u64) = (20_000, 256 << 20);

/// The project that holds a directory.
#[derive(Debug)]
pub struct ProjectTree {
    root: PathBuf,
    tree: Option<WorkTree>,
}

impl ProjectTree {
    /// Finds it: git's working tree; without git the nearest folder above that holds `.loop`, else the directory itself.
    ///
    /// # Errors
    /// There is a repository and git cannot or will not speak about it, or the directory cannot be read.
    pub fn find(at: &Path, environment: &[(OsString, OsString)]) -> Result<Self, ProjectError> {
        let canonical = |path: &Path| {
            fs::canonicalize(path).map_err(|error| ProjectError {
                said: format!("`{}`: {error}", path.display()),
                hint: "change to a directory that exists".into(),
            })
        };
        let at = canonical(at)?;
        match WorkTree::find(&at, environment) {
            Ok(tree) => Ok(Self { root: canonical(tree.top())?, tree: Some(tree) }),
            Err(GitError::NoRepository(_) | GitError::NoProgram(_)) if !is_in_repository(&at) => {
                let holder = at.ancestors().find(|folder| folder.join(FOLDER).is_dir());
                Ok(Self { root: holder.unwrap_or(&at).to_owned(), tree: None })
            }
            Err(error) => Err(refused(&error, &at)),
        }
    }

    /// Canonical path of the root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its working tree, where it has one.
    pub(super) const fn work_tree(&self) -> Option<&WorkTree> {
        self.tree.as_ref()
    }

    /// What git refused, with what to do.
    pub(super) fn refused(&self, error: &GitError) -> ProjectError {
        refused(error, &self.root)
    }

    fn line(&self, args: &[&str]) -> Result<Option<String>, ProjectError> {
        let Some(tree) = &self.tree else { return Ok(None) };
        let output = tree.answer(args, &[]).map_err(|error| refused(&error, &self.root))?;
        let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        Ok((output.status.success() && !text.is_empty()).then_some(text))
    }

    fn ask(&self, tree: &WorkTree, args: &[&str]) -> Result<Vec<u8>, ProjectError> {
        tree.run(args, &[]).map(|output| output.stdout).map_err(|error| refused(&error, &self.root))
    }

    /// The name of the tree that a commit of everything here would have. Index and objects of the repository stay as
    /// they are: both are written to a folder of their own.
    fn git_tree(&self, tree: &WorkTree) -> Result<String, ProjectError> {
        let failed = |error: std::io::Error| ProjectError {
            said: format!("could not tell the state of `{}`: {error}", self.root.display()),
            hint: "a folder for temporary files is needed".into(),
        };
        let own = tempfile::tempdir().map_err(failed)?;
        let paths = self.ask(tree, &["rev-parse", "--git-path", "index", "--git-path", "objects"])?;
        let mut paths = paths.split(|byte| *byte == b'\n').map(|line| self.root.join(os_text(line)));
        let (index, objects) = (paths.next().unwrap_or_default(), paths.next().unwrap_or_default());
        let (own_index, own_objects) = (own.path().join("index"), own.path().join("objects"));
        if index.exists() {
            fs::copy(&index, &own_index).map_err(failed)?;
        }
        fs::create_dir(&own_objects).map_err(failed)?;
        let aside = tree.with([
            ("GIT_INDEX_FILE", own_index.into_os_string()),
            ("GIT_OBJECT_DIRECTORY", own_objects.into_os_string()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects.into_os_string()),
        ]);
        self.ask(&aside, &["add", "-A"])?;
        // Git complains when what it ignores is named, so it is taken out again where it does not.
        self.ask(&aside, &["rm", "-r", "-f", "-q", "--cached", "--ignore-unmatch", "--", FOLDER])?;
        let name = self.ask(&aside, &["write-tree"])?;
        Ok(String::from_utf8_lossy(&name).trim_end().to_owned())
    }
}

impl ProjectFacts for ProjectTree {
    fn project(&self) -> Result<Project, ProjectError> {
        let origin = match &self.tree {
            Some(tree) => tree.setting("remote.origin.url").map_err(|error| refused(&error, &self.root))?,
            None => None,
        };
        // Rewriting is this user's own; it is asked only for an address that names no host by itself.
        let expanded = match origin.as_deref().map(Remote::parse) {
            Some(None) => self.line(&["remote", "get-url", "origin"])?,
            _ => None,
        };
        let root = self.root.to_str().ok_or_else(|| ProjectError {
            said: format!("`{}` has no name in UTF-8", self.root.display()),
            hint: "give the folder another name".into(),
        })?;
        Ok(Project {
            root: root.to_owned(),
            origin,
            expanded,
            branch: self.line(&["symbolic-ref", "--quiet", "--short", "HEAD"])?,
            head: self.line(&["rev-parse", "--quiet", "--verify", "HEAD"])?,
        })
    }

    fn is_in_history(&self, commit: &str) -> Result<bool, ProjectError> {
        let Some(tree) = &self.tree else { return Ok(true) };
        let args = ["merge-base", "--is-ancestor", commit, "HEAD"];
        let output = tree.answer(&args, &[]).map_err(|error| refused(&error, &self.root))?;
        match output.status.code() {
            Some(0) => Ok(true),
            // 1 says no, 128 that it does not know the commit.
            Some(1 | 128) => Ok(false),
            _ => Err(refused(&super::git::failed(&args, first_line(&output)), &self.root)),
        }
    }

    fn commits_since(&self, commit: &str) -> Result<Listed, ProjectError> {
        let range = format!("{commit}..HEAD");
        let Some(count) = self.line(&["rev-list", "--count", &range])? else { return Ok((Vec::new(), 0)) };
        let most = format!("--max-count={SHOWN}");
        let lines = self.line(&["log", &most, "--format=%h %s", &range])?.unwrap_or_default();
        Ok((lines.lines().map(str::to_owned).collect(), count.parse().unwrap_or(0)))
    }

    fn changes(&self) -> Result<Listed, ProjectError> {
        let Some(tree) = &self.tree else { return Ok((Vec::new(), 0)) };
        let args = ["status", "--porcelain", "--no-renames", "-z", "--", ".", ":(exclude).loop"];
        let output = tree.run(&args, &[]).map_err(|error| refused(&error, &self.root))?;
        let mut lines = pieces(&output);
        let count = lines.len();
        lines.truncate(SHOWN);
        Ok((lines, count))
    }

    fn tree(&self) -> Result<Option<String>, ProjectError> {
        match &self.tree {
            Some(tree) => self.git_tree(tree).map(Some),
            None => Ok(folder_state(&self.root)),
        }
    }

    fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    fn exclude(&self) -> Result<(), ProjectError> {
        let Some(tree) = &self.tree else { return Ok(()) };
        let name = self.ask(tree, &["rev-parse", "--git-path", "info/exclude"])?;
        let file = self.root.join(os_text(name.strip_suffix(b"\n").unwrap_or(&name)));
        let line = format!("{FOLDER}/");
        let failed = |said: String| ProjectError {
            said: format!("`{}`: {said}", file.display()),
            hint: format!("write the line `{line}` into it, so that git leaves the run's files alone"),
        };
        let text = match text_files::read(&file).map_err(|error| failed(error.to_string()))? {
            FileText::Missing => String::new(),
            FileText::Text(text) => text,
            FileText::Unusable(why) => return Err(failed(why.to_owned())),
        };
        if text.lines().any(|known| known.trim_end() == line) {
            return Ok(());
        }
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        tree.write(&file, &format!("{text}{gap}{line}\n")).map_err(|error| failed(error.to_string()))
    }
}

/// Whether a repository lies here or above, whatever git says of it.
fn is_in_repository(at: &Path) -> bool {
    at.ancestors().any(|folder| folder.join(".git").symlink_metadata().is_ok())
}

fn refused(error: &GitError, at: &Path) -> ProjectError {
    let said = error.to_string();
    let hint = match said.contains("dubious ownership") {
        true => format!(
            "the repository belongs to another user; if that is right, run `git config --global --add safe.directory {}`",
            at.display()
        ),
        false => "the project is told by git: make `git status` work here first".to_owned(),
    };
    ProjectError { said, hint }
}

/// A digest of names and contents below a folder, `.loop` aside; none when there is too much of it, or something cannot
/// be read.
fn folder_state(root: &Path) -> Option<String> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).ok()? {
            let (entry, root_folder) = (entry.ok()?, folder == root);
            let kind = entry.file_type().ok()?;
            match kind.is_dir() {
                true if root_folder && entry.file_name() == FOLDER => {}
                true => folders.push(entry.path()),
                false => files.push((entry.path(), kind)),
            }
        }
        if files.len() + folders.len() > MOST.0 {
            return None;
        }
    }
    files.sort_by(|one, other| one.0.cmp(&other.0));
    let (mut state, mut total) = (Sha256::new(), 0);
    for (path, kind) in files {
        let name = path.strip_prefix(root).ok()?.as_os_str().as_encoded_bytes();
        let content = if kind.is_symlink() {
            fs::read_link(&path).ok()?.into_os_string().into_encoded_bytes()
        } else if kind.is_file() {
            let mut bytes = Vec::new();
            fs::File::open(&path).ok()?.take(MOST.1 + 1).read_to_end(&mut bytes).ok()?;
            bytes
        } else {
            Vec::new()
        };
        total += content.len() as u64;
        if total > MOST.1 {
            return None;
        }
        for part in [name, &content] {
            state.update((part.len() as u64).to_le_bytes());
            state.update(part);
        }
    }
    Some(hex(&state.finalize()))
}
