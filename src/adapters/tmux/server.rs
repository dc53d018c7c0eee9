//! One invocation of tmux: which server, which environment, how long; and what its answer means.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::{Tmux, TmuxSetupError};
use crate::adapters::processes;
use crate::domain::ports::RunnerError;

/// Read by tmux only when it starts our own server. Nothing in it is needed for a delivery to be right.
const OPTIONS: &str = "\
# Options of the tmux server that the-loop starts; written anew by every start of the daemon.
# A harness that ended keeps its pane, so that its last screen can be read and it can be started again in place.
set -g remain-on-exit on
# What an agent printed overnight should still be there to be read.
set -g history-limit 50000
# A server that ends with its last session would be ending just when the next one is started.
set -g exit-empty off
";

/// What is done with a client that has not answered in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhenLate {
    /// It was only asking: end it.
    Kill,
    /// It carries something that may still be done: leave it to the server.
    Leave,
}

/// Why an invocation did not do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// There is surely no server; nothing was done.
    NoServer(String),
    /// No connection was made; nothing was done, and the server may well live.
    NotAsked(String),
    /// It was asked and did not answer: nobody can know what was done.
    NoAnswer(String),
    /// tmux refused the command; the text is its own.
    Refused(String),
}

impl Trouble {
    /// For callers to whom a missing server is as good as one that does not answer.
    pub(super) fn unreachable(self) -> RunnerError {
        let (Self::NoServer(text) | Self::NotAsked(text) | Self::NoAnswer(text) | Self::Refused(text)) = self;
        RunnerError::Unreachable(text)
    }
}

/// One call of tmux.
pub(super) struct Call<'a> {
    /// Socket name; empty for the user's own server.
    pub socket: &'a str,
    /// Commands and their arguments, `;` between commands.
    pub args: Vec<String>,
    /// What the client reads.
    pub stdin: Stdio,
    /// How long to wait.
    pub limit: Duration,
    /// What then.
    pub late: WhenLate,
    /// Whether a server may be started.
    pub may_start: bool,
}

impl Tmux {
    /// Asks something that changes nothing.
    pub(super) fn ask(&self, socket: &str, args: Vec<String>) -> Result<String, Trouble> {
        let limit = self.time_limit;
        self.call(Call { socket, args, stdin: Stdio::null(), limit, late: WhenLate::Kill, may_start: false })
    }

    /// Does something that a late answer leaves open.
    pub(super) fn command(&self, socket: &str, args: Vec<String>, may_start: bool) -> Result<String, Trouble> {
        let limit = self.time_limit;
        self.call(Call { socket, args, stdin: Stdio::null(), limit, late: WhenLate::Leave, may_start })
    }

