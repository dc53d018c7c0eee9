//! `the-loop run resume`: the gates.

use super::{Here, say};
use crate::app::runs::RunError;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;

/// Arguments of `run resume`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The digest at the end of the report that was read
    #[arg(long, value_name = "DIGEST")]
    approve: Option<String>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut here = Here::find(context)?;
    let (runs, work_item) = here.runs_knowing(context)?;
    if let Some(digest) = &args.approve {
        return say(&runs.resume(digest, work_item)?, context);
    }
    let report = runs.report(work_item)?;
    if !context.out.is_json() {
        context.out.data(&visible(&format!("{}Digest          {}\n", report.text, report.digest)))?;
    }
    match context.out.ask("resume at this stage? [y/N] ") {
        Some(true) => say(&runs.resume(&report.digest, work_item)?, context),
        _ => Err(RunError::NotApproved(Box::new(report)).into()),
    }
}
