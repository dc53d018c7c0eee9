//! `the-loop run start`.

use super::{Here, say};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::profile::unknown;
use crate::domain::profile::by_name;
use crate::domain::run::ProfileName;

/// Arguments of `run start`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What the work is for
    #[arg(long, value_name = "TEXT")]
    objective: String,
    /// The profile it runs under
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let profile = match &args.profile {
        Some(name) => Some(ProfileName::of(by_name(name).ok_or_else(|| unknown(name.trim()))?)),
        None => None,
    };
    say(&Here::find(context)?.runs().start(&args.objective, profile)?, context)
}
