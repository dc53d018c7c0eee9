//! What the runner is asked for: texts, programs, directories, variables.

use std::path::{Path, PathBuf};

use crate::app::Settings;
use crate::app::settings::Workspace;
use crate::domain::effect::EndpointRef;
use crate::domain::harness::{Filling, Harness, Mode};
use crate::domain::ids::{ConversationId, StoreId};
use crate::domain::item::Item;
use crate::domain::message::Message;
use crate::domain::ports::{Program, SpawnRequest};
use crate::domain::reference::WorkItemRef;
use crate::domain::session::Session;
use crate::domain::workspace::WorkspaceError;
use crate::domain::{prompt, text as words};

/// The harness of a session.
pub(super) fn harness<'s>(settings: &'s Settings, session: &Session) -> Result<&'s Harness, String> {
    settings.harnesses.get(&session.harness).ok_or_else(|| {
        format!(
            "harness `{}` is not configured; add it to `routing.harnesses` or choose another `routing.defaultHarness`",
            session.harness
        )
    })
}

/// The directory a session works in; made when it is not there. A conversation goes on in the one it has, while that is
/// there: it is found only where it began. A pull request's works where its item's does.
pub(super) fn directory(
    settings: &Settings,
    item: &Item,
    session: &Session,
    resume: bool,
) -> Result<PathBuf, WorkspaceError> {
    let there = |session: &'_ Session| session.cwd.clone().filter(|cwd| cwd.is_dir());
    match &settings.workspace {
        Workspace::Shared(directory) => Ok(there(session).filter(|_| resume).unwrap_or_else(|| directory.clone())),
        Workspace::PerItem(workspaces) => {
            let of_item = item.session.as_ref().filter(|record| record.key != session.key).and_then(there);
            let goes_on = resume || of_item.is_some();
            match there(session).or(of_item) {
                Some(own) if goes_on && !workspaces.owns(&own) => Ok(own),
                had => workspaces.prepare(&item.reference, had.as_deref()),
            }
        }
    }
}

/// The text of a delivery as the harness takes it.
pub(super) fn text(
    settings: &Settings,
    harness: &Harness,
    owner: &WorkItemRef,
    introduce: bool,
    messages: &[Message],
    held: usize,
    in_terminal: bool,
) -> Result<String, String> {
    let (first, more) = messages.split_first().ok_or("a delivery without a message")?;
    let body = prompt::render(&settings.templates, owner, introduce, first, more, held);
    let safe = words::for_paste(&body);
    // Only a terminal has a limit for lines.
    let whole = harness.bracketed_paste || !in_terminal;
    Ok(if whole { safe.into_owned() } else { words::with_short_lines(&safe).into_owned() })
}

/// Program and arguments of the session's harness.
pub(super) fn argv(
    settings: &Settings,
    mode: Mode,
    session: &Session,
    conversation: Option<&ConversationId>,
    resume: bool,
    cwd: &Path,
) -> Result<Vec<String>, String> {
    let harness = harness(settings, session)?;
    let extra = settings.harness_args.get(&session.harness).map_or(&[][..], Vec::as_slice);
    let filling = Filling { conversation, reference: &session.reference, cwd };
    harness.argv(mode, resume, extra, &filling).map_err(|error| error.to_string())
}

/// The process that takes one delivery.
pub(super) fn program(
    settings: &Settings,
    item: &Item,
    session: &Session,
    endpoint: &EndpointRef,
    goes_on: bool,
) -> Result<Program, String> {
    let cwd = directory(settings, item, session, true).map_err(|error| error.to_string())?;
    let argv = argv(settings, Mode::Once, session, session.conversation.as_ref(), goes_on, &cwd)?;
    Ok(Program {
        argv,
        cwd,
        env: environment(settings, item, endpoint),
        limit_ms: u64::from(settings.policy.dispatch_timeout_seconds) * 1000,
        grace_ms: settings.kill_grace_ms,
    })
}

/// What to start, where, with which marks and variables.
pub(super) fn spawn(
    settings: &Settings,
    store: &StoreId,
    item: &Item,
    session: &Session,
    endpoint: &EndpointRef,
    argv: Vec<String>,
    cwd: &Path,
) -> SpawnRequest {
    let slug = session.reference.slug().as_str().replace(['.', ':'], "_");
    SpawnRequest {
        key: session.key.clone(),
        store: store.0.clone(),
        reference: session.reference.clone(),
        fallback_name: format!("loop-{slug}-{}", &session.key.as_str()[1..9]),
        session_name: format!("loop-{slug}"),
        cwd: cwd.to_owned(),
        argv,
        env: environment(settings, item, endpoint),
    }
}

/// The variables a session gets beside the scrubbed environment.
fn environment(settings: &Settings, item: &Item, endpoint: &EndpointRef) -> Vec<(String, String)> {
    let address = match endpoint {
        EndpointRef::Item => &item.reference,
        EndpointRef::PullRequest(reference) => reference,
    };
    let mut env = settings.session_env.clone();
    env.push(("THE_LOOP_WORK_ITEM".into(), item.reference.to_string()));
    env.push(("THE_LOOP_ENDPOINT".into(), address.to_string()));
    env
}
