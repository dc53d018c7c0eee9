//! `the-loop profile show`.

use serde_json::{Map, Value as Json, json};

use super::unknown;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::domain::profile::{Profile, SAFEGUARDS, by_name};

/// Arguments of `profile show`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Which
    #[arg(value_name = "NAME")]
    name: String,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let profile = by_name(&args.name).ok_or_else(|| unknown(args.name.trim()))?;
    context.out.result(|| json!({ "profile": as_json(profile) }), || text(profile))?;
    Ok(Exit::Done)
}

pub(super) fn as_json(profile: &Profile) -> Json {
    let mut document = Map::new();
    document.insert("name".into(), profile.name.into());
    document.insert("about".into(), profile.about.into());
    document.extend(profile.dimensions().map(|(key, _, entries)| (key.to_owned(), json!(entries))));
    document.insert("safeguards".into(), json!(SAFEGUARDS));
    Json::Object(document)
}

fn text(profile: &Profile) -> String {
    let part = |heading: &str, entries: &[&str]| {
        let lines: String = entries.iter().map(|entry| format!("  - {entry}\n")).collect();
        format!("\n{heading}\n{lines}")
    };
    let parts: String = profile.dimensions().iter().map(|(_, heading, entries)| part(heading, entries)).collect();
    format!("{}: {}\n{parts}{}", profile.name, profile.about, part("Universal safeguards", SAFEGUARDS))
}
