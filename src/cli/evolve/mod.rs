//! `the-loop evolve`: improving the loop's own artifacts by evidence. A regression vetoes, only a person adopts, and
//! nothing is applied.

mod candidate;
mod classify;
mod collect;
mod compare;
mod decide;
mod propose;
mod run_suite;
mod show;
mod verify;

use std::sync::Arc;

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::run::Here;
use crate::adapters::system::SystemClock;
use crate::adapters::worktrees::Worktrees;
use crate::app::evolve::Evolve;
use crate::daemon::interrupt::told_to_end;
use crate::domain::evolve::Verdict;
use crate::domain::ports::Clock as _;

/// Arguments of `evolve`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = false)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Take the outcomes of archived runs into the ledger
    Collect(collect::Args),
    /// Count what failed by class
    Classify(classify::Args),
    /// Propose a change for cases that failed
    Propose(propose::Args),
    /// Try a proposal as a patch, beside the repository
    Candidate(candidate::Args),
    /// Run the regression suite of a candidate, with and without the change
    Run(run_suite::Args),
    /// Compare both sides, check by check
    Compare(compare::Args),
    /// Record what a person decides; nothing is applied
    Decide(decide::Args),
    /// Check every entry of the ledger
    Verify(verify::Args),
    /// Show the last entries of the ledger, or one
    Show(show::Args),
}

/// Runs `evolve`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let here = Here::find(context)?;
    // Only what makes folders has something to clear up.
    let is_over = match &args.action {
        Action::Run(_) | Action::Candidate(_) => told_to_end().map_err(|error| {
            Failure::new(Kind::Outside, format!("signals cannot be heard: {error}")).hint("try again")
        })?,
        _ => Arc::default(),
    };
    let bench = Worktrees::new(&here.project, std::env::vars_os().collect(), is_over);
    for folder in bench.tidy() {
        context.out.note(&format!("removed `{}`, which an `evolve` that was killed had left", folder.display()));
    }
    let evolve = Evolve {
        files: &here.files,
        ledger: &here.files,
        project: &here.project,
        bench: &bench,
        is_session: here.is_session(),
        now: SystemClock.now(),
    };
    match &args.action {
        Action::Collect(args) => collect::run(args, &evolve, context),
        Action::Classify(args) => classify::run(args, &evolve, context),
        Action::Propose(args) => propose::run(args, &evolve, context),
        Action::Candidate(args) => candidate::run(args, &evolve, context),
        Action::Run(args) => run_suite::run(args, &evolve, context),
        Action::Compare(args) => compare::run(args, &evolve, context),
        Action::Decide(args) => decide::run(args, &evolve, context),
        Action::Verify(args) => verify::run(args, &evolve, context),
        Action::Show(args) => show::run(args, &evolve, context),
    }
}

/// The exit code of a verdict: only what may be adopted is 0.
const fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Eligible => Exit::Done,
        Verdict::NotImproved | Verdict::Rejected => Exit::Refused,
    }
}
