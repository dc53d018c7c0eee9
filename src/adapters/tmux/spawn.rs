//! Starting a harness: a new session, or again in the pane it had, with its marks set in the same invocation.

use std::time::{Duration, Instant};

use super::Tmux;
use super::panes::{LIFE, Listing, parse_life};
use super::server::{Trouble, args, literal};
use crate::adapters::processes;
use crate::domain::ports::{Pane, RunnerError, SpawnRequest};
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{Life, Liveness, PaneKey};

const LOOK: Duration = Duration::from_millis(20);
/// How long tmux may take to notice that a program ended.
const TO_NOTICE: Duration = Duration::from_secs(1);

/// What a spawn comes to on the panes that are there.
#[derive(Debug, PartialEq, Eq)]
enum Plan {
    /// It runs already, perhaps since a start whose end nobody saw.
    Living(Life),
    /// Its pane is there and its program has ended.
    Again(Life),
    /// Nothing carries its key: a new session with the first of these names that is free.
    New(Vec<String>),
}

impl Tmux {
    pub(super) fn spawn_harness(&self, request: &SpawnRequest) -> Result<Life, RunnerError> {
        check(request)?;
        let listing = self.list(&self.socket)?;
        let (panes, server_runs) = match &listing {
            Listing::NoServer => (&[][..], false),
            Listing::Panes(panes) => (panes.as_slice(), true),
        };
        let life = match plan(panes, request)? {
            Plan::Living(life) => return Ok(life),
            Plan::Again(life) => self.start(respawn(request, &life), true)?,
            Plan::New(names) => self.start_new(request, &names, server_runs)?,
        };
        let Some(life) = life else { return Err(failed("the names of its session are taken by others")) };
        self.remember_server(&life);
        self.watch(request, &life)?;
        Ok(life)
    }

    /// A server that was seen is never started a second time: its socket may vanish between two calls.
    fn start_new(
        &self,
        request: &SpawnRequest,
        names: &[String],
        server_runs: bool,
    ) -> Result<Option<Life>, RunnerError> {
        for name in names {
            if let Some(life) = self.start(self.new_session(request, name), server_runs)? {
                return Ok(Some(life));
            }
        }
        Ok(None)
    }

    /// One invocation that starts and marks; `None` when the session's name is taken.
    fn start(&self, words: Vec<String>, server_runs: bool) -> Result<Option<Life>, RunnerError> {
        match self.command(&self.socket, words, !server_runs) {
            Ok(text) => match text.lines().next().and_then(|line| parse_life(line, &self.socket)) {
                Some(life) => Ok(Some(life)),
                None => Err(RunnerError::Unreachable(format!("tmux answered `{}` to a start", text.trim_end()))),
            },
            Err(Trouble::Refused(error)) if error.starts_with("duplicate session") => Ok(None),
            Err(Trouble::Refused(error)) => Err(failed(&format!("tmux did not start it: {error}"))),
            Err(trouble) => Err(trouble.unreachable()),
        }
    }

    fn new_session(&self, request: &SpawnRequest, name: &str) -> Vec<String> {
        let passes = !self.socket.is_empty() && !self.pass.is_empty();
        let mut words = Vec::new();
        if passes {
            // Values travel in the client's environment, never in an argument that every user could read.
            words.extend(args(&["set-option", "-g", "update-environment", &self.pass.join(" "), ";"]));
        }
        words.extend(args(&["new-session", "-d", "-s", name, "-x", "220", "-y", "50"]));
        words.extend(place(request));
        words.extend(args(&["-P", "-F", LIFE, "--"]));
        words.extend(program(&request.argv));
        let target = format!("={name}:");
        words.extend(marks((&request.key, &request.reference, &request.store), &target));
        if passes {
            // A person who attaches from a shell without these variables does not take them away, and the server
            // keeps none of them for sessions that are started after the list has changed.
            words.extend(args(&[";", "set-option", "-t", &target, "update-environment", ""]));
            for name in &self.pass {
                words.extend(args(&[";", "set-environment", "-g", "-u", name]));
            }
        }
        words
    }

    /// Watches a new harness for its first moments; one that ends in them did not start.
    fn watch(&self, request: &SpawnRequest, life: &Life) -> Result<(), RunnerError> {
        let end = Instant::now() + self.spawn_watch;
        let start = processes::start_time(life.pane_pid);
        let runs = || start.is_some_and(|start| processes::is_alive(life.pane_pid, start) == Liveness::Live);
        while runs() && Instant::now() < end {
            std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
        }
        let ended_early = !runs() && start.is_some();
        let notice = Instant::now() + TO_NOTICE;
        loop {
            let late = Instant::now() >= notice;
            match self.state_of(life)? {
                State::Runs if !ended_early || late => return Ok(()),
                State::Ended(None) if late => return Err(self.ended_at_once(request, life, "")),
                State::Ended(Some(how)) => return Err(self.ended_at_once(request, life, &how)),
                State::Ended(None) => {
                    processes::announce_child_end(life.server_pid);
                    std::thread::sleep(LOOK);
                }
                State::Runs => std::thread::sleep(LOOK),
            }
        }
    }

