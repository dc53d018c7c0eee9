//! The operator at the command line, beside a running daemon and without one.

use std::fs;
use std::process::Stdio;

use super::hub::reference;
use super::world::{PATIENCE, Ran, World};
use crate::support::wait_for;

#[test]
fn k61_l04_of_many_starts_one_runs_and_the_others_say_who() {
    let world = World::asleep("");
    // Left by something that crashed: none of it is signalled or believed.
    for (n, pid) in ["0", "-1", "1\n2", "99999999999"].iter().enumerate() {
        fs::write(world.path("repo/.the-loop/the-loop.pid"), pid).unwrap();
        let mut starts: Vec<_> = (0..5)
            .map(|_| {
                let mut command = world.command("start --foreground");
                command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        wait_for("all but one to end", PATIENCE, || {
            starts.iter_mut().filter_map(|start| start.try_wait().unwrap()).count() == 4
        });
        let at = starts.iter_mut().position(|start| start.try_wait().unwrap_or(None).is_none()).unwrap();
        let mut running = starts.remove(at);
        for start in starts {
            let ran = start.wait_with_output().map(Ran::of).unwrap();
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(4), ""), "round {n}: {ran:?}");
            assert!(ran.stderr.starts_with("error: already running"), "{ran:?}");
        }
        running.kill().unwrap();
        running.wait().unwrap();
    }
    world.start();
    let second = world.run("start --foreground --json");
    let error = &second.json()["error"];
    assert_eq!((second.code, &error["kind"]), (Some(4), &"store-busy".into()), "{second:?}");
    assert!(error["message"].as_str().unwrap().contains(&format!("pid {}", world.pid())), "{second:?}");
    world.stop();
}

#[test]
fn k73_twenty_looks_at_once_beside_the_daemon_all_answer() {
    let world = World::shared();
    world.arm(&[73]);
    let looks = ["sessions list", "status", "doctor", "events", "sessions show octo/hello#73"];
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..20)
            .map(|n| {
                let line = looks[n % looks.len()];
                let world = &world;
                scope.spawn(move || (line, world.run(line), world.run(&format!("{line} --json"))))
            })
            .collect();
        for n in 0..20 {
            world.say(73, &format!("beside the looks {n}"));
        }
        for look in running {
            let (line, text, json) = look.join().unwrap();
            // Other tests break things in the shared world; `doctor` may rightly say so.
            let fine = |ran: &Ran| ran.code == Some(0) || (line == "doctor" && ran.code == Some(1));
            assert!(fine(&text) && fine(&json), "{line}: {text:?} {json:?}");
            assert!(!text.stdout.is_empty(), "{line}: {text:?}");
            json.json();
        }
    });
    world.wait_heard(&reference(73), "beside the looks 19");
}

#[test]
fn k70_commands_without_a_daemon_do_what_they_say_and_leave_spawns_to_it() {
    let world = World::new("");
    world.arm(&[70]);
    world.stop();
    assert_eq!(world.living_agents(&reference(70)).len(), 1);
    let stopped = world.done("sessions stop octo/hello#70 --json").json();
    assert_eq!((&stopped["commanded"]["acted"], &stopped["commanded"]["waiting"]), (&true.into(), &0.into()));
    assert!(world.living_agents(&reference(70)).is_empty(), "the pane's agent ended with the command");
    assert_eq!(world.state(&reference(70)), "closed");
    let again = world.run("sessions resume octo/hello#70");
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("neither paused nor held"), "{again:?}");

    for item in ["octo/hello#70", "octo/hello#71"] {
        let started = world.done(&format!("sessions start {item}"));
        assert!(started.stdout.contains("for a daemon"), "{started:?}");
    }
    assert_eq!(world.agents(&reference(70)).len(), 1, "a spawn waits for the daemon");
    assert_eq!(world.state(&reference(71)), "starting");
    world.start();
    for item in [70, 71] {
        world.wait_state(&reference(item), "live");
        assert_eq!(world.living_agents(&reference(item)).len(), 1);
    }
    world.later(5);
    world.say(71, "to the one the command line started");
    world.wait_heard(&reference(71), "to the one the command line started");

    world.stop();
    world.done("sessions pause octo/hello#71");
    world.start();
    world.later(5);
    world.say(71, "held by the command line");
    assert_eq!(world.state(&reference(71)), "paused");
    world.stop();
    world.done("sessions resume octo/hello#71");
    // The command that owns the store does quick work itself.
    world.wait_heard(&reference(71), "held by the command line");
    assert_eq!(world.times(&reference(71), "held by the command line"), 1);
}

#[test]
fn p16_doctor_names_a_conversation_that_the_breaker_holds_until_it_is_released() {
    let world = World::new("  breaker: {deliveries: 2, minutes: 10}\n");
    world.arm(&[16]);
    let held = || {
        let findings = world.run("doctor --json").json()["findings"].as_array().unwrap().clone();
        let held = findings.iter().filter(|f| f["what"].as_str().unwrap().contains("16 is held: mona alone"));
        held.filter(|finding| finding["severity"] == "warning").count()
    };
    let counted = || world.run("status --json").json()["status"]["held"].clone();
    assert_eq!((held(), counted()), (0, 0.into()));
    for n in 0..3 {
        world.say(16, &format!("me again {n}"));
    }
    world.wait_state(&reference(16), "held");
    assert_eq!((held(), counted()), (1, 1.into()));
    world.say(16, "the-loop resume");
    world.wait_state(&reference(16), "live");
    assert_eq!((held(), counted()), (0, 0.into()));
}
