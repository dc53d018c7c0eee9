//! Only the pane that is meant is spoken to, on the server that is meant.

use the_loop::adapters::tmux::Tmux;
use the_loop::domain::ports::{Delivered, Refusal, Runner};

use crate::support::tmux::{BRACKETED, PATIENCE, Server, bracketed, read};
use crate::support::wait_for;

#[test]
fn t04_names_that_tmux_makes_equal_are_two_sessions_and_found_again() {
    let server = Server::new();
    let runner = server.runner();
    let argv = ["cat"];
    let dotted = server.request_for("github:octo/hello.js#7", "loop-github-octo-hello_js-7", &argv);
    let plain = server.request_for("github:octo/hello_js#7", "loop-github-octo-hello_js-7", &argv);
    let lives = [runner.spawn(&dotted).unwrap(), runner.spawn(&plain).unwrap()];
    assert_eq!(lives[0].session, dotted.session_name);
    assert_eq!(lives[1].session, plain.fallback_name);
    let restarted = server.runner();
    assert_eq!([restarted.spawn(&dotted).unwrap(), restarted.spawn(&plain).unwrap()], lives);
    let marks: Vec<_> =
        restarted.panes().unwrap().into_iter().map(|pane| (pane.key, pane.reference, pane.store)).collect();
    assert!(marks.contains(&(dotted.key.as_str().into(), "github:octo/hello.js#7".into(), "store1".into())));
    assert!(marks.contains(&(plain.key.as_str().into(), "github:octo/hello_js#7".into(), "store1".into())));
}

#[test]
fn t05_a_session_whose_name_begins_alike_is_not_the_one_meant() {
    let server = Server::new();
    let runner = server.runner();
    let one = server.start(&runner, 1, BRACKETED);
    let ten = server.start(&runner, 10, BRACKETED);
    server.raw(&["kill-pane", "-t", &one.life.pane]);
    assert_eq!(runner.deliver(&one.delivery("b1", "x")), Delivered::Refused(Refusal::OtherLife));
    runner.end(&one.key, &one.life, 100, false).unwrap();
    let mut nowhere = ten.delivery("b2", "x");
    nowhere.life.pane = String::new();
    assert!(matches!(runner.deliver(&nowhere), Delivered::NotRun(_)));
    ten.deliver(&runner, "b3", "for ten");
    ten.wait_received(&bracketed("for ten"));
}

#[test]
fn k05_events_and_the_end_of_item_1_never_reach_item_15() {
    let server = Server::new();
    let runner = server.runner();
    let fifteen = server.start(&runner, 15, BRACKETED);
    let one = server.start(&runner, 1, BRACKETED);
    one.deliver(&runner, "b1", "for one");
    one.wait_received(&bracketed("for one"));
    runner.end(&one.key, &one.life, 2000, false).unwrap();
    // A life of item 15 under the key of item 1 is nobody's.
    let mut mixed = one.delivery("b2", "x");
    mixed.life = fifteen.life.clone();
    assert_eq!(runner.deliver(&mixed), Delivered::Refused(Refusal::OtherLife));
    runner.end(&one.key, &fifteen.life, 100, false).unwrap();
    fifteen.deliver(&runner, "b3", "for fifteen");
    fifteen.wait_received(&bracketed("for fifteen"));
    one.wait_received(&bracketed("for one"));
}

#[test]
fn another_server_or_process_with_the_same_numbers_is_another_life() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, BRACKETED);
    let changes: [fn(&mut the_loop::domain::session::Life); 3] =
        [|life| life.server_pid += 1, |life| life.server_started -= 1, |life| life.pane_pid += 1];
    for change in changes {
        let mut delivery = agent.delivery("b1", "x");
        change(&mut delivery.life);
        assert_eq!(runner.deliver(&delivery), Delivered::Refused(Refusal::OtherLife));
        runner.end(&agent.key, &delivery.life, 100, false).unwrap();
    }
    agent.deliver(&runner, "b2", "still here");
    agent.wait_received(&bracketed("still here"));
}

