//! All panes with their marks, in one call per server; and what a screen shows.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::Tmux;
use super::server::{Trouble, args};
use crate::adapters::processes;
use crate::domain::harness::shell::Foreground;
use crate::domain::ports::{Pane, RunnerError};
use crate::domain::session::Life;

/// The facts of a life, one field per tab; the session's name comes last because it alone is free text.
pub(super) const LIFE: &str = "#{pid}\t#{start_time}\t#{pane_id}\t#{pane_pid}\t#{session_name}";
const MARKS: &str =
    "#{@the-loop-key}\t#{@the-loop-store}\t#{@the-loop-ref}\t#{@the-loop-shell}\t#{pane_dead}\t#{pane_dead_status}\t";
/// Set on a pane in which a shell was asked for.
pub(super) const SHELL_MARK: &str = "@the-loop-shell";
/// How often a screen is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long a screen must show nothing new.
const QUIET: Duration = Duration::from_millis(500);
/// How much of a last screen is told.
const TOLD_BYTES: usize = 4000;

/// What a server answered to the question for its panes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Listing {
    /// There is surely no server.
    NoServer,
    /// Every pane of the server, marked or not.
    Panes(Vec<Pane>),
}

impl Tmux {
    /// All panes that carry a key, on our socket and on those of recorded lives.
    pub(super) fn marked_panes(&self) -> Result<Vec<Pane>, RunnerError> {
        let mut sockets: BTreeSet<String> = self.known_servers().into_iter().map(|server| server.socket).collect();
        sockets.insert(self.socket.clone());
        let mut marked = Vec::new();
        for socket in sockets {
            if let Listing::Panes(panes) = self.list(&socket)? {
                marked.extend(panes.into_iter().filter(|pane| !pane.key.is_empty()));
            }
        }
        Ok(marked)
    }

    /// Every pane of one server.
    pub(super) fn list(&self, socket: &str) -> Result<Listing, RunnerError> {
        let format = format!("{MARKS}{LIFE}");
        match self.ask(socket, args(&["list-panes", "-a", "-F", &format])) {
            Ok(text) => {
                let panes = parse_panes(&text, socket);
                if let Some(pane) = panes.first() {
                    self.remember_server(&pane.life);
                }
                // tmux 3.3a now and then misses the end of a program; told again, it has the status next time.
                if let Some(pane) = panes.iter().find(|pane| !pane.key.is_empty() && pane.dead == Some(None)) {
                    processes::announce_child_end(pane.life.server_pid);
                }
                Ok(Listing::Panes(panes))
            }
            Err(Trouble::NoServer(_)) => Ok(Listing::NoServer),
            // What a server without any session says to this question.
            Err(Trouble::Refused(error)) if error == "no current target" => Ok(Listing::Panes(Vec::new())),
            Err(trouble) => Err(trouble.unreachable()),
        }
    }

    /// Waits until the screen has shown nothing new for half a second.
    pub(super) fn wait_for_quiet(&self, life: &Life, limit: Duration) {
        let end = Instant::now() + limit;
        let (mut seen, mut since) = (None, Instant::now());
        while Instant::now() < end {
            let Ok(now) = self.ask(&life.socket, snapshot(&life.pane)) else { return };
            if seen.as_ref() != Some(&now) {
                seen = Some(now);
                since = Instant::now();
            } else if since.elapsed() >= QUIET {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// The last lines a pane showed, for people.
    pub(super) fn last_screen_of(&self, life: &Life) -> String {
        let asked = args(&["capture-pane", "-p", "-J", "-S", "-200", "-t", &life.pane]);
        let text = self.ask(&life.socket, asked).unwrap_or_default();
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let text = lines.join("\n");
        let from = (text.len().saturating_sub(TOLD_BYTES)..).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text[from..].to_owned()
    }
}

fn snapshot(pane: &str) -> Vec<String> {
    let place = "#{pane_pid} #{history_size} #{cursor_x} #{cursor_y}";
    args(&["capture-pane", "-p", "-e", "-t", pane, ";", "display-message", "-p", "-t", pane, place])
}

/// One pane per line. A line that does not parse belongs to nobody and is left out; a window that several sessions
/// show is listed once.
fn parse_panes(text: &str, socket: &str) -> Vec<Pane> {
    let mut seen = BTreeSet::new();
    text.lines()
        .filter_map(|line| parse_pane(line, socket))
        .filter(|pane| seen.insert(pane.life.pane.clone()))
        .collect()
}

fn parse_pane(line: &str, socket: &str) -> Option<Pane> {
    let fields: Vec<&str> = line.splitn(7, '\t').collect();
    let [key, store, reference, shell, dead, status, life] = fields[..] else { return None };
    let life = parse_life(life, socket)?;
    let asked = !key.is_empty() && dead != "1" && shell != "1";
    Some(Pane {
        key: key.to_owned(),
        store: store.to_owned(),
        reference: reference.to_owned(),
        only_shell: asked && processes::foreground(life.pane_pid) == Foreground::Shell,
        life,
        dead: (dead == "1").then(|| status.parse().ok()),
    })
}

/// A life from a line of [`LIFE`].
pub(super) fn parse_life(line: &str, socket: &str) -> Option<Life> {
    let fields: Vec<&str> = line.trim_end_matches('\n').splitn(5, '\t').collect();
    let [server_pid, server_started, pane, pane_pid, session] = fields[..] else { return None };
    Some(Life {
        socket: socket.to_owned(),
        server_pid: server_pid.parse().ok()?,
        server_started: server_started.parse().ok()?,
        session: session.to_owned(),
        pane: is_pane_id(pane).then(|| pane.to_owned())?,
        pane_pid: pane_pid.parse().ok()?,
    })
}

/// `%` and digits: the only address, and the only one that is put into a command.
pub(super) fn is_pane_id(text: &str) -> bool {
    text.strip_prefix('%').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_gives_each_pane_once_with_marks_life_and_exit_status() {
        let text = "k1\ts1\tgithub:octo/hello#1\t\t\t\t10\t1700000000\t%0\t11\tloop-1\n\
                    k1\ts1\tgithub:octo/hello#1\t\t\t\t10\t1700000000\t%0\t11\tother session\n\
                    \t\t\t\t1\t3\t10\t1700000000\t%7\t12\tmine\n\
                    \t\t\t\t1\t\t10\t1700000000\t%8\t13\ta\tb\n\
                    broken\n";
        let panes = parse_panes(text, "sock");
        assert_eq!(panes.len(), 3);
        assert_eq!((panes[0].key.as_str(), panes[0].dead, panes[0].life.pane_pid), ("k1", None, 11));
        assert_eq!((panes[1].dead, panes[1].life.session.as_str()), (Some(Some(3)), "mine"));
        assert_eq!((panes[2].dead, panes[2].life.session.as_str()), (Some(None), "a\tb"));
        assert_eq!(panes[2].life.socket, "sock");
    }

    #[test]
    fn t05_only_a_pane_id_is_an_address() {
        assert!(is_pane_id("%0") && is_pane_id("%15"));
        for bad in ["", "%", "0", "loop-1", "%1;", "%1 ", "=x:", "%-1"] {
            assert!(!is_pane_id(bad), "{bad}");
        }
    }
}
