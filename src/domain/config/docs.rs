//! The tables of keys as documentation: the page for operators, the schema for editors, the effective values.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::Config;
use super::Reading;
use super::problem::Place;
use super::schema::{Field, KeyDoc, Shape, Value};

const HEAD: &str = "\
# Configuration

`cli-config.yaml`, YAML 1.2. Found in this order: `--config FILE`, `$THE_LOOP_CLI_CONFIG`, the nearest
`.the-loop/cli-config.yaml` from the working directory up to the repository's root, `~/.the-loop/cli-config.yaml`.
Without a file the defaults below hold. Every key may be left out. The directory of a work item, where an agent works, is
passed over: from within it the search begins above it, so that a file on its branch chooses nothing.

Relative paths are resolved against the directory that holds the `.the-loop` folder the file lies in, else against the
file's own directory; without a file against the repository's root. `~/` is your home directory.

`the-loop config check` reads the file and reports everything that is wrong with it, each with its line and column;
`the-loop config show` prints the effective values and where each came from; `the-loop config schema` prints a JSON
Schema for editors.

Keys marked *restart* are taken at the next start of the daemon; all others as soon as the file is saved.

This page is generated from the program's own table of keys (`make docs`).

";

/// The page of the documentation.
pub fn page() -> String {
    let mut out = HEAD.to_owned();
    let _ = writeln!(out, "| key | type | default | must | meaning |\n|---|---|---|---|---|");
    for (path, key) in leaves() {
        let must = match &key.shape {
            Shape::Word(words) => format!("be {}", super::schema::words_listed(words)),
            _ => key.must.clone(),
        };
        let required = if key.required { " *(required)*" } else { "" };
        let restart = if key.restart { " *(restart)*" } else { "" };
        let default = if key.required { String::new() } else { default(&key.default) };
        let meaning = format!("{}{required}{restart}", key.about);
        let cells = [format!("`{path}`"), kind(&key.shape), default, must, meaning];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

fn default(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        value => format!("`{value}`"),
    }
}

fn kind(shape: &Shape) -> String {
    match shape {
        Shape::Boolean => "boolean".into(),
        Shape::Number => "whole number".into(),
        Shape::Text => "text".into(),
        Shape::Name(what) => (*what).into(),
        Shape::Word(_) => "word".into(),
        Shape::List(of) => format!("list of {}", plural(of)),
        Shape::Names(of) => format!("names, each with {}", plural(of)),
        Shape::Section(_) => "section".into(),
    }
}

fn plural(shape: &Shape) -> String {
    match shape {
        Shape::Section(_) => "keys".into(),
        Shape::List(of) => format!("a list of {}", plural(of)),
        Shape::Name("repository") => "repositories".into(),
        shape => format!("{}s", kind(shape)),
    }
}

/// Every key that holds a value, with its path; `[]` is an entry of a list, `<name>` one of a map.
fn leaves() -> Vec<(String, KeyDoc)> {
    let mut out = Vec::new();
    if let Shape::Section(keys) = Config::shape() {
        walk("", &keys, &mut out);
    }
    out
}

fn walk(prefix: &str, keys: &[KeyDoc], out: &mut Vec<(String, KeyDoc)>) {
    for key in keys {
        let path = if prefix.is_empty() { key.name.to_owned() } else { format!("{prefix}.{}", key.name) };
        if !matches!(key.shape, Shape::Section(_)) {
            out.push((path.clone(), key.clone()));
        }
        match &key.shape {
            Shape::Section(below) => walk(&path, below, out),
            Shape::List(of) => walk_entries(&format!("{path}[]"), of, out),
            Shape::Names(of) => walk_entries(&format!("{path}.<name>"), of, out),
            _ => {}
        }
    }
}

fn walk_entries(path: &str, shape: &Shape, out: &mut Vec<(String, KeyDoc)>) {
    if let Shape::Section(below) = shape {
        walk(path, below, out);
    }
}

/// One effective value.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// Path of the key.
    pub key: String,
    /// Its value.
    pub value: Json,
    /// Where the file sets it; `None` for a default.
    pub place: Option<Place>,
}

/// The effective value of every key, in the order of the documentation.
pub fn effective(reading: &Reading) -> Vec<Effective> {
    let whole = reading.config.json();
    let top = leaves().into_iter().filter(|(path, _)| !path.contains("[]") && !path.contains(".<name>"));
    let values = top.filter_map(|(key, _)| {
        let value = at(&whole, &key)?.clone();
        let place = reading.set.iter().find(|(path, _)| *path == key).map(|(_, place)| *place);
        Some(Effective { key, value, place })
    });
    values.collect()
}

fn at<'j>(whole: &'j Json, path: &str) -> Option<&'j Json> {
    path.split('.').try_fold(whole, |value, key| value.get(key))
}

/// Paths of keys whose values differ and that a running daemon takes at its next start only.
pub fn needs_restart(old: &Config, new: &Config) -> Vec<String> {
    let (old, new) = (old.json(), new.json());
    let changed = leaves().into_iter().filter(|(path, key)| key.restart && at(&old, path) != at(&new, path));
    changed.map(|(path, _)| path).collect()
}

/// A JSON Schema (draft 2020-12) of the configuration, for editors.
pub fn json_schema() -> Json {
    let mut schema = form(&Config::shape());
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        schema.insert("title".into(), "the-loop cli-config.yaml".into());
    }
    schema
}

fn form(shape: &Shape) -> Json {
    match shape {
        Shape::Boolean => json!({"type": "boolean"}),
        Shape::Number => json!({"type": "integer"}),
        Shape::Text | Shape::Name(_) => json!({"type": "string"}),
        Shape::Word(words) => json!({"enum": words}),
        Shape::List(of) => json!({"type": "array", "items": form(of)}),
        Shape::Names(of) => json!({"type": "object", "additionalProperties": form(of)}),
        Shape::Section(keys) => {
            let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
            let keys = keys.iter().map(|key| (key.name.to_owned(), documented(key)));
            let keys = keys.collect::<serde_json::Map<_, _>>();
            json!({"type": "object", "additionalProperties": false, "required": required, "properties": keys})
        }
    }
}

fn documented(key: &KeyDoc) -> Json {
    let mut schema = form(&key.shape);
    let limits = if key.must.is_empty() { String::new() } else { format!("; must {}", key.must) };
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".into(), format!("{}{limits}", key.about).into());
        if !matches!(key.shape, Shape::Section(_)) {
            schema.insert("default".into(), key.default.clone());
        }
        if let Some((least, most)) = key.range {
            schema.insert("minimum".into(), least.into());
            schema.insert("maximum".into(), most.into());
        }
    }
    schema
}
