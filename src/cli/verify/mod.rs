//! `the-loop verify`: evidence for the live run, and the verdict that follows from it.

mod evaluate;
mod exec;
mod record;

use std::io::Read as _;
use std::time::Duration;

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use crate::domain::run::LARGEST;
use crate::domain::verdict::Verdict;

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = false)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Append one entry: a criterion, a claim, a finding or a blocker
    Record(record::Args),
    /// Run a command and record what it came to
    Exec(exec::Args),
    /// Decide by what was recorded
    Evaluate(evaluate::Args),
}

/// How long a command may take.
#[derive(Debug, Clone, clap::Args)]
struct Limit {
    /// Most seconds that a command may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    time_limit: u64,
}

impl Limit {
    const fn time(&self) -> Duration {
        Duration::from_secs(self.time_limit)
    }
}

/// Runs `verify`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.action {
        Action::Record(args) => record::run(args, context),
        Action::Exec(args) => exec::run(args, context),
        Action::Evaluate(args) => evaluate::run(args, context),
    }
}

/// Standard input, not much further than any document of ours goes.
pub(super) fn typed() -> Result<Vec<u8>, Failure> {
    let mut typed = Vec::new();
    let read = std::io::stdin().lock().take(LARGEST as u64 + 1).read_to_end(&mut typed);
    read.map_err(|error| Failure::new(Kind::Outside, format!("could not read standard input: {error}")))?;
    Ok(typed)
}

/// The exit code of a verdict.
const fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Pass => Exit::Done,
        Verdict::Fail => Exit::Refused,
        Verdict::Blocked => Exit::Blocked,
        Verdict::NeedsReview => Exit::NoRun,
    }
}
