//! `the-loop sessions register`: a conversation that exists already becomes an item's session.

use std::path::PathBuf;

use super::say;
use super::show::item;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, Kind};
use crate::cli::work_item::WorkItemArg;
use crate::daemon::compose::Setting;
use crate::domain::config::nearest;
use crate::domain::decide::{Act, Registration};
use crate::domain::harness::Harness;
use crate::domain::ids::ConversationId;

/// Arguments of `sessions register`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    item: WorkItemArg,
    /// The harness that resumes the conversation, by its name in the configuration
    #[arg(long, value_name = "NAME")]
    harness: String,
    /// The harness's own id of the conversation
    #[arg(long, value_name = "ID")]
    harness_session_id: String,
    /// Where the conversation works; this directory, when it is not said
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Take the place of a session that lives, which then ends
    #[arg(long)]
    force: bool,
}

/// Registers.
pub(super) fn run(args: &Args, context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    let item = item(&args.item, setting)?;
    is_known(&args.harness, setting)?;
    let conversation = ConversationId::parse(&args.harness_session_id)
        .map_err(|error| Failure::new(Kind::Usage, error.to_string()).hint("write it as the harness prints it"))?;
    let cwd = context.cwd().join(args.cwd.as_deref().unwrap_or(std::path::Path::new("")));
    let usable = |cwd: &PathBuf| cwd.is_dir() && cwd.to_str().is_some();
    let cwd = cwd.canonicalize().ok().filter(usable).ok_or_else(|| {
        let what = format!("`{}` is not a directory with a name in UTF-8", cwd.display());
        Failure::new(Kind::Usage, what).hint("name one that exists")
    })?;
    let registration = Registration { harness: args.harness.clone(), conversation, cwd, force: args.force };
    say::by_hand(item, Act::Register(registration), context, setting)
}

fn is_known(name: &str, setting: &Setting) -> Result<(), Failure> {
    let configured = setting.config.routing.harnesses.keys().map(String::as_str);
    let known: Vec<&str> = Harness::BUILT_IN.iter().copied().chain(configured).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let failure = Failure::new(Kind::Usage, format!("there is no harness `{name}`"));
    Err(match nearest(name, known.iter().copied()) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("there are {}", known.join(", "))),
    })
}
