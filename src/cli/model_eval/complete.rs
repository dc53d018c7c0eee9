//! `the-loop model-eval complete`.

use serde_json::json;

use super::{in_a_line, run_id};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::cli::run::Here;
use crate::domain::model_eval::{RunId, document};

/// Arguments of `model-eval complete`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The evaluation
    #[arg(value_name = "RUN", value_parser = run_id)]
    run: RunId,
    /// What it does not show; without it nothing is completed
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    limitations: String,
}

pub(super) fn run(args: &Args, here: &Here, context: &Context) -> Result<Exit, Failure> {
    let record = here.model_eval().complete(&args.run, &args.limitations)?;
    context.out.result(|| json!({ "record": document(&record) }), || visible(&format!("{}\n", in_a_line(&record))))?;
    Ok(Exit::Done)
}
