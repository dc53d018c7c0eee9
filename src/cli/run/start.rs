//! `the-loop run start`.

use super::{Here, say};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};

/// Arguments of `run start`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What the work is for
    #[arg(long, value_name = "TEXT")]
    objective: String,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    say(&Here::find(context)?.runs().start(&args.objective, None)?, context)
}
