//! `the-loop sessions list`.

use serde_json::json;

use super::other_folder::OtherFolder;
use crate::adapters::system::SystemClock;
use crate::app::look;
use crate::app::request::{Look, Response, SessionRow};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::columns;
use crate::cli::setting::reader;
use crate::daemon::compose::Setting;
use crate::domain::ports::Clock as _;

/// Arguments of `sessions list`.
#[derive(Debug, clap::Args)]
pub struct Args {}

const HEAD: [&str; 7] = ["Work item", "Harness", "Session id", "Tmux", "Status", "Control", "Last event"];

/// Prints all sessions.
pub(super) fn run(
    _: &Args,
    context: &Context,
    setting: &Setting,
    folder: Option<&OtherFolder>,
) -> Result<Exit, Failure> {
    let mut rows = sessions(setting)?;
    if let Some(folder) = folder {
        folder.show_in_rows(&mut rows)?;
    }
    context.out.result(|| json!({ "sessions": rows }), || table(&rows))?;
    if rows.is_empty() {
        context.out.note("no sessions");
    }
    Ok(Exit::Done)
}

/// All sessions.
pub(super) fn sessions(setting: &Setting) -> Result<Vec<SessionRow>, Failure> {
    let Some(reader) = reader(setting)? else { return Ok(Vec::new()) };
    match reader.read(|tx| look::answer(tx, &Look::Sessions, SystemClock.now()))? {
        Response::Sessions(rows) => Ok(rows),
        _ => Ok(Vec::new()),
    }
}

/// The stable columns, pull requests indented under their work item.
pub(super) fn table(rows: &[SessionRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let head = HEAD.map(str::to_owned);
    let lines: Vec<[String; 7]> = std::iter::once(head).chain(rows.iter().map(line)).collect();
    columns(&lines)
}

fn line(row: &SessionRow) -> [String; 7] {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let indent = if row.is_pull_request { "  " } else { "" };
    [
        format!("{indent}{}", row.work_item),
        row.harness.clone(),
        or_dash(&row.session_id),
        or_dash(&row.tmux),
        row.status.clone(),
        or_dash(&row.control),
        row.last_event.as_deref().map_or_else(|| "-".into(), local_time),
    ]
}

/// UTC in the machine's own time, for people.
pub(in crate::cli) fn local_time(utc: &str) -> String {
    match utc.parse::<jiff::Timestamp>() {
        Ok(at) => at.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => utc.to_owned(),
    }
}
