//! `the-loop verify evaluate`.

use serde_json::json;

use super::{Limit, exit};
use crate::adapters::checks::CheckRunner;
use crate::app::runs::{Evaluated, RunError};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::cli::run::Here;
use crate::domain::ports::Checks;
use crate::domain::verdict::{Judgement, Verdict};

/// Arguments of `verify evaluate`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run every recorded passing command again; its real exit code counts
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    limit: Limit,
}

/// Exit code 0 PASS, 1 FAIL, 2 BLOCKED, 3 NEEDS_REVIEW.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let here = Here::find(context)?;
    let commands = CheckRunner::new(here.project.root().to_owned());
    let fresh = args.fresh.then_some((args.limit.time(), &commands as &dyn Checks));
    let Evaluated { judgement, exposed } = match here.runs().evaluate(fresh) {
        // Without a run there is nothing that the evidence could be about.
        Err(error @ RunError::NoRun) => Evaluated {
            judgement: Judgement { verdict: Verdict::Blocked, reasons: vec![error.to_string()] },
            exposed: Vec::new(),
        },
        evaluated => evaluated?,
    };
    let Judgement { verdict, reasons } = judgement;
    let json = || json!({ "verdict": verdict.word(), "reasons": reasons, "exposed": exposed });
    let text = || {
        let lines = exposed.iter().chain(&reasons).map(|line| format!("  {line}\n"));
        visible(&std::iter::once(format!("{verdict}\n")).chain(lines).collect::<String>())
    };
    context.out.result(json, text)?;
    Ok(exit(verdict))
}
