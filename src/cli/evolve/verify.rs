//! `the-loop evolve verify`.

use serde_json::{Value as Json, json};

use crate::app::evolve::{Breach, Checked, Evolve};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::domain::evolve::short;
use crate::domain::text::one_line;

/// Arguments of `evolve verify`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Exit code 2 when an entry was changed, put in, taken out or moved, or breaks a rule.
pub(super) fn run(Args {}: &Args, evolve: &Evolve<'_>, context: &Context) -> Result<Exit, Failure> {
    let checked = evolve.verify()?;
    if checked.torn > 0 {
        context
            .out
            .note(&format!("the last line was cut off after {} bytes; the next entry takes its place", checked.torn));
    }
    context.out.result(|| as_json(&checked), || visible(&as_text(&checked)))?;
    Ok(if checked.broken == 0 { Exit::Done } else { Exit::Blocked })
}

fn as_text(checked: &Checked) -> String {
    let Checked { entries, last, breaches, broken, .. } = checked;
    let Some(last) = last else { return "the ledger is empty\n".to_owned() };
    if breaches.is_empty() {
        return format!("{entries} entries, each as it was written and as the rules allow; the last is {last}\n");
    }
    let line = |breach: &Breach| {
        let Breach { sequence, id, what, why } = breach;
        format!("entry {sequence}  {}  {what}: {}\n", short(id), one_line(why))
    };
    let lines: String = breaches.iter().map(line).collect();
    format!("{lines}{entries} entries, {broken} of them break a rule: the ledger cannot be trusted\n")
}

fn as_json(checked: &Checked) -> Json {
    let breaches = checked
        .breaches
        .iter()
        .map(|breach| json!({ "sequence": breach.sequence, "id": breach.id, "what": breach.what, "why": breach.why }));
    json!({
        "entries": checked.entries, "last": checked.last, "tornBytes": checked.torn,
        "broken": checked.broken, "breaches": breaches.collect::<Vec<_>>(),
    })
}
