//! Whether a server lives although its socket does not answer.
//!
//! A cleaner of temporary files removes the socket; clients then say there is no server while every agent runs. A
//! second server started beside it would give every item a second agent.

use super::Tmux;
use crate::adapters::processes;

/// The short name of a tmux server's process.
const SERVER: &str = "tmux: server";
/// How far the recorded start and the one computed from the boot time may be apart, seconds: clocks are corrected.
const START_TOLERANCE: i64 = 10;

/// A tmux server that was seen or recorded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownServer {
    /// Socket name; empty for the user's own.
    pub socket: String,
    /// Process id.
    pub pid: u32,
    /// `#{start_time}`, seconds since the epoch.
    pub started: i64,
}

impl KnownServer {
    fn lives(&self) -> bool {
        processes::short_name(self.pid).as_deref() == Some(SERVER)
            && processes::started_at(self.pid).is_some_and(|at| (at - self.started).abs() <= START_TOLERANCE)
    }
}

impl Tmux {
    /// What lives behind the socket `socket` at `path`, where clients found nobody; and what helps, for people.
    pub(super) fn living_server(&self, socket: &str, path: &str) -> Option<String> {
        let known = self.known_servers();
        let known = known.iter().find(|server| server.socket == socket && server.lives()).map(|server| server.pid);
        if let Some(pid) = known.or_else(|| self.named_server(socket)) {
            let helps = format!("`kill -USR1 {pid}` makes it open its socket again");
            return Some(format!("its server (process {pid}) lives; {helps}"));
        }
        processes::listens(path).then(|| "a process still listens on it".to_owned())
    }

    /// A server nobody told us about, by the words it was started with.
    fn named_server(&self, socket: &str) -> Option<u32> {
        let lines = processes::own_command_lines()?;
        let found = lines.iter().find(|(pid, words)| {
            names_socket(words, socket)
                && processes::short_name(*pid).as_deref() == Some(SERVER)
                && processes::started_with(*pid, "TMUX_TMPDIR") == self.tmux_tmpdir()
        });
        found.map(|(pid, _)| *pid)
    }

    fn tmux_tmpdir(&self) -> Option<String> {
        let found = self.environment.iter().find(|(name, _)| name == "TMUX_TMPDIR");
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    }
}

/// Whether a command line is that of a client of `socket`. The server keeps the words of the client that started it.
fn names_socket(words: &[String], socket: &str) -> bool {
    !socket.is_empty() && words.windows(2).any(|pair| pair[0] == "-L" && pair[1] == socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_the_socket_it_was_started_with() {
        let words: Vec<String> = ["tmux", "-u", "-L", "loop-1", "new-session"].map(str::to_owned).into();
        assert!(names_socket(&words, "loop-1"));
        for other in ["loop", "loop-10", ""] {
            assert!(!names_socket(&words, other), "{other}");
        }
    }

    #[test]
    fn a_process_that_is_no_tmux_server_is_none() {
        let me = std::process::id();
        let started = processes::started_at(me).unwrap();
        assert!(!KnownServer { socket: String::new(), pid: me, started }.lives());
    }
}
