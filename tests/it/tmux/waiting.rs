//! A pane that waits for a person is left alone; modes that would swallow keys are left first.

use the_loop::domain::ports::{Delivered, Refusal, Runner};

use crate::support::tmux::{BRACKETED, PATIENCE, Server, bracketed};
use crate::support::wait_for;

const DIALOG: &str = "do you want to proceed|❯ 1[.] yes";

/// Shows a dialog as soon as the first byte arrives, clears it when told to, and keeps every byte.
const ASKS_ON_INPUT: &str = r#"stty raw -echo; printf READY; dd bs=1 count=1 >"$0" 2>/dev/null
printf '\r\nDo you want to proceed?\r\n ❯ 1. Yes\r\n'
while [ ! -e "$0.answered" ]; do sleep 0.02; done; printf '\033[H\033[2JGONE'; exec cat >> "$0""#;

#[test]
fn k19_a_dialog_that_comes_between_paste_and_submit_is_never_answered() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, ASKS_ON_INPUT);
    let mut delivery = agent.delivery("b1", "hello");
    delivery.style.submit_delay_ms = 500;
    delivery.style.dialogs = vec!["never shown".into(), DIALOG.into()];
    assert_eq!(runner.deliver(&delivery), Delivered::PastedOnly);
    assert!(matches!(runner.submit(&delivery), Delivered::Refused(Refusal::Busy(_))));
    let mut next = delivery.clone();
    next.batch = the_loop::domain::ids::BatchId::from_hex("b2");
    match runner.deliver(&next) {
        Delivered::Refused(Refusal::Busy(reason)) => assert!(reason.contains(DIALOG), "{reason}"),
        other => panic!("{other:?}"),
    }
    // Somebody answers and the dialog goes away: now the submit alone is right, once.
    std::fs::write(server.path("out-1.answered"), "").unwrap();
    agent.wait_received(b"hello");
    let shown = || server.raw(&["capture-pane", "-p", "-t", &agent.life.pane]).1;
    wait_for("the dialog to be gone", PATIENCE, || shown().contains("GONE"));
    assert_eq!(runner.submit(&delivery), Delivered::Submitted);
    assert_eq!(runner.submit(&delivery), Delivered::Submitted);
    agent.wait_received(b"hello\r");
}

#[test]
fn k19_a_dialog_on_the_screen_takes_nothing_whatever_its_pattern_holds() {
    let server = Server::new();
    let runner = server.runner();
    let script = r#"stty raw -echo; printf 'READY 50%% sure? [y/N] a:b "x" $ \\ {\r\n'; exec cat > "$0""#;
    let agent = server.start(&runner, 1, script);
    for pattern in ["50% SURE", "\\[y/n\\]", "a:b", "\"x\"", " [$] ", "nothing|ready"] {
        let mut delivery = agent.delivery("b1", "x");
        delivery.style.dialogs = vec!["not there".into(), pattern.into()];
        match runner.deliver(&delivery) {
            Delivered::Refused(Refusal::Busy(reason)) => assert!(reason.contains(pattern), "{reason}"),
            other => panic!("{pattern}: {other:?}"),
        }
    }
    let mut delivery = agent.delivery("b2", "x");
    delivery.style.dialogs = vec!["don't".into()];
    assert!(matches!(runner.deliver(&delivery), Delivered::NotRun(_)));
    delivery.style.dialogs = vec!["51% sure".into(), "a;b".into()];
    assert_eq!(runner.deliver(&delivery), Delivered::Submitted);
    agent.wait_received(b"x\r");
}

#[test]
fn a_pane_whose_input_is_off_is_waited_for() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, BRACKETED);
    server.raw(&["select-pane", "-d", "-t", &agent.life.pane]);
    assert!(matches!(runner.deliver(&agent.delivery("b1", "x")), Delivered::Refused(Refusal::Busy(_))));
    server.raw(&["select-pane", "-e", "-t", &agent.life.pane]);
    agent.deliver(&runner, "b1", "x");
    agent.wait_received(&bracketed("x"));
}

#[test]
fn copy_mode_and_tree_mode_swallow_nothing() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, BRACKETED);
    let mut expected = Vec::new();
    for (at, mode) in ["copy-mode", "choose-tree", "clock-mode"].into_iter().enumerate() {
        assert!(server.raw(&[mode, "-t", &agent.life.pane]).0);
        assert_eq!(server.raw(&["display", "-p", "-t", &agent.life.pane, "#{pane_in_mode}"]).1, "1", "{mode}");
        agent.deliver(&runner, &format!("b{at}"), mode);
        expected.extend(bracketed(mode));
        agent.wait_received(&expected);
    }
}

#[test]
fn a_screen_is_settled_when_it_has_shown_nothing_new_for_half_a_second() {
    let server = Server::new();
    let runner = server.runner();
    let script = "printf READY; for i in 1 2 3 4; do sleep 0.2; echo step $i; done; exec cat";
    let agent = server.start(&runner, 1, script);
    runner.settle_screen(&agent.life, 20_000);
    assert!(server.screen(&agent.life).contains("step 4"));
    // A pane that is gone is nothing to wait for.
    server.raw(&["kill-server"]);
    runner.settle_screen(&agent.life, 600_000);
}
