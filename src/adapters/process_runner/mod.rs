//! Harnesses without tmux: one process for each delivery, its text on standard input (events rules, section 10).
//!
//! A note is written before each start, so that after a crash nobody starts again what may have been begun. The process
//! leads a group of its own and outlives the daemon; what it prints goes to a file. Between deliveries nothing runs, and
//! that is not dead.

mod note;
mod output;
mod watch;

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{environment, groups, processes};
use crate::domain::harness::Mode;
use crate::domain::ids::BatchId;
use crate::domain::ports::{
    DeliverRequest, Delivered, Pane, PasteStyle, Program, Refusal, Remembered, Runner, RunnerError, SpawnRequest,
};
use crate::domain::session::{Life, Liveness, PaneKey};
use note::{Note, Notes, Process};

/// The variable by which a process is found whose number was not noted any more.
const DELIVERY: &str = "THE_LOOP_DELIVERY";

/// How processes are to be run.
#[derive(Debug, Clone)]
pub struct ProcessConfig {
    /// Directory of the notes.
    pub starts_dir: PathBuf,
    /// Directory of what the processes print.
    pub output_dir: PathBuf,
    /// The daemon's own environment, of which processes see a safe base set and `pass`.
    pub environment: Vec<(OsString, OsString)>,
    /// Names of further variables that processes may see.
    pub pass: Vec<String>,
    /// Most processes at the same time.
    pub most: usize,
}

/// Runs harnesses, one process per delivery.
#[derive(Debug)]
pub struct ProcessRunner {
    notes: Notes,
    output_dir: PathBuf,
    environment: Vec<(OsString, OsString)>,
    most: usize,
    running: Running,
}

/// The processes this one started and still watches, by key.
#[derive(Debug, Clone, Default)]
struct Running(Arc<Mutex<HashMap<String, Watched>>>);

/// One of them.
#[derive(Debug, Clone)]
struct Watched {
    batch: String,
    /// Set to end it.
    stop: Arc<AtomicBool>,
}

impl Running {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Watched>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, key: &str) -> Option<Watched> {
        self.lock().get(key).cloned()
    }
}

/// Takes the place in the table back when a start comes to nothing.
struct Place<'a> {
    running: &'a Running,
    key: &'a str,
    kept: bool,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.running.lock().remove(self.key);
        }
    }
}

impl ProcessRunner {
    /// Starts nothing and writes nothing.
    pub fn new(config: ProcessConfig) -> Self {
        Self {
            notes: Notes::new(config.starts_dir),
            output_dir: config.output_dir,
            environment: environment::for_sessions(&config.environment, &config.pass),
            most: config.most,
            running: Running::default(),
        }
    }

    fn start(&self, request: &DeliverRequest, program: &Program) -> Result<(), Delivered> {
        let (key, batch) = (request.key.as_str(), request.batch.as_str());
        self.refuse_beside_another(key)?;
        let stop = Arc::new(AtomicBool::new(false));
        let mut place = self.take_place(key, Watched { batch: batch.to_owned(), stop: Arc::clone(&stop) })?;
        let not_run = |error: std::io::Error| Delivered::NotRun(format!("could not start a process: {error}"));
        let output = output::begin(&self.output_dir, &request.life.session, key).map_err(not_run)?;
        let mut note = Note::new(batch, &output.path, program);
        let command = self.command(program, batch, &request.text, &output).map_err(not_run)?;
        // From here on a crash leaves a note behind, whether the process was started or not.
        self.notes.write(key, &note).map_err(not_run)?;
        let child = self.run(command, program).inspect_err(|_| self.notes.remove(key))?;
        note.process = processes::start_time(child.id()).map(|started| Process { pid: child.id(), started });
        // Without its number it is found by its variable.
        let _ = self.notes.write(key, &note);
        let watch = watch::Watch {
            child,
            note,
            key: key.to_owned(),
            stop,
            limit: Duration::from_millis(program.limit_ms),
            notes: self.notes.clone(),
            running: self.running.clone(),
        };
        // A thread that cannot be had leaves the process running and noted, as a crash would.
        watch.begin().map_err(|error| Delivered::Unknown(format!("nobody watches the process: {error}")))?;
        place.kept = true;
        Ok(())
    }

    fn run(&self, mut command: Command, program: &Program) -> Result<Child, Delivered> {
        let name = program.argv.first().map_or("", String::as_str);
        command.spawn().map_err(|error| Delivered::Failed(format!("could not run `{name}`: {error}")))
    }

    /// Never two processes of one conversation, whoever started the other one.
    fn refuse_beside_another(&self, key: &str) -> Result<(), Delivered> {
        let busy = |why: String| Delivered::Refused(Refusal::Busy(why));
        if self.running.get(key).is_some() {
            return Err(busy("the process of an earlier delivery still runs".into()));
        }
        match self.notes.read(key) {
            Ok(Some(note)) if note.ended.is_none() => match found(&note) {
                (Liveness::Dead, _) => Ok(()),
                (_, pid) => Err(busy(format!("process {pid} of an earlier delivery still runs"))),
            },
            // What came of it was said to whoever asked for it.
            _ => Ok(()),
        }
    }

