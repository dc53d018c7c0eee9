//! Commands that change something, beside a daemon that runs, starts, is stopped or has gone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value as Json;

use super::hub::reference;
use super::world::{PATIENCE, World};
use crate::support::tmux::signal;
use crate::support::wait_for;

#[test]
fn k73_k70_orders_beside_the_daemon_are_done_by_it() {
    let world = World::new("");
    let item = reference(731);
    assert!(world.done("sessions start octo/hello#731").stdout.contains("armed"));
    world.wait_state(&item, "live");
    world.done("sessions pause octo/hello#731");
    assert_eq!(world.state(&item), "paused");
    assert!(world.done("sessions pause octo/hello#731").stdout.contains("nothing to do"));
    world.done("sessions resume octo/hello#731");
    wait_for("its agent", PATIENCE, || !world.living_agents(&item).is_empty());
    let stop = world.done("sessions stop octo/hello#731 --wait --json").json();
    assert_eq!(stop["commanded"]["acted"], true);
    assert_eq!(world.state(&item), "closed");
    wait_for("its agent to end", PATIENCE, || world.living_agents(&item).is_empty());
    let export = world.done("export --json").json();
    assert_eq!(export["exported"]["held"], Json::Array(Vec::new()));
    let file = world.path("repo/.the-loop/portable/github-octo-hello-731.json");
    assert!(fs::read_to_string(file).unwrap().contains("\"stop\""));
}

#[test]
fn d01_k73_twenty_commands_at_once_beside_the_daemon_all_work() {
    let world = World::new("");
    let lines = ["sessions list", "events", "export", "sessions start octo/hello#1", "status"];
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..20)
            .map(|n| {
                scope.spawn({
                    let world = &world;
                    move || world.run(lines[n % lines.len()])
                })
            })
            .collect();
        for ran in running {
            let ran = ran.join().unwrap();
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
    });
    let local = fs::read_dir(world.path("repo/.the-loop/local")).unwrap().flatten();
    let mut names: Vec<String> = local.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["daemon.sock", "owner.json", "state.redb", "tmux.conf"]);
}

#[test]
fn d01_k73_twenty_commands_at_once_without_a_daemon_all_work() {
    let world = World::asleep("");
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..20)
            .map(|n| {
                scope.spawn({
                    let world = &world;
                    move || world.run(&format!("sessions start octo/hello#{}", n + 1))
                })
            })
            .collect();
        for ran in running {
            let ran = ran.join().unwrap();
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
    });
    assert_eq!(world.sessions().len(), 20);
}

#[test]
fn k73_a_stopped_daemon_is_named_with_its_pid_and_looks_go_on() {
    let world = World::new("");
    let item = reference(732);
    world.done("sessions start octo/hello#732 --wait");
    // Stopped in the middle of a commit it keeps looks out, and they say so in time; here it is stopped beside one.
    wait_for("a look beside a stopped daemon", PATIENCE, || {
        signal(world.pid(), Signal::STOP);
        let look = world.run("sessions list");
        if look.code != Some(0) {
            assert!(look.code == Some(4) && look.stderr.contains("stopped"), "{look:?}");
            signal(world.pid(), Signal::CONT);
        }
        look.code == Some(0)
    });
    for line in ["sessions stop octo/hello#732", "status", "stop", "export"] {
        let ran = world.run(line);
        assert_eq!(ran.code, Some(4), "{line}: {ran:?}");
        assert!(
            ran.stderr.contains(&format!("pid {}", world.pid())) && ran.stderr.contains("stopped"),
            "{line}: {ran:?}"
        );
    }
    let doctor = world.run("doctor");
    assert!(
        doctor.code == Some(1) && doctor.stdout.contains(&format!("pid {}, which is stopped", world.pid())),
        "{doctor:?}"
    );
    assert_eq!(world.state(&item), "live");
    assert_eq!(world.done("events --limit 1").stdout.lines().count(), 1);
    signal(world.pid(), Signal::CONT);
    world.done("sessions stop octo/hello#732 --wait");
    assert_eq!(world.state(&item), "closed");
}

