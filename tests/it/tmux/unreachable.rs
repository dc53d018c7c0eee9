//! What does not answer is not dead.

use std::time::Duration;

use rustix::process::Signal;
use the_loop::adapters::tmux::{KnownServer, Tmux};
use the_loop::domain::ports::{Delivered, Refusal, Remembered, Runner, RunnerError};

use crate::support::tmux::{BRACKETED, PATIENCE, Server, bracketed, signal};
use crate::support::wait_for;

fn is_unreachable<T: std::fmt::Debug>(answer: Result<T, RunnerError>) -> bool {
    matches!(answer, Err(RunnerError::Unreachable(_)))
}

#[test]
fn t13_a_deleted_socket_is_unreachable_and_delivered_to_once_it_is_back() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, BRACKETED);
    std::fs::remove_file(server.socket_file()).unwrap();
    assert!(matches!(runner.deliver(&agent.delivery("b1", "hello")), Delivered::NotRun(_)));
    assert!(is_unreachable(runner.panes()));
    assert!(is_unreachable(runner.end(&agent.key, &agent.life, 100, false)));
    let asked = agent.delivery("b1", "");
    assert!(is_unreachable(runner.recall(&asked.key, &asked.life, &asked.batch, &asked.style)));
    signal(agent.life.server_pid, Signal::USR1);
    wait_for("the socket to be back", PATIENCE, || runner.panes().is_ok());
    agent.deliver(&runner, "b1", "hello");
    agent.wait_received(&bracketed("hello"));
    assert_eq!(server.pids(), [agent.life.server_pid]);
}

#[test]
fn k39_no_second_server_starts_beside_a_living_one() {
    let server = Server::new();
    let first = server.runner();
    let agent = server.start(&first, 1, BRACKETED);
    std::fs::remove_file(server.socket_file()).unwrap();
    let mut config = server.config();
    config.known_servers = vec![KnownServer {
        socket: server.socket.clone(),
        pid: agent.life.server_pid,
        started: agent.life.server_started,
    }];
    let told = Tmux::new(config).unwrap();
    // One that saw it, one that was told by the records, one that knows nothing.
    for runner in [first, told, server.runner()] {
        for number in [1, 2] {
            assert!(is_unreachable(runner.spawn(&server.request(number, &["cat", "-u"]))));
        }
        assert!(is_unreachable(runner.panes()));
    }
    assert_eq!(server.pids(), [agent.life.server_pid]);
    // A record of a server that is gone, its number in use by something else, stops nothing.
    let fresh = Server::new();
    let mut config = fresh.config();
    let known = |pid, started| KnownServer { socket: fresh.socket.clone(), pid, started };
    config.known_servers = vec![known(std::process::id(), 1), known(agent.life.server_pid, 1)];
    Tmux::new(config).unwrap().spawn(&fresh.request(1, &["cat", "-u"])).unwrap();
}

#[test]
fn k39_a_server_started_under_another_name_is_found_by_the_socket_it_listens_on() {
    let server = Server::new();
    // A path names the same socket, and no word of this command line is the socket's name.
    std::fs::create_dir(server.socket_file().parent().unwrap()).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(server.socket_file().parent().unwrap(), mode).unwrap();
    let mut command = std::process::Command::new("tmux");
    command.args(["-f", "/dev/null", "-S"]).arg(server.socket_file()).args(["new-session", "-d", "cat"]);
    assert!(command.env_remove("TMUX").status().unwrap().success());
    let pid: u32 = server.raw(&["display", "-p", "#{pid}"]).1.parse().unwrap();
    std::fs::remove_file(server.socket_file()).unwrap();
    let answer = server.runner().spawn(&server.request(1, &["cat", "-u"]));
    signal(pid, Signal::TERM);
    assert!(is_unreachable(answer));
}

#[test]
fn t18_no_server_at_all_is_sure() {
    let server = Server::new();
    let runner = server.runner();
    assert_eq!(runner.panes(), Ok(vec![]));
    let agent = server.start(&runner, 1, BRACKETED);
    server.raw(&["kill-server"]);
    wait_for("the server to be gone", PATIENCE, || server.pids().is_empty());
    assert_eq!(runner.panes(), Ok(vec![]));
    assert_eq!(runner.deliver(&agent.delivery("b1", "x")), Delivered::Refused(Refusal::OtherLife));
    assert_eq!(agent.recall(&runner, "b1"), Remembered::OtherLife);
    runner.end(&agent.key, &agent.life, 100, false).unwrap();
    // A stale socket file is no server either.
    std::fs::remove_file(server.socket_file()).unwrap_or_default();
    drop(std::os::unix::net::UnixListener::bind(server.socket_file()).unwrap());
    assert!(server.socket_file().exists());
    assert_eq!(runner.panes(), Ok(vec![]));
    assert!(server.start(&runner, 1, BRACKETED).life.server_pid != agent.life.server_pid);
}

#[test]
fn a_missing_tmux_is_unreachable_and_nothing_was_pasted() {
    let server = Server::new();
    let agent = server.start(&server.runner(), 1, BRACKETED);
    let mut config = server.config();
    config.program = "/nonexistent/tmux".into();
    let runner = Tmux::new(config).unwrap();
    assert!(is_unreachable(runner.panes()));
    assert!(matches!(runner.deliver(&agent.delivery("b1", "x")), Delivered::NotRun(_)));
}

#[test]
fn k46_a_server_that_does_not_answer_is_unknown_and_never_dead() {
    let server = Server::new();
    let mut config = server.config();
    let agent = server.start(&server.runner(), 1, BRACKETED);
    config.time_limit = Duration::from_millis(200);
    let runner = Tmux::new(config).unwrap();
    signal(agent.life.server_pid, Signal::STOP);
    assert!(is_unreachable(runner.panes()));
    assert!(is_unreachable(runner.spawn(&server.request(2, &["cat", "-u"]))));
    assert!(is_unreachable(runner.end(&agent.key, &agent.life, 100, false)));
    assert!(matches!(runner.deliver(&agent.delivery("b1", "hello")), Delivered::Unknown(_)));
    // The client still carries it, so nobody can say yet how it ends.
    let asked = agent.delivery("b1", "");
    assert!(is_unreachable(runner.recall(&asked.key, &asked.life, &asked.batch, &asked.style)));
    signal(agent.life.server_pid, Signal::CONT);
    assert_eq!(agent.recall(&server.runner(), "b1"), Remembered::Submitted);
    agent.wait_received(&bracketed("hello"));
    assert_eq!(server.pids(), [agent.life.server_pid]);
}
