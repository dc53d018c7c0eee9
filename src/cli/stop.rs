//! `the-loop stop`: ends the daemon, and waits until the store is free.

use std::time::{Duration, Instant};

use serde_json::json;

use super::ask::{Asked, MOMENT, ask};
use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::setting::{owner, setting_of_running, store_failure};
use crate::adapters::owner_file::Owner;
use crate::daemon::compose::Setting;
use crate::daemon::control::client::Call;
use crate::store::{Store, StoreError};

/// Arguments of `stop`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// How long the daemon may take to answer that it ends.
const ANSWER: Duration = Duration::from_secs(5);
/// How long it may take to end: effects, files and listeners have their own deadlines within this.
const END: Duration = Duration::from_secs(40);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs `stop`.
pub fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let setting = setting_of_running(context)?;
    match end(&setting)? {
        Some(pid) => context.out.result(|| json!({ "stopped": pid }), || format!("stopped: pid {pid}\n"))?,
        None => context.out.result(|| json!({ "stopped": null }), || "nothing to do: no daemon runs\n".to_owned())?,
    }
    Ok(Exit::Done)
}

/// Ends the daemon; its pid, or `None` when none ran.
pub(super) fn end(setting: &Setting) -> Result<Option<u32>, Failure> {
    let Some(owner) = daemon(setting)? else { return Ok(None) };
    match ask(setting, &Call::Stop, ANSWER) {
        Ok(Asked::Answered(_) | Asked::Changing(_)) => {}
        // It does not listen: it starts, or its socket was taken away. The process is the one that wrote the file.
        Ok(Asked::Nobody) => drop(owner.terminate()),
        Err(failure) if owner.is_stopped() => return Err(failure),
        Err(_) => drop(owner.terminate()),
    }
    wait(setting, &owner)?;
    Ok(Some(owner.pid))
}

/// The daemon; `None` once the store is seen free. A command's moment, a daemon that ends and one that has only just
/// begun are waited for.
fn daemon(setting: &Setting) -> Result<Option<Owner>, Failure> {
    let deadline = Instant::now() + MOMENT;
    loop {
        let owner = owner(setting);
        if owner.as_ref().is_some_and(|owner| owner.kind == "daemon") {
            return Ok(owner);
        }
        match Store::is_owned(&setting.layout.store_file()) {
            Ok(false) => return Ok(None),
            Ok(true) if Instant::now() < deadline => std::thread::sleep(PAUSE),
            Ok(true) if owner.is_some() => return Err(store_failure(setting, StoreError::Busy)),
            Ok(true) => return Err(nameless()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The store is in use and nobody says so: to stop nothing would be no success.
fn nameless() -> Failure {
    Failure::new(Kind::StoreBusy, "the store is in use by a process that does not say who it is")
        .hint("it may be a command that ends in a moment, or a daemon that has only just begun; try again")
}

/// Waits for the end of the process and of its hold on the store.
fn wait(setting: &Setting, owner: &Owner) -> Result<(), Failure> {
    let deadline = Instant::now() + END;
    while owner.is_alive() || super::setting::owner(setting).is_some_and(|now| now.pid == owner.pid) {
        if Instant::now() > deadline {
            let pid = owner.pid;
            return Err(Failure::new(
                Kind::NoAnswer,
                format!("the daemon with pid {pid} still runs after {} s", END.as_secs()),
            )
            .hint("it was told to end; `the-loop status` tells whether it still runs"));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}