    fn take_place<'a>(&'a self, key: &'a str, watched: Watched) -> Result<Place<'a>, Delivered> {
        let mut running = self.running.lock();
        if running.len() >= self.most {
            let most = self.most;
            return Err(Delivered::Refused(Refusal::Busy(format!(
                "as many processes run as `routing.maxConcurrentDispatches` allows: {most}"
            ))));
        }
        running.insert(key.to_owned(), watched);
        Ok(Place { running: &self.running, key, kept: false })
    }

    fn command(&self, program: &Program, batch: &str, text: &str, output: &output::Output) -> std::io::Result<Command> {
        let (name, arguments) = program.argv.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(name);
        command.args(arguments).current_dir(&program.cwd).process_group(0);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.envs(program.env.iter().map(|(name, value)| (name, value))).env(DELIVERY, batch);
        command.stdin(processes::unlinked_input(text)?);
        command.stdout(Stdio::from(output.file.try_clone()?)).stderr(Stdio::from(output.file.try_clone()?));
        Ok(command)
    }

    /// How the delivery of a note stands.
    fn standing(&self, key: &str, note: &Note) -> Result<Delivered, RunnerError> {
        if let Some(ended) = &note.ended {
            return Ok(ended.told(note));
        }
        if self.running.get(key).is_some() {
            return Ok(Delivered::Running);
        }
        let (alive, pid) = found(note);
        match alive {
            Liveness::Unknown => Err(RunnerError::Unreachable(format!("nobody can say whether process {pid} runs"))),
            Liveness::Live if !note.is_late() => Ok(Delivered::Running),
            Liveness::Live => {
                groups::end(pid, Duration::from_millis(note.grace_ms))?;
                Ok(note::Ended::OverTime.told(note))
            }
            Liveness::Dead => Ok(Delivered::Lost(format!(
                "the daemon ended while a process had it; what that printed is in {}",
                note.output.display()
            ))),
        }
    }
}

impl Runner for ProcessRunner {
    fn mode(&self) -> Mode {
        Mode::Once
    }

    fn spawn(&self, request: &SpawnRequest) -> Result<Life, RunnerError> {
        let program = request.argv.first().map_or("", String::as_str);
        if !request.cwd.is_absolute() || !request.cwd.is_dir() {
            let cwd = request.cwd.display();
            return Err(RunnerError::SpawnFailed(format!("{cwd} is not a directory named by an absolute path")));
        }
        if !environment::can_run(program, &self.environment) {
            return Err(RunnerError::SpawnFailed(format!("there is no program `{program}` in `PATH`")));
        }
        Ok(Life::without_terminal(&request.session_name))
    }

    fn settle_screen(&self, _: &Life, _: u64) {}

    fn deliver(&self, request: &DeliverRequest) -> Delivered {
        match &request.program {
            None => Delivered::NotRun("there is no process to start".into()),
            Some(program) => self.start(request, program).map_or_else(|answer| answer, |()| Delivered::Running),
        }
    }

    fn recall(&self, key: &PaneKey, _: &Life, batch: &BatchId, _: &PasteStyle) -> Result<Remembered, RunnerError> {
        let (key, batch) = (key.as_str(), batch.as_str());
        if self.running.get(key).is_some_and(|watched| watched.batch == batch) {
            return Ok(Remembered::Noted(Delivered::Running));
        }
        match self.notes.read(key) {
            Ok(Some(note)) if note.batch == batch => self.standing(key, &note).map(Remembered::Noted),
            Ok(_) => Ok(Remembered::Nothing),
            Err(error) => Ok(Remembered::Noted(Delivered::Lost(format!("the note of its start: {error}")))),
        }
    }

    fn submit(&self, _: &DeliverRequest) -> Delivered {
        Delivered::NotRun("a process takes its text at its start".into())
    }

    /// None: a process is no pane, and between deliveries there is not even that.
    fn panes(&self) -> Result<Vec<Pane>, RunnerError> {
        Ok(Vec::new())
    }

    fn end(&self, key: &PaneKey, life: &Life, grace_ms: u64, keep_pane: bool) -> Result<(), RunnerError> {
        let key = key.as_str();
        let grace = Duration::from_millis(grace_ms);
        if let Some(watched) = self.running.get(key) {
            watch::stop(&self.running, key, &watched, grace)?;
        }
        if let Ok(Some(note)) = self.notes.read(key)
            && note.ended.is_none()
        {
            match found(&note) {
                (Liveness::Live, pid) => groups::end(pid, grace)?,
                (Liveness::Dead, _) => {}
                (Liveness::Unknown, pid) => {
                    return Err(RunnerError::Unreachable(format!("nobody can say whether process {pid} runs")));
                }
            }
        }
        self.notes.remove(key);
        if !keep_pane {
            output::remove(&self.output_dir, &life.session, key);
        }
        Ok(())
    }
}

/// Whether the process of a note runs, and its number; by its variable where the number was not noted.
fn found(note: &Note) -> (Liveness, u32) {
    if let Some(Process { pid, started }) = note.process {
        return (processes::is_alive(pid, started), pid);
    }
    let Some(own) = processes::own_command_lines() else { return (Liveness::Unknown, 0) };
    // What it started itself carries the variable too, and may live longer.
    let carries = |pid: &u32| {
        processes::leads_group(*pid) && processes::started_with(*pid, DELIVERY).as_deref() == Some(&note.batch)
    };
    match own.into_iter().map(|(pid, _)| pid).find(carries) {
        Some(pid) => (Liveness::Live, pid),
        None => (Liveness::Dead, 0),
    }
}
