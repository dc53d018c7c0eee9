//! `the-loop comment`: an agent, or a person, says something on a ticket; it is marked as ours and never comes back.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::ask::order;
use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::setting::setting;
use super::work_item::{at_hand, resolve};
use crate::app::progress::Unheard;
use crate::app::request::{Order, Response};
use crate::domain::telling::{CommentBody, MAX_CHARACTERS};

/// Names the work item in the environment of a session.
const WORK_ITEM_VARIABLE: &str = "THE_LOOP_WORK_ITEM";
/// Most bytes read of a body: what GitHub takes is at most this long.
const MAX_BYTES: u64 = 4 * MAX_CHARACTERS as u64;

/// Arguments of `comment`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The issue or pull request; left out in an agent's session, it is the session's own work item
    #[arg(value_name = "REF")]
    reference: Option<String>,
    /// The same as `REF`
    #[arg(long = "work-item", value_name = "REF", conflicts_with = "reference")]
    work_item: Option<String>,
    /// Read the comment from this file instead of standard input
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
}

/// Runs `comment`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let setting = setting(context)?;
    let named = args.reference.clone().or_else(|| args.work_item.clone());
    let text = named.map_or_else(|| of_session(context), Ok)?;
    let item = resolve(&text, || at_hand(&setting.config, &setting.home.dir))?;
    let body = body(args, context)?;
    // Refused before anybody is asked; whoever posts it checks it again.
    CommentBody::parse(&body).map_err(|problem| {
        Failure::new(Kind::Refused, problem.to_string()).hint("nothing was posted; change the text and say it again")
    })?;
    let (response, _) = order(&setting, &Order::Comment { item, body }, Arc::new(Unheard))?;
    let Response::Commented(commented) = response else {
        return Err(Failure::new(Kind::Bug, "a comment was answered with something else"));
    };
    context.out.result(|| json!({ "comment": commented }), || format!("{}\n", commented.url))?;
    Ok(Exit::Done)
}

fn of_session(context: &Context) -> Result<String, Failure> {
    let variable = context.variable(WORK_ITEM_VARIABLE).and_then(|value| value.into_string().ok());
    variable.filter(|value| !value.is_empty()).ok_or_else(|| {
        Failure::new(Kind::Usage, "no work item is named, and this is no session of an agent")
            .hint("write `the-loop comment REF`, such as `owner/repo#15`")
    })
}

fn body(args: &Args, context: &Context) -> Result<String, Failure> {
    let (bytes, from) = match &args.body_file {
        Some(file) => (File::open(context.cwd().join(file)).and_then(read), format!("`{}`", file.display())),
        None => (read(std::io::stdin().lock()), "standard input".to_owned()),
    };
    let bytes = bytes.map_err(|error| {
        Failure::new(Kind::Outside, format!("could not read {from}: {error}")).hint("name a text file that can be read")
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::new(Kind::Refused, format!("{from} holds more than GitHub takes in one comment"))
            .hint(format!("a comment has at most {MAX_CHARACTERS} characters")));
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(Kind::Refused, format!("{from} is not UTF-8")).hint("a comment is text; save it as UTF-8")
    })
}

/// Reads to the end, or to one byte more than can be posted.
fn read(source: impl std::io::Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_BYTES + 1).read_to_end(&mut bytes).map(|_| bytes)
}
