//! `the-loop run`: one piece of work, kept so that it can be interrupted and resumed honestly. No configuration, no store
//! and no daemon is needed.

mod block;
mod cancel;
mod checkpoint;
mod complete;
mod inspect;
mod pause;
mod recover;
mod repair;
mod resume;
mod start;
mod status;
mod unblock;

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::setting::reader;
use crate::adapters::project::ProjectTree;
use crate::adapters::run_files::RunFolder;
use crate::adapters::system::SystemClock;
use crate::app::kept::KeptLeftover;
use crate::app::look;
use crate::app::model_eval::ModelEval;
use crate::app::request::{Look, Response, SessionDetail};
use crate::app::runs::{Changed, Judged, RunError, Runs};
use crate::daemon::compose::Setting;
use crate::domain::ports::Clock as _;
use crate::domain::reference::WorkItemRef;
use crate::domain::run::{Actor, Command, Leftover, Run, WorkItemState, document};

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = false)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Begin a run; refused while one is live
    Start(start::Args),
    /// Show the run beside what git says; changes nothing
    Status(status::Args),
    /// Write down where the work is
    Checkpoint(checkpoint::Args),
    /// Put the run aside
    Pause(pause::Args),
    /// Say that something has to happen first
    Block(block::Args),
    /// Say that it has happened
    Unblock(unblock::Args),
    /// Say that the run was interrupted
    Recover(recover::Args),
    /// Go on, through the gates: read what changed, then approve it
    Resume(resume::Args),
    /// End the run as done, provided that the evaluator says PASS
    Complete(complete::Args),
    /// End the run as given up
    Cancel(cancel::Args),
    /// Look at the file itself and what lies beside it; changes nothing
    Inspect(inspect::Args),
    /// Remove temporaries that are provably superseded
    Repair(repair::Args),
}

/// Runs `run`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.action {
        Action::Start(args) => start::run(args, context),
        Action::Status(args) => status::run(args, context),
        Action::Checkpoint(args) => checkpoint::run(args, context),
        Action::Pause(args) => pause::run(args, context),
        Action::Block(args) => block::run(args, context),
        Action::Unblock(args) => unblock::run(args, context),
        Action::Recover(args) => recover::run(args, context),
        Action::Resume(args) => resume::run(args, context),
        Action::Complete(args) => complete::run(args, context),
        Action::Cancel(args) => cancel::run(args, context),
        Action::Inspect(args) => inspect::run(args, context),
        Action::Repair(args) => repair::run(args, context),
    }
}

/// The project at hand and its files.
pub(super) struct Here {
    pub(super) project: ProjectTree,
    pub(super) files: RunFolder,
    actor: Actor,
}

impl Here {
    /// By the working directory and the environment.
    pub(super) fn find(context: &Context) -> Result<Self, Failure> {
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let project = ProjectTree::find(context.cwd(), &environment).map_err(RunError::from)?;
        let variable = |name: &str| {
            let value = context.variable(name)?.into_string().ok()?;
            (!value.is_empty()).then_some(value)
        };
        let (work_item, endpoint) = (variable("THE_LOOP_WORK_ITEM"), variable("THE_LOOP_ENDPOINT"));
        let files = RunFolder::new(project.root());
        Ok(Self { project, files, actor: Actor { work_item, endpoint, ..Actor::default() } })
    }

    /// Its runs, now.
    pub(super) fn runs(&self) -> Runs<'_> {
        let now = SystemClock.now();
        Runs { files: &self.files, project: &self.project, actor: self.actor.clone(), now }
    }

    /// Its evaluations of models, now.
    pub(super) fn model_eval(&self) -> ModelEval<'_> {
        let (files, project, is_session) = (&self.files, &self.project, self.is_session());
        ModelEval { files, project, is_session, now: SystemClock.now() }
    }

    /// Whether an agent's session asks, and not a person.
    pub(super) fn is_session(&self) -> bool {
        self.actor.work_item.is_some() || self.actor.endpoint.is_some()
    }

    /// The same, with what this machine's store knows of the run's endpoint; for commands that may take a run over.
    fn runs_knowing(&mut self, context: &Context) -> Result<(Runs<'_>, WorkItemState), Failure> {
        let run = self.runs().live()?.run;
        let known = run.work_item.as_deref().and_then(|item| detail(item, context));
        self.actor.owner_ended = known.as_ref().is_some_and(|known| has_ended(known, run.endpoint.as_deref()));
        Ok((self.runs(), known.map_or(WorkItemState::Unknown, |known| state(&known))))
    }
}

