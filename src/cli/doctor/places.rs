//! The state root and the logs folder: whose, how open, whether they can be written, and whether there is room.

use std::path::PathBuf;

use crate::adapters::places;
use crate::daemon::compose::Setting;
use crate::domain::findings::{Finding, places as judged};

/// What local files hold, for people.
const LOCAL: &str = "conversation ids and messages";
const LOG: &str = "who said what where, by name and time";
const PRINTED: &str = "what the daemon and its programs print";

pub(super) fn look(setting: &Setting) -> Vec<Finding> {
    let root = setting.layout.root();
    let mut findings = Vec::new();
    if let Some(unwritable) = log(setting) {
        findings.push(unwritable);
    }
    let Some(there) = root.ancestors().find(|dir| dir.exists()) else { return findings };
    match places::free(there) {
        Ok(free) => findings.push(judged::room(there, free)),
        Err(error) => findings.push(Finding::error("state.unreadable", format!("`{}`: {error}", there.display()))),
    }
    if let Some(error) = places::why_unwritable(&setting.layout.store_file()) {
        // A store that is a folder, or of another kind, is looked at by its own part.
        if error.kind() != std::io::ErrorKind::IsADirectory {
            findings.push(
                Finding::error("state.unwritable", format!("`{}`: {error}", setting.layout.store_file().display()))
                    .because("nothing can be taken in or decided")
                    .todo("see whose the folder is and whether its disk is mounted for writing"),
            );
        }
    }
    findings.extend(folders(setting));
    let before = findings.len();
    for (path, holds) in private(setting) {
        match places::look(&path) {
            Ok(Some(place)) => findings.extend(judged::access(&place, holds)),
            Ok(None) => {}
            Err(error) => findings.push(Finding::error("state.unreadable", format!("`{}`: {error}", path.display()))),
        }
    }
    if findings.len() == before {
        findings.push(match setting.layout.local_dir().exists() {
            true => Finding::ok("state.private", format!("`{}` is this user's alone", root.display())),
            false => Finding::note("state.none", format!("`{}` holds no state yet", root.display())),
        });
    }
    findings
}

/// Folders in which new files could not be made, although those that are there can be written.
fn folders(setting: &Setting) -> Vec<Finding> {
    let layout = &setting.layout;
    let all = [layout.root(), layout.local_dir(), layout.portable_dir()];
    let refused = all.iter().filter_map(|dir| Some((dir, places::why_closed(dir)?)));
    refused
        .map(|(dir, error)| {
            Finding::warning("state.unwritable", format!("`{}`: {error}", dir.display()))
                .because("no new file can be made in it: not the first log, and no portable file")
                .todo("see whose the folder is and whether its disk is mounted for writing")
        })
        .collect()
}

/// Everything that is this user's alone.
fn private(setting: &Setting) -> Vec<(PathBuf, &'static str)> {
    let layout = &setting.layout;
    let mut all = vec![
        (layout.local_dir().to_owned(), LOCAL),
        (layout.store_file(), LOCAL),
        (layout.owner_file(), LOCAL),
        (layout.set_aside_dir(), LOCAL),
        (layout.daemon_output(), PRINTED),
        (layout.command_output_dir(), PRINTED),
        (layout.pid_file(), "the daemon's process id, which somebody else could change"),
    ];
    let log = setting.config.event_log_file(&setting.home);
    // A log that was put elsewhere lies in a folder that need not be ours.
    let ours = log == layout.event_log();
    all.extend(ours.then(|| log.parent().map(|dir| (dir.to_owned(), LOG))).flatten());
    let older = (1..=setting.config.event_log.keep).map(|number| {
        let mut name = log.clone().into_os_string();
        name.push(format!(".{number}"));
        (PathBuf::from(name), LOG)
    });
    all.extend(older);
    all.push((log, LOG));
    all
}

fn log(setting: &Setting) -> Option<Finding> {
    if !setting.config.event_log.enabled {
        let what = "the event log is switched off: `events` shows the newest entries from the store";
        return Some(Finding::note("log.off", what));
    }
    let path = setting.config.event_log_file(&setting.home);
    let error = places::why_unwritable(&path)?;
    Some(
        Finding::error("log.unwritable", format!("`{}` cannot be written: {error}", path.display()))
            .because("the trail stays in the store meanwhile, which keeps a bounded part of it")
            .todo("see to its folder and its disk; what waits is written then by itself"),
    )
}
