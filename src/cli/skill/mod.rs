//! `the-loop skill`: the files that teach an agent to work by runs and evidence. No configuration, no store and no daemon
//! is needed.

mod install;
mod uninstall;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde_json::{Value as Json, json};

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::output::visible;
use crate::adapters::project::ProjectTree;
use crate::adapters::skill_files::SkillFolder;
use crate::app::runs::RunError;
use crate::domain::skill::{Agent, Plan, Scope, SkillError, SkillFiles, Step};

/// Arguments of `skill`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = false)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Write the files; what is in their place is kept, and put back by `uninstall`
    Install(install::Args),
    /// Take them away, and put that which was there before back
    Uninstall(uninstall::Args),
}

/// Which files, and whether they are touched.
#[derive(Debug, clap::Args)]
struct Which {
    /// Whom to teach
    #[arg(long, value_name = "AGENT")]
    agent: Agent,
    /// For whoever works in this project, or for this user in every project
    #[arg(long, value_name = "SCOPE", default_value = "project")]
    scope: Scope,
    /// Write nothing; say what would be done
    #[arg(long)]
    dry_run: bool,
}

impl ValueEnum for Agent {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()))
    }
}

impl ValueEnum for Scope {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Project, Self::User]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()))
    }
}

/// Runs `skill`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.action {
        Action::Install(args) => install::run(args, context),
        Action::Uninstall(args) => uninstall::run(args, context),
    }
}

/// The folder that is meant.
fn folder(which: &Which, context: &Context) -> Result<SkillFolder, Failure> {
    let Which { agent, scope, .. } = which;
    if *scope == Scope::Project {
        let environment: Vec<_> = std::env::vars_os().collect();
        let project = ProjectTree::find(context.cwd(), &environment).map_err(RunError::from)?;
        return Ok(SkillFolder::of_project(project.root(), agent.project_folder()));
    }
    let home = std::env::home_dir().filter(|home| home.is_absolute()).ok_or_else(|| {
        Failure::new(Kind::Outside, "this user has no home").hint("set `HOME`, or use `--scope project`")
    })?;
    let place = agent.variable().and_then(|name| context.variable(name)).map(PathBuf::from);
    Ok(SkillFolder::of_user(agent.user_folder(&home, place.filter(|place| place.is_absolute()))))
}

/// Says what was, or would be, done. Exit code 1 when something was in the way.
fn say(plan: &Plan, which: &Which, files: &dyn SkillFiles, context: &Context) -> Result<Exit, Failure> {
    let full = |path: &str| files.folder().join(path).display().to_string();
    context.out.result(|| as_json(plan, which, files), || visible(&as_text(plan, which, &full)))?;
    for kept in &plan.kept {
        let said = format!("`{}` was left as it is: {}", full(&kept.path), kept.why);
        context.out.problem(&said, Some("move it out of the way and repeat"));
    }
    Ok(if plan.kept.is_empty() { Exit::Done } else { Exit::Refused })
}

fn as_json(plan: &Plan, which: &Which, files: &dyn SkillFiles) -> Json {
    let step = |step: &Step| match step {
        Step::Write { path, backup, .. } => json!({ "path": path, "do": "write", "backup": backup }),
        Step::Restore { path, backup, .. } => json!({ "path": path, "do": "restore", "backup": backup }),
        Step::Remove { path, .. } => json!({ "path": path, "do": "remove", "backup": null }),
    };
    json!({
        "agent": which.agent.word(),
        "scope": which.scope.word(),
        "folder": files.folder().display().to_string(),
        "done": !which.dry_run,
        "steps": plan.steps.iter().map(step).collect::<Json>(),
        "same": plan.same,
        "kept": plan.kept.iter().map(|kept| json!({ "path": kept.path, "why": kept.why })).collect::<Json>(),
    })
}

fn as_text(plan: &Plan, which: &Which, full: &dyn Fn(&str) -> String) -> String {
    let mut text = String::new();
    let mut line = |dry: &str, done: &str, path: &str, end: String| {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{} {}{end}", if which.dry_run { dry } else { done }, full(path));
    };
    for step in &plan.steps {
        match step {
            Step::Write { path, backup, .. } => {
                let kept = |backup: &String| format!("; what was there is kept as {}", full(backup));
                line("would write", "wrote", path, backup.as_ref().map_or(String::new(), kept));
            }
            Step::Restore { path, .. } => line("would restore", "restored", path, String::new()),
            Step::Remove { path, .. } => line("would remove", "removed", path, String::new()),
        }
    }
    if plan.steps.is_empty() && plan.kept.is_empty() {
        text.push_str("nothing to do\n");
    }
    text
}

impl From<SkillError> for Failure {
    fn from(error: SkillError) -> Self {
        let hint = match &error {
            SkillError::Record { .. } => {
                "it says what was there before the files were installed; put a good copy in its place, or move it away"
            }
            SkillError::Changed(_) => "repeat; nothing of it was replaced",
            SkillError::Io { .. } => "see to it that this user may write there, and repeat",
        };
        let kind = if matches!(error, SkillError::Io { .. }) { Kind::Outside } else { Kind::Refused };
        Self::new(kind, error.to_string()).hint(hint)
    }
}
