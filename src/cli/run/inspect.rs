//! `the-loop run inspect`.

use std::path::PathBuf;

use serde_json::json;

use super::{Here, left_line, leftovers, together};
use crate::app::kept;
use crate::app::runs::FileView;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::domain::run::Leftover;

/// Arguments of `run inspect`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Exit code 0 for a file that can be read, 2 for one that cannot, 3 for none.
pub(super) fn run(Args {}: &Args, context: &Context) -> Result<Exit, Failure> {
    let here = Here::find(context)?;
    let view = here.runs().inspect()?;
    let left = together(&view.leftovers, &kept::leftovers(&here.files)?);
    let FileView { path, size, fault, .. } = &view;
    let json = || {
        let path = path.display().to_string();
        json!({ "path": path, "bytes": size, "fault": fault, "leftovers": leftovers(&left) })
    };
    context.out.result(json, || visible(&text(&view, &left)))?;
    Ok(match (size, fault) {
        (None, _) => Exit::NoRun,
        (Some(_), Some(_)) => Exit::Blocked,
        (Some(_), None) => Exit::Done,
    })
}

fn text(view: &FileView, left: &[(PathBuf, Leftover)]) -> String {
    let path = view.path.display();
    let first = match (view.size, &view.fault) {
        (None, _) => format!("{path}: there is none\n"),
        (Some(size), None) => format!("{path}: {size} bytes, a run\n"),
        (Some(size), Some(fault)) => format!("{path}: {size} bytes, CORRUPT: {fault}\n"),
    };
    let lines = left.iter().map(|left| format!("{}\n", left_line(left)));
    std::iter::once(first).chain(lines).collect()
}
