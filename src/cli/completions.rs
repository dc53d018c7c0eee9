//! `the-loop completions SHELL`: what a shell loads to complete commands and options, made from clap.

use clap_complete::Shell;
use serde_json::json;

use super::context::Context;
use super::exit::{Exit, Failure};

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell that loads it
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs `completions`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), super::NAME, &mut script);
    let script = String::from_utf8_lossy(&script);
    context.out.result(|| json!({ "shell": args.shell.to_string(), "script": script }), || script.to_string())?;
    Ok(Exit::Done)
}