#[test]
fn k73_a_command_stopped_while_it_ends_an_agent_blocks_nobody() {
    let world = World::asleep(
        "  tmux: {socket: @}\n".replace('@', "unused").as_str().replace("  tmux: {socket: unused}\n", "").as_str(),
    );
    // This agent takes no notice of being asked to end, so the command waits for it.
    world.write_agent("#!/bin/sh\ntrap '' TERM HUP\nwhile [ -t 0 ]; do sleep 0.1; done\n");
    world.done("sessions start octo/hello#733 --wait");
    let mut stop = world.command("sessions stop octo/hello#733");
    let mut stop = stop.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let claimed = || world.done("sessions show octo/hello#733 --json").json()["detail"]["doing"].is_string();
    wait_for("the ending to be claimed", PATIENCE, claimed);
    let store = world.path("repo/.the-loop/local/state.redb");
    wait_for("the store to be given back", PATIENCE, || !the_loop::store::Store::is_owned(&store).unwrap());
    signal(stop.id(), Signal::STOP);
    // Others own the store meanwhile.
    world.done("sessions start octo/hello#734");
    assert_eq!(world.state(&reference(734)), "starting");
    world.start();
    world.wait_state(&reference(733), "closed");
    world.wait_state(&reference(734), "live");
    signal(stop.id(), Signal::CONT);
    wait_for("the command to end", PATIENCE, || stop.try_wait().unwrap().is_some());
    assert_eq!(world.state(&reference(733)), "closed");
}

#[test]
fn without_a_daemon_wait_does_the_work_here() {
    let world = World::asleep("");
    let item = reference(735);
    let ran = world.done("sessions start octo/hello#735 --wait --json").json();
    assert_eq!(ran["commanded"]["waiting"], 0);
    assert_eq!(world.state(&item), "live");
    assert_eq!(fs::read(world.path("repo/.the-loop/local/owner.json")).unwrap(), b"", "nobody owns the store");
    wait_for("its agent", PATIENCE, || !world.living_agents(&item).is_empty());
    world.done("sessions stop octo/hello#735");
    assert_eq!(world.state(&item), "closed");
    wait_for("its agent to end", PATIENCE, || world.living_agents(&item).is_empty());
}

#[test]
fn k30_the_control_socket_is_this_users_alone_and_takes_nothing_odd() {
    use std::io::{Read as _, Write as _};
    let world = World::new("");
    let socket = world.path("repo/.the-loop/local/daemon.sock");
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let ask = |bytes: &[u8]| {
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // It may be cut before it was written whole, which is an answer too.
        let _ = stream.write_all(bytes);
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    };
    let version = format!("host: x\r\nx-the-loop-program: {}\r\n", env!("CARGO_PKG_VERSION"));
    assert!(ask(format!("GET /hello HTTP/1.1\r\n{version}\r\n").as_bytes()).contains("\"phase\":\"running\""));
    assert!(ask(format!("GET /nothing HTTP/1.1\r\n{version}\r\n").as_bytes()).starts_with("HTTP/1.1 404"));
    let body = "{\"order\":{\"nothing\":1}}";
    let odd = format!("POST /request HTTP/1.1\r\n{version}content-length: {}\r\n\r\n{body}", body.len());
    assert!(ask(odd.as_bytes()).contains("trouble"));
    let huge = format!("POST /request HTTP/1.1\r\n{version}content-length: 99999999\r\n\r\n");
    assert!(ask(huge.as_bytes()).contains("trouble"));
    assert!(ask(b"\0\x01\x02nonsense\r\n\r\n").is_empty() || world.run("status").code == Some(0));
    assert_eq!(world.run("status").code, Some(0));
}

