//! The process runner: one process per delivery, and what is known of it after the runner that started it is gone.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use the_loop::adapters::process_runner::{ProcessConfig, ProcessRunner};
use the_loop::adapters::processes;
use the_loop::domain::harness::Mode;
use the_loop::domain::ids::{BatchId, StoreId};
use the_loop::domain::ports::{
    DeliverRequest, Delivered, PasteStyle, Program, Refusal, Remembered, Runner, RunnerError, SpawnRequest,
};
use the_loop::domain::reference::WorkItemRef;
use the_loop::domain::session::{Life, PaneKey};

use crate::support::tmux::signal;
use crate::support::wait_for;

const PATIENCE: Duration = Duration::from_secs(20);
/// Keeps what it is told, then waits until it may end.
const WAITS: &str = "cat >> heard; echo $$ > pid; while [ ! -e go ]; do sleep 0.02; done";

struct Place {
    dir: tempfile::TempDir,
    number: u32,
}

impl Place {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        Self { dir: tempfile::tempdir().unwrap(), number: COUNT.fetch_add(1, Ordering::Relaxed) }
    }

    /// A name no other test uses: processes are looked for among all there are.
    fn batch(&self, name: &str) -> BatchId {
        BatchId::from_hex(&format!("{name}p{}n{}", std::process::id(), self.number))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn runner(&self) -> ProcessRunner {
        let mut environment: Vec<(OsString, OsString)> = vec![("PATH".into(), std::env::var_os("PATH").unwrap())];
        environment.push(("GITHUB_TOKEN".into(), "a-token".into()));
        environment.push(("MINE".into(), "passed".into()));
        let pass = vec!["MINE".to_owned()];
        let (starts_dir, output_dir) = (self.path("starts"), self.path("logs"));
        ProcessRunner::new(ProcessConfig { starts_dir, output_dir, environment, pass, most: 2 })
    }

    fn key(&self, number: u64) -> PaneKey {
        let reference = WorkItemRef::parse(&format!("github:octo/hello#{number}")).unwrap();
        PaneKey::new(&StoreId("s".into()), &reference, &reference)
    }

    fn life(&self, number: u64) -> Life {
        Life::without_terminal(&format!("loop-{number}"))
    }

    fn delivery(&self, number: u64, batch: &str, script: &str) -> DeliverRequest {
        DeliverRequest {
            key: self.key(number),
            life: self.life(number),
            batch: self.batch(batch),
            text: format!("the text of {batch}\n"),
            style: PasteStyle { submit_delay_ms: 0, dialogs: vec![], input_marks: vec![] },
            program: Some(Program {
                argv: ["sh", "-c", script].map(str::to_owned).into(),
                cwd: self.dir.path().to_owned(),
                env: vec![("THE_LOOP_ENDPOINT".into(), "x".into())],
                limit_ms: 60_000,
                grace_ms: 500,
            }),
        }
    }

    fn recall(&self, runner: &ProcessRunner, number: u64, batch: &str) -> Result<Remembered, RunnerError> {
        let style = PasteStyle { submit_delay_ms: 0, dialogs: vec![], input_marks: vec![] };
        runner.recall(&self.key(number), &self.life(number), &self.batch(batch), &style)
    }

    /// Waits until the delivery is over.
    fn ended(&self, runner: &ProcessRunner, number: u64, batch: &str) -> Delivered {
        let mut last = None;
        wait_for("the process to end", PATIENCE, || {
            last = Some(self.recall(runner, number, batch).unwrap());
            last != Some(Remembered::Noted(Delivered::Running))
        });
        match last {
            Some(Remembered::Noted(delivered)) => delivered,
            other => panic!("{other:?}"),
        }
    }

    fn heard(&self) -> String {
        fs::read_to_string(self.path("heard")).unwrap_or_default()
    }

    /// The process of [`WAITS`].
    fn pid(&self) -> u32 {
        wait_for("the process", PATIENCE, || fs::read_to_string(self.path("pid")).is_ok_and(|pid| pid.ends_with('\n')));
        fs::read_to_string(self.path("pid")).unwrap().trim().parse().unwrap()
    }
}

fn failed(delivered: &Delivered, with: &str) {
    assert!(matches!(delivered, Delivered::Failed(detail) if detail.contains(with)), "{delivered:?}");
}

fn is_busy(delivered: &Delivered) -> bool {
    matches!(delivered, Delivered::Refused(Refusal::Busy(_)))
}

fn lives(pid: u32) -> bool {
    processes::start_time(pid).is_some()
}

