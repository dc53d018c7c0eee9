//! `the-loop merge-driver`: what git calls for a portable file that was changed on both sides.
//!
//! It needs no configuration, no store and no clock. Git reads the result from OURS: it is replaced in one step, so that
//! whatever goes wrong leaves it whole.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use crate::adapters::text_files;
use crate::domain::portable::Report;
use crate::domain::portable::merge::{Merged, Unmerged, merge};

/// Arguments of `merge-driver`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The common ancestor (`%O`); an empty file when both sides added it
    #[arg(value_name = "BASE")]
    base: PathBuf,
    /// Our side (`%A`); the result is written here
    #[arg(value_name = "OURS")]
    ours: PathBuf,
    /// Their side (`%B`)
    #[arg(value_name = "THEIRS")]
    theirs: PathBuf,
    /// The file's path in the repository (`%P`)
    #[arg(value_name = "PATH", allow_hyphen_values = true)]
    path: PathBuf,
}

/// Runs `merge-driver`: exit 0 with the record in OURS, or 1 with markers in it.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let read = |path: &Path| std::fs::read(path).map_err(|error| outside("read", path, &error));
    let (base, ours, theirs) = (read(&args.base)?, read(&args.ours)?, read(&args.theirs)?);
    let name = args.path.file_name().unwrap_or_default().to_string_lossy();
    let Merged { bytes, conflict, beaten } = merge(&name, &base, &ours, &theirs);
    if bytes != ours {
        text_files::replace(&args.ours, &bytes).map_err(|error| outside("write", &args.ours, &error))?;
    }
    let beaten = beaten.map(|beaten| Report::Beaten(beaten).to_string());
    if let Some(beaten) = &beaten {
        context.out.note(&format!("{}: {beaten}", args.path.display()));
    }
    match conflict {
        Some(conflict) => Err(refusal(&args.path, &conflict)),
        None => {
            let document = || json!({ "path": args.path.to_string_lossy(), "merged": true, "beaten": beaten });
            context.out.result(document, String::new).map(|()| Exit::Done)
        }
    }
}

fn outside(doing: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Kind::Outside, format!("could not {doing} `{}`: {error}", path.display()))
        .hint("git calls this with the files `%O %A %B` and the path `%P`; `the-loop init` tells it how")
}

fn refusal(path: &Path, conflict: &Unmerged) -> Failure {
    Failure::new(Kind::Refused, format!("{}: {conflict}", path.display())).hint(match conflict {
        Unmerged::Unreadable { .. } => "both sides stand between markers in the file: keep the one that is a record",
        Unmerged::Differ(_) => "what differs stands between markers in the file: choose, then `git add` it",
    })
}