    /// Runs tmux once and gives its standard output.
    pub(super) fn call(&self, call: Call<'_>) -> Result<String, Trouble> {
        if !call.socket.is_empty() && !is_socket_name(call.socket) {
            return Err(Trouble::NotAsked(format!("`{}` is not a tmux socket name", call.socket)));
        }
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        // A UTF-8 client, whatever the locale: other clients get `_` for what is not ASCII.
        command.arg("-u");
        if !call.may_start {
            command.arg("-N");
        }
        if !call.socket.is_empty() {
            command.args(["-L", call.socket, "-f"]).arg(&self.options_file);
        }
        command.args(&call.args).stdin(call.stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command
            .spawn()
            .map_err(|error| Trouble::NotAsked(format!("cannot run {}: {error}", self.program.display())))?;
        let pid = child.id();
        let output = wait(child, call.limit).map_err(|error| match error {
            Waiting::Late => {
                if call.late == WhenLate::Kill {
                    processes::kill(pid);
                }
                Trouble::NoAnswer(format!("tmux did not answer within {} ms", call.limit.as_millis()))
            }
            Waiting::Failed(error) => Trouble::NoAnswer(format!("tmux could not be waited for: {error}")),
        })?;
        self.understand(call.socket, &output)
    }

    fn understand(&self, socket: &str, output: &Output) -> Result<String, Trouble> {
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        match classify(&error, output.status.code()) {
            Meaning::NoServer(path) => match self.living_server(socket, &path) {
                Some(found) => Err(Trouble::NotAsked(format!("tmux is unreachable: {error}, while {found}"))),
                None => Err(Trouble::NoServer(format!("tmux is down: {error}"))),
            },
            Meaning::NotAsked => Err(Trouble::NotAsked(format!("tmux is unreachable: {error}"))),
            Meaning::NoAnswer => Err(Trouble::NoAnswer(match error.is_empty() {
                true => format!("tmux ended without an answer ({})", output.status),
                false => format!("tmux gave no answer: {error}"),
            })),
            Meaning::Refused => Err(Trouble::Refused(error)),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    /// Nobody listens on the socket of this path.
    NoServer(String),
    NotAsked,
    NoAnswer,
    Refused,
}

/// What a failed client's standard error says. The client prints exactly one of these when it has no server.
fn classify(error: &str, code: Option<i32>) -> Meaning {
    let last = error.lines().last().unwrap_or("");
    if let Some(path) = last.strip_prefix("no server running on ") {
        return Meaning::NoServer(path.to_owned());
    }
    if let Some(rest) = last.strip_prefix("error connecting to ") {
        return match rest.rsplit_once(" (") {
            Some((path, "No such file or directory)" | "Connection refused)")) => Meaning::NoServer(path.to_owned()),
            _ => Meaning::NotAsked,
        };
    }
    let lost = ["server exited", "lost server", "lost tty", "[lost", "[server exited"];
    if code.is_none() || error.is_empty() || lost.iter().any(|text| last.contains(text)) {
        return Meaning::NoAnswer;
    }
    if ["couldn't create directory", "directory ", "couldn't read "].iter().any(|text| last.starts_with(text)) {
        return Meaning::NotAsked;
    }
    Meaning::Refused
}

enum Waiting {
    Late,
    Failed(io::Error),
}

/// Waits on a thread of its own, which also empties the pipes and reaps a client that answers after the limit.
fn wait(child: Child, limit: Duration) -> Result<Output, Waiting> {
    let (answer, answered) = mpsc::channel();
    std::thread::Builder::new()
        .name("tmux-client".into())
        .spawn(move || {
            // Nobody listens any more when the limit has passed.
            let _ = answer.send(child.wait_with_output());
        })
        .map_err(Waiting::Failed)?;
    match answered.recv_timeout(limit) {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(Waiting::Failed(error)),
        Err(_) => Err(Waiting::Late),
    }
}

/// Whether the text can stand after `-L`: tmux makes a file name of it.
pub(super) fn is_socket_name(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// Writes our options file and gives its path.
pub(super) fn write_options(dir: &Path) -> Result<PathBuf, TmuxSetupError> {
    let path = dir.join("tmux.conf");
    let failed = |path: &Path, source| TmuxSetupError::Options { path: path.to_owned(), source };
    fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
    fs::write(&path, OPTIONS).map_err(|error| failed(&path, error))?;
    path.canonicalize().map_err(|error| failed(&path, error))
}

/// One argument as tmux takes it literally: a `;` at its end would separate commands.
pub(super) fn literal(text: &str) -> String {
    match text.strip_suffix(';') {
        Some(rest) => format!("{rest}\\;"),
        None => text.to_owned(),
    }
}

/// A vector of owned arguments.
pub(super) fn args(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t18_no_server_is_told_from_every_other_failure() {
        let path = "/tmp/tmux-0/x".to_owned();
        assert_eq!(classify("no server running on /tmp/tmux-0/x", Some(1)), Meaning::NoServer(path.clone()));
        assert_eq!(
            classify("error connecting to /tmp/tmux-0/x (No such file or directory)", Some(1)),
            Meaning::NoServer(path)
        );
        assert_eq!(classify("error connecting to /tmp/tmux-0/x (Permission denied)", Some(1)), Meaning::NotAsked);
        assert_eq!(classify("server exited unexpectedly", Some(1)), Meaning::NoAnswer);
        assert_eq!(classify("lost server", Some(1)), Meaning::NoAnswer);
        assert_eq!(classify("", None), Meaning::NoAnswer);
        assert_eq!(classify("duplicate session: x", Some(1)), Meaning::Refused);
        assert_eq!(classify("can't find session: x", Some(1)), Meaning::Refused);
    }

    #[test]
    fn t01_a_semicolon_at_the_end_of_an_argument_is_kept() {
        for (text, taken) in [("a;", "a\\;"), (";", "\\;"), ("a\\;", "a\\\\;"), ("a;b", "a;b"), ("a; ", "a; ")] {
            assert_eq!(literal(text), taken);
        }
    }

    #[test]
    fn socket_names_are_names() {
        assert!(is_socket_name("the-loop"));
        for bad in ["", "-x", "a/b", "..", "a b", "a;", &"a".repeat(65)] {
            assert!(!is_socket_name(bad), "{bad}");
        }
    }
}
