//! `the-loop run repair`.

use serde_json::json;

use super::{Here, left_line, leftovers, together};
use crate::app::kept;
use crate::app::runs::RunError;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};

/// Arguments of `run repair`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Exit code 1 when something stays that nobody can prove to be of no worth.
pub(super) fn run(Args {}: &Args, context: &Context) -> Result<Exit, Failure> {
    let here = Here::find(context)?;
    let repaired = here.runs().repair()?;
    let (more_removed, more_kept) = kept::repair(&here.files)?;
    let removed = together(&repaired.removed, &more_removed);
    let kept = together(&repaired.kept, &more_kept);
    if !kept.is_empty() {
        let lines: String = kept.iter().map(|left| format!("\n  {}", left_line(left))).collect();
        let said = format!("{} removed; these stay:{lines}", removed.len());
        return Err(Failure::from(RunError::LeftBehind(said))
            .detail("removed", leftovers(&removed))
            .detail("kept", leftovers(&kept)));
    }
    let text = || match removed.len() {
        0 => "nothing to repair\n".to_owned(),
        _ => removed.iter().map(|left| format!("removed {}\n", left_line(left))).collect(),
    };
    context.out.result(|| json!({ "removed": leftovers(&removed), "kept": [] }), text)?;
    Ok(Exit::Done)
}
