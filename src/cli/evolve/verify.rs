//! `the-loop evolve verify`.

use serde_json::json;

use crate::app::evolve::Evolve;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};

/// Arguments of `evolve verify`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Exit code 2 when an entry was changed, put in, taken out or moved.
pub(super) fn run(Args {}: &Args, evolve: &Evolve<'_>, context: &Context) -> Result<Exit, Failure> {
    let checked = evolve.verify()?;
    if checked.torn > 0 {
        context
            .out
            .note(&format!("the last line was cut off after {} bytes; the next entry takes its place", checked.torn));
    }
    context.out.result(
        || json!({ "entries": checked.entries, "last": checked.last, "tornBytes": checked.torn }),
        || match &checked.last {
            Some(last) => format!("{} entries, each as it was written; the last is {last}\n", checked.entries),
            None => "the ledger is empty\n".to_owned(),
        },
    )?;
    Ok(Exit::Done)
}
