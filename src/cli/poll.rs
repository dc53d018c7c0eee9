//! `the-loop poll`: one cycle now.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::sessions::local_time;
use super::setting::{order_heard, owner, setting, store_failure};
use crate::adapters::system::RandomIds;
use crate::app::progress::Unheard;
use crate::app::request::{Order, PolledRow, Response};
use crate::daemon::compose::Setting;
use crate::store::Store;

/// Arguments of `poll`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// First take in what this portable directory says, as after a `git pull`; nothing is written there
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

/// Runs `poll`: 0 when every repository was read, 1 when one was not.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let setting = setting(context)?;
    if setting.config.polled().sources.is_empty() {
        return Err(Failure::new(Kind::Refused, "there is nothing to poll")
            .hint("name repositories under `polling.sources` in the configuration, or under `repositories`"));
    }
    if let Some(dir) = &args.state_dir {
        take_in(&setting, dir)?;
    }
    let Response::Polled(rows) = order_heard(&setting, &Order::Poll, Arc::new(Unheard))? else {
        return Err(Failure::new(Kind::Bug, "a poll was answered with something else"));
    };
    context.out.result(|| json!({ "polled": rows }), || text(&rows))?;
    Ok(if rows.iter().any(|row| row.trouble_text().is_some()) { Exit::Refused } else { Exit::Done })
}

/// Takes in what another portable directory says. A daemon reads its own: it is not told of another.
fn take_in(setting: &Setting, dir: &Path) -> Result<(), Failure> {
    if !dir.is_dir() {
        let what = format!("`--state-dir`: `{}` is no directory", dir.display());
        return Err(Failure::new(Kind::Usage, what).hint("name one that exists"));
    }
    if let Some(owner) = owner(setting) {
        let what =
            format!("the {} with pid {} owns the store and reads its own portable directory", owner.kind, owner.pid);
        return Err(Failure::new(Kind::StoreBusy, what)
            .hint("bring the files there by git, or end it first; without `--state-dir` it polls now"));
    }
    let store = Store::open(&setting.layout.store_file(), &RandomIds).map_err(|error| store_failure(setting, error))?;
    // A state root is taken for the portable directory in it.
    let below = dir.join("portable");
    let dir = if below.is_dir() { &below } else { dir };
    let taken = setting.app_beside_files(store.clone(), dir)?.adopt_folder();
    store.close()?;
    taken.map(drop).map_err(Failure::from)
}

fn text(rows: &[PolledRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let PolledRow { repository, requests, unchanged, events, paused_until, trouble, hint } = row;
        let asked = match requests {
            0 => "not asked".to_owned(),
            1 => format!("1 request ({unchanged} unchanged), {events} read"),
            _ => format!("{requests} requests ({unchanged} unchanged), {events} read"),
        };
        let _ = writeln!(text, "{repository}: {asked}");
        let limited = "only the reserve of the rate limit is left, which is kept for control words";
        if let Some(what) = trouble.as_deref().or(paused_until.is_some().then_some(limited)) {
            let until = paused_until.as_deref().map(|until| format!("; not asked again before {}", local_time(until)));
            let _ = writeln!(text, "  {what}{}", until.unwrap_or_default());
        }
        if let Some(hint) = hint {
            let _ = writeln!(text, "  hint: {hint}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_with_its_end() {
        let row = PolledRow {
            repository: "github:octo/hello".into(),
            requests: 0,
            unchanged: 0,
            events: 0,
            paused_until: Some("2026-03-02T08:15:30Z".into()),
            trouble: Some("`github.com` limits how often it is asked (status 403)".into()),
            hint: None,
        };
        let told = text(std::slice::from_ref(&row));
        assert!(
            told.starts_with("github:octo/hello: not asked\n") && told.contains("not asked again before"),
            "{told}"
        );
        let well = PolledRow { requests: 3, unchanged: 3, paused_until: None, trouble: None, ..row };
        assert_eq!(text(std::slice::from_ref(&well)), "github:octo/hello: 3 requests (3 unchanged), 0 read\n");
        let (trouble, hint) = (Some("`github.com` refuses the token".into()), Some("give a valid one".into()));
        let refused = text(&[PolledRow { trouble, hint, ..well }]);
        assert!(refused.ends_with("  `github.com` refuses the token\n  hint: give a valid one\n"), "{refused}");
    }
}
