//! Tests: what a harness keeps for its user decides where the runner cannot: trust before a start, transcripts after.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rstest::rstest;

use super::App;
use super::moving::{app, item, say};
use super::perform::Progress;
use crate::domain::harness::{Harness, Keeps, Mode};
use crate::domain::ids::{BatchId, ConversationId};
use crate::domain::ports::{
    DeliverRequest, Delivered, HarnessFiles, Pane, PasteStyle, Refusal, Remembered, Runner, RunnerError, SpawnRequest,
    TrustError,
};
use crate::domain::session::{Life, PaneKey, SessionState};
use crate::store::View as _;

/// A host that answers as it is told, and keeps what it was asked for.
struct Told {
    mode: Mode,
    delivers: Mutex<Vec<Delivered>>,
    remembers: Remembered,
    asked: Mutex<Vec<String>>,
}

impl Told {
    fn new(mode: Mode, delivers: Delivered, remembers: Remembered) -> Arc<Self> {
        Arc::new(Self { mode, delivers: vec![delivers].into(), remembers, asked: Mutex::default() })
    }

    fn note(&self, asked: impl Into<String>) {
        self.asked.lock().unwrap().push(asked.into());
    }

    fn asked(&self, word: &str) -> Vec<String> {
        self.asked.lock().unwrap().iter().filter(|asked| asked.starts_with(word)).cloned().collect()
    }
}

impl Runner for Told {
    fn mode(&self) -> Mode {
        self.mode
    }

    fn spawn(&self, request: &SpawnRequest) -> Result<Life, RunnerError> {
        self.note(format!("spawn {}", request.argv.join(" ")));
        let session = request.session_name.clone();
        Ok(match self.mode {
            Mode::Once => Life::without_terminal(&session),
            Mode::Terminal => {
                let (pane, pane_pid) = ("%1".into(), u32::try_from(self.asked("spawn").len()).unwrap());
                Life { socket: "t".into(), server_pid: 1, server_started: 1, session, pane, pane_pid }
            }
        })
    }

    fn settle_screen(&self, _: &Life, _: u64) {}

    fn deliver(&self, request: &DeliverRequest) -> Delivered {
        let argv = request.program.as_ref().map(|program| program.argv.join(" ")).unwrap_or_default();
        self.note(format!("deliver {argv}: {}", request.text));
        self.delivers.lock().unwrap().pop().unwrap_or(Delivered::Submitted)
    }

    fn recall(&self, _: &PaneKey, _: &Life, _: &BatchId, _: &PasteStyle) -> Result<Remembered, RunnerError> {
        match &self.remembers {
            Remembered::Noted(Delivered::Unknown(why)) => Err(RunnerError::Unreachable(why.clone())),
            remembered => Ok(remembered.clone()),
        }
    }

    fn submit(&self, _: &DeliverRequest) -> Delivered {
        self.note("submit");
        Delivered::Submitted
    }

    fn panes(&self) -> Result<Vec<Pane>, RunnerError> {
        match &self.remembers {
            Remembered::Noted(Delivered::Unknown(why)) => Err(RunnerError::Unreachable(why.clone())),
            _ => Ok(Vec::new()),
        }
    }

    fn end(&self, _: &PaneKey, _: &Life, _: u64, _: bool) -> Result<(), RunnerError> {
        self.note("end");
        Ok(())
    }
}

/// What Claude keeps, as told.
#[derive(Default)]
struct Kept {
    transcript: Option<bool>,
    shows: bool,
    refuses: bool,
    /// The conversation that shows what was said last.
    named: Mutex<Option<ConversationId>>,
    trusted: Mutex<Vec<PathBuf>>,
    words: Mutex<Vec<String>>,
}

impl HarnessFiles for Kept {
    fn trust(&self, directory: &Path) -> Result<bool, TrustError> {
        self.trusted.lock().unwrap().push(directory.to_owned());
        let refused = TrustError { directory: directory.to_owned(), reason: "no JSON".into() };
        if self.refuses { Err(refused) } else { Ok(true) }
    }

    fn has_transcript(&self, _: Keeps, _: &Path, _: &ConversationId) -> Option<bool> {
        self.transcript
    }

    fn shows(&self, _: Keeps, _: &Path, _: &ConversationId, word: &str, _: u64) -> bool {
        self.words.lock().unwrap().push(word.to_owned());
        self.shows
    }

    fn conversation_with(&self, _: Keeps, _: &Path, word: &str, _: u64) -> Option<ConversationId> {
        self.words.lock().unwrap().push(word.to_owned());
        self.named.lock().unwrap().clone()
    }
}

