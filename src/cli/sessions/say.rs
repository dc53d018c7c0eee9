//! `the-loop sessions start|stop|pause|resume`: the operator's own words; and how what was done by hand is told.
//!
//! Without a daemon the command owns the store for moments and does what is quick; a spawn stays stored for a daemon, and
//! it says so. With `--wait` it does that too, as an owner without listeners.

use std::sync::Arc;

use serde_json::json;

use super::show::item;
use super::wait;
use crate::app::progress::Unheard;
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
    if wait && setting.is_view {
        return Err(Failure::new(Kind::Usage, "`--wait` does not go with another store than the configured one")
            .hint("what follows is done by that store's own daemon"));
    }
    let (response, doer) = order(setting, wanted, Arc::new(Unheard))?;
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
    let done = done(command);
    match (acted, waiting, doer) {
        (false, ..) => format!("{work_item}: nothing to do, that is how it stands\n"),
        (true, 0, _) => format!("{work_item}: {done}\n"),
        (true, _, Doer::Daemon) => format!("{work_item}: {done}; the daemon does what follows\n"),
        (true, 1, Doer::Command) => format!("{work_item}: {done}; 1 effect waits for a daemon\n"),
        (true, _, Doer::Command) => format!("{work_item}: {done}; {waiting} effects wait for a daemon\n"),
    }
}

/// What became of the item by a verb. A start arms it; its agent runs once the spawn that follows is done.
fn done(verb: &str) -> &str {
    match verb {
        "start" => "armed",
        "stop" => "stopped",
        "pause" => "paused",
        "resume" => "resumed",
        "register" => "registered",
        "close" => "closed",
        "link-pr" => "linked",
        other => other,
    }
}

/// Why a word of the operator is refused: the reason as the trail has it, in words, and what to do.
const REFUSALS: &[(&str, &str, &str)] = &[
    ("item-closed", "it is closed on GitHub", "reopen it on GitHub first"),
    (
        "not-applicable",
        "it is neither paused nor held",
        "only a paused or held session resumes; `the-loop sessions show` tells its state",
    ),
    (
        "other-repository",
        "its repository is not served",
        "`repositories` in the configuration names those whose events are taken; add it there first",
    ),
    (
        "no-record",
        "it has no session on this machine",
        "`the-loop sessions list` shows those there are; `the-loop sessions start` begins one",
    ),
    ("other-session", "it has a session that lives", "`the-loop sessions show` tells which; `--force` takes its place"),
    (
        "own-pull-request",
        "the item and the pull request are the same",
        "name the item first, then the pull request that delivers it",
    ),
    ("not-a-pull-request", "what shall be linked is an issue, as GitHub says", "name the pull request"),
    (
        "older-command",
        "a later word about it is recorded",
        "`the-loop sessions show` tells the last one; `the-loop events` shows when it was said",
    ),
    ("spawn-policy", "`routing.spawnOnUnmatched` keeps it from being started", "change the setting, or add its label"),
];

fn refusal(commanded: &Commanded) -> Failure {
    let Commanded { work_item, command, reason, .. } = commanded;
    let reason = reason.as_deref().unwrap_or("refused");
    let known = REFUSALS.iter().find(|(word, ..)| *word == reason);
    let why = known.map_or_else(|| reason.replace('-', " "), |(_, why, _)| (*why).to_owned());
    let todo = known.map_or("`the-loop events` tells more about it", |(_, _, todo)| *todo);
    Failure::new(Kind::Refused, format!("`{command}` was refused for `{work_item}`: {why}"))
        .hint(todo)
        .detail("reason", reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commanded(command: &str, reason: Option<&str>, waiting: u64) -> Commanded {
        let (work_item, reason) = ("github:octo/hello#7".into(), reason.map(str::to_owned));
        Commanded { work_item, command: command.into(), acted: reason.is_none(), refused: true, reason, waiting }
    }

    #[test]
    fn a_refusal_says_why_in_words_and_what_to_do() {
        for reason in REFUSALS.iter().map(|(word, ..)| *word).chain(["self-authored"]) {
            let failure = refusal(&commanded("start", Some(reason), 0));
            assert!(!failure.message.contains(reason), "{failure:?}");
            assert!(failure.hint.is_some() && failure.details == [("reason", reason.into())], "{failure:?}");
        }
    }

    #[test]
    fn what_was_done_is_told_and_not_what_was_typed() {
        for (verb, said) in [("start", "armed"), ("stop", "stopped"), ("link-pr", "linked"), ("close", "closed")] {
            assert_eq!(text(&commanded(verb, None, 0), Doer::Command), format!("github:octo/hello#7: {said}\n"));
        }
        assert!(text(&commanded("start", None, 1), Doer::Command).ends_with("armed; 1 effect waits for a daemon\n"));
    }
}
