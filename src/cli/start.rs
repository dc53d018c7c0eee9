//! `the-loop start`: the daemon, in the background or, for supervisors, in the foreground.

use std::cell::Cell;

use serde_json::json;

use super::context::Context;
use super::detach;
use super::exit::{Exit, Failure, Kind};
use super::setting::{owner, setting};
use crate::adapters::{earlier_daemon, processes};
use crate::daemon::compose::Setting;
use crate::daemon::run::{self, Ready};
use crate::domain::harness::Mode;

/// Arguments of `start`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Stay in the foreground, for a terminal or a supervisor
    #[arg(long)]
    foreground: bool,
    /// What a start in the background runs.
    #[arg(long, hide = true, requires = "foreground")]
    detached: bool,
}

/// Runs `start`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    if args.detached {
        processes::leave_terminal();
    }
    let setting = setting(context)?;
    if args.foreground { serve(&setting, context) } else { begin(&setting, context) }
}

/// Starts one in the background and waits until it is ready or says why not.
pub(super) fn begin(setting: &Setting, context: &Context) -> Result<Exit, Failure> {
    may_start(setting)?;
    let ready = detach::start(setting, context)?;
    context.out.result(|| ready.document.clone(), || ready.text())?;
    Ok(Exit::Done)
}

/// Refuses beside a daemon that runs, of this system or of the earlier one, and what could not start anyway: in a wrong
/// directory nothing is made.
fn may_start(setting: &Setting) -> Result<(), Failure> {
    if let Some(path) = earlier_daemon::running(setting.layout.root()) {
        return Err(Failure::new(
            Kind::Refused,
            format!("a daemon of the earlier system runs on this root: it holds `{}`", path.display()),
        )
        .hint("end it first: both would deliver every event"));
    }
    match owner(setting).filter(|owner| owner.kind == "daemon") {
        Some(owner) => Err(already(owner.pid, &owner.version)),
        None => Ok(run::check(setting)?),
    }
}

/// Somebody else is the daemon.
pub(super) fn already(pid: u32, version: &str) -> Failure {
    Failure::new(Kind::StoreBusy, format!("already running (pid {pid}, version {version})"))
        .hint("one daemon serves one store; `the-loop status` shows it")
}

fn serve(setting: &Setting, context: &Context) -> Result<Exit, Failure> {
    may_start(setting)?;
    if std::process::Command::new("tmux").arg("-V").output().is_err() {
        context.out.note(match setting.mode() {
            Mode::Terminal => "`tmux` cannot be run: nothing is delivered until it can; `the-loop doctor` looks again",
            Mode::Once => "`tmux` cannot be run: each delivery of a new session is a process of its own",
        });
    }
    let path = setting.config.webhooks.gh_webhook.path.clone();
    let announced = Cell::new(false);
    let ended = run::run(setting, &run::Mode::Daemon, |ready| {
        announce(context, ready, &path);
        announced.set(true);
    });
    match ended.map_err(Failure::from) {
        // Whoever waited for the first word has gone; what comes now is for the daemon's own output.
        Err(failure) if announced.get() => Ok(context.out.last_word(&failure)),
        Err(failure) => Err(failure),
        Ok(()) => {
            context.out.note("stopped");
            Ok(Exit::Done)
        }
    }
}

/// Says that everything serves. A reader that went away changes nothing.
fn announce(context: &Context, ready: &Ready, path: &str) {
    let pid = std::process::id();
    let receiver = ready.receiver.map(|address| format!("http://{address}{path}"));
    let document = json!({ "ready": true, "pid": pid, "receiver": receiver });
    let _ = context.out.result(|| document, || detach::ready_text(pid, receiver.as_deref()));
}
