//! Doing claimed work by the runner: from a piece of work to how it went.

use super::{App, Settings, settings::Workspace};
use crate::domain::effect::EndpointRef;
use crate::domain::harness::Harness;
use crate::domain::ids::{BatchId, ConversationId, StoreId};
use crate::domain::item::Item;
use crate::domain::lane::{Done, Work};
use crate::domain::message::Message;
use crate::domain::ports::{DeliverRequest, Delivered, PasteStyle, Refusal, Remembered, RunnerError, SpawnRequest};
use crate::domain::session::{Life, Session};
use crate::domain::{prompt, text};

/// Longest wait for a new harness to be quiet before it is spoken to.
const QUIET_LIMIT_MS: u64 = 30_000;

impl App {
    /// Does `work` now.
    pub(super) fn do_work(&self, item: &Item, work: &Work, batch: &BatchId) -> Done {
        let settings = self.settings();
        match work {
            Work::Spawn { session, resume, endpoint, .. } => self.spawn(&settings, item, session, endpoint, *resume),
            Work::Deliver { session, life, messages, digest, .. } => {
                match request(&settings, session, life, batch, messages, *digest) {
                    Ok(request) => delivered(self.parts.runner.deliver(&request)),
                    Err(reason) => Done::Unreachable(reason),
                }
            }
            Work::End { session, life, .. } => self.end(&settings, session, life),
        }
    }

    /// Finds out how work went that an earlier claim began and nobody settled.
    pub(super) fn recover_work(&self, item: &Item, work: &Work, batch: &BatchId) -> Done {
        let Work::Deliver { session, life, messages, digest, .. } = work else {
            // Spawning finds the living pane of its key, and ending what is gone is done: both can be repeated.
            return self.do_work(item, work, batch);
        };
        let settings = self.settings();
        let request = match request(&settings, session, life, batch, messages, *digest) {
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

    fn spawn(&self, settings: &Settings, item: &Item, session: &Session, endpoint: &EndpointRef, resume: bool) -> Done {
        let resume = resume && settings.resume_on_respawn;
        let conversation = match (&session.conversation, resume) {
            (Some(conversation), true) => Ok(conversation.clone()),
            _ => ConversationId::parse(&self.parts.ids.uuid()),
        };
        let prepared = conversation.map_err(|error| error.to_string()).and_then(|conversation| {
            let store = self.parts.store.id();
            let request = spawn_request(settings, &store, item, session, endpoint, &conversation, resume)?;
            Ok((request, conversation))
        });
        let (request, conversation) = match prepared {
            Ok(prepared) => prepared,
            Err(detail) => return Done::SpawnFailed { detail, permanent: true },
        };
        match self.parts.runner.spawn(&request) {
            Ok(life) => {
                self.parts.runner.settle_screen(&life, QUIET_LIMIT_MS);
                Done::Spawned { life, conversation: Some(conversation), cwd: request.cwd }
            }
            Err(RunnerError::SpawnFailed(detail)) => Done::SpawnFailed { detail, permanent: false },
            Err(error @ (RunnerError::Unreachable(_) | RunnerError::OtherStore { .. })) => {
                Done::Unreachable(error.to_string())
            }
        }
    }

    fn end(&self, settings: &Settings, session: &Session, life: &Life) -> Done {
        let keep = settings.keep_session_on_close;
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
    session: &Session,
    life: &Life,
    batch: &BatchId,
    messages: &[Message],
    digest: bool,
) -> Result<DeliverRequest, String> {
    let harness = harness(settings, session)?;
    let body = prompt::render(&settings.templates, messages, digest);
    let safe = text::for_terminal(&body);
    let text = if harness.bracketed_paste { safe } else { text::break_lines(&safe) };
    let style = PasteStyle { submit_delay_ms: harness.submit_delay_ms, dialogs: harness.dialogs.clone() };
    Ok(DeliverRequest { key: session.key.clone(), life: life.clone(), batch: batch.clone(), text, style })
}

fn harness<'s>(settings: &'s Settings, session: &Session) -> Result<&'s Harness, String> {
    settings.harnesses.get(&session.harness).ok_or_else(|| {
        format!(
            "harness `{}` is not configured; add it to `routing.harnesses` or choose another `routing.defaultHarness`",
            session.harness
        )
    })
}

/// What to start, where, with which marks and variables.
fn spawn_request(
    settings: &Settings,
    store: &StoreId,
    item: &Item,
    session: &Session,
    endpoint: &EndpointRef,
    conversation: &ConversationId,
    resume: bool,
) -> Result<SpawnRequest, String> {
    let harness = harness(settings, session)?;
    let cwd = match &settings.workspace {
        Workspace::Shared(directory) => directory.clone(),
        Workspace::Unavailable(reason) => return Err(reason.clone()),
    };
    let extra = settings.harness_args.get(&session.harness).map_or(&[][..], Vec::as_slice);
    let argv =
        harness.argv(resume, conversation, &session.reference, &cwd, extra).map_err(|error| error.to_string())?;
    let slug = session.reference.slug().as_str().replace(['.', ':'], "_");
    let mut env = settings.session_env.clone();
    env.push(("THE_LOOP_WORK_ITEM".into(), item.reference.to_string()));
    env.push((
        "THE_LOOP_ENDPOINT".into(),
        match endpoint {
            EndpointRef::Item => item.reference.to_string(),
            EndpointRef::PullRequest(reference) => reference.to_string(),
        },
    ));
    Ok(SpawnRequest {
        key: session.key.clone(),
        store: store.0.clone(),
        reference: session.reference.clone(),
        fallback_name: format!("loop-{slug}-{}", &session.key.as_str()[1..9]),
        session_name: format!("loop-{slug}"),
        cwd,
        argv,
        env,
    })
}
