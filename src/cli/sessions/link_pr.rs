//! `the-loop sessions link-pr`: a pull request is recorded on an item's record.

use super::say;
use super::show::named;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, Kind};
use crate::cli::work_item::resolve;
use crate::daemon::compose::Setting;
use crate::domain::decide::Act;

/// Arguments of `sessions link-pr`.
#[derive(Debug, clap::Args)]
#[command(override_usage = "the-loop sessions link-pr [OPTIONS] ITEM PR")]
pub struct Args {
    /// The work item and its pull request, each as `owner/repo#15`, an address, or `15`
    #[arg(value_names = ["ITEM", "PR"], num_args = 1..=2, required = true)]
    references: Vec<String>,
    /// The same as `ITEM`
    #[arg(long = "work-item", value_name = "ITEM")]
    work_item: Option<String>,
}

/// Links.
pub(super) fn run(args: &Args, context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    let (item, pull_request) = match (&args.work_item, args.references.as_slice()) {
        (Some(item), [pull_request]) | (None, [item, pull_request]) => (item, pull_request),
        (None, _) => return Err(usage("the pull request is missing")),
        (Some(_), _) => return Err(usage("the item is named twice")),
    };
    let item = named(item, setting)?;
    // A bare number is of the item's repository, wherever the command is given.
    let pull_request = resolve(pull_request, || Ok(item.repo().clone()))?;
    say::by_hand(item, Act::LinkPr(pull_request), context, setting)
}

fn usage(what: &str) -> Failure {
    Failure::new(Kind::Usage, what).hint("write `the-loop sessions link-pr ITEM PR`")
}
