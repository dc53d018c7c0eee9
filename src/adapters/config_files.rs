//! Finding and reading the configuration file, its home, and the webhook's secret (operations rules, section 1).
//!
//! The environment is passed in as a value, so that the search is the same in a test and in the program.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::workspaces;
use crate::domain::config::{self, Config, Home, Problem, Reading};

/// Name of the variable that names the file; sessions get it, so that a file in a checkout never chooses.
pub const CONFIG_VARIABLE: &str = "THE_LOOP_CLI_CONFIG";
/// Directory and name of the file below a repository or a home.
pub const CONFIG_FILE: &str = ".the-loop/cli-config.yaml";
/// Largest file read, bytes.
const MAX_BYTES: u64 = 1 << 20;

/// What the search depends on.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Absolute working directory.
    pub cwd: PathBuf,
    /// The user's home.
    pub user_home: Option<PathBuf>,
    /// Value of [`CONFIG_VARIABLE`]; an empty one counts as not set.
    pub config_variable: Option<OsString>,
}

/// Who chose the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// `--config`.
    Option,
    /// [`CONFIG_VARIABLE`].
    Variable,
    /// It is the nearest one above the working directory, inside the repository.
    Repository,
    /// It is the user's own.
    User,
}

impl Chosen {
    fn by(self) -> &'static str {
        match self {
            Self::Option => "`--config`",
            Self::Variable => "`$THE_LOOP_CLI_CONFIG`",
            Self::Repository | Self::User => "the search",
        }
    }
}

/// A configuration that was found and read, or the defaults.
#[derive(Debug, Clone)]
pub struct Found {
    /// The file, absolute, and who chose it; `None` when the defaults hold.
    pub file: Option<(PathBuf, Chosen)>,
    /// What relative paths are relative to.
    pub home: Home,
    /// What the file says.
    pub reading: Reading,
}

/// Why there is no configuration. Each names the file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigFileError {
    /// A file was named and is not there.
    #[error("`{path}`, named by {by}, does not exist")]
    Missing {
        /// The file.
        path: PathBuf,
        /// What named it.
        by: &'static str,
    },
    /// It could not be read.
    #[error("could not read `{path}`: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It is not a text that could be a configuration.
    #[error("`{path}` {what}")]
    NotText {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// It was read and something in it is wrong.
    #[error("`{path}` has {}", count(problems.len()))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong.
        problems: Vec<Problem>,
    },
}

impl ConfigFileError {
    /// The whole in one text, every problem a line.
    pub fn with_problems(&self) -> String {
        let problems = match self {
            Self::Invalid { problems, .. } => problems.as_slice(),
            _ => &[],
        };
        let lines: String = problems.iter().map(|problem| format!("\n  {problem}")).collect();
        format!("{self}{lines}")
    }
}

fn count(problems: usize) -> String {
    if problems == 1 { "1 problem".into() } else { format!("{problems} problems") }
}

/// Finds the file. `named` is the value of `--config`. A named file need not exist here; reading it says so.
pub fn locate(named: Option<&Path>, around: &Surroundings) -> Result<Option<(PathBuf, Chosen)>, ConfigFileError> {
    if let Some(named) = named {
        return Ok(Some((around.cwd.join(named), Chosen::Option)));
    }
    if let Some(named) = around.config_variable.as_ref().filter(|value| !value.is_empty()) {
        return Ok(Some((around.cwd.join(named), Chosen::Variable)));
    }
    let from = outside_of_items(&around.cwd)?;
    let root = repository_root(from)?;
    // Above an item's directory lies the state root of whoever made it, in a repository or not.
    let unbounded = if from == around.cwd { from } else { Path::new("/") };
    let top = root.as_deref().unwrap_or(unbounded);
    for dir in from.ancestors().take_while(|dir| dir.starts_with(top)) {
        let file = dir.join(CONFIG_FILE);
        if exists(&file)? {
            return Ok(Some((file, Chosen::Repository)));
        }
    }
    let Some(user) = &around.user_home else { return Ok(None) };
    let file = user.join(CONFIG_FILE);
    Ok(exists(&file)?.then_some((file, Chosen::User)))
}

/// Finds and reads the configuration.
pub fn load(named: Option<&Path>, around: &Surroundings) -> Result<Found, ConfigFileError> {
    let Some((path, chosen)) = locate(named, around)? else {
        let from = outside_of_items(&around.cwd)?;
        let dir = repository_root(from)?.unwrap_or_else(|| from.to_owned());
        let reading = config::read("").map_err(|problems| ConfigFileError::Invalid { path: dir.clone(), problems })?;
        return Ok(Found { file: None, home: Home { dir, user: around.user_home.clone() }, reading });
    };
    let reading = read_file(&path, chosen.by())?;
    let mut home = Home::of_file(&path, around.user_home.clone());
    // One directory has one name here, however it was reached: the store's lock and the event log depend on it.
    home.dir = fs::canonicalize(&home.dir).map_err(|error| ConfigFileError::Io { path: home.dir.clone(), error })?;
    Ok(Found { file: Some((path, chosen)), home, reading })
}

