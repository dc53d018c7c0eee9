//! `the-loop skill install`.

use super::{Which, folder, say};
use crate::app::skill;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::domain::skill::files;

/// Arguments of `skill install`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
}

/// A second run finds nothing to do; another version replaces what this one wrote.
pub(super) fn run(Args { which }: &Args, context: &Context) -> Result<Exit, Failure> {
    let place = folder(which, context)?;
    let plan = skill::put(&files(which.agent), &place, which.dry_run)?;
    say(&plan, which, &place, context)
}
