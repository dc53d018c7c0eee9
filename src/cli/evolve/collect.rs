//! `the-loop evolve collect`.

use serde_json::{Value as Json, json};

use crate::app::evolve::{Collected, Evolve};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::domain::evolve::{Case, Outcome, short};

/// Arguments of `evolve collect`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Exit code 1 when an archive gave nothing because it cannot be trusted.
pub(super) fn run(Args {}: &Args, evolve: &Evolve<'_>, context: &Context) -> Result<Exit, Failure> {
    let collected = evolve.collect()?;
    context.out.result(|| as_json(&collected), || visible(&as_text(&collected)))?;
    Ok(if collected.refused.is_empty() { Exit::Done } else { Exit::Refused })
}

const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "PASSED",
        Outcome::Failed => "FAILED",
        Outcome::Unshown => "UNSHOWN",
    }
}

fn as_text(collected: &Collected) -> String {
    let line = |(id, case): &(String, Case)| {
        format!("{}  {}  {} {}: {}\n", short(id), word(case.outcome), case.task_id, case.subject, case.summary)
    };
    let new: String = collected.new.iter().map(line).collect();
    let refused: String = collected.refused.iter().map(|(file, why)| format!("refused `{file}`: {why}\n")).collect();
    format!("{new}{} new, {} known\n{refused}", collected.new.len(), collected.known)
}

fn as_json(collected: &Collected) -> Json {
    let new = collected.new.iter().map(|(id, case)| json!({ "id": id, "case": case }));
    let refused = collected.refused.iter().map(|(file, why)| json!({ "file": file, "why": why }));
    json!({
        "new": new.collect::<Vec<_>>(), "known": collected.known, "refused": refused.collect::<Vec<_>>(),
    })
}
