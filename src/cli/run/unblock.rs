//! `the-loop run unblock`.

use super::follow;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::domain::run::Command;

/// Arguments of `run unblock`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(Args {}: &Args, context: &Context) -> Result<Exit, Failure> {
    follow(&Command::Unblock, context)
}
