//! `the-loop restart`: ends the daemon that runs, if one does, and starts this program's.

use super::context::Context;
use super::exit::{Exit, Failure};
use super::setting::setting;
use super::{start, stop};
use crate::daemon::run;

/// Arguments of `restart`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `restart`. What a start would refuse is found before anything ends.
pub fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let setting = setting(context)?;
    run::check(&setting)?;
    if let Some(pid) = stop::end(&setting)? {
        context.out.detail(&format!("stopped pid {pid}"));
    }
    start::begin(&setting, context)
}
