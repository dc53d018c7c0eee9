//! What a person has half typed is waited for, and a shell that is left in a pane is no agent.

use the_loop::domain::ids::BatchId;
use the_loop::domain::ports::{Delivered, Refusal, Runner};

use crate::support::tmux::{Agent, PATIENCE, Server};
use crate::support::wait_for;

/// Shows a line for input, echoes what is typed there, and keeps whole lines.
const ECHOES: &str = r#"printf 'READY\n❯ '; exec cat > "$0""#;

fn delivery(agent: &Agent, batch: &str, text: &str) -> the_loop::domain::ports::DeliverRequest {
    let mut delivery = agent.delivery(batch, text);
    delivery.style.input_marks = vec!["│ > ".into(), "❯ ".into()];
    delivery
}

fn busy(answer: Delivered) -> String {
    match answer {
        Delivered::Refused(Refusal::Busy(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_line_that_a_person_has_half_typed_is_waited_for_and_stays_theirs() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, ECHOES);
    let press = |key: &str| assert!(server.raw(&["send-keys", "-t", &agent.life.pane, key]).0);
    let cursor = |at: &'static str| {
        let found = || server.raw(&["display", "-p", "-t", &agent.life.pane, "#{cursor_x}"]).1 == at;
        wait_for("the cursor to move", PATIENCE, found);
    };
    press("half; #{pid}, 'a' }");
    cursor("21");
    for _ in 0..3 {
        assert!(busy(runner.deliver(&delivery(&agent, "b1", "hello"))).contains("begun a line"));
    }
    assert_eq!(server.raw(&["display", "-p", "-t", &agent.life.pane, "#{pane_in_mode}"]).1, "0");
    press("C-u");
    cursor("2");
    assert_eq!(runner.deliver(&delivery(&agent, "b1", "hello")), Delivered::Submitted);
    agent.wait_received(b"hello\n");
    // Where the cursor stands behind none of the marks, nobody can tell.
    press("elsewhere");
    cursor("9");
    assert_eq!(runner.deliver(&delivery(&agent, "b2", " and on")), Delivered::Submitted);
    agent.wait_received(b"hello\nelsewhere and on\n");
}

#[test]
fn a_half_typed_line_does_not_keep_what_was_pasted_from_being_submitted() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, ECHOES);
    let mut slow = delivery(&agent, "b1", "hello");
    slow.style.submit_delay_ms = 300;
    assert_eq!(runner.deliver(&slow), Delivered::Submitted, "its own text stands in the line by then");
    agent.wait_received(b"hello\n");
}

#[test]
fn nothing_is_typed_at_a_shell_that_a_harness_left_behind() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, "echo READY; read line; exec sh");
    assert!(!runner.panes().unwrap()[0].only_shell, "a script may be the harness");
    server.raw(&["send-keys", "-t", &agent.life.pane, "Enter"]);
    wait_for("the shell", PATIENCE, || runner.panes().unwrap()[0].only_shell);
    let text = format!("touch {}", server.path("ran").display());
    assert_eq!(runner.deliver(&agent.delivery("b1", &text)), Delivered::Refused(Refusal::Dead));
    // A new harness starts beside it; the shell is a person's now, and no command of ours reaches it any more.
    let next = server.start(&runner, 1, "stty raw -echo; printf READY; exec cat > \"$0\"");
    assert_ne!(next.life.pane, agent.life.pane);
    let panes = runner.panes().unwrap();
    assert_eq!((panes.len(), &panes[0].life), (1, &next.life));
    let shell = server.raw(&["display", "-p", "-t", &agent.life.pane, "#{pane_dead}#{@the-loop-key}"]);
    assert_eq!(shell, (true, "0".into()));
    next.deliver(&runner, "b2", "x");
    next.wait_received(b"x\r");
    assert!(!server.path("ran").exists());
}

#[test]
fn a_harness_that_leaves_a_shell_before_the_submit_has_no_command_run() {
    let server = Server::new();
    let runner = server.runner();
    // Its program has a name of its own, so that only tmux can see the shell come.
    let inner = r#"stty raw -echo; printf READY; dd bs=1 count=1 2>/dev/null >/dev/null; stty sane; exec sh"#;
    let out = server.path("out-1");
    let script = format!("exec -a agent sh -c '{inner}' \"$0\"");
    let request = server.request(1, &["bash", "-c", &script, out.to_str().unwrap()]);
    let life = runner.spawn(&request).unwrap();
    wait_for("the harness to be ready", PATIENCE, || server.screen(&life).contains("READY"));
    let agent = Agent { key: request.key, life, out };
    let mut delivery = agent.delivery("b1", &format!("touch {}", server.path("ran").display()));
    delivery.style.submit_delay_ms = 1500;
    assert_eq!(runner.deliver(&delivery), Delivered::PastedOnly);
    assert_eq!(runner.submit(&delivery), Delivered::Refused(Refusal::Dead));
    delivery.batch = BatchId::from_hex("b2");
    assert_eq!(runner.deliver(&delivery), Delivered::Refused(Refusal::Dead));
    assert!(!server.path("ran").exists());
}

#[test]
fn a_shell_that_was_asked_for_is_spoken_to() {
    let server = Server::new();
    let runner = server.runner();
    let request = server.request(1, &["sh"]);
    let life = runner.spawn(&request).unwrap();
    assert!(!runner.panes().unwrap()[0].only_shell);
    let ran = server.path("ran");
    let agent = Agent { key: request.key, life, out: ran.clone() };
    agent.deliver(&runner, "b1", &format!("touch {}", ran.display()));
    wait_for("the command to be run", PATIENCE, || ran.exists());
}
