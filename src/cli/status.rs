//! `the-loop status`: whether the daemon runs and how the work stands.

use serde_json::{Value as Json, json};

use super::context::Context;
use super::exit::{Exit, Failure};
use super::setting::{owner, reader, setting};
use crate::adapters::owner_file::Owner;
use crate::adapters::system::SystemClock;
use crate::app::look;
use crate::app::request::{Look, Response, Status};
use crate::domain::ports::Clock as _;

/// Arguments of `status`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `status`: 0 when the daemon runs and nothing was given up, else 1.
pub fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let setting = setting(context)?;
    let owner = owner(&setting).filter(|owner| owner.kind == "daemon");
    let status = match reader(&setting)? {
        Some(reader) => match reader.read(|tx| look::answer(tx, &Look::Status, SystemClock.now()))? {
            Response::Status(status) => Some(status),
            _ => None,
        },
        None => None,
    };
    context.out.result(|| document(owner.as_ref(), status.as_ref()), || text(owner.as_ref(), status.as_ref()))?;
    let given_up = status.is_some_and(|status| status.dead_letters + status.undecidable > 0);
    Ok(if owner.is_some() && !given_up { Exit::Done } else { Exit::Refused })
}

fn document(owner: Option<&Owner>, status: Option<&Status>) -> Json {
    json!({ "daemon": owner, "status": status })
}

fn text(owner: Option<&Owner>, status: Option<&Status>) -> String {
    let daemon = match owner {
        Some(owner) => {
            let receiver = owner.receiver.as_deref().unwrap_or("none");
            format!("daemon     runs, pid {}, version {}, receiver {receiver}\n", owner.pid, owner.version)
        }
        None => "daemon     does not run\n".to_owned(),
    };
    let Some(status) = status else { return format!("{daemon}store      none yet\n") };
    let oldest = status.oldest_waiting_seconds.map_or(String::new(), |age| format!(", the oldest for {age} s"));
    let held = if status.held > 0 { format!(", {} of them held", status.held) } else { String::new() };
    format!(
        "{daemon}sessions   {}{held}\neffects    {} waiting in {} lanes{oldest}, {} being done\ngiven up   {} effects, {} events\n\
         portable   {} files to be written\n",
        status.sessions,
        status.waiting,
        status.lanes,
        status.claimed,
        status.dead_letters,
        status.undecidable,
        status.marks
    )
}
