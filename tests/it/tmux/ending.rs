//! Ending takes the harness and its group, and nothing else.

use the_loop::domain::ports::{Delivered, Refusal, Runner};

use crate::support::tmux::{BRACKETED, PATIENCE, Server, bracketed, signal};
use crate::support::wait_for;

#[test]
fn k18_a_dead_pane_takes_no_text_and_the_server_lives_on() {
    let server = Server::new();
    let runner = server.runner();
    let living = server.start(&runner, 2, BRACKETED);
    let dead = server.start(&runner, 1, BRACKETED);
    runner.end(&dead.key, &dead.life, 2000, true).unwrap();
    wait_for("the pane to be dead", PATIENCE, || {
        runner.panes().unwrap().iter().any(|pane| pane.dead.is_some() && pane.life == dead.life)
    });
    for _ in 0..3 {
        assert_eq!(runner.deliver(&dead.delivery("b1", "x")), Delivered::Refused(Refusal::Dead));
        assert_eq!(runner.submit(&dead.delivery("b1", "x")), Delivered::Refused(Refusal::Dead));
    }
    // One that dies of the very text, before its submit.
    let dying = server.start(&runner, 3, "stty raw -echo; printf READY; dd bs=1 count=1 2>/dev/null; exit 1");
    let mut delivery = dying.delivery("b2", "hello");
    delivery.style.submit_delay_ms = 500;
    assert_eq!(runner.deliver(&delivery), Delivered::PastedOnly);
    living.deliver(&runner, "b3", "alive");
    living.wait_received(&bracketed("alive"));
    assert_eq!(server.pids(), [living.life.server_pid]);
}

#[test]
fn a_harness_that_ignores_the_request_is_killed_and_its_pane_stays_readable() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, "trap '' TERM HUP; echo READY; while [ -t 0 ]; do sleep 0.05; done");
    runner.end(&agent.key, &agent.life, 200, true).unwrap();
    wait_for("the pane to be dead", PATIENCE, || runner.panes().unwrap()[0].dead.is_some());
    assert!(server.screen(&agent.life).contains("READY"));
    // Ending what has ended is done; then the pane may go too, and its going is done as well.
    runner.end(&agent.key, &agent.life, 200, true).unwrap();
    runner.end(&agent.key, &agent.life, 200, false).unwrap();
    wait_for("the pane to be gone", PATIENCE, || runner.panes().is_ok_and(|panes| panes.is_empty()));
    runner.end(&agent.key, &agent.life, 200, false).unwrap();
}

#[test]
fn a_harness_gets_its_grace_and_a_stopped_one_hears_the_request() {
    let server = Server::new();
    let runner = server.runner();
    let script = r#"trap 'echo saved > "$0"; exit 0' TERM; echo READY; while [ -t 0 ]; do sleep 0.05; done"#;
    let agent = server.start(&runner, 1, script);
    signal(agent.life.pane_pid, rustix::process::Signal::STOP);
    runner.end(&agent.key, &agent.life, 10_000, true).unwrap();
    agent.wait_received(b"saved\n");
}
