//! The store and what is recorded in it, compared with tmux and with the file system.

use std::path::Path;
use std::process::Command;

use crate::adapters::owner_file::Owner;
use crate::adapters::system::SystemClock;
use crate::app::doctor::{self, Surroundings};
use crate::cli::setting::owner;
use crate::daemon::compose::{Setting, known_servers};
use crate::domain::findings::{Finding, programs};
use crate::domain::harness::Mode;
use crate::domain::ports::{Clock as _, Runner as _};
use crate::domain::session::Session;
use crate::store::{Reader, Store, StoreError};

/// A store larger than this holds more than anybody's work, bytes.
const LARGE: u64 = 2 << 30;
/// How much longer than an effect may run its claim may stand, seconds: the daemon's own deadlines come first.
const GRACE: i64 = 60;

pub(super) fn look(setting: &Setting) -> Vec<Finding> {
    let path = setting.layout.store_file();
    let owner = owner(setting).map(|Owner { kind, pid, .. }| format!("the {kind} with pid {pid}"));
    let trouble = |error: &StoreError| doctor::trouble(&path, error, owner.as_deref());
    let mut findings = Vec::new();
    // Only an owner meets every page, and a reader's lock would be in his way. Whoever owns it meets them himself.
    let rehearsed = Store::rehearse(&path).err().filter(|error| owner.is_none() && !matches!(error, StoreError::Busy));
    match Reader::open(&path) {
        Err(error) => {
            findings.push(trouble(&error));
            findings.extend(tmux_version());
        }
        Ok(reader) => {
            findings.extend(size(&path));
            findings.extend(rehearsed.as_ref().map(trouble));
            let limit = i64::from(setting.config.routing.dispatch_timeout_seconds) + GRACE;
            let found = reader.read(|tx| doctor::store(tx, SystemClock.now(), limit));
            findings.extend(found.unwrap_or_else(|error| vec![trouble(&error)]));
            findings.extend(tmux(setting, &reader).unwrap_or_else(|error| vec![trouble(&error)]));
            findings.extend(sessions(setting, &reader).unwrap_or_else(|error| vec![trouble(&error)]));
        }
    }
    // Three looks at one damaged file find the same.
    let mut seen: Vec<Finding> = Vec::new();
    findings.retain(|finding| {
        let new = !seen.contains(finding);
        seen.extend(new.then(|| finding.clone()));
        new
    });
    findings
}

fn size(path: &Path) -> Option<Finding> {
    let bytes = std::fs::metadata(path).ok()?.len();
    let what = format!("`{}` has {} KiB", path.display(), bytes >> 10);
    Some(match bytes > LARGE {
        true => Finding::warning("store.large", what)
            .because("it grows only with what waits, is held or was given up")
            .todo("see what waits with `the-loop status`, and whether the event log can be written"),
        false => Finding::ok("store.size", what),
    })
}

fn tmux_version() -> Vec<Finding> {
    match Command::new("tmux").arg("-V").output() {
        Err(error) => vec![programs::no_tmux(&error.to_string())],
        Ok(output) => vec![programs::tmux(String::from_utf8_lossy(&output.stdout).trim())],
    }
}

fn tmux(setting: &Setting, reader: &Reader) -> Result<Vec<Finding>, StoreError> {
    if setting.mode() == Mode::Once {
        return Ok(vec![programs::tmux_unused()]);
    }
    let mut findings = tmux_version();
    if findings.iter().any(|finding| finding.id == "tmux.missing") {
        return Ok(findings);
    }
    let store = reader.id().0;
    // What lives on a server of an earlier configuration is not gone.
    let servers = reader.read(|tx| known_servers(tx))?;
    match setting.tmux(servers) {
        Err(error) => findings.push(
            Finding::error("tmux.unusable", error.to_string())
                .because("no session can be started or reached")
                .todo("correct it in the configuration"),
        ),
        Ok(tmux) => {
            // Asked before the snapshot is taken, so that no snapshot is held while tmux answers.
            let panes = tmux.panes();
            findings.extend(reader.read(|tx| doctor::tmux(tx, &store, panes))?);
        }
    }
    Ok(findings)
}

fn sessions(setting: &Setting, reader: &Reader) -> Result<Vec<Finding>, StoreError> {
    // A configuration that cannot be put to work is told by its own part.
    let Ok(settings) = setting.settings() else { return Ok(Vec::new()) };
    let world = Surroundings {
        has_folder: &|path| path.is_dir(),
        has_conversation: &|session| has_conversation(setting, session),
    };
    reader.read(|tx| doctor::sessions(tx, &settings, &world))
}

/// Whether the harness still has the conversation. Claude Code keeps each as a file; of the others nobody can know.
fn has_conversation(setting: &Setting, session: &Session) -> Option<bool> {
    if session.harness != "claude" {
        return None;
    }
    let variable = |name: &str| {
        let found =
            setting.environment.iter().find(|(key, _)| key == name).map(|(_, value)| Path::new(value).to_owned());
        found.filter(|path| path.is_absolute())
    };
    let home = variable("CLAUDE_CONFIG_DIR").or_else(|| Some(variable("HOME")?.join(".claude")))?;
    let file = format!("{}.jsonl", session.conversation.as_ref()?.as_str());
    let projects = std::fs::read_dir(home.join("projects")).ok()?;
    Some(projects.flatten().any(|project| project.path().join(&file).is_file()))
}
