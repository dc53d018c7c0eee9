//! `the-loop sessions`: the agents' conversations, and the operator's own words about them.

use std::path::{Path, PathBuf};

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
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
    /// Use the store in this directory instead of the configured one; portable files are left alone
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
    let registry = args.registry_dir.as_deref().map(|dir| context.cwd().join(dir));
    if let Some(dir) = registry.filter(|dir| !is_same(dir, setting.layout.local_dir())) {
        setting.layout = setting.layout.with_local_dir(dir);
        setting.is_view = true;
        if !setting.layout.store_file().exists() {
            let what = format!("`--registry-dir`: there is no store in `{}`", setting.layout.local_dir().display());
            return Err(Failure::new(Kind::Usage, what).hint("name the directory that holds a `state.redb`"));
        }
    }
    let portable = args.portable_dir.as_ref().map(|dir| OtherFolder::of(&context.cwd().join(dir), &setting));
    let folder = portable.transpose()?.flatten();
    act(&args.action, context, &setting, folder.as_ref())
}

/// Whether both are one directory, however they are written.
fn is_same(dir: &Path, configured: &Path) -> bool {
    dir == configured || dir.canonicalize().is_ok_and(|dir| configured.canonicalize().is_ok_and(|other| dir == other))
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
