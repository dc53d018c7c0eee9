//! `the-loop run complete`.

use super::{Here, say};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};

/// Arguments of `run complete`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(Args {}: &Args, context: &Context) -> Result<Exit, Failure> {
    say(&Here::find(context)?.runs().complete()?, context)
}