/// What tells one version of a file from the next without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMark {
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

/// The mark of the file as it lies there; `None` when it does not, or is out of reach.
pub fn mark(path: &Path) -> Option<FileMark> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::metadata(path).ok()?;
    Some(FileMark { inode: found.ino(), size: found.size(), modified: (found.mtime(), found.mtime_nsec()) })
}

/// Reads the file of a running daemon again. An empty one is half saved: the defaults are nobody's change.
pub fn reread(path: &Path) -> Result<Reading, ConfigFileError> {
    let reading = read_file(path, "the daemon's start")?;
    match fs::read_to_string(path) {
        Ok(text) if text.trim().is_empty() => {
            Err(ConfigFileError::NotText { path: path.to_owned(), what: "is empty".into() })
        }
        _ => Ok(reading),
    }
}

/// Finds the configuration and reads its text alone, whatever it means.
pub fn text(named: Option<&Path>, around: &Surroundings) -> Result<Option<(PathBuf, String)>, ConfigFileError> {
    let Some((path, chosen)) = locate(named, around)? else { return Ok(None) };
    let text = read_text(&path, chosen.by())?;
    Ok(Some((path, text)))
}

/// What can be read of a file whose rest is wrong; `None` when that is nothing.
pub fn readable_part(path: &Path) -> Option<Config> {
    config::readable_part(&read_text(path, "the search").ok()?)
}

/// Reads one file as a configuration.
fn read_file(path: &Path, by: &'static str) -> Result<Reading, ConfigFileError> {
    let text = read_text(path, by)?;
    config::read(&text).map_err(|problems| ConfigFileError::Invalid { path: path.to_owned(), problems })
}

/// Reads one file as a text that could be a configuration.
fn read_text(path: &Path, by: &'static str) -> Result<String, ConfigFileError> {
    let io = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => ConfigFileError::Missing { path: path.to_owned(), by },
        _ => ConfigFileError::Io { path: path.to_owned(), error },
    };
    let not_text = |what: String| ConfigFileError::NotText { path: path.to_owned(), what };
    if fs::metadata(path).map_err(io)?.is_dir() {
        return Err(not_text("is a directory".into()));
    }
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(io)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(not_text(format!("is larger than {MAX_BYTES} bytes, which no configuration is")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        not_text(format!("is not UTF-8 text: line {line} holds bytes that are none"))
    })
}

/// Where the search begins: what lies in the directory of a work item is the agent's, and chooses nothing for a person
/// who stands in it either.
fn outside_of_items(cwd: &Path) -> Result<&Path, ConfigFileError> {
    let mut from = cwd;
    while let Some(root) = repository_root(from)?.filter(|root| workspaces::item_of(root).is_some()) {
        let Some(above) = from.ancestors().find(|dir| *dir == root).and_then(Path::parent) else { break };
        from = above;
    }
    Ok(from)
}

/// The nearest directory upwards that holds `.git`, a directory or (in a worktree) a file.
pub fn repository_root(from: &Path) -> Result<Option<PathBuf>, ConfigFileError> {
    for dir in from.ancestors() {
        if exists(&dir.join(".git"))? {
            return Ok(Some(dir.to_owned()));
        }
    }
    Ok(None)
}

/// Whether something is there. What cannot be looked at is an error: to pass it over would choose another file.
fn exists(path: &Path) -> Result<bool, ConfigFileError> {
    path.try_exists().map_err(|error| ConfigFileError::Io { path: path.to_owned(), error })
}

/// The webhook's secret. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The bytes that sign.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Reads the secret: the variable when it is set and not empty, else the file, less one final line end. `None` when
/// neither holds one.
pub fn webhook_secret(
    config: &Config,
    home: &Home,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<Secret>, ConfigFileError> {
    let hook = &config.webhooks.gh_webhook;
    let value = (!hook.secret_env.is_empty()).then(|| variable(&hook.secret_env)).flatten();
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        return Ok(Some(Secret(value.into_encoded_bytes())));
    }
    if hook.secret_file.is_empty() {
        return Ok(None);
    }
    let path = home.resolve(&hook.secret_file);
    let mut bytes = fs::read(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => ConfigFileError::Missing { path: path.clone(), by: "`webhooks.ghWebhook.secretFile`" },
        _ => ConfigFileError::Io { path: path.clone(), error },
    })?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
    Ok((!bytes.is_empty()).then_some(Secret(bytes)))
}

#[cfg(test)]
mod tests;
