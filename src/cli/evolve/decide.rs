//! `the-loop evolve decide`.

use serde_json::json;

use crate::app::evolve::Evolve;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::domain::evolve::short;

/// Arguments of `evolve decide`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["adopt", "reject"]))]
pub(super) struct Args {
    /// The candidate, by the beginning of its id
    #[arg(value_name = "CANDIDATE")]
    candidate: String,
    /// It is adopted
    #[arg(long)]
    adopt: bool,
    /// It is not
    #[arg(long)]
    reject: bool,
    /// The person who decides; without one nothing is decided
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    approved_by: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) fn run(args: &Args, evolve: &Evolve<'_>, context: &Context) -> Result<Exit, Failure> {
    let decision = evolve.decide(&args.candidate, args.adopt, &args.approved_by, args.reason.clone())?;
    let text = || {
        let id = short(&decision.candidate);
        let what = if decision.adopted { "adopted" } else { "rejected" };
        format!("{id}  {what} by {}; recorded only, nothing was applied\n", decision.approved_by)
    };
    context.out.result(|| json!({ "decision": decision }), || visible(&text()))?;
    Ok(Exit::Done)
}
