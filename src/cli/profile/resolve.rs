//! `the-loop profile resolve`.

use serde_json::json;

use super::{Text, chosen};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};

/// Arguments of `profile resolve`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    text: Text,
}

/// Prints the name, or `generic` for a text without the flag; exit code 4 for a name that there is not.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let name = chosen(&args.text.text, context)?.map(|profile| profile.name);
    context.out.result(|| json!({ "profile": name }), || format!("{}\n", name.unwrap_or("generic")))?;
    Ok(Exit::Done)
}
