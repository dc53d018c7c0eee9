//! `the-loop sessions`: the agents' conversations, and the operator's own words about them.

use std::path::PathBuf;

use super::context::Context;
use super::exit::{Exit, Failure};
use super::setting;
use super::work_item::WorkItemArg;
pub(super) use list::local_time;
use other_folder::OtherFolder;

use crate::daemon::compose::Setting;
use crate::domain::portable::Command;

mod attach;
mod close;
mod link_pr;
mod list;
mod other_folder;
mod register;
mod reset;
mod say;
mod show;
mod wait;

/// Arguments of `sessions`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = false)]
pub struct Args {
    /// Read the store in this directory instead of the configured one
    #[arg(long, global = true, value_name = "DIR", display_order = 90)]
    registry_dir: Option<PathBuf>,
    /// Show what the portable files in this directory say; nothing is taken from them or written there
    #[arg(long, global = true, value_name = "DIR", display_order = 91)]
    portable_dir: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// All sessions, pull requests under their work item
    List(list::Args),
    /// One session with everything known about it
    Show(WorkItemArg),
    /// Start work on an item, as the word on its ticket would
    Start(say::Args),
    /// End an item's session and those of its pull requests
    Stop(say::Args),
    /// Hold what arrives for an item
    Pause(say::Args),
    /// Deliver what was held
    Resume(say::Args),
    /// Attach this terminal to an item's session
    Attach(WorkItemArg),
    /// Make a conversation that exists already an item's session
    Register(register::Args),
    /// End an item here as if it had been closed, and its agents with it
    Close(close::Args),
    /// Forget items: sessions, commands and what polling knew of them
    Reset(reset::Args),
    /// Record a pull request on an item's session
    LinkPr(link_pr::Args),
}

/// Runs `sessions`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut setting = setting::setting(context)?;
    let named = |dir: &PathBuf| context.cwd().join(dir);
    if let Some(dir) = &args.registry_dir {
        setting.layout = setting.layout.with_local_dir(named(dir));
    }
    let folder = args.portable_dir.as_ref().and_then(|dir| OtherFolder::of(&named(dir), &setting));
    act(&args.action, context, &setting, folder.as_ref())
}

fn act(action: &Action, context: &Context, setting: &Setting, folder: Option<&OtherFolder>) -> Result<Exit, Failure> {
    let changes = !matches!(action, Action::List(_) | Action::Show(_) | Action::Attach(_));
    if let Some(folder) = folder.filter(|_| changes) {
        return Err(folder.refuse());
    }
    match action {
        Action::List(args) => list::run(args, context, setting, folder),
        Action::Show(item) => show::run(item, context, setting, folder),
        Action::Attach(item) => attach::run(item, context, setting),
        Action::Start(args) => say::run(&Command::Start, args, context, setting),
        Action::Stop(args) => say::run(&Command::Stop, args, context, setting),
        Action::Pause(args) => say::run(&Command::Pause, args, context, setting),
        Action::Resume(args) => say::run(&Command::Resume, args, context, setting),
        Action::Register(args) => register::run(args, context, setting),
        Action::Close(args) => close::run(args, context, setting),
        Action::Reset(args) => reset::run(args, context, setting),
        Action::LinkPr(args) => link_pr::run(args, context, setting),
    }
}
