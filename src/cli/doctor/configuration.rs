//! The configuration: whether it can be put to work, and whether anybody and anything can work with it.

use std::path::Path;

use crate::adapters::places::program;
use crate::app::Settings;
use crate::app::settings::Workspace;
use crate::daemon::compose::Setting;
use crate::domain::config::{BUILT_IN_HARNESSES, Permission};
use crate::domain::findings::{Finding, programs};
use crate::domain::reference::RepoRef;

pub(super) fn look(setting: &Setting, notes: &[String]) -> Vec<Finding> {
    let from = setting.file.as_ref().map_or("none found, the defaults hold".into(), |file| file.display().to_string());
    let mut findings = vec![Finding::ok("configuration.file", from)];
    findings.extend(notes.iter().map(|note| Finding::note("configuration.ignored", note.clone())));
    let routing = &setting.config.routing;
    if routing.authorized_users.is_empty() && routing.authorize_permission == Permission::Off {
        findings.push(
            Finding::warning("configuration.nobody-authorized", "`routing.authorizedUsers` is empty")
                .because("nobody can speak to an agent or start one")
                .todo("list the logins that may"),
        );
    }
    match setting.settings() {
        Err(error) => findings.push(
            Finding::error("configuration.unusable", error.to_string())
                .because("the daemon does not start with it")
                .todo("correct it; `the-loop config check` reads it again"),
        ),
        Ok(settings) => {
            findings.extend(harnesses(setting, &settings));
            findings.extend(workspace(&settings.workspace, &setting.config.repositories));
        }
    }
    findings
}

/// The default harness, and those that somebody configured: the others are nobody's wish.
fn harnesses(setting: &Setting, settings: &Settings) -> Vec<Finding> {
    let path = setting.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let default = &setting.config.routing.default_harness;
    let wanted = |name: &&String| *name == default || !BUILT_IN_HARNESSES.contains(&name.as_str());
    let mut findings = Vec::new();
    for name in settings.harnesses.keys().filter(wanted) {
        let binary = settings.harnesses.get(name).map_or("", |harness| harness.binary.as_str());
        match program(binary, path, &setting.home.dir) {
            None => findings.push(programs::no_harness(name, binary, name == default)),
            Some(found) if name == default => {
                findings.push(Finding::ok("configuration.harness", format!("`{name}` is {}", found.display())));
            }
            Some(_) => {}
        }
    }
    findings
}

fn workspace(workspace: &Workspace, repositories: &[RepoRef]) -> Vec<Finding> {
    match workspace {
        Workspace::PerItem(workspaces) => {
            let refused = |why: String| {
                Finding::error("configuration.no-workspace", format!("starts of sessions are refused: {why}"))
                    .because("their agents have no directory to work in")
                    .todo("do one of what it names")
            };
            workspaces.trouble(repositories).into_iter().map(refused).collect()
        }
        Workspace::Shared(path) => no_directory(path).into_iter().collect(),
    }
}

fn no_directory(path: &Path) -> Option<Finding> {
    (!path.is_dir()).then(|| {
        Finding::error(
            "configuration.no-workdir",
            format!("`routing.spawnWorkdir` is no directory: `{}`", path.display()),
        )
        .because("no session can be started in it")
        .todo("make it, or name another")
    })
}