#[test]
fn k28_the_text_is_standard_input_and_the_environment_is_scrubbed() {
    let place = Place::new();
    let runner = place.runner();
    assert_eq!(runner.mode(), Mode::Once);
    assert_eq!(place.recall(&runner, 1, "b1").unwrap(), Remembered::Nothing);
    let script = "cat > heard; env > env; echo printed; echo $$ > pid; tr '\\0' ' ' < /proc/$$/cmdline > line";
    assert_eq!(runner.deliver(&place.delivery(1, "b1", script)), Delivered::Running);
    assert_eq!(place.ended(&runner, 1, "b1"), Delivered::Finished("printed\n".into()));
    assert_eq!(place.heard(), "the text of b1\n");
    let environment = fs::read_to_string(place.path("env")).unwrap();
    for (word, is_there) in [("MINE=passed", true), ("THE_LOOP_ENDPOINT=x", true), ("a-token", false)] {
        assert_eq!(environment.contains(word), is_there, "{word}: {environment}");
    }
    assert!(!fs::read_to_string(place.path("line")).unwrap().contains("the text"));
    // Asked again, by another one too, it is still known; and between deliveries nothing is dead.
    assert_eq!(place.ended(&place.runner(), 1, "b1"), Delivered::Finished("printed\n".into()));
    assert_eq!(place.recall(&runner, 1, "b2").unwrap(), Remembered::Nothing);
    assert_eq!(runner.panes().unwrap(), []);
}

#[test]
fn a_status_or_a_signal_is_a_failed_delivery_that_does_not_tell_what_was_printed() {
    let place = Place::new();
    let runner = place.runner();
    for (batch, script, with) in [("b1", "echo secret; exit 3", "status 3"), ("b2", "kill -9 $$", "signal 9")] {
        assert_eq!(runner.deliver(&place.delivery(1, batch, script)), Delivered::Running);
        let ended = place.ended(&runner, 1, batch);
        failed(&ended, with);
        assert!(!format!("{ended:?}").contains("secret"));
    }
    let mut request = place.delivery(1, "b3", "");
    request.program.as_mut().unwrap().argv = vec!["no-such-program-anywhere".into()];
    failed(&runner.deliver(&request), "no-such-program-anywhere");
    assert_eq!(place.recall(&runner, 1, "b3").unwrap(), Remembered::Nothing, "nothing was begun");
}

#[test]
fn k11_what_was_begun_when_its_daemon_died_is_never_begun_again() {
    let place = Place::new();
    let first = place.runner();
    assert_eq!(first.deliver(&place.delivery(1, "b1", WAITS)), Delivered::Running);
    let pid = place.pid();
    // Another daemon: it knows the process by its note alone.
    let second = place.runner();
    assert_eq!(place.recall(&second, 1, "b1").unwrap(), Remembered::Noted(Delivered::Running));
    assert!(is_busy(&second.deliver(&place.delivery(1, "b2", WAITS))), "never two of one conversation");
    // The same where the number did not come to be noted.
    let note = fs::read_dir(place.path("starts")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&note).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["process"] = serde_json::Value::Null;
    fs::write(&note, json.to_string()).unwrap();
    assert_eq!(place.recall(&second, 1, "b1").unwrap(), Remembered::Noted(Delivered::Running));
    signal(pid, rustix::process::Signal::KILL);
    wait_for("the first one to see it", PATIENCE, || {
        matches!(place.recall(&first, 1, "b1"), Ok(Remembered::Noted(Delivered::Failed(_))))
    });
    // As a crash leaves it: begun, and no end seen.
    for left in [text, json.to_string(), "{\"batch\": \"b1".into()] {
        fs::write(&note, left).unwrap();
        let recalled = place.recall(&place.runner(), 1, "b1").unwrap();
        assert!(matches!(recalled, Remembered::Noted(Delivered::Lost(_))), "{recalled:?}");
    }
    assert_eq!(place.heard(), "the text of b1\n");
}

#[test]
fn k11_without_its_note_nothing_is_started() {
    let place = Place::new();
    fs::write(place.path("starts"), "in the way of the directory").unwrap();
    let runner = place.runner();
    for batch in ["b1", "b2", "b3"] {
        let answer = runner.deliver(&place.delivery(1, batch, WAITS));
        assert!(matches!(answer, Delivered::NotRun(_)), "{answer:?}");
    }
    fs::remove_file(place.path("starts")).unwrap();
    assert_eq!(runner.deliver(&place.delivery(1, "b4", "cat >> heard")), Delivered::Running);
    assert_eq!(place.ended(&runner, 1, "b4"), Delivered::Finished(String::new()));
    assert_eq!(place.heard(), "the text of b4\n");
}

