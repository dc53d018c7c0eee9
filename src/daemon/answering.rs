//! The owner's answers to what comes over the control socket.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

use super::control::Control;
use super::control::wire::{Hello, PROGRAM, Phase};
use super::journal::{Sink, Told};
use super::reload::Reload;
use super::vitals::{Progress, Vitals};
use super::wake::Wake;
use crate::app::App;
use crate::app::order::Answered;
use crate::app::request::{Request, Response, Trouble, TroubleKind};
use crate::domain::log::{EventName, LogEntry};

/// The running owner, as commands meet it.
pub struct Answering {
    /// What serves.
    pub app: App,
    /// What is woken by what was decided.
    pub wake: Wake,
    /// How it gets on.
    pub vitals: Vitals,
    /// Its configuration.
    pub reload: Arc<Reload>,
    /// Where its receiver listens.
    pub receiver: Option<String>,
    /// The configuration's file.
    pub configuration: Option<String>,
    /// `daemon` or `command`.
    pub kind: &'static str,
    /// Where it is in its life.
    pub life: Arc<Life>,
    /// Takes what the log should say.
    pub sink: Sink,
    /// What keeps commands from reaching it.
    pub unreached: Told,
}

/// Where the owner is in its life, and the word that ends it.
#[derive(Default)]
pub struct Life {
    phase: AtomicU8,
    end: Notify,
    /// Why it cannot go on: its store was taken away.
    lost: OnceLock<String>,
}

const STARTING: u8 = 0;
const RUNNING: u8 = 1;
const STOPPING: u8 = 2;

impl Life {
    /// It serves.
    pub fn serves(&self) {
        // A word to end that came before stays.
        let _ = self.phase.compare_exchange(STARTING, RUNNING, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// It ends from now on.
    pub fn ends(&self) {
        self.phase.store(STOPPING, Ordering::SeqCst);
        self.end.notify_one();
    }

    /// It ends, because its store was taken away.
    pub fn loses_its_store(&self, why: String) {
        let _ = self.lost.set(why);
        self.ends();
    }

    /// Why it has no store any more, when that is why it ends.
    pub fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    /// Where it is.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::SeqCst) {
            STARTING => Phase::Starting,
            RUNNING => Phase::Running,
            _ => Phase::Stopping,
        }
    }

    /// Waits for the word.
    pub async fn told_to_end(&self) {
        self.end.notified().await;
    }
}

impl Control for Answering {
    fn hello(&self) -> Hello {
        Hello {
            program: PROGRAM.to_owned(),
            pid: std::process::id(),
            kind: self.kind.to_owned(),
            phase: self.life.phase(),
        }
    }

    fn stop(&self) {
        self.life.ends();
    }

    fn owns_the_place(&self) -> bool {
        self.app.store().in_place().is_ok()
    }

    fn unreached(&self, why: Option<String>) {
        let entry = why.map(|why| LogEntry::warn(EventName::ServerTrouble).with("reason", why));
        self.unreached.tell(&self.sink, entry);
    }

    fn reload(&self) -> Result<Vec<String>, Trouble> {
        self.reload.read()
    }

    fn progress(&self) -> Progress {
        Progress {
            daemon: self.hello(),
            since: self.vitals.since(),
            receiver: self.receiver.clone(),
            last_webhook: self.vitals.last_webhook(),
            configuration: self.configuration.clone(),
            needs_restart: self.reload.needs_restart(),
            parts: self.vitals.parts(),
        }
    }

    fn respond(&self, request: &Request) -> Result<Response, Trouble> {
        if self.life.phase() == Phase::Stopping {
            return Err(
                Trouble::new(TroubleKind::StoreBusy, "the daemon is stopping").hint("ask again once it has ended")
            );
        }
        let Answered { response, lanes, items } = self.app.respond(request)?;
        if !lanes.is_empty() || !items.is_empty() {
            self.wake.taken(lanes, !items.is_empty());
        }
        Ok(response)
    }
}
