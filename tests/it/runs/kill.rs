//! Killed at any moment, a command leaves the old or the new state, whole, and every archive.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::Project;

/// How far the delays before the kill are apart.
const STEP: Duration = Duration::from_micros(700);

/// Starts a command and kills it after a delay; says whether it was killed before it ended.
fn killed(project: &Project, line: &str, delay: Duration) -> bool {
    killed_with(project, line, "", delay)
}

/// The same, with something on its standard input.
fn killed_with(project: &Project, line: &str, input: &str, delay: Duration) -> bool {
    let mut command = project.command(assert_cmd::cargo::cargo_bin!("the-loop"));
    command.args(line.split(' ')).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let mut child = command.spawn().expect("the binary");
    let mut pipe = child.stdin.take().expect("its input");
    // What it does not read any more is nobody's.
    let _ = pipe.write_all(input.as_bytes());
    drop(pipe);
    while begun.elapsed() < delay {
        std::thread::yield_now();
    }
    // One that has ended cannot be killed any more.
    let _ = child.kill();
    child.wait().expect("its end").code().is_none()
}

/// Delays from a kill before anything happened to one that came too late, a few times over.
struct Delays {
    next: Duration,
    cut: usize,
}

impl Delays {
    const fn new() -> Self {
        Self { next: Duration::ZERO, cut: 0 }
    }

    /// Runs `line` and kills it after the next delay; whether it was killed before it ended.
    fn kill(&mut self, project: &Project, line: &str, input: &str) -> bool {
        let was_killed = killed_with(project, line, input, self.next);
        self.cut += usize::from(was_killed);
        self.next = if was_killed { self.next * 5 / 4 + STEP } else { Duration::ZERO };
        was_killed
    }
}

fn archives(project: &Project) -> Vec<String> {
    let Ok(entries) = fs::read_dir(project.path(".loop/archive")) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".json")).collect()
}

#[test]
fn a_killed_command_leaves_the_old_or_the_new_state_and_no_lost_archive() {
    let project = Project::new();
    project.start();
    let (mut delay, mut kept, mut cut) = (Duration::ZERO, 0, 0);
    // From a kill before anything happened to one that came too late, a few times over.
    for turn in 0..120 {
        let line =
            ["run checkpoint --stage 2", "run pause", "run cancel --reason enough", "run start --objective again"]
                [turn % 4];
        let was_killed = killed(&project, line, delay);
        cut += usize::from(was_killed);
        delay = if was_killed { delay + STEP } else { Duration::ZERO };
        let found = archives(&project);
        assert!(found.len() >= kept, "{line}: an archive is lost");
        kept = found.len();
        for name in found {
            let text = fs::read_to_string(project.path(&format!(".loop/archive/{name}"))).unwrap();
            assert!(text.ends_with("}\n") && text.contains("CANCELLED"), "{line}: {name}");
        }
        match project.run("run inspect").code {
            0 => {}
            3 => {
                assert!(kept > 0, "{line}: a run that is gone was archived");
                project.expect("run start --objective next", 0);
            }
            code => panic!("{line}: the file cannot be trusted: {code}"),
        }
        if project.json()["status"] == "PAUSED" {
            let digest = project.digest();
            project.expect(&format!("run resume --approve {digest}"), 0);
        }
    }
    assert!(cut > 20, "{cut} commands were killed");
}

#[test]
fn a_killed_resume_leaves_the_run_as_it_was_or_resumed() {
    let project = Project::new();
    project.start();
    project.expect("run checkpoint --stage 4", 0);
    project.expect("run pause", 0);
    let mut delays = Delays::new();
    let mut digest = project.digest();
    for _ in 0..40 {
        let before = project.bytes();
        let was_killed = delays.kill(&project, &format!("run resume --approve {digest}"), "");
        project.expect("run inspect", 0);
        let run = project.json();
        assert_eq!(run["stage"], 4);
        match run["status"].as_str() {
            Some("PAUSED") => assert!(was_killed && project.bytes() == before, "nothing half done: {run}"),
            Some("ACTIVE") => {
                // The digest worked once.
                project.expect(&format!("run resume --approve {digest}"), 1);
                project.expect("run pause", 0);
                // What the kills left is superseded once the run was written again.
                project.run("run repair");
            }
            other => panic!("{other:?}"),
        }
        digest = project.digest();
    }
    assert!(delays.cut > 10, "{} commands were killed", delays.cut);
}

#[test]
fn a_killed_record_of_evidence_is_there_whole_or_not_at_all() {
    let project = Project::new();
    project.start();
    let manifest = project.path(".loop/verification.json");
    let known = || match fs::read(&manifest) {
        Ok(bytes) => {
            let document: serde_json::Value = serde_json::from_slice(&bytes).expect("a whole manifest");
            document["criteria"].as_array().map_or(0, Vec::len)
        }
        Err(_) => 0,
    };
    let (mut delays, mut before) = (Delays::new(), 0);
    for number in 0..60 {
        let entry = format!(r#"{{"criterion": {{"id": "C{number}", "level": "COULD", "text": "it works"}}}}"#);
        let was_killed = delays.kill(&project, "verify record --from-stdin", &entry);
        let found = known();
        assert!(found == before + 1 || (was_killed && found == before), "{before} became {found}");
        before = found;
    }
    assert!(delays.cut > 10 && before > 0, "{} commands were killed, {before} were recorded", delays.cut);
    assert_eq!(project.record(r#"{"criterion": {"id": "last", "level": "COULD", "text": "x"}}"#).code, 0);
}

#[test]
fn a_killed_completion_loses_neither_the_run_nor_its_evidence() {
    let project = Project::new();
    let criterion = r#"{"criterion": {"id": "C1", "level": "MUST", "text": "it works"}}"#;
    let (mut delays, mut completed) = (Delays::new(), 0);
    let count = |end: &str| archives(&project).iter().filter(|name| name.ends_with(end)).count();
    for turn in 0..45 {
        if !project.live().exists() {
            project.expect(&format!("run start --objective turn-{turn}"), 0);
            // What a cut-off ending left is set aside by the next beginning.
            assert!(count(".verification.json") >= completed, "every ending kept its evidence");
            assert_eq!(project.record(criterion).code, 0);
            project.expect("verify exec --criterion C1 -- true", 0);
        }
        let was_killed = delays.kill(&project, "run complete", "");
        match project.live().exists() {
            true => {
                assert_eq!(project.json()["status"], "ACTIVE");
                if !was_killed {
                    // A newer write was cut off before: somebody has to look first.
                    project.expect("run complete", 1);
                    let digest = project.digest();
                    project.expect(&format!("run resume --approve {digest}"), 0);
                    project.run("run repair");
                }
                project.expect("verify evaluate", 0);
            }
            false => {
                completed += 1;
                let is_run = |name: &&String| !name.ends_with(".verification.json");
                assert!(archives(&project).iter().filter(is_run).count() >= completed, "the run is in the archive");
            }
        }
    }
    assert!(delays.cut > 10 && completed > 0, "{} were killed, {completed} completed", delays.cut);
}
