//! `the-loop config`: check the file, show the effective values, print the schema.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::adapters::config_files::{Chosen, ConfigFileError, Found};
use crate::domain::config::{self, Effective, Note, Problem};

use super::context::Context;
use super::exit::{Exit, Failure, problem_json};
use super::output::columns;

/// Arguments of `config`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = false)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Report everything that is wrong with the configuration, each with its place
    Check,
    /// Print every effective value and where it came from
    Show,
    /// Print a JSON Schema of the configuration, for editors
    Schema,
}

/// Runs `config`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match args.action {
        Action::Check => check(context),
        Action::Show => show(context),
        Action::Schema => {
            let schema = config::json_schema();
            context.out.result(|| json!({"jsonSchema": schema}), || format!("{schema:#}\n")).map(|()| Exit::Done)
        }
    }
}

fn check(context: &Context) -> Result<Exit, Failure> {
    let found = match context.find() {
        Ok(found) => found,
        Err(ConfigFileError::Invalid { path, problems }) => return wrong(context, &path, &problems),
        Err(error) => return Err(error.into()),
    };
    let notes = &found.reading.notes;
    let document = || {
        let notes: Vec<Json> = notes.iter().map(note_json).collect();
        json!({"file": file_json(&found), "chosenBy": chosen(&found), "ok": true, "problems": [], "notes": notes})
    };
    context.out.result(document, || match &found.file {
        Some((file, _)) => {
            let lines: String = notes.iter().map(|note| format!("{}: note: {note}\n", file.display())).collect();
            format!("{lines}`{}` is good\n", file.display())
        }
        None => "no configuration was found; the defaults hold\n".into(),
    })?;
    Ok(Exit::Done)
}

fn wrong(context: &Context, path: &Path, problems: &[Problem]) -> Result<Exit, Failure> {
    let document = || {
        let problems: Vec<Json> = problems.iter().map(problem_json).collect();
        json!({"file": path.to_string_lossy(), "ok": false, "problems": problems, "notes": []})
    };
    let text = || problems.iter().map(|problem| format!("{}: {problem}\n", path.display())).collect();
    context.out.result(document, text)?;
    Ok(Exit::Refused)
}

fn show(context: &Context) -> Result<Exit, Failure> {
    let found = context.find()?;
    let values = config::effective(&found.reading);
    let document = || {
        let values: Vec<Json> = values.iter().map(value_json).collect();
        json!({"file": file_json(&found), "chosenBy": chosen(&found), "home": found.home.dir, "values": values})
    };
    context.out.result(document, || {
        let from = found.file.as_ref().map_or("none; the defaults hold".into(), |(file, _)| file.display().to_string());
        let rows: Vec<[String; 3]> = values.iter().map(row).collect();
        format!("# file: {from}\n# home: {}\n{}", found.home.dir.display(), columns(&rows))
    })?;
    Ok(Exit::Done)
}

fn row(value: &Effective) -> [String; 3] {
    let from = value.place.map_or("default".into(), |place| format!("line {}", place.line));
    [value.key.clone(), value.value.to_string(), from]
}

fn value_json(value: &Effective) -> Json {
    let from = value.place.map_or(json!("default"), |place| json!({"line": place.line, "column": place.column}));
    json!({"key": value.key, "value": value.value, "from": from})
}

fn note_json(note: &Note) -> Json {
    json!({"line": note.place.line, "column": note.place.column, "key": note.key, "message": note.message})
}

fn file_json(found: &Found) -> Json {
    found.file.as_ref().map_or(Json::Null, |(file, _)| Json::from(file.to_string_lossy()))
}

fn chosen(found: &Found) -> Json {
    let Some((_, chosen)) = &found.file else { return Json::Null };
    Json::from(match chosen {
        Chosen::Option => "option",
        Chosen::Variable => "variable",
        Chosen::Repository => "repository",
        Chosen::User => "user",
    })
}