#[test]
fn t14_a_daemon_started_inside_another_tmux_speaks_to_its_own() {
    let (ours, other) = (Server::new(), Server::new());
    let theirs = other.start(&other.runner(), 1, BRACKETED);
    for tmux in [format!("{},1,0", other.socket_file().display()), "/nonexistent/socket,1,0".to_owned()] {
        let mut config = ours.config();
        config.environment.retain(|(name, _)| name != "TMUX" && name != "TMUX_PANE");
        config.environment.extend([("TMUX".into(), tmux.into()), ("TMUX_PANE".into(), "%0".into())]);
        config.pass = vec!["TMUX".into()];
        let runner = Tmux::new(config.clone()).unwrap();
        let agent = ours.start(&runner, 1, BRACKETED);
        agent.deliver(&runner, "b1", "ours");
        agent.wait_received(&bracketed("ours"));
        runner.end(&agent.key, &agent.life, 2000, false).unwrap();
        // The user's own server, named by nothing, is the default one and not the one around the daemon.
        config.socket = String::new();
        assert_eq!(Tmux::new(config).unwrap().panes(), Ok(vec![]));
    }
    assert_eq!(theirs.received(), b"");
}

#[test]
fn t16_after_a_split_the_text_still_goes_to_the_agent() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, BRACKETED);
    let stranger = server.path("stranger");
    let script = format!("echo HERE; exec cat > {}", stranger.display());
    assert!(server.raw(&["split-window", "-t", &agent.life.pane, &script]).0);
    agent.deliver(&runner, "b1", "for the agent");
    agent.wait_received(&bracketed("for the agent"));
    assert_eq!(read(&stranger), b"");
    // Ending the agent leaves the other pane alone.
    runner.end(&agent.key, &agent.life, 2000, false).unwrap();
    assert_eq!(server.raw(&["list-panes", "-a", "-F", "#{pane_dead}"]).1, "0");
}

#[test]
fn k28_sessions_see_no_secret_of_the_daemon() {
    let server = Server::new();
    let secret = format!("s3cret{}", std::process::id());
    let mut config = server.config();
    for name in ["THE_LOOP_WEBHOOK_SECRET", "GITHUB_TOKEN", "GH_TOKEN", "CHOSEN"] {
        config.environment.push((name.into(), format!("{secret}-{name}").into()));
    }
    config.pass = vec!["CHOSEN".into()];
    let runner = Tmux::new(config).unwrap();
    let out = server.path("env");
    let mut request =
        server.request(1, &["sh", "-c", "env > \"$0\"; echo done >> \"$0\"; exec cat", out.to_str().unwrap()]);
    request.env = vec![("THE_LOOP_WORK_ITEM".into(), "github:octo/hello#1;".into())];
    runner.spawn(&request).unwrap();
    wait_for("the environment", PATIENCE, || read(&out).ends_with(b"done\n"));
    let text = String::from_utf8(read(&out)).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(&secret)).collect();
    assert_eq!(lines, [format!("CHOSEN={secret}-CHOSEN")]);
    assert!(text.contains("THE_LOOP_WORK_ITEM=github:octo/hello#1;\n"));
    // Variables of the test's own run stand for everything else that a daemon may carry.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_none() || !text.contains("CARGO_MANIFEST_DIR"));
    // The server keeps no value for later sessions, and no command line ever showed one.
    assert!(!server.raw(&["show-environment", "-g"]).1.contains(&secret));
    let lines = the_loop::adapters::processes::own_command_lines().unwrap();
    assert!(!lines.iter().any(|(_, words)| words.iter().any(|word| word.contains(&secret))));
}

#[test]
fn k71_the_server_is_no_part_of_the_process_that_started_it() {
    let server = Server::new();
    let agent = server.start(&server.runner(), 1, BRACKETED);
    let (own, theirs) = (group_and_session("self"), group_and_session(&agent.life.server_pid.to_string()));
    assert_ne!(own, theirs);
    // The server leads a session of its own, so no signal to ours reaches it.
    assert_eq!(theirs, [agent.life.server_pid; 2]);
}

/// Process group and session as `/proc` tells them; both are 0 where the leader lives outside this namespace.
fn group_and_session(pid: &str) -> [u32; 2] {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let numbers: Vec<u32> = after_name.split_whitespace().skip(2).take(2).map(|word| word.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}
