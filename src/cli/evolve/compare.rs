//! `the-loop evolve compare`.

use serde_json::{Value as Json, json};

use super::exit;
use crate::app::evolve::{Evolve, Seen};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::domain::evolve::short;

/// Arguments of `evolve compare`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The candidate, by the beginning of its id
    #[arg(value_name = "CANDIDATE")]
    candidate: String,
}

/// Exit code 0 for ELIGIBLE, 1 for REJECTED and NOT_IMPROVED.
pub(super) fn run(args: &Args, evolve: &Evolve<'_>, context: &Context) -> Result<Exit, Failure> {
    let seen = evolve.compare(&args.candidate)?;
    context.out.result(|| as_json(&seen), || visible(&as_text(&seen)))?;
    Ok(exit(seen.comparison.verdict))
}

fn as_text(seen: &Seen) -> String {
    let Seen { candidate, comparison } = seen;
    let first = format!("{}  {}\n", short(candidate), comparison.verdict.word());
    let reasons = comparison.reasons.iter().map(|reason| format!("  {reason}\n"));
    std::iter::once(first).chain(reasons).collect()
}

fn as_json(seen: &Seen) -> Json {
    let Seen { candidate, comparison } = seen;
    let checks = comparison.checks.iter().map(|check| {
        let is_regression = check.change.is_regression();
        json!({ "check": check.check, "change": check.change.words(), "regression": is_regression })
    });
    let tiers =
        comparison.tiers.iter().map(|(tier, before, now)| json!({ "tier": tier, "base": before, "changed": now }));
    json!({
        "candidate": candidate,
        "verdict": comparison.verdict,
        "reasons": comparison.reasons,
        "passing": { "base": comparison.passing.0, "changed": comparison.passing.1 },
        "checks": checks.collect::<Vec<_>>(),
        "tiers": tiers.collect::<Vec<_>>(),
    })
}
