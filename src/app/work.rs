//! Doing claimed work by the runner: from a piece of work to how it went.

use std::path::{Path, PathBuf};

use super::settings::Workspace;
use super::{App, Settings};
use crate::domain::harness::{Harness, Keeps, Mode};
use crate::domain::ids::{BatchId, ConversationId};
use crate::domain::item::Item;
use crate::domain::lane::{Done, Work};
use crate::domain::log::{EventName, LogEntry};
use crate::domain::message::Message;
use crate::domain::ports::{DeliverRequest, Delivered, Refusal, Remembered, RunnerError, SpawnRequest};
use crate::domain::prompt;
use crate::domain::session::{Life, Session};
use crate::domain::workspace::{Tidied, WorkspaceError};

mod request;

/// Longest wait for a new harness to be quiet before it is spoken to.
const QUIET_LIMIT_MS: u64 = 30_000;
/// Longest wait for a transcript to show what was just submitted.
const CONFIRM_LIMIT_MS: u64 = 1_500;

/// Where and how a harness begins.
struct Beginning {
    cwd: PathBuf,
    conversation: Option<ConversationId>,
    /// Whether the conversation goes on.
    resume: bool,
}

/// A spawn without a directory.
fn unprepared(error: WorkspaceError) -> Done {
    let detail = error.to_string();
    match error {
        WorkspaceError::None(_) => Done::SpawnFailed { detail, permanent: true },
        WorkspaceError::Failed(_) => Done::SpawnFailed { detail, permanent: false },
        // Nothing was begun: others have their turn meanwhile.
        WorkspaceError::Busy(_) => Done::Busy(detail),
    }
}

/// Removes the checkout of an item that ended, when that loses nothing.
fn tidy(settings: &Settings, item: &Item, session: &Session) -> Done {
    let Workspace::PerItem(workspaces) = &settings.workspace else { return Done::Tidied(Tidied::Nothing) };
    match workspaces.tidy(&item.reference, session.cwd.as_deref()) {
        Ok(tidied) => Done::Tidied(tidied),
        Err(WorkspaceError::Busy(why)) => Done::Busy(why),
        Err(error) => Done::Failed(error.to_string()),
    }
}

impl App {
    /// Does `work` now.
    pub(super) fn do_work(&self, item: &Item, work: &Work, batch: &BatchId) -> Done {
        let settings = self.settings();
        match work {
            Work::Spawn { .. } => self.spawn(&settings, item, work, batch),
            Work::Deliver { session, messages, .. } => match self.delivery(&settings, item, work, batch) {
                Ok(request) => self.deliver(&settings, session, messages, &request),
                Err(reason) => Done::Unreachable(reason),
            },
            Work::End { session, life, keep_pane, .. } => self.end(&settings, session, life, *keep_pane),
            Work::Tidy { session, .. } => tidy(&settings, item, session),
            Work::PauseRun { session, .. } => self.pause_run(item, session),
        }
    }

    /// Finds out how work went that an earlier claim began and nobody settled.
    pub(super) fn recover_work(&self, item: &Item, work: &Work, batch: &BatchId) -> Done {
        let Work::Deliver { session, life, messages, .. } = work else {
            // Spawning finds the living pane of its key, and ending what is gone is done: both can be repeated.
            return self.do_work(item, work, batch);
        };
        let settings = self.settings();
        if life.is_without_terminal() && session.life() != Some(life) {
            return self.interrupt(&settings, session, life);
        }
        let request = match self.delivery(&settings, item, work, batch) {
            Ok(request) => request,
            Err(reason) => return Done::Unsure(reason),
        };
        let shown = || self.seen(&settings, session, messages, 0);
        match self.parts.runner.recall(&session.key, life, batch, &request.style) {
            Ok(Remembered::Submitted) => shown().unwrap_or(Done::Submitted),
            Ok(Remembered::Nothing) => self.deliver(&settings, session, messages, &request),
            Ok(Remembered::Noted(Delivered::Running)) => Done::Running,
            Ok(Remembered::Noted(noted @ (Delivered::Finished(_) | Delivered::Failed(_)))) => {
                self.handed_over(&settings, session, messages, noted)
            }
            // Where the runner cannot tell, the harness's own transcript may.
            unclear => shown().unwrap_or_else(|| match unclear {
                Ok(Remembered::Noted(noted)) => self.handed_over(&settings, session, messages, noted),
                Ok(Remembered::PastedOnly) => self.submit_alone(&settings, session, &request),
                Ok(_) => Done::Unknown("the pane is of another life".into()),
                Err(error) => Done::Unsure(error.to_string()),
            }),
        }
    }

    fn deliver(&self, settings: &Settings, session: &Session, messages: &[Message], request: &DeliverRequest) -> Done {
        self.handed_over(settings, session, messages, self.parts.runner.deliver(request))
    }

