//! The command line: clap, rendering, exit codes. One file per command.
//!
//! A command is a file with `Args` (what may be written on the line) and `run(&Args, &Context) -> Result<Exit,
//! Failure>`. It is added by its `mod` line, its variant of [`Verb`] and its line in `Verb::run`, and it is named in
//! `docs/cli/commands.md`. Results leave through `context.out`; errors leave as a [`Failure`], which chooses the exit
//! code.

mod ask;
mod comment;
mod completions;
mod config;
mod context;
mod detach;
mod dispatch;
mod doctor;
mod events;
mod evolve;
mod exit;
mod export;
mod init;
mod man;
mod merge_driver;
mod migrate_config;
mod model_eval;
mod output;
mod poll;
mod post;
mod profile;
mod progress;
mod repository;
mod restart;
mod run;
mod sessions;
mod setting;
mod skill;
mod start;
mod status;
mod status_polling;
mod stop;
mod usage;
mod verify;
mod webhook;
pub mod work_item;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

pub use context::{Context, Setup};
pub use exit::{Exit, Failure, Kind};
pub use output::{Output, columns, counted};

/// The program's name, as it is typed.
const NAME: &str = "the-loop";

/// Keeps coding agents on their work: GitHub events, delivered exactly once into the agent that owns the item.
#[derive(Debug, clap::Parser)]
#[command(name = NAME, version, propagate_version = false, max_term_width = 110, arg_required_else_help = false)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Options that may stand anywhere on the line.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Global {
    /// Read this configuration instead of searching for one
    #[arg(long, global = true, value_name = "FILE", display_order = 100)]
    pub config: Option<PathBuf>,
    /// Print one JSON document, errors too
    #[arg(long, global = true, display_order = 101)]
    pub json: bool,
    /// Print results and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose", display_order = 102)]
    pub quiet: bool,
    /// Say what is being done
    #[arg(short, long, global = true, display_order = 103)]
    pub verbose: bool,
    /// Use no colour; the same as setting `NO_COLOR`
    #[arg(long, global = true, display_order = 104)]
    pub no_color: bool,
}

/// Every command.
#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// Write a configuration and bring the git repository into order
    Init(init::Args),
    /// Start the daemon
    Start(start::Args),
    /// End the daemon; agents live on
    Stop(stop::Args),
    /// End the daemon and start this version's
    Restart(restart::Args),
    /// Say whether the daemon runs and how the work stands
    Status(status::Args),
    /// Look at agents' sessions and steer them
    Sessions(sessions::Args),
    /// Look at what waits or was given up, try it again, forget it
    Dispatch(dispatch::Args),
    /// Ask GitHub now what is new in the repositories that are polled
    Poll(poll::Args),
    /// Say something on a ticket, marked as ours; for agents
    Comment(comment::Args),
    /// Bring the portable files up to date, before a commit
    Export(export::Args),
    /// Merge two versions of a portable file; git calls this
    MergeDriver(merge_driver::Args),
    /// Find what is wrong, why it matters and what to do
    Doctor(doctor::Args),
    /// Look through the event log
    Events(events::Args),
    /// Check the configuration, show its values, print its schema
    Config(config::Args),
    /// Make a configuration of an earlier version one of this version
    MigrateConfig(migrate_config::Args),
    /// Try the receiver
    Webhook(webhook::Args),
    /// Keep one piece of work so that it can be interrupted and resumed honestly
    Run(run::Args),
    /// Record evidence and decide by it whether the work is done
    Verify(verify::Args),
    /// Keep what was observed of models on identical tasks; no ranking
    ModelEval(model_eval::Args),
    /// Improve the loop's own artifacts by evidence; a regression vetoes, a person adopts
    Evolve(evolve::Args),
    /// See what a kind of task needs, and which one a task asks for
    Profile(profile::Args),
    /// Teach an agent to work by runs and evidence, or take that back
    Skill(skill::Args),
    /// Print what a shell loads to complete commands and options
    Completions(completions::Args),
    /// Print or write the manual pages
    Man(man::Args),
}

impl Verb {
    fn run(&self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Self::Init(args) => init::run(args, context),
            Self::Start(args) => start::run(args, context),
            Self::Stop(args) => stop::run(args, context),
            Self::Restart(args) => restart::run(args, context),
            Self::Status(args) => status::run(args, context),
            Self::Sessions(args) => sessions::run(args, context),
            Self::Dispatch(args) => dispatch::run(args, context),
            Self::Poll(args) => poll::run(args, context),
            Self::Comment(args) => comment::run(args, context),
            Self::Export(args) => export::run(args, context),
            Self::MergeDriver(args) => merge_driver::run(args, context),
            Self::Doctor(args) => doctor::run(args, context),
            Self::Events(args) => events::run(args, context),
            Self::Config(args) => config::run(args, context),
            Self::MigrateConfig(args) => migrate_config::run(args, context),
            Self::Webhook(args) => webhook::run(args, context),
            Self::Run(args) => run::run(args, context),
            Self::Verify(args) => verify::run(args, context),
            Self::ModelEval(args) => model_eval::run(args, context),
            Self::Evolve(args) => evolve::run(args, context),
            Self::Profile(args) => profile::run(args, context),
            Self::Skill(args) => skill::run(args, context),
            Self::Completions(args) => completions::run(args, context),
            Self::Man(args) => man::run(args, context),
        }
    }
}

/// The command line as clap sees it; the documentation is checked against it.
pub fn command() -> clap::Command {
    Cli::command()
}

/// The program: arguments in, exit code out. A panic is a bug and says so.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    let wants_json = usage::wants(&args, "--json");
    exit::report_panics();
    ExitCode::from(exit::guarded(wants_json, || run(args)).code())
}

/// Parses and runs one command line.
fn run(args: Vec<OsString>) -> Exit {
    let plain = usage::wants(&args, "--no-color");
    let colour = if plain { clap::ColorChoice::Never } else { clap::ColorChoice::Auto };
    let parsed = command().color(colour).try_get_matches_from(&args);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            return usage::answer(&error, usage::wants(&args, "--json"), plain, usage::is_family(&args));
        }
    };
    let out = Output::new(&cli.global);
    let result = Context::new(&cli.global, out.clone()).and_then(|context| cli.verb.run(&context));
    match result {
        Ok(exit) => exit,
        Err(failure) => out.failure(&failure),
    }
}
