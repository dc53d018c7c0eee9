//! `the-loop doctor`: what is wrong, why it matters, what to do. Looking changes nothing; `--fix` does what is safe.

mod configuration;
mod daemon;
mod earlier;
mod fix;
mod git;
mod github;
mod places;
mod polling;
mod portable;
mod receiver;
mod runs;
mod store;
mod workspaces;

use std::collections::BTreeSet;

use serde_json::json;

use super::context::Context;
use super::exit::{Exit, Failure};
use super::output::{Output, columns};
use super::setting::readable_part;
use crate::adapters::config_files::ConfigFileError;
use crate::daemon::compose::Setting;
use crate::domain::config::ProblemKind;
use crate::domain::findings::{Finding, Severity};

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List what can be mended safely, ask, and do it
    #[arg(long)]
    fix: bool,
    /// With --fix: do not ask
    #[arg(long, requires = "fix")]
    yes: bool,
}

/// Runs `doctor`: exit 1 with any warning or error.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let found = match context.find() {
        Err(error) => return report(context, &beside(&error, context)),
        Ok(found) => found,
    };
    let file = found.file.map(|(file, _)| file);
    let notes: Vec<String> = found.reading.notes.iter().map(ToString::to_string).collect();
    let environment = std::env::vars_os().collect();
    let setting = Setting::new(found.reading.config, found.home, file, environment);
    let look = || look(&setting, &notes, &context.out);
    match args.fix {
        true => fix::run(&setting, &look, args.yes, context),
        false => report(context, &look()),
    }
}

fn report(context: &Context, findings: &[Finding]) -> Result<Exit, Failure> {
    context.out.result(|| json!({ "findings": findings }), || text(findings))?;
    Ok(exit(findings))
}

fn exit(findings: &[Finding]) -> Exit {
    if findings.iter().any(Finding::is_bad) { Exit::Refused } else { Exit::Done }
}

/// What is wrong with the configuration, and how what lies where its readable part says looks. Nothing of that is
/// offered to be mended: first the configuration has to be.
fn beside(error: &ConfigFileError, context: &Context) -> Vec<Finding> {
    let mut findings = vec![unreadable(error)];
    let Some(setting) = readable_part(context) else { return findings };
    let root = setting.layout.root().display().to_string();
    findings.push(
        Finding::note("configuration.part", format!("what follows was looked at below `{root}`"))
            .because("that is where the readable part of the configuration, or else the default, puts it"),
    );
    findings.extend(places::look(&setting));
    findings.extend(daemon::look(&setting).findings);
    findings.extend(store::look(&setting));
    findings.extend(portable::look(&setting, &context.out));
    findings.into_iter().map(|finding| Finding { fix: None, ..finding }).collect()
}

/// A configuration that cannot be used.
fn unreadable(error: &ConfigFileError) -> Finding {
    let gate = |kind: ProblemKind| matches!(kind, ProblemKind::Version | ProblemKind::Removed);
    let problems = match error {
        ConfigFileError::Invalid { problems, .. } => problems.as_slice(),
        _ => &[],
    };
    let of_version = problems.iter().find(|problem| gate(problem.kind));
    let finding = match (of_version, problems.first()) {
        (Some(problem), _) => Finding::error("configuration.version", format!("{error}: {problem}"))
            .todo(problem.hint.clone().unwrap_or_else(|| "`the-loop config check` tells all".into())),
        (None, Some(problem)) => Finding::error("configuration.invalid", format!("{error}: {problem}"))
            .todo("`the-loop config check` tells all"),
        (None, None) => Finding::error("configuration.unreadable", error.to_string())
            .todo("write the file, or correct what names it"),
    };
    finding.because("the daemon does not start with it, and the rest is looked at only as far as it can be read")
}

fn look(setting: &Setting, notes: &[String], out: &Output) -> Vec<Finding> {
    let mut findings = configuration::look(setting, notes);
    findings.extend(places::look(setting));
    let daemon = daemon::look(setting);
    findings.extend(daemon.findings);
    findings.extend(receiver::look(setting, daemon.receiver.as_deref()));
    findings.extend(store::look(setting));
    findings.extend(workspaces::look(setting));
    findings.extend(runs::look(setting));
    findings.extend(portable::look(setting, out));
    findings.extend(git::look(setting));
    findings.extend(github::look(setting));
    findings.extend(polling::look(setting));
    findings.extend(earlier::look(setting));
    findings
}

fn text(findings: &[Finding]) -> String {
    let mut rows: Vec<[String; 3]> = Vec::new();
    for finding in findings {
        let word = match finding.severity {
            Severity::Ok => "ok",
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        rows.push([word.to_owned(), finding.area.to_owned(), finding.what.clone()]);
        for more in [&finding.why, &finding.todo].into_iter().flatten() {
            rows.push([String::new(), String::new(), format!("  {more}")]);
        }
    }
    // One fix can mend several findings.
    let fixes = findings.iter().filter_map(|finding| finding.fix.as_ref()).collect::<BTreeSet<_>>().len();
    let offer = match fixes {
        0 => String::new(),
        _ => format!("`the-loop doctor --fix` lists what it can mend safely ({fixes}), and asks first\n"),
    };
    columns(&rows) + &offer
}
