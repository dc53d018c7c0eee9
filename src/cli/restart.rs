//! `the-loop restart`: ends the daemon that runs, if one does, and starts this program's.

use super::context::Context;
use super::exit::{Exit, Failure};
use super::setting::setting;
use super::{start, stop};

/// Arguments of `restart`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `restart`. The configuration is read before anything ends: one that is wrong ends nothing.
pub fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let setting = setting(context)?;
    match stop::end(&setting)? {
        Some(pid) => context.out.note(&format!("stopped pid {pid}")),
        None => context.out.note("no daemon ran"),
    }
    start::begin(&setting, context)
}
