//! `the-loop evolve propose`.

use serde_json::json;

use crate::app::evolve::Evolve;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::domain::evolve::short;

/// Arguments of `evolve propose`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A recorded case that failed, by the beginning of its id; without one nothing is proposed
    #[arg(long = "case", value_name = "ID")]
    cases: Vec<String>,
    /// A file or folder that may be changed, relative to the root
    #[arg(long = "target", value_name = "PATH")]
    targets: Vec<String>,
    /// What is to be changed, and why
    #[arg(long, value_name = "TEXT")]
    text: String,
    /// What a model says about it; carried, and no evidence
    #[arg(long = "claim", value_name = "TEXT")]
    claims: Vec<String>,
}

pub(super) fn run(args: &Args, evolve: &Evolve<'_>, context: &Context) -> Result<Exit, Failure> {
    let (id, proposal) = evolve.propose(&args.cases, &args.targets, &args.text, &args.claims)?;
    context.out.result(
        || json!({ "id": id, "proposal": proposal }),
        || format!("{}  proposed for {} failed cases\n", short(&id), proposal.cases.len()),
    )?;
    Ok(Exit::Done)
}
