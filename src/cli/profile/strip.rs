//! `the-loop profile strip`.

use serde_json::json;

use super::Text;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::domain::profile::strip;

/// Arguments of `profile strip`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    text: Text,
}

/// Prints the text byte for byte, without a line end of its own.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let text = strip(&args.text.text);
    context.out.result(|| json!({ "text": text }), || text.clone())?;
    Ok(Exit::Done)
}
