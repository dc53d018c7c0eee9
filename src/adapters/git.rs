//! git, run as a program: its own rules about ignoring, attributes and configuration are asked, not guessed.
//!
//! Every call has a deadline and an environment of its own: what a hook or an outer git set (`GIT_DIR`, `GIT_INDEX_FILE`)
//! would have it speak of another repository.

use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use super::git_program::{Call, Input, KEPT, OWN, first_line};
use super::{places, text_files};
use crate::domain::git::{FileText, GitError, Judged, Rule};
use crate::domain::ports::Git;

/// How long one call may take.
const LIMIT: Duration = Duration::from_secs(10);

/// A working tree that was found.
#[derive(Debug, Clone)]
pub struct WorkTree {
    top: PathBuf,
    environment: Vec<(OsString, OsString)>,
    limit: Duration,
}

impl WorkTree {
    /// The working tree that holds `at`; `environment` is the process's own.
    ///
    /// # Errors
    /// There is no git, no repository, or one without files.
    pub fn find(at: &Path, environment: &[(OsString, OsString)]) -> Result<Self, GitError> {
        let mut tree = Self { top: at.to_owned(), environment: clean(environment), limit: LIMIT };
        let found = tree.run(&["rev-parse", "--is-bare-repository", "--is-inside-work-tree"], &[]);
        let output = match found {
            Err(GitError::Failed { said, .. }) if said.contains("not a git repository") => {
                return Err(GitError::NoRepository(at.to_owned()));
            }
            found => found?,
        };
        if !String::from_utf8_lossy(&output.stdout).ends_with("true\n") {
            return Err(GitError::Bare(at.to_owned()));
        }
        let mut top = tree.run(&["rev-parse", "--show-toplevel"], &[])?.stdout;
        top.truncate(top.strip_suffix(b"\n").map_or(top.len(), <[u8]>::len));
        tree.top = PathBuf::from(os_text(&top));
        Ok(tree)
    }

    pub(super) fn run(&self, args: &[&str], input: &[u8]) -> Result<Output, GitError> {
        let output = self.answer(args, input)?;
        if output.status.success() { Ok(output) } else { Err(failed(args, first_line(&output))) }
    }

    /// The same working tree, asked with more variables set.
    pub(super) fn with(&self, variables: impl IntoIterator<Item = (&'static str, OsString)>) -> Self {
        let mut tree = self.clone();
        tree.environment.extend(variables.into_iter().map(|(name, value)| (name.into(), value)));
        tree
    }

    /// The same working tree, for calls that may take longer.
    pub(super) fn patient(&self, limit: Duration) -> Self {
        Self { limit, ..self.clone() }
    }

    /// Runs git once at the top.
    pub(super) fn answer(&self, args: &[&str], input: &[u8]) -> Result<Output, GitError> {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let (dir, environment, limit) = (self.top.as_path(), self.environment.as_slice(), self.limit);
        Call { dir, args: &args, environment, limit, input: Input::Bytes(input) }.answer()
    }

    fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }
}

/// The environment for git: the user's own, without what points it elsewhere, and with one language.
fn clean(environment: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let is_kept = |name: &OsStr| {
        let name = name.to_string_lossy();
        KEPT.contains(&&*name) || !name.starts_with("GIT_") && name != "LC_ALL" && name != "LANGUAGE"
    };
    let kept = environment.iter().filter(|(name, _)| is_kept(name)).cloned();
    kept.chain(OWN.map(|(name, value)| (name.into(), value.into()))).collect()
}

/// Git prints addresses with their user part when it fails.
pub(super) fn failed(args: &[&str], said: String) -> GitError {
    let said = crate::domain::secrets::redact(&said).into_owned();
    // The options of the program itself come before the command.
    let mut words = args.iter().skip_while(|word| word.starts_with('-') || word.contains('='));
    GitError::Failed { command: words.next().copied().unwrap_or_default().to_owned(), said }
}

pub(super) fn os_text(bytes: &[u8]) -> &OsStr {
    use std::os::unix::ffi::OsStrExt as _;
    OsStr::from_bytes(bytes)
}

/// The pieces of an answer that ends each with NUL.
pub(super) fn pieces(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_terminator('\0').map(str::to_owned).collect()
}

impl Git for WorkTree {
    fn top(&self) -> &Path {
        &self.top
    }

    fn judge(&self, paths: &[String]) -> Result<Vec<Judged>, GitError> {
        let args = ["check-ignore", "--no-index", "--verbose", "--non-matching", "-z", "--stdin"];
        let output = self.answer(&args, paths.join("\0").as_bytes())?;
        // 1 says that none is ignored.
        if !matches!(output.status.code(), Some(0 | 1)) {
            return Err(failed(&args, first_line(&output)));
        }
        let judged: Vec<Judged> = pieces(&output)
            .chunks_exact(4)
            .map(|answer| {
                let line = answer[1].parse().ok();
                let rule = line.map(|line| Rule { source: answer[0].clone(), line, pattern: answer[2].clone() });
                Judged { path: answer[3].clone(), rule }
            })
            .collect();
        if judged.len() == paths.len() { Ok(judged) } else { Err(failed(&args, "an answer of another shape".into())) }
    }

    fn tracked(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        // A path means itself, whatever characters are in it.
        let paths: Vec<String> = paths.iter().map(|path| format!(":(literal){path}")).collect();
        let mut args = vec!["ls-files", "-z", "--"];
        args.extend(paths.iter().map(String::as_str));
        self.run(&args, &[]).map(|output| pieces(&output))
    }

    fn attributes(&self, path: &str, names: &[&str]) -> Result<Vec<String>, GitError> {
        let mut args = vec!["check-attr", "-z"];
        args.extend(names);
        args.extend(["--", path]);
        let output = self.run(&args, &[])?;
        Ok(pieces(&output).chunks_exact(3).map(|answer| answer[2].clone()).collect())
    }

    fn setting(&self, key: &str) -> Result<Option<String>, GitError> {
        let args = ["config", "-z", "--get", key];
        let output = self.answer(&args, &[])?;
        match output.status.code() {
            Some(0) => Ok(pieces(&output).pop()),
            Some(1) => Ok(None),
            _ => Err(failed(&args, first_line(&output))),
        }
    }

    fn set(&self, key: &str, value: &str) -> Result<(), GitError> {
        self.run(&["config", "--local", "--replace-all", key, value], &[]).map(drop)
    }

    fn finds(&self, program: &str) -> bool {
        places::program(program, self.variable("PATH"), &self.top).is_some()
    }

    fn read(&self, path: &Path) -> Result<FileText, GitError> {
        text_files::read(path).map_err(|error| GitError::File { path: path.to_owned(), said: error.to_string() })
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), GitError> {
        let failed = |error: io::Error| GitError::File { path: path.to_owned(), said: error.to_string() };
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        }
        text_files::replace(path, text.as_bytes()).map_err(failed)
    }
}
