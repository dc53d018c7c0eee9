//! Checks, commit statuses and workflow runs: they speak when they end badly.

use super::payload::{NamedPullRequest, Payload};
use super::{Row, place};
use crate::domain::event::{Check, Content, Form, Ignored, Repository, Speech};
use crate::domain::time::Time;

/// A check before it is known to be complete.
struct Report<'p> {
    name: Option<&'p str>,
    conclusion: &'p str,
    head_sha: Option<&'p str>,
    pull_requests: &'p [NamedPullRequest],
    own_branch: Option<String>,
    is_workflow_run: bool,
    /// The attempt, or the completion time, that tells repeated runs of one name on one commit apart.
    run: Option<String>,
    at: Option<Time>,
    text: Option<&'p str>,
    link: Option<&'p str>,
}

/// `check_run`: completed with failure, timed out or action required.
pub(super) fn check_run(payload: &Payload, repository: &Repository) -> Row {
    let run = payload.check_run.as_ref();
    // An app may create a check that has already ended; GitHub then says `created` alone.
    let ended = run.is_some_and(|run| run.status.as_deref() == Some("completed"));
    match payload.action.as_deref() {
        Some("completed") => {}
        Some("created") if ended => {}
        Some("created") => return Err(Ignored::NotAFailure),
        _ => return Err(Ignored::UnlistedAction),
    }
    let run = run.ok_or(Ignored::Incomplete)?;
    speech(
        repository,
        Report {
            name: run.name.as_deref(),
            conclusion: failed(run.conclusion.as_deref())?,
            head_sha: run.head_sha.as_deref(),
            pull_requests: &run.pull_requests,
            own_branch: None,
            is_workflow_run: false,
            run: stamp(run.completed_at, run.id),
            at: run.completed_at,
            text: run.output.as_ref().and_then(|output| output.title.as_deref()),
            link: run.html_url.as_deref().or(run.details_url.as_deref()),
        },
    )
}

/// `workflow_run`: the same conclusions; it also names its branch when that lies in this repository.
pub(super) fn workflow_run(payload: &Payload, repository: &Repository) -> Row {
    match payload.action.as_deref() {
        Some("completed") => {}
        Some("requested" | "in_progress") => return Err(Ignored::NotAFailure),
        _ => return Err(Ignored::UnlistedAction),
    }
    let run = payload.workflow_run.as_ref().ok_or(Ignored::Incomplete)?;
    let is_own = run.head_repository.as_ref().is_some_and(|head| place::is_here(head, repository));
    speech(
        repository,
        Report {
            name: run.name.as_deref(),
            conclusion: failed(run.conclusion.as_deref())?,
            head_sha: run.head_sha.as_deref(),
            pull_requests: &run.pull_requests,
            own_branch: run.head_branch.clone().filter(|_| is_own),
            is_workflow_run: true,
            // The run's id joins in: two workflows may have one name, and every one begins with attempt 1.
            run: run.run_attempt.map(|attempt| format!("{}.{attempt}", run.id.unwrap_or(0))),
            at: run.updated_at,
            text: None,
            link: run.html_url.as_deref(),
        },
    )
}

/// `status`: a commit status that is failure or error. The event has no action.
pub(super) fn status(payload: &Payload, repository: &Repository) -> Row {
    let conclusion = match payload.state.as_deref() {
        Some(state @ ("failure" | "error")) => state,
        _ => return Err(Ignored::NotAFailure),
    };
    let at = payload.updated_at.or(payload.created_at);
    speech(
        repository,
        Report {
            name: payload.context.as_deref(),
            conclusion,
            head_sha: payload.sha.as_deref(),
            pull_requests: &[],
            own_branch: None,
            is_workflow_run: false,
            run: stamp(at, payload.id),
            at,
            text: payload.description.as_deref(),
            link: payload
                .target_url
                .as_deref()
                .or(payload.commit.as_ref().and_then(|commit| commit.html_url.as_deref())),
        },
    )
}

fn failed(conclusion: Option<&str>) -> Result<&str, Ignored> {
    match conclusion {
        Some(bad @ ("failure" | "timed_out" | "action_required")) => Ok(bad),
        _ => Err(Ignored::NotAFailure),
    }
}

/// The completion time, or the id where GitHub gives none.
fn stamp(at: Option<Time>, id: Option<u64>) -> Option<String> {
    at.map(|at| at.to_string()).or_else(|| id.map(|id| format!("id-{id}")))
}

fn speech(repository: &Repository, report: Report<'_>) -> Row {
    let complete = (report.name, report.head_sha.filter(|sha| is_commit(sha)), report.run);
    let (Some(name), Some(head_sha), Some(run)) = complete else { return Err(Ignored::Incomplete) };
    let head_sha = head_sha.to_ascii_lowercase();
    Ok(Content::Speech(Box::new(Speech {
        identity: place::identity(repository, "check", &format!("{head_sha}/{name}/{run}")),
        node_id: None,
        author: None,
        text: crate::domain::text::lf(report.text.unwrap_or_default().to_owned()),
        created_at: report.at,
        link: report.link.map(str::to_owned),
        form: Form::Check(Check {
            name: name.to_owned(),
            conclusion: report.conclusion.to_owned(),
            head_sha,
            pull_requests: pull_requests_here(report.pull_requests, repository),
            own_branch: report.own_branch,
            is_workflow_run: report.is_workflow_run,
        }),
        subject: None,
    })))
}

fn is_commit(sha: &str) -> bool {
    (7..=64).contains(&sha.len()) && sha.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// The numbers of those that lie in this repository; a fork's checks name pull requests of the repository above it.
fn pull_requests_here(named: &[NamedPullRequest], repository: &Repository) -> Vec<u64> {
    let is_here = |named: &&NamedPullRequest| {
        let base = named.base.as_ref().and_then(|base| base.repo.as_ref());
        base.is_none_or(|base| place::is_here(base, repository))
    };
    named.iter().filter(is_here).filter_map(|named| named.number).collect()
}