/// What the store of the configuration at hand, if there is one, says of an item. What cannot be read says nothing.
fn detail(item: &str, context: &Context) -> Option<SessionDetail> {
    let item = WorkItemRef::parse(item).ok()?;
    let found = context.find().ok()?;
    let file = found.file.map(|(file, _)| file);
    let setting = Setting::new(found.reading.config, found.home, file, std::env::vars_os().collect());
    let reader = reader(&setting).ok()??;
    match reader.read(|tx| look::answer(tx, &Look::Session(item), SystemClock.now())) {
        Ok(Response::Session(Some(detail))) => Some(*detail),
        _ => None,
    }
}

fn state(known: &SessionDetail) -> WorkItemState {
    match (known.ended.is_some(), known.armed) {
        (true, _) => WorkItemState::Ended,
        (false, true) => WorkItemState::Armed,
        (false, false) => WorkItemState::NotArmed,
    }
}

/// Whether an endpoint of an item is known to be over.
fn has_ended(known: &SessionDetail, endpoint: Option<&str>) -> bool {
    let rows = std::iter::once(&known.row).chain(&known.pull_requests);
    let row = endpoint.and_then(|endpoint| rows.into_iter().find(|row| row.work_item.eq_ignore_ascii_case(endpoint)));
    known.ended.is_some() || row.is_some_and(|row| row.status == "closed")
}

/// Follows a plain command and says what became of the run.
fn follow(command: &Command, context: &Context) -> Result<Exit, Failure> {
    say(&Here::find(context)?.runs().follow(command)?, context)
}

/// Says what became of the run.
fn say(changed: &Changed, context: &Context) -> Result<Exit, Failure> {
    let Changed { run, archive, notes } = changed;
    for note in notes {
        context.out.note(note);
    }
    let json = || json!({ "run": document(run), "archive": archive, "notes": notes });
    context.out.result(json, || {
        let kept = archive.as_ref().map_or(String::new(), |path| format!("archived in {path}\n"));
        format!("{}\n{kept}", line(run))
    })?;
    Ok(Exit::Done)
}

/// A run in a line.
pub(super) fn line(run: &Run) -> String {
    let Run { task_id, status, stage, generation, .. } = run;
    let stale = if run.integrity.word() == "VALID" { "" } else { ", SUSPECTED_STALE" };
    format!("{task_id}  {status}{stale}, stage {stage}, generation {generation}")
}

/// Temporaries as JSON.
fn leftovers(leftovers: &[(PathBuf, Leftover)]) -> Json {
    let one = |(path, is): &(PathBuf, Leftover)| json!({ "path": path.display().to_string(), "is": is.to_string(), "removable": is.is_removable() });
    leftovers.iter().map(one).collect()
}

/// Temporaries of runs and of other records, in one list.
fn together(judged: &[Judged], kept: &[KeptLeftover]) -> Vec<(PathBuf, Leftover)> {
    let judged = judged.iter().map(|one| (one.temporary.path.clone(), one.is.clone()));
    judged.chain(kept.iter().map(|one| (one.path.clone(), one.is.clone()))).collect()
}

/// A temporary in a line.
fn left_line((path, is): &(PathBuf, Leftover)) -> String {
    format!("`{}`: {is}", path.display())
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let kind = match &error {
            RunError::NoRun => Kind::NoRun,
            error if error.is_blocked() => Kind::Blocked,
            RunError::Files(crate::domain::run::FilesError::Io { .. }) => Kind::Outside,
            _ => Kind::Refused,
        };
        let failure = Self::new(kind, error.to_string()).hint(error.hint());
        match error {
            RunError::NotApproved(report) => {
                failure.detail("report", report.text.into()).detail("digest", report.digest.into())
            }
            RunError::NotShown(judgement) => failure
                .detail("verdict", judgement.verdict.word().into())
                .detail("reasons", Json::from(judgement.reasons)),
            _ => failure,
        }
    }
}
