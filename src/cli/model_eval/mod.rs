//! `the-loop model-eval`: what was observed of models on identical tasks. Nothing here ranks, calls a provider or knows a
//! credential.

mod compare;
mod complete;
mod new;
mod profile;
mod record;
mod show;

use serde_json::{Value as Json, json};

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::run::Here;
use crate::app::kept::KeptError;
use crate::domain::model_eval::{Line, Profile, Record, RunId, Sample};

/// Arguments of `model-eval`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = false)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Start an evaluation of a model; for an operator
    New(new::Args),
    /// Write down one observation
    Record(record::Args),
    /// Close an evaluation for ever, with what it does not show
    Complete(complete::Args),
    /// Show the tasks and every evaluation, or one of them
    Show(show::Args),
    /// Count what was observed of a model
    Profile(profile::Args),
    /// Put two models, or two evaluations, side by side; no ranking
    Compare(compare::Args),
}

/// Runs `model-eval`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let here = Here::find(context)?;
    match &args.action {
        Action::New(args) => new::run(args, &here, context),
        Action::Record(args) => record::run(args, &here, context),
        Action::Complete(args) => complete::run(args, &here, context),
        Action::Show(args) => show::run(args, &here, context),
        Action::Profile(args) => profile::run(args, &here, context),
        Action::Compare(args) => compare::run(args, &here, context),
    }
}

/// The id of a record, on the line.
fn run_id(text: &str) -> Result<RunId, String> {
    RunId::parse(text).ok_or_else(|| "an id is `eval-` and 16 hex digits".to_owned())
}

/// A name, on the line.
fn line(text: &str) -> Result<Line, String> {
    Line::parse(text)
}

/// A record in a line.
fn in_a_line(record: &Record) -> String {
    let state = if record.completion.is_some() { "COMPLETED" } else { "OPEN" };
    let count = record.observations.len();
    format!("{}  {state}, {count} observations, {}, label {}", record.run_id, record.of.model, record.of.label)
}

/// A profile as JSON.
fn as_json(profile: &Profile) -> Json {
    let dimensions = profile.samples.iter().map(|(dimension, sample)| match sample {
        Sample::Insufficient { tasks } => {
            json!({ "dimension": dimension.word(), "sample": "INSUFFICIENT_SAMPLE", "tasks": tasks })
        }
        Sample::Observed { successes, attempts, tasks } => json!({
            "dimension": dimension.word(), "sample": "OBSERVED", "tasks": tasks,
            "successes": successes, "attempts": attempts,
        }),
    });
    json!({
        "name": profile.name,
        "taskSet": { "version": profile.task_set.version, "hash": profile.task_set.hash },
        "runs": profile.runs.iter().map(RunId::as_str).collect::<Vec<_>>(),
        "dimensions": dimensions.collect::<Vec<_>>(),
        "environments": profile.environments,
        "limitations": profile.limitations,
    })
}

/// A sample as a cell of a table.
fn cell(sample: Sample) -> String {
    match sample {
        Sample::Insufficient { tasks } => format!("INSUFFICIENT_SAMPLE (tasks: {tasks})"),
        Sample::Observed { successes, attempts, tasks } => format!("{successes} of {attempts} (tasks: {tasks})"),
    }
}

/// What belongs to a profile beside its counts.
fn beside(profile: &Profile) -> String {
    let part = |heading: &str, lines: &[String]| {
        let lines: String = lines.iter().map(|line| format!("  - {}\n", crate::domain::text::one_line(line))).collect();
        format!("\n{heading} of {}\n{lines}", profile.name)
    };
    format!("{}{}", part("Environments", &profile.environments), part("Limitations", &profile.limitations))
}

impl From<KeptError> for Failure {
    fn from(error: KeptError) -> Self {
        let kind = match &error {
            error if error.is_blocked() => Kind::Blocked,
            KeptError::Files(crate::domain::run::FilesError::Io { .. }) => Kind::Outside,
            _ => Kind::Refused,
        };
        Self::new(kind, error.to_string()).hint(error.hint())
    }
}
