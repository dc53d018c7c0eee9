//! `the-loop events`: the decision trail, from the log's files and from what the store has not written there yet.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::sessions::local_time;
use super::setting::{reader, setting};
use super::work_item;
use crate::adapters::event_log::Follow;
use crate::adapters::system::SystemClock;
use crate::app::journal;
use crate::daemon::compose::Setting;
use crate::daemon::interrupt::until_interrupted;
use crate::domain::config::nearest;
use crate::domain::log::{EventName, Level, WrittenEntry};
use crate::domain::ports::Clock as _;
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
    /// Only since this time, UTC, such as 2026-03-02T08:15:30Z, or since so long ago, such as 2h
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only from this level on: debug, info, warn, error
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,
    /// At most this many, the newest [default: 1000, with --follow 10]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Go on with what comes, until interrupted; with --json one object per line
    #[arg(short, long, conflicts_with = "types")]
    follow: bool,
}

/// Lines printed when nothing else was asked for, and before what follows.
const LIMIT: usize = 1000;
const BEFORE: usize = 10;
/// Between two looks for what came.
const LOOK: Duration = Duration::from_millis(250);

/// Runs `events`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    if args.types {
        let names: Vec<&str> = EventName::ALL.iter().map(|name| name.as_str()).collect();
        context.out.result(|| json!({ "types": names }), || names.join("\n") + "\n")?;
        return Ok(Exit::Done);
    }
    let setting = setting(context)?;
    let wanted = wanted(args, &setting)?;
    let mut trail = Trail::new(&setting);
    let lines = newest(&mut trail, &wanted, args.limit.unwrap_or(if args.follow { BEFORE } else { LIMIT }))?;
    if args.follow {
        return follow(trail, &wanted, &lines, context);
    }
    let text = || lines.iter().map(line).collect::<String>();
    context.out.result(|| json!({ "events": lines }), text)?;
    Ok(Exit::Done)
}

/// Prints `before`, then what comes. A reader that went away and an interrupt are usual ends.
fn follow(mut trail: Trail<'_>, wanted: &Wanted, before: &[Json], context: &Context) -> Result<Exit, Failure> {
    let print = |lines: &[Json]| {
        let one = |event: &Json| if context.out.is_json() { format!("{event}\n") } else { line(event) };
        if lines.is_empty() { Ok(()) } else { context.out.data(&lines.iter().map(one).collect::<String>()) }
    };
    let mut failed = None;
    // Printed inside: whoever interrupts because of what he reads is heard.
    let mut lines = before.to_vec();
    let mut look = || -> Result<(), Failure> {
        trail.news(&mut |line| lines.extend(wanted.wants(&line).then_some(line)))?;
        print(&std::mem::take(&mut lines))
    };
    let ended = until_interrupted(LOOK, || match look() {
        Ok(()) => !context.out.is_left(),
        Err(failure) => {
            failed = Some(failure);
            false
        }
    });
    ended.map_err(|error| Failure::new(Kind::Outside, format!("the log cannot be followed: {error}")))?;
    failed.map_or(Ok(Exit::Done), Err)
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
    let since = args.since.as_deref().map(|text| Time::parse_since(text, SystemClock.now())).transpose();
    let level = args.level.as_ref().map(|level| serde_json::from_value::<Level>(level.as_str().into())).transpose();
    let item = args
        .work_item
        .as_deref()
        .map(|text| work_item::resolve(text, || work_item::at_hand(&setting.config, &setting.home.dir)));
    Ok(Wanted {
        types: args.kinds.clone(),
        work_item: item.transpose()?.map(|item| item.key().as_str().to_owned()),
        since: since.map_err(|error| usage(error.to_string(), "write it in UTC, or as a duration such as `2h`"))?,
        level: level.map_err(|_| usage("there is no such level".into(), "the levels are debug, info, warn, error"))?,
    })
}

/// The newest wanted lines.
fn newest(trail: &mut Trail<'_>, wanted: &Wanted, limit: usize) -> Result<Vec<Json>, Failure> {
    let mut lines: VecDeque<Json> = VecDeque::new();
    trail.news(&mut |line| {
        if wanted.wants(&line) {
            lines.push_back(line);
            if lines.len() > limit {
                lines.pop_front();
            }
        }
    })?;
    Ok(lines.into())
}

/// The trail from its oldest line on, each line once: the log's files, then what only the store has.
struct Trail<'s> {
    setting: &'s Setting,
    files: Follow,
    /// The last number that was given out, by store: a crash may write lines a second time.
    last: BTreeMap<String, u64>,
    begun: bool,
}

impl<'s> Trail<'s> {
    fn new(setting: &'s Setting) -> Self {
        let files = Follow::new(setting.config.event_log_file(&setting.home), setting.config.event_log.keep);
        Self { setting, files, last: BTreeMap::new(), begun: false }
    }

    /// Gives out what is new since the last call.
    fn news(&mut self, give: &mut dyn FnMut(Json)) -> Result<(), Failure> {
        // The store first: what goes from there to a file meanwhile is then found in the file.
        let waiting = match self.waiting() {
            // An owner that comes or goes, or a store under repair: there is another look.
            Err(_) if self.begun => Vec::new(),
            waiting => waiting?,
        };
        self.begun = true;
        let last = &mut self.last;
        let mut once = |line: Json| {
            let number = line.get("store").and_then(Json::as_str).zip(line.get("seq").and_then(Json::as_u64));
            if let Some((store, number)) = number {
                if last.get(store).is_some_and(|last| number <= *last) {
                    return;
                }
                last.insert(store.to_owned(), number);
            }
            give(line);
        };
        let read = self.files.news(&mut |text| {
            // Half a line of a crash is no object.
            if let Ok(line) = serde_json::from_str::<Json>(text) {
                once(line);
            }
        });
        read.map_err(|error| Failure::new(Kind::Outside, error.to_string()))?;
        for (store, seq, at, entry) in waiting {
            let text = journal::line(at, &entry, std::process::id(), Some((seq, &store)));
            once(serde_json::from_str(&text).unwrap_or_default());
        }
        Ok(())
    }

    /// What the store holds that was not given out.
    fn waiting(&self) -> Result<Vec<(String, u64, Time, WrittenEntry)>, Failure> {
        let Some(reader) = reader(self.setting)? else { return Ok(Vec::new()) };
        let store = reader.id().0;
        let from = self.last.get(&store).map_or(0, |last| last + 1);
        let waiting = reader.read(|tx| tx.journal_written(from, usize::MAX))?;
        Ok(waiting.into_iter().map(|(seq, at, entry)| (store.clone(), seq, at, entry)).collect())
    }
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
