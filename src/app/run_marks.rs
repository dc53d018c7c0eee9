//! What the daemon does about runs: it puts the run of a paused item aside, marks the run of an agent that ended as
//! interrupted, and tells the next agent of it. It resumes none.

use std::path::Path;

use super::App;
use super::runs::{Live, RunError, Runs};
use crate::domain::item::Item;
use crate::domain::lane::Done;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::run::{Actor, Command, Run, Status, for_prompt};
use crate::domain::session::Session;

/// Why a run is marked whose agent is started again.
const ENDED: &str = "its agent ended and was started again";

impl App {
    /// Puts the item's run aside, in the directory its session has.
    pub(super) fn pause_run(&self, item: &Item, session: &Session) -> Done {
        let done = |how, why| Done::RunPaused { how, why };
        let Some(cwd) = &session.cwd else { return done("no-run", None) };
        let is_meant = |run: &Run| is_of(run, item) && run.status == Status::Active;
        match self.mark(item, cwd, &is_meant, &Command::Pause) {
            Ok(true) => done("paused", None),
            Ok(false) => done("no-run", None),
            Err(error) => done("left-alone", Some(error.to_string())),
        }
    }

    /// Marks the run of an agent that is started in `cwd` and was not ended on purpose, where its last write is that very
    /// endpoint's. An agent that lives is only found again.
    pub(super) fn interrupt_run(&self, item: &Item, session: &Session, cwd: &Path) {
        let endpoint = session.reference.to_string();
        let is_meant = |run: &Run| {
            let wrote = run.last_endpoint.as_deref().is_some_and(|last| last.eq_ignore_ascii_case(&endpoint));
            is_of(run, item) && run.status == Status::Active && wrote && self.is_surely_gone(session)
        };
        let marked = self.mark(item, cwd, &is_meant, &Command::Recover { reason: ENDED.to_owned() });
        let entry = match marked {
            Ok(false) => return,
            Ok(true) => LogEntry::info(EventName::SessionRunInterrupted),
            Err(error) => LogEntry::warn(EventName::SessionRunInterrupted).with("detail", error.to_string()),
        };
        let (entry, now) = (entry.with("workItem", item.reference.to_string()), self.now());
        let entry = entry.with("directory", cwd.display().to_string());
        // The trail is for people; a store that is full says so where it matters.
        let _ = self.parts.store.write(move |tx| tx.append_journal(&entry, now));
    }

    /// What the next text says of the run in the session's directory: the first one always, later ones while somebody has
    /// to look at it.
    pub(super) fn about_run(&self, item: &Item, session: &Session, introduce: bool) -> Option<String> {
        let cwd = session.cwd.as_ref()?;
        let known =
            self.in_runs(item, cwd, |runs| match runs.live() {
                Ok(live) if !may_see(&live.run, item) => Ok(None),
                Ok(live) => Ok(Some(for_prompt(Some(&live.run)))
                    .filter(|_| introduce || live.run.status == Status::RecoveryRequired)),
                Err(RunError::NoRun) => Ok(None),
                Err(error) => Err(error),
            });
        match known {
            Ok(line) => line.flatten(),
            Err(_) => introduce.then(|| for_prompt(None)),
        }
    }

    fn is_surely_gone(&self, session: &Session) -> bool {
        let lives = |pane: &crate::domain::ports::Pane| pane.key == session.key.as_str() && pane.may_host();
        self.parts.runner.panes().is_ok_and(|panes| !panes.iter().any(lives))
    }

    /// Gives a command to the run in a directory, when it is one that is meant; whether it was.
    fn mark(
        &self,
        item: &Item,
        cwd: &Path,
        is_meant: &dyn Fn(&Run) -> bool,
        command: &Command,
    ) -> Result<bool, RunError> {
        let marked = self.in_runs(item, cwd, |runs| match runs.live() {
            Ok(Live { run, .. }) if is_meant(&run) => runs.follow(command).map(|_| true),
            Ok(_) | Err(RunError::NoRun) => Ok(false),
            Err(error) => Err(error),
        })?;
        Ok(marked.unwrap_or(false))
    }

    fn in_runs<T>(
        &self,
        item: &Item,
        cwd: &Path,
        act: impl FnOnce(&Runs<'_>) -> Result<T, RunError>,
    ) -> Result<Option<T>, RunError> {
        let Some((files, project)) = self.runs.at(cwd)? else { return Ok(None) };
        let (actor, now) = (Actor::program(&item.reference.to_string()), self.now());
        act(&Runs { files: files.as_ref(), project: project.as_ref(), actor, now }).map(Some)
    }
}

/// Whether it is the item's own run.
fn is_of(run: &Run, item: &Item) -> bool {
    run.work_item.as_deref().is_some_and(|owner| owner.eq_ignore_ascii_case(&item.reference.to_string()))
}

/// Whether the item's agent has anything to do with it.
fn may_see(run: &Run, item: &Item) -> bool {
    run.work_item.is_none() || is_of(run, item)
}
