//! The daemon: who owns the store, whether he answers and gets on, and what those left who did.

use std::time::Duration;

use crate::adapters::owner_file::{self, Owner, PidFile};
use crate::adapters::{earlier_daemon, places};
use crate::cli::ask::{Asked, ask};
use crate::cli::exit::{Failure, Kind};
use crate::daemon::compose::Setting;
use crate::daemon::control::client::Call;
use crate::daemon::control::wire::{Answer, Hello, PROGRAM, Phase};
use crate::daemon::vitals::Progress;
use crate::domain::findings::{Finding, Fix};
use crate::domain::session::Liveness;
use crate::store::Store;

/// How long the daemon may take to say how it gets on.
const ANSWER: Duration = Duration::from_secs(3);

/// What is found, and where the running daemon's receiver listens.
pub(super) struct Looked {
    pub findings: Vec<Finding>,
    pub receiver: Option<String>,
}

pub(super) fn look(setting: &Setting) -> Looked {
    let mut looked = Looked { findings: Vec::new(), receiver: None };
    if let Some(pidfile) = earlier_daemon::running(setting.layout.root()) {
        looked.findings.push(
            Finding::error(
                "daemon.earlier-system",
                format!("a daemon of the earlier system runs (`{}`)", pidfile.display()),
            )
            .because("both would answer the same comment, so this one does not start beside it")
            .todo("end it with its own program"),
        );
    }
    let owner = owner_file::read(&setting.layout.owner_file());
    match owner.filter(|owner| owner.liveness() != Liveness::Dead) {
        Some(owner) => living(setting, &owner, &mut looked),
        None => looked.findings.extend(nobody(setting)),
    }
    looked
}

/// An owner that runs.
fn living(setting: &Setting, owner: &Owner, looked: &mut Looked) {
    looked.receiver.clone_from(&owner.receiver);
    let Owner { kind, pid, version, .. } = owner;
    if version != PROGRAM {
        looked.findings.push(other_version(kind, *pid, version));
    }
    let said = match ask(setting, &Call::Progress, ANSWER) {
        Ok(Asked::Answered(Answer::Progress(progress))) => said(&progress),
        Ok(Asked::Answered(Answer::Hello(_)) | Asked::Changing(_)) if version != PROGRAM => Vec::new(),
        Ok(Asked::Answered(_) | Asked::Changing(_)) => {
            vec![Finding::note("daemon.stopping", format!("the {kind} with pid {pid} is stopping"))]
        }
        Ok(Asked::Nobody) if kind == "command" => {
            vec![Finding::note("daemon.command", format!("a command owns the store for a moment (pid {pid})"))]
        }
        Ok(Asked::Nobody) => vec![starting(owner)],
        Err(failure) => vec![trouble(failure, version != PROGRAM)],
    };
    looked.findings.extend(said);
}

fn other_version(kind: &str, pid: u32, version: &str) -> Finding {
    Finding::warning(
        "daemon.version",
        format!("the {kind} with pid {pid} is version {version}, this program is {PROGRAM}"),
    )
    .because("commands of this version are refused by it")
    .todo("`the-loop restart` puts this version in its place; agents live on")
}

fn starting(owner: &Owner) -> Finding {
    Finding::note("daemon.starting", format!("the {} with pid {} does not listen yet", owner.kind, owner.pid))
        .todo("look again in a moment; when it stays so, its output is in `daemon.log`")
}

/// Why the owner did not answer.
fn trouble(failure: Failure, other_version: bool) -> Finding {
    let (id, why, todo) = match failure.kind {
        Kind::StoreBusy => (
            "daemon.stopped",
            "it holds the store and does nothing: no event is taken in",
            "let it go on, with the signal that continues a process; or end it, and start again",
        ),
        _ if other_version => ("daemon.silent", "it is of another version", "`the-loop restart`"),
        _ => (
            "daemon.silent",
            "it holds the store, and what is asked of it is not done",
            "`the-loop restart`; agents live on, and what was taken in is kept",
        ),
    };
    Finding::error(id, failure.message).because(why).todo(todo)
}

