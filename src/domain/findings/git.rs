//! What a repository does with our files: what it ignores and tracks, how it merges and stores portable files.

use std::path::Path;

use crate::domain::git::{GitError, Plan, Rule, Seen, Spot, Target, attributes, driver};

use super::{Finding, Fix};

/// As many paths are named.
const NAMED: usize = 3;

/// Git, or a repository, that could not be asked.
pub fn unasked(error: &GitError) -> Finding {
    match error {
        GitError::NoRepository(at) => Finding::note("git.none", format!("`{}` is in no git repository", at.display()))
            .because("portable files travel by git; without it they stay on this machine"),
        GitError::Bare(_) => Finding::note("git.none", error.to_string()),
        GitError::NoProgram(_) => Finding::note("git.missing", error.to_string())
            .because("whether the repository ignores and merges our files rightly cannot be told"),
        GitError::Failed { .. } | GitError::File { .. } => Finding::warning("git.unanswered", error.to_string())
            .because("whether the repository ignores and merges our files rightly cannot be told")
            .todo("mend what it names"),
    }
}

/// A state root in no repository of the configuration's.
pub fn elsewhere(root: &Path, top: &Path) -> Finding {
    Finding::note("git.elsewhere", format!("`{}` lies outside the repository `{}`", root.display(), top.display()))
        .because("what travels is not committed with the work")
}

/// Everything that is to say about `seen`; `plan` holds what can be mended.
pub fn judge(seen: &Seen, spot: &Spot, plan: &Plan) -> Vec<Finding> {
    let fix = |name: &str| plan.changes.iter().find(|change| is_about(&change.target, name)).cloned();
    let mut findings: Vec<Finding> =
        ignored(seen).into_iter().map(|finding| fixed(finding, fix(".gitignore"))).collect();
    findings.extend(tracked(seen));
    findings.extend(attribute(seen).map(|finding| fixed(finding, fix(".gitattributes"))));
    findings.extend(merge_driver(seen).map(|finding| fixed(finding, fix(driver::DRIVER_KEY))));
    findings.extend(plan.refused.iter().map(|(path, why)| {
        Finding::error("git.unwritable", format!("`{}`: {why}", path.display()))
            .because("what has to stand in it is not in force")
            .todo("put a file in its place")
    }));
    if findings.is_empty() {
        findings.push(Finding::ok("git.sound", format!("`{}` is carried by git as it should be", spot.portable)));
    }
    findings
}

/// Records whose line ends were converted, by name.
pub fn converted(names: &[String]) -> Option<Finding> {
    (!names.is_empty()).then(|| {
        Finding::note("git.line-ends", format!("portable files with CR LF: {}", some(names)))
            .because(
                "git or an editor converted their line ends; they are read, and written with LF by their next change",
            )
            .todo("`.gitattributes` must keep git from converting them, and editors must keep LF")
    })
}

fn is_about(target: &Target, name: &str) -> bool {
    match target {
        Target::File(path) => path.ends_with(name),
        Target::Setting(key) => key == name,
    }
}

fn fixed(finding: Finding, change: Option<crate::domain::git::Change>) -> Finding {
    match change {
        Some(change) => finding.todo("`the-loop init` writes what is missing").fixed_by(Fix::Git { change }),
        None => finding,
    }
}

fn ignored(seen: &Seen) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(rule) = seen.record.rule.as_ref().filter(|_| seen.record.is_ignored()) {
        findings.push(
            Finding::error("git.portable-ignored", format!("portable files are ignored by {}", told(rule)))
                .because("what they say never reaches another machine")
                .todo("take the pattern out, or take the folder back below it with a `!` for each folder on the way"),
        );
    }
    let open: Vec<String> =
        seen.local.iter().filter(|judged| !judged.is_ignored()).map(|judged| judged.path.clone()).collect();
    if !open.is_empty() {
        let taken_back = seen.local.iter().find_map(|judged| judged.rule.as_ref().filter(|_| !judged.is_ignored()));
        let by = taken_back.map(|rule| format!("; {} takes it back", told(rule))).unwrap_or_default();
        findings.push(
            Finding::warning("git.local-open", format!("git does not ignore {}{by}", some(&open)))
                .because("a commit of everything takes this machine's conversations, logs and process ids along")
                .todo("put the ignore block into `.gitignore`, below what takes it back"),
        );
    }
    if !seen.temporary.is_ignored() {
        findings.push(
            Finding::note("git.temporary-open", "git does not ignore temporary files of the exporter")
                .because("one that a crash left would be committed")
                .todo("put the ignore block into `.gitignore`"),
        );
    }
    findings
}

fn tracked(seen: &Seen) -> Option<Finding> {
    (!seen.tracked.is_empty()).then(|| {
        Finding::error("git.local-tracked", format!("git tracks {}", some(&seen.tracked)))
            .because("ignoring does not concern what is tracked: this machine's own state goes on being committed")
            .todo("take it out of the index with `git rm --cached` and commit that; the files stay where they are")
    })
}

fn attribute(seen: &Seen) -> Option<Finding> {
    if attributes::hold(&seen.merge, &seen.text) {
        return None;
    }
    let convert = seen.text != "unset";
    let autocrlf = seen.autocrlf.as_deref().filter(|value| convert && *value != "false");
    let conversion = match autocrlf {
        Some(value) => format!(" and converts their line ends (`core.autocrlf` is `{value}`)"),
        None if convert => " and may convert their line ends".to_owned(),
        None => String::new(),
    };
    let what = match seen.merge == attributes::MERGE {
        true => format!("git merges portable files with our driver{conversion}"),
        false => format!("git merges portable files as any text{conversion}"),
    };
    Some(
        Finding::warning("git.no-attribute", what)
            .because(
                "two machines that both worked an item get a conflict, and a file is not the same bytes everywhere",
            )
            .todo("give them `merge=the-loop -text` in `.gitattributes`, where nothing later takes it back"),
    )
}

fn merge_driver(seen: &Seen) -> Option<Finding> {
    let why = "a merge of portable files is left to git's own, line by line, in this clone";
    match (&seen.driver, seen.driver_runs) {
        (Some(_), true) => None,
        (None, _) => Some(
            Finding::warning("git.no-driver", "the merge driver `the-loop` is not set in this clone")
                .because(why)
                .todo("run `the-loop init`"),
        ),
        (Some(command), false) => {
            let what = match driver::program(command) {
                Some(program) => format!("the merge driver's program `{program}` is not found"),
                None => format!("`{}` is not the command that this version sets: `{command}`", driver::DRIVER_KEY),
            };
            Some(Finding::warning("git.driver-missing", what).because(why).todo("run `the-loop init`"))
        }
    }
}

fn told(rule: &Rule) -> String {
    format!("`{}` (line {} of `{}`)", rule.pattern, rule.line, rule.source)
}

/// The first of some names, and how many more there are.
fn some(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
