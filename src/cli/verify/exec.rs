//! `the-loop verify exec`.

use serde_json::json;

use super::Limit;
use crate::adapters::checks::CheckRunner;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, Kind};
use crate::cli::output::visible;
use crate::cli::run::Here;
use crate::domain::verdict::Proof;

/// Arguments of `verify exec`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What it shows
    #[arg(long, value_name = "ID")]
    criterion: String,
    #[command(flatten)]
    limit: Limit,
    /// The command, run at the root of the project without a shell
    #[arg(value_name = "ARGV", required = true, last = true)]
    argv: Vec<String>,
}

/// Exit code 0 for a command that passed, 1 for one that did not; both are recorded.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let here = Here::find(context)?;
    let commands = CheckRunner::new(here.project.root().to_owned());
    let evidence = here.runs().exec(&args.criterion, &args.argv, args.limit.time(), &commands)?;
    let Proof::Exec(exec) = evidence.proof else {
        return Err(Failure::new(Kind::Bug, "a command was recorded as something else"));
    };
    if exec.changed_tree {
        context.out.note("the command changed the tree: it counts as a claim only");
    }
    let json = || {
        json!({
            "criterion": args.criterion, "argv": exec.argv, "exitCode": exec.exit_code,
            "durationMs": exec.duration_ms, "changedTree": exec.changed_tree, "outputTail": exec.output_tail,
        })
    };
    let text = || {
        let end = if exec.output_tail.is_empty() || exec.output_tail.ends_with('\n') { "" } else { "\n" };
        visible(&format!("{}{end}exit code {}, recorded for `{}`\n", exec.output_tail, exec.exit_code, args.criterion))
    };
    context.out.result(json, text)?;
    Ok(if exec.exit_code == 0 { Exit::Done } else { Exit::Refused })
}
