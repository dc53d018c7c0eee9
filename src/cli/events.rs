//! `the-loop events`: the decision trail, from the log's files and from what the store has not written there yet.

use std::collections::VecDeque;

use serde_json::{Value as Json, json};

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::sessions::local_time;
use super::setting::{reader, setting};
use super::work_item;
use crate::adapters::event_log::read_all;
use crate::app::journal;
use crate::daemon::compose::Setting;
use crate::domain::config::nearest;
use crate::domain::log::{EventName, Level};
use crate::domain::time::Time;
use crate::domain::trail::Wanted;
use crate::store::View as _;

/// Arguments of `events`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the names an event can have, and nothing else
    #[arg(long)]
    types: bool,
    /// Only these events; `session` stands for all of its kind
    #[arg(long = "type", value_name = "NAME")]
    kinds: Vec<String>,
    /// Only about this work item
    #[arg(long, value_name = "REF")]
    work_item: Option<String>,
    /// Only since this time, UTC, such as 2026-03-02T08:15:30Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only from this level on: debug, info, warn, error
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,
    /// At most this many, the newest
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: usize,
}

/// Runs `events`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    if args.types {
        let names: Vec<&str> = EventName::ALL.iter().map(|name| name.as_str()).collect();
        context.out.result(|| json!({ "types": names }), || names.join("\n") + "\n")?;
        return Ok(Exit::Done);
    }
    let setting = setting(context)?;
    let lines = newest(&setting, &wanted(args, &setting)?, args.limit)?;
    let text = || lines.iter().map(line).collect::<String>();
    context.out.result(|| json!({ "events": lines }), text)?;
    Ok(Exit::Done)
}

fn wanted(args: &Args, setting: &Setting) -> Result<Wanted, Failure> {
    let usage = |text: String, hint: &str| Failure::new(Kind::Usage, text).hint(hint);
    for kind in &args.kinds {
        let known =
            EventName::ALL.iter().any(|name| name.as_str() == kind || name.as_str().starts_with(&format!("{kind}.")));
        if !known {
            let families = EventName::ALL.iter().filter_map(|name| name.as_str().split('.').next());
            let names = EventName::ALL.iter().map(|name| name.as_str()).chain(families);
            let hint = nearest(kind, names).map_or(String::new(), |near| format!("did you mean `{near}`? "));
            return Err(usage(
                format!("there is no event `{kind}`"),
                &format!("{hint}`the-loop events --types` prints those there are"),
            ));
        }
    }
    let since = args.since.as_deref().map(Time::parse).transpose();
    let level = args.level.as_ref().map(|level| serde_json::from_value::<Level>(level.as_str().into())).transpose();
    let item = args
        .work_item
        .as_deref()
        .map(|text| work_item::resolve(text, || work_item::at_hand(&setting.config, &setting.home.dir)));
    Ok(Wanted {
        types: args.kinds.clone(),
        work_item: item.transpose()?.map(|item| item.key().as_str().to_owned()),
        since: since.map_err(|error| usage(error.to_string(), "write it in UTC"))?,
        level: level.map_err(|_| usage("there is no such level".into(), "the levels are debug, info, warn, error"))?,
    })
}

/// The newest wanted lines: the files first, then what only the store has.
fn newest(setting: &Setting, wanted: &Wanted, limit: usize) -> Result<Vec<Json>, Failure> {
    let mut lines: VecDeque<Json> = VecDeque::new();
    let mut last_written = None;
    let reader = reader(setting)?;
    let store = reader.as_ref().map(|reader| reader.id().0);
    let mut keep = |line: Json| {
        if wanted.wants(&line) {
            lines.push_back(line);
            if lines.len() > limit {
                lines.pop_front();
            }
        }
    };
    let file = setting.config.event_log_file(&setting.home);
    read_all(&file, setting.config.event_log.keep, &mut |text| {
        let Ok(line) = serde_json::from_str::<Json>(text) else { return };
        if line.get("store").and_then(Json::as_str) == store.as_deref() {
            last_written = last_written.max(line.get("seq").and_then(Json::as_u64));
        }
        keep(line);
    })
    .map_err(|error| Failure::new(Kind::Outside, error.to_string()))?;
    if let Some(reader) = reader {
        let from = last_written.map_or(0, |last| last + 1);
        let waiting = reader.read(|tx| tx.journal(from, usize::MAX))?;
        let store = reader.id().0;
        for (seq, at, entry) in waiting {
            let text = journal::line(at, &entry, std::process::id(), Some((seq, &store)));
            keep(serde_json::from_str(&text).unwrap_or_default());
        }
    }
    Ok(lines.into())
}

/// One event for people: time, level when it matters, name, then what it is about.
fn line(event: &Json) -> String {
    let text = |key: &str| event.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let hidden = ["ts", "source", "event", "level", "pid", "seq", "store"];
    let fields = event.as_object().into_iter().flatten().filter(|(key, _)| !hidden.contains(&key.as_str()));
    let fields: Vec<String> = fields
        .map(|(key, value)| match value.as_str() {
            Some(text) => format!("{key}={text}"),
            None => format!("{key}={value}"),
        })
        .collect();
    let level = text("level");
    let level = if level == "info" { String::new() } else { format!(" [{level}]") };
    format!("{}{level} {} {}\n", local_time(&text("ts")), text("event"), fields.join(" "))
}
