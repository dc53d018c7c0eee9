//! `the-loop profile`: what a kind of task needs, and which one the text of a task chooses.

mod list;
mod resolve;
mod show;
mod strip;
mod task;

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use crate::domain::profile::{Choice, Chosen, Profile, choose, names};

/// Arguments of `profile`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = false)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Every profile
    List(list::Args),
    /// What a profile says
    Show(show::Args),
    /// Which profile the text of a task chooses
    Resolve(resolve::Args),
    /// The text of a task without the flag
    Strip(strip::Args),
    /// Both: the profile, and the text without the flag
    Task(task::Args),
}

/// The text of a task.
#[derive(Debug, Clone, clap::Args)]
struct Text {
    /// The text of the task, as one argument
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: String,
}

/// Runs `profile`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.action {
        Action::List(args) => list::run(args, context),
        Action::Show(args) => show::run(args, context),
        Action::Resolve(args) => resolve::run(args, context),
        Action::Strip(args) => strip::run(args, context),
        Action::Task(args) => task::run(args, context),
    }
}

/// There is no profile of this name.
pub(super) fn unknown(typed: &str) -> Failure {
    let said = match typed {
        "" => "`--profile` stands there without a name".to_owned(),
        typed => format!("there is no profile `{}`", crate::domain::text::head(typed, 60)),
    };
    Failure::new(Kind::NoProfile, said)
        .hint(format!("there are {}; the run goes on as the generic loop of nine stages", names().join(", ")))
}

/// What a text chooses; a refusal names the list.
fn chosen(text: &str, context: &Context) -> Result<Option<&'static Profile>, Failure> {
    let Chosen { choice, typed, count } = choose(text);
    if count > 1 {
        context.out.note(&format!("`--profile` stands there {count} times; the last one counts"));
    }
    match choice {
        Choice::None => Ok(None),
        Choice::Profile(profile) => Ok(Some(profile)),
        Choice::Refused => Err(unknown(&typed)),
    }
}
