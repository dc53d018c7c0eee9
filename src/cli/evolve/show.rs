//! `the-loop evolve show`.

use serde_json::json;

use crate::app::evolve::{Evolve, Listed};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::domain::evolve::{What, short};
use crate::domain::json::pretty;
use crate::domain::text::one_line;

/// Arguments of `evolve show`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Entries whose id begins so; without it, the last ones
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// How many at most
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

pub(super) fn run(args: &Args, evolve: &Evolve<'_>, context: &Context) -> Result<Exit, Failure> {
    let entries = evolve.show(args.id.as_deref(), usize::from(args.limit))?;
    let json = || {
        let entries = entries.iter().map(|listed| json!({ "id": listed.id, "entry": listed.entry }));
        json!({ "entries": entries.collect::<Vec<_>>() })
    };
    let text = || match &args.id {
        Some(_) => entries.iter().map(whole).collect::<String>(),
        None if entries.is_empty() => "the ledger is empty\n".to_owned(),
        None => entries.iter().map(line).collect(),
    };
    context.out.result(json, || visible(&text()))?;
    Ok(Exit::Done)
}

fn whole(listed: &Listed) -> String {
    format!("{}\n{}", listed.id, pretty(&json!(listed.entry)))
}

fn line(listed: &Listed) -> String {
    let says = match &listed.entry.what {
        What::Case(case) => format!("{}: {}", case.subject, case.summary),
        What::Classification(counted) => format!("by classifier {}", counted.classifier),
        What::Proposal(proposal) => proposal.text.clone(),
        What::Candidate(candidate) => format!("of {}", short(&candidate.proposal)),
        What::Results(results) => format!("of {}", short(&results.candidate)),
        What::Compared(compared) => format!("{} {}", short(&compared.candidate), compared.verdict.word()),
        What::Decision(decision) => {
            let what = if decision.adopted { "adopted" } else { "rejected" };
            format!("{} {what} by {}", short(&decision.candidate), decision.approved_by)
        }
    };
    let failed = if listed.is_failure() { " (failed)" } else { "" };
    let (id, entry) = (short(&listed.id), &listed.entry);
    format!("{id}  {}  {}{failed}  {}\n", entry.at, entry.what.word(), one_line(&says))
}
