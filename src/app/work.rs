//! Doing claimed work by the runner: from a piece of work to how it went.

use std::path::Path;

use super::{App, Settings, settings::Workspace};
use crate::domain::effect::EndpointRef;
use crate::domain::harness::{Filling, Harness};
use crate::domain::ids::{BatchId, ConversationId, StoreId};
use crate::domain::item::Item;
use crate::domain::lane::{Done, Work};
use crate::domain::message::Message;
use crate::domain::ports::{DeliverRequest, Delivered, Refusal, Remembered, RunnerError, SpawnRequest};
use crate::domain::reference::WorkItemRef;
use crate::domain::session::{Life, Session};
use crate::domain::{prompt, text};

/// Longest wait for a new harness to be quiet before it is spoken to.
const QUIET_LIMIT_MS: u64 = 30_000;

impl App {
    /// Does `work` now.
    pub(super) fn do_work(&self, item: &Item, work: &Work, batch: &BatchId) -> Done {
        let settings = self.settings();
        match work {
            Work::Spawn { session, resume, endpoint, .. } => {
                self.spawn(&settings, item, session, endpoint, *resume, batch)
            }
            Work::Deliver { session, life, messages, held, .. } => {
                match request(&settings, &item.reference, session, life, batch, messages, *held) {
                    Ok(request) => delivered(self.parts.runner.deliver(&request)),
                    Err(reason) => Done::Unreachable(reason),
                }
            }
            Work::End { session, life, keep_pane, .. } => self.end(&settings, session, life, *keep_pane),
        }
    }

    /// Finds out how work went that an earlier claim began and nobody settled.
    pub(super) fn recover_work(&self, item: &Item, work: &Work, batch: &BatchId) -> Done {
        let Work::Deliver { session, life, messages, held, .. } = work else {
            // Spawning finds the living pane of its key, and ending what is gone is done: both can be repeated.
            return self.do_work(item, work, batch);
        };
        let settings = self.settings();
        let request = match request(&settings, &item.reference, session, life, batch, messages, *held) {
            Ok(request) => request,
            Err(reason) => return Done::Unsure(reason),
        };
        match self.parts.runner.recall(&session.key, life, batch, &request.style) {
            Err(error) => Done::Unsure(error.to_string()),
            Ok(Remembered::Submitted) => Done::Submitted,
            Ok(Remembered::Nothing) => delivered(self.parts.runner.deliver(&request)),
            Ok(Remembered::OtherLife) => Done::Unknown("the pane is of another life".into()),
            Ok(Remembered::PastedOnly) => self.submit_alone(&settings, session, &request),
        }
    }

    fn submit_alone(&self, settings: &Settings, session: &Session, request: &DeliverRequest) -> Done {
        let whole = settings.harnesses.get(&session.harness).is_some_and(|harness| harness.bracketed_paste);
        match self.parts.runner.submit(request) {
            Delivered::Submitted => Done::Submitted,
            // A bracketed paste that was never submitted was not taken; lines may have been, one by one.
            Delivered::Refused(Refusal::Dead) if whole => Done::HarnessGone,
            Delivered::Refused(Refusal::Dead | Refusal::OtherLife) => {
                Done::Unknown("the harness ended with the text half taken".into())
            }
            Delivered::Refused(Refusal::Busy(why)) | Delivered::NotRun(why) | Delivered::Unknown(why) => {
                Done::Unsure(why)
            }
            Delivered::PastedOnly => Done::PastedOnly,
        }
    }

    fn spawn(
        &self,
        settings: &Settings,
        item: &Item,
        session: &Session,
        endpoint: &EndpointRef,
        resume: bool,
        batch: &BatchId,
    ) -> Done {
        let prepared = harness(settings, session).and_then(|harness| {
            let resume = resume && settings.resume_on_respawn && harness.can_resume();
            let conversation = match &session.conversation {
                Some(conversation) if resume => Some(conversation.clone()),
                _ if !harness.names_conversation() => None,
                _ => Some(batch.conversation()),
            };
            let cwd = directory(settings, session, resume)?;
            let argv = argv(settings, harness, session, conversation.as_ref(), resume, cwd)?;
            let store = self.parts.store.id();
            Ok((spawn_request(settings, &store, item, session, endpoint, argv, cwd), conversation))
        });
        let (request, conversation) = match prepared {
            Ok(prepared) => prepared,
            Err(detail) => return Done::SpawnFailed { detail, permanent: true },
        };
        match self.parts.runner.spawn(&request) {
            Ok(life) => {
                self.parts.runner.settle_screen(&life, QUIET_LIMIT_MS);
                Done::Spawned { life, conversation, cwd: request.cwd }
            }
            Err(RunnerError::SpawnFailed(detail)) => Done::SpawnFailed { detail, permanent: false },
            Err(error @ RunnerError::Unreachable(_)) => Done::Unreachable(error.to_string()),
            // Nothing was started.
            Err(error @ RunnerError::OtherStore { .. }) => Done::Busy(error.to_string()),
        }
    }

