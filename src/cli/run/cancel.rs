//! `the-loop run cancel`.

use super::{Here, say};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::domain::run::Command;

/// Arguments of `run cancel`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Why it is given up
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut here = Here::find(context)?;
    let (runs, _) = here.runs_knowing(context)?;
    say(&runs.follow(&Command::Cancel { reason: args.reason.clone() })?, context)
}
