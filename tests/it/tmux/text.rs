//! Text arrives byte for byte, whatever it looks like, in its own pane.

use the_loop::domain::ports::{Delivered, Runner};

use crate::support::tmux::{BRACKETED, PLAIN, Server, bracketed};

/// Delivers every text to one harness and compares all that it got.
fn arrive_as_they_are(texts: &[String]) {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, BRACKETED);
    let mut expected = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        agent.deliver(&runner, &format!("b{at}"), text);
        expected.extend(bracketed(text));
        agent.wait_received(&expected);
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn t01_trailing_semicolons_and_the_rest_of_the_table_arrive() {
    let table = include_str!("tmux-send-keys.tsv");
    let rows: Vec<(String, String)> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let text = fields[0].split('\'').nth(1).unwrap();
            (text.to_owned(), fields[3].split(' ').next().unwrap().to_owned())
        })
        .collect();
    assert_eq!(rows.len(), 11);
    for (text, hex) in &rows {
        let expected: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(&expected, hex, "the table's last column is the text itself");
    }
    let mut texts: Vec<String> = rows.into_iter().map(|(text, _)| text).collect();
    texts.extend(owned(&["a\\;;", "\\", ";;;", " ; ", "x;\n;", "{ ; }"]));
    arrive_as_they_are(&texts);
}

#[test]
fn t02_text_that_begins_with_a_dash_arrives() {
    arrive_as_they_are(&owned(&["- [ ] done", "--help", "-----BEGIN PUBLIC KEY-----", "-t other:", "-", "--"]));
}

#[test]
fn t03_names_of_keys_arrive_as_letters() {
    arrive_as_they_are(&owned(&["Enter", "C-c", "Escape", "F1", "Space", "M-x", "q", "0x1b"]));
}

#[test]
fn text_that_tmux_or_a_shell_would_expand_arrives() {
    arrive_as_they_are(&owned(&[
        "#{pid} #(touch x) #S",
        "$(id) `id` $HOME",
        "'\"\\'",
        "%1 %Y %%",
        "❯ 1. Ja — ü 🦀",
        "\ta\t",
    ]));
}

#[test]
fn t08_many_lines_are_one_paste_and_one_submit() {
    let server = Server::new();
    let runner = server.runner();
    let on = server.start(&runner, 1, BRACKETED);
    let off = server.start(&runner, 2, PLAIN);
    for agent in [&on, &off] {
        agent.deliver(&runner, "b1", "l1\nl2;");
    }
    on.wait_received(b"\x1b[200~l1\nl2;\x1b[201~\r");
    // Without brackets a harness is given its lines one by one by whoever asks; nothing is added here.
    off.wait_received(b"l1\nl2;\r");
}

#[test]
fn t10_long_text_arrives_whole() {
    for length in [16_000, 17_000, 200_000, 262_144] {
        arrive_as_they_are(&["x".repeat(length)]);
    }
}

#[test]
fn k29_bytes_that_drive_a_terminal_never_arrive() {
    let server = Server::new();
    let runner = server.runner();
    let agent = server.start(&runner, 1, BRACKETED);
    for bad in ["a\u{1b}[201~\rrm -rf x\r", "\u{3}", "a\rb", "\u{7f}", "a\0b", "\u{1b}"] {
        let answer = runner.deliver(&agent.delivery("b1", bad));
        assert!(matches!(answer, Delivered::NotRun(_)), "{bad:?}: {answer:?}");
    }
    agent.deliver(&runner, "b2", "[201~ in words");
    agent.wait_received(&bracketed("[201~ in words"));
}

#[test]
fn k04_four_at_a_time_and_every_message_in_its_own_pane() {
    let server = Server::new();
    let runner = server.runner();
    let agents: Vec<_> = (0..4).map(|number| server.start(&runner, number + 1, BRACKETED)).collect();
    std::thread::scope(|scope| {
        for (lane, agent) in agents.iter().enumerate() {
            let runner = &runner;
            scope.spawn(move || {
                for at in 0..25 {
                    agent.deliver(runner, &format!("b{lane}x{at}"), &format!("message {at} of lane {lane}"));
                }
            });
        }
    });
    for (lane, agent) in agents.iter().enumerate() {
        let all = (0..25).flat_map(|at| bracketed(&format!("message {at} of lane {lane}")));
        agent.wait_received(&all.collect::<Vec<u8>>());
    }
    assert_eq!(server.raw(&["list-buffers"]).1, "");
}
