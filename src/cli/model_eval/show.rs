//! `the-loop model-eval show`.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::{in_a_line, run_id};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::visible;
use crate::cli::run::Here;
use crate::domain::model_eval::{Record, RunId, Task, document, shipped};
use crate::domain::text::one_line;

/// Arguments of `model-eval show`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The evaluation; without one, the tasks and every evaluation
    #[arg(value_name = "RUN", value_parser = run_id)]
    run: Option<RunId>,
}

pub(super) fn run(args: &Args, here: &Here, context: &Context) -> Result<Exit, Failure> {
    match &args.run {
        Some(run) => {
            let record = here.model_eval().record(run)?;
            context.out.result(|| json!({ "record": document(&record) }), || visible(&one(&record)))?;
        }
        None => {
            let records = here.model_eval().records()?;
            context.out.result(|| all_json(&records), || visible(&all(&records)))?;
        }
    }
    Ok(Exit::Done)
}

fn one(record: &Record) -> String {
    let mut text = format!("{}\n", in_a_line(record));
    let mut row = |name: &str, value: &str| {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name:<12}{}", one_line(value));
    };
    row("Task set", &record.task_set.to_string());
    row("Operator", record.of.operator.as_str());
    row("Environment", record.of.environment.as_str());
    if let Some(completion) = &record.completion {
        row("Limitations", &completion.limitations);
    }
    for seen in &record.observations {
        let success = if seen.success { "success" } else { "no success" };
        let what = format!("{} (attempt {}), {}: {success}: ", seen.task, seen.attempt, seen.dimension.word());
        row("Seen", &format!("{what}{}", seen.evidence));
    }
    text
}

fn all(records: &[Record]) -> String {
    let set = shipped();
    let mut text = format!("Task set {}\n", set.edition);
    for task in &set.tasks {
        let _ = write!(text, "\n{}: {}\n  setup: {}\n  prompt: {}\n", task.id, task.title, task.setup, task.prompt);
        for (dimension, when) in &task.successes {
            let _ = writeln!(text, "  {}: {when}", dimension.word());
        }
    }
    let lines: String = records.iter().map(|record| format!("{}\n", in_a_line(record))).collect();
    let none = if records.is_empty() { "no evaluation was started here\n" } else { "" };
    text + "\n" + &lines + none
}

fn all_json(records: &[Record]) -> Json {
    let set = shipped();
    let task = |task: &Task| {
        let successes: serde_json::Map<String, Json> =
            task.successes.iter().map(|(dimension, when)| (dimension.word().to_owned(), when.clone().into())).collect();
        json!({
            "id": task.id, "title": task.title, "setup": task.setup, "prompt": task.prompt, "successes": successes,
        })
    };
    json!({
        "taskSet": {
            "version": set.edition.version, "hash": set.edition.hash,
            "tasks": set.tasks.iter().map(task).collect::<Vec<_>>(),
        },
        "records": records.iter().map(document).collect::<Vec<_>>(),
    })
}
