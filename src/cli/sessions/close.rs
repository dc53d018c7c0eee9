//! `the-loop sessions close`: an item is over here, and its agents end.

use super::say;
use super::show::item;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::work_item::WorkItemArg;
use crate::daemon::compose::Setting;
use crate::domain::decide::Act;

/// Arguments of `sessions close`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    item: WorkItemArg,
    /// Keep the panes with what they showed, whatever the configuration says
    #[arg(long, conflicts_with = "kill_tmux")]
    keep_tmux: bool,
    /// Remove the panes too, whatever the configuration says
    #[arg(long)]
    kill_tmux: bool,
}

/// Closes.
pub(super) fn run(args: &Args, context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    let item = item(&args.item, setting)?;
    let keep_pane = (args.keep_tmux || args.kill_tmux).then_some(args.keep_tmux);
    say::by_hand(item, Act::Close { keep_pane }, context, setting)
}
