//! `the-loop run inspect`.

use serde_json::json;

use super::{Here, leftovers};
use crate::app::runs::FileView;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;

/// Arguments of `run inspect`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Exit code 0 for a file that can be read, 2 for one that cannot, 3 for none.
pub(super) fn run(Args {}: &Args, context: &Context) -> Result<Exit, Failure> {
    let view = Here::find(context)?.runs().inspect()?;
    let FileView { path, size, fault, .. } = &view;
    let json = || {
        let path = path.display().to_string();
        json!({ "path": path, "bytes": size, "fault": fault, "leftovers": leftovers(&view.leftovers) })
    };
    context.out.result(json, || visible(&text(&view)))?;
    Ok(match (size, fault) {
        (None, _) => Exit::NoRun,
        (Some(_), Some(_)) => Exit::Blocked,
        (Some(_), None) => Exit::Done,
    })
}

fn text(view: &FileView) -> String {
    let path = view.path.display();
    let first = match (view.size, &view.fault) {
        (None, _) => format!("{path}: there is none\n"),
        (Some(size), None) => format!("{path}: {size} bytes, a run\n"),
        (Some(size), Some(fault)) => format!("{path}: {size} bytes, CORRUPT: {fault}\n"),
    };
    let lines = view.leftovers.iter().map(|judged| format!("{}\n", judged.line()));
    std::iter::once(first).chain(lines).collect()
}