    fn end(&self, settings: &Settings, session: &Session, life: &Life, keep_pane: Option<bool>) -> Done {
        let keep = keep_pane.unwrap_or(settings.keep_session_on_close);
        match self.parts.runner.end(&session.key, life, settings.kill_grace_ms, keep) {
            Ok(()) => Done::Ended,
            Err(error) => Done::Unreachable(error.to_string()),
        }
    }
}

fn delivered(answer: Delivered) -> Done {
    match answer {
        Delivered::Submitted => Done::Submitted,
        Delivered::PastedOnly => Done::PastedOnly,
        Delivered::Refused(Refusal::Dead | Refusal::OtherLife) => Done::HarnessGone,
        Delivered::Refused(Refusal::Busy(why)) => Done::Busy(why),
        Delivered::NotRun(why) => Done::Unreachable(why),
        Delivered::Unknown(why) => Done::Unsure(why),
    }
}

/// The text and style of a delivery for the session's harness.
fn request(
    settings: &Settings,
    owner: &WorkItemRef,
    session: &Session,
    life: &Life,
    batch: &BatchId,
    messages: &[Message],
    held: usize,
) -> Result<DeliverRequest, String> {
    let harness = harness(settings, session)?;
    let (first, more) = messages.split_first().ok_or("a delivery without a message")?;
    let body = prompt::render(&settings.templates, owner, !session.introduced, first, more, held);
    let safe = text::for_paste(&body);
    let text = if harness.bracketed_paste { safe } else { text::with_short_lines(&safe).into_owned().into() };
    Ok(DeliverRequest {
        key: session.key.clone(),
        life: life.clone(),
        batch: batch.clone(),
        text: text.into_owned(),
        style: harness.paste_style(),
    })
}

fn harness<'s>(settings: &'s Settings, session: &Session) -> Result<&'s Harness, String> {
    settings.harnesses.get(&session.harness).ok_or_else(|| {
        format!(
            "harness `{}` is not configured; add it to `routing.harnesses` or choose another `routing.defaultHarness`",
            session.harness
        )
    })
}

/// The directory a session works in. A conversation goes on in the one it has, while that is there.
fn directory<'d>(settings: &'d Settings, session: &'d Session, resume: bool) -> Result<&'d Path, String> {
    match (&session.cwd, &settings.workspace) {
        (Some(own), _) if resume && own.is_dir() => Ok(own),
        (_, Workspace::Shared(directory)) => Ok(directory),
        (_, Workspace::Unavailable(reason)) => Err(reason.clone()),
    }
}

/// Program and arguments of the session's harness.
fn argv(
    settings: &Settings,
    harness: &Harness,
    session: &Session,
    conversation: Option<&ConversationId>,
    resume: bool,
    cwd: &Path,
) -> Result<Vec<String>, String> {
    let extra = settings.harness_args.get(&session.harness).map_or(&[][..], Vec::as_slice);
    let filling = Filling { conversation, reference: &session.reference, cwd };
    harness.argv(resume, extra, &filling).map_err(|error| error.to_string())
}

/// What to start, where, with which marks and variables.
fn spawn_request(
    settings: &Settings,
    store: &StoreId,
    item: &Item,
    session: &Session,
    endpoint: &EndpointRef,
    argv: Vec<String>,
    cwd: &Path,
) -> SpawnRequest {
    let slug = session.reference.slug().as_str().replace(['.', ':'], "_");
    let address = match endpoint {
        EndpointRef::Item => &item.reference,
        EndpointRef::PullRequest(reference) => reference,
    };
    let mut env = settings.session_env.clone();
    env.push(("THE_LOOP_WORK_ITEM".into(), item.reference.to_string()));
    env.push(("THE_LOOP_ENDPOINT".into(), address.to_string()));
    SpawnRequest {
        key: session.key.clone(),
        store: store.0.clone(),
        reference: session.reference.clone(),
        fallback_name: format!("loop-{slug}-{}", &session.key.as_str()[1..9]),
        session_name: format!("loop-{slug}"),
        cwd: cwd.to_owned(),
        argv,
        env,
    }
}