/// What the daemon says of itself.
fn said(progress: &Progress) -> Vec<Finding> {
    let Hello { pid, program, kind, phase } = &progress.daemon;
    let mut findings = Vec::new();
    for part in &progress.parts {
        if let Some(reason) = &part.trouble {
            findings.push(
                Finding::error("daemon.part", format!("its {} does not get on: {reason}", part.name))
                    .because("it lives, and this part of the work waits")
                    .todo("mend what it names; the daemon tries again by itself"),
            );
        }
    }
    if !progress.needs_restart.is_empty() {
        let what =
            format!("these keys were changed and hold from the next start on: {}", progress.needs_restart.join(", "));
        findings.push(
            Finding::warning("daemon.needs-restart", what)
                .because("the daemon works with what they were at its start")
                .todo("`the-loop restart`; agents live on"),
        );
    }
    let word = match phase {
        Phase::Starting => "starts",
        Phase::Running => "runs",
        Phase::Stopping => "stops",
    };
    if findings.is_empty() {
        findings.push(Finding::ok("daemon.runs", format!("the {kind} {word}, pid {pid}, version {program}")));
    }
    findings
}

/// Nobody that lives says that he owns the store.
fn nobody(setting: &Setting) -> Vec<Finding> {
    let layout = &setting.layout;
    let store = layout.store_file();
    if matches!(places::look(&store), Ok(Some(place)) if !place.is_folder) && Store::is_owned(&store).unwrap_or(false) {
        return vec![
            Finding::error("daemon.unnamed", "the store is in use by a process that does not say who it is")
                .because("commands cannot reach it, and the daemon cannot start beside it")
                .todo("ask again in a moment; `fuser` on the store's file names the process"),
        ];
    }
    let mut findings = vec![Finding::note("daemon.none", "does not run")];
    let path = layout.owner_file();
    if owner_file::read(&path).is_some() {
        findings.push(stale("daemon.stale-owner", "its owner", path));
    }
    let path = layout.pid_file();
    if owner_file::read_pid(&path) == PidFile::Stale {
        findings.push(stale("daemon.stale-pid", "the daemon", path));
    }
    findings
}

fn stale(id: &'static str, who: &str, path: std::path::PathBuf) -> Finding {
    Finding::note(id, format!("`{}` names {who}, and that process is gone", path.display()))
        .because("it was killed, or the machine went down; nothing depends on it")
        .todo("the next start writes it anew")
        .fixed_by(Fix::Empty { path })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::vitals::Part;
    use crate::domain::findings::Severity;

    fn progress(trouble: Option<&str>, needs_restart: &[&str]) -> Progress {
        let daemon = Hello { program: PROGRAM.into(), pid: 7, kind: "daemon".into(), phase: Phase::Running };
        let parts = vec![
            Part { name: "store".into(), trouble: None },
            Part { name: "exporter".into(), trouble: trouble.map(str::to_owned) },
        ];
        Progress {
            daemon,
            since: String::new(),
            receiver: None,
            last_webhook: None,
            configuration: None,
            needs_restart: needs_restart.iter().map(|key| (*key).to_owned()).collect(),
            parts,
        }
    }

    #[test]
    fn k69_what_the_daemon_says_is_told_and_living_is_not_enough() {
        for (trouble, keys, want) in [
            (None, [].as_slice(), vec![("daemon.runs", Severity::Ok)]),
            (Some("the disk is full"), &[], vec![("daemon.part", Severity::Error)]),
            (None, &["state.root"], vec![("daemon.needs-restart", Severity::Warning)]),
            (
                Some("x"),
                &["state.root", "github.apiUrl"],
                vec![("daemon.part", Severity::Error), ("daemon.needs-restart", Severity::Warning)],
            ),
        ] {
            let found = said(&progress(trouble, keys));
            let told: Vec<_> = found.iter().map(|finding| (finding.id, finding.severity)).collect();
            assert_eq!(told, want);
            let all = format!("{found:?}");
            assert!(trouble.into_iter().chain(keys.iter().copied()).all(|text| all.contains(text)), "{all}");
            assert!(found.iter().all(|finding| !finding.is_bad() || finding.todo.is_some() && finding.why.is_some()));
        }
    }

    #[test]
    fn an_owner_that_does_not_answer_is_told_by_how_it_does_not() {
        for (kind, version, want) in [
            (Kind::StoreBusy, false, "daemon.stopped"),
            (Kind::NoAnswer, false, "daemon.silent"),
            (Kind::OtherVersion, true, "daemon.silent"),
        ] {
            let found = trouble(Failure::new(kind, "the daemon with pid 7"), version);
            assert_eq!((found.id, found.severity, found.fix), (want, Severity::Error, None));
        }
    }
}
