//! `the-loop sessions start|stop|pause|resume`: the operator's own words; and how what was done by hand is told.
//!
//! Without a daemon the command owns the store for moments and does what is quick; a spawn stays stored for a daemon, and
//! it says so. With `--wait` it does that too, as an owner without listeners.

use serde_json::json;

use super::show::item;
use super::wait;
use crate::app::request::{Commanded, Order, Response};
use crate::cli::ask::{Doer, order};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, Kind};
use crate::cli::work_item::WorkItemArg;
use crate::daemon::compose::Setting;
use crate::domain::decide::Act;
use crate::domain::portable::Command;
use crate::domain::reference::WorkItemRef;

/// Arguments of the four words.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    item: WorkItemArg,
    /// Wait until what follows is done; without a daemon, do it here
    #[arg(long)]
    wait: bool,
}

/// Says `word` about one item.
pub(super) fn run(word: &Command, args: &Args, context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    let item = item(&args.item, setting)?;
    let actor = setting.user().unwrap_or_else(|| "operator".into());
    let word = Order::Command { item: item.clone(), word: word.clone(), actor };
    finish(&item, &word, args.wait, context, setting)
}

/// Has one of the verbs done that are no control words.
pub(super) fn by_hand(item: WorkItemRef, act: Act, context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    finish(&item.clone(), &Order::ByHand { item, act }, false, context, setting)
}

fn finish(
    item: &WorkItemRef,
    wanted: &Order,
    wait: bool,
    context: &Context,
    setting: &Setting,
) -> Result<Exit, Failure> {
    let (response, doer) = order(setting, wanted)?;
    let Response::Commanded(mut commanded) = response else {
        return Err(Failure::new(Kind::Bug, "a command was answered with something else"));
    };
    if commanded.refused {
        return Err(refusal(&commanded));
    }
    if wait && commanded.waiting > 0 {
        wait::until_done(item, context, setting)?;
        commanded.waiting = 0;
    }
    context.out.result(|| json!({ "commanded": commanded }), || text(&commanded, doer))?;
    Ok(Exit::Done)
}

fn text(commanded: &Commanded, doer: Doer) -> String {
    let Commanded { work_item, command, waiting, acted, .. } = commanded;
    match (acted, waiting, doer) {
        (false, ..) => format!("{work_item}: nothing to do, that is how it stands\n"),
        (true, 0, _) => format!("{work_item}: {command}\n"),
        (true, _, Doer::Daemon) => format!("{work_item}: {command}; the daemon is at it\n"),
        (true, 1, Doer::Command) => format!("{work_item}: {command}; 1 effect waits for a daemon\n"),
        (true, _, Doer::Command) => format!("{work_item}: {command}; {waiting} effects wait for a daemon\n"),
    }
}

fn refusal(commanded: &Commanded) -> Failure {
    let Commanded { work_item, command, reason, .. } = commanded;
    let reason = reason.as_deref().unwrap_or("refused");
    let failure = Failure::new(Kind::Refused, format!("`{command}` was refused for `{work_item}`: {reason}"));
    match reason {
        "item-closed" => failure.hint("reopen it on GitHub first"),
        "not-applicable" => {
            failure.hint("only a paused or held session resumes; `the-loop sessions show` tells its state")
        }
        "other-repository" => {
            failure.hint("`repositories` in the configuration names those whose events are taken; add it there first")
        }
        "no-record" => {
            failure.hint("it has no session on this machine; `the-loop sessions list` shows those there are")
        }
        "other-session" => {
            failure.hint("it has a session that lives; `the-loop sessions show` tells which, `--force` takes its place")
        }
        "own-pull-request" => failure.hint("name the item first, then the pull request that delivers it"),
        "not-a-pull-request" => failure.hint("GitHub says that it is an issue; name the pull request"),
        _ => failure,
    }
}
