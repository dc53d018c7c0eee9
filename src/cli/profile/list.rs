//! `the-loop profile list`.

use serde_json::{Value as Json, json};

use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::columns;
use crate::domain::profile::PROFILES;

/// Arguments of `profile list`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(Args {}: &Args, context: &Context) -> Result<Exit, Failure> {
    let json = || {
        let one = |profile: &crate::domain::profile::Profile| json!({ "name": profile.name, "about": profile.about });
        json!({ "profiles": PROFILES.iter().map(one).collect::<Json>() })
    };
    let rows: Vec<[String; 2]> = PROFILES.iter().map(|profile| [profile.name.into(), profile.about.into()]).collect();
    context.out.result(json, || columns(&rows))?;
    Ok(Exit::Done)
}