    /// What an answer of the runner comes to.
    fn handed_over(&self, settings: &Settings, session: &Session, messages: &[Message], answer: Delivered) -> Done {
        match answer {
            Delivered::Submitted => self.seen(settings, session, messages, CONFIRM_LIMIT_MS).unwrap_or(Done::Submitted),
            Delivered::PastedOnly => Done::PastedOnly,
            Delivered::Refused(Refusal::Dead) => Done::HarnessGone { named: self.named_at_end(settings, session) },
            Delivered::Refused(Refusal::OtherLife) => Done::HarnessGone { named: None },
            Delivered::Refused(Refusal::Busy(why)) => Done::Busy(why),
            Delivered::NotRun(why) => Done::Unreachable(why),
            Delivered::Unknown(why) => Done::Unsure(why),
            Delivered::Running => Done::Running,
            Delivered::Failed(detail) => Done::Failed(detail),
            Delivered::Lost(detail) => Done::Unknown(detail),
            Delivered::Finished(printed) => {
                let harness = settings.harnesses.get(&session.harness);
                Done::Finished { conversation: harness.and_then(|harness| harness.conversation_in(&printed)) }
            }
        }
    }

    /// What a transcript of the harness shows of these messages, if it does: that they arrived, and in which
    /// conversation. That is learnt here where it is not ours to choose, and where a person began another one.
    fn seen(&self, settings: &Settings, session: &Session, messages: &[Message], limit_ms: u64) -> Option<Done> {
        let (files, keeps) = (&self.parts.harness_files, settings.harnesses.get(&session.harness)?.keeps);
        let (cwd, (first, more)) = (session.cwd.as_ref()?, messages.split_first()?);
        if keeps == Keeps::Nothing {
            return None;
        }
        let word = prompt::evidence(first, more);
        let limit_ms = match &session.conversation {
            Some(known) if files.shows(keeps, cwd, known, &word, limit_ms) => return Some(Done::Confirmed),
            Some(_) => 0,
            None => limit_ms,
        };
        files.conversation_with(keeps, cwd, &word, limit_ms).map(Done::Learnt)
    }

    /// The conversation that a harness named when it ended, where nothing else told.
    fn named_at_end(&self, settings: &Settings, session: &Session) -> Option<ConversationId> {
        let harness = settings.harnesses.get(&session.harness).filter(|_| session.conversation.is_none())?;
        harness.conversation_at_end(&self.parts.runner.last_screen(session.life()?)?)
    }

    /// Whether a conversation can go on in `cwd`, as far as anybody can say.
    fn is_resumable(&self, harness: &Harness, cwd: &Path, conversation: &ConversationId) -> bool {
        self.parts.harness_files.has_transcript(harness.keeps, cwd, conversation) != Some(false)
    }

    fn submit_alone(&self, settings: &Settings, session: &Session, request: &DeliverRequest) -> Done {
        let whole = settings.harnesses.get(&session.harness).is_some_and(|harness| harness.bracketed_paste);
        match self.parts.runner.submit(request) {
            Delivered::Submitted => Done::Submitted,
            // A bracketed paste that was never submitted was not taken; lines may have been, one by one.
            Delivered::Refused(Refusal::Dead) if whole => {
                Done::HarnessGone { named: self.named_at_end(settings, session) }
            }
            Delivered::Refused(Refusal::Dead | Refusal::OtherLife) | Delivered::Lost(_) => {
                Done::Unknown("the harness ended with the text half taken".into())
            }
            Delivered::Refused(Refusal::Busy(why)) | Delivered::NotRun(why) | Delivered::Unknown(why) => {
                Done::Unsure(why)
            }
            Delivered::PastedOnly => Done::PastedOnly,
            Delivered::Running | Delivered::Finished(_) | Delivered::Failed(_) => {
                Done::Unsure("what was pasted is no process".into())
            }
        }
    }

    /// Ends the process of a delivery whose session was told to end while it ran.
    fn interrupt(&self, settings: &Settings, session: &Session, life: &Life) -> Done {
        match self.parts.runner.end(&session.key, life, settings.kill_grace_ms, true) {
            Ok(()) => Done::Failed("its session ended while it ran".into()),
            Err(error) => Done::Unsure(error.to_string()),
        }
    }

