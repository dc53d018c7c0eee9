//! `the-loop run checkpoint`.

use std::collections::BTreeMap;

use super::follow;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::domain::run::{Command, Setting, Stage};

/// Arguments of `run checkpoint`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The stage the work is in, 0 to 8
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=8))]
    stage: Option<u8>,
    /// What there is to say about it; an empty one takes the last away
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Keep a value with the run; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    settings: Vec<(String, Setting)>,
}

fn pair(text: &str) -> Result<(String, Setting), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.to_owned(), Setting::typed(value))),
        _ => Err("write `KEY=VALUE`".to_owned()),
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let stage = args.stage.and_then(|number| Stage::new(u64::from(number)));
    let settings: BTreeMap<String, Setting> = args.settings.iter().cloned().collect();
    follow(&Command::Checkpoint { stage, note: args.note.clone(), settings }, context)
}
