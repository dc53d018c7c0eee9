//! `the-loop verify record`.

use serde_json::json;

use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, Kind};
use crate::cli::run::Here;
use crate::domain::verdict::document;

/// Arguments of `verify record`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Read the entry from standard input, as JSON
    #[arg(long, required = true)]
    from_stdin: bool,
}

const FORMS: &str = "write one of `{\"criterion\": {\"id\", \"level\", \"text\", \"artifacts\"}}`, `{\"evidence\": {\"criterion\", \"claim\"}}`, `{\"finding\": {\"id\", \"severity\", \"text\", \"open\"}}`, `{\"blocker\": {\"id\", \"text\", \"open\"}}`";

pub(super) fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let manifest = Here::find(context)?
        .runs()
        .record(&super::typed()?)?
        .map_err(|why| Failure::new(Kind::Refused, format!("the entry cannot be taken: {why}")).hint(FORMS))?;
    context.out.result(
        || json!({ "verification": document(&manifest) }),
        || format!("{}  recorded, generation {}\n", manifest.task, manifest.generation),
    )?;
    Ok(Exit::Done)
}
