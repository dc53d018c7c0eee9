//! Sessions: whether their working directories are there and their own, and whether their conversations can go on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Owned, all};
use crate::app::settings::{Settings, Workspace};
use crate::domain::findings::Finding;
use crate::domain::harness::Mode;
use crate::domain::session::{Life, Session};
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
    let alone = session.life().is_some_and(Life::is_without_terminal);
    let mode = if alone { Mode::Once } else { Mode::Terminal };
    let id = session.conversation.as_ref().filter(|_| harness.can_resume(mode))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::moving::world;
    use crate::domain::harness::Harness;
    use crate::domain::ids::{ConversationId, StoreId};
    use crate::domain::reference::WorkItemRef;
    use crate::domain::session::{PaneKey, SessionState};
    use crate::domain::time::Time;

    fn session(number: u64, state: SessionState) -> Session {
        let reference = WorkItemRef::parse(&format!("github:octo/hello#{number}")).unwrap();
        let key = PaneKey::new(&StoreId("s".into()), &reference, &reference);
        Session { state, ..Session::recorded(reference, key, "agent".into(), Time::from_millis(1)) }
    }

    fn owned(session: Session) -> Owned {
        Owned { item: session.reference.clone(), session }
    }

    fn in_folder(number: u64, folder: &str) -> Session {
        Session { cwd: Some(folder.into()), ..session(number, SessionState::Starting) }
    }

    fn settings() -> Settings {
        let mut settings = world().0.settings().as_ref().clone();
        let resume = vec!["{conversation}".to_owned()];
        settings.harnesses.insert("agent".into(), Harness::command("agent", "agent", Vec::new(), resume));
        settings
    }

    #[test]
    fn a_directory_or_conversation_that_is_gone_is_named() {
        let settings = settings();
        let with_id = Session { conversation: ConversationId::parse("c-1").ok(), ..in_folder(7, "/there") };
        let strange = Session { harness: "strange".into(), ..with_id.clone() };
        for (session, has, want) in [
            (&with_id, Some(true), None),
            (&with_id, None, None),
            (&with_id, Some(false), Some("sessions.no-conversation")),
            (&strange, Some(true), Some("sessions.no-harness")),
            (&in_folder(7, "/there"), Some(false), None),
        ] {
            let world = Surroundings { has_folder: &|_| true, has_conversation: &|_| has };
            assert_eq!(conversation(session, &settings, &world).map(|found| found.id), want, "{has:?}");
        }
        let world = Surroundings { has_folder: &|path| path == Path::new("/there"), has_conversation: &|_| None };
        assert_eq!(directory(&in_folder(7, "/there"), &world), None);
        assert_eq!(directory(&in_folder(7, "/gone"), &world).map(|found| found.id), Some("sessions.no-directory"));
        assert_eq!(directory(&session(7, SessionState::Starting), &world), None, "not spawned yet");
    }

    #[test]
    fn k44_two_items_in_one_directory_are_named_unless_it_was_chosen() {
        let mut settings = settings();
        settings.workspace = Workspace::Shared("/chosen".into());
        let pull = Owned { item: session(1, SessionState::Starting).reference, session: in_folder(9, "/a") };
        let live = |folders: [&str; 2]| vec![owned(in_folder(1, folders[0])), owned(in_folder(2, folders[1]))];
        assert_eq!(shared(&live(["/a", "/b"]), &settings), []);
        assert_eq!(shared(&live(["/chosen", "/chosen"]), &settings), []);
        assert_eq!(shared(&[owned(in_folder(1, "/a")), pull], &settings), [], "an item and its own pull request");
        let found = shared(&live(["/a", "/a"]), &settings);
        assert_eq!(found.len(), 1);
        assert!(found[0].what.contains("github:octo/hello#1 and github:octo/hello#2"), "{found:?}");
    }
}
