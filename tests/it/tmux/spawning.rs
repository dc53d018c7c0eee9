//! A harness starts once, where it should, with its arguments as they are; one that ends at once did not start.

use std::time::Duration;

use the_loop::adapters::tmux::Tmux;
use the_loop::domain::ports::{Runner, RunnerError};

use crate::support::tmux::{BRACKETED, PATIENCE, Server, bracketed, read};
use crate::support::wait_for;

fn failure(runner: &Tmux, request: &the_loop::domain::ports::SpawnRequest) -> String {
    match runner.spawn(request) {
        Err(RunnerError::SpawnFailed(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn k43_a_first_spawn_that_dies_at_once_is_a_failure_with_its_last_screen() {
    let server = Server::new();
    let mut config = server.config();
    config.spawn_watch = Duration::from_secs(2);
    let runner = Tmux::new(config).unwrap();
    // tmux 3.3a loses what a program wrote in its very last moment, once in a hundred times; this one lingers.
    let text = failure(&runner, &server.request(1, &["sh", "-c", "echo boom; sleep 0.3; exit 3"]));
    assert!(text.contains("boom") && text.contains("status 3"), "{text}");
    let text = failure(&runner, &server.request(2, &["sh", "-c", "echo late; sleep 1; kill -9 $$"]));
    assert!(text.contains("late") && text.contains("signal"), "{text}");
    failure(&runner, &server.request(3, &["no-such-program-anywhere"]));
    failure(&runner, &server.request(4, &["no-such-program-anywhere", "x"]));
    // The next try uses the pane again.
    let first = runner.panes().unwrap().into_iter().find(|pane| pane.reference.ends_with("#1")).unwrap();
    assert_eq!(first.dead, Some(Some(3)));
    let life = runner.spawn(&server.request(1, &["cat", "-u"])).unwrap();
    assert_eq!(life.pane, first.life.pane);
    assert_ne!(life.pane_pid, first.life.pane_pid);
    assert!(server.screen(&life).contains("boom"), "what it showed before stays readable");
    assert_eq!(server.raw(&["list-panes", "-a"]).1.lines().count(), 4);
}

#[test]
fn a_spawn_that_was_not_seen_to_end_is_found_again_and_never_doubled() {
    let server = Server::new();
    let request = server.request(1, &["cat", "-u"]);
    let life = server.runner().spawn(&request).unwrap();
    for _ in 0..3 {
        assert_eq!(server.runner().spawn(&request).unwrap(), life);
    }
    assert_eq!(server.raw(&["list-panes", "-a"]).1.lines().count(), 1);
}

#[test]
fn a_living_session_of_another_store_stops_a_spawn() {
    let server = Server::new();
    let runner = server.runner();
    runner.spawn(&server.request(1, &["cat", "-u"])).unwrap();
    let mut foreign = server.request(1, &["cat", "-u"]);
    foreign.store = "store2".into();
    foreign.key = the_loop::domain::session::PaneKey::new(
        &the_loop::domain::ids::StoreId("store2".into()),
        &foreign.reference,
        &foreign.reference,
    );
    match runner.spawn(&foreign) {
        Err(RunnerError::OtherStore { store, .. }) => assert_eq!(store, "store1"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn t01_arguments_directory_and_variables_reach_the_program_as_they_are() {
    let server = Server::new();
    let runner = server.runner();
    let odd = server.path("a#b %Y #{pid} ü;");
    std::fs::create_dir(&odd).unwrap();
    let out = server.path("out");
    let script = r#"{ printf '%s\n' "$@"; pwd; printf '%s\n' "$MINE"; } > "$0"; exec cat"#;
    let words = ["a;", ";", "a\\;", "-x", "", "#{pid}", "$(id)", "two words", "'\"", "%1"];
    let mut request = server.request(1, &["sh", "-c", script, out.to_str().unwrap()]);
    request.argv.extend(words.map(str::to_owned));
    request.cwd = odd.clone();
    request.env = vec![("MINE".into(), "x=y;".into())];
    let check = || {
        let expected = format!("{}\n{}\nx=y;\n", words.join("\n"), odd.display());
        wait_for("the program's words", PATIENCE, || read(&out).len() >= expected.len());
        assert_eq!(String::from_utf8(read(&out)).unwrap(), expected);
        std::fs::remove_file(&out).unwrap();
    };
    let life = runner.spawn(&request).unwrap();
    check();
    // And again when the program is started anew in its pane.
    runner.end(&request.key, &life, 2000, true).unwrap();
    let again = runner.spawn(&request).unwrap();
    assert_eq!(again.pane, life.pane);
    check();
}

#[test]
fn a_program_alone_is_run_and_not_given_to_a_shell() {
    let server = Server::new();
    let program = server.path("my agent; $(touch shell-ran)");
    let out = server.path("ran");
    std::fs::write(&program, format!("#!/bin/sh\necho $# > {}\nexec cat\n", out.display())).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    server.runner().spawn(&server.request(1, &[program.to_str().unwrap()])).unwrap();
    wait_for("the program to run", PATIENCE, || read(&out) == b"0\n");
    assert!(!server.path("shell-ran").exists());
}

#[test]
fn t12_an_ended_harness_is_dead_with_its_status_and_its_next_life_is_another() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, "stty -echo; echo READY; read line; exit 5");
    server.raw(&["send-keys", "-t", &agent.life.pane, "Enter"]);
    wait_for("the end", PATIENCE, || runner.panes().unwrap()[0].dead == Some(Some(5)));
    let refused = runner.deliver(&agent.delivery("b1", "x"));
    assert_eq!(refused, the_loop::domain::ports::Delivered::Refused(the_loop::domain::ports::Refusal::Dead));
    let next = server.start(&runner, 1, BRACKETED);
    assert_eq!(next.life.pane, agent.life.pane);
    let refused = runner.deliver(&agent.delivery("b2", "x"));
    assert_eq!(refused, the_loop::domain::ports::Delivered::Refused(the_loop::domain::ports::Refusal::OtherLife));
    next.deliver(&runner, "b3", "x");
    next.wait_received(&bracketed("x"));
}
