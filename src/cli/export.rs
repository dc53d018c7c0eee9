//! `the-loop export`: portable files up to date, before a commit.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::json;

use super::context::Context;
use super::counted;
use super::exit::{Exit, Failure, Kind};
use super::setting::{order_heard, reader, setting};
use crate::adapters::portable_files::PortableDir;
use crate::adapters::system::SystemClock;
use crate::app::export::Checkup;
use crate::app::request::{Exported, Order, Response};
use crate::domain::ports::Clock as _;

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write nothing; exit 1 when something would change
    #[arg(long)]
    check: bool,
    /// Take files out instead: of items that ended at least DAYS days ago and are not armed
    #[arg(long, value_name = "DAYS", conflicts_with = "check")]
    prune: Option<u32>,
}

/// Runs `export`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let exported = match args.prune {
        _ if args.check => check(context)?,
        Some(days) => write(context, &Order::PruneFiles(days))?,
        None => write(context, &Order::Export)?,
    };
    let verb = if args.check { "would change" } else { "wrote" };
    context.out.result(|| json!({ "exported": exported }), || text(&exported, verb))?;
    if !exported.held.is_empty() {
        return Err(Failure::new(Kind::Refused, format!("{} cannot be written", counted(exported.held.len(), "file")))
            .hint("`the-loop doctor` says what is wrong with each"));
    }
    Ok(if args.check && !exported.written.is_empty() { Exit::Refused } else { Exit::Done })
}

fn write(context: &Context, wanted: &Order) -> Result<Exported, Failure> {
    let setting = setting(context)?;
    match order_heard(&setting, wanted, Arc::new(context.out.progress("writing portable files")))? {
        Response::Exported(exported) => Ok(exported),
        _ => Err(Failure::new(Kind::Bug, "an export was answered with something else")),
    }
}

fn check(context: &Context) -> Result<Exported, Failure> {
    let setting = setting(context)?;
    let Some(reader) = reader(&setting)? else { return Ok(Exported::default()) };
    let files = PortableDir::new(setting.layout.portable_dir());
    // The snapshot ends before files are read.
    let checkup = reader.read(|tx| Ok(Checkup::read(tx, &files, SystemClock.now())))??;
    Ok(checkup.run(&files, &context.out.progress("comparing portable files"))?)
}

fn text(exported: &Exported, verb: &str) -> String {
    let mut text = String::new();
    for name in &exported.written {
        let _ = writeln!(text, "{verb} {name}");
    }
    for name in &exported.removed {
        let _ = writeln!(text, "removed {name}");
    }
    for held in &exported.held {
        let _ = writeln!(text, "held  {}: {}", held.work_item, held.reason);
    }
    let _ = writeln!(
        text,
        "{} changed, {} unchanged, {} held",
        exported.written.len() + exported.removed.len(),
        exported.unchanged,
        exported.held.len()
    );
    text
}
