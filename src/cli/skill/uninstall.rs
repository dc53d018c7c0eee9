//! `the-loop skill uninstall`.

use super::{Which, folder, say};
use crate::app::skill;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};

/// Arguments of `skill uninstall`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
}

/// Only what the record says that this program wrote, and nobody changed since, goes.
pub(super) fn run(Args { which }: &Args, context: &Context) -> Result<Exit, Failure> {
    let place = folder(which, context)?;
    let plan = skill::take(&place, which.dry_run)?;
    say(&plan, which, &place, context)
}
