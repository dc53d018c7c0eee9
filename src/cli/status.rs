//! `the-loop status`: whether the daemon gets on, and how the work stands.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::ask::{Asked, ask};
use super::context::Context;
use super::counted;
use super::exit::{Exit, Failure};
use super::sessions::local_time;
use super::setting::{owner, reader, setting_of_running};
use super::status_polling;
use crate::adapters::owner_file::Owner;
use crate::adapters::system::SystemClock;
use crate::app::look;
use crate::app::request::{Look, Response, Status};
use crate::daemon::compose::Setting;
use crate::daemon::control::client::Call;
use crate::daemon::control::wire::{Answer, Phase};
use crate::daemon::vitals::Progress;
use crate::domain::ports::Clock as _;

/// Arguments of `status`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// How long the daemon may take to say how it gets on.
const ANSWER: Duration = Duration::from_secs(5);

/// What is known of the daemon.
enum Daemon {
    /// It says how it gets on.
    Says(Box<Progress>),
    /// It owns the store and does not listen yet, or not any more.
    Changing(Owner, &'static str),
    /// None runs.
    None,
}

/// Runs `status`: 0 when every part of the daemon gets on and nothing was given up, else 1.
pub fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let setting = setting_of_running(context)?;
    let daemon = daemon(&setting)?;
    let status = match reader(&setting)? {
        Some(reader) => match reader.read(|tx| look::answer(tx, &Look::Status, SystemClock.now()))? {
            Response::Status(status) => Some(status),
            _ => None,
        },
        None => None,
    };
    let polling = setting.config.polled();
    let states = status.as_ref().map_or(&[][..], |status| &status.polling);
    let runs = matches!(daemon, Daemon::Says(_)).then(|| SystemClock.now());
    let seen = status_polling::Seen::new(states, &polling, runs);
    context.out.result(|| document(&daemon, status.as_ref()), || text(&daemon, status.as_ref()) + &seen.text())?;
    let given_up = status.as_ref().is_some_and(|status| status.dead_letters + status.undecidable > 0);
    let well =
        matches!(&daemon, Daemon::Says(progress) if progress.is_well() && progress.daemon.phase == Phase::Running);
    Ok(if well && seen.is_well() && !given_up { Exit::Done } else { Exit::Refused })
}

fn daemon(setting: &Setting) -> Result<Daemon, Failure> {
    let Some(owner) = owner(setting).filter(|owner| owner.kind == "daemon") else { return Ok(Daemon::None) };
    Ok(match ask(setting, &Call::Progress, ANSWER)? {
        Asked::Answered(Answer::Progress(progress)) => Daemon::Says(progress),
        Asked::Answered(_) | Asked::Changing(_) => Daemon::Changing(owner, "stops"),
        Asked::Nobody => Daemon::Changing(owner, "starts"),
    })
}

fn document(daemon: &Daemon, status: Option<&Status>) -> Json {
    match daemon {
        Daemon::Says(progress) => json!({ "daemon": progress, "status": status }),
        Daemon::Changing(owner, what) => {
            json!({ "daemon": { "daemon": { "pid": owner.pid, "program": owner.version, "phase": what } }, "status": status })
        }
        Daemon::None => json!({ "daemon": null, "status": status }),
    }
}

fn text(daemon: &Daemon, status: Option<&Status>) -> String {
    let mut text = match daemon {
        Daemon::Says(progress) => progress_text(progress),
        Daemon::Changing(owner, what) => format!("daemon     {what}, pid {}, version {}\n", owner.pid, owner.version),
        Daemon::None => "daemon     does not run\n".to_owned(),
    };
    text.push_str(&status.map_or_else(|| "store      none yet\n".to_owned(), status_text));
    text
}

fn progress_text(progress: &Progress) -> String {
    let hello = &progress.daemon;
    let phase = match hello.phase {
        Phase::Starting => "starts",
        Phase::Running => "runs",
        Phase::Stopping => "stops",
    };
    let since = local_time(&progress.since);
    let mut text = format!("daemon     {phase}, pid {}, version {}, since {since}\n", hello.pid, hello.program);
    let last = progress.last_webhook.as_deref().map_or_else(|| "none yet".to_owned(), local_time);
    match &progress.receiver {
        Some(url) => drop(writeln!(text, "receiver   {url}, last delivery: {last}")),
        None => text.push_str("receiver   none\n"),
    }
    for part in &progress.parts {
        if let Some(trouble) = &part.trouble {
            let _ = writeln!(text, "trouble    {}: {trouble}", part.name);
        }
    }
    if !progress.needs_restart.is_empty() {
        let _ = writeln!(text, "restart    needed for {}", progress.needs_restart.join(", "));
    }
    text
}

fn status_text(status: &Status) -> String {
    let oldest = status.oldest_waiting_seconds.map_or(String::new(), |age| format!(", the oldest for {age} s"));
    let held = if status.held > 0 { format!(", {} of them held", status.held) } else { String::new() };
    let facts = match status.undecided {
        0 => String::new(),
        count => format!("undecided  {count} events wait for what only GitHub knows\n"),
    };
    format!(
        "sessions   {}{held}\n{facts}effects    {} waiting in {} lanes{oldest}, {} being done\ngiven up   {} effects, {} events\n\
         portable   {} to be written\n{}",
        status.sessions,
        status.waiting,
        status.lanes,
        status.claimed,
        status.dead_letters,
        status.undecidable,
        counted(status.marks, "file"),
        telling_text(status)
    )
}

/// What waits to be posted; most of the time nothing does.
fn telling_text(status: &Status) -> String {
    let oldest = status.oldest_tell_seconds.map_or(String::new(), |age| format!(", the oldest for {age} s"));
    match status.tells {
        0 => String::new(),
        tells => format!("telling    {tells} reactions and comments to be posted{oldest}\n"),
    }
}
