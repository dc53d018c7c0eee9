//! git for workspaces: with the environment that sessions have, without hooks, and telling no credential.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use super::lock::Lock;
use crate::adapters::environment::for_sessions;
use crate::adapters::git_program::{Call, Input, KEPT, OWN, first_line};
use crate::domain::git::GitError;
use crate::domain::workspace::{WorkspaceError, scrub};

/// How long a look may take.
pub(super) const LOOK: Duration = Duration::from_secs(20);
/// How long files of a working tree may take to be written or removed.
pub(super) const CHECKOUT: Duration = Duration::from_secs(600);
/// How long a clone may take.
pub(super) const CLONE: Duration = Duration::from_secs(1500);

/// Beside what sessions see: how servers are reached and trusted. None of them holds a token.
const NETWORK: &[&str] = &[
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
];

/// Hooks and monitors of a repository that agents write in would run as the daemon.
const QUIET: [&str; 4] = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];

/// How git is run.
#[derive(Debug)]
pub(super) struct Git {
    environment: Vec<(OsString, OsString)>,
}

impl Git {
    /// git with the part of `environment` that sessions see; `pass` names more of it.
    pub fn new(environment: &[(OsString, OsString)], pass: &[String]) -> Self {
        let more = KEPT.iter().chain(NETWORK).map(|name| (*name).to_owned());
        let pass: Vec<String> = pass.iter().cloned().chain(more).collect();
        let mut environment = for_sessions(environment, &pass);
        environment.retain(|(name, _)| name != "LC_ALL" && name != "LANGUAGE");
        environment.extend(OWN.map(|(name, value)| (name.into(), value.into())));
        Self { environment }
    }

    /// Runs git in `dir`, whatever it says. It holds `lock` with us.
    pub fn answer(
        &self,
        dir: &Path,
        args: &[&OsStr],
        lock: Option<&Lock>,
        limit: Duration,
    ) -> Result<Output, WorkspaceError> {
        let mut all: Vec<&OsStr> = QUIET.iter().map(OsStr::new).collect();
        all.extend(args);
        let input = lock.map_or(Input::None, |lock| Input::Lock(lock.file()));
        let call = Call { dir, args: &all, environment: &self.environment, limit, input };
        call.answer().map_err(|error| told(&error))
    }

    /// What git says when it succeeds.
    pub fn text(&self, dir: &Path, args: &[&str]) -> Result<String, WorkspaceError> {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let output = self.answer(dir, &args, None, LOOK)?;
        must(&args, &output)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// What git says, unless it says no.
    pub fn if_any(&self, dir: &Path, args: &[&str]) -> Result<Option<String>, WorkspaceError> {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let output = self.answer(dir, &args, None, LOOK)?;
        Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    /// Runs what changes something, under a lock.
    pub fn change(&self, dir: &Path, args: &[&OsStr], lock: &Lock, limit: Duration) -> Result<(), WorkspaceError> {
        must(args, &self.answer(dir, args, Some(lock), limit)?)
    }

    /// The value of a variable that git sees.
    pub fn sees(&self, name: &str) -> bool {
        self.environment.iter().any(|(known, _)| known == name)
    }
}

/// A failure of git's for people.
pub(super) fn told(error: &GitError) -> WorkspaceError {
    WorkspaceError::Failed(scrub(&error.to_string()))
}

/// What git said went wrong: the first line that says so, else the first.
pub(super) fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let fatal = text.lines().find_map(|line| line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")));
    scrub(&fatal.map_or_else(|| first_line(output), str::to_owned))
}

fn must(args: &[&OsStr], output: &Output) -> Result<(), WorkspaceError> {
    if output.status.success() {
        return Ok(());
    }
    let mut words = args.iter().map(|arg| arg.to_string_lossy()).skip_while(|word| word.starts_with('-'));
    let command = words.next().unwrap_or_default().into_owned();
    Err(WorkspaceError::Failed(format!("`git {command}`: {}", complaint(output))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k33_git_sees_no_secret_and_no_other_repository() {
        let names =
            ["PATH", "GITHUB_TOKEN", "THE_LOOP_GH_WEBHOOK_SECRET", "GIT_DIR", "GIT_SSH_COMMAND", "LC_ALL", "MINE"];
        let environment: Vec<_> = names.iter().map(|name| (OsString::from(name), OsString::from("v"))).collect();
        let git = Git::new(&environment, &["MINE".to_owned()]);
        let seen: Vec<_> = git.environment.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(seen, ["PATH", "GIT_SSH_COMMAND", "MINE", "LC_ALL", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT"]);
    }
}
