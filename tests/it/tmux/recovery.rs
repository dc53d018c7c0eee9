//! After a crash the pane says how far a delivery came, and nothing is done twice.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use the_loop::adapters::processes;
use the_loop::domain::ports::{Delivered, Remembered, Runner};

use crate::support::tmux::{Agent, BRACKETED, PATIENCE, Server, bracketed, signal};
use crate::support::wait_for;

/// The tmux clients that carry a delivery.
fn clients(batch: &str) -> Vec<u32> {
    let name = format!("tl-{batch}");
    let lines = processes::own_command_lines().unwrap();
    lines.into_iter().filter(|(_, words)| words.contains(&name)).map(|(pid, _)| pid).collect()
}

/// A name no other test uses: clients are looked for among all processes.
fn batch(name: &str) -> String {
    format!("{name}p{}", std::process::id())
}

fn mark(server: &Server, agent: &Agent, name: &str) -> String {
    server.raw(&["display", "-p", "-t", &agent.life.pane, &format!("#{{{name}}}")]).1
}

#[test]
fn k11_a_paste_whose_submit_is_missing_is_submitted_alone() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, BRACKETED);
    let name = batch("k11");
    assert_eq!(agent.recall(&runner, &name), Remembered::Nothing);
    let mut delivery = agent.delivery(&name, "hello");
    delivery.style.submit_delay_ms = 60_000;
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| runner.deliver(&delivery));
        wait_for("the paste", PATIENCE, || mark(&server, &agent, "@the-loop-pasted") == name);
        // The client dies in the wait between paste and submit.
        clients(&name).into_iter().for_each(|pid| signal(pid, Signal::KILL));
        assert!(matches!(answer.join().unwrap(), Delivered::Unknown(_)));
    });
    assert_eq!(agent.recall(&runner, &name), Remembered::PastedOnly);
    assert_eq!(runner.submit(&delivery), Delivered::Submitted);
    assert_eq!(agent.recall(&runner, &name), Remembered::Submitted);
    // Asked again, it knows, and presses nothing.
    assert_eq!(runner.submit(&delivery), Delivered::Submitted);
    agent.wait_received(&bracketed("hello"));
    agent.deliver(&runner, "b2", "next");
    agent.wait_received(&[bracketed("hello"), bracketed("next")].concat());
    // The marks speak of the last delivery only, and there is nothing of the first to submit.
    assert!(matches!(runner.submit(&delivery), Delivered::NotRun(_)));
}

#[test]
fn k11_recall_waits_for_the_client_that_outlives_its_daemon() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, BRACKETED);
    let name = batch("wait");
    let mut delivery = agent.delivery(&name, "hello");
    delivery.style.submit_delay_ms = 700;
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(runner.deliver(&delivery), Delivered::Submitted));
        wait_for("the paste", PATIENCE, || mark(&server, &agent, "@the-loop-pasted") == name);
        assert_eq!(agent.recall(&runner, &name), Remembered::Submitted);
    });
    agent.wait_received(&bracketed("hello"));
}

#[test]
fn k35_half_a_message_is_never_marked_delivered() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, BRACKETED);
    let text = "0123456789abcde\n".repeat(200_000) + "end";
    let mut expected = Vec::new();
    for round in 0..8_u32 {
        let name = batch(&format!("k35r{round}"));
        let delivery = agent.delivery(&name, &text);
        let answer = std::thread::scope(|scope| {
            let answer = scope.spawn(|| runner.deliver(&delivery));
            let mut found = Vec::new();
            wait_for("the client", PATIENCE, || {
                found = clients(&name);
                !found.is_empty() || answer.is_finished()
            });
            // At another moment of the handing over in every round.
            let until = Instant::now() + Duration::from_micros(u64::from(round) * 1500);
            while Instant::now() < until {
                std::hint::spin_loop();
            }
            found.into_iter().for_each(|pid| signal(pid, Signal::KILL));
            answer.join().unwrap()
        });
        let remembered = agent.recall(&runner, &name);
        match remembered {
            Remembered::Submitted => expected.extend(bracketed(&text)),
            Remembered::Nothing => assert_ne!(answer, Delivered::Submitted),
            other => panic!("{other:?} after {answer:?}"),
        }
        agent.wait_received(&expected);
    }
    agent.deliver(&runner, &batch("k35last"), "after");
    expected.extend(bracketed("after"));
    agent.wait_received(&expected);
}
