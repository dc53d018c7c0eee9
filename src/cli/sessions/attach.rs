//! `the-loop sessions attach`: this terminal becomes the session's.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use super::show::{detail, item};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, Kind};
use crate::cli::work_item::WorkItemArg;
use crate::daemon::compose::Setting;

/// Replaces this process by a tmux client on the session of one item.
pub(super) fn run(arg: &WorkItemArg, context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    let item = item(arg, setting)?;
    let detail = detail(&item, setting)?;
    let (Some(pane), Some(socket)) = (&detail.pane, &detail.socket) else {
        let failure =
            Failure::new(Kind::Refused, format!("`{item}` has no pane: its session is {}", detail.row.status));
        return Err(match detail.row.status.as_str() {
            "live" | "paused" | "held" => {
                let output = setting.layout.command_output_dir();
                failure
                    .hint(format!("each delivery is a process of its own; what they print is in {}", output.display()))
            }
            _ => failure,
        });
    };
    let mut tmux = Command::new("tmux");
    if !socket.is_empty() {
        tmux.args(["-L", socket]);
    }
    // The pane is the address; the client shows the session it lies in.
    tmux.args(["select-window", "-t", pane, ";", "select-pane", "-t", pane, ";", "attach-session", "-t", pane]);
    tmux.env_remove("TMUX");
    context.out.detail(&format!("attaching to pane `{pane}`"));
    let error = tmux.exec();
    Err(Failure::new(Kind::Outside, format!("could not run `tmux`: {error}")).hint("install tmux, or correct `PATH`"))
}
