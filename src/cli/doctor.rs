//! `the-loop doctor`: what is wrong, why it matters, what to do. It reads and repairs nothing.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::context::Context;
use super::exit::{Exit, Failure};
use super::output::columns;
use super::setting::{owner, reader};
use crate::adapters::config_files::webhook_secret;
use crate::adapters::portable_files::PortableDir;
use crate::adapters::system::SystemClock;
use crate::app::doctor;
use crate::daemon::compose::Setting;
use crate::domain::findings::{Finding, Severity};
use crate::domain::harness::Mode;
use crate::domain::portable::files::Look;
use crate::domain::ports::{Clock as _, PortableFiles as _, Runner as _};
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::store::Reader;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// A secret shorter than this is guessed soon, bytes.
const SHORT_SECRET: usize = 16;

/// Runs `doctor`: exit 1 with any warning or error.
pub fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let findings = match context.find() {
        Err(error) => {
            vec![Finding::error("configuration", error.to_string()).todo("`the-loop config check` tells all")]
        }
        Ok(found) => {
            let file = found.file.map(|(file, _)| file);
            let notes: Vec<String> = found.reading.notes.iter().map(ToString::to_string).collect();
            let environment = std::env::vars_os().collect();
            let setting = Setting::new(found.reading.config, found.home, file, environment);
            look(&setting, &notes)?
        }
    };
    let bad = findings.iter().any(Finding::is_bad);
    context.out.result(|| json!({ "findings": findings }), || text(&findings))?;
    Ok(if bad { Exit::Refused } else { Exit::Done })
}

fn look(setting: &Setting, notes: &[String]) -> Result<Vec<Finding>, Failure> {
    let mut findings = configuration(setting, notes);
    findings.extend(state_root(setting));
    findings.extend(daemon(setting));
    findings.extend(receiver(setting));
    match reader(setting) {
        Ok(Some(reader)) => {
            findings.extend(reader.read(|tx| doctor::store(tx, SystemClock.now()))?);
            findings.extend(tmux(setting, &reader)?);
        }
        Ok(None) => findings.push(Finding::note("store", "there is none yet; the daemon makes it")),
        Err(failure) => {
            let finding = Finding::error("store", failure.message);
            findings.push(match failure.hint {
                Some(hint) => finding.todo(hint),
                None => finding,
            });
        }
    }
    findings.extend(portable(setting));
    Ok(findings)
}

fn configuration(setting: &Setting, notes: &[String]) -> Vec<Finding> {
    let from = setting.file.as_ref().map_or("none found, the defaults hold".into(), |file| file.display().to_string());
    let mut findings = vec![Finding::ok("configuration", from)];
    findings.extend(notes.iter().map(|note| Finding::note("configuration", note.clone())));
    if let Err(error) = setting.settings() {
        findings.push(Finding::error("configuration", error.to_string()));
    }
    if setting.config.routing.authorized_users.is_empty() {
        findings.push(
            Finding::warning("configuration", "`routing.authorizedUsers` is empty")
                .because("nobody can speak to an agent or start one")
                .todo("list the logins that may"),
        );
    }
    findings
}

fn state_root(setting: &Setting) -> Vec<Finding> {
    let root = setting.layout.root();
    match std::fs::metadata(root) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            vec![Finding::note("state", format!("`{}` does not exist yet", root.display()))]
        }
        Err(error) => vec![Finding::error("state", format!("`{}`: {error}", root.display()))],
        Ok(_) => vec![local_mode(setting.layout.local_dir())],
    }
}

/// What belongs to this machine is nobody else's to read.
fn local_mode(local: &Path) -> Finding {
    match std::fs::metadata(local) {
        Ok(meta) if meta.mode() & 0o077 != 0 => {
            Finding::warning("state", format!("`{}` can be read by others", local.display()))
                .because("it holds conversation ids and messages")
                .todo("give it mode 0700")
        }
        Ok(_) => Finding::ok("state", format!("`{}` is this user's alone", local.display())),
        Err(_) => Finding::note("state", format!("`{}` does not exist yet", local.display())),
    }
}

fn daemon(setting: &Setting) -> Vec<Finding> {
    match owner(setting) {
        Some(owner) if owner.is_stopped() => vec![
            Finding::error("daemon", format!("the {} with pid {} is stopped", owner.kind, owner.pid))
                .because("nothing is taken or delivered, and nobody else can own the store meanwhile")
                .todo("it was suspended by a signal or a debugger; let it go on"),
        ],
        Some(owner) if owner.version != env!("CARGO_PKG_VERSION") => {
            let what = format!("the {} with pid {} is version {}", owner.kind, owner.pid, owner.version);
            vec![
                Finding::warning("daemon", what)
                    .todo(format!("restart it; this program is {}", env!("CARGO_PKG_VERSION"))),
            ]
        }
        Some(owner) => vec![Finding::ok("daemon", format!("runs, pid {}, version {}", owner.pid, owner.version))],
        None => vec![Finding::note("daemon", "does not run")],
    }
}

