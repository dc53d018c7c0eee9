//! One call of git: with a deadline, in a process group of its own, so that nothing it started outlives the deadline.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::processes;
use crate::domain::git::GitError;

/// Of git's own variables, those that say how the user runs git and not on what.
pub(super) const KEPT: &[&str] = &[
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
];

/// What every call gets: one language, no lock that only saves time, and no question at a terminal.
pub(super) const OWN: [(&str, &str); 3] = [("LC_ALL", "C"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0")];

/// What git is called with.
pub(super) struct Call<'c> {
    /// Where.
    pub dir: &'c Path,
    /// Arguments.
    pub args: &'c [&'c OsStr],
    /// The whole environment.
    pub environment: &'c [(OsString, OsString)],
    /// How long it may take.
    pub limit: Duration,
    /// What it reads.
    pub input: Input<'c>,
}

/// The standard input of a call.
pub(super) enum Input<'c> {
    /// Nothing.
    None,
    /// This.
    Bytes(&'c [u8]),
    /// A file that is locked: git holds the lock with us, and goes on holding it should we be killed.
    Lock(&'c File),
}

impl Call<'_> {
    /// Runs it, whatever it says.
    ///
    /// # Errors
    /// There is no git, or it did not end in time and was killed.
    pub fn answer(&self) -> Result<Output, GitError> {
        let mut command = Command::new("git");
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.args(self.args).current_dir(self.dir).process_group(0);
        let (stdin, input) = match self.input {
            Input::None => (Stdio::null(), Vec::new()),
            Input::Bytes(bytes) => (Stdio::piped(), bytes.to_owned()),
            Input::Lock(file) => (file.try_clone().map_err(|error| self.failed(error.to_string()))?.into(), Vec::new()),
        };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| GitError::NoProgram(error.to_string()))?;
        let (pid, stdin) = (child.id(), child.stdin.take());
        let (answer, answered) = mpsc::channel();
        let waits = std::thread::Builder::new().name("git".into()).spawn(move || {
            // What it does not read it does not need; it reads all before it answers at length.
            let written = stdin.map_or(Ok(()), |mut stdin| stdin.write_all(&input));
            drop(written);
            // Nobody listens any more when the limit has passed.
            let _ = answer.send(child.wait_with_output());
        });
        waits.map_err(|error| self.failed(error.to_string()))?;
        match answered.recv_timeout(self.limit) {
            Ok(output) => output.map_err(|error: io::Error| self.failed(error.to_string())),
            Err(_) => {
                processes::kill_group(pid);
                Err(self.failed(format!("no answer within {} s", self.limit.as_secs())))
            }
        }
    }

    /// This call as one that went wrong.
    pub fn failed(&self, said: String) -> GitError {
        // The options of the program itself come before the command.
        let command = self.args.iter().map(|arg| arg.to_string_lossy());
        let mut words = command.skip_while(|word| word.starts_with('-') || word.contains('='));
        GitError::Failed { command: words.next().unwrap_or_default().into_owned(), said }
    }
}

/// The first line of what git said on standard error.
pub(super) fn first_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().next().unwrap_or_default().trim_start_matches("fatal: ");
    if line.is_empty() { format!("it ended with {}", output.status) } else { line.to_owned() }
}
