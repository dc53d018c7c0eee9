//! `the-loop dispatch`: what waits, runs or was given up; shown, tried again, forgotten.

use std::fmt::Write as _;

use serde_json::json;

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::output::columns;
use super::sessions::local_time;
use super::setting::{order, reader, setting};
use crate::adapters::system::SystemClock;
use crate::app::look;
use crate::app::request::{DispatchDetail, DispatchEntry, Dispatched, Look, Order, Response};
use crate::daemon::compose::Setting;
use crate::domain::entry::EntryId;
use crate::domain::ports::Clock as _;

/// Arguments of `dispatch`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = false)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Everything that runs, waits, was given up or could not be decided
    List,
    /// One of it with its whole message
    Show(Entry),
    /// Try it again, at the place it had in its lane
    Retry(Entry),
    /// Forget it
    Drop(Entry),
}

#[derive(Debug, clap::Args)]
struct Entry {
    /// Its name in the list, such as `e12`
    #[arg(value_name = "ID")]
    id: String,
}

const HEAD: [&str; 7] = ["Id", "State", "Work item", "What", "Tries", "Since", "Detail"];
/// Most of a detail that fits a line of the list, characters.
const SHORT: usize = 60;

/// Runs `dispatch`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let setting = setting(context)?;
    match &args.action {
        Action::List => list(context, &setting),
        Action::Show(entry) => show(&entry.id()?, context, &setting),
        Action::Retry(entry) => change(Order::Retry(entry.id()?), context, &setting),
        Action::Drop(entry) => change(Order::Drop(entry.id()?), context, &setting),
    }
}

impl Entry {
    fn id(&self) -> Result<EntryId, Failure> {
        EntryId::parse(&self.id).map_err(|error| {
            Failure::new(Kind::Usage, error.to_string()).hint("`the-loop dispatch list` shows those there are")
        })
    }
}

fn list(context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    let entries = match looked(Look::Dispatch, setting)? {
        Some(Response::Dispatch(entries)) => entries,
        _ => Vec::new(),
    };
    context.out.result(|| json!({ "dispatch": entries }), || table(&entries))?;
    if entries.is_empty() {
        context.out.note("nothing waits and nothing was given up");
    }
    Ok(Exit::Done)
}

fn show(id: &EntryId, context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    let Some(Response::Effect(Some(detail))) = looked(Look::Effect(id.clone()), setting)? else {
        return Err(Failure::new(Kind::Refused, format!("there is no entry `{id}`"))
            .hint("it may be done by now; `the-loop dispatch list` shows those there are"));
    };
    context.out.result(|| json!({ "entry": detail }), || text(&detail))?;
    Ok(Exit::Done)
}

fn looked(look: Look, setting: &Setting) -> Result<Option<Response>, Failure> {
    let Some(reader) = reader(setting)? else { return Ok(None) };
    Ok(Some(reader.read(|tx| look::answer(tx, &look, SystemClock.now()))?))
}

fn change(wanted: Order, context: &Context, setting: &Setting) -> Result<Exit, Failure> {
    let Response::Dispatched(dispatched) = order(setting, &wanted)? else {
        return Err(Failure::new(Kind::Bug, "an entry was answered with something else"));
    };
    context.out.result(|| json!({ "dispatched": dispatched }), || outcome(&dispatched))?;
    Ok(Exit::Done)
}

fn outcome(dispatched: &Dispatched) -> String {
    let Dispatched { id, verb, work_item, acted, may_repeat, state } = dispatched;
    let about = work_item.as_ref().map_or(String::new(), |item| format!(" of {item}"));
    let mut text = match (acted, verb.as_str(), state.as_str()) {
        (false, ..) => format!("{id}{about}: nothing to do, it waits for its turn\n"),
        (true, "drop", _) => format!("{id}{about}: dropped\n"),
        (true, _, "done") => format!("{id}{about}: tried again, done\n"),
        (true, _, "dead") => format!("{id}{about}: tried again and given up again\n"),
        (true, _, state) => format!("{id}{about}: put back, {state}\n"),
    };
    if *may_repeat {
        text.push_str("it may be done twice: nobody knows whether it was done before\n");
    }
    text
}

fn table(entries: &[DispatchEntry]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let rows: Vec<[String; 7]> = std::iter::once(HEAD.map(str::to_owned)).chain(entries.iter().map(line)).collect();
    columns(&rows)
}

fn line(entry: &DispatchEntry) -> [String; 7] {
    let or_dash = |text: Option<&String>| text.cloned().unwrap_or_else(|| "-".into());
    let state = match &entry.reason {
        Some(reason) => format!("{} ({reason})", entry.state),
        None => entry.state.clone(),
    };
    let detail = entry.detail.as_deref().map_or_else(|| "-".into(), short);
    [
        entry.id.clone(),
        state,
        or_dash(entry.endpoint.as_ref().or(entry.work_item.as_ref())),
        entry.what.clone(),
        entry.attempts.to_string(),
        local_time(&entry.since),
        detail,
    ]
}

/// The first line of a text, cut.
fn short(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    match first.char_indices().nth(SHORT) {
        Some((at, _)) => format!("{}…", &first[..at]),
        None => first.to_owned(),
    }
}

fn text(detail: &DispatchDetail) -> String {
    let entry = &detail.entry;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    line("Id", &entry.id);
    line("State", &entry.state);
    line("What", &entry.what);
    for (name, value) in [
        ("Work item", entry.work_item.clone()),
        ("Endpoint", entry.endpoint.clone()),
        ("Delivery", entry.delivery.clone()),
        ("Since", Some(local_time(&entry.since))),
        ("Not before", entry.not_before.as_deref().map(local_time)),
        ("Tries", Some(entry.attempts.to_string())),
        ("Given up", entry.given_up_at.as_deref().map(local_time)),
        ("Reason", entry.reason.clone()),
        ("Detail", entry.detail.clone()),
    ] {
        if let Some(value) = value {
            line(name, &value);
        }
    }
    for (at, advice) in detail.advice.iter().enumerate() {
        line(if at == 0 { "To do" } else { "" }, advice);
    }
    if let Some(message) = &detail.message {
        line("About", &message.about.to_string());
        line("Author", message.author.as_deref().unwrap_or("unknown"));
        line("Title", &message.title);
        line("Link", message.link.as_deref().unwrap_or("-"));
        let _ = write!(text, "\n{}\n", message.text.trim_end_matches('\n'));
    }
    if let Some(payload) = &detail.payload {
        let _ = write!(text, "\n{}\n", payload.trim_end_matches('\n'));
    }
    // What others wrote must not drive the terminal.
    super::output::visible(&text)
}
