//! `the-loop sessions show`.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::list::{local_time, sessions, table};
use super::other_folder::OtherFolder;
use crate::adapters::project_runs::ProjectRuns;
use crate::adapters::system::SystemClock;
use crate::app::look;
use crate::app::request::{Look, Response, SessionDetail, SessionRow};
use crate::app::runs::{RunError, Runs};
use crate::cli::context::{Context, Setup};
use crate::cli::exit::{Exit, Failure, Kind};
use crate::cli::run::line as run_line;
use crate::cli::setting::reader;
use crate::cli::work_item::{self, WorkItemArg};
use crate::daemon::compose::Setting;
use crate::domain::config::nearest;
use crate::domain::ports::Clock as _;
use crate::domain::reference::WorkItemRef;
use crate::domain::run::{Actor, Run, RunPlaces as _, document};

/// The item that was meant, by the configuration of `setting`.
pub(super) fn item(arg: &WorkItemArg, setting: &Setting) -> Result<WorkItemRef, Failure> {
    let Setting { config, file, home, .. } = setting.clone();
    arg.resolve(&Setup { config, file, home })
}

/// An item as it was typed.
pub(super) fn named(text: &str, setting: &Setting) -> Result<WorkItemRef, Failure> {
    work_item::resolve(text, || work_item::at_hand(&setting.config, &setting.home.dir))
}

/// The session of `item`, or a refusal that says there is none.
pub(super) fn detail(item: &WorkItemRef, setting: &Setting) -> Result<SessionDetail, Failure> {
    let found = match reader(setting)? {
        Some(reader) => reader.read(|tx| look::answer(tx, &Look::Session(item.clone()), SystemClock.now()))?,
        None => Response::Session(None),
    };
    match found {
        Response::Session(Some(detail)) => Ok(*detail),
        _ => {
            let rows = sessions(setting)?;
            Err(Failure::new(Kind::Refused, format!("`{item}` has no session on this machine")).hint(near(item, &rows)))
        }
    }
}

/// What was probably meant: the record that lists it as a pull request, or one that is spelled alike.
fn near(item: &WorkItemRef, rows: &[SessionRow]) -> String {
    let key = |row: &SessionRow| WorkItemRef::parse(&row.work_item).map(|reference| reference.key());
    if let Some(at) = rows.iter().position(|row| row.is_pull_request && key(row).as_ref() == Ok(&item.key()))
        && let Some(owner) = rows[..at].iter().rev().find(|row| !row.is_pull_request)
    {
        return format!("it is a pull request of `{}`; name that", owner.work_item);
    }
    let alike = rows.iter().filter(|row| !row.is_pull_request).filter_map(|row| {
        let reference = WorkItemRef::parse(&row.work_item).ok()?;
        let related = reference.repo().is_same(item.repo()) || reference.number() == item.number();
        related.then_some(row.work_item.as_str())
    });
    match nearest(&item.to_string(), alike) {
        Some(near) => format!("did you mean `{near}`? `the-loop sessions list` shows those there are"),
        None => "`the-loop sessions list` shows those there are".into(),
    }
}

/// Prints one session.
pub(super) fn run(
    arg: &WorkItemArg,
    context: &Context,
    setting: &Setting,
    folder: Option<&OtherFolder>,
) -> Result<Exit, Failure> {
    let item = item(arg, setting)?;
    let mut detail = detail(&item, setting)?;
    if let Some(folder) = folder {
        folder.show_in(&mut detail)?;
    }
    let run = detail.directory.as_deref().map(Path::new).and_then(|directory| run_in(directory, setting));
    let json = || json!({ "session": detail.session, "detail": detail, "run": run.as_ref().map(run_json) });
    context.out.result(json, || text(&detail, run.as_ref()))?;
    Ok(Exit::Done)
}

/// The live run in a session's directory, or why it cannot be believed.
type RunThere = Result<Run, String>;

fn run_in(directory: &Path, setting: &Setting) -> Option<RunThere> {
    let (files, project) = match ProjectRuns::new(setting.environment.clone()).at(directory) {
        Ok(place) => place?,
        Err(error) => return Some(Err(error.to_string())),
    };
    let runs = Runs { files: &*files, project: &*project, actor: Actor::default(), now: SystemClock.now() };
    match runs.live() {
        Ok(live) => Some(Ok(Run { integrity: live.integrity(), ..live.run })),
        Err(RunError::NoRun) => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

fn run_json(run: &RunThere) -> Json {
    match run {
        Ok(run) => document(run),
        Err(why) => json!({ "trouble": why }),
    }
}

fn text(detail: &SessionDetail, run: Option<&RunThere>) -> String {
    let row = &detail.row;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    line("Work item", &row.work_item);
    line("Status", &row.status);
    line("Armed", if detail.armed { "yes" } else { "no" });
    line("Harness", &row.harness);
    for (name, value) in [
        ("Control", &row.control),
        ("Ended", &detail.ended),
        ("Session id", &row.session_id),
        ("Tmux", &row.tmux),
        ("Pane", &detail.pane),
        ("Directory", &detail.directory),
        ("Doing", &detail.doing),
    ] {
        if let Some(value) = value {
            line(name, value);
        }
    }
    if let Some(at) = &row.last_event {
        line("Last event", &local_time(at));
    }
    if let Some(run) = run {
        line("Run", &run.as_ref().map_or_else(Clone::clone, run_line));
    }
    line("Waiting", &detail.waiting.to_string());
    if !detail.pull_requests.is_empty() {
        text.push('\n');
        text.push_str(&table(&detail.pull_requests));
    }
    text
}
