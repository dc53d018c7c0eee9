//! `the-loop run repair`.

use serde_json::json;

use super::{Here, leftovers};
use crate::app::runs::RunError;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};

/// Arguments of `run repair`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Exit code 1 when something stays that nobody can prove to be of no worth.
pub(super) fn run(Args {}: &Args, context: &Context) -> Result<Exit, Failure> {
    let repaired = Here::find(context)?.runs().repair()?;
    if !repaired.kept.is_empty() {
        let lines: String = repaired.kept.iter().map(|judged| format!("\n  {}", judged.line())).collect();
        let said = format!("{} removed; these stay:{lines}", repaired.removed.len());
        return Err(Failure::from(RunError::LeftBehind(said))
            .detail("removed", leftovers(&repaired.removed))
            .detail("kept", leftovers(&repaired.kept)));
    }
    let text = || match repaired.removed.len() {
        0 => "nothing to repair\n".to_owned(),
        _ => repaired.removed.iter().map(|judged| format!("removed {}\n", judged.line())).collect(),
    };
    context.out.result(|| json!({ "removed": leftovers(&repaired.removed), "kept": [] }), text)?;
    Ok(Exit::Done)
}
