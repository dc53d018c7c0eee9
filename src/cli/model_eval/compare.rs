//! `the-loop model-eval compare`.

use serde_json::json;

use super::{as_json, beside, cell};
use crate::cli::columns;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::cli::run::Here;
use crate::domain::model_eval::{Comparison, DISCLAIMER};

/// Arguments of `model-eval compare`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A model, or the id of an evaluation
    #[arg(value_name = "A")]
    one: String,
    /// Another one
    #[arg(value_name = "B")]
    other: String,
}

/// Both are printed in the order of their names, whichever was named first.
pub(super) fn run(args: &Args, here: &Here, context: &Context) -> Result<Exit, Failure> {
    let comparison = here.model_eval().compare(&args.one, &args.other)?;
    let sides = || comparison.sides.iter().map(as_json).collect::<Vec<_>>();
    let json = || json!({ "sides": sides(), "isRanking": false, "disclaimer": DISCLAIMER });
    context.out.result(json, || visible(&text(&comparison)))?;
    Ok(Exit::Done)
}

fn text(comparison: &Comparison) -> String {
    let [one, other] = &comparison.sides;
    let mut rows = vec![[String::new(), one.name.clone(), other.name.clone()]];
    rows.extend(
        one.samples
            .iter()
            .zip(&other.samples)
            .map(|((dimension, left), (_, right))| [dimension.word().to_owned(), cell(*left), cell(*right)]),
    );
    let head = format!("Task set {}\n\n", one.task_set);
    head + &columns(&rows) + &beside(one) + &beside(other) + "\n" + DISCLAIMER + "\n"
}
