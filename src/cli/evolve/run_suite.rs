//! `the-loop evolve run`.

use std::time::Duration;

use serde_json::json;

use crate::app::evolve::Evolve;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::domain::evolve::{Side, short};
use crate::domain::ports::Limits;

/// Arguments of `evolve run`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The candidate, by the beginning of its id
    #[arg(value_name = "CANDIDATE")]
    candidate: String,
    /// Most seconds that the suite may take on each side
    #[arg(long, value_name = "SECONDS", default_value_t = 1800, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    time_limit: u64,
    /// Most MiB that the suite may print on each side
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1024))]
    output_limit: u64,
}

/// Exit code 0 when both sides were run, whatever they came to; that is for `evolve compare`.
pub(super) fn run(args: &Args, evolve: &Evolve<'_>, context: &Context) -> Result<Exit, Failure> {
    let limits = Limits { time: Duration::from_secs(args.time_limit), output: args.output_limit << 20 };
    let results = evolve.run(&args.candidate, limits)?;
    let text = || {
        let first = format!("{}  run on both sides\n", short(&results.candidate));
        first + &side("without the change", &results.base) + &side("with the change", &results.changed)
    };
    context.out.result(|| json!({ "results": results }), || visible(&text()))?;
    Ok(Exit::Done)
}

fn side(name: &str, side: &Side) -> String {
    let tiers: String =
        side.tiers.iter().map(|(tier, counts)| format!(", {tier} {} of {}", counts.passed, counts.total)).collect();
    let unusable = side.unusable.iter().map(|why| format!(", {why}")).collect::<String>();
    format!("{name}: exit code {}{tiers}{unusable}\n", side.exit_code)
}