#[test]
fn a_process_that_runs_too_long_is_ended_with_its_group_and_unknown() {
    let place = Place::new();
    let runner = place.runner();
    let mut request = place.delivery(1, "b1", "trap '' TERM; sleep 600 & echo $! > child; cat >/dev/null; wait; wait");
    let program = request.program.as_mut().unwrap();
    (program.limit_ms, program.grace_ms) = (300, 200);
    assert_eq!(runner.deliver(&request), Delivered::Running);
    let ended = place.ended(&runner, 1, "b1");
    assert!(matches!(&ended, Delivered::Lost(why) if why.contains("dispatchTimeoutSeconds")), "{ended:?}");
    let child: u32 = fs::read_to_string(place.path("child")).unwrap().trim().parse().unwrap();
    wait_for("its child to be gone", PATIENCE, || !lives(child));
    // The same when its daemon died meanwhile: the next one ends it.
    let mut request = place.delivery(2, "b2", WAITS);
    request.program.as_mut().unwrap().limit_ms = 0;
    let first = place.runner();
    let late =
        DeliverRequest { program: request.program.clone().map(|p| Program { limit_ms: 60_000, ..p }), ..request };
    assert_eq!(first.deliver(&late), Delivered::Running);
    let pid = place.pid();
    let note = fs::read_dir(place.path("starts")).unwrap().map(|entry| entry.unwrap().path());
    let note = note.into_iter().find(|path| fs::read_to_string(path).unwrap().contains("\"b2p")).unwrap();
    let mut json: serde_json::Value = serde_json::from_slice(&fs::read(&note).unwrap()).unwrap();
    json["until"] = 1.into();
    fs::write(&note, json.to_string()).unwrap();
    let recalled = place.recall(&place.runner(), 2, "b2").unwrap();
    assert!(matches!(recalled, Remembered::Noted(Delivered::Lost(_))), "{recalled:?}");
    assert!(!lives(pid));
}

#[test]
fn ending_a_session_ends_its_process_and_nobody_elses() {
    let place = Place::new();
    let runner = place.runner();
    assert_eq!(runner.deliver(&place.delivery(1, "b1", "sleep 600")), Delivered::Running);
    assert_eq!(runner.deliver(&place.delivery(2, "b2", WAITS)), Delivered::Running);
    assert!(is_busy(&runner.deliver(&place.delivery(3, "b3", "true"))), "two at a time were asked for");
    runner.end(&place.key(1), &place.life(1), 500, true).unwrap();
    assert_eq!(place.recall(&runner, 1, "b1").unwrap(), Remembered::Nothing);
    let pid = place.pid();
    assert!(lives(pid));
    // By another daemon too, and again when it is gone.
    let other = place.runner();
    other.end(&place.key(2), &place.life(2), 500, false).unwrap();
    wait_for("it to be gone", PATIENCE, || !lives(pid));
    other.end(&place.key(2), &place.life(2), 500, false).unwrap();
    let names =
        || fs::read_dir(place.path("logs")).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert!(names().iter().all(|name| name.to_string_lossy().starts_with("loop-1-")), "{:?}", names());
    wait_for("the note to stay away", PATIENCE, || {
        runner.deliver(&place.delivery(2, "b4", "true")) == Delivered::Running
    });
    assert_eq!(place.ended(&runner, 2, "b4"), Delivered::Finished(String::new()));
}

#[test]
fn a_session_is_started_only_where_its_program_can_run() {
    let place = Place::new();
    let runner = place.runner();
    let spawn = |program: &str, cwd: PathBuf| {
        let reference = WorkItemRef::parse("github:octo/hello#1").unwrap();
        runner.spawn(&SpawnRequest {
            key: place.key(1),
            store: "s".into(),
            reference,
            session_name: "loop-1".into(),
            fallback_name: "loop-1-x".into(),
            cwd,
            argv: vec![program.into()],
            env: vec![],
        })
    };
    assert_eq!(spawn("sh", place.path("")), Ok(place.life(1)));
    for (program, cwd) in [("no-such-program", place.path("")), ("sh", place.path("nowhere")), ("", place.path(""))] {
        assert!(matches!(spawn(program, cwd), Err(RunnerError::SpawnFailed(_))), "{program}");
    }
}
