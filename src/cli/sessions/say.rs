//! `the-loop sessions start|stop|pause|resume`: the operator's own words; and how what was done by hand is told.
//!
//! Without a daemon the command owns the store for its transaction and does the quick effects itself; a spawn stays
//! stored for the daemon, and it says so.

use serde_json::json;

use super::show::item;
use crate::app::request::{Commanded, Order, Response};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, Kind};
use crate::cli::setting::order;
use crate::cli::work_item::WorkItemArg;
use crate::daemon::compose::Setting;
use crate::domain::decide::Act;
use crate::domain::portable::Command;
use crate::domain::reference::WorkItemRef;

/// Says `word` about one item.
pub(super) fn run(word: &Command, arg: &WorkItemArg, context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    let item = item(arg, setting)?;
    let actor = setting.user().unwrap_or_else(|| "operator".into());
    finish(order(setting, Order::Command { item, word: word.clone(), actor })?, context)
}

/// Has one of the verbs done that are no control words.
pub(super) fn by_hand(item: WorkItemRef, act: Act, context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    finish(order(setting, Order::ByHand { item, act })?, context)
}

fn finish(response: Response, context: &Context) -> Result<Exit, Failure> {
    let Response::Commanded(commanded) = response else {
        return Err(Failure::new(Kind::Bug, "a command was answered with something else"));
    };
    if commanded.refused {
        return Err(refusal(&commanded));
    }
    context.out.result(|| json!({ "commanded": commanded }), || text(&commanded))?;
    Ok(Exit::Done)
}

fn text(commanded: &Commanded) -> String {
    let Commanded { work_item, command, waiting, acted, .. } = commanded;
    match (acted, waiting) {
        (false, _) => format!("{work_item}: nothing to do, that is how it stands\n"),
        (true, 0) => format!("{work_item}: {command}\n"),
        (true, 1) => format!("{work_item}: {command}; 1 effect waits for the daemon\n"),
        (true, waiting) => format!("{work_item}: {command}; {waiting} effects wait for the daemon\n"),
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
