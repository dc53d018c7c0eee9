//! `the-loop run status`.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::{Here, leftovers, line, together};
use crate::app::runs::StatusView;
use crate::cli::context::Context;
use crate::cli::counted;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::domain::run::document;

/// Arguments of `run status`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Exit code 0 for a run of this project, 2 for one of another.
pub(super) fn run(Args {}: &Args, context: &Context) -> Result<Exit, Failure> {
    let view = Here::find(context)?.runs().status()?;
    context.out.result(|| as_json(&view), || visible(&as_text(&view)))?;
    Ok(if view.mismatch.is_some() { Exit::Blocked } else { Exit::Done })
}

fn as_json(view: &StatusView) -> Json {
    let StatusView { live, mismatch, commits, changes, archives, .. } = view;
    json!({
        "run": document(&live.run),
        "integrity": live.integrity().word(),
        "doubts": live.doubts,
        "identity": { "matches": mismatch.is_none(), "why": mismatch },
        "git": {
            "branch": live.today.branch,
            "head": live.today.head,
            "commitsSince": commits.as_ref().map(|(_, count)| count),
            "dirty": changes.1 > 0,
            "changes": changes.1,
        },
        "leftovers": leftovers(&together(&view.leftovers, &[])),
        "archives": archives,
    })
}

fn as_text(view: &StatusView) -> String {
    let StatusView { live, mismatch, commits, changes, .. } = view;
    let (run, today) = (&live.run, &live.today);
    let mut text = format!("{}\n", line(run));
    let mut row = |name: &str, value: String| {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name:<12}{value}");
    };
    row("Objective", crate::domain::text::one_line(&run.objective));
    if let Some(note) = &run.stage_note {
        row("Note", crate::domain::text::one_line(note));
    }
    row("Written", run.updated_at.to_string());
    row("Integrity", live.integrity().word().to_owned());
    live.doubts.iter().for_each(|doubt| row("", doubt.clone()));
    row("Identity", mismatch.clone().unwrap_or_else(|| "this project".to_owned()));
    run.blockers.iter().for_each(|blocker| row("Blocker", format!("{} (since {})", blocker.reason, blocker.since)));
    if let Some(recovery) = &run.recovery {
        row("Interrupted", format!("in stage {}: {}", recovery.interrupted_stage, recovery.reason));
    }
    let then = |then: &Option<String>, now: &Option<String>| match (then == now, then) {
        (false, Some(then)) => format!(" (was {then})"),
        _ => String::new(),
    };
    let none = "none".to_owned();
    row("Branch", format!("{}{}", today.branch.as_ref().unwrap_or(&none), then(&run.identity.branch, &today.branch)));
    row("Head", format!("{}{}", today.head.as_ref().unwrap_or(&none), then(&run.identity.head, &today.head)));
    if let Some((_, count)) = commits {
        row("Commits", format!("{count} since"));
    }
    row("Changed", counted(changes.1, "file"));
    view.leftovers.iter().for_each(|judged| row("Left behind", judged.line()));
    view.archives.iter().for_each(|name| row("Archived", format!("as {name}: its ending was cut off")));
    text
}
