//! `the-loop profile task`.

use serde_json::json;

use super::show::as_json;
use super::{Text, chosen};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::domain::profile::strip;

/// Arguments of `profile task`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    text: Text,
}

/// Prints the name on a line, then the text without the flag, byte for byte.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let profile = chosen(&args.text.text, context)?;
    let text = strip(&args.text.text);
    context.out.result(
        || json!({ "profile": profile.map(as_json), "text": text }),
        || format!("{}\n{text}", profile.map_or("generic", |profile| profile.name)),
    )?;
    Ok(Exit::Done)
}
