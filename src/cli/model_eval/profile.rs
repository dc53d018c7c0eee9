//! `the-loop model-eval profile`.

use serde_json::json;

use super::{as_json, beside, cell};
use crate::cli::columns;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::cli::run::Here;
use crate::domain::model_eval::{DISCLAIMER, Profile};

/// Arguments of `model-eval profile`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The model, or the id of one evaluation
    #[arg(value_name = "MODEL")]
    model: String,
}

pub(super) fn run(args: &Args, here: &Here, context: &Context) -> Result<Exit, Failure> {
    let profile = here.model_eval().profile(&args.model)?;
    let json = || json!({ "profile": as_json(&profile), "disclaimer": DISCLAIMER });
    context.out.result(json, || visible(&text(&profile)))?;
    Ok(Exit::Done)
}

fn text(profile: &Profile) -> String {
    let head = format!("{}, task set {}, evaluations: {}\n\n", profile.name, profile.task_set, profile.runs.len());
    let rows: Vec<[String; 2]> =
        profile.samples.iter().map(|(dimension, sample)| [dimension.word().to_owned(), cell(*sample)]).collect();
    head + &columns(&rows) + &beside(profile) + "\n" + DISCLAIMER + "\n"
}
