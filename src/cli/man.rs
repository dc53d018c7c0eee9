//! `the-loop man`: manual pages, made from clap.

use std::io;
use std::path::{Path, PathBuf};

use clap_mangen::Man;
use serde_json::json;

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use crate::domain::config::nearest;

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command whose page is printed, such as `sessions show`; the program itself without one
    #[arg(value_name = "VERB")]
    verbs: Vec<String>,
    /// Write the pages of all commands into this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "verbs")]
    out: Option<PathBuf>,
}

/// Runs `man`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut program = super::command();
    program.build();
    match &args.out {
        Some(dir) => write(&program, &context.cwd().join(dir), context),
        None => print(&program, &args.verbs, context),
    }
}

fn print(program: &clap::Command, verbs: &[String], context: &Context) -> Result<Exit, Failure> {
    let (name, text) = page(find(program, verbs)?).map_err(|error| unwritten(Path::new("the page"), &error))?;
    context.out.result(|| json!({ "name": name, "page": text }), || text.clone())?;
    Ok(Exit::Done)
}

/// The command that `verbs` name.
fn find<'c>(program: &'c clap::Command, verbs: &[String]) -> Result<&'c clap::Command, Failure> {
    let mut found = program;
    for verb in verbs {
        found = found.find_subcommand(verb).ok_or_else(|| {
            let failure = Failure::new(Kind::Usage, format!("`{}` has no command `{verb}`", bin_name(found)));
            match nearest(verb, found.get_subcommands().map(clap::Command::get_name)) {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint(format!("`{} --help` lists those it has", bin_name(found))),
            }
        })?;
    }
    Ok(found)
}

fn bin_name(command: &clap::Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

fn write(program: &clap::Command, dir: &Path, context: &Context) -> Result<Exit, Failure> {
    std::fs::create_dir_all(dir).map_err(|error| unwritten(dir, &error))?;
    let mut names = Vec::new();
    for command in all(program) {
        let (name, text) = page(command).map_err(|error| unwritten(dir, &error))?;
        let path = dir.join(&name);
        std::fs::write(&path, text).map_err(|error| unwritten(&path, &error))?;
        names.push(name);
    }
    context.out.result(
        || json!({ "directory": dir, "pages": names }),
        || format!("wrote {} pages into {}\n", names.len(), dir.display()),
    )?;
    Ok(Exit::Done)
}

/// The command and everything below it, `help` aside.
fn all(command: &clap::Command) -> Vec<&clap::Command> {
    let below = command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set());
    std::iter::once(command).chain(below.flat_map(all)).collect()
}

/// File name and text of a command's page.
fn page(command: &clap::Command) -> io::Result<(String, String)> {
    let source = format!("{} {}", super::NAME, env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("User commands");
    let mut text = Vec::new();
    man.render(&mut text)?;
    Ok((man.get_filename(), String::from_utf8_lossy(&text).into_owned()))
}

fn unwritten(what: &Path, error: &io::Error) -> Failure {
    Failure::new(Kind::Outside, format!("could not write {}: {error}", what.display()))
        .hint("name a directory that this user may write")
}