fn receiver(setting: &Setting) -> Vec<Finding> {
    let hook = &setting.config.webhooks.gh_webhook;
    if !hook.enabled {
        return vec![Finding::note("receiver", "is switched off")];
    }
    let variable = |name: &str| std::env::var_os(name);
    let mut findings = Vec::new();
    match webhook_secret(&setting.config, &setting.home, variable) {
        Err(error) => findings.push(Finding::error("receiver", error.to_string())),
        Ok(None) if hook.allow_unsigned => findings.push(
            Finding::warning("receiver", "takes unsigned events")
                .because("anybody who reaches it can speak as anybody")
                .todo("set a secret; unsigned events are for trying things out"),
        ),
        Ok(None) => findings.push(
            Finding::error("receiver", format!("no secret: `${}` is not set here", hook.secret_env))
                .because("the daemon does not start without one")
                .todo("set it where the daemon is started"),
        ),
        Ok(Some(secret)) if secret.as_bytes().len() < SHORT_SECRET => findings.push(
            Finding::warning("receiver", format!("the secret has only {} bytes", secret.as_bytes().len()))
                .because("a short secret can be guessed")
                .todo("use a random one of 32 characters"),
        ),
        Ok(Some(_)) => {
            let running = owner(setting).and_then(|owner| owner.receiver);
            let address = running.unwrap_or_else(|| format!("{}:{}", hook.host, hook.port));
            findings.push(Finding::ok("receiver", format!("{address} with a secret")));
        }
    }
    findings.extend(secret_file(setting));
    findings
}

/// A final line end in the secret's file is dropped; that is good to know when deliveries fail (W08).
fn secret_file(setting: &Setting) -> Option<Finding> {
    let name = &setting.config.webhooks.gh_webhook.secret_file;
    let bytes = (!name.is_empty()).then(|| std::fs::read(setting.home.resolve(name)).ok()).flatten()?;
    let ends = bytes.ends_with(b"\n");
    ends.then(|| Finding::note("receiver", format!("`{name}` ends in a line end, which is not part of the secret")))
}

fn tmux(setting: &Setting, reader: &Reader) -> Result<Vec<Finding>, Failure> {
    if setting.mode() == Mode::Once {
        let finding = Finding::note("tmux", "not used for new sessions: each delivery is a process of its own");
        return Ok(vec![finding.because("`routing.runner` is `process`, or `auto` without a `tmux` in `PATH`")]);
    }
    let version = Command::new("tmux").arg("-V").output();
    let version = match version {
        Err(error) => {
            let finding = Finding::error("tmux", format!("could not run `tmux`: {error}"));
            return Ok(vec![finding.todo("install tmux 3.3 or later")]);
        }
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    };
    let mut findings = vec![Finding::ok("tmux", version)];
    let store = reader.id().0;
    match setting.tmux(Vec::new()) {
        Err(error) => findings.push(Finding::error("tmux", error.to_string())),
        Ok(tmux) => {
            // Asked before the snapshot is taken, so that no snapshot is held while tmux answers.
            let panes = tmux.panes();
            findings.extend(reader.read(|tx| doctor::tmux(tx, &store, panes))?);
        }
    }
    Ok(findings)
}

/// Every portable file: whether it can be read, whose it is, and what a crash left.
fn portable(setting: &Setting) -> Vec<Finding> {
    let files = PortableDir::new(setting.layout.portable_dir());
    let now = SystemClock.now();
    let (names, leftovers) = match files.names().and_then(|names| Ok((names, files.leftovers(now)?))) {
        Ok(found) => found,
        Err(error) => return vec![Finding::error("portable", error.to_string())],
    };
    let mut findings = Vec::new();
    let mut owners: BTreeMap<RefKey, String> = BTreeMap::new();
    for name in &names {
        match files.look(name, None, now) {
            Ok(Look::Refused(refusal)) => findings.push(
                Finding::error("portable", format!("{name}, {refusal}"))
                    .because("it changes nothing here and is not written until it can be read")
                    .todo("correct the file, or take it out of the folder"),
            ),
            Ok(Look::News(news)) => findings.extend(place_of(name, &news.record.reference, &mut owners)),
            Err(error) => findings.push(Finding::error("portable", error.to_string())),
            Ok(_) => {}
        }
    }
    findings.extend(leftovers.iter().map(|item| {
        Finding::note("portable", format!("a temporary file of {item} is there"))
            .todo("its next export joins and removes what a crash left")
    }));
    if !findings.iter().any(Finding::is_bad) {
        findings.push(Finding::ok("portable", format!("files that can be read: {}", names.len())));
    }
    findings
}

/// Whether a record lies under a name of its item, and alone.
fn place_of(name: &str, item: &WorkItemRef, owners: &mut BTreeMap<RefKey, String>) -> Option<Finding> {
    let (key, slug) = (item.key(), item.slug());
    let own = [slug.file_name(), slug.file_name_with(&key)];
    if !own.iter().any(|own| own.eq_ignore_ascii_case(name)) {
        let what = format!("{name} is about {item}, whose file is named `{}`", own[0]);
        return Some(
            Finding::error("portable", what)
                .because("under this name it is nobody's: it is neither read nor written")
                .todo("rename it, or take it out of the folder"),
        );
    }
    let other = owners.insert(key, name.to_owned())?;
    Some(
        Finding::warning("portable", format!("{other} and {name} are both about {item}"))
            .todo("its next export joins them into one"),
    )
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
    columns(&rows)
}
