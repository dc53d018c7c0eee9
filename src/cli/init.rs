//! `the-loop init`: a configuration, and a git repository in which state travels rightly. Each change is shown; a
//! second run finds nothing to do.

use std::fmt::Write as _;

use serde_json::json;

use super::context::Context;
use super::exit::{Exit, Failure, Kind};
use super::repository::{Place, repository};
use super::work_item::at_hand;
use crate::adapters::config_files::{CONFIG_FILE, Chosen};
use crate::adapters::git::WorkTree;
use crate::app::carry;
use crate::daemon::compose::Setting;
use crate::domain::config::{self, Config, Home};
use crate::domain::findings::{Finding, git as judged};
use crate::domain::git::{Change, GitError, Plan, Target};
use crate::domain::ports::Git as _;

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write nothing; exit 1 when something would change
    #[arg(long)]
    check: bool,
}

/// What was found, and what has to change.
struct Found {
    tree: WorkTree,
    plan: Plan,
    /// What no change mends.
    left: Vec<Finding>,
}

/// Runs `init`: exit 1 when something is left that it cannot mend.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (setting, fresh) = setting(context)?;
    let mut found = look(&setting)?;
    found.plan.changes.splice(0..0, fresh);
    let Found { tree, plan, mut left } = found;
    if !args.check && !plan.changes.is_empty() {
        carry::apply(&tree, &plan, None)?;
        left = look(&setting)?.left;
    }
    let document = || json!({ "changes": plan.changes, "done": !args.check, "left": left });
    context.out.result(document, || text(&plan.changes, args.check))?;
    for finding in left.iter().filter(|finding| finding.is_bad()) {
        // Also with `-q`: without it nothing would say why the exit code is 1.
        context.out.problem(&what_and_why(finding), finding.todo.as_deref());
    }
    for finding in left.iter().filter(|finding| !finding.is_bad()) {
        context.out.note(&finding.todo.iter().fold(what_and_why(finding), |text, todo| format!("{text}\n  {todo}")));
    }
    let undone = args.check && !plan.changes.is_empty();
    Ok(if undone || left.iter().any(Finding::is_bad) { Exit::Refused } else { Exit::Done })
}

/// The setting to bring into order. Where no configuration of this repository is found there is one to write first.
fn setting(context: &Context) -> Result<(Setting, Option<Change>), Failure> {
    let environment: Vec<_> = std::env::vars_os().collect();
    let found = context.find()?;
    if let Some((file, Chosen::Option | Chosen::Variable | Chosen::Repository)) = found.file {
        return Ok((Setting::new(found.reading.config, found.home, Some(file), environment), None));
    }
    let top = WorkTree::find(context.cwd(), &environment)?.top().to_owned();
    let repository = at_hand(&Config::default(), &top).ok().map(|repo| repo.to_string());
    let text = config::starter(repository.as_deref().map(|repo| repo.trim_start_matches("github:")));
    let file = top.join(CONFIG_FILE);
    let home = Home { dir: top, user: found.home.user };
    let added = text.lines().map(str::to_owned).collect();
    let change = Change { target: Target::File(file.clone()), added, removed: Vec::new(), after: text };
    Ok((Setting::new(Config::default(), home, Some(file), environment), Some(change)))
}

fn look(setting: &Setting) -> Result<Found, Failure> {
    let repository = match repository(setting)? {
        Place::Inside(repository) => repository,
        Place::Outside(tree) => {
            let left = vec![judged::elsewhere(setting.layout.root(), tree.top())];
            return Ok(Found { tree, plan: Plan::default(), left });
        }
    };
    let (seen, plan) = repository.look()?;
    let findings = judged::judge(&seen, &repository.spot, &plan).into_iter();
    let left = findings.filter(|finding| finding.is_bad() && finding.fix.is_none()).collect();
    Ok(Found { tree: repository.into_tree(), plan, left })
}

fn text(changes: &[Change], check: bool) -> String {
    if changes.is_empty() {
        return "nothing to do: configuration and repository are as they should be\n".into();
    }
    let mut text = String::new();
    for change in changes {
        let verb = match (&change.target, check) {
            (Target::File(_), true) => "would change",
            (Target::File(_), false) => "changed",
            (Target::Setting(_), true) => "would set",
            (Target::Setting(_), false) => "set",
        };
        let _ = writeln!(text, "{verb} {}", change.target);
        let removed = change.removed.iter().map(|line| format!("  - {line}\n"));
        text.extend(removed.chain(change.added.iter().map(|line| format!("  + {line}\n"))));
    }
    super::output::visible(&text)
}

fn what_and_why(finding: &Finding) -> String {
    finding.why.iter().fold(finding.what.clone(), |text, why| format!("{text}\n  {why}"))
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let failure = Self::new(Kind::Outside, error.to_string());
        match error {
            GitError::NoRepository(_) => {
                failure.hint("`git init` makes one; a configuration alone can be written by hand")
            }
            GitError::Bare(_) => failure.hint("run it in a working tree of that repository"),
            GitError::NoProgram(_) => failure.hint("install git, or put it into `PATH`"),
            GitError::Failed { .. } | GitError::File { .. } => failure,
        }
    }
}