/// One item of a Claude that was started and spoken to.
fn spoken_to(runner: &Arc<Told>, kept: &Arc<Kept>) -> App {
    let claude = Harness { name: "agent".into(), ..Harness::built_in("claude").unwrap() };
    let app = app(Arc::clone(runner) as Arc<dyn Runner>, Arc::clone(kept) as Arc<dyn HarnessFiles>, claude);
    say(&app, 10, &item("octo/hello", 7), 101, "the-loop start");
    app
}

fn advance(app: &App) -> Progress {
    app.advance(&item("octo/hello", 7).key(), true, 100).unwrap()
}

/// The trail of these events.
fn trail(app: &App, name: &str) -> Vec<String> {
    let entries = app.store().read(|tx| tx.journal(0, usize::MAX)).unwrap().into_iter().map(|(_, _, entry)| entry);
    entries.filter(|entry| entry.event.as_str() == name).map(|entry| format!("{:?}", entry.fields)).collect()
}

fn dead(app: &App) -> usize {
    app.store().read(|tx| tx.dead_letters()).unwrap().len()
}

#[rstest]
#[case::another_life(Remembered::OtherLife)]
#[case::pasted_only(Remembered::PastedOnly)]
#[case::nobody_answers(Remembered::Noted(Delivered::Unknown("silent".into())))]
#[case::its_end_was_not_seen(Remembered::Noted(Delivered::Lost("begun".into())))]
fn k19_a_transcript_that_shows_it_settles_what_the_runner_cannot(#[case] remembers: Remembered) {
    let runner = Told::new(Mode::Terminal, Delivered::Unknown("cut".into()), remembers);
    let kept = Arc::new(Kept { shows: true, ..Kept::default() });
    let app = spoken_to(&runner, &kept);
    assert!(matches!(advance(&app), Progress::Waiting(_)));
    assert_eq!(advance(&app), Progress::Idle);
    assert_eq!((dead(&app), runner.asked("deliver").len(), runner.asked("submit").len()), (0, 1, 0));
    assert!(trail(&app, "dispatch.succeeded").last().unwrap().contains("confirmed"));
    let words = kept.words.lock().unwrap();
    assert!(runner.asked("deliver")[0].contains(&words[0]), "the word is the one that fences the message");
}

#[test]
fn a_transcript_that_does_not_show_it_is_no_evidence_against_it() {
    let (kept, cut) = (Arc::new(Kept::default()), || Delivered::Unknown("cut".into()));
    let runner = Told::new(Mode::Terminal, cut(), Remembered::OtherLife);
    let app = spoken_to(&runner, &kept);
    advance(&app);
    advance(&app);
    assert_eq!((dead(&app), runner.asked("deliver").len()), (1, 1), "unknown, and never again by itself");
    let runner = Told::new(Mode::Terminal, cut(), Remembered::PastedOnly);
    let app = spoken_to(&runner, &kept);
    advance(&app);
    assert_eq!(advance(&app), Progress::Idle);
    assert_eq!((dead(&app), runner.asked("submit").len()), (0, 1));
}

#[rstest]
#[case::shown(true, "confirmed")]
#[case::not_shown(false, "submitted")]
fn a_delivery_is_confirmed_by_the_transcript_or_known_as_submitted(#[case] shows: bool, #[case] how: &str) {
    let runner = Told::new(Mode::Terminal, Delivered::Submitted, Remembered::Nothing);
    let app = spoken_to(&runner, &Arc::new(Kept { shows, ..Kept::default() }));
    assert_eq!(advance(&app), Progress::Idle);
    assert!(trail(&app, "dispatch.succeeded").last().unwrap().contains(how));
}

#[rstest]
#[case::there(Some(true), true)]
#[case::nobody_can_say(None, true)]
#[case::gone(Some(false), false)]
fn a_conversation_without_its_transcript_begins_anew(#[case] transcript: Option<bool>, #[case] goes_on: bool) {
    let gone = Delivered::Refused(Refusal::Dead);
    let runner = Told::new(Mode::Terminal, gone, Remembered::Nothing);
    let app = spoken_to(&runner, &Arc::new(Kept { transcript, ..Kept::default() }));
    assert_eq!(advance(&app), Progress::Idle);
    let spawns = runner.asked("spawn");
    let id = spawns[0].strip_prefix("spawn claude --session-id ").unwrap();
    assert_eq!(spawns.len(), 2);
    assert_eq!(spawns[1] == format!("spawn claude --resume {id}"), goes_on, "{spawns:?}");
    assert_eq!(spawns[1].contains(id), goes_on);
}

