//! `the-loop start`: the daemon.

use std::net::SocketAddr;

use serde_json::json;

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::setting::setting;
use crate::daemon::run;

/// Arguments of `start`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Stay in the foreground, for a terminal or a supervisor
    #[arg(long)]
    foreground: bool,
}

/// Runs `start`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    if !args.foreground {
        return Err(Failure::new(Kind::Usage, "this version runs in the foreground only")
            .hint("use `the-loop start --foreground`, in a terminal of its own or under a supervisor"));
    }
    let setting = setting(context)?;
    if std::process::Command::new("tmux").arg("-V").output().is_err() {
        context.out.note("`tmux` cannot be run: nothing is delivered until it can; `the-loop doctor` looks again");
    }
    let path = setting.config.webhooks.gh_webhook.path.clone();
    run::run(&setting, |address| announce(context, address, &path))?;
    context.out.note("stopped");
    Ok(Exit::Done)
}

/// Says that everything serves. A reader that went away changes nothing.
fn announce(context: &Context, address: Option<SocketAddr>, path: &str) {
    let pid = std::process::id();
    let receiver = address.map(|address| format!("http://{address}{path}"));
    let document = json!({ "ready": true, "pid": pid, "receiver": receiver });
    let text = match &receiver {
        Some(url) => format!("ready: pid {pid}, receiver {url}\n"),
        None => format!("ready: pid {pid}, no receiver\n"),
    };
    let _ = context.out.result(|| document, || text);
}
