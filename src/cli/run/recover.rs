//! `the-loop run recover`.

use super::follow;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::domain::run::Command;

/// Arguments of `run recover`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What interrupted it
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    follow(&Command::Recover { reason: args.reason.clone() }, context)
}