#[rstest]
#[case::by_its_transcript(Some("0199-ab"), Some("codex resume 0199-ab"))]
#[case::by_nobody(None, Some("codex"))]
fn k42_a_conversation_that_a_transcript_named_goes_on(#[case] named: Option<&str>, #[case] again: Option<&str>) {
    let runner = Told::new(Mode::Terminal, Delivered::Submitted, Remembered::Nothing);
    let kept = Arc::new(Kept { transcript: Some(true), ..Kept::default() });
    *kept.named.lock().unwrap() = named.map(|id| ConversationId::parse(id).unwrap());
    let codex = Harness { name: "agent".into(), ..Harness::built_in("codex").unwrap() };
    let app = app(Arc::clone(&runner) as Arc<dyn Runner>, Arc::clone(&kept) as Arc<dyn HarnessFiles>, codex);
    say(&app, 10, &item("octo/hello", 7), 101, "the-loop start");
    assert_eq!(advance(&app), Progress::Idle);
    runner.delivers.lock().unwrap().push(Delivered::Refused(Refusal::Dead));
    say(&app, 11, &item("octo/hello", 7), 101, "go on");
    assert_eq!(advance(&app), Progress::Idle);
    assert_eq!(runner.asked("spawn").last().and_then(|asked| asked.strip_prefix("spawn ")), again);
    let how = if named.is_some() { "confirmed" } else { "submitted" };
    assert!(trail(&app, "dispatch.succeeded").last().unwrap().contains(how));
}

#[rstest]
#[case::done(Mode::Terminal, false, Some("session.trusted"))]
#[case::refused(Mode::Terminal, true, Some("session.trust_failed"))]
#[case::a_process_is_not_asked(Mode::Once, false, None)]
fn a_start_goes_on_whatever_came_of_trust(#[case] mode: Mode, #[case] refuses: bool, #[case] told: Option<&str>) {
    let runner = Told::new(mode, Delivered::Submitted, Remembered::Nothing);
    let kept = Arc::new(Kept { refuses, ..Kept::default() });
    let app = spoken_to(&runner, &kept);
    assert_eq!(advance(&app), Progress::Idle);
    assert_eq!(*kept.trusted.lock().unwrap(), vec![PathBuf::from("/"); usize::from(told.is_some())]);
    for name in ["session.trusted", "session.trust_failed"] {
        assert_eq!(trail(&app, name).len(), usize::from(told == Some(name)), "{name}");
    }
}

#[test]
fn a_process_that_runs_is_asked_after_and_ended_with_its_session() {
    let runner = Told::new(Mode::Once, Delivered::Running, Remembered::Noted(Delivered::Running));
    let app = spoken_to(&runner, &Arc::new(Kept { shows: true, ..Kept::default() }));
    for _ in 0..3 {
        assert!(matches!(advance(&app), Progress::Waiting(Some(_))), "its transcript shows it, but it runs");
    }
    assert_eq!((runner.asked("deliver").len(), runner.asked("end").len(), dead(&app)), (1, 0, 0));
    assert!(runner.asked("deliver")[0].starts_with("deliver claude -p --session-id "));
    say(&app, 11, &item("octo/hello", 7), 101, "the-loop stop");
    advance(&app);
    assert!(!runner.asked("end").is_empty());
    assert_eq!((runner.asked("deliver").len(), dead(&app)), (1, 0));
}

#[test]
fn k46_a_host_that_does_not_answer_has_lost_nobody() {
    let silent = || "silent".to_owned();
    let remembers = Remembered::Noted(Delivered::Unknown(silent()));
    let runner = Told::new(Mode::Terminal, Delivered::NotRun(silent()), remembers);
    let app = spoken_to(&runner, &Arc::new(Kept::default()));
    assert!(matches!(advance(&app), Progress::Waiting(Some(_))), "what is delivered waits");
    let own = item("octo/hello", 7);
    let state = || app.store().read(|tx| tx.item(&own.key())).unwrap().unwrap().session.unwrap().state;
    assert!(matches!(state(), SessionState::Live(_)), "{:?}", state());
    assert!(app.mark_gone(std::slice::from_ref(&own)).is_err(), "nothing is gone for sure");
    assert!(matches!(state(), SessionState::Live(_)), "{:?}", state());
    assert_eq!((runner.asked("spawn").len(), dead(&app)), (1, 0));
}
