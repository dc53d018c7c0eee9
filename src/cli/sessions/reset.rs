//! `the-loop sessions reset`: items are forgotten, and their ending is dated.

use std::sync::Arc;

use serde_json::json;

use crate::adapters::system::SystemClock;
use crate::app::look;
use crate::app::request::{Look, Order, ResetItem, ResetScope, Response};
use crate::cli::context::{Context, Setup};
use crate::cli::exit::{Exit, Failure, Kind};
use crate::cli::setting::{order_heard, reader};
use crate::cli::work_item::WorkItemArgs;
use crate::daemon::compose::Setting;
use crate::domain::ports::Clock as _;

/// Arguments of `sessions reset`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    items: WorkItemArgs,
    /// Every item with a session, a pull request's or a command
    #[arg(long)]
    all: bool,
    /// Only say what would be forgotten
    #[arg(long)]
    dry_run: bool,
}

/// Resets.
pub(super) fn run(args: &Args, context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    let scope = scope(args, setting)?;
    let response = match args.dry_run {
        false => order_heard(setting, &Order::Reset(scope), Arc::new(context.out.progress("resetting items")))?,
        true => match reader(setting)? {
            Some(reader) => reader.read(|tx| look::answer(tx, &Look::Reset(scope), SystemClock.now()))?,
            None => Response::Reset(Vec::new()),
        },
    };
    let Response::Reset(items) = response else {
        return Err(Failure::new(Kind::Bug, "a reset was answered with something else"));
    };
    context.out.result(|| json!({ "dryRun": args.dry_run, "reset": items }), || text(&items, args.dry_run))?;
    Ok(Exit::Done)
}

fn scope(args: &Args, setting: &Setting) -> Result<ResetScope, Failure> {
    match (args.all, args.items.is_empty()) {
        (true, true) => Ok(ResetScope::All),
        (false, false) => {
            let Setting { config, file, home, .. } = setting.clone();
            Ok(ResetScope::Items(args.items.resolve(&Setup { config, file, home })?))
        }
        (true, false) => Err(Failure::new(Kind::Usage, "`--all` and single items exclude each other")
            .hint("name the items, or all of them")),
        (false, true) => Err(Failure::new(Kind::Usage, "no work item is named")
            .hint("name the items to forget, or `--all`; `--dry-run` only says what would be forgotten")),
    }
}

fn text(items: &[ResetItem], dry_run: bool) -> String {
    if items.is_empty() {
        return "nothing to reset\n".into();
    }
    items.iter().map(|item| line(item, dry_run)).collect()
}

fn line(item: &ResetItem, dry_run: bool) -> String {
    let ResetItem { work_item, session, pull_requests, control, reset, waiting } = item;
    if !reset {
        return format!("{work_item}: nothing to reset\n");
    }
    let mut parts: Vec<String> = Vec::new();
    parts.extend(session.as_ref().map(|state| format!("its session ({state})")));
    match pull_requests.len() {
        0 => {}
        1 => parts.push(format!("pull request {}", pull_requests[0])),
        count => parts.push(format!("{count} pull requests")),
    }
    parts.extend(control.as_ref().map(|word| format!("the command `{word}`")));
    let verb = if dry_run { "would forget" } else { "forgot" };
    let left = match waiting {
        _ if dry_run => String::new(),
        0 => String::new(),
        1 => "; 1 effect follows".into(),
        waiting => format!("; {waiting} effects follow"),
    };
    format!("{work_item}: {verb} {}{left}\n", parts.join(", "))
}
