//! `the-loop evolve candidate`.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use serde_json::json;

use crate::app::evolve::Evolve;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, Kind};
use crate::domain::evolve::short;

/// Largest patch, bytes.
const LARGEST: u64 = 256 << 10;

/// Arguments of `evolve candidate`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The proposal, by the beginning of its id
    #[arg(value_name = "PROPOSAL")]
    proposal: String,
    /// The change, as `git diff` writes it
    #[arg(long, value_name = "FILE")]
    patch: PathBuf,
    /// The regression suite follows behind `--`
    #[arg(long, required = true, requires = "argv")]
    suite: bool,
    /// What a model says about it; carried, and no evidence
    #[arg(long = "claim", value_name = "TEXT")]
    claims: Vec<String>,
    /// The suite, run without a shell at the top of each side
    #[arg(value_name = "ARGV", last = true)]
    argv: Vec<String>,
}

pub(super) fn run(args: &Args, evolve: &Evolve<'_>, context: &Context) -> Result<Exit, Failure> {
    let patch = read(&context.cwd().join(&args.patch))?;
    let tried = evolve.candidate(&args.proposal, &patch, &args.argv, &args.claims)?;
    context.out.result(
        || json!({ "id": tried.id, "candidate": tried.candidate }),
        || format!("{}  tried on {}; not run yet\n", short(&tried.id), short(&tried.candidate.base)),
    )?;
    Ok(Exit::Done)
}

fn read(path: &std::path::Path) -> Result<String, Failure> {
    let failed = |why: String| {
        Failure::new(Kind::Outside, format!("could not read `{}`: {why}", path.display()))
            .hint("name a file with a change of at most 256 KiB, made by `git diff`")
    };
    let mut text = String::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    file.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    if text.len() as u64 > LARGEST { Err(failed("it is too large".into())) } else { Ok(text) }
}