    fn spawn(&self, settings: &Settings, item: &Item, work: &Work, batch: &BatchId) -> Done {
        let session = work.session();
        let mode = self.parts.runner.mode();
        // Before a directory is made for it.
        let harness = match request::harness(settings, session) {
            Ok(harness) => harness,
            Err(detail) => return Done::SpawnFailed { detail, permanent: true },
        };
        let place = match self.place(settings, item, harness, work, batch) {
            Ok(place) => place,
            Err(error) => return unprepared(error),
        };
        let Beginning { cwd, conversation, resume } = place;
        let argv = match request::argv(settings, mode, session, conversation.as_ref(), resume, &cwd) {
            Ok(argv) => argv,
            Err(detail) => return Done::SpawnFailed { detail, permanent: true },
        };
        let request = request::spawn(settings, &self.parts.store.id(), item, session, work.endpoint(), argv, &cwd);
        let asks_for_trust = harness.keeps == Keeps::Claude && mode == Mode::Terminal;
        if asks_for_trust {
            self.trust(settings, item, &request);
        }
        self.interrupt_run(item, session, &request.cwd);
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

    /// Where a spawn works, the conversation it is for, and whether that goes on: one whose transcript is gone begins anew.
    fn place(
        &self,
        settings: &Settings,
        item: &Item,
        harness: &Harness,
        work: &Work,
        batch: &BatchId,
    ) -> Result<Beginning, WorkspaceError> {
        let asked = matches!(work, Work::Spawn { resume: true, .. }) && settings.resume_on_respawn;
        let cwd = request::directory(settings, item, work.session(), asked)?;
        let goes_on = |known: &&ConversationId| {
            asked && harness.can_resume(self.parts.runner.mode()) && self.is_resumable(harness, &cwd, known)
        };
        if let Some(known) = work.session().conversation.as_ref().filter(goes_on) {
            return Ok(Beginning { conversation: Some(known.clone()), resume: true, cwd });
        }
        // What begins anew is not bound to where the old one was.
        let cwd = if asked { request::directory(settings, item, work.session(), false)? } else { cwd };
        Ok(Beginning { conversation: harness.names_conversation().then(|| batch.conversation()), resume: false, cwd })
    }

    /// Sees to it that the harness does not ask a person whether to trust the directory, as far as the configuration
    /// lets it. Where that fails it does ask, the lane waits, and the trail says why.
    fn trust(&self, settings: &Settings, item: &Item, request: &SpawnRequest) {
        let Some(directory) = settings.trust.directory(&request.cwd) else { return };
        let entry = match self.parts.harness_files.trust(directory) {
            Ok(false) => return,
            Ok(true) => {
                LogEntry::info(EventName::SessionTrusted).with("directory", directory.to_string_lossy().into_owned())
            }
            Err(error) => LogEntry::warn(EventName::SessionTrustFailed).with("detail", error.to_string()),
        };
        let (entry, now) = (entry.with("workItem", item.reference.to_string()), self.now());
        // The trail is for people; a store that is full says so where it matters.
        let _ = self.parts.store.write(move |tx| tx.append_journal(&entry, now));
    }

    fn end(&self, settings: &Settings, session: &Session, life: &Life, keep_pane: Option<bool>) -> Done {
        let keep = keep_pane.unwrap_or(settings.keep_session_on_close);
        match self.parts.runner.end(&session.key, life, settings.kill_grace_ms, keep) {
            Ok(()) => Done::Ended,
            Err(error) => Done::Unreachable(error.to_string()),
        }
    }

    /// The text of a delivery with everything its runner needs.
    fn delivery(
        &self,
        settings: &Settings,
        item: &Item,
        work: &Work,
        batch: &BatchId,
    ) -> Result<DeliverRequest, String> {
        let Work::Deliver { session, life, messages, held, .. } = work else { return Err("not a delivery".into()) };
        let harness = request::harness(settings, session)?;
        let mut introduce = !session.introduced;
        let program = match life.is_without_terminal() {
            false => None,
            true => {
                let goes_on = self.goes_on(harness, session);
                // A conversation that begins anew has to be told what it is for.
                introduce |= !goes_on;
                Some(request::program(settings, item, session, work.endpoint(), goes_on)?)
            }
        };
        let text = request::text(settings, harness, &item.reference, introduce, messages, *held, program.is_none())?;
        let text = match self.about_run(item, session, introduce) {
            Some(line) => format!("{text}\n{line}"),
            None => text,
        };
        let (key, life, batch) = (session.key.clone(), life.clone(), batch.clone());
        Ok(DeliverRequest { key, life, batch, text, style: harness.paste_style(), program })
    }

    /// Whether the process of the next delivery goes on with the session's conversation.
    fn goes_on(&self, harness: &Harness, session: &Session) -> bool {
        let (Some(conversation), true) = (&session.conversation, harness.can_resume(Mode::Once)) else { return false };
        let has = |cwd: &PathBuf| self.parts.harness_files.has_transcript(harness.keeps, cwd, conversation);
        let transcript = session.cwd.as_ref().and_then(has);
        transcript.unwrap_or(session.introduced)
    }
}
