//! `the-loop model-eval new`.

use serde_json::json;

use super::{in_a_line, line};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::cli::run::Here;
use crate::domain::model_eval::{Line, NewRun, document};

/// Arguments of `model-eval new`.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Args {
    /// The model, as its provider names it
    #[arg(value_name = "MODEL", value_parser = line)]
    model: Line,
    /// Who starts it
    #[arg(long, value_name = "NAME", value_parser = line)]
    operator: Line,
    /// In what it runs: harness, its version, limits
    #[arg(long, value_name = "TEXT", value_parser = line)]
    environment: Line,
    /// Tells several evaluations of one model apart
    #[arg(long, value_name = "NAME", default_value = "1", value_parser = line)]
    label: Line,
}

pub(super) fn run(args: &Args, here: &Here, context: &Context) -> Result<Exit, Failure> {
    let Args { model, operator, environment, label } = args.clone();
    let (record, notes) = here.model_eval().start(NewRun { model, label, operator, environment })?;
    for note in &notes {
        context.out.note(note);
    }
    context.out.result(
        || json!({ "record": document(&record), "notes": notes }),
        || visible(&format!("{}\n", in_a_line(&record))),
    )?;
    Ok(Exit::Done)
}
