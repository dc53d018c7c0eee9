//! Sessions: whether their working directories are there and their own, and whether their conversations can go on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Owned, all};
use crate::app::settings::{Settings, Workspace};
use crate::domain::findings::Finding;
use crate::domain::session::Session;
use crate::store::{StoreError, View};

/// What is asked of the world about sessions. Called while a snapshot is held, so it looks and does not wait.
pub struct Surroundings<'w> {
    /// Whether there is a folder at this path.
    pub has_folder: &'w dyn Fn(&Path) -> bool,
    /// Whether the harness still has the conversation; `None` when nobody can know.
    pub has_conversation: &'w dyn Fn(&Session) -> Option<bool>,
}

/// What is found about the sessions that are live.
///
/// # Errors
/// The store did not answer.
pub fn sessions(tx: &impl View, settings: &Settings, world: &Surroundings<'_>) -> Result<Vec<Finding>, StoreError> {
    let live: Vec<Owned> = all(tx)?.into_values().filter(|owned| owned.session.is_live()).collect();
    let mut findings = Vec::new();
    for owned in &live {
        findings.extend(directory(&owned.session, world));
        findings.extend(conversation(&owned.session, settings, world));
    }
    findings.extend(shared(&live, settings));
    if findings.is_empty() {
        findings.push(Finding::ok("sessions.sound", format!("live sessions and pull requests: {}", live.len())));
    }
    Ok(findings)
}

fn directory(session: &Session, world: &Surroundings<'_>) -> Option<Finding> {
    let cwd = session.cwd.as_ref().filter(|cwd| !(world.has_folder)(cwd))?;
    let what = format!("the working directory of {} is gone: `{}`", session.reference, cwd.display());
    Some(
        Finding::warning("sessions.no-directory", what)
            .because("its agent works in nothing, and cannot be started again there")
            .todo("put the directory back; the agent's branch is in the repository it came from"),
    )
}

fn conversation(session: &Session, settings: &Settings, world: &Surroundings<'_>) -> Option<Finding> {
    let reference = &session.reference;
    let Some(harness) = settings.harnesses.get(&session.harness) else {
        let what = format!("{reference} runs with `{}`, which is no harness any more", session.harness);
        return Some(
            Finding::warning("sessions.no-harness", what)
                .because("it cannot be started again")
                .todo("put it back under `routing.harnesses`"),
        );
    };
    let id = session.conversation.as_ref().filter(|_| harness.can_resume())?;
    ((world.has_conversation)(session) == Some(false)).then(|| {
        let what = format!("{reference} has the conversation `{}`, which `{}` has not", id.as_str(), harness.name);
        Finding::warning("sessions.no-conversation", what)
            .because("once its agent ends, the next one begins without what was said")
            .todo("nothing needs to be done; the next one is told what it is for")
    })
}

/// Two items in one directory undo each other's work, unless that was chosen.
fn shared(live: &[Owned], settings: &Settings) -> Vec<Finding> {
    let chosen = match &settings.workspace {
        Workspace::Shared(path) => Some(path),
        _ => None,
    };
    let mut by_folder: BTreeMap<&PathBuf, Vec<String>> = BTreeMap::new();
    for owned in live {
        let Some(cwd) = &owned.session.cwd else { continue };
        let items = by_folder.entry(cwd).or_default();
        let item = owned.item.to_string();
        if !items.contains(&item) {
            items.push(item);
        }
    }
    let many = by_folder.into_iter().filter(|(folder, items)| items.len() > 1 && Some(*folder) != chosen);
    many.map(|(folder, items)| {
        Finding::warning("sessions.one-directory", format!("{} work in `{}`", items.join(" and "), folder.display()))
            .because("they overwrite each other's files and branches")
            .todo("stop all but one of them")
    })
    .collect()
}