#[test]
fn k63_a_half_saved_configuration_keeps_the_policy_and_a_whole_one_replaces_it() {
    let world = World::new("");
    let config = world.path("repo/.the-loop/cli-config.yaml");
    let whole = fs::read_to_string(&config).unwrap();
    let configuration = || {
        let status = world.run("status --json").json();
        let parts = status["daemon"]["parts"].as_array().unwrap().clone();
        parts.into_iter().find(|part| part["name"] == "configuration").unwrap()["trouble"].clone()
    };
    // Cut short, empty, or wrong: what was in force stays, and status says so.
    for broken in ["", "version: [", "nonsense: 1\n", "version: \"0.4.0\"\nwebhooks:\n  ghWebhook: {por"] {
        fs::write(&config, broken).unwrap();
        let troubled = || !status_of(&world, "configuration").is_null();
        wait_for("the trouble to be told", PATIENCE, troubled);
        let status = world.run("status");
        if !broken.is_empty() {
            assert!(status.code == Some(1) && status.stdout.contains("trouble    configuration"), "{status:?}");
        }
        fs::write(&config, &whole).unwrap();
        wait_for("the trouble to pass", PATIENCE, || configuration().is_null());
    }
    world.arm(&[63]);
    fs::write(&config, whole.replace("[mona]", "[lisa]")).unwrap();
    world.wait_event("server.reloaded", &[]);
    let before = world.events("server.reloaded").len();
    fs::write(&config, whole.replace("[mona]", "[lisa]").replace("port: 0", "port: 1234")).unwrap();
    wait_for("the second reload", PATIENCE, || world.events("server.reloaded").len() > before);
    let said = world.comment(63, "nobody listens to mona now");
    world.send(&said);
    world.wait_event("routing.dropped", &[("delivery", &said.id)]);
    let status = world.run("status --json").json();
    assert_eq!(status["daemon"]["needsRestart"], serde_json::json!(["webhooks.ghWebhook.port"]));
}

/// What troubles a part of the daemon, asked with a configuration of its own.
fn status_of(world: &World, part: &str) -> Json {
    let socket = world.path("repo/.the-loop/local/daemon.sock");
    let call = the_loop::daemon::control::client::Call::Progress;
    match the_loop::daemon::control::client::call(&socket, None, &call, PATIENCE) {
        Ok(the_loop::daemon::control::wire::Answer::Progress(progress)) => {
            let found = progress.parts.iter().find(|known| known.name == part).and_then(|part| part.trouble.clone());
            found.map_or(Json::Null, Json::String)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn k69_status_fails_when_a_part_does_not_get_on_though_all_live() {
    let world = World::new("");
    assert_eq!(world.run("status").code, Some(0));
    // A file where the folder of portable records must be: nothing can be exported.
    let portable = world.path("repo/.the-loop/portable");
    let _ = fs::remove_dir_all(&portable);
    fs::write(&portable, "in the way").unwrap();
    world.done("sessions start octo/hello#69");
    wait_for("status to tell of it", PATIENCE, || world.run("status").code == Some(1));
    let told = world.run("status");
    assert!(told.stdout.contains("trouble    exporter"), "{told:?}");
    fs::remove_file(&portable).unwrap();
    wait_for("status to be well again", PATIENCE, || world.run("status").code == Some(0));
}

#[test]
fn k65_what_is_over_leaves_no_thread_behind() {
    let world = World::new("");
    let threads = || fs::read_dir(format!("/proc/{}/task", world.pid())).unwrap().count();
    world.arm(&[650]);
    world.run("status");
    let before = threads();
    for n in 0..40 {
        world.done("sessions list");
        world.run("status");
        world.say(650, &format!("once more {n}"));
    }
    world.wait_heard(&reference(650), "once more 39");
    // The listener's spare threads for blocking work go after ten seconds of rest.
    wait_for("spare threads to go", PATIENCE, || threads() <= before + 2);
}
