//! `the-loop migrate-config`: the configuration of an earlier version as one of this version.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::adapters::config_edit::{self, EditError};
use crate::adapters::config_files::ConfigFileError;
use crate::domain::config::{self, CURRENT, Migrated, Problem};
use crate::domain::layout::StateLayout;

use super::context::Context;
use super::exit::{Exit, Failure, Kind, problem_json};

/// Arguments of `migrate-config`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs `migrate-config`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let Some((file, text)) = context.config_text()? else {
        return said(context, None, args.dry_run, &Done::default());
    };
    let migrated = config::migrate(&text)
        .map_err(|problems| Failure::from(ConfigFileError::Invalid { path: file.clone(), problems }))?;
    // What is wrong in it for another reason is said, and does not stop what can be done.
    let problems = config::read(&migrated.text).err().unwrap_or_default();
    let backup = match migrated.moves.is_empty() || args.dry_run {
        true => None,
        false => Some(write(context, &file, &text, &migrated)?),
    };
    let changed = (!migrated.moves.is_empty()).then(|| lines_changed(&text, &migrated.text));
    let done = Done { migrated: Some(migrated), changed, backup, problems };
    said(context, Some(&file), args.dry_run, &done)
}

/// What came of it.
#[derive(Default)]
struct Done {
    /// `None` without a configuration.
    migrated: Option<Migrated>,
    /// The lines that differ; `None` when the text was current.
    changed: Option<String>,
    backup: Option<PathBuf>,
    problems: Vec<Problem>,
}

/// Replaces the file and keeps the old text in the local folder.
fn write(context: &Context, file: &Path, old: &str, new: &Migrated) -> Result<PathBuf, Failure> {
    let home = context.home_of(file);
    // Where state lies is read even where something else is wrong.
    let config = config::readable_part(&new.text).unwrap_or_default();
    let layout = StateLayout::new(config.state_root(&home)).with_local_dir(config.local_dir(&home));
    let version = new.from.map_or("without-version".to_owned(), |version| format!("v{version}"));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    config_edit::replace(file, old, &new.text, &layout.config_copies_dir(), &format!("{name}.{version}")).map_err(
        |error| {
            let failure = Failure::new(Kind::Outside, error.to_string());
            match error {
                EditError::Changed(_) => failure.hint("nothing was written; try again"),
                EditError::Io { .. } => failure,
            }
        },
    )
}

fn said(context: &Context, file: Option<&Path>, dry_run: bool, done: &Done) -> Result<Exit, Failure> {
    let (moves, notes) = done.migrated.as_ref().map_or((&[][..], &[][..]), |made| (&made.moves[..], &made.notes[..]));
    let document = || {
        let problems: Vec<_> = done.problems.iter().map(problem_json).collect();
        json!({
            "file": file, "version": CURRENT.to_string(), "dryRun": dry_run, "changed": !moves.is_empty(),
            "moves": moves, "notes": notes, "backup": done.backup, "problems": problems,
            "text": done.migrated.as_ref().filter(|_| dry_run).map(|made| &made.text),
        })
    };
    context.out.result(document, || match file {
        None => "nothing to do: no configuration was found, the defaults hold\n".into(),
        Some(file) if moves.is_empty() => format!("nothing to do: `{}` is of version {CURRENT}\n", file.display()),
        Some(file) => report(file, dry_run, moves, done),
    })?;
    for note in notes {
        context.out.note(note);
    }
    for problem in &done.problems {
        context.out.note(&format!("still to be put right by hand: {problem}"));
    }
    Ok(Exit::Done)
}

fn report(file: &Path, dry_run: bool, moves: &[String], done: &Done) -> String {
    let verb = if dry_run { "would change" } else { "changed" };
    let mut text = format!("{verb} `{}`:\n", file.display());
    text.extend(moves.iter().map(|moved| format!("  {moved}\n")));
    if let Some(changed) = done.changed.as_ref().filter(|_| dry_run) {
        text.push_str(changed);
    }
    if let Some(backup) = &done.backup {
        text.push_str(&format!("the file as it was is kept as `{}`\n", backup.display()));
    }
    text
}

/// The lines that differ, as a diff with three lines around them.
fn lines_changed(old: &str, new: &str) -> String {
    similar::TextDiff::from_lines(old, new).unified_diff().context_radius(3).header("before", "after").to_string()
}
