//! `the-loop model-eval record`.

use serde_json::json;

use super::{in_a_line, run_id};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, Kind};
use crate::cli::output::visible;
use crate::cli::run::Here;
use crate::cli::verify::typed;
use crate::domain::model_eval::{RunId, document};

/// Arguments of `model-eval record`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The evaluation
    #[arg(value_name = "RUN", value_parser = run_id)]
    run: RunId,
    /// Read the observation from standard input, as JSON
    #[arg(long, required = true)]
    from_stdin: bool,
}

const FORM: &str = "write `{\"task\", \"dimension\", \"success\", \"evidence\"}`, and `\"attempt\"` from the second on; `the-loop model-eval show` prints the tasks";

pub(super) fn run(args: &Args, here: &Here, context: &Context) -> Result<Exit, Failure> {
    let record = here
        .model_eval()
        .observe(&args.run, &typed()?)?
        .map_err(|why| Failure::new(Kind::Refused, format!("the observation cannot be taken: {why}")).hint(FORM))?;
    context.out.result(|| json!({ "record": document(&record) }), || visible(&format!("{}\n", in_a_line(&record))))?;
    Ok(Exit::Done)
}
