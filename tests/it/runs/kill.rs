//! Killed at any moment, a command leaves the old or the new state, whole, and every archive.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::Project;

/// How far the delays before the kill are apart.
const STEP: Duration = Duration::from_micros(700);

/// Starts a command and kills it after a delay; says whether it was killed before it ended.
fn killed(project: &Project, line: &str, delay: Duration) -> bool {
    let mut command = project.command(assert_cmd::cargo::cargo_bin!("the-loop"));
    command.args(line.split(' ')).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let mut child = command.spawn().expect("the binary");
    while begun.elapsed() < delay {
        std::thread::yield_now();
    }
    // One that has ended cannot be killed any more.
    let _ = child.kill();
    child.wait().expect("its end").code().is_none()
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