    fn state_of(&self, life: &Life) -> Result<State, RunnerError> {
        let format = "#{pane_pid}\t#{pane_dead}\t#{pane_dead_status}\t#{pane_dead_signal}";
        let text = self
            .ask(&life.socket, args(&["display-message", "-p", "-t", &life.pane, format]))
            .map_err(Trouble::unreachable)?;
        let fields: Vec<&str> = text.trim_end_matches('\n').split('\t').collect();
        let [pid, dead, status, signal] = fields[..] else { return Ok(State::Ended(None)) };
        Ok(match (dead, status, signal) {
            _ if pid != life.pane_pid.to_string() => State::Ended(Some("and its pane is gone".into())),
            ("1", "", "") => State::Ended(None),
            ("1", "", signal) => State::Ended(Some(format!("by signal {signal}"))),
            ("1", status, _) => State::Ended(Some(format!("with status {status}"))),
            _ => State::Runs,
        })
    }

    fn ended_at_once(&self, request: &SpawnRequest, life: &Life, how: &str) -> RunnerError {
        let program = request.argv.first().map_or("", String::as_str);
        failed(&format!("`{program}` ended at once {how}; its last screen:\n{}", self.last_screen(life)))
    }
}

/// What a pane says of its program. It sees the terminal closed before it hears how the program ended, and tmux 3.3a
/// now and then does not hear it at all until it is told again.
enum State {
    Runs,
    Ended(Option<String>),
}

fn failed(text: &str) -> RunnerError {
    RunnerError::SpawnFailed(text.to_owned())
}

/// What must hold before tmux is asked: it would run a shell for an empty program, start in the home directory for a
/// missing one, and take other letters in a name for something else.
fn check(request: &SpawnRequest) -> Result<(), RunnerError> {
    let is_name =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if let Some(bad) = [&request.session_name, &request.fallback_name].into_iter().find(|name| !is_name(name)) {
        return Err(failed(&format!("`{bad}` is not a session name: letters, digits, `-` and `_`")));
    }
    if request.argv.first().is_none_or(String::is_empty) {
        return Err(failed("there is no program to start"));
    }
    if !request.cwd.is_absolute() || request.cwd.to_str().is_none() || !request.cwd.is_dir() {
        return Err(failed(&format!(
            "{} is not a directory named by an absolute path in UTF-8",
            request.cwd.display()
        )));
    }
    let strings = request.argv.iter().chain(request.env.iter().map(|(_, value)| value));
    if strings.chain(request.env.iter().map(|(name, _)| name)).any(|text| text.contains('\0')) {
        return Err(failed("an argument or a variable holds a NUL byte"));
    }
    Ok(())
}

fn plan(panes: &[Pane], request: &SpawnRequest) -> Result<Plan, RunnerError> {
    let own = || panes.iter().filter(|pane| pane.key == request.key.as_str());
    if let Some(pane) = own().find(|pane| pane.dead.is_none()) {
        return Ok(Plan::Living(pane.life.clone()));
    }
    let reference = request.reference.to_string();
    let elsewhere = panes.iter().find(|pane| {
        pane.dead.is_none()
            && !pane.key.is_empty()
            && pane.store != request.store
            && pane.reference.eq_ignore_ascii_case(&reference)
    });
    if let Some(pane) = elsewhere {
        return Err(RunnerError::OtherStore { reference, store: pane.store.clone() });
    }
    if let Some(pane) = own().next() {
        return Ok(Plan::Again(pane.life.clone()));
    }
    let names = [&request.session_name, &request.fallback_name];
    let is_free = |name: &&&String| panes.iter().all(|pane| pane.life.session != ***name);
    Ok(Plan::New(names.iter().filter(is_free).map(|name| (*name).clone()).collect()))
}

/// Starts the program again where it was. Without `-k`, so that a living one can never be replaced by it.
fn respawn(request: &SpawnRequest, life: &Life) -> Vec<String> {
    let mut words = args(&["respawn-pane", "-t", &life.pane]);
    words.extend(place(request));
    words.push("--".into());
    words.extend(program(&request.argv));
    words.extend(marks((&request.key, &request.reference, &request.store), &life.pane));
    words.extend(args(&[";", "display-message", "-p", "-t", &life.pane, LIFE]));
    words
}

/// Directory and variables. tmux takes a directory for a format, in which `#` begins what is filled in.
fn place(request: &SpawnRequest) -> Vec<String> {
    let cwd = request.cwd.to_string_lossy().replace('#', "##");
    let mut words = vec!["-c".to_owned(), literal(&cwd)];
    for (name, value) in &request.env {
        words.extend(["-e".to_owned(), literal(&format!("{name}={value}"))]);
    }
    words
}

/// The program as tmux runs it as it is. A single argument would be a line for a shell, so it goes to one as a word.
fn program(argv: &[String]) -> Vec<String> {
    let alone = argv.len() == 1;
    let shell = if alone { args(&["/bin/sh", "-c", "exec \"$0\""]) } else { Vec::new() };
    shell.into_iter().chain(argv.iter().map(|argument| literal(argument))).collect()
}

/// What makes a pane ours: key, reference and store.
pub(super) fn marks((key, reference, store): (&PaneKey, &WorkItemRef, &str), target: &str) -> Vec<String> {
    let reference = reference.to_string();
    let marks = [
        ("@the-loop-key", key.as_str()),
        ("@the-loop-ref", &reference),
        ("@the-loop-store", store),
        ("remain-on-exit", "on"),
    ];
    let set = |(name, value): (&str, &str)| args(&[";", "set-option", "-p", "-t", target, name, &literal(value)]);
    marks.into_iter().flat_map(set).collect()
}

#[cfg(test)]
mod tests;
