//! `the-loop run block`.

use super::follow;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::domain::run::Command;

/// Arguments of `run block`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What has to happen first
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    follow(&Command::Block { reason: args.reason.clone() }, context)
}
